// RUN: blocksparse-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @pattern(
// CHECK: blocksparse.check_pattern %{{.*}}, %{{.*}} cols(%{{.*}}) {subject = "argument 0 of f"} : tensor<2x5xi64>, tensor<2x?xi64>
// CHECK: blocksparse.check_pattern %{{.*}}, %{{.*}} cols(%{{.*}}) {subject = "argument 0 of f", unique} : tensor<2x5xi64>, tensor<2x?xi64>
func.func @pattern(%crow: tensor<2x5xi64>, %col: tensor<2x?xi64>, %cols: index) {
  blocksparse.check_pattern %crow, %col cols(%cols) {subject = "argument 0 of f"} : tensor<2x5xi64>, tensor<2x?xi64>
  blocksparse.check_pattern %crow, %col cols(%cols) {subject = "argument 0 of f", unique} : tensor<2x5xi64>, tensor<2x?xi64>
  return
}

// CHECK-LABEL: func.func @scatter(
// CHECK: blocksparse.check_scatter_indices indices(%{{.*}}, %{{.*}}) blocks(%{{.*}}, %{{.*}}, %{{.*}}) others(%{{.*}}) accumulators(%{{.*}}, %{{.*}}) {subject = "blocksparse.scatter_mm"} : memref<4xi32>, memref<?x2xi32>
// CHECK: format = #blocksparse.scatter_format<bsr_strided_mm>, split_n = 2 : i64
func.func @scatter(%c: memref<4xi32>, %pq: memref<?x2xi32>, %r: memref<3xi32>, %p: memref<?xi32>, %n: index) {
  blocksparse.check_scatter_indices indices(%c, %pq) blocks(%n, %n, %n) others(%n) accumulators(%n, %n)
      {subject = "blocksparse.scatter_mm"} : memref<4xi32>, memref<?x2xi32>
  blocksparse.check_scatter_indices indices(%c, %r, %p, %p) blocks(%n, %n, %n) others(%n) accumulators(%n, %n)
      {subject = "blocksparse.scatter_mm", format = #blocksparse.scatter_format<bsr_strided_mm>, split_n = 2 : i64}
      : memref<4xi32>, memref<3xi32>, memref<?xi32>, memref<?xi32>
  return
}

// CHECK-LABEL: func.func @refuse(
// CHECK: blocksparse.refuse %{{.*}} {subject = "argument 0 of f"} : memref<7xi64>
func.func @refuse(%record: memref<7xi64>) {
  blocksparse.refuse %record {subject = "argument 0 of f"} : memref<7xi64>
  return
}

// A check without a result is no dead code.
// RUN: blocksparse-opt %s --canonicalize --cse | FileCheck %s
