// With `cluster = 2` in the schedule, the CTAs of a cluster have the same rows of blocks of 128:
// block i of the cluster copies the 64 rows of half i to both, and each its own columns. Every factor may
// lie either way.
// RUN: blocksparse-opt %s --pass-pipeline='builtin.module(blocksparse-to-buffers{target=cuda:sm_90a},blocksparse-lower-gpu-pipeline{target=cuda:sm_90a})' | FileCheck %s
// RUN: blocksparse-compile %s --target=cuda:sm_90a -o %t.ptx
// RUN: FileCheck %s --input-file=%t.ptx --check-prefix=PTX --implicit-check-not=arrive.release.cluster
// The program has no cluster if its schedule asks for none.
// RUN: sed 's/, cluster = 2//' %s > %t.mlir
// RUN: blocksparse-compile %t.mlir --target=cuda:sm_90a -o %t.alone.ptx
// RUN: FileCheck %s --input-file=%t.alone.ptx --check-prefix=ALONE --implicit-check-not=cluster.arrive --implicit-check-not=multicast

#shared = #blocksparse.schedule<cuda.wgmma, tile = 128x256, cluster = 2>
#b128 = #blocksparse.layout<128x128, grid 8x8, random_balanced(density = 0.25, seed = 1)>
#b64 = #blocksparse.layout<64x64, grid 16x16, random_balanced(density = 0.25, seed = 1)>

// Both halves of the rows are announced, and those of the columns that are there.
// CHECK-LABEL: gpu.func @product_sdd_wgmma(
// CHECK: %[[RANK:.*]] = arith.andi %{{.*}}, %c1_i32 : i32
// CHECK: %[[OWN0:.*]] = arith.cmpi eq, %[[RANK]], %c0_i32 : i32
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} multicast_mask
// CHECK: %[[OWN1:.*]] = arith.cmpi eq, %[[RANK]], %c1_i32 : i32
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} multicast_mask
// CHECK-NOT: multicast_mask
// CHECK: gpu.return

// PTX: .entry product_sdd_wgmma(
// PTX: .maxntid 384
// PTX: .explicitcluster
// PTX: .reqnctapercluster 2, 1, 1
// Sixteen warps of two blocks give a stage back.
// PTX: mov.b32 [[WARPS:%r[0-9]+]], 16;
// PTX: mbarrier.init.shared.b64 {{.*}}, [[WARPS]];
// PTX: barrier.cluster.arrive;
// PTX: barrier.cluster.wait;
// PTX: wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16
// PTX: mapa.shared::cluster.u32
// PTX-NEXT: mbarrier.arrive.shared::cluster.b64
// PTX: mapa.shared::cluster.u32
// PTX-NEXT: mbarrier.arrive.shared::cluster.b64
// PTX-COUNT-2: .mbarrier::complete_tx::bytes.multicast::cluster
// PTX: barrier.cluster.arrive;
// PTX: barrier.cluster.wait;
// PTX: .entry transposed_sdd_wgmma(
// PTX: .reqnctapercluster 2, 1, 1
// PTX-COUNT-2: .mbarrier::complete_tx::bytes.multicast::cluster
// PTX: barrier.cluster.arrive;
// PTX: barrier.cluster.wait;
// Rows of 64 have no cluster.
// PTX: .entry small_sdd_wgmma(
// PTX-NOT: reqnctapercluster
// PTX-NOT: multicast
// ALONE: .entry product_sdd_wgmma(
// ALONE: .entry transposed_sdd_wgmma(
func.func @product(%a: tensor<1024x1000xf16>, %b: tensor<1000x1024xf16>) -> tensor<1024x1024xf16, #b128> {
  %0 = blocksparse.sdd %a, %b {schedule = #shared}
      : (tensor<1024x1000xf16>, tensor<1000x1024xf16>) -> tensor<1024x1024xf16, #b128>
  return %0 : tensor<1024x1024xf16, #b128>
}

func.func @transposed(%a: tensor<1000x1024xf16>, %b: tensor<1024x1000xf16>) -> tensor<1024x1024xf16, #b128> {
  %0 = blocksparse.sdd %a, %b {schedule = #shared, transpose_a, transpose_b}
      : (tensor<1000x1024xf16>, tensor<1024x1000xf16>) -> tensor<1024x1024xf16, #b128>
  return %0 : tensor<1024x1024xf16, #b128>
}

func.func @small(%a: tensor<1024x1000xf16>, %b: tensor<1000x1024xf16>) -> tensor<1024x1024xf16, #b64> {
  %0 = blocksparse.sdd %a, %b {schedule = #blocksparse.schedule<cuda.wgmma>}
      : (tensor<1024x1000xf16>, tensor<1000x1024xf16>) -> tensor<1024x1024xf16, #b64>
  return %0 : tensor<1024x1024xf16, #b64>
}
