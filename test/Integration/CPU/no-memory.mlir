// An intermediate for which there is no memory ends the call with a status.
// UNSUPPORTED: asan
// RUN: not blocksparse-run %s 2>&1 | FileCheck %s
// CHECK: error: expects the call to succeed, but got {{.*}}: expects memory for an intermediate of f32, but got none

func.func @large(%x: tensor<4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x35184372088832xf32>
  %b = linalg.broadcast ins(%x : tensor<4xf32>) outs(%e : tensor<4x35184372088832xf32>) dimensions = [1]
  %t = blocksparse.matmul %b, %b {transpose_b} : (tensor<4x35184372088832xf32>, tensor<4x35184372088832xf32>) -> tensor<4x4xf32>
  return %t : tensor<4x4xf32>
}
