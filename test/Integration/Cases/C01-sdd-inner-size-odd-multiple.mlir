// An inner size that is an odd multiple of the tile: nothing is read past K, nothing is left out.
// RUN: blocksparse-run %s --all-functions --check --repeat-check
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --device=simulated %}

#layout = #blocksparse.layout<16x16, grid 2x2x2, mask "11/11/11/11">
!sparse = tensor<3x2x32x32xf32, #layout>

func.func @k16(%a: tensor<3x2x32x16xf32> {blocksparse.fill = "ones"},
               %b: tensor<3x2x32x16xf32> {blocksparse.value = dense<[[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]]> : tensor<1x16xi32>})
    -> (!sparse {blocksparse.expect = dense<120.0> : tensor<f32>}) {
  %0 = blocksparse.sdd %a, %b {transpose_b} : (tensor<3x2x32x16xf32>, tensor<3x2x32x16xf32>) -> !sparse
  return %0 : !sparse
}

func.func @k48(%a: tensor<3x2x32x48xf32> {blocksparse.fill = "ones"},
               %b: tensor<3x2x32x48xf32> {blocksparse.value = dense<[[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47]]> : tensor<1x48xi32>})
    -> (!sparse {blocksparse.expect = dense<1128.0> : tensor<f32>}) {
  %0 = blocksparse.sdd %a, %b {transpose_b} : (tensor<3x2x32x48xf32>, tensor<3x2x32x48xf32>) -> !sparse
  return %0 : !sparse
}
