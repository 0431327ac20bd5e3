// Results are written where the caller wants them: no copy, and one buffer for each
// intermediate tensor.
// RUN: blocksparse-opt %s --blocksparse-to-buffers | FileCheck %s --implicit-check-not=memref.copy --implicit-check-not=memref.alloc --implicit-check-not=': tensor'

#layout = #blocksparse.layout<16x16, grid 4x4, mask "1000/1100/0110/1011">
!dense = tensor<64x32xf32>
!sparse = tensor<64x64xf32, #layout>

// CHECK-LABEL: func.func @product(
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: memref<64x32xf32, strided<[?, ?], offset: ?>>) {
// CHECK: blocksparse.planned_dsd {{.*}} outs(%[[OUT]])
// CHECK-NEXT: return
func.func @product(%w: !sparse, %x: !dense) -> !dense {
  %0 = blocksparse.dsd %w, %x : (!sparse, !dense) -> !dense
  return %0 : !dense
}

// Softmax works in place on the scores, which nobody else needs.
// CHECK-LABEL: func.func @chain(
// CHECK: %[[SCORES:.*]] = memref.alloc() {alignment = 64 : i64} : memref<8x16x16xf32>
// CHECK: blocksparse.planned_sdd {{.*}} outs(%[[SCORES]]
// CHECK: blocksparse.planned_softmax %[[SCORES]] {{.*}} outs(%[[SCORES]]
// CHECK: blocksparse.planned_dsd %[[SCORES]]
// CHECK: memref.dealloc %[[SCORES]]
// CHECK-NEXT: return
func.func @chain(%q: !dense, %k: !dense, %v: !dense) -> !dense {
  %s = blocksparse.sdd %q, %k {transpose_b} : (!dense, !dense) -> !sparse
  %p = blocksparse.softmax %s : (!sparse) -> !sparse
  %0 = blocksparse.dsd %p, %v {transpose_a} : (!sparse, !dense) -> !dense
  return %0 : !dense
}

// Attention stores no scores.
// CHECK-LABEL: func.func @attention(
// CHECK: %[[LSE:.*]] = memref.alloc() {alignment = 64 : i64} : memref<64xf32>
// CHECK: blocksparse.planned_attention {{.*}} outs(%{{.*}}, %[[LSE]])
// CHECK: memref.dealloc %[[LSE]]
// CHECK-NEXT: return
func.func @attention(%q: !dense, %k: !dense, %v: !dense) -> !dense {
  %s = blocksparse.sdd %q, %k {transpose_b} : (!dense, !dense) -> !sparse
  %p = blocksparse.softmax %s : (!sparse) -> !sparse
  %0 = blocksparse.dsd %p, %v : (!sparse, !dense) -> !dense
  return %0 : !dense
}
