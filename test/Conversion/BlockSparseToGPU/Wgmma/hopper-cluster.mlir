// A tile of 512 columns is shared by a cluster of two thread blocks: block i of the cluster copies half i of the
// values to both, and each its own columns of the dense operand. A stage is free when the consumers of both
// have given it back. Arrivals at the other block's barriers release nothing to it: with
// `.release.cluster` each would wait for all memory.
// RUN: blocksparse-compile %s --target=cuda:sm_90a -o %t.ptx
// RUN: FileCheck %s --input-file=%t.ptx --implicit-check-not=arrive.release.cluster
// The program has no cluster if its schedule asks for none.
// RUN: sed 's/, cluster = 2//' %s > %t.mlir
// RUN: blocksparse-compile %t.mlir --target=cuda:sm_90a -o %t.alone.ptx
// RUN: FileCheck %s --input-file=%t.alone.ptx --check-prefix=ALONE --implicit-check-not=cluster.arrive --implicit-check-not=multicast

#shared = #blocksparse.schedule<cuda.wgmma, tile = 128x256, stages = 4, cluster = 2>
#b128 = #blocksparse.layout<128x128, grid 8x8, random_balanced(density = 0.25, seed = 1)>

// CHECK: .entry product_dsd_wgmma(
// CHECK: .maxntid 384
// CHECK: .explicitcluster
// CHECK: .reqnctapercluster 2, 1, 1
// Sixteen warps of two blocks give a stage back.
// CHECK: mov.b32 [[WARPS:%r[0-9]+]], 16;
// CHECK: mbarrier.init.shared.b64 {{.*}}, [[WARPS]];
// CHECK: barrier.cluster.arrive;
// CHECK: barrier.cluster.wait;
// CHECK: wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16
// CHECK: mapa.shared::cluster.u32
// CHECK-NEXT: mbarrier.arrive.shared::cluster.b64
// CHECK: mapa.shared::cluster.u32
// CHECK-NEXT: mbarrier.arrive.shared::cluster.b64
// CHECK-COUNT-2: .mbarrier::complete_tx::bytes.multicast::cluster
// CHECK: barrier.cluster.arrive;
// CHECK: barrier.cluster.wait;
// ALONE: .entry product_dsd_wgmma(
// ALONE: wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16
func.func @product(%a: tensor<1024x1024xf16, #b128>, %b: tensor<1024x2048xf16>) -> tensor<1024x2048xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #shared}
      : (tensor<1024x1024xf16, #b128>, tensor<1024x2048xf16>) -> tensor<1024x2048xf16>
  return %0 : tensor<1024x2048xf16>
}
