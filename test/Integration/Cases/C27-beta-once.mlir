// beta is applied once: 0.5 * 4 + 16.
// RUN: blocksparse-run %s --all-functions --check --repeat-check
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --device=simulated %}

#layout = #blocksparse.layout<16x16, grid 1x1, mask "1">

func.func @beta(%s: tensor<16x16xf32, #layout> {blocksparse.fill = "ones"}, %d: tensor<16x16xf32> {blocksparse.fill = "ones"},
                %i: tensor<16x16xf32> {blocksparse.value = dense<4.0> : tensor<f32>})
    -> (tensor<16x16xf32> {blocksparse.expect = dense<18.0> : tensor<f32>}) {
  %0 = blocksparse.bsr_addmm %s, %d input(%i) {beta = 0.5 : f64} : (tensor<16x16xf32, #layout>, tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}
