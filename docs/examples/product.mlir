// A sparse times dense product: the program of docs/Tutorials/FirstProgram.md.
// RUN: blocksparse-run %s --check --repeat-check

#layout = #blocksparse.layout<16x16, grid 4x4, mask "1000/1100/0000/1011">

func.func @product(%a: tensor<64x64xf32, #layout>, %b: tensor<64x40xf32>) -> tensor<64x40xf32> {
  %c = blocksparse.dsd %a, %b : (tensor<64x64xf32, #layout>, tensor<64x40xf32>) -> tensor<64x40xf32>
  return %c : tensor<64x40xf32>
}
