// What the epilogues of products do not have is written with arith and math, on dense tensors and on
// the values of sparse ones.
// DEFINE: %{target} = cpu
// DEFINE: %{run} = blocksparse-run %s --all-functions --check --repeat-check --target=%{target}
// RUN: %{run}
// RUN: %{run} --strided
// RUN: %{run} --strided=transposed
// REDEFINE: %{target} = cuda:sm_80
// RUN: %if simulator %{ %{run} --device=simulated %}
// RUN: %if simulator %{ %{run} --strided --device=simulated %}
// REDEFINE: %{target} = cuda:sm_90a
// RUN: %{run} --device=simulated

#topo = #blocksparse.layout<2x2, grid 3x3, mask "100/100/001">
!s = tensor<6x6xf32, #topo>
!x = tensor<6x2xf32>
!w = tensor<2x6xf32>
#two = #blocksparse.layout<2x2, grid 2x2, mask "10/01">
!d = tensor<4x2xf32>
#wide = #blocksparse.layout<16x16, grid 2x2, causal>

// relu(x W) on the blocks of a topology, then a product.
func.func @relu(%x: !x {blocksparse.value = dense<[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [1.0, -1.0], [0.0, 3.0]]> : tensor<6x2xf64>}, %w1: !w {blocksparse.value = dense<[[1.0, 2.0, 9.0, 9.0, -1.0, 1.0], [0.0, 1.0, 9.0, 9.0, 2.0, 1.0]]> : tensor<2x6xf64>}, %w2: !x {blocksparse.value = dense<[[1.0, 1.0], [1.0, -1.0], [7.0, 7.0], [7.0, 7.0], [2.0, 0.0], [0.0, 2.0]]> : tensor<6x2xf64>}) -> (!x {blocksparse.expect = dense<[[3.0, -1.0], [1.0, -1.0], [4.0, -2.0], [6.0, -2.0], [0.0, 0.0], [12.0, 6.0]]> : tensor<6x2xf64>}) {
  %h = blocksparse.sdd %x, %w1 : (!x, !w) -> !s
  %v = blocksparse.disassemble %h : (!s) -> tensor<3x2x2xf32>
  %zero = arith.constant dense<0.0> : tensor<3x2x2xf32>
  %r = arith.maximumf %v, %zero : tensor<3x2x2xf32>
  %a = blocksparse.assemble %r : (tensor<3x2x2xf32>) -> !s
  %y = blocksparse.dsd %a, %w2 : (!s, !x) -> !x
  return %y : !x
}

// A dense result and the operand that it was made of are added.
func.func @sum(%a: tensor<4x4xf32, #two> {blocksparse.fill = "ones"}, %b: !d {blocksparse.value = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf64>}) -> (!d {blocksparse.expect = dense<[[5.0, 8.0], [7.0, 10.0], [17.0, 20.0], [19.0, 22.0]]> : tensor<4x2xf64>}) {
  %0 = blocksparse.dsd %a, %b : (tensor<4x4xf32, #two>, !d) -> !d
  %1 = arith.addf %0, %b : !d
  return %1 : !d
}

// GLU: silu(x W) times x V, with silu(t) = t / (1 + exp(-t)), of random numbers.
func.func @glu(%x: tensor<64x32xf32>, %w: tensor<32x32xf32, #wide>, %v: tensor<32x32xf32, #wide>) -> tensor<64x32xf32> {
  %g = blocksparse.dds %x, %w : (tensor<64x32xf32>, tensor<32x32xf32, #wide>) -> tensor<64x32xf32>
  %u = blocksparse.dds %x, %v : (tensor<64x32xf32>, tensor<32x32xf32, #wide>) -> tensor<64x32xf32>
  %one = arith.constant dense<1.0> : tensor<64x32xf32>
  %n = arith.negf %g : tensor<64x32xf32>
  %e = math.exp %n : tensor<64x32xf32>
  %d = arith.addf %e, %one : tensor<64x32xf32>
  %q = arith.divf %g, %d : tensor<64x32xf32>
  %r = arith.mulf %q, %u : tensor<64x32xf32>
  return %r : tensor<64x32xf32>
}

// Extents that are known at run time, f16, and functions of the library of mathematics.
func.func @open(%a: tensor<32x32xf16, #wide>, %b: tensor<32x?xf16> {blocksparse.shape = array<i64: 32, 37>}) -> tensor<32x?xf16> {
  %0 = blocksparse.dsd %a, %b : (tensor<32x32xf16, #wide>, tensor<32x?xf16>) -> tensor<32x?xf16>
  %1 = math.tanh %0 : tensor<32x?xf16>
  %2 = math.absf %1 : tensor<32x?xf16>
  %3 = math.absf %2 : tensor<32x?xf16>
  %4 = arith.subf %3, %b : tensor<32x?xf16>
  return %4 : tensor<32x?xf16>
}

// A comparison and a choice: what is below 0 is halved. The comparison is of exact numbers.
func.func @leaky(%x: !d {blocksparse.value = dense<[[1.0, -2.0], [-3.0, 4.0], [0.0, -1.0], [-7.0, 8.0]]> : tensor<4x2xf64>}) -> (!d {blocksparse.expect = dense<[[1.0, -1.0], [-1.5, 4.0], [0.0, -0.5], [-3.5, 8.0]]> : tensor<4x2xf64>}) {
  %zero = arith.constant dense<0.0> : !d
  %half = arith.constant dense<0.5> : !d
  %c = arith.cmpf olt, %x, %zero : !d
  %h = arith.mulf %x, %half : !d
  %r = arith.select %c, %h, %x : tensor<4x2xi1>, !d
  return %r : !d
}

// Two results of one chain, one of which is also an operand of what follows.
func.func @two(%a: tensor<4x4xf32, #two> {blocksparse.fill = "ones"}, %b: !d {blocksparse.fill = "ones"}) -> (!d {blocksparse.expect = dense<4.0> : tensor<f64>}, !d {blocksparse.expect = dense<6.0> : tensor<f64>}) {
  %0 = blocksparse.dsd %a, %b : (tensor<4x4xf32, #two>, !d) -> !d
  %1 = arith.mulf %0, %0 : !d
  %2 = arith.addf %1, %0 : !d
  return %1, %2 : !d, !d
}

// Integers wrap.
func.func @integers(%x: tensor<3x5xi8> {blocksparse.value = dense<100> : tensor<i32>}) -> (tensor<3x5xi8> {blocksparse.expect = dense<-56> : tensor<i32>}) {
  %0 = arith.addi %x, %x : tensor<3x5xi8>
  return %0 : tensor<3x5xi8>
}
