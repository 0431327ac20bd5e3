// RUN: blocksparse-opt %s --convert-blocksparse-to-cpu --canonicalize --cse \
// RUN: | FileCheck %s --implicit-check-not=blocksparse.

memref.global "private" constant @segments : memref<2x5xi32> = dense<[[0, 0, 0, 1, -1], [1, 0, 1, 2, -1]]>
memref.global "private" constant @entries : memref<3x2xi32> = dense<[[0, 0], [0, 1], [1, 2]]>

// A task is a block row of a head; its 16 queries are the lanes of a vector.
// CHECK-LABEL: func @rows
// CHECK: scf.forall ({{.*}}) in (4, 2)
// The keys of a block are chunks: scores, their largest ones, their powers and the products.
// CHECK: scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>)
// CHECK: vector.fma
// CHECK: arith.maximumf
// CHECK: vector.fma
// The group is computed again where a mask forbids and a result is NaN.
// CHECK: arith.cmpf uno
// CHECK: vector.reduction <or>
// CHECK: scf.if
// CHECK: math.log
func.func @rows(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x32x20xf16>, %out: memref<4x32x20xf16>, %lse: memref<4x32xf32>) {
  %s = memref.get_global @segments : memref<2x5xi32>
  %e = memref.get_global @entries : memref<3x2xi32>
  blocksparse.planned_attention %q, %k, %v segments(%s) entries(%e) outs(%out, %lse) {block = array<i64: 16, 16>, causal, lut_heads = 1 : i64, scale = 0.5}
    : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x20xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<4x32x20xf16>, memref<4x32xf32>) -> ()
  return
}

// Keys and values of unit stride are read in place; others are copied, a chunk at a time.
// CHECK-LABEL: func @strided
// CHECK: %[[KEYS:.*]] = scf.if %{{.*}} -> (memref<?x?xf32, strided<[?, 1], offset: ?>>)
// CHECK: memref.load %[[KEYS]]
// CHECK: %[[VALUES:.*]] = scf.if %{{.*}} -> (memref<?x?xf32, strided<[?, 1], offset: ?>>)
// CHECK: memref.load %[[VALUES]]
func.func @strided(%q: memref<32x8xf32>, %k: memref<32x8xf32, strided<[?, ?], offset: ?>>, %v: memref<32x20xf32, strided<[?, ?], offset: ?>>, %out: memref<32x20xf32>, %lse: memref<32xf32>) {
  %s = memref.get_global @segments : memref<2x5xi32>
  %e = memref.get_global @entries : memref<3x2xi32>
  blocksparse.planned_attention %q, %k, %v segments(%s) entries(%e) outs(%out, %lse) {block = array<i64: 16, 16>, lut_heads = 1 : i64, scale = 0.5}
    : (memref<32x8xf32>, memref<32x8xf32, strided<[?, ?], offset: ?>>, memref<32x20xf32, strided<[?, ?], offset: ?>>, memref<2x5xi32>, memref<3x2xi32>, memref<32x20xf32>, memref<32xf32>) -> ()
  return
}
