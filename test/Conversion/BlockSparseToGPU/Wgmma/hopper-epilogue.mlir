// PTX of what follows the products on Hopper: an input comes through the ring, other terms are loaded
// by pairs, the first ones while the last products run, and stand in the L2 cache by then.
// RUN: blocksparse-compile %s --target=cuda:sm_90a -o %t.ptx
// RUN: FileCheck %s < %t.ptx

#blocks = #blocksparse.layout<128x128, grid 4x4, mask "1010/0111/1100/1001">

// The input comes through the ring, read by ldmatrix where it is used; two words of the vector of a
// corner are loaded, and both rows' factors as scalars. No warp gives a stage back by one arrival.
// CHECK-LABEL: .entry addmm_dsd_wgmma(
// CHECK-NOT: prefetch.global.L2
// CHECK: mov.b32 [[RELEASES:%r[0-9]+]], 256;
// CHECK: mbarrier.init.shared.b64 {{.*}}, [[RELEASES]];
// CHECK-NOT: prefetch.global.L2
// CHECK: wgmma.wait_group.sync.aligned 1;
// CHECK-COUNT-2: ld.global.b16
// CHECK: ld.global.nc.b32 %r{{[0-9]+}}, [%rd[[RIGHT:[0-9]+]]];
// CHECK-NEXT: ld.global.nc.b32 %r{{[0-9]+}}, [%rd[[RIGHT]]+16];
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK: mbarrier.try_wait.parity.shared.b64
// CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK: stmatrix.sync.aligned.m8n8.x4.shared.b16
func.func @addmm(%a: tensor<512x512xf16, #blocks>, %x: tensor<512x256xf16>, %i: tensor<512x256xf16>, %l: tensor<512xf16>, %r: tensor<256xf16>) -> tensor<512x256xf16> {
  %0 = blocksparse.bsr_addmm %a, %x input(%i) left_alpha(%l) right_alpha(%r) {alpha = 0.5, beta = 2.0} : (tensor<512x512xf16, #blocks>, tensor<512x256xf16>, tensor<512x256xf16>, tensor<512xf16>, tensor<256xf16>) -> tensor<512x256xf16>
  return %0 : tensor<512x256xf16>
}

// Nothing is loaded for a result that is stored as it is.
// CHECK-LABEL: .entry plain_dsd_wgmma(
// CHECK-NOT: prefetch.global.L2
// CHECK-NOT: ld.global.nc.b16
// CHECK-LABEL: .entry plain_dsd_mma(
func.func @plain(%a: tensor<512x512xf16, #blocks>, %x: tensor<512x256xf16>) -> tensor<512x256xf16> {
  %0 = blocksparse.dsd %a, %x : (tensor<512x512xf16, #blocks>, tensor<512x256xf16>) -> tensor<512x256xf16>
  return %0 : tensor<512x256xf16>
}

// Pairs of a transposed result are exchanged between the lanes.
// CHECK-LABEL: .entry transposed_dsd_wgmma(
// CHECK: wgmma.wait_group.sync.aligned 1;
// CHECK: ld.global.nc.b32
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK: movmatrix.sync.aligned.m8n8.trans.b16
// CHECK: stmatrix.sync.aligned.m8n8.x4.trans.shared.b16
func.func @transposed(%a: tensor<512x512xf16, #blocks>, %x: tensor<512x256xf16>, %r: tensor<256x512xf16>) -> tensor<256x512xf16> {
  %0 = blocksparse.dsd %a, %x residual(%r) {transpose_out} : (tensor<512x512xf16, #blocks>, tensor<512x256xf16>, tensor<256x512xf16>) -> tensor<256x512xf16>
  return %0 : tensor<256x512xf16>
}

// Terms in f32 are pairs of 8 bytes; activations use approximate powers and reciprocals.
// CHECK-LABEL: .entry activated_matmul_wgmma(
// CHECK-NOT: div.rn.f32
// CHECK: ld.global.nc.v2.b32
// CHECK-NOT: div.rn.f32
// CHECK: ex2.approx.ftz.f32
// CHECK: rcp.approx.ftz.f32
// CHECK-NOT: div.rn.f32
// CHECK-LABEL: .entry activated_matmul_mma(
func.func @activated(%a: tensor<256x128xf16>, %b: tensor<128x512xf16>, %bias: tensor<512xf32>, %r: tensor<256x512xf32>) -> tensor<256x512xf16> {
  %0 = blocksparse.matmul %a, %b bias(%bias) residual(%r) {activation = #blocksparse.activation<gelu_erf>} : (tensor<256x128xf16>, tensor<128x512xf16>, tensor<512xf32>, tensor<256x512xf32>) -> tensor<256x512xf16>
  return %0 : tensor<256x512xf16>
}

// A cluster: each thread block loads its own input, two stages of four chunks.
// CHECK-LABEL: .entry wide_dsd_wgmma(
// CHECK-NOT: prefetch.global.L2
// CHECK: mbarrier.arrive.shared::cluster.b64 _, [remote], 32;
// CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK: mbarrier.arrive.shared::cluster.b64 _, [remote], 1;
// CHECK-COUNT-2: mbarrier.arrive.expect_tx.shared.b64 {{.*}}
func.func @wide(%a: tensor<512x512xf16, #blocks>, %x: tensor<512x512xf16>, %i: tensor<512x512xf16>, %l: tensor<512xf16>, %r: tensor<512xf16>) -> tensor<512x512xf16> {
  %0 = blocksparse.bsr_addmm %a, %x input(%i) left_alpha(%l) right_alpha(%r) {alpha = 0.5, beta = 2.0, schedule = #blocksparse.schedule<cuda.wgmma, tile = 128x256, stages = 4, cluster = 2>} : (tensor<512x512xf16, #blocks>, tensor<512x512xf16>, tensor<512x512xf16>, tensor<512xf16>, tensor<512xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}
