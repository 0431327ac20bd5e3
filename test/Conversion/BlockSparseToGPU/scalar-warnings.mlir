// An operation that asks for tensor cores and gets scalar kernels is a warning.
// RUN: blocksparse-opt %s -convert-blocksparse-to-gpu=target=cuda:sm_80 2>&1 >/dev/null | FileCheck %s --implicit-check-not=warning:

#mma = #blocksparse.schedule<cuda.mma>

// CHECK: warning: {{.*}}expects i8, f16, bf16, f32 of a precision other than ieee or, from sm_90 on, f8 and blocks that are multiples of 16 for tensor cores, but got 'memref<4x16x16xf32>' and 'memref<48x32xf32>' with blocks 16 x 16
func.func @exact(%v: memref<4x16x16xf32>, %b: memref<48x32xf32>, %s: memref<3x5xi32>, %e: memref<4x2xi32>, %c: memref<48x32xf32>) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%c) {block = array<i64: 16, 16>, lut_heads = 1 : i64, schedule = #mma} : (memref<4x16x16xf32>, memref<48x32xf32>, memref<3x5xi32>, memref<4x2xi32>, memref<48x32xf32>) -> ()
  return
}
func.func @rounded(%v: memref<4x16x16xf32>, %b: memref<48x32xf32>, %s: memref<3x5xi32>, %e: memref<4x2xi32>, %c: memref<48x32xf32>) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%c) {block = array<i64: 16, 16>, lut_heads = 1 : i64, precision = #blocksparse.precision<tf32>, schedule = #mma} : (memref<4x16x16xf32>, memref<48x32xf32>, memref<3x5xi32>, memref<4x2xi32>, memref<48x32xf32>) -> ()
  return
}
// CHECK: warning: {{.*}}but got 'memref<64x64xf32>' and 'memref<64x64xf32>'
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
// CHECK: warning: {{.*}}but got 'memref<4x8x8xi8>' and 'memref<24x32xi8>' with blocks 8 x 8
func.func @small(%v: memref<4x8x8xi8>, %b: memref<24x32xi8>, %s: memref<3x5xi32>, %e: memref<4x2xi32>, %c: memref<24x32xi32>) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%c) {block = array<i64: 8, 8>, lut_heads = 1 : i64, schedule = #mma} : (memref<4x8x8xi8>, memref<24x32xi8>, memref<3x5xi32>, memref<4x2xi32>, memref<24x32xi32>) -> ()
  return
}
// CHECK: warning: {{.*}}but got 'memref<64x64xf8E5M2>' and 'memref<64x64xf8E5M2>'
func.func @f8(%a: memref<64x64xf8E5M2>, %b: memref<64x64xf8E5M2>, %c: memref<64x64xf32>) {
  blocksparse.planned_matmul %a, %b outs(%c) {schedule = #mma} : (memref<64x64xf8E5M2>, memref<64x64xf8E5M2>, memref<64x64xf32>) -> ()
  return
}
