func.func @matmul(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %bias: tensor<?xf32>)
    -> tensor<?x?xf32> {
  %0 = blocksparse.matmul %a, %b bias(%bias)
      : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// A result whose size two small arguments decide.
func.func @wide(%a: tensor<?x1xf32>, %b: tensor<1x?xf32>) -> tensor<?x?xf32> {
  %0 = blocksparse.matmul %a, %b : (tensor<?x1xf32>, tensor<1x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// The program makes the indices, so that nobody can look at them before the call.
#bsr = #blocksparse.bsr<2x2>
func.func @indices(%values: tensor<3x2x2xf32>, %x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %crow = arith.constant dense<[0, 2, 3]> : tensor<3xi32>
  %col = arith.constant dense<[0, 2, 1]> : tensor<3xi32>
  %s = blocksparse.assemble indices(%crow, %col) %values
      : (tensor<3xi32>, tensor<3xi32>, tensor<3x2x2xf32>) -> tensor<4x4xf32, #bsr>
  %0 = blocksparse.dsd %s, %x : (tensor<4x4xf32, #bsr>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}
