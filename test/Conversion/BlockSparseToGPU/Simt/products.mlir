// RUN: blocksparse-opt %s -split-input-file -convert-blocksparse-to-gpu | FileCheck %s --implicit-check-not=blocksparse.

// CHECK-LABEL: gpu.func @score_matmul(
// CHECK: arith.cmpi eq, %{{.*}} : i16
// CHECK: llvm.intr.fma
func.func @score(%q: memref<2x32x4x64xf8E4M3FN>, %k: memref<2x48x4x64xf8E4M3FN>, %bias: memref<48xf32>, %c: memref<2x4x32x48xf32>) {
  blocksparse.planned_matmul %q, %k bias(%bias) outs(%c) {form = #blocksparse.form<score>, alpha = 0.5, activation = #blocksparse.activation<gelu_tanh>} : (memref<2x32x4x64xf8E4M3FN>, memref<2x48x4x64xf8E4M3FN>, memref<48xf32>, memref<2x4x32x48xf32>) -> ()
  return
}

// -----

// CHECK-LABEL: gpu.func @context_matmul(
func.func @context(%p: memref<2x4x32x48xf32>, %v: memref<2x48x4x64xf32>, %r: memref<2x32x4x64xf32>, %o: memref<2x32x4x64xf32>) {
  blocksparse.planned_matmul %p, %v residual(%r) outs(%o) {form = #blocksparse.form<context>} : (memref<2x4x32x48xf32>, memref<2x48x4x64xf32>, memref<2x32x4x64xf32>, memref<2x32x4x64xf32>) -> ()
  return
}

// -----

// CHECK-LABEL: gpu.func @linear_matmul(
// CHECK: gpu.func @linear_matmul_0(
func.func @linear(%a: memref<?x?xf8E5M2>, %b: memref<?x?xf8E5M2>, %c: memref<?x?xf8E5M2>, %i: memref<?x?xi8>, %j: memref<?x?xi8>, %k: memref<?x?xi32>) {
  blocksparse.planned_matmul %a, %b outs(%c) {transpose_a, transpose_b} : (memref<?x?xf8E5M2>, memref<?x?xf8E5M2>, memref<?x?xf8E5M2>) -> ()
  blocksparse.planned_matmul %i, %j outs(%k) {activation = #blocksparse.activation<relu>} : (memref<?x?xi8>, memref<?x?xi8>, memref<?x?xi32>) -> ()
  return
}

// -----

// CHECK-LABEL: gpu.func @pairs_scatter_mm(
// CHECK: arith.index_cast %{{.*}} : i64 to index
// CHECK: arith.addf
// CHECK: memref.store
func.func @pairs(%b: memref<?x16x16xf64>, %o: memref<?x16x32xf64>, %co: memref<?xi64>, %pq: memref<?x2xi64>, %acc: memref<?x16x32xf64>) {
  blocksparse.planned_scatter_mm %b, %o indices(%co, %pq) outs(%acc) : (memref<?x16x16xf64>, memref<?x16x32xf64>, memref<?xi64>, memref<?x2xi64>, memref<?x16x32xf64>) -> ()
  return
}

// -----

// CHECK-LABEL: gpu.func @strided_scatter_mm(
// CHECK: gpu.func @strided_scatter_mm_0(
func.func @strided(%b: memref<?x16x16xf16>, %o: memref<2x64x64xf16>, %c: memref<?xi32>, %r: memref<?xi32>, %p: memref<?xi32>, %q: memref<?xi32>, %acc: memref<2x64x64xf16>) {
  blocksparse.planned_scatter_mm %b, %o indices(%c, %r, %p, %q) outs(%acc) {format = #blocksparse.scatter_format<bsr_strided_mm>, split_n = 2 : i64} : (memref<?x16x16xf16>, memref<2x64x64xf16>, memref<?xi32>, memref<?xi32>, memref<?xi32>, memref<?xi32>, memref<2x64x64xf16>) -> ()
  blocksparse.planned_scatter_mm %b, %o indices(%c, %r, %q) outs(%acc) {format = #blocksparse.scatter_format<bsr_strided_mm_compressed>, split_n = 2 : i64} : (memref<?x16x16xf16>, memref<2x64x64xf16>, memref<?xi32>, memref<?xi32>, memref<?xi32>, memref<2x64x64xf16>) -> ()
  return
}
