// Rows that a warp takes together (tile_m of a cuda.stream schedule, see blocksparse/Plan/StreamPart.h): what is loaded of a
// panel serves all of them.
// RUN: blocksparse-opt %s --pass-pipeline='builtin.module(blocksparse-to-buffers{target=cuda:sm_90a},blocksparse-lower-gpu-pipeline{chip=sm_90a})' | FileCheck %s --implicit-check-not='blocksparse.planned'

#half = #blocksparse.layout<16x16, grid 64x64, random_balanced(density = 0.5, seed = 1)>

// 12 warps, each 4 rows x 64 columns: a panel is 4 ldmatrix, each row that has a block there 1 more and 8 mma.
// CHECK-LABEL: gpu.func @four_rows_dsd_stream
// CHECK: scf.while
// CHECK: llvm.intr.cttz
// CHECK-COUNT-4: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<col>
// CHECK-NOT: nvvm.ldmatrix
// CHECK: scf.if
// CHECK: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<row>
// CHECK-COUNT-8: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
// CHECK: scf.if
// CHECK: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<row>
// CHECK-COUNT-8: nvvm.mma.sync
// CHECK: scf.if
// CHECK: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<row>
// CHECK-COUNT-8: nvvm.mma.sync
// CHECK: scf.if
// CHECK: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<row>
// CHECK-COUNT-8: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
// CHECK: nvvm.mbarrier.arrive
// CHECK: gpu.return
func.func @four_rows(%a: tensor<1024x1024xf16, #half>, %b: tensor<1024x4096xf16>) -> tensor<1024x4096xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 64, tile_n = 128, tile_k = 64, stages = 4, warps = 12, group = 24>} : (tensor<1024x1024xf16, #half>, tensor<1024x4096xf16>) -> tensor<1024x4096xf16>
  return %0 : tensor<1024x4096xf16>
}

// 8 warps have registers for two panels a turn, the second where there is one, and for the value blocks of all rows.
// CHECK-LABEL: gpu.func @two_panels_dsd_stream
// CHECK: scf.while
// CHECK-COUNT-4: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<col>
// CHECK: scf.if
// CHECK-COUNT-4: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<col>
// CHECK-COUNT-4: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<row>
// CHECK-COUNT-8: nvvm.mma.sync
// CHECK: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<row>
// CHECK-COUNT-56: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
// CHECK: gpu.return
func.func @two_panels(%a: tensor<1024x1024xbf16, #half>, %b: tensor<1024x4096xbf16>) -> tensor<1024x4096xbf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 64, tile_n = 128, tile_k = 64, stages = 4, warps = 8, group = 16>} : (tensor<1024x1024xbf16, #half>, tensor<1024x4096xbf16>) -> tensor<1024x4096xbf16>
  return %0 : tensor<1024x4096xbf16>
}

// Six rows fill the registers: three value blocks are loaded ahead. The number of rows need not be a multiple of that of
// warps.
// CHECK-LABEL: gpu.func @six_rows_dsd_stream
// CHECK: scf.while
// CHECK-COUNT-4: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<col>
// CHECK-COUNT-3: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<row>
// CHECK-COUNT-8: nvvm.mma.sync
// CHECK: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<row>
// CHECK-COUNT-40: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
// CHECK: gpu.return
// CHECK-LABEL: gpu.func @five_rows_dsd_stream
func.func @six_rows(%a: tensor<1024x1024xf16, #half>, %b: tensor<1024x4096xf16>) -> tensor<1024x4096xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 96, tile_n = 128, tile_k = 64, stages = 4, warps = 8, group = 24>} : (tensor<1024x1024xf16, #half>, tensor<1024x4096xf16>) -> tensor<1024x4096xf16>
  return %0 : tensor<1024x4096xf16>
}
func.func @five_rows(%a: tensor<1024x1024xf16, #half>, %b: tensor<4096x1024xf16>) -> tensor<4096x1024xf16> {
  %0 = blocksparse.dsd %a, %b {transpose_b, transpose_out, schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 80, tile_n = 128, tile_k = 64, stages = 4, warps = 8, group = 20>} : (tensor<1024x1024xf16, #half>, tensor<4096x1024xf16>) -> tensor<4096x1024xf16>
  return %0 : tensor<4096x1024xf16>
}

// Whole rows, one after another, where the warps can't have four rows of 64 columns each.
// CHECK-LABEL: gpu.func @whole_rows_dsd_stream
// CHECK: scf.while
// CHECK: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<row>
// CHECK-COUNT-16: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
// CHECK: gpu.return
func.func @whole_rows(%a: tensor<1024x1024xf16, #half>, %b: tensor<1024x4096xf16>) -> tensor<1024x4096xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 64, tile_n = 128, tile_k = 64, stages = 4, warps = 16, group = 16>} : (tensor<1024x1024xf16, #half>, tensor<1024x4096xf16>) -> tensor<1024x4096xf16>
  return %0 : tensor<1024x4096xf16>
}
