#layout = #blocksparse.layout<2x2, grid 1x1, mask "1">
func.func @sum(%a: tensor<2x2xf32, #layout> {blocksparse.fill = "ones"},
               %b: tensor<2x2xf32> {blocksparse.fill = "ones"})
    -> (tensor<2x2xf32> {blocksparse.expect = dense<[[2.0, 3.0], [2.0, 2.0]]> : tensor<2x2xf32>}) {
  %0 = blocksparse.dsd %a, %b : (tensor<2x2xf32, #layout>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
