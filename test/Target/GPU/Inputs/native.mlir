#layout = #blocksparse.layout<128x128, grid 16x16, random_balanced(density = 0.25, seed = 1)>

func.func @f(%a: tensor<2048x2048xf16, #layout>, %b: tensor<2048x4096xf16>) -> tensor<2048x4096xf16> {
  %0 = blocksparse.dsd %a, %b : (tensor<2048x2048xf16, #layout>, tensor<2048x4096xf16>) -> tensor<2048x4096xf16>
  return %0 : tensor<2048x4096xf16>
}
