// 48 heads of 768 block rows: 36864 rows of tables.
// RUN: blocksparse-run %s --all-functions --check
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --device=simulated %}

#layout = #blocksparse.layout<16x16, grid 48x768x1, dense>
!sparse = tensor<1x48x12288x16xf32, #layout>

func.func @rows(%a: !sparse {blocksparse.fill = "ones"}, %b: tensor<16x4xf32> {blocksparse.fill = "ones"})
    -> (tensor<1x48x12288x4xf32> {blocksparse.expect = dense<16.0> : tensor<f32>}) {
  %0 = blocksparse.dsd %a, %b : (!sparse, tensor<16x4xf32>) -> tensor<1x48x12288x4xf32>
  return %0 : tensor<1x48x12288x4xf32>
}
