// The program that version-3.mlirbc was made of.
#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
#bsr = #blocksparse.bsr<16x16>

func.func @products(%a: tensor<32x32xf16>, %b: tensor<32x32xf16>, %p: tensor<32x32xf16, #bsr>) -> (tensor<32x32xf16, #layout>, tensor<32x32xf16, #bsr>) {
  %0 = blocksparse.sdd %a, %b {alpha = 5.000000e-01 : f64, transpose_b} : (tensor<32x32xf16>, tensor<32x32xf16>) -> tensor<32x32xf16, #layout>
  %1 = blocksparse.sdd %a, %b pattern(%p) {transpose_out} : (tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf16, #bsr>) -> tensor<32x32xf16, #bsr>
  return %0, %1 : tensor<32x32xf16, #layout>, tensor<32x32xf16, #bsr>
}

func.func @sums(%a: tensor<32x32xf32, #layout>, %c: tensor<32x32xf32, #layout>, %x: tensor<32x32xf32>, %s: tensor<f32>) -> (tensor<32x32xf32, #layout>, tensor<32x32xf32, #layout>) {
  %0 = blocksparse.add %a, %c {beta = -1.000000e+00 : f64} : (tensor<32x32xf32, #layout>, tensor<32x32xf32, #layout>) -> tensor<32x32xf32, #layout>
  %1 = blocksparse.sampled_addmm %c, %x, %x alpha(%s) {beta = 0.000000e+00 : f64} : (tensor<32x32xf32, #layout>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf32, #layout>
  return %0, %1 : tensor<32x32xf32, #layout>, tensor<32x32xf32, #layout>
}
