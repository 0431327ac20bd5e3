// Products at blocks smaller than the subtiles of a tile: every block has a store of its own, from the
// thread that read its destination before the products. The other kernels are the fallback for unaligned
// memory.
// RUN: blocksparse-compile %s --target=cuda:sm_90a --function=blocks_of_16 -o %t.16.ptx
// RUN: FileCheck %s --input-file=%t.16.ptx --check-prefix=B16
// RUN: blocksparse-compile %s --target=cuda:sm_90a --function=swapped -o %t.swapped.ptx
// RUN: FileCheck %s --input-file=%t.swapped.ptx --check-prefix=SWAPPED
// RUN: blocksparse-compile %s --target=cuda:sm_90a --function=blocks_of_32 -o %t.32.ptx
// RUN: FileCheck %s --input-file=%t.32.ptx --check-prefix=B32

#b16 = #blocksparse.layout<16x16, grid 63x17, random(density = 0.25, seed = 1)>
#b32 = #blocksparse.layout<32x32, grid 9x31, random(density = 0.5, seed = 1)>

// Two batches of two chunks of 64 columns: 4 matrices of 16 x 16 in each of them for every warp, and
// at most 32 blocks. The second batch of a tile is stored while the products of the next one run.
// B16: .entry blocks_of_16_sdd_wgmma(
// B16: .maxntid 384
// B16: setmaxnreg.inc.sync.aligned.u32 232;
// B16: ld.global.nc.b32 {{%r[0-9]+}}, [{{%rd[0-9]+}}+128];
// B16: wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16
// B16: wgmma.wait_group.sync.aligned 1;
// B16: cp.async.bulk.wait_group.read 0;
// B16-NEXT: bar.sync {{%r[0-9]+}}, 128;
// B16-COUNT-8: stmatrix.sync.aligned.m8n8.x4.shared.b16
// B16-NOT: stmatrix
// B16: fence.proxy.async.shared::cta;
// B16: bar.sync {{%r[0-9]+}}, 128;
// B16: cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group
// B16: cp.async.bulk.commit_group;
// The first batch, when they have ended.
// B16: wgmma.wait_group.sync.aligned 0;
// B16: cp.async.bulk.wait_group.read 0;
// B16-COUNT-8: stmatrix.sync.aligned.m8n8.x4.shared.b16
// B16: cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group
// Each of four warps has one chunk of B: all of it, or up to 4 block columns whose numbers are halves
// of words, times 16. The halves of A are those of the first two, and one announces the bytes of all,
// which the others join.
// B16: setmaxnreg.dec.sync.aligned.u32 40;
// B16: shfl.sync.idx.b32 [[WARP:%r[0-9]+]],
// B16-NEXT: setp.gt.u32 [[OTHER:%p[0-9]+]], [[WARP]], 3;
// B16-NEXT: @[[OTHER]] bra
// B16: elect.sync
// B16: setp.ne.b32 [[SECOND:%p[0-9]+]], [[WARP]], 0;
// B16: shr.u32 {{%r[0-9]+}}, {{%r[0-9]+}}, [[WARP]];
// B16: ld.global.nc.b32 [[WORD:%r[0-9]+]],
// B16: shl.b32 [[TIMES:%r[0-9]+]], [[WORD]], 4;
// B16-NEXT: and.b32 {{%r[0-9]+}}, [[TIMES]], 1048560;
// B16: cp.async.bulk.tensor.4d.shared::cluster.global
// B16: mbarrier.try_wait.parity
// B16: @[[SECOND]] bra
// B16: mbarrier.arrive.shared.b64
// B16: mbarrier.arrive.expect_tx
// B16-COUNT-6: cp.async.bulk.tensor.4d.shared::cluster.global
// B16-NOT: cp.async.bulk.tensor.4d.shared::cluster.global
// After the last tile.
// B16-COUNT-8: stmatrix.sync.aligned.m8n8.x4.shared.b16
// B16: cp.async.bulk.wait_group 0;
// B16: ret;
func.func @blocks_of_16(%a: tensor<1008x200xf16>, %b: tensor<272x200xf16>) -> tensor<1008x272xf16, #b16> {
  %0 = blocksparse.sdd %a, %b {schedule = #blocksparse.schedule<cuda.wgmma>, transpose_b}
      : (tensor<1008x200xf16>, tensor<272x200xf16>) -> tensor<1008x272xf16, #b16>
  return %0 : tensor<1008x272xf16, #b16>
}

// Four blocks a chunk: places of 8 lie behind one another.
// B32: .entry blocks_of_32_sdd_wgmma(
// B32: setp.gt.u32 {{%p[0-9]+}}, {{%r[0-9]+}}, 7;
// B32: ld.global.nc.b32 {{%r[0-9]+}}, [{{%rd[0-9]+}}+32];
// B32: wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16
// B32: cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group
func.func @blocks_of_32(%a: tensor<64x288xbf16>, %b: tensor<64x992xbf16>) -> tensor<288x992xbf16, #b32> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>, transpose_a, alpha = 0.5 : f64}
      : (tensor<64x288xbf16>, tensor<64x992xbf16>) -> tensor<288x992xbf16, #b32>
  return %0 : tensor<288x992xbf16, #b32>
}

// With B along n, the transpose is computed: A has the block columns to gather, and the sums are
// transposed on their way to shared memory.
// SWAPPED: .entry swapped_sdd_wgmma(
// SWAPPED: wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16
// SWAPPED-SAME: p, 1, 1, 1, 0;
// SWAPPED-COUNT-16: stmatrix.sync.aligned.m8n8.x4.trans.shared.b16
func.func @swapped(%a: tensor<1008x200xf16>, %b: tensor<200x272xf16>) -> tensor<1008x272xf16, #b16> {
  %0 = blocksparse.sdd %a, %b {schedule = #blocksparse.schedule<cuda.wgmma>}
      : (tensor<1008x200xf16>, tensor<200x272xf16>) -> tensor<1008x272xf16, #b16>
  return %0 : tensor<1008x272xf16, #b16>
}
