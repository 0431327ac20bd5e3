// RUN: blocksparse-opt %s -split-input-file -convert-blocksparse-to-gpu | FileCheck %s --implicit-check-not=blocksparse.

// CHECK-LABEL: gpu.func @grad_softmax_grad(
// CHECK-COUNT-5: gpu.shuffle{{ +}}xor
// CHECK: memref.store
func.func @grad(%y: memref<16x16x16xf16>, %dy: memref<16x16x16xf16>, %s: memref<3x5xi32>, %e: memref<4x2xi32>, %dx: memref<16x16x16xf16>) {
  blocksparse.planned_softmax_grad %y, %dy segments(%s) entries(%e) outs(%dx) {block = array<i64: 16, 16>, shape = array<i64: 40, 48>, lut_heads = 1 : i64, scale = 0.125} : (memref<16x16x16xf16>, memref<16x16x16xf16>, memref<3x5xi32>, memref<4x2xi32>, memref<16x16x16xf16>) -> ()
  return
}

// -----

// drpe first, since dx may be written over y or dy; summed over heads and rows without atomics
// on floats. A warp sums over the rows.
// CHECK-LABEL: gpu.func @rpe_softmax_grad_rpe(
// CHECK: nvvm.read.ptx.sreg.warpsize
// CHECK: scf.for {{.*}} -> (f32)
// CHECK-COUNT-5: gpu.shuffle{{ +}}xor
// CHECK: memref.store
// CHECK: func.func @rpe
// CHECK: %[[DOTS:.*]] = memref.alloc(%{{.*}}, %{{.*}}) : memref<?x?x40xf32>
// CHECK: gpu.launch_func @blocksparse_kernels::@rpe_softmax_grad_dots
// CHECK: gpu.launch_func @blocksparse_kernels::@rpe_clear_block_map
// CHECK: gpu.launch_func @blocksparse_kernels::@rpe_fill_block_map
// CHECK: gpu.launch_func @blocksparse_kernels::@rpe_softmax_grad_rpe
// CHECK: memref.dealloc %[[DOTS]]
// CHECK: gpu.launch_func @blocksparse_kernels::@rpe_softmax_grad blocks
func.func @rpe(%y: memref<2x?x16x16xf16>, %dy: memref<2x?x16x16xf16>, %s: memref<?x5xi32>, %e: memref<?x2xi32>, %dx: memref<2x?x16x16xf16>, %drpe: memref<1x1x48xf32>) {
  blocksparse.planned_softmax_grad %y, %dy segments(%s) entries(%e) outs(%dx, %drpe) {block = array<i64: 16, 16>, shape = array<i64: 40, 48>, lut_heads = 4 : i64, scale = 0.125} : (memref<2x?x16x16xf16>, memref<2x?x16x16xf16>, memref<?x5xi32>, memref<?x2xi32>, memref<2x?x16x16xf16>, memref<1x1x48xf32>) -> ()
  return
}
