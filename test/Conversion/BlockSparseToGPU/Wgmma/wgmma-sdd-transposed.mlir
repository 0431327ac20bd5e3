// Products at blocks whose factors are MN-major: kernels write them transposed to temporary memory, and
// the product is that of K-major factors. The general kernels of the fallback take the operands.
// RUN: blocksparse-opt %s --pass-pipeline='builtin.module(blocksparse-to-buffers{target=cuda:sm_90a},blocksparse-lower-gpu-pipeline{target=cuda:sm_90a})' | FileCheck %s
// RUN: blocksparse-compile %s --target=cuda:sm_90a --function=b_across -o %t.ptx
// RUN: FileCheck %s --input-file=%t.ptx --check-prefix=PTX

#b32 = #blocksparse.layout<32x32, grid 16x19, random(density = 0.25, seed = 1)>
#b16 = #blocksparse.layout<16x16, grid 31x19, random(density = 0.25, seed = 1)>

// Whole lines on both sides: 16 bytes at a time along the columns, by way of shared memory, then
// along the rows, as 16 bits eight rows apart become neighbours.
// CHECK-LABEL: gpu.func @b_across_transpose_dense(
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>
// CHECK: scf.for %{{.*}} = %block_id_x to %c40
// CHECK: scf.if
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xi16>
// CHECK: scf.if
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xi16>
// CHECK-COUNT-2: llvm.store %{{.*}} {alignment = 16 : i64} : vector<8xi16>, !llvm.ptr<3>
// CHECK: gpu.barrier
// CHECK: scf.if
// CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr<3> -> i16
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<8xi16>, !llvm.ptr<1>
// CHECK: scf.if
// CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr<3> -> i16
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<8xi16>, !llvm.ptr<1>
// CHECK: gpu.barrier
// CHECK: gpu.return

// Each of four warps copies a block row of A and two block columns of B.
// CHECK-LABEL: gpu.func @b_across_sdd_wgmma(
// CHECK-SAME: blocksparse.tensor_maps = array<i32: 0, 1, 2, 3>
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %arg0,
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %arg1,
// CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %arg2,
// CHECK-NOT: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK: gpu.return

// Neighbours in memory come in one load and go in one store, both of a whole line for 8 threads.
// PTX: .entry b_across_transpose_dense(
// PTX: .maxntid 256
// PTX-COUNT-2: ld.global.v4.b32
// PTX-COUNT-2: st.shared.v4.b32
// PTX: bar.sync
// PTX: ld.shared.b16 %{{.*}}, [[[AT:%rd[0-9]+]]];
// PTX-NEXT: ld.shared.b16 %{{.*}}, [[[AT]]+128];
// PTX: st.global.v4.b32
// PTX: st.global.v4.b32
// PTX: .entry b_across_sdd_wgmma(
// Both factors are read as they lie in shared memory: neither is transposed by wgmma.
// PTX: wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16
// PTX-SAME: p, 1, 1, 0, 0;

// CHECK-LABEL: func.func @b_across(
// CHECK-SAME: %[[A:[^:]*]]: memref<512x200xf16, {{[^>]*>}}>, %[[B:[^:]*]]: memref<200x608xf16
// CHECK: scf.if
// CHECK: %[[TRANSPOSED:.*]] = memref.alloc() : memref<608x200xf16>
// CHECK-NEXT: gpu.launch_func @blocksparse_kernels::@b_across_transpose_dense blocks in (%c40, {{.*}}args(%[[B]] : {{.*}}, %[[TRANSPOSED]] :
// CHECK: memref.reinterpret_cast %[[A]] {{.*}} sizes: [1, 1, 512, 200]
// CHECK: nvgpu.tma.create.descriptor %{{.*}} box[%c1, %c1, %c32, %c64]
// CHECK: memref.reinterpret_cast %[[TRANSPOSED]] {{.*}} sizes: [1, 1, 608, 200], strides: [8, 8, 200, 1]
// CHECK: nvgpu.tma.create.descriptor %{{.*}} box[%c1, %c1, %c64, %c64]
// CHECK: nvgpu.tma.create.descriptor %{{.*}} box[%c1, %c1, %c32, %c64]
// CHECK: nvgpu.tma.create.descriptor %{{.*}} box[%c1, %c1, %c32, %c32]
// CHECK: gpu.launch_func @blocksparse_kernels::@b_across_sdd_wgmma
// CHECK-NEXT: memref.dealloc %[[TRANSPOSED]]
// CHECK-NEXT: } else {
// CHECK-NOT: memref.alloc
// CHECK: gpu.launch_func @blocksparse_kernels::@b_across_sdd_mma {{.*}}args(%[[A]] : {{.*}}, %[[B]] :
func.func @b_across(%a: tensor<512x200xf16>, %b: tensor<200x608xf16>) -> tensor<512x608xf16, #b32> {
  %0 = blocksparse.sdd %a, %b {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>}
      : (tensor<512x200xf16>, tensor<200x608xf16>) -> tensor<512x608xf16, #b32>
  return %0 : tensor<512x608xf16, #b32>
}

