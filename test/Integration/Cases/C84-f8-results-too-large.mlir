// A result that f8 cannot hold is infinity in f8E5M2 and NaN in f8E4M3FN, which has no infinity; in
// a function that saturates it is the largest finite number.
// DEFINE: %{target} = cpu
// DEFINE: %{run} = blocksparse-run %s --all-functions --check --repeat-check --target=%{target}
// RUN: %{run}
// RUN: %{run} --strided
// REDEFINE: %{target} = cuda:sm_90a
// RUN: %{run} --device=simulated

#two = #blocksparse.layout<16x16, grid 1x2, mask "10">
!s = tensor<16x32xf8E4M3FN, #two>
!a = tensor<16x1xf8E4M3FN>
!b = tensor<1x32xf8E4M3FN>
!t = tensor<16x32xf8E5M2, #two>
!c = tensor<16x1xf8E5M2>
!d = tensor<1x32xf8E5M2>

// 32 times 32 is 1024, and 448 is the largest number.
func.func @special(%a: !a {blocksparse.value = dense<32.0> : tensor<f64>}, %b: !b {blocksparse.value = dense<32.0> : tensor<f64>}) -> (tensor<16x32xf8E4M3FN>) {
  %0 = blocksparse.sdd %a, %b : (!a, !b) -> !s
  %1 = blocksparse.to_dense %0 : (!s) -> tensor<16x32xf8E4M3FN>
  return %1 : tensor<16x32xf8E4M3FN>
}

func.func @saturated(%a: !a {blocksparse.value = dense<32.0> : tensor<f64>}, %b: !b {blocksparse.value = dense<-32.0> : tensor<f64>}) -> (!s {blocksparse.expect = dense<-448.0> : tensor<f64>}) attributes {blocksparse.f8_overflow = "saturate"} {
  %0 = blocksparse.sdd %a, %b : (!a, !b) -> !s
  return %0 : !s
}

// 4096 times 4096 is 2^24, and 57344 is the largest number.
func.func @saturated_e5m2(%a: !c {blocksparse.value = dense<4096.0> : tensor<f64>}, %b: !d {blocksparse.value = dense<4096.0> : tensor<f64>}) -> (!t {blocksparse.expect = dense<57344.0> : tensor<f64>}) attributes {blocksparse.f8_overflow = "saturate"} {
  %0 = blocksparse.sdd %a, %b : (!c, !d) -> !t
  return %0 : !t
}

func.func @infinity(%a: !c {blocksparse.value = dense<4096.0> : tensor<f64>}, %b: !d {blocksparse.value = dense<4096.0> : tensor<f64>}) -> (!t {blocksparse.expect = dense<0x7FF0000000000000> : tensor<f64>}) attributes {blocksparse.f8_overflow = "special"} {
  %0 = blocksparse.sdd %a, %b : (!c, !d) -> !t
  return %0 : !t
}

// What fits is what it was: 3 * 5 is 15.
func.func @fits(%a: !a {blocksparse.value = dense<3.0> : tensor<f64>}, %b: !b {blocksparse.value = dense<5.0> : tensor<f64>}) -> (!s {blocksparse.expect = dense<15.0> : tensor<f64>}) attributes {blocksparse.f8_overflow = "saturate"} {
  %0 = blocksparse.sdd %a, %b : (!a, !b) -> !s
  return %0 : !s
}

// The sum with the input is what saturates: 20 * 20 + 100 is 500.
func.func @with_input(%i: !s {blocksparse.value = dense<100.0> : tensor<f64>}, %a: !a {blocksparse.value = dense<20.0> : tensor<f64>}, %b: !b {blocksparse.value = dense<20.0> : tensor<f64>}) -> (!s {blocksparse.expect = dense<448.0> : tensor<f64>}) attributes {blocksparse.f8_overflow = "saturate"} {
  %0 = blocksparse.sampled_addmm %i, %a, %b {beta = 1.0 : f64} : (!s, !a, !b) -> !s
  return %0 : !s
}

// A dense result: 16 * 32 * 32 in every place. NaN stays NaN.
func.func @dense(%s: !s {blocksparse.value = dense<32.0> : tensor<f64>}, %x: tensor<32x4xf8E4M3FN> {blocksparse.value = dense<32.0> : tensor<f64>}) -> (tensor<16x4xf8E4M3FN> {blocksparse.expect = dense<448.0> : tensor<f64>}) attributes {blocksparse.f8_overflow = "saturate"} {
  %0 = blocksparse.dsd %s, %x : (!s, tensor<32x4xf8E4M3FN>) -> tensor<16x4xf8E4M3FN>
  return %0 : tensor<16x4xf8E4M3FN>
}

func.func @nan(%s: !s {blocksparse.fill = "nan"}, %x: tensor<32x4xf8E4M3FN> {blocksparse.value = dense<32.0> : tensor<f64>}) -> (tensor<16x4xf8E4M3FN> {blocksparse.expect = dense<0x7FF8000000000000> : tensor<f64>}) attributes {blocksparse.f8_overflow = "saturate"} {
  %0 = blocksparse.dsd %s, %x : (!s, tensor<32x4xf8E4M3FN>) -> tensor<16x4xf8E4M3FN>
  return %0 : tensor<16x4xf8E4M3FN>
}

func.func @matmul(%x: tensor<4x8xf8E5M2> {blocksparse.value = dense<256.0> : tensor<f64>}, %y: tensor<8x4xf8E5M2> {blocksparse.value = dense<-256.0> : tensor<f64>}) -> (tensor<4x4xf8E5M2> {blocksparse.expect = dense<-57344.0> : tensor<f64>}) attributes {blocksparse.f8_overflow = "saturate"} {
  %0 = blocksparse.matmul %x, %y : (tensor<4x8xf8E5M2>, tensor<8x4xf8E5M2>) -> tensor<4x4xf8E5M2>
  return %0 : tensor<4x4xf8E5M2>
}
