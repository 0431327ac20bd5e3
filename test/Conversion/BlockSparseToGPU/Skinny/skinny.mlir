// RUN: blocksparse-opt %s -convert-blocksparse-to-gpu=target=cuda:sm_80 | FileCheck %s --implicit-check-not=blocksparse.planned

// The kernel that loads vectors of the dense factor where it can, the one that loads elements where
// only values are aligned, and the scalar kernel elsewhere.
// CHECK-LABEL: gpu.func @vectors_dsd_skinny(
// CHECK-SAME: known_block_size = array<i32: 64, 1, 1>
// CHECK: scf.for
// The tables of both steps are read before the values, and all loads come before the products.
// CHECK-NOT: llvm.load
// CHECK-COUNT-2: memref.load {{.*}} : memref<4x2xi32>
// CHECK-COUNT-2: llvm.load {{.*}} -> vector<8xf16>
// CHECK-COUNT-2: llvm.load {{.*}} -> vector<8xf16>
// CHECK-COUNT-16: llvm.load {{.*}} -> vector<2xf16>
// CHECK-NOT: llvm.load
// One row group, two column groups and two halves of each step.
// CHECK-COUNT-8: nvvm.mma.sync {{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 16>
// CHECK-NOT: nvvm.mma.sync
// CHECK: gpu.barrier
// CHECK: gpu.func @vectors_dsd_skinny_0(
// CHECK-NOT: llvm.load {{.*}} -> vector<2xf16>
// CHECK: nvvm.mma.sync
// CHECK: gpu.func @vectors_dsd(
// CHECK-NOT: nvvm.mma.sync
// CHECK: func.func @vectors
// CHECK: scf.if
// CHECK: gpu.launch_func @blocksparse_kernels::@vectors_dsd_skinny
// CHECK: else
// CHECK: scf.if
// CHECK: gpu.launch_func @blocksparse_kernels::@vectors_dsd_skinny_0
// CHECK: else
// CHECK: gpu.launch_func @blocksparse_kernels::@vectors_dsd
func.func @vectors(%v: memref<4x16x32xf16>, %b: memref<96x16xf16>, %s: memref<3x5xi32>, %e: memref<4x2xi32>, %c: memref<48x16xf16>) {
  blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%c) {block = array<i64: 16, 32>, lut_heads = 1 : i64, schedule = #blocksparse.schedule<cuda.skinny, tile = 16x16, warps = 2, unroll = 2>} : (memref<4x16x32xf16>, memref<96x16xf16>, memref<3x5xi32>, memref<4x2xi32>, memref<48x16xf16>) -> ()
  return
}
