// RUN: blocksparse-opt %s --convert-blocksparse-to-cpu --canonicalize | FileCheck %s

// The record is in the frame. Indices are read 64 bits wide, whatever is made of them afterwards.
// CHECK-LABEL: func @unique(
// CHECK-SAME: %[[CROW:[^:]*]]: memref<3xi64>, %[[COL:[^:]*]]: memref<3xi64>
// CHECK: %[[RECORD:.*]] = memref.alloca() : memref<7xi64>
// CHECK: %[[NOTES:.*]] = memref.alloc() : memref<2xindex>
// CHECK: scf.for
// CHECK: memref.load %[[CROW]]
// CHECK: memref.load %[[COL]]
// CHECK: memref.load %[[NOTES]]
// CHECK: memref.store %{{.*}}, %[[RECORD]]
// CHECK: blocksparse.refuse %[[RECORD]] {subject = "argument 0 of f"} : memref<7xi64>
// CHECK: memref.dealloc %[[NOTES]]
func.func @unique(%crow: memref<3xi64>, %col: memref<3xi64>) {
  %cols = arith.constant 2 : index
  blocksparse.check_pattern %crow, %col cols(%cols) {subject = "argument 0 of f", unique} : memref<3xi64>, memref<3xi64>
  return
}

// A product sums duplicates: no column is noted.
// CHECK-LABEL: func @product(
// CHECK-NOT: memref.alloc()
// CHECK: blocksparse.refuse
func.func @product(%crow: memref<2x3xi32>, %col: memref<2x?xi32>, %cols: index) {
  blocksparse.check_pattern %crow, %col cols(%cols) {subject = "f"} : memref<2x3xi32>, memref<2x?xi32>
  return
}

// CHECK-LABEL: func @scatter(
// CHECK: scf.for
// CHECK: scf.for
// CHECK: blocksparse.refuse
func.func @scatter(%c: memref<4xi32>, %pq: memref<?x2xi32>, %n: index) {
  blocksparse.check_scatter_indices indices(%c, %pq) blocks(%n, %n, %n) others(%n) accumulators(%n, %n)
      {subject = "f"} : memref<4xi32>, memref<?x2xi32>
  return
}
