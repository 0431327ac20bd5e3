// RUN: blocksparse-opt %s -split-input-file -convert-blocksparse-to-gpu | FileCheck %s --implicit-check-not=blocksparse.

// The map of blocks is made with integer atomics, whose order does not matter.
// CHECK-LABEL: gpu.func @dense_clear_block_map(
// CHECK-LABEL: gpu.func @dense_fill_block_map(
// CHECK: memref.atomic_rmw mins
// CHECK: memref.atomic_rmw addi
// CHECK-LABEL: gpu.func @dense_to_dense(
// CHECK-NOT: atomic
// CHECK-LABEL: gpu.func @dense_from_dense(
func.func @dense(%v: memref<2x?x16x32xbf16>, %lut: memref<?x4xi32>, %d: memref<2x4x?x?xbf16, strided<[?,?,?,?], offset: ?>>) {
  blocksparse.planned_to_dense %v lut(%lut) outs(%d) {block = array<i64: 16, 32>, lut_heads = 1 : i64} : (memref<2x?x16x32xbf16>, memref<?x4xi32>, memref<2x4x?x?xbf16, strided<[?,?,?,?], offset: ?>>) -> ()
  blocksparse.planned_from_dense %d lut(%lut) outs(%v) {block = array<i64: 16, 32>, lut_heads = 1 : i64} : (memref<2x4x?x?xbf16, strided<[?,?,?,?], offset: ?>>, memref<?x4xi32>, memref<2x?x16x32xbf16>) -> ()
  return
}

// -----

// CHECK-LABEL: gpu.func @transposed_transpose(
// CHECK: memref.load {{.*}} : memref<16x32xi8
// CHECK: memref.store {{.*}} : memref<32x16xi8
func.func @transposed(%v: memref<2x?x16x32xi8>, %p: memref<?xi32>, %o: memref<2x?x32x16xi8>) {
  blocksparse.planned_transpose %v permutation(%p) outs(%o) {block = array<i64: 16, 32>, lut_heads = 1 : i64} : (memref<2x?x16x32xi8>, memref<?xi32>, memref<2x?x32x16xi8>) -> ()
  return
}

// -----

// A term of factor 0 is not read.
// CHECK-LABEL: gpu.func @sum_add(
// CHECK: memref.load {{.*}} : memref<16x32xbf16
// CHECK: memref.load {{.*}} : memref<16x32xbf16
// CHECK: llvm.intr.fma({{.*}}) : (f32, f32, f32) -> f32
// CHECK: memref.store {{.*}} : memref<16x32xbf16
// CHECK-LABEL: gpu.func @sum_add_0(
// CHECK: memref.load
// CHECK-NOT: memref.load
// CHECK: memref.store
func.func @sum(%a: memref<2x?x16x32xbf16>, %b: memref<2x?x16x32xbf16>, %o: memref<2x?x16x32xbf16>) {
  blocksparse.planned_add %a, %b outs(%o) {beta = 0.5} : (memref<2x?x16x32xbf16>, memref<2x?x16x32xbf16>, memref<2x?x16x32xbf16>) -> ()
  blocksparse.planned_add %a, %b outs(%o) {beta = 0.0} : (memref<2x?x16x32xbf16>, memref<2x?x16x32xbf16>, memref<2x?x16x32xbf16>) -> ()
  return
}

// -----

// CHECK-LABEL: gpu.func @tables_row_lut(
// CHECK-LABEL: gpu.func @tables_row_lut_0(
// CHECK-LABEL: gpu.func @tables_coordinate_lut(
// CHECK-LABEL: gpu.func @tables_transpose_indices(
func.func @tables(%crow: memref<2x?xi64>, %col: memref<2x?xi64>, %seg: memref<2x?x5xi32>, %ent: memref<2x?x2xi32>, %lut: memref<2x?x4xi32>, %cs: memref<2x?x2xi32>, %tc: memref<2x?xi64>, %tcol: memref<2x?xi64>, %perm: memref<2x?xi32>) {
  blocksparse.bsr_row_lut %crow, %col outs(%seg, %ent) : (memref<2x?xi64>, memref<2x?xi64>, memref<2x?x5xi32>, memref<2x?x2xi32>) -> ()
  blocksparse.bsr_row_lut %crow, %col outs(%seg, %ent) {transpose} : (memref<2x?xi64>, memref<2x?xi64>, memref<2x?x5xi32>, memref<2x?x2xi32>) -> ()
  blocksparse.bsr_coordinate_lut %crow, %col outs(%lut, %cs) : (memref<2x?xi64>, memref<2x?xi64>, memref<2x?x4xi32>, memref<2x?x2xi32>) -> ()
  blocksparse.bsr_transpose_indices %crow, %col outs(%tc, %tcol, %perm) : (memref<2x?xi64>, memref<2x?xi64>, memref<2x?xi64>, memref<2x?xi64>, memref<2x?xi32>) -> ()
  return
}
