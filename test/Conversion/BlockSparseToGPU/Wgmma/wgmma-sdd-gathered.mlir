// Products at blocks whose tiles are made of any rows (`group` above 1): what brings their operands,
// and which kernels keep their thread blocks in step.
// RUN: blocksparse-opt %s --pass-pipeline='builtin.module(blocksparse-to-buffers{target=cuda:sm_90a},blocksparse-lower-gpu-pipeline{target=cuda:sm_90a})' | FileCheck %s --implicit-check-not=atomicrmw --implicit-check-not='global internal @throttle'
// RUN: blocksparse-compile %s --target=cuda:sm_90a --function=blocks_of_32 -o %t.ptx
// RUN: FileCheck %s --input-file=%t.ptx --check-prefix=PTX

#b32 = #blocksparse.layout<32x32, grid 192x194, random_balanced(density = 0.1, seed = 1)>
#cached32 = #blocksparse.layout<32x32, grid 192x192, random_balanced(density = 0.1, seed = 1)>
#b16x32 = #blocksparse.layout<16x32, grid 16x16, random_balanced(density = 0.5, seed = 1)>
#b64 = #blocksparse.layout<64x64, grid 97x96, random_balanced(density = 0.1, seed = 1)>

// Two kernels have factors of more than 24 MB that they read from all over.
// CHECK: llvm.mlir.global internal @throttle1(0 : i32) {addr_space = 1 : i32, alignment = 4 : i64} : i32
// CHECK: llvm.mlir.global internal @throttle0(0 : i32) {addr_space = 1 : i32, alignment = 4 : i64} : i32

