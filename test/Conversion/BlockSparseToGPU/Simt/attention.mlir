// RUN: blocksparse-opt %s -convert-blocksparse-to-gpu | FileCheck %s --implicit-check-not=blocksparse.

memref.global "private" constant @segments : memref<2x5xi32> = dense<[[0, 0, 0, 1, -1], [1, 0, 1, 2, -1]]>
memref.global "private" constant @entries : memref<3x2xi32> = dense<[[0, 0], [0, 1], [1, 2]]>

// A thread is 16 columns of a row.
// CHECK-LABEL: gpu.func @rows_attention(
// CHECK: scf.for {{.*}} -> (f32, f32, f32
// A forbidden key is not read.
// CHECK: arith.cmpi slt
// CHECK: scf.if
// CHECK: scf.for {{.*}} -> (f32)
// CHECK: arith.divf
// CHECK: func.func @rows
// CHECK: gpu.launch_func @blocksparse_kernels::@rows_attention
func.func @rows(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x32x20xf16>, %out: memref<4x32x20xf16>, %lse: memref<4x32xf32>) {
  %s = memref.get_global @segments : memref<2x5xi32>
  %e = memref.get_global @entries : memref<3x2xi32>
  blocksparse.planned_attention %q, %k, %v segments(%s) entries(%e) outs(%out, %lse) {block = array<i64: 16, 16>, causal, lut_heads = 1 : i64, scale = 0.5}
    : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x20xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<4x32x20xf16>, memref<4x32xf32>) -> ()
  return
}
