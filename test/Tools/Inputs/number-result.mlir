func.func @f(%x: tensor<2xf32>, %y: f32) -> (tensor<2xf32>, f32) {
  return %x, %y : tensor<2xf32>, f32
}
