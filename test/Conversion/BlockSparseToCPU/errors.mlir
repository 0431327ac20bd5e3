// RUN: blocksparse-opt %s -split-input-file -verify-diagnostics -convert-blocksparse-to-cpu

func.func @tensors(%a: tensor<16x16xf32>, %o: tensor<16x16xf32>) -> tensor<16x16xf32> {
  // expected-error @+1 {{expects memref operands, as bufferization leaves them, but got 'tensor<16x16xf32>'}}
  %0 = blocksparse.planned_matmul %a, %a outs(%o)
    : (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// -----

func.func @layout(%a: memref<16x16xf32>, %b: memref<16x16xf32, affine_map<(i, j) -> (i floordiv 4, j)>>) {
  // expected-error @+1 {{expects operands of strided layout, but got}}
  blocksparse.planned_matmul %a, %b outs(%a)
    : (memref<16x16xf32>, memref<16x16xf32, affine_map<(i, j) -> (i floordiv 4, j)>>, memref<16x16xf32>) -> ()
  return
}
