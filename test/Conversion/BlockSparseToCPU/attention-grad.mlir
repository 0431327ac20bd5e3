// RUN: blocksparse-opt %s --convert-blocksparse-to-cpu --canonicalize --cse \
// RUN: | FileCheck %s --implicit-check-not=blocksparse.

memref.global "private" constant @segments : memref<2x5xi32> = dense<[[0, 0, 0, 1, -1], [1, 0, 1, 2, -1]]>
memref.global "private" constant @entries : memref<3x2xi32> = dense<[[0, 0], [0, 1], [1, 2]]>
memref.global "private" constant @column_segments : memref<2x5xi32> = dense<[[0, 0, 0, 2, -1], [1, 0, 2, 1, -1]]>
memref.global "private" constant @column_entries : memref<3x2xi32> = dense<[[0, 0], [1, 1], [1, 2]]>

// Rows come first: their sums. Then tasks of block columns, which store dk and dv, and of block rows, which store dq; both
// compute scores, dP and the powers of a chunk again.
// CHECK-LABEL: func @rows
// CHECK: scf.forall ({{.*}}) in (4, 32)
// CHECK: scf.forall ({{.*}}) in (4, 2)
// A second turn leaves out the weights of 0 where a gradient is NaN.
// CHECK: scf.for {{.*}} -> (i1)
// CHECK-COUNT-4: vector.fma {{.*}} vector<16xf32>
// CHECK: arith.cmpf uno
// CHECK: vector.reduction <or>
// CHECK: scf.forall ({{.*}}) in (4, 2)
// CHECK: scf.for {{.*}} -> (i1)
// CHECK-COUNT-3: vector.fma {{.*}} vector<16xf32>
// CHECK: arith.cmpf uno
// CHECK: vector.reduction <or>
func.func @rows(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x32x20xf16>, %out: memref<4x32x20xf16>, %lse: memref<4x32xf32>, %dout: memref<4x32x20xf16>, %dq: memref<4x32x8xf16>, %dk: memref<4x32x8xf16>, %dv: memref<4x32x20xf16>, %rows: memref<4x2x32xf32>) {
  %s = memref.get_global @segments : memref<2x5xi32>
  %e = memref.get_global @entries : memref<3x2xi32>
  %cs = memref.get_global @column_segments : memref<2x5xi32>
  %ce = memref.get_global @column_entries : memref<3x2xi32>
  blocksparse.planned_attention_grad %q, %k, %v, %out, %lse, %dout segments(%s) entries(%e) columns(%cs, %ce) outs(%dq, %dk, %dv, %rows) {block = array<i64: 16, 16>, causal, lut_heads = 1 : i64, scale = 0.5}
    : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x20xf16>, memref<4x32x20xf16>, memref<4x32xf32>, memref<4x32x20xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<2x5xi32>, memref<3x2xi32>, memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x20xf16>, memref<4x2x32xf32>) -> ()
  return
}
