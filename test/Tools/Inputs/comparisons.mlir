#one = #blocksparse.layout<16x16, grid 1x1, dense>
!s = tensor<16x16xf32, #one>
!row = tensor<1x4xf32>

// The roundoff of 0.7 * 1e9 alone exceeds every probability.
func.func @inexact_scores(%x: !s {blocksparse.value = dense<1.0e9> : tensor<f64>})
    -> (!s {blocksparse.expect = dense<0.9> : tensor<f64>}) {
  %y = blocksparse.softmax %x {scale = 0.7} : (!s) -> !s
  return %y : !s
}

// A product with a power of two is exact, and so is the difference of equal scores.
func.func @exact_scores(%x: !s {blocksparse.value = dense<1.0e9> : tensor<f64>})
    -> (!s {blocksparse.expect = dense<0.0625> : tensor<f64>}) {
  %y = blocksparse.softmax %x {scale = 0.5} : (!s) -> !s
  return %y : !s
}

func.func @nan_in_both(%a: tensor<2x2xf32> {blocksparse.value = dense<[[0x7FC00000, 1.0], [1.0, 1.0]]> : tensor<2x2xf32>},
                       %b: tensor<2x2xf32> {blocksparse.fill = "ones"})
    -> (tensor<2x2xf32> {blocksparse.expect = dense<[[0x7FC00000, 0x7FC00000], [2.0, 2.0]]> : tensor<2x2xf32>}) {
  %0 = blocksparse.matmul %a, %b : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

func.func @wrong(%a: tensor<2x2xf32> {blocksparse.fill = "ones"}) -> (tensor<2x2xf32> {blocksparse.expect = dense<3.0> : tensor<f32>}) {
  %0 = blocksparse.matmul %a, %a : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// An operation that the reference does not know: its results have no bound of their own.
func.func @beyond_the_reference(%a: tensor<2x2xf32> {blocksparse.fill = "ones"})
    -> (tensor<4xf32> {blocksparse.expect = dense<2.0> : tensor<f32>}) {
  %0 = blocksparse.matmul %a, %a : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %flat = tensor.collapse_shape %0 [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>
  %1 = bufferization.alloc_tensor() copy(%flat) : tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func @beyond_and_wrong(%a: tensor<2x2xf32> {blocksparse.fill = "ones"})
    -> (tensor<4xf32> {blocksparse.expect = dense<2.00001> : tensor<f32>}, tensor<2x2xf32>) {
  %0 = blocksparse.matmul %a, %a : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %flat = tensor.collapse_shape %0 [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>
  %1 = bufferization.alloc_tensor() copy(%flat) : tensor<4xf32>
  return %1, %0 : tensor<4xf32>, tensor<2x2xf32>
}
func.func @beyond_and_unexpected(%a: tensor<2x2xf32> {blocksparse.fill = "ones"})
    -> (tensor<4xf32> {blocksparse.expect = dense<2.0> : tensor<f32>}, tensor<2x2xf32>) {
  %0 = blocksparse.matmul %a, %a : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %flat = tensor.collapse_shape %0 [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>
  %1 = bufferization.alloc_tensor() copy(%flat) : tensor<4xf32>
  return %1, %0 : tensor<4xf32>, tensor<2x2xf32>
}
