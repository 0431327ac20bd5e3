// The terms of epilogues of cuda.stream come through its ring: the input by the producer, vectors by the three
// warps beside it, which fill each stage together with it.
// RUN: blocksparse-opt %s --pass-pipeline='builtin.module(blocksparse-to-buffers{target=cuda:sm_90a},blocksparse-lower-gpu-pipeline{target=cuda:sm_90a})' | FileCheck %s

#b16 = #blocksparse.layout<16x16, grid 48x64, random_balanced(density = 0.25, seed = 1)>
#b32 = #blocksparse.layout<32x32, grid 24x32, random_balanced(density = 0.25, seed = 1)>

// Twelve warps with two rows each. A stage has room for two chunks of 2 KB of each warp, so that the input of
// a tile is two stages of twelve copies; all 384 lanes give a stage back. Two vectors, of 12 x 16 and of 128
// f32, by 96 threads: two of each for a thread, but the last 64 threads have one of the second.
// CHECK-LABEL: gpu.func @mma_dsd_stream(
// CHECK: nvvm.mbarrier.init %{{.*}}, %c97_i32
// CHECK: nvvm.mbarrier.init %{{.*}}, %c384_i32
// CHECK: scf.for
// CHECK: scf.for
// CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c49152_i32
// CHECK: %[[POLICY:.*]] = llvm.inline_asm {{.*}}"createpolicy.fractional.L2::evict_first.b64 $0, 1.0;"
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}}l2_cache_hint = %[[POLICY]]
// CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c49152_i32
// CHECK-COUNT-12: l2_cache_hint
// CHECK-NOT: l2_cache_hint
// The loaders: one lane of each warp for the stages of products, every lane for those of terms.
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: nvvm.mbarrier.arrive %{{.*}}, %c32_i32
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK-COUNT-4: llvm.store %{{.*}} : f32, !llvm.ptr<3>
// CHECK: nvvm.fence.proxy
// CHECK: nvvm.mbarrier.arrive %{{[0-9]+}} : !llvm.ptr<3>
// The consumers: an input read by ldmatrix, vectors as pairs and single elements.
// CHECK: setmaxregister increase
// CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> f32
// CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> vector<2xf32>
// CHECK: gpu.return
func.func @mma(%a: tensor<768x1024xf16, #b16>, %b: tensor<1024x256xf16>, %i: tensor<768x256xf16>, %l: tensor<768xf16>, %r: tensor<256xf32>) -> tensor<768x256xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%i) left_alpha(%l) right_alpha(%r) {alpha = 0.5, beta = 2.0, schedule = #blocksparse.schedule<cuda.stream, tile = 384x128, panels = 8, stages = 3, warps = 12>} : (tensor<768x1024xf16, #b16>, tensor<1024x256xf16>, tensor<768x256xf16>, tensor<768xf16>, tensor<256xf32>) -> tensor<768x256xf16>
  return %0 : tensor<768x256xf16>
}

// Two warpgroups with six rows each, four of which fit a stage: 64 KB and then 32. All 256 lanes release a
// stage, because threads write what they have read, and not TMA alone.
// CHECK-LABEL: gpu.func @wgmma_dsd_stream(
// CHECK: nvvm.mbarrier.init %{{.*}}, %c97_i32
// CHECK: nvvm.mbarrier.init %{{.*}}, %c256_i32
// CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c65536_i32
// CHECK-COUNT-8: l2_cache_hint
// CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c32768_i32
// CHECK-COUNT-4: l2_cache_hint
// CHECK-NOT: l2_cache_hint
// CHECK: gpu.return
func.func @wgmma(%a: tensor<768x1024xf16, #b32>, %b: tensor<1024x256xf16>, %i: tensor<768x256xf16>, %l: tensor<768xf16>, %r: tensor<256xf32>) -> tensor<768x256xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%i) left_alpha(%l) right_alpha(%r) {alpha = 0.5, beta = 2.0, schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 3, stages = 3, warps = 8>} : (tensor<768x1024xf16, #b32>, tensor<1024x256xf16>, tensor<768x256xf16>, tensor<768xf16>, tensor<256xf32>) -> tensor<768x256xf16>
  return %0 : tensor<768x256xf16>
}

// An input alone needs no loaders, a bias alone no bytes.
// CHECK-LABEL: gpu.func @input_alone_dsd_stream(
// CHECK: nvvm.mbarrier.init %{{.*}}, %c1_i32
// CHECK-COUNT-12: l2_cache_hint
// CHECK-NOT: !llvm.ptr<3> -> f32
// CHECK: gpu.return
func.func @input_alone(%a: tensor<768x1024xf16, #b32>, %b: tensor<1024x256xf16>, %i: tensor<768x256xf16>) -> tensor<768x256xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%i) {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 384x128, panels = 3, stages = 3, warps = 8>} : (tensor<768x1024xf16, #b32>, tensor<1024x256xf16>, tensor<768x256xf16>) -> tensor<768x256xf16>
  return %0 : tensor<768x256xf16>
}

// CHECK-LABEL: gpu.func @bias_alone_dsd_stream(
// CHECK: nvvm.mbarrier.init %{{.*}}, %c97_i32
// CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c0_i32
// CHECK-NOT: l2_cache_hint
// CHECK: gpu.return
func.func @bias_alone(%a: tensor<768x1024xf16, #b16>, %b: tensor<1024x256xf16>, %bias: tensor<256xf16>) -> tensor<768x256xf16> {
  %0 = blocksparse.dsd %a, %b bias(%bias) {schedule = #blocksparse.schedule<cuda.stream, tile = 384x128, panels = 8, stages = 3, warps = 12>} : (tensor<768x1024xf16, #b16>, tensor<1024x256xf16>, tensor<256xf16>) -> tensor<768x256xf16>
  return %0 : tensor<768x256xf16>
}

// The input of a block row of 32 for twelve warps is too large for such stages: the epilogue loads it.
// CHECK-LABEL: gpu.func @input_too_large_dsd_stream(
// CHECK: nvvm.mbarrier.init %{{.*}}, %c97_i32
// CHECK-NOT: l2_cache_hint
// CHECK: gpu.return
func.func @input_too_large(%a: tensor<768x1024xf16, #b32>, %b: tensor<1024x256xf16>, %i: tensor<768x256xf16>, %l: tensor<768xf16>) -> tensor<768x256xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%i) left_alpha(%l) {schedule = #blocksparse.schedule<cuda.stream, tile = 384x128, panels = 1, stages = 4, warps = 12>} : (tensor<768x1024xf16, #b32>, tensor<1024x256xf16>, tensor<768x256xf16>, tensor<768xf16>) -> tensor<768x256xf16>
  return %0 : tensor<768x256xf16>
}
