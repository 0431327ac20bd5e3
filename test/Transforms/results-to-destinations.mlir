// RUN: blocksparse-opt %s --blocksparse-results-to-destinations | FileCheck %s

// CHECK-LABEL: func @two_results
// CHECK-SAME: %[[X:[^:,]*]]: tensor<?x4xf32> {bufferization.writable = false}, %{{[^:,]*}}: i32
// CHECK-SAME: %[[A:[^:,]*]]: memref<?x4xf32, strided<[?, ?], offset: ?>>
// CHECK-SAME: %[[B:[^:,]*]]: memref<2xf16, strided<[?], offset: ?>>) -> i32
// CHECK-DAG: %[[OWN:.*]] = memref.dim %[[A]], %c0
// CHECK-DAG: %[[SIZE:.*]] = tensor.dim %[[X]], %c0
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[OWN]], %[[SIZE]]
// CHECK: cf.assert %[[SAME]], "parameter 2 of two_results expects dimension 0 of {1}, but got {0}"
// CHECK-NOT: cf.assert
// CHECK: bufferization.materialize_in_destination %[[X]] in restrict writable %[[A]]
// CHECK: bufferization.materialize_in_destination %{{.*}} in restrict writable %[[B]]
// CHECK: return %{{[^,]*}} : i32
func.func @two_results(%x: tensor<?x4xf32>, %n: i32) -> (tensor<?x4xf32>, i32, tensor<2xf16>) {
  %e = tensor.empty() : tensor<2xf16>
  return %x, %n, %e : tensor<?x4xf32>, i32, tensor<2xf16>
}

// The sizes of destinations are compared behind those of arguments, before anything is computed, also
// where they follow from those of arguments through other operations and loops.

// CHECK-LABEL: func @computed_sizes
// CHECK-SAME: %[[X:[^:,]*]]: tensor<?x4xf32>
// CHECK-SAME: %[[A:[^:,]*]]: memref<?xf32
// CHECK-SAME: %[[B:[^:,]*]]: memref<?x4xf32
// CHECK: cf.assert %{{.*}}, "the argument"
// CHECK: cf.assert %{{.*}}, "parameter 3 of computed_sizes expects dimension 0 of {1}, but got {0}"
// CHECK: cf.assert %{{.*}}, "parameter 4 of computed_sizes expects dimension 0 of {1}, but got {0}"
// CHECK: linalg.exp
// CHECK: scf.for
func.func @computed_sizes(%x: tensor<?x4xf32>, %n: index, %fits: i1) -> (tensor<?xf32>, tensor<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  cf.assert %fits, "the argument"
  %size = tensor.dim %x, %c0 : tensor<?x4xf32>
  %empty = tensor.empty(%size) : tensor<?x4xf32>
  %y = linalg.exp ins(%x : tensor<?x4xf32>) outs(%empty : tensor<?x4xf32>) -> tensor<?x4xf32>
  %flat = tensor.collapse_shape %y [[0, 1]] : tensor<?x4xf32> into tensor<?xf32>
  %z = scf.for %i = %c0 to %n step %c1 iter_args(%in = %x) -> (tensor<?x4xf32>) {
    %out = linalg.exp ins(%in : tensor<?x4xf32>) outs(%in : tensor<?x4xf32>) -> tensor<?x4xf32>
    scf.yield %out : tensor<?x4xf32>
  }
  return %flat, %z : tensor<?xf32>, tensor<?x4xf32>
}

// A size that the program computes from data is compared before the result is written.

// CHECK-LABEL: func @size_from_data
// CHECK: %[[SIZE:.*]] = tensor.extract
// CHECK: cf.assert %{{.*}}, "parameter 1 of size_from_data expects dimension 0 of {1}, but got {0}"
// CHECK: linalg.fill
func.func @size_from_data(%x: tensor<2xindex>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %size = tensor.extract %x[%c0] : tensor<2xindex>
  %empty = tensor.empty(%size) : tensor<?xf32>
  %y = linalg.fill ins(%zero : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
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
