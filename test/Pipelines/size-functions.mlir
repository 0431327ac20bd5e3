// The sizes of results that the types leave open, computed by a function of their own.
// RUN: blocksparse-opt %s --blocksparse-to-buffers | FileCheck %s

#bsr = #blocksparse.bsr<16x16>

// The function itself compares the sizes of the results, of which two are open, with those of the
// caller's buffers, before it writes to any.
// CHECK-LABEL: func.func @open(
// CHECK: cf.assert %{{.*}}, "parameter 6 of open expects dimension 0 of {1}, but got {0}"
// CHECK: cf.assert %{{.*}}, "parameter 7 of open expects dimension 0 of {1}, but got {0}"
// CHECK: blocksparse.planned_sdd
// CHECK-LABEL: func.func @open_result_sizes(
// CHECK-SAME: %[[CROW:.*]]: memref<5xi32, {{.*}}>, %[[COL:.*]]: memref<?xi32, {{.*}}>, %[[VALUES:.*]]: memref<?x16x16xf32, {{.*}}>, %{{.*}}: memref<64x8xf32, {{.*}}>, %{{.*}}: memref<64x8xf32, {{.*}}>, %[[SIZES:.*]]: memref<2xi64, {{.*}}>
// CHECK-NOT: blocksparse.planned
// CHECK-DAG: memref.dim %[[COL]]
// CHECK-DAG: memref.dim %[[VALUES]]
// CHECK-NOT: blocksparse.planned
// CHECK: return
func.func @open(%s: tensor<64x64xf32, #bsr>, %a: tensor<64x8xf32>, %b: tensor<64x8xf32>)
    -> tensor<64x64xf32, #bsr> {
  %0 = blocksparse.sdd %a, %b pattern(%s) {transpose_b}
    : (tensor<64x8xf32>, tensor<64x8xf32>, tensor<64x64xf32, #bsr>) -> tensor<64x64xf32, #bsr>
  return %0 : tensor<64x64xf32, #bsr>
}

// CHECK-NOT: @closed_result_sizes
func.func @closed(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  return %a : tensor<4x4xf32>
}
