// Probabilities that are computed in f32 and multiplied in a narrower type.
// DEFINE: %{target} = cpu
// DEFINE: %{run} = blocksparse-run %s --all-functions --check --repeat-check --target=%{target}
// RUN: %{run}
// REDEFINE: %{target} = cuda:sm_80
// RUN: %if simulator %{ %{run} --device=simulated %}
// REDEFINE: %{target} = cuda:sm_90a
// RUN: %{run} --device=simulated

#layout = #blocksparse.layout<16x16, grid 2x2, causal>
!d = tensor<32x8xbf16>
!v = tensor<32x1xbf16>
!s = tensor<32x32xf32, #layout>
!h = tensor<32x32xbf16, #layout>

// Scores of 0 give the means of the rows of V up to the diagonal: i / 2.
func.func @chain(%q: !d {blocksparse.fill = "zeros"}, %k: !d, %v: !v {blocksparse.fill = "arange"}) -> !v {
  %s = blocksparse.sdd %q, %k {transpose_b} : (!d, !d) -> !s
  %p = blocksparse.softmax %s {causal} : (!s) -> !s
  %pv = blocksparse.disassemble %p : (!s) -> tensor<3x16x16xf32>
  %ph = arith.truncf %pv : tensor<3x16x16xf32> to tensor<3x16x16xbf16>
  %pb = blocksparse.assemble %ph : (tensor<3x16x16xbf16>) -> !h
  %0 = blocksparse.dsd %pb, %v : (!h, !v) -> !v
  return %0 : !v
}

// Sixteen equal probabilities are 1/16, and their products with ones sum to 1, in every type.
func.func @uniform_f16(%v: tensor<16x2xf16> {blocksparse.fill = "ones"}, %x: tensor<16x16xf32, #blocksparse.layout<16x16, grid 1x1, dense>> {blocksparse.fill = "zeros"}) -> (tensor<16x2xf16> {blocksparse.expect = dense<1.0> : tensor<f64>}) {
  %p = blocksparse.softmax %x : (tensor<16x16xf32, #blocksparse.layout<16x16, grid 1x1, dense>>) -> tensor<16x16xf32, #blocksparse.layout<16x16, grid 1x1, dense>>
  %pv = blocksparse.disassemble %p : (tensor<16x16xf32, #blocksparse.layout<16x16, grid 1x1, dense>>) -> tensor<1x16x16xf32>
  %ph = arith.truncf %pv : tensor<1x16x16xf32> to tensor<1x16x16xf16>
  %pb = blocksparse.assemble %ph : (tensor<1x16x16xf16>) -> tensor<16x16xf16, #blocksparse.layout<16x16, grid 1x1, dense>>
  %0 = blocksparse.dsd %pb, %v : (tensor<16x16xf16, #blocksparse.layout<16x16, grid 1x1, dense>>, tensor<16x2xf16>) -> tensor<16x2xf16>
  return %0 : tensor<16x2xf16>
}

// f8 to f32 is exact; f32 to f8 rounds to nearest even: 17 lies between 16 and 18, 449 becomes 448.
func.func @f8(%x: tensor<2x3xf32> {blocksparse.value = dense<[[17.0, 19.0, 0.25], [-448.0, 449.0, 1.0]]> : tensor<2x3xf64>}) -> (tensor<2x3xf32> {blocksparse.expect = dense<[[16.0, 20.0, 0.25], [-448.0, 448.0, 1.0]]> : tensor<2x3xf64>}) {
  %0 = arith.truncf %x : tensor<2x3xf32> to tensor<2x3xf8E4M3FN>
  %1 = arith.extf %0 : tensor<2x3xf8E4M3FN> to tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// bf16 is computed in f32 and rounded once: 256 + 1 is 256, the even neighbour.
func.func @bf16_sum(%x: tensor<64x3xbf16> {blocksparse.value = dense<256.0> : tensor<f64>}) -> (tensor<64x3xbf16> {blocksparse.expect = dense<256.0> : tensor<f64>}) {
  %one = arith.constant dense<1.0> : tensor<64x3xbf16>
  %0 = arith.addf %x, %one : tensor<64x3xbf16>
  return %0 : tensor<64x3xbf16>
}
