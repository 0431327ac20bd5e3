// RUN: blocksparse-opt %s -split-input-file -convert-blocksparse-to-gpu | FileCheck %s --implicit-check-not=blocksparse.

// What has no row kernel (softmax-rows.mlir). A warp a row: maximum, sum and quotient, each lane every 32nd element.
// CHECK-LABEL: gpu.func @rows_softmax(
// CHECK: nvvm.read.ptx.sreg.warpsize
// CHECK: scf.for {{.*}} -> (f64)
// CHECK-COUNT-5: gpu.shuffle{{ +}}xor
// CHECK: scf.for {{.*}} -> (f64)
// CHECK-COUNT-5: gpu.shuffle{{ +}}xor
// CHECK: scf.for
// CHECK: arith.divf
// CHECK: memref.store
// The table is a constant: no block of the result is spare.
// CHECK: func.func @rows
// CHECK: gpu.launch_func @blocksparse_kernels::@rows_softmax
// CHECK-NOT: gpu.launch_func
// CHECK: return
memref.global "private" constant @segments : memref<3x5xi32> = dense<[[0, 0, 0, 2, -1], [1, 0, 2, 0, -1], [2, 0, 2, 2, -1]]>
memref.global "private" constant @entries : memref<4x2xi32> = dense<[[0, 0], [1, 1], [0, 2], [2, 3]]>
func.func @rows(%x: memref<2x16x16x16xf64>, %y: memref<2x16x16x16xf64>) {
  %s = memref.get_global @segments : memref<3x5xi32>
  %e = memref.get_global @entries : memref<4x2xi32>
  blocksparse.planned_softmax %x segments(%s) entries(%e) outs(%y) {block = array<i64: 16, 16>, shape = array<i64: 40, 48>, lut_heads = 1 : i64} : (memref<2x16x16x16xf64>, memref<3x5xi32>, memref<4x2xi32>, memref<2x16x16x16xf64>) -> ()
  return
}

// -----

// Masks, causal, position bias, log-sum-exp; tables made at run time.
// CHECK-LABEL: gpu.func @masked_softmax(
// CHECK: arith.cmpf une
// CHECK: arith.cmpi eq, %{{.*}} : i8
// CHECK: arith.cmpi slt
// CHECK: func.func @masked
// CHECK: gpu.launch_func @blocksparse_kernels::@masked_softmax
// CHECK: gpu.launch_func @blocksparse_kernels::@masked_softmax_spare
func.func @masked(%x: memref<2x?x16x16xf64>, %s: memref<?x5xi32>, %e: memref<?x2xi32>, %rpe: memref<4x40x48xf64>, %kpm: memref<2x48xf64>, %am: memref<40x48xi8>, %y: memref<2x?x16x16xf64>, %lse: memref<2x4x40xf64>) {
  blocksparse.planned_softmax %x segments(%s) entries(%e) rpe(%rpe) key_padding_mask(%kpm) attention_mask(%am) outs(%y, %lse) {block = array<i64: 16, 16>, shape = array<i64: 40, 48>, lut_heads = 4 : i64, scale = 0.125, causal, attention_mask_mode = #blocksparse.mask_mode<mul>} : (memref<2x?x16x16xf64>, memref<?x5xi32>, memref<?x2xi32>, memref<4x40x48xf64>, memref<2x48xf64>, memref<40x48xi8>, memref<2x?x16x16xf64>, memref<2x4x40xf64>) -> ()
  return
}