// Four warps copy: of A a block row each, of B two block columns, by the third map, or where the bit of
// the chunk tells that they are neighbours both at once, by the second. One announces the bytes of all,
// and the others join it. Before every 16th step but
// the first one of them counts, and waits until all 132 have, or for 16 reads.
// CHECK-LABEL: gpu.func @blocks_of_32_sdd_wgmma(
// CHECK-SAME: blocksparse.tensor_maps = array<i32: 0, 1, 2, 3>
// CHECK: %[[THROTTLE:.*]] = llvm.mlir.addressof @throttle0 : !llvm.ptr<1>
// CHECK-COUNT-4: nvvm.mbarrier.init %{{.*}}, %c4_i32
// CHECK: nvvm.setmaxregister decrease 40
// CHECK: %[[WARP:.*]] = nvvm.shfl.sync idx
// CHECK-NEXT: %[[COPIES:.*]] = arith.cmpi ult, %[[WARP]], %c4_i32 : i32
// CHECK-NEXT: scf.if %[[COPIES]] {
// CHECK: nvvm.elect.sync
// CHECK: scf.for %[[TILE:.*]] = %[[FIRST:.*]] to %{{.*}} step
// CHECK: %[[PLACE:.*]] = arith.subi %[[TILE]], %[[FIRST]] : i32
// CHECK: scf.for %[[STEP:.*]] = %c0_i32 to
// CHECK: arith.cmpi slt, %[[PLACE]], %c{{[1-9][0-9]*}}_i32 : i32
// CHECK: %[[PART:.*]] = arith.andi %[[STEP]], %c15_i32 : i32
// CHECK: arith.cmpi eq, %[[PART]], %c0_i32 : i32
// CHECK: %[[BEGUN:.*]] = arith.ori %[[PLACE]], %[[STEP]] : i32
// CHECK: arith.cmpi ne, %[[BEGUN]], %c0_i32 : i32
// CHECK: %[[IS_FIRST:.*]] = arith.cmpi eq, %[[WARP]], %c0_i32 : i32
// CHECK: scf.if
// CHECK: %[[BEFORE:.*]] = llvm.atomicrmw uinc_wrap %[[THROTTLE]], %c2147483579_i32 monotonic : !llvm.ptr<1>, i32
// CHECK: arith.divui %[[BEFORE]], %c132_i32
// CHECK: scf.while (%{{.*}} = %c16_i32)
// CHECK: llvm.load volatile %[[THROTTLE]]
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: scf.if %[[IS_FIRST]] {
// CHECK: nvvm.mbarrier.arrive.expect_tx
// CHECK: arith.cmpi ne, %[[WARP]], %c0_i32 : i32
// CHECK-NEXT: scf.if
// CHECK: nvvm.mbarrier.arrive %
// CHECK: arith.cmpi sgt, %{{.*}}, %[[WARP]] : i32
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %arg0,
// CHECK: %[[RUNS:.*]] = arith.shrui %{{.*}}, %[[WARP]] : i32
// CHECK: %[[BIT:.*]] = arith.andi %[[RUNS]], %c1_i32 : i32
// CHECK: arith.cmpi eq, %[[BIT]], %c1_i32 : i32
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %arg1,
// CHECK: arith.cmpi eq, %[[BIT]], %c0_i32 : i32
// CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %arg2,
// CHECK-NOT: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK: nvvm.setmaxregister increase 232

// What fits in the cache is not kept in step.
// CHECK-LABEL: gpu.func @cached_sdd_wgmma(
// CHECK: arith.cmpi ult, %{{.*}}, %c4_i32 : i32
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK: gpu.return

// With k along A alone the transpose is computed: block columns of B, two at once, are its rows, and the
// block rows of A of 16 its columns.
// CHECK-LABEL: gpu.func @swapped_sdd_wgmma(
// CHECK: arith.cmpi ult, %{{.*}}, %c4_i32 : i32
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %arg0,
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %arg1,
// CHECK-COUNT-4: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %arg2,
// CHECK-NOT: nvvm.cp.async.bulk.tensor.shared.cluster.global

// With two MN-major factors, whole subtiles are gathered: each warp has one of four columns, two have rows.
// CHECK-LABEL: gpu.func @whole_subtiles_sdd_wgmma(
// CHECK-SAME: blocksparse.tensor_maps = array<i32: 0, 1, 2>
// CHECK: arith.cmpi ult, %[[WARP:.*]], %c4_i32 : i32
// CHECK: arith.cmpi slt, %[[WARP]], %c2_i32 : i32
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %arg0,
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %arg1,
// CHECK-NOT: nvvm.cp.async.bulk.tensor.shared.cluster.global

// Pieces of large blocks are copied by one warp: two of A, four of B.
// CHECK-LABEL: gpu.func @blocks_of_64_sdd_wgmma(
// CHECK-SAME: blocksparse.tensor_maps = array<i32: 0, 1, 2>
// CHECK: llvm.mlir.addressof @throttle1 : !llvm.ptr<1>
// CHECK: arith.cmpi ult, %{{.*}}, %c1_i32 : i32
// CHECK: llvm.atomicrmw uinc_wrap
// CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %arg0,
// CHECK-COUNT-4: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %arg1,
// CHECK-NOT: nvvm.cp.async.bulk.tensor.shared.cluster.global

// Nor do neighbouring rows come in step, however large the factors are.
// CHECK-LABEL: gpu.func @neighbours_sdd_wgmma(
// CHECK: gpu.return

// PTX: .global .align 4 .u32 throttle0;
// PTX: .entry blocks_of_32_sdd_wgmma(
// PTX: atom.global.inc.u32 {{%r[0-9]+}}, [throttle0], 2147483579;
// PTX: ld.volatile.global.b32 {{%r[0-9]+}}, [throttle0];

// CHECK-LABEL: func.func @blocks_of_32(
// CHECK: nvgpu.tma.create.descriptor %{{.*}} box[%c1, %c1, %c32, %c64] {{.*}}swizzle = swizzle_128b
// CHECK: nvgpu.tma.create.descriptor %{{.*}} box[%c1, %c1, %c64, %c64] {{.*}}swizzle = swizzle_128b
// CHECK: nvgpu.tma.create.descriptor %{{.*}} box[%c1, %c1, %c32, %c64] {{.*}}swizzle = swizzle_128b
// CHECK: nvgpu.tma.create.descriptor %{{.*}} box[%c1, %c1, %c32, %c32] {{.*}}swizzle = swizzle_64b
// CHECK: gpu.launch_func @blocksparse_kernels::@blocks_of_32_sdd_wgmma blocks in (%c132,
func.func @blocks_of_32(%a: tensor<6144x1024xf16>, %b: tensor<6208x1024xf16>) -> tensor<6144x6208xf16, #b32> {
  %0 = blocksparse.sdd %a, %b {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_b}
      : (tensor<6144x1024xf16>, tensor<6208x1024xf16>) -> tensor<6144x6208xf16, #b32>
  return %0 : tensor<6144x6208xf16, #b32>
}

