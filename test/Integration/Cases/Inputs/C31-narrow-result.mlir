#layout = #blocksparse.layout<16x16, grid 1x4, dense>
func.func @narrow(%a: tensor<16x64xi8, #layout>, %b: tensor<64x16xi8>) -> tensor<16x16xi8> {
  %0 = blocksparse.dsd %a, %b : (tensor<16x64xi8, #layout>, tensor<64x16xi8>) -> tensor<16x16xi8>
  return %0 : tensor<16x16xi8>
}
