//--- crow.mlir
func.func @f(%a: tensor<2x2xf32> {blocksparse.crow = dense<0> : tensor<2xi32>}) -> tensor<2x2xf32> {
  %0 = blocksparse.matmul %a, %a : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
//--- both.mlir
func.func @f(%a: tensor<2x2xf32> {blocksparse.fill = "ones", blocksparse.value = dense<2.0> : tensor<f32>}) -> tensor<2x2xf32> {
  %0 = blocksparse.matmul %a, %a : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
//--- shape.mlir
func.func @f(%a: tensor<2x2xf32> {blocksparse.shape = array<i64: 2, 3>}) -> tensor<2x2xf32> {
  %0 = blocksparse.matmul %a, %a : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
