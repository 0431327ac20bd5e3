// All keys masked: P = 0, lse = -inf and the gradient is 0, in both modes; one live column gets 1.
// RUN: blocksparse-run %s --all-functions --check --repeat-check
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --device=simulated %}

#layout = #blocksparse.layout<16x16, grid 1x1, mask "1">
!sparse = tensor<16x16xf32, #layout>
!mask = tensor<16xf32>

func.func @mul(%x: !sparse {blocksparse.fill = "zeros"}, %mask: !mask {blocksparse.fill = "zeros"}, %dy: !sparse)
    -> (!sparse {blocksparse.expect = dense<0.0> : tensor<f32>}, tensor<16xf32> {blocksparse.expect = dense<0xFF800000> : tensor<f32>},
        !sparse {blocksparse.expect = dense<0.0> : tensor<f32>}) {
  %p, %lse = blocksparse.softmax %x key_padding_mask(%mask) {key_padding_mask_mode = #blocksparse.mask_mode<mul>} : (!sparse, !mask) -> (!sparse, tensor<16xf32>)
  %dx = blocksparse.softmax_grad %p, %dy : (!sparse, !sparse) -> !sparse
  return %p, %lse, %dx : !sparse, tensor<16xf32>, !sparse
}

func.func @add(%x: !sparse {blocksparse.fill = "zeros"}, %mask: !mask {blocksparse.value = dense<0xFF800000> : tensor<f32>}, %dy: !sparse)
    -> (!sparse {blocksparse.expect = dense<0.0> : tensor<f32>}, tensor<16xf32> {blocksparse.expect = dense<0xFF800000> : tensor<f32>},
        !sparse {blocksparse.expect = dense<0.0> : tensor<f32>}) {
  %p, %lse = blocksparse.softmax %x key_padding_mask(%mask) : (!sparse, !mask) -> (!sparse, tensor<16xf32>)
  %dx = blocksparse.softmax_grad %p, %dy : (!sparse, !sparse) -> !sparse
  return %p, %lse, %dx : !sparse, tensor<16xf32>, !sparse
}

func.func @mul_one_live(%x: !sparse {blocksparse.fill = "zeros"}, %mask: !mask {blocksparse.value = dense<[0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]> : tensor<16xi32>})
    -> (!sparse {blocksparse.expect = dense<[0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]> : tensor<16xi32>}) {
  %p = blocksparse.softmax %x key_padding_mask(%mask) {key_padding_mask_mode = #blocksparse.mask_mode<mul>} : (!sparse, !mask) -> !sparse
  return %p : !sparse
}

func.func @add_one_live(%x: !sparse {blocksparse.fill = "zeros"}, %mask: !mask {blocksparse.value = dense<[0xFF800000, 0xFF800000, 0xFF800000, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000]> : tensor<16xf32>})
    -> (!sparse {blocksparse.expect = dense<[0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]> : tensor<16xi32>}) {
  %p = blocksparse.softmax %x key_padding_mask(%mask) : (!sparse, !mask) -> !sparse
  return %p : !sparse
}

// A mask beats a bias that is not finite.
func.func @mask_beats_bias(%x: !sparse {blocksparse.fill = "zeros"}, %rpe: tensor<16x16xf32> {blocksparse.fill = "nan"}, %mask: !mask {blocksparse.fill = "zeros"})
    -> (!sparse {blocksparse.expect = dense<0.0> : tensor<f32>}) {
  %p = blocksparse.softmax %x rpe(%rpe) key_padding_mask(%mask) {key_padding_mask_mode = #blocksparse.mask_mode<mul>} : (!sparse, tensor<16x16xf32>, !mask) -> !sparse
  return %p : !sparse
}
