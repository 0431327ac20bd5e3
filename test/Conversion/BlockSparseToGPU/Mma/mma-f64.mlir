// f64 on tensor cores: m16n8k4 on sm_90.
// RUN: blocksparse-opt %s -convert-blocksparse-to-gpu=target=cuda:sm_90a | FileCheck %s

#wide = #blocksparse.schedule<cuda.mma, tile = 64x128, stages = 4>

// CHECK-LABEL: gpu.func @dsd_dsd_mma(
// CHECK-SAME: known_block_size = array<i32: 128, 1, 1>
// CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k4.row.col.f64"
func.func @dsd(%v: memref<4x64x64xf64>, %b: memref<192x256xf64>, %s: memref<3x5xi32>, %e: memref<4x2xi32>, %c: memref<192x256xf64>) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%c) {block = array<i64: 64, 64>, lut_heads = 1 : i64, schedule = #wide} : (memref<4x64x64xf64>, memref<192x256xf64>, memref<3x5xi32>, memref<4x2xi32>, memref<192x256xf64>) -> ()
  return
}

// CHECK-LABEL: gpu.func @transposed_dsd_mma(
// CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k4.row.col.f64"
func.func @transposed(%v: memref<4x64x64xf64>, %b: memref<256x192xf64>, %s: memref<3x5xi32>, %e: memref<4x2xi32>, %c: memref<192x256xf64>) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%c) {block = array<i64: 64, 64>, lut_heads = 1 : i64, transpose_b, transpose_values, schedule = #wide} : (memref<4x64x64xf64>, memref<256x192xf64>, memref<3x5xi32>, memref<4x2xi32>, memref<192x256xf64>) -> ()
  return
}
