// cuda.stream at blocks of 16 whose dense operand is K-major: copies of four panels where a stage
// holds a multiple of four, elsewhere of one.
// RUN: blocksparse-opt %s --pass-pipeline='builtin.module(blocksparse-to-buffers{target=cuda:sm_90a},blocksparse-lower-gpu-pipeline{target=cuda:sm_90a})' | FileCheck %s

#b16 = #blocksparse.layout<16x16, grid 64x64, random_balanced(density = 0.25, seed = 1)>

// Two copies of 4 x 4096 bytes for eight panels. Panel e is 32 (e % 4) bytes into the rows of copy e / 4.
// CHECK-LABEL: gpu.func @quads_dsd_stream(%arg0: !llvm.ptr
// CHECK: %[[PANELS:.*]] = arith.muli %[[NUMBER:.*]], %c4096_i32
// CHECK: arith.addi %{{.*}}, %[[PANELS]]
// CHECK: nvvm.mbarrier.arrive.expect_tx
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %arg0,
// CHECK: %[[SECOND:.*]] = arith.cmpi sgt, %[[NUMBER]], %c4_i32
// CHECK: scf.if %[[SECOND]]
// CHECK: arith.addi %{{.*}}, %c16384_i32
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %arg0,
// CHECK-NOT: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK: %[[ROW:.*]] = arith.muli %{{.*}}, %c128_i32
// CHECK: %[[PIECE:.*]] = arith.muli %{{.*}}, %c16_i32
// CHECK: %[[LANE:.*]] = arith.addi %[[ROW]], %[[PIECE]]
// CHECK: %[[PANEL:.*]] = "llvm.intr.cttz"
// CHECK: %[[FIRST:.*]] = arith.addi %{{.*}}, %[[LANE]]
// CHECK: %[[IN:.*]] = arith.andi %[[PANEL]], %c3_i32
// CHECK: %[[COPY:.*]] = arith.xori %[[PANEL]], %[[IN]]
// CHECK: %[[BYTES:.*]] = arith.muli %[[COPY]], %c4096_i32
// CHECK: %[[AT:.*]] = arith.addi %[[FIRST]], %[[BYTES]]
// CHECK: %[[SHIFT:.*]] = arith.muli %[[IN]], %c32_i32
// CHECK: %[[PLACE:.*]] = arith.xori %[[AT]], %[[SHIFT]]
// CHECK: %[[POINTER:.*]] = llvm.inttoptr %[[PLACE]]
// CHECK: nvvm.ldmatrix %[[POINTER]] {{.*}}layout = #nvvm.mma_layout<row>, num = 4

// Six panels, each a copy of rows of 32 bytes.
// CHECK-LABEL: gpu.func @singles_dsd_stream(%arg0: !llvm.ptr
// CHECK-COUNT-6: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %arg0,
// CHECK: %[[PANEL:.*]] = "llvm.intr.cttz"
// CHECK: arith.muli %[[PANEL]], %c4096_i32

// CHECK-LABEL: func.func @quads(
// CHECK: nvgpu.tma.create.descriptor %{{.*}} box[%c1, %c1, %c128, %c64] {{.*}}swizzle = swizzle_128b{{.*}}oob = zero
func.func @quads(%a: tensor<512x1024xf16>, %b: tensor<1024x1024xf16, #b16>) -> tensor<512x1024xf16> {
  %0 = blocksparse.dds %a, %b {schedule = #blocksparse.schedule<cuda.stream, tile = 320x128, panels = 8, panels_per_copy = 4, stages = 3, warps = 20>} : (tensor<512x1024xf16>, tensor<1024x1024xf16, #b16>) -> tensor<512x1024xf16>
  return %0 : tensor<512x1024xf16>
}

// CHECK-LABEL: func.func @singles(
// CHECK: nvgpu.tma.create.descriptor %{{.*}} box[%c1, %c1, %c128, %c16] {{.*}}swizzle = swizzle_32b
func.func @singles(%a: tensor<512x1024xf16>, %b: tensor<1024x1024xf16, #b16>) -> tensor<512x1024xf16> {
  %0 = blocksparse.dds %a, %b {schedule = #blocksparse.schedule<cuda.stream, tile = 320x128, panels = 6, stages = 4, warps = 20>} : (tensor<512x1024xf16>, tensor<1024x1024xf16, #b16>) -> tensor<512x1024xf16>
  return %0 : tensor<512x1024xf16>
}
