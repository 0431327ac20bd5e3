// The row's maximum is taken after the mask is added.
// RUN: blocksparse-run %s --all-functions --check --repeat-check
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --device=simulated %}

#layout = #blocksparse.layout<1x4, grid 1x1, mask "1">
!sparse = tensor<1x4xf32, #layout>

func.func @large_masked(%x: !sparse {blocksparse.value = dense<[[200, 0, 0, 0]]> : tensor<1x4xi32>},
                        %mask: tensor<1x4xf32> {blocksparse.value = dense<[[-65504, 0, 0, 0]]> : tensor<1x4xi32>})
    -> (!sparse {blocksparse.expect = dense<[[0.0, 0.3333333333333333, 0.3333333333333333, 0.3333333333333333]]> : tensor<1x4xf64>}) {
  %p = blocksparse.softmax %x attention_mask(%mask) : (!sparse, tensor<1x4xf32>) -> !sparse
  return %p : !sparse
}
