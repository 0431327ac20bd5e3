// With 256 rows in the schedule, thread blocks of a cluster of two have the same columns of a dense product and
// neighbouring rows of tiles: each copies half of B to both, and its own rows of A. B may lie either way.
// RUN: blocksparse-opt %s --pass-pipeline='builtin.module(blocksparse-to-buffers{target=cuda:sm_90a},blocksparse-lower-gpu-pipeline{chip=sm_90a})' | FileCheck %s
// RUN: blocksparse-compile %s --target=cuda:sm_90a -o %t.ptx
// RUN: FileCheck %s --input-file=%t.ptx --check-prefix=PTX --implicit-check-not=arrive.release.cluster
// The same program without the schedule's 256 rows has no cluster.
// RUN: sed 's/tile_m = 256/tile_m = 128/' %s > %t.mlir
// RUN: blocksparse-compile %t.mlir --target=cuda:sm_90a -o %t.alone.ptx
// RUN: FileCheck %s --input-file=%t.alone.ptx --check-prefix=ALONE --implicit-check-not=cluster.arrive --implicit-check-not=multicast

#shared = #blocksparse.schedule<kernel = "cuda.wgmma", tile_m = 256, tile_n = 256, tile_k = 64, stages = 4, warps = 12>

// Of 512 x 512 a cluster has 2 x 2 tiles: number i is for blocks 2i and 2i + 1, and rank 1 has 128 rows more.
// It copies 128 columns of B, to the third and fourth matrix.
// CHECK-LABEL: gpu.func @product_matmul_wgmma(
// CHECK: %[[BLOCK_ID:.*]] = gpu.block_id x
// CHECK: %[[BLOCK:.*]] = arith.index_cast %[[BLOCK_ID]] : index to i32
// CHECK: %[[FROM:.*]] = arith.shrui %[[BLOCK]], %c1_i32 : i32
// CHECK: %[[BLOCK_COUNT:.*]] = gpu.grid_dim x
// CHECK: %[[COUNT:.*]] = arith.index_cast %[[BLOCK_COUNT]] : index to i32
// CHECK: %[[STEP:.*]] = arith.shrui %[[COUNT]], %c1_i32 : i32
// CHECK: %[[RANK:.*]] = arith.andi %[[BLOCK]], %c1_i32 : i32
// CHECK: %[[OWN:.*]] = arith.muli %[[RANK]], %c128_i32 : i32
// CHECK: %[[ROW:.*]] = arith.addi %{{.*}}, %[[OWN]] : i32
// CHECK: scf.for %{{.*}} = %[[FROM]] to %{{.*}} step %[[STEP]] iter_args({{.*}} = %[[ROW]], %[[COL:[a-z0-9]+]] = %
// CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c49152_i32
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{[^:]*}} :
// CHECK: %[[OWN_COL:.*]] = arith.addi %[[COL]], %[[OWN]] : i32
// CHECK: %[[OWN_PLACE:.*]] = arith.muli %[[RANK]], %c16384_i32 : i32
// CHECK: %[[TO:.*]] = arith.addi %{{.*}}, %[[OWN_PLACE]] : i32
// CHECK: llvm.inttoptr %[[TO]]
// CHECK: %[[CHUNK:.*]] = arith.shrui %[[OWN_COL]], %c6_i32 : i32
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, box[%c0_i32, %{{.*}}, %[[CHUNK]], {{.*}} multicast_mask = %c3_i16
// CHECK-NOT: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK: gpu.return

// At most 66 clusters on 132 multiprocessors, of two blocks each.
// CHECK-LABEL: func.func @product(
// CHECK: %[[TILES:.*]] = arith.muli %{{.*}}, %c4 : index
// CHECK: %[[CLUSTERS:.*]] = arith.minsi %[[TILES]], %c66 : index
// CHECK: %[[BLOCKS:.*]] = arith.muli %[[CLUSTERS]], %c2 : index
// CHECK: gpu.launch_func @{{.*}}::@product_matmul_wgmma clusters in (%c2, %c1, %c1) blocks in (%[[BLOCKS]], %c1, %c1)

// PTX: .entry product_matmul_wgmma(
// PTX: .maxntid 384
// PTX: .explicitcluster
// PTX: .reqnctapercluster 2, 1, 1
// Sixteen warps of two blocks give a stage back.
// PTX: mov.b32 [[WARPS:%r[0-9]+]], 16;
// PTX: mbarrier.init.shared.b64 {{.*}}, [[WARPS]];
// PTX: barrier.cluster.arrive;
// PTX: barrier.cluster.wait;
// PTX: wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16
// PTX: cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster
// PTX: barrier.cluster.arrive;
// PTX: barrier.cluster.wait;
// PTX: .entry transposed_matmul_wgmma(
// PTX: .reqnctapercluster 2, 1, 1
// PTX: cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster
// Rows of tiles that are odd in number have no cluster.
// PTX: .entry odd_matmul_wgmma(
// PTX-NOT: reqnctapercluster
// PTX-NOT: multicast
// ALONE: .entry product_matmul_wgmma(
// ALONE: .entry transposed_matmul_wgmma(
func.func @product(%a: tensor<?x512x256xf16>, %b: tensor<?x256x512xf16>) -> tensor<?x512x512xf16> {
  %0 = blocksparse.matmul %a, %b {schedule = #shared}
      : (tensor<?x512x256xf16>, tensor<?x256x512xf16>) -> tensor<?x512x512xf16>
  return %0 : tensor<?x512x512xf16>
}

func.func @transposed(%a: tensor<200x512xf16>, %b: tensor<384x200xf16>) -> tensor<512x384xf16> {
  %0 = blocksparse.matmul %a, %b {schedule = #shared, transpose_a, transpose_b}
      : (tensor<200x512xf16>, tensor<384x200xf16>) -> tensor<512x384xf16>
  return %0 : tensor<512x384xf16>
}

func.func @odd(%a: tensor<384x256xf16>, %b: tensor<256x512xf16>) -> tensor<384x512xf16> {
  %0 = blocksparse.matmul %a, %b {schedule = #shared}
      : (tensor<384x256xf16>, tensor<256x512xf16>) -> tensor<384x512xf16>
  return %0 : tensor<384x512xf16>
}
