// RUN: blocksparse-opt %s --convert-blocksparse-to-cpu --canonicalize --cse \
// RUN: | FileCheck %s --implicit-check-not=blocksparse.

memref.global "private" constant @lut : memref<2x4xi32> = dense<[[0, 0, 0, 0], [0, 1, 1, 1]]>

// A constant table names each block once: zeroes, then every block on its own.

// CHECK-LABEL: func @to_dense
// CHECK: scf.forall (%{{.*}}) in (32)
// CHECK: vector.maskedstore
// CHECK: scf.forall (%[[ENTRY:.*]]) in (2)
// CHECK: memref.load %{{.*}}[%[[ENTRY]], %c3]
// CHECK: %[[BLOCK:.*]] = vector.load {{.*}} vector<16xf16>
// CHECK-NEXT: vector.store %[[BLOCK]]
func.func @to_dense(%values: memref<2x16x16xf16>, %out: memref<32x32xf16>) {
  %lut = memref.get_global @lut : memref<2x4xi32>
  blocksparse.planned_to_dense %values lut(%lut) outs(%out) {block = array<i64: 16, 16>, lut_heads = 1 : i64}
    : (memref<2x16x16xf16>, memref<2x4xi32>, memref<32x32xf16>) -> ()
  return
}

// A run-time table may name one twice: row i of all block rows has one owner, which adds.

// CHECK-LABEL: func @to_dense_duplicates
// CHECK: scf.forall (%[[I:.*]]) in (16)
// CHECK: scf.for %{{.*}} = %[[I]] to %c32 step %c16
// CHECK: scf.for
// CHECK: arith.addf {{.*}} vector<16xf32>
// CHECK: arith.truncf
// CHECK-NOT: scf.forall
func.func @to_dense_duplicates(%values: memref<2x16x16xf16>, %lut: memref<2x4xi32>, %out: memref<32x32xf16>) {
  blocksparse.planned_to_dense %values lut(%lut) outs(%out) {block = array<i64: 16, 16>, lut_heads = 1 : i64}
    : (memref<2x16x16xf16>, memref<2x4xi32>, memref<32x32xf16>) -> ()
  return
}

// Rows and columns beyond the tensor are 0 in the block, and not read. f8 elements are only moved.

// CHECK-LABEL: func @from_dense_edge
// CHECK: scf.forall (%{{.*}}) in (2)
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %{{.*}}, %c20
// CHECK: scf.if %[[INSIDE]]
// CHECK: vector.maskedload {{.*}} into vector<16xf8E4M3FN>
// CHECK: vector.store
// CHECK: } else {
// CHECK: vector.store
func.func @from_dense_edge(%dense: memref<20x20xf8E4M3FN>, %lut: memref<2x4xi32>, %out: memref<2x16x16xf8E4M3FN>) {
  blocksparse.planned_from_dense %dense lut(%lut) outs(%out) {block = array<i64: 16, 16>, lut_heads = 1 : i64}
    : (memref<20x20xf8E4M3FN>, memref<2x4xi32>, memref<2x16x16xf8E4M3FN>) -> ()
  return
}

// Tables of all heads name the head; columns of any stride are gathered.

// CHECK-LABEL: func @from_dense_heads
// CHECK: scf.if
// CHECK: scf.forall (%[[B:.*]], %[[ENTRY:.*]]) in (2, 5)
// CHECK: memref.load %{{.*}}[%[[ENTRY]], %c0]
// CHECK: vector.load
// CHECK: } else {
// CHECK: vector.gather
func.func @from_dense_heads(%dense: memref<2x3x32x32xi32, strided<[?, ?, ?, ?], offset: ?>>, %lut: memref<5x4xi32>, %out: memref<2x5x16x16xi32>) {
  blocksparse.planned_from_dense %dense lut(%lut) outs(%out) {block = array<i64: 16, 16>, lut_heads = 3 : i64}
    : (memref<2x3x32x32xi32, strided<[?, ?, ?, ?], offset: ?>>, memref<5x4xi32>, memref<2x5x16x16xi32>) -> ()
  return
}

// Two heads share the permutation of two blocks; a block is read along its columns.

// CHECK-LABEL: func @transpose
// CHECK: scf.forall (%[[HEAD:.*]], %[[BLOCK:.*]]) in (2, 2)
// CHECK: memref.load %{{.*}}[%[[BLOCK]]] : memref<2xi32>
// CHECK: %[[BASE:.*]] = arith.muli %[[HEAD]], %c2
// CHECK: memref.reinterpret_cast {{.*}} sizes: [32, 16], strides: [1, 32]
// CHECK: memref.reinterpret_cast {{.*}} sizes: [32, 16], strides: [16, 1]
func.func @transpose(%values: memref<4x16x32xf32>, %permutation: memref<2xi32>, %out: memref<4x32x16xf32>) {
  blocksparse.planned_transpose %values permutation(%permutation) outs(%out) {block = array<i64: 16, 32>, lut_heads = 1 : i64}
    : (memref<4x16x32xf32>, memref<2xi32>, memref<4x32x16xf32>) -> ()
  return
}

// A sum is computed in f32; a factor of 1 is no multiplication, and a term of factor 0 is not read.

// CHECK-LABEL: func @add
// CHECK-SAME: (%[[A:.*]]: memref<2x16x16xf16>, %[[B:.*]]: memref<2x16x16xf16>, %[[OUT:.*]]: memref<2x16x16xf16>)
// CHECK: scf.forall (%{{.*}}) in (2)
// CHECK: %[[X:.*]] = arith.extf {{.*}} : vector<16xf16> to vector<16xf32>
// CHECK: %[[Y:.*]] = arith.extf {{.*}} : vector<16xf16> to vector<16xf32>
// CHECK: %[[SCALED:.*]] = arith.mulf %[[Y]], {{.*}} : vector<16xf32>
// CHECK: arith.addf %[[X]], %[[SCALED]]
// CHECK: vector.store
// CHECK: scf.forall (%{{.*}}) in (2)
// CHECK-NOT: reinterpret_cast %[[A]]
// CHECK-NOT: arith.addf
func.func @add(%a: memref<2x16x16xf16>, %b: memref<2x16x16xf16>, %out: memref<2x16x16xf16>) {
  blocksparse.planned_add %a, %b outs(%out) {beta = 0.5}
    : (memref<2x16x16xf16>, memref<2x16x16xf16>, memref<2x16x16xf16>) -> ()
  blocksparse.planned_add %a, %b outs(%out) {alpha = 0.0}
    : (memref<2x16x16xf16>, memref<2x16x16xf16>, memref<2x16x16xf16>) -> ()
  return
}

// Blocks that are not contiguous are gathered; the last columns of a block are masked.

// CHECK-LABEL: func @add_strided
// CHECK: scf.if
// CHECK: vector.maskedload
// CHECK: } else {
// CHECK: vector.gather
// CHECK: vector.maskedstore
func.func @add_strided(%a: memref<2x?x3x13xf32, strided<[?, ?, ?, ?], offset: ?>>, %out: memref<2x?x3x13xf32>) {
  blocksparse.planned_add %a, %a outs(%out)
    : (memref<2x?x3x13xf32, strided<[?, ?, ?, ?], offset: ?>>, memref<2x?x3x13xf32, strided<[?, ?, ?, ?], offset: ?>>, memref<2x?x3x13xf32>) -> ()
  return
}
