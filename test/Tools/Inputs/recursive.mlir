func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  %b = call @f(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return %b : tensor<2xf32>
}
