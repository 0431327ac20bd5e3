// Every output tile has one owner: short rows make one segment each and no empty one.
// RUN: blocksparse-compile %s --stop-after=plan -o - | FileCheck %s
// RUN: blocksparse-run %s --all-functions --check --repeat-check
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --device=simulated %}

#diagonal = #blocksparse.layout<16x16, grid 4x4, diagonal>
#uneven = #blocksparse.layout<16x16, grid 2x4, mask "1100/1101">

// Longest first, then by tile; slot -1 owns its tile.
// CHECK-DAG: dense<{{\[\[}}0, 0, 0, 1, -1], [1, 0, 1, 1, -1], [2, 0, 2, 1, -1], [3, 0, 3, 1, -1]]> : tensor<4x5xi32>
// CHECK-DAG: dense<{{\[\[}}1, 0, 2, 3, -1], [0, 0, 0, 2, -1]]> : tensor<2x5xi32>
// CHECK-NOT: combine
func.func @diagonal(%a: tensor<64x64xf32, #diagonal> {blocksparse.fill = "ones"}, %b: tensor<64x512xf32> {blocksparse.fill = "ones"})
    -> (tensor<64x512xf32> {blocksparse.expect = dense<16.0> : tensor<f32>}) {
  %0 = blocksparse.dsd %a, %b : (tensor<64x64xf32, #diagonal>, tensor<64x512xf32>) -> tensor<64x512xf32>
  return %0 : tensor<64x512xf32>
}

func.func @uneven(%a: tensor<32x64xf32, #uneven> {blocksparse.fill = "ones"}, %b: tensor<64x512xf32> {blocksparse.fill = "ones"})
    -> (tensor<32x512xf32> {blocksparse.expect = dense<[[32], [32], [32], [32], [32], [32], [32], [32], [32], [32], [32], [32], [32], [32], [32], [32], [48], [48], [48], [48], [48], [48], [48], [48], [48], [48], [48], [48], [48], [48], [48], [48]]> : tensor<32x1xi32>}) {
  %0 = blocksparse.dsd %a, %b : (tensor<32x64xf32, #uneven>, tensor<64x512xf32>) -> tensor<32x512xf32>
  return %0 : tensor<32x512xf32>
}