// All batches and heads of A, and B, which they share, once. Tiles of B: 2 of k by 5 of n.
// CHECK-LABEL: func.func @both_across(
// CHECK-SAME: %[[A:[^:]*]]: memref<2x3x72x496xbf16, {{[^>]*>}}>, %[[B:[^:]*]]: memref<72x304xbf16
// CHECK: %[[TRANSPOSED_A:.*]] = memref.alloc() : memref<2x3x496x72xbf16>
// CHECK: gpu.launch_func @blocksparse_kernels::@both_across_transpose_dense blocks in (%c96, {{.*}}args(%[[A]] : {{.*}}, %[[TRANSPOSED_A]] :
// CHECK: %[[TRANSPOSED_B:.*]] = memref.alloc() : memref<304x72xbf16>
// CHECK: gpu.launch_func @blocksparse_kernels::@both_across_transpose_dense{{.*}} blocks in (%c10, {{.*}}args(%[[B]] : {{.*}}, %[[TRANSPOSED_B]] :
// CHECK: memref.reinterpret_cast %[[TRANSPOSED_A]] {{.*}} sizes: [2, 3, 496, 72]
// CHECK: memref.reinterpret_cast %[[TRANSPOSED_B]] {{.*}} sizes: [1, 1, 304, 72]
// CHECK: gpu.launch_func @blocksparse_kernels::@both_across_sdd_wgmma
// CHECK-DAG: memref.dealloc %[[TRANSPOSED_A]]
// CHECK-DAG: memref.dealloc %[[TRANSPOSED_B]]
func.func @both_across(%a: tensor<2x3x72x496xbf16>, %b: tensor<72x304xbf16>) -> tensor<2x3x496x304xbf16, #b16> {
  %0 = blocksparse.sdd %a, %b {schedule = #blocksparse.schedule<cuda.wgmma_transposed>, transpose_a}
      : (tensor<2x3x72x496xbf16>, tensor<72x304xbf16>) -> tensor<2x3x496x304xbf16, #b16>
  return %0 : tensor<2x3x496x304xbf16, #b16>
}

// CHECK-LABEL: func.func @a_across(
// CHECK-SAME: %[[A:[^:]*]]: memref<72x496xf16, {{[^>]*>}}>, %[[B:[^:]*]]: memref<304x72xf16
// CHECK: %[[TRANSPOSED:.*]] = memref.alloc() : memref<496x72xf16>
// CHECK-NEXT: gpu.launch_func @blocksparse_kernels::@a_across_transpose_dense
// CHECK-NOT: memref.alloc
// CHECK: gpu.launch_func @blocksparse_kernels::@a_across_sdd_wgmma
func.func @a_across(%a: tensor<72x496xf16>, %b: tensor<304x72xf16>) -> tensor<496x304xf16, #b16> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>, transpose_a, transpose_b}
      : (tensor<72x496xf16>, tensor<304x72xf16>) -> tensor<496x304xf16, #b16>
  return %0 : tensor<496x304xf16, #b16>
}
