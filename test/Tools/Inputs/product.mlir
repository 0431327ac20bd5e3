// Rows 0 and 1 hold one and two blocks, row 2 none, row 3 three.
#layout = #blocksparse.layout<4x8, grid 4x4, mask "1000/1100/0000/1011">
#bsr = #blocksparse.bsr<4x8>

func.func @product(%w: tensor<16x32xf32, #layout>, %x: tensor<32x5xf32>) -> tensor<16x5xf32> {
  %y = blocksparse.dsd %w, %x : (tensor<16x32xf32, #layout>, tensor<32x5xf32>) -> tensor<16x5xf32>
  return %y : tensor<16x5xf32>
}

func.func @open(%s: tensor<16x32xf32, #bsr>, %x: tensor<32x?xf32>) -> tensor<16x?xf32> {
  %y = blocksparse.dsd %s, %x : (tensor<16x32xf32, #bsr>, tensor<32x?xf32>) -> tensor<16x?xf32>
  return %y : tensor<16x?xf32>
}

func.func private @unused(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
