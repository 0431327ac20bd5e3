// An operation that asks for tensor cores and gets scalar kernels is a warning.
// RUN: blocksparse-opt %s -convert-blocksparse-to-gpu=target=cuda:sm_80 2>&1 >/dev/null | FileCheck %s --implicit-check-not=warning:

#mma = #blocksparse.schedule<cuda.mma>

// CHECK: warning: {{.*}}runs scalar kernels in place of #blocksparse.schedule<cuda.mma>: expects factors of one type, i8, f16, bf16, f8, f64 or f32 of a precision other than ieee, but got f32 and f32
func.func @exact(%v: memref<4x16x16xf32>, %b: memref<48x32xf32>, %s: memref<3x5xi32>, %e: memref<4x2xi32>, %c: memref<48x32xf32>) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%c) {block = array<i64: 16, 16>, lut_heads = 1 : i64, schedule = #mma} : (memref<4x16x16xf32>, memref<48x32xf32>, memref<3x5xi32>, memref<4x2xi32>, memref<48x32xf32>) -> ()
  return
}
func.func @rounded(%v: memref<4x16x16xf32>, %b: memref<48x32xf32>, %s: memref<3x5xi32>, %e: memref<4x2xi32>, %c: memref<48x32xf32>) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%c) {block = array<i64: 16, 16>, lut_heads = 1 : i64, precision = #blocksparse.precision<tf32>, schedule = #mma} : (memref<4x16x16xf32>, memref<48x32xf32>, memref<3x5xi32>, memref<4x2xi32>, memref<48x32xf32>) -> ()
  return
}
// CHECK: warning: {{.*}}or f32 of a precision other than ieee, but got f32 and f32
func.func @dense(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %c: memref<64x64xf32>) {
  blocksparse.planned_matmul %a, %b outs(%c) {schedule = #mma} : (memref<64x64xf32>, memref<64x64xf32>, memref<64x64xf32>) -> ()
  return
}
// A schedule that asks for the scalar kernel gets what it asks for.
func.func @wanted(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %c: memref<64x64xf32>) {
  blocksparse.planned_matmul %a, %b outs(%c) {schedule = #blocksparse.schedule<cuda.simt>} : (memref<64x64xf32>, memref<64x64xf32>, memref<64x64xf32>) -> ()
  return
}
// i8 has kernels, but for small blocks; f8 has none on sm_80.
func.func @bytes(%a: memref<64x64xi8>, %b: memref<64x64xi8>, %c: memref<64x64xi32>) {
  blocksparse.planned_matmul %a, %b outs(%c) {schedule = #mma} : (memref<64x64xi8>, memref<64x64xi8>, memref<64x64xi32>) -> ()
  return
}
// CHECK: warning: {{.*}}expects blocks of multiples of 16x16, but got 8x8
func.func @small(%v: memref<4x8x8xi8>, %b: memref<24x32xi8>, %s: memref<3x5xi32>, %e: memref<4x2xi32>, %c: memref<24x32xi32>) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%c) {block = array<i64: 8, 8>, lut_heads = 1 : i64, schedule = #mma} : (memref<4x8x8xi8>, memref<24x32xi8>, memref<3x5xi32>, memref<4x2xi32>, memref<24x32xi32>) -> ()
  return
}
// CHECK: warning: {{.*}}expects a chip that converts f8 to f16 (from sm_90 on), but got one that does not
func.func @f8(%a: memref<64x64xf8E5M2>, %b: memref<64x64xf8E5M2>, %c: memref<64x64xf32>) {
  blocksparse.planned_matmul %a, %b outs(%c) {schedule = #mma} : (memref<64x64xf8E5M2>, memref<64x64xf8E5M2>, memref<64x64xf32>) -> ()
  return
}
