// RUN: blocksparse-opt %s -split-input-file -convert-blocksparse-to-gpu | FileCheck %s --implicit-check-not=blocksparse.

memref.global "private" constant @segments : memref<2x5xi32> = dense<[[0, 0, 0, 1, -1], [1, 0, 1, 2, -1]]>
memref.global "private" constant @entries : memref<3x2xi32> = dense<[[0, 0], [0, 1], [1, 2]]>
memref.global "private" constant @column_segments : memref<2x5xi32> = dense<[[0, 0, 0, 2, -1], [1, 0, 2, 1, -1]]>
memref.global "private" constant @column_entries : memref<3x2xi32> = dense<[[0, 0], [1, 1], [1, 2]]>

// A warp writes the shift and the sum of a row; then a thread is 16 columns of a row of dk and dv, or of dq.
// CHECK-LABEL: gpu.func @rows_attention_grad_rows(
// CHECK: gpu.shuffle
// CHECK-LABEL: gpu.func @rows_attention_grad_keys(
// A forbidden query is not read.
// CHECK: arith.cmpi slt
// CHECK: scf.if
// CHECK-LABEL: gpu.func @rows_attention_grad_queries(
// CHECK: func.func @rows
// CHECK: gpu.launch_func @blocksparse_kernels::@rows_attention_grad_rows
// CHECK: gpu.launch_func @blocksparse_kernels::@rows_attention_grad_keys
// CHECK: gpu.launch_func @blocksparse_kernels::@rows_attention_grad_queries
func.func @rows(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x32x20xf16>, %out: memref<4x32x20xf16>, %lse: memref<4x32xf32>, %dout: memref<4x32x20xf16>, %dq: memref<4x32x8xf16>, %dk: memref<4x32x8xf16>, %dv: memref<4x32x20xf16>, %rows: memref<4x2x32xf32>) {
  %s = memref.get_global @segments : memref<2x5xi32>
  %e = memref.get_global @entries : memref<3x2xi32>
  %cs = memref.get_global @column_segments : memref<2x5xi32>
  %ce = memref.get_global @column_entries : memref<3x2xi32>
  blocksparse.planned_attention_grad %q, %k, %v, %out, %lse, %dout segments(%s) entries(%e) columns(%cs, %ce) outs(%dq, %dk, %dv, %rows) {block = array<i64: 16, 16>, causal, lut_heads = 1 : i64, scale = 0.5}
    : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x20xf16>, memref<4x32x20xf16>, memref<4x32xf32>, memref<4x32x20xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<2x5xi32>, memref<3x2xi32>, memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x20xf16>, memref<4x2x32xf32>) -> ()
  return
}

// -----

memref.global "private" constant @segments : memref<2x5xi32> = dense<[[0, 0, 0, 1, -1], [1, 0, 1, 2, -1]]>
memref.global "private" constant @entries : memref<3x2xi32> = dense<[[0, 0], [0, 1], [1, 2]]>
memref.global "private" constant @column_segments : memref<2x5xi32> = dense<[[0, 0, 0, 2, -1], [1, 0, 2, 1, -1]]>
memref.global "private" constant @column_entries : memref<3x2xi32> = dense<[[0, 0], [1, 1], [1, 2]]>

// The length bounds the keys, scores are capped, and a head of keys sums over the queries of two heads.
// CHECK-LABEL: gpu.func @masked_attention_grad_keys(
// CHECK: arith.divui
// CHECK: memref.load %{{.*}} : memref<1xi32
// CHECK: arith.cmpi slt
// CHECK: scf.if
func.func @masked(%q: memref<4x32x8xf32>, %k: memref<2x32x8xf32>, %v: memref<2x32x8xf32>, %out: memref<4x32x8xf32>, %lse: memref<4x32xf32>, %dout: memref<4x32x8xf32>, %n: memref<1xi32>, %dq: memref<4x32x8xf32>, %dk: memref<2x32x8xf32>, %dv: memref<2x32x8xf32>, %rows: memref<4x2x32xf32>) {
  %s = memref.get_global @segments : memref<2x5xi32>
  %e = memref.get_global @entries : memref<3x2xi32>
  %cs = memref.get_global @column_segments : memref<2x5xi32>
  %ce = memref.get_global @column_entries : memref<3x2xi32>
  blocksparse.planned_attention_grad %q, %k, %v, %out, %lse, %dout segments(%s) entries(%e) columns(%cs, %ce) key_lengths(%n) outs(%dq, %dk, %dv, %rows) {block = array<i64: 16, 16>, lut_heads = 1 : i64, soft_cap = 2.0}
    : (memref<4x32x8xf32>, memref<2x32x8xf32>, memref<2x32x8xf32>, memref<4x32x8xf32>, memref<4x32xf32>, memref<4x32x8xf32>, memref<2x5xi32>, memref<3x2xi32>, memref<2x5xi32>, memref<3x2xi32>, memref<1xi32>, memref<4x32x8xf32>, memref<2x32x8xf32>, memref<2x32x8xf32>, memref<4x2x32xf32>) -> ()
  return
}
