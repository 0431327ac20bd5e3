// Results with strides of their own: the caller's storage holds them and its gaps stay untouched.
// RUN: blocksparse-run %s --all-functions --check --strided
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --strided --device=simulated %}

#layout = #blocksparse.layout<16x16, grid 1x1, mask "1">

func.func @batch(%s: tensor<2x1x16x16xf16, #layout> {blocksparse.fill = "ones"}, %d: tensor<2x1x16x16xf16> {blocksparse.fill = "ones"})
    -> (tensor<2x1x16x16xf16> {blocksparse.expect = dense<16.0> : tensor<f32>}) {
  %0 = blocksparse.dsd %s, %d : (tensor<2x1x16x16xf16, #layout>, tensor<2x1x16x16xf16>) -> tensor<2x1x16x16xf16>
  return %0 : tensor<2x1x16x16xf16>
}

func.func @matrix(%s: tensor<16x16xf16, #layout> {blocksparse.fill = "ones"}, %d: tensor<16x16xf16> {blocksparse.fill = "ones"})
    -> (tensor<16x16xf16> {blocksparse.expect = dense<16.0> : tensor<f32>}) {
  %0 = blocksparse.dsd %s, %d {transpose_out} : (tensor<16x16xf16, #layout>, tensor<16x16xf16>) -> tensor<16x16xf16>
  return %0 : tensor<16x16xf16>
}
