// RUN: blocksparse-opt %s --blocksparse-results-to-destinations | FileCheck %s

// CHECK-LABEL: func @two_results
// CHECK-SAME: %[[X:[^:,]*]]: tensor<?x4xf32> {bufferization.writable = false}, %{{[^:,]*}}: i32
// CHECK-SAME: %[[A:[^:,]*]]: memref<?x4xf32, strided<[?, ?], offset: ?>>
// CHECK-SAME: %[[B:[^:,]*]]: memref<2xf16, strided<[?], offset: ?>>) -> i32
// CHECK: bufferization.materialize_in_destination %[[X]] in restrict writable %[[A]]
// CHECK: bufferization.materialize_in_destination %{{.*}} in restrict writable %[[B]]
// CHECK: return %{{[^,]*}} : i32
func.func @two_results(%x: tensor<?x4xf32>, %n: i32) -> (tensor<?x4xf32>, i32, tensor<2xf16>) {
  %e = tensor.empty() : tensor<2xf16>
  return %x, %n, %e : tensor<?x4xf32>, i32, tensor<2xf16>
}

// A function that others call keeps its results; so does a declaration.

// CHECK-LABEL: func @callee
// CHECK-SAME: (%{{.*}}: tensor<4xf32>) -> tensor<4xf32>
func.func @callee(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// CHECK-LABEL: func private @declared(tensor<4xf32>) -> tensor<4xf32>
func.func private @declared(%x: tensor<4xf32>) -> tensor<4xf32>

// CHECK-LABEL: func @caller
// CHECK: %[[R:.*]] = call @callee
// CHECK: materialize_in_destination %[[R]]
func.func @caller(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = call @callee(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
