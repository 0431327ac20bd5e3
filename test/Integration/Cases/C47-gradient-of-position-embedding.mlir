// The gradient of rpe has no scale factor.
// RUN: blocksparse-run %s --all-functions --check --repeat-check
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --device=simulated %}

#layout = #blocksparse.layout<1x2, grid 1x1, mask "1">
!sparse = tensor<1x2xf32, #layout>

func.func @gradient(%p: !sparse {blocksparse.value = dense<0.5> : tensor<f32>}, %dy: !sparse {blocksparse.value = dense<[[1, 0]]> : tensor<1x2xi32>})
    -> (!sparse {blocksparse.expect = dense<[[0.125, -0.125]]> : tensor<1x2xf32>}, tensor<1x2xf32> {blocksparse.expect = dense<[[0.25, -0.25]]> : tensor<1x2xf32>}) {
  %dx, %drpe = blocksparse.softmax_grad %p, %dy {scale = 0.5 : f64} : (!sparse, !sparse) -> (!sparse, tensor<1x2xf32>)
  return %dx, %drpe : !sparse, tensor<1x2xf32>
}
