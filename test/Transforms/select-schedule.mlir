// RUN: blocksparse-opt %s -blocksparse-select-schedule="target=cpu:x86-64-v4" | FileCheck %s --check-prefixes=CHECK,AVX512
// RUN: blocksparse-opt %s -blocksparse-select-schedule="target=cpu:x86-64-v3,workers=8" | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: blocksparse-opt %s -blocksparse-select-schedule="target=cuda:sm_90a" | FileCheck %s --check-prefix=HOPPER
// RUN: blocksparse-opt %s -blocksparse-select-schedule="target=cuda:sm_80" | FileCheck %s --check-prefix=AMPERE

#l16 = #blocksparse.layout<16x16, grid 4x5, mask "01111/11111/11111/11011">
#l128 = #blocksparse.layout<128x128, grid 2x2, dense>
#row = #blocksparse.layout<16x16, grid 1x256, dense>

// CHECK-LABEL: @dsd_f32(
// AVX512: kernel = "cpu.panel", tile_m = 8, tile_n = 32>
// AVX2: kernel = "cpu.panel", tile_m = 6, tile_n = 16>
// HOPPER: kernel = "cuda.simt"
// AMPERE: kernel = "cuda.simt"
func.func @dsd_f32(%a: tensor<64x80xf32, #l16>, %b: tensor<80x512xf32>) -> tensor<64x512xf32> {
  %0 = blocksparse.dsd %a, %b : (tensor<64x80xf32, #l16>, tensor<80x512xf32>) -> tensor<64x512xf32>
  return %0 : tensor<64x512xf32>
}

// A narrow result takes a narrow tile; f64 has half as many lanes.
// CHECK-LABEL: @narrow_f64(
// AVX512: kernel = "cpu.panel", tile_m = 8, tile_n = 8>
// AVX2: kernel = "cpu.panel", tile_m = 6, tile_n = 8>
func.func @narrow_f64(%a: tensor<64x80xf64, #l16>, %b: tensor<80x7xf64>) -> tensor<64x7xf64> {
  %0 = blocksparse.dsd %a, %b : (tensor<64x80xf64, #l16>, tensor<80x7xf64>) -> tensor<64x7xf64>
  return %0 : tensor<64x7xf64>
}

// HOPPER-LABEL: @dsd_f16(
// HOPPER: kernel = "cuda.wgmma", tile_m = 128, tile_n = 256, tile_k = 64, stages = 4, warps = 8
// AMPERE-LABEL: @dsd_f16(
// AMPERE: kernel = "cuda.mma", tile_m = 128, tile_n = 128, tile_k = 32, stages = 4, warps = 8>
func.func @dsd_f16(%a: tensor<256x256xf16, #l128>, %b: tensor<256x4096xf16>)
    -> tensor<256x4096xf16> {
  %0 = blocksparse.dsd %a, %b
      : (tensor<256x256xf16, #l128>, tensor<256x4096xf16>) -> tensor<256x4096xf16>
  return %0 : tensor<256x4096xf16>
}

// One row of 256 blocks leaves all workers but one idle: it is split.
// CHECK-LABEL: @long_row(
// AVX512: tile_n = 16>
// AVX2: tile_n = 16, split = 32>
// HOPPER-LABEL: @long_row(
// HOPPER: split = 8>
func.func @long_row(%a: tensor<16x4096xf16, #row>, %b: tensor<4096x16xf16>) -> tensor<16x16xf16> {
  %0 = blocksparse.dsd %a, %b
      : (tensor<16x4096xf16, #row>, tensor<4096x16xf16>) -> tensor<16x16xf16>
  return %0 : tensor<16x16xf16>
}

// CHECK-LABEL: @others(
// CHECK: blocksparse.sdd {{.*}}kernel = "cpu.panel"
// CHECK: blocksparse.softmax {{.*}}kernel = "cpu.rows"
// CHECK: blocksparse.to_dense {{.*}}kernel = "cpu.blocks"
// HOPPER-LABEL: @others(
// HOPPER: blocksparse.softmax {{.*}}kernel = "cuda.rows"
// HOPPER: blocksparse.to_dense {{.*}}kernel = "cuda.blocks"
func.func @others(%a: tensor<64x8xf32>, %b: tensor<8x80xf32>) -> tensor<64x80xf32> {
  %0 = blocksparse.sdd %a, %b : (tensor<64x8xf32>, tensor<8x80xf32>) -> tensor<64x80xf32, #l16>
  %1 = blocksparse.softmax %0 : (tensor<64x80xf32, #l16>) -> tensor<64x80xf32, #l16>
  %2 = blocksparse.to_dense %1 : (tensor<64x80xf32, #l16>) -> tensor<64x80xf32>
  return %2 : tensor<64x80xf32>
}