func.func @cached(%a: tensor<6144x1024xf16>, %b: tensor<6144x1024xf16>) -> tensor<6144x6144xf16, #cached32> {
  %0 = blocksparse.sdd %a, %b {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_b}
      : (tensor<6144x1024xf16>, tensor<6144x1024xf16>) -> tensor<6144x6144xf16, #cached32>
  return %0 : tensor<6144x6144xf16, #cached32>
}

// CHECK-LABEL: func.func @swapped(
// CHECK: nvgpu.tma.create.descriptor %{{.*}} box[%c1, %c1, %c64, %c64] {{.*}}swizzle = swizzle_128b
// CHECK: nvgpu.tma.create.descriptor %{{.*}} box[%c1, %c1, %c64, %c64] {{.*}}swizzle = swizzle_128b
// CHECK: nvgpu.tma.create.descriptor %{{.*}} box[%c1, %c1, %c16, %c64] {{.*}}swizzle = swizzle_128b
// CHECK: nvgpu.tma.create.descriptor %{{.*}} box[%c1, %c1, %c16, %c32] {{.*}}swizzle = swizzle_64b
func.func @swapped(%a: tensor<256x128xf16>, %b: tensor<128x512xf16>) -> tensor<256x512xf16, #b16x32> {
  %0 = blocksparse.sdd %a, %b {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>}
      : (tensor<256x128xf16>, tensor<128x512xf16>) -> tensor<256x512xf16, #b16x32>
  return %0 : tensor<256x512xf16, #b16x32>
}

// CHECK-LABEL: func.func @whole_subtiles(
// CHECK-COUNT-2: nvgpu.tma.create.descriptor %{{.*}} box[%c1, %c1, %c64, %c64] {{.*}}swizzle = swizzle_128b
// CHECK: nvgpu.tma.create.descriptor %{{.*}} box[%c1, %c1, %c16, %c32] {{.*}}swizzle = swizzle_64b
func.func @whole_subtiles(%a: tensor<128x256xf16>, %b: tensor<128x512xf16>) -> tensor<256x512xf16, #b16x32> {
  %0 = blocksparse.sdd %a, %b {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_a}
      : (tensor<128x256xf16>, tensor<128x512xf16>) -> tensor<256x512xf16, #b16x32>
  return %0 : tensor<256x512xf16, #b16x32>
}

// CHECK-LABEL: func.func @blocks_of_64(
// CHECK-COUNT-3: nvgpu.tma.create.descriptor %{{.*}} box[%c1, %c1, %c64, %c64] {{.*}}swizzle = swizzle_128b
func.func @blocks_of_64(%a: tensor<6208x1024xf16>, %b: tensor<1024x6144xf16>) -> tensor<6208x6144xf16, #b64> {
  %0 = blocksparse.sdd %a, %b {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>}
      : (tensor<6208x1024xf16>, tensor<1024x6144xf16>) -> tensor<6208x6144xf16, #b64>
  return %0 : tensor<6208x6144xf16, #b64>
}

func.func @neighbours(%a: tensor<6208x1024xf16>, %b: tensor<1024x6144xf16>) -> tensor<6208x6144xf16, #b64> {
  %0 = blocksparse.sdd %a, %b {schedule = #blocksparse.schedule<cuda.wgmma>}
      : (tensor<6208x1024xf16>, tensor<1024x6144xf16>) -> tensor<6208x6144xf16, #b64>
  return %0 : tensor<6208x6144xf16, #b64>
}
