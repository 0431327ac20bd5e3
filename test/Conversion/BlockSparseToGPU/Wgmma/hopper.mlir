// The kernels of Hopper's families: what brings the operands, what multiplies, and who does which.
// RUN: blocksparse-opt %s --pass-pipeline='builtin.module(blocksparse-to-buffers{target=cuda:sm_90a},blocksparse-lower-gpu-pipeline{target=cuda:sm_90a})' | FileCheck %s --implicit-check-not='blocksparse.dsd' --implicit-check-not='blocksparse.planned'
// On a chip without wgmma the same program runs on mma.sync.
// RUN: blocksparse-opt %s --pass-pipeline='builtin.module(blocksparse-to-buffers{target=cuda:sm_80},blocksparse-lower-gpu-pipeline{target=cuda:sm_80})' | FileCheck %s --check-prefix=AMPERE --implicit-check-not=wgmma --implicit-check-not=cp.async.bulk

#b16 = #blocksparse.layout<16x16, grid 64x64, random_balanced(density = 0.25, seed = 1)>
#b32 = #blocksparse.layout<32x32, grid 36x32, random_balanced(density = 0.5, seed = 1)>
#b64 = #blocksparse.layout<64x64, grid 16x16, random_balanced(density = 0.25, seed = 1)>

// One warpgroup copies, two multiply: a group of wgmma for each stage, the stage before is released
// when it has ended.
// CHECK-LABEL: gpu.func @blocks_of_64_dsd_wgmma
// CHECK-SAME: blocksparse.tensor_maps = array<i32: 0, 1, 2>
// CHECK-SAME: nvvm.minctasm = 1
// CHECK: nvvm.mbarrier.init
// CHECK: nvvm.fence.mbarrier.init
// CHECK: gpu.barrier
// CHECK: nvvm.setmaxregister decrease 40
// CHECK: nvvm.elect.sync
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: nvvm.mbarrier.arrive.expect_tx
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK: nvvm.setmaxregister increase 232
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: nvvm.wgmma.fence.aligned
// CHECK-COUNT-4: nvvm.wgmma.mma_async
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: nvvm.wgmma.wait.group.sync.aligned 1
// CHECK: nvvm.mbarrier.arrive
// CHECK: nvvm.stmatrix
// CHECK: nvvm.fence.proxy
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta
// AMPERE-LABEL: gpu.func @blocks_of_64_dsd_mma
// AMPERE: nvvm.mma.sync
func.func @blocks_of_64(%a: tensor<1024x1024xf16, #b64>, %b: tensor<1024x4096xf16>) -> tensor<1024x4096xf16> {
  %0 = blocksparse.dsd %a, %b : (tensor<1024x1024xf16, #b64>, tensor<1024x4096xf16>) -> tensor<1024x4096xf16>
  return %0 : tensor<1024x4096xf16>
}

// A stage is a record, panels and packed value blocks; every warp loops over its row's blocks.
// CHECK-LABEL: gpu.func @blocks_of_16_pack_values
// CHECK-LABEL: gpu.func @blocks_of_16_dsd_stream
// CHECK: nvvm.cp.async.bulk.shared.cluster.global
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK: scf.while
// CHECK: nvvm.ldmatrix
// CHECK: nvvm.mma.sync
// CHECK: nvvm.stmatrix
// AMPERE-LABEL: gpu.func @blocks_of_16_dsd_mma
func.func @blocks_of_16(%a: tensor<1024x1024xbf16, #b16>, %b: tensor<1024x4096xbf16>) -> tensor<1024x4096xbf16> {
  %0 = blocksparse.dsd %a, %b : (tensor<1024x1024xbf16, #b16>, tensor<1024x4096xbf16>) -> tensor<1024x4096xbf16>
  return %0 : tensor<1024x4096xbf16>
}

// Blocks of 32 stand on the side of the columns of wgmma, 12 block rows to a tile; the panel comes from
// registers.
// CHECK-LABEL: gpu.func @blocks_of_32_dsd_stream
// CHECK: nvvm.cp.async.bulk.shared.cluster.global
// CHECK: nvvm.ldmatrix
// CHECK: wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16
// AMPERE-LABEL: gpu.func @blocks_of_32_dsd_mma
func.func @blocks_of_32(%a: tensor<1152x1024xf16, #b32>, %b: tensor<1024x4096xf16>) -> tensor<1152x4096xf16> {
  %0 = blocksparse.dsd %a, %b : (tensor<1152x1024xf16, #b32>, tensor<1024x4096xf16>) -> tensor<1152x4096xf16>
  return %0 : tensor<1152x4096xf16>
}

// CHECK-LABEL: gpu.func @dense_matmul_wgmma
// CHECK: nvvm.wgmma.mma_async
// AMPERE-LABEL: gpu.func @dense_matmul_mma
func.func @dense(%a: tensor<1024x1024xf16>, %b: tensor<1024x4096xf16>) -> tensor<1024x4096xf16> {
  %0 = blocksparse.matmul %a, %b : (tensor<1024x1024xf16>, tensor<1024x4096xf16>) -> tensor<1024x4096xf16>
  return %0 : tensor<1024x4096xf16>
}
