// Functions whose names are no identifiers of C or C++.
func.func @int(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
func.func @operator(%int32_t: tensor<2xf32>, %n: i32) -> tensor<2xf32> {
  return %int32_t : tensor<2xf32>
}
func.func @co_await(%blocksparse_tensor_1: tensor<2xf32>, %1: tensor<2xf32>) -> tensor<2xf32> {
  return %blocksparse_tensor_1 : tensor<2xf32>
}
func.func @"layer.0-q"(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}
func.func @"layer-0.q"(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
func.func @layer_0_q(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
func.func @"*/ 1st"(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
func.func @"0"(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
func.func @__init(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
