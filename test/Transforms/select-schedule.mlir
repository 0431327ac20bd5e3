// RUN: blocksparse-opt %s -blocksparse-select-schedule="target=cpu:x86-64-v4" | FileCheck %s --check-prefixes=CHECK,AVX512
// RUN: blocksparse-opt %s -blocksparse-select-schedule="target=cpu:x86-64-v3,workers=8" | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: blocksparse-opt %s -blocksparse-select-schedule="target=cuda:sm_90a" | FileCheck %s --check-prefix=HOPPER
// RUN: blocksparse-opt %s -blocksparse-select-schedule="target=cuda:sm_80" | FileCheck %s --check-prefix=AMPERE

#l64x4 = #blocksparse.layout<64x64, grid 64x4, dense>
#l64x1 = #blocksparse.layout<64x64, grid 1x4, dense>
#l16 = #blocksparse.layout<16x16, grid 4x5, mask "01111/11111/11111/11011">
#l128 = #blocksparse.layout<128x128, grid 2x2, dense>
#l1 = #blocksparse.layout<1x1, grid 2x3, dense>
#l24 = #blocksparse.layout<24x24, grid 2x2, dense>
#row = #blocksparse.layout<16x16, grid 1x256, dense>

// CHECK-LABEL: @dsd_f32(
// AVX512: cpu.panel, tile = 8x32>
// AVX2: cpu.panel, tile = 6x16>
// HOPPER: cuda.fma, tile = 16x128, stages = 4
// AMPERE: cuda.fma, tile = 16x128, stages = 4
func.func @dsd_f32(%a: tensor<64x80xf32, #l16>, %b: tensor<80x512xf32>) -> tensor<64x512xf32> {
  %0 = blocksparse.dsd %a, %b : (tensor<64x80xf32, #l16>, tensor<80x512xf32>) -> tensor<64x512xf32>
  return %0 : tensor<64x512xf32>
}

// A narrow result takes a narrow tile; f64 has half as many lanes.
// CHECK-LABEL: @narrow_f64(
// AVX512: cpu.panel, tile = 8x8>
// AVX2: cpu.panel, tile = 6x8>
func.func @narrow_f64(%a: tensor<64x80xf64, #l16>, %b: tensor<80x7xf64>) -> tensor<64x7xf64> {
  %0 = blocksparse.dsd %a, %b : (tensor<64x80xf64, #l16>, tensor<80x7xf64>) -> tensor<64x7xf64>
  return %0 : tensor<64x7xf64>
}

// Blocks of one or two rows take wider tiles, so that multiply-adds do not wait for each other, if
// these divide the columns.
// CHECK-LABEL: @one_row(
// AVX512: cpu.panel, tile = 1x64>
// AVX2: cpu.panel, tile = 1x32>
func.func @one_row(%a: tensor<2x3xf32, #l1>, %b: tensor<3x192xf32>) -> tensor<2x192xf32> {
  %0 = blocksparse.dsd %a, %b : (tensor<2x3xf32, #l1>, tensor<3x192xf32>) -> tensor<2x192xf32>
  return %0 : tensor<2x192xf32>
}
// CHECK-LABEL: @one_row_ragged(
// AVX512: cpu.panel, tile = 1x32>
// AVX2: cpu.panel, tile = 1x16>
func.func @one_row_ragged(%a: tensor<2x3xf32, #l1>, %b: tensor<3x80xf32>) -> tensor<2x80xf32> {
  %0 = blocksparse.dsd %a, %b : (tensor<2x3xf32, #l1>, tensor<3x80xf32>) -> tensor<2x80xf32>
  return %0 : tensor<2x80xf32>
}

// HOPPER-LABEL: @dsd_f16(
// HOPPER: cuda.wgmma, tile = 128x64, stages = 3>
// AMPERE-LABEL: @dsd_f16(
// AMPERE: cuda.mma, tile = 128x128, stages = 4>
func.func @dsd_f16(%a: tensor<256x256xf16, #l128>, %b: tensor<256x4096xf16>)
    -> tensor<256x4096xf16> {
  %0 = blocksparse.dsd %a, %b
      : (tensor<256x256xf16, #l128>, tensor<256x4096xf16>) -> tensor<256x4096xf16>
  return %0 : tensor<256x4096xf16>
}

// One row of 256 blocks leaves all workers but one idle: it is split.
// CHECK-LABEL: @long_row(
// AVX512: tile = {{[0-9]+}}x16>
// AVX2: tile = {{[0-9]+}}x16, split = 32>
// HOPPER-LABEL: @long_row(
// HOPPER: cuda.skinny, tile = 16x16, warps = 16, unroll = 4>
func.func @long_row(%a: tensor<16x4096xf16, #row>, %b: tensor<4096x16xf16>) -> tensor<16x16xf16> {
  %0 = blocksparse.dsd %a, %b
      : (tensor<16x4096xf16, #row>, tensor<4096x16xf16>) -> tensor<16x16xf16>
  return %0 : tensor<16x16xf16>
}

// CHECK-LABEL: @others(
// CHECK: blocksparse.sdd {{.*}}cpu.panel
// CHECK: blocksparse.softmax {{.*}}cpu.rows
// CHECK: blocksparse.add {{.*}}cpu.blocks
// CHECK: blocksparse.to_dense {{.*}}cpu.blocks
// HOPPER-LABEL: @others(
// HOPPER: blocksparse.softmax {{.*}}cuda.rows
// HOPPER: blocksparse.add {{.*}}cuda.blocks
// HOPPER: blocksparse.to_dense {{.*}}cuda.blocks
func.func @others(%a: tensor<64x8xf32>, %b: tensor<8x80xf32>) -> tensor<64x80xf32> {
  %0 = blocksparse.sdd %a, %b : (tensor<64x8xf32>, tensor<8x80xf32>) -> tensor<64x80xf32, #l16>
  %1 = blocksparse.softmax %0 : (tensor<64x80xf32, #l16>) -> tensor<64x80xf32, #l16>
  %2 = blocksparse.add %0, %1
      : (tensor<64x80xf32, #l16>, tensor<64x80xf32, #l16>) -> tensor<64x80xf32, #l16>
  %3 = blocksparse.to_dense %2 : (tensor<64x80xf32, #l16>) -> tensor<64x80xf32>
  return %3 : tensor<64x80xf32>
}

// The row kernels take f16, bf16 and f32 in chunks of 16 bytes; scalar kernels take all else.
// HOPPER-LABEL: @scalar_rows(
// HOPPER: blocksparse.softmax {{.*}}cuda.simt
// HOPPER: blocksparse.softmax_grad {{.*}}cuda.simt
// HOPPER: blocksparse.softmax {{.*}}cuda.rows
#l20 = #blocksparse.layout<20x20, grid 2x2, dense>
func.func @scalar_rows(%x: tensor<40x40xf64, #l20>, %y: tensor<40x40xf16, #l20>,
                       %z: tensor<40x40xf32, #l20>)
    -> (tensor<40x40xf64, #l20>, tensor<40x40xf16, #l20>, tensor<40x40xf32, #l20>) {
  %0 = blocksparse.softmax %x : (tensor<40x40xf64, #l20>) -> tensor<40x40xf64, #l20>
  %1 = blocksparse.softmax_grad %y, %y
      : (tensor<40x40xf16, #l20>, tensor<40x40xf16, #l20>) -> tensor<40x40xf16, #l20>
  %2 = blocksparse.softmax %z : (tensor<40x40xf32, #l20>) -> tensor<40x40xf32, #l20>
  return %0, %1, %2 : tensor<40x40xf64, #l20>, tensor<40x40xf16, #l20>, tensor<40x40xf32, #l20>
}

// The kernels of stages: panels as wide as the result and the number of workers allow, rows that
// share a tile by block size and occupancy, and the kernel without stages for all else.
#wide128 = #blocksparse.layout<128x128, grid 32x32, random(density = 0.3, seed = 1)>
#pairs = #blocksparse.layout<64x128, grid 64x32, random(density = 0.3, seed = 1)>
#sparse16 = #blocksparse.layout<16x16, grid 256x256, random(density = 0.1, seed = 1)>
#rare16 = #blocksparse.layout<16x16, grid 256x256, random(density = 0.01, seed = 1)>
#half32 = #blocksparse.layout<32x32, grid 128x128, random(density = 0.5, seed = 1)>
#large32 = #blocksparse.layout<32x32, grid 256x256, random(density = 0.5, seed = 1)>
#band16 = #blocksparse.layout<16x16, grid 256x256, banded(lower = 320, upper = 320)>
#l64 = #blocksparse.layout<64x64, grid 4x4, dense>
#odd = #blocksparse.layout<48x16, grid 4x4, dense>

// HOPPER-LABEL: @stages(
// HOPPER: blocksparse.dsd {{.*}}cuda.wgmma, tile = 128x256, stages = 4>
// HOPPER: blocksparse.dds {{.*}}cuda.wgmma, tile = 128x256, stages = 4>
// HOPPER: blocksparse.dsd {{.*}}cuda.wgmma, tile = 128x256, stages = 4, cluster = 2>
func.func @stages(%a: tensor<4096x4096xf16, #wide128>, %p: tensor<4096x4096xf16, #pairs>,
                  %b: tensor<4096x4096xf16>)
    -> (tensor<4096x4096xf16>, tensor<4096x4096xf16>, tensor<4096x4096xf16>) {
  %0 = blocksparse.dsd %a, %b
      : (tensor<4096x4096xf16, #wide128>, tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  %1 = blocksparse.dds %b, %p
      : (tensor<4096x4096xf16>, tensor<4096x4096xf16, #pairs>) -> tensor<4096x4096xf16>
  %2 = blocksparse.dsd %p, %b
      : (tensor<4096x4096xf16, #pairs>, tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  return %0, %1, %2 : tensor<4096x4096xf16>, tensor<4096x4096xf16>, tensor<4096x4096xf16>
}

// i8 has tensor-core kernels on every chip, f8 from sm_90 on; blocks of 24 have none.
// HOPPER-LABEL: @bytes(
// HOPPER: blocksparse.dsd {{.*}}cuda.mma, tile = 128x128, stages = 4>
// HOPPER: blocksparse.sdd {{.*}}cuda.mma, tile = 128x128, stages = 4>
// HOPPER: blocksparse.dsd {{.*}}cuda.simt
// HOPPER: blocksparse.matmul {{.*}}cuda.mma
// AMPERE-LABEL: @bytes(
// AMPERE: blocksparse.dsd {{.*}}cuda.mma, tile = 128x128, stages = 4>
// AMPERE: blocksparse.sdd {{.*}}cuda.mma
// AMPERE: blocksparse.dsd {{.*}}cuda.simt
// AMPERE: blocksparse.matmul {{.*}}cuda.simt
func.func @bytes(%a: tensor<256x256xi8, #l128>, %b: tensor<256x256xi8>, %s: tensor<48x48xi8, #l24>,
                 %c: tensor<48x256xi8>, %f: tensor<256x256xf8E4M3FN>)
    -> (tensor<256x256xi32>, tensor<256x256xi32, #l128>, tensor<48x256xi32>, tensor<256x256xf32>) {
  %0 = blocksparse.dsd %a, %b
      : (tensor<256x256xi8, #l128>, tensor<256x256xi8>) -> tensor<256x256xi32>
  %1 = blocksparse.sdd %b, %b
      : (tensor<256x256xi8>, tensor<256x256xi8>) -> tensor<256x256xi32, #l128>
  %2 = blocksparse.dsd %s, %c
      : (tensor<48x48xi8, #l24>, tensor<48x256xi8>) -> tensor<48x256xi32>
  %3 = blocksparse.matmul %f, %f
      : (tensor<256x256xf8E4M3FN>, tensor<256x256xf8E4M3FN>) -> tensor<256x256xf32>
  return %0, %1, %2, %3
      : tensor<256x256xi32>, tensor<256x256xi32, #l128>, tensor<48x256xi32>, tensor<256x256xf32>
}

// A banded pattern has its blocks where row groups share panels: as good as half full. Small row groups
// of blocks of 16 leave fewer workers idle in the last round of a small product.
// HOPPER-LABEL: @streams(
// HOPPER: cuda.stream, tile = 384x128, panels = 8, stages = 4, warps = 12>
// HOPPER: cuda.stream_wgmma, tile = 256x128, panels = 4, stages = 3, warps = 8>
// HOPPER: cuda.stream, tile = 256x128, panels = 4, stages = 5, warps = 8>
// HOPPER: cuda.stream_wgmma, tile = 384x128, panels = 2, stages = 3, warps = 8>
// AMPERE-LABEL: @streams(
// AMPERE-COUNT-4: cuda.mma
func.func @streams(%a: tensor<4096x4096xbf16, #sparse16>, %h: tensor<4096x4096xbf16, #half32>,
                   %l: tensor<4096x4096xbf16, #band16>, %b: tensor<4096x4096xbf16>,
                   %g: tensor<8192x8192xbf16, #large32>, %c: tensor<8192x8192xbf16>)
    -> (tensor<4096x4096xbf16>, tensor<4096x4096xbf16>, tensor<4096x4096xbf16>,
        tensor<8192x8192xbf16>) {
  %0 = blocksparse.dsd %a, %b
      : (tensor<4096x4096xbf16, #sparse16>, tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  %1 = blocksparse.dsd %h, %b
      : (tensor<4096x4096xbf16, #half32>, tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  %2 = blocksparse.dsd %l, %b
      : (tensor<4096x4096xbf16, #band16>, tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  %3 = blocksparse.dsd %g, %c
      : (tensor<8192x8192xbf16, #large32>, tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16>
  return %0, %1, %2, %3 : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>, tensor<4096x4096xbf16>,
      tensor<8192x8192xbf16>
}

// Blocks of 16 whose dense operand is K-major: stages of whole lines of 64 values where rows share most
// of them, else of another number of panels. Blocks of 32 are as above.
// HOPPER-LABEL: @streams_k_major(
// HOPPER: cuda.stream, tile = 384x128, panels = 8, panels_per_copy = 4, stages = 4, warps = 12>
// HOPPER: cuda.stream, tile = 384x128, panels = 8, panels_per_copy = 4, stages = 4, warps = 12>
// HOPPER: cuda.stream, tile = 384x128, panels = 7, stages = 4, warps = 12>
// HOPPER: cuda.stream, tile = 384x128, panels = 8, stages = 4, warps = 12>
// HOPPER: cuda.stream_wgmma, tile = 256x128, panels = 4, stages = 3, warps = 8>
// AMPERE-LABEL: @streams_k_major(
// AMPERE-COUNT-5: cuda.mma
func.func @streams_k_major(%a: tensor<4096x4096xbf16, #sparse16>,
                           %r: tensor<4096x4096xbf16, #rare16>,
                           %h: tensor<4096x4096xbf16, #half32>, %b: tensor<4096x4096xbf16>)
    -> (tensor<4096x4096xbf16>, tensor<4096x4096xbf16>, tensor<4096x4096xbf16>,
        tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) {
  %0 = blocksparse.dds %b, %a
      : (tensor<4096x4096xbf16>, tensor<4096x4096xbf16, #sparse16>) -> tensor<4096x4096xbf16>
  %1 = blocksparse.dsd %a, %b {transpose_b}
      : (tensor<4096x4096xbf16, #sparse16>, tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  %2 = blocksparse.dds %b, %r
      : (tensor<4096x4096xbf16>, tensor<4096x4096xbf16, #rare16>) -> tensor<4096x4096xbf16>
  %3 = blocksparse.dds %b, %r {transpose_a}
      : (tensor<4096x4096xbf16>, tensor<4096x4096xbf16, #rare16>) -> tensor<4096x4096xbf16>
  %4 = blocksparse.dds %b, %h
      : (tensor<4096x4096xbf16>, tensor<4096x4096xbf16, #half32>) -> tensor<4096x4096xbf16>
  return %0, %1, %2, %3, %4 : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>,
      tensor<4096x4096xbf16>, tensor<4096x4096xbf16>, tensor<4096x4096xbf16>
}

// HOPPER-LABEL: @whether_stages(
// HOPPER: blocksparse.dsd {{.*}}cuda.mma
// HOPPER: blocksparse.dsd {{.*}}cuda.wgmma, tile = 128x64
// HOPPER: blocksparse.dsd {{.*}}cuda.mma, tile = 16x32, stages = 4>
// HOPPER: blocksparse.sdd {{.*}}cuda.wgmma, tile = 128x256>
// HOPPER: blocksparse.sdd {{.*}}cuda.wgmma, tile = 128x256>
// HOPPER: blocksparse.sdd {{.*}}cuda.wgmma, tile = 64x384>
// HOPPER: blocksparse.sampled_addmm {{.*}}cuda.mma
// HOPPER: blocksparse.matmul {{.*}}cuda.wgmma, tile = 128x256
func.func @whether_stages(%a: tensor<256x256xf16, #l128>, %b: tensor<256x?xf16>,
                          %c: tensor<256x76xf16>, %d: tensor<256x256xf16>,
                          %o: tensor<192x64xf16, #odd>, %e: tensor<64x256xf16>,
                          %f: tensor<256x36xf16>, %g: tensor<36x256xf16>)
    -> (tensor<256x?xf16>, tensor<256x76xf16>, tensor<192x256xf16>, tensor<256x256xf16, #l128>,
        tensor<256x256xf16, #l128>, tensor<256x256xf16, #l128>, tensor<256x256xf16>,
        tensor<256x256xf16, #l64>) {
  %0 = blocksparse.dsd %a, %b
      : (tensor<256x256xf16, #l128>, tensor<256x?xf16>) -> tensor<256x?xf16>
  %1 = blocksparse.dsd %a, %c
      : (tensor<256x256xf16, #l128>, tensor<256x76xf16>) -> tensor<256x76xf16>
  %2 = blocksparse.dsd %o, %e
      : (tensor<192x64xf16, #odd>, tensor<64x256xf16>) -> tensor<192x256xf16>
  %3 = blocksparse.sdd %d, %d
      : (tensor<256x256xf16>, tensor<256x256xf16>) -> tensor<256x256xf16, #l128>
  // A reduction that is no multiple of 8, whose rows are copied, and an input to add.
  %4 = blocksparse.sdd %f, %g
      : (tensor<256x36xf16>, tensor<36x256xf16>) -> tensor<256x256xf16, #l128>
  %7 = blocksparse.sdd %d, %d
      : (tensor<256x256xf16>, tensor<256x256xf16>) -> tensor<256x256xf16, #l64>
  %5 = blocksparse.sampled_addmm %3, %d, %d {beta = 1.0 : f64}
      : (tensor<256x256xf16, #l128>, tensor<256x256xf16>, tensor<256x256xf16>)
      -> tensor<256x256xf16, #l128>
  %6 = blocksparse.matmul %d, %d
      : (tensor<256x256xf16>, tensor<256x256xf16>) -> tensor<256x256xf16>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<256x?xf16>, tensor<256x76xf16>, tensor<192x256xf16>,
      tensor<256x256xf16, #l128>, tensor<256x256xf16, #l128>, tensor<256x256xf16, #l128>,
      tensor<256x256xf16>, tensor<256x256xf16, #l64>
}

// Blocks of 64 take wide panels where these leave work for all SMs.
// AMPERE-LABEL: @wide_panels(
// AMPERE: cuda.mma, tile = 64x256, stages = 4>
func.func @wide_panels(%a: tensor<4096x256xf16, #l64x4>, %b: tensor<256x4096xf16>) -> tensor<4096x4096xf16> {
  %0 = blocksparse.dsd %a, %b : (tensor<4096x256xf16, #l64x4>, tensor<256x4096xf16>) -> tensor<4096x4096xf16>
  return %0 : tensor<4096x4096xf16>
}

// f32 goes to the tensor cores where it may be rounded.
// HOPPER-LABEL: @rounded(
// HOPPER: cuda.mma, tile = 64x128, stages = 4>
// HOPPER: cuda.mma
// HOPPER: cuda.simt
func.func @rounded(%a: tensor<64x256xf32, #l64x1>, %b: tensor<256x128xf32>) -> (tensor<64x128xf32>, tensor<64x128xf32>, tensor<64x128xf32>) {
  %0 = blocksparse.dsd %a, %b {precision = #blocksparse.precision<tf32>} : (tensor<64x256xf32, #l64x1>, tensor<256x128xf32>) -> tensor<64x128xf32>
  %1 = blocksparse.dsd %a, %b {precision = #blocksparse.precision<tf32x3>} : (tensor<64x256xf32, #l64x1>, tensor<256x128xf32>) -> tensor<64x128xf32>
  %2 = blocksparse.dsd %a, %b : (tensor<64x256xf32, #l64x1>, tensor<256x128xf32>) -> tensor<64x128xf32>
  return %0, %1, %2 : tensor<64x128xf32>, tensor<64x128xf32>, tensor<64x128xf32>
}

#wide32 = #blocksparse.layout<32x32, grid 256x256, random_balanced(density = 0.25, seed = 1)>
#wide16 = #blocksparse.layout<16x16, grid 512x512, random_balanced(density = 0.25, seed = 1)>
#thin32 = #blocksparse.layout<32x32, grid 256x256, random_balanced(density = 0.05, seed = 1)>
#local16 = #blocksparse.layout<16x16, grid 512x512, banded(lower = 512, upper = 512)>
#few16 = #blocksparse.layout<16x16, grid 16x16, dense>

// Tiles computed in full against the blocks alone. Random blocks are gathered from any rows (of many,
// factors that are MN-major are transposed first, see select-schedule-transposed.mlir), those of a banded pattern come with their
// neighbours. Few blocks leave most of a round of tiles idle.
// HOPPER-LABEL: @sampled_small(
// HOPPER: cuda.wgmma_transposed, tile = 128x256, gather = true>
// HOPPER: cuda.wgmma_transposed, tile = 128x256, gather = true>
// HOPPER: cuda.wgmma, tile = 128x256>
// HOPPER: cuda.wgmma, tile = 128x256, gather = true>
// HOPPER: cuda.wgmma, tile = 128x256, gather = true>
// HOPPER: cuda.mma
// AMPERE-LABEL: @sampled_small(
// AMPERE-COUNT-6: cuda.mma
func.func @sampled_small(%a: tensor<8192x1024xf16>, %b: tensor<1024x8192xf16>,
                         %c: tensor<256x1024xf16>, %d: tensor<1024x256xf16>)
    -> (tensor<8192x8192xf16, #wide32>, tensor<8192x8192xf16, #wide16>,
        tensor<8192x8192xf16, #local16>, tensor<8192x8192xf16, #thin32>,
        tensor<8192x8192xf16, #thin32>, tensor<256x256xf16, #few16>) {
  %0 = blocksparse.sdd %a, %b
      : (tensor<8192x1024xf16>, tensor<1024x8192xf16>) -> tensor<8192x8192xf16, #wide32>
  %1 = blocksparse.sdd %a, %b
      : (tensor<8192x1024xf16>, tensor<1024x8192xf16>) -> tensor<8192x8192xf16, #wide16>
  %2 = blocksparse.sdd %a, %b
      : (tensor<8192x1024xf16>, tensor<1024x8192xf16>) -> tensor<8192x8192xf16, #local16>
  %3 = blocksparse.sdd %a, %b
      : (tensor<8192x1024xf16>, tensor<1024x8192xf16>) -> tensor<8192x8192xf16, #thin32>
  %4 = blocksparse.sdd %b, %b {transpose_a}
      : (tensor<1024x8192xf16>, tensor<1024x8192xf16>) -> tensor<8192x8192xf16, #thin32>
  %5 = blocksparse.sdd %c, %d
      : (tensor<256x1024xf16>, tensor<1024x256xf16>) -> tensor<256x256xf16, #few16>
  return %0, %1, %2, %3, %4, %5
      : tensor<8192x8192xf16, #wide32>, tensor<8192x8192xf16, #wide16>,
        tensor<8192x8192xf16, #local16>, tensor<8192x8192xf16, #thin32>,
        tensor<8192x8192xf16, #thin32>, tensor<256x256xf16, #few16>
}

#wide64 = #blocksparse.layout<64x64, grid 128x128, random_balanced(density = 0.25, seed = 1)>
#wide64x128 = #blocksparse.layout<64x128, grid 128x64, random_balanced(density = 0.25, seed = 1)>
#square128 = #blocksparse.layout<128x128, grid 64x64, random_balanced(density = 0.25, seed = 1)>
#some64 = #blocksparse.layout<64x64, grid 8x8, random_balanced(density = 0.25, seed = 1)>
#thin16 = #blocksparse.layout<16x16, grid 512x512, random_balanced(density = 0.02, seed = 1)>
#local32 = #blocksparse.layout<32x32, grid 256x256, banded(lower = 512, upper = 512)>

// Rows of 64 are gathered for tiles of 128 x 256 but where they are few; those of 128 fill tiles. Of
// smaller blocks those of a banded pattern, and those that stand alone, are not; where both factors are
// MN-major and whole subtiles would have to be gathered, blocks of a fiftieth go by themselves.
// HOPPER-LABEL: @sampled_rows(
// HOPPER: cuda.wgmma, tile = 128x256, gather = true>
// HOPPER: cuda.wgmma, tile = 128x256, gather = true>
// HOPPER: cuda.wgmma, tile = 128x256>
// HOPPER: cuda.wgmma, tile = 64x384>
// HOPPER: cuda.wgmma, tile = 128x256>
// HOPPER: cuda.wgmma, tile = 128x256>
// HOPPER: cuda.mma
// AMPERE-LABEL: @sampled_rows(
// AMPERE-COUNT-7: cuda.mma
func.func @sampled_rows(%a: tensor<8192x1024xf16>, %b: tensor<1024x8192xf16>,
                        %c: tensor<512x1024xf16>, %d: tensor<1024x512xf16>)
    -> (tensor<8192x8192xf16, #wide64>, tensor<8192x8192xf16, #wide64x128>,
        tensor<8192x8192xf16, #square128>, tensor<512x512xf16, #some64>,
        tensor<8192x8192xf16, #local32>, tensor<8192x8192xf16, #thin16>,
        tensor<8192x8192xf16, #thin16>) {
  %0 = blocksparse.sdd %a, %b
      : (tensor<8192x1024xf16>, tensor<1024x8192xf16>) -> tensor<8192x8192xf16, #wide64>
  %1 = blocksparse.sdd %a, %b
      : (tensor<8192x1024xf16>, tensor<1024x8192xf16>) -> tensor<8192x8192xf16, #wide64x128>
  %2 = blocksparse.sdd %a, %b
      : (tensor<8192x1024xf16>, tensor<1024x8192xf16>) -> tensor<8192x8192xf16, #square128>
  %3 = blocksparse.sdd %c, %d
      : (tensor<512x1024xf16>, tensor<1024x512xf16>) -> tensor<512x512xf16, #some64>
  %4 = blocksparse.sdd %a, %a {transpose_b}
      : (tensor<8192x1024xf16>, tensor<8192x1024xf16>) -> tensor<8192x8192xf16, #local32>
  %5 = blocksparse.sdd %a, %a {transpose_b}
      : (tensor<8192x1024xf16>, tensor<8192x1024xf16>) -> tensor<8192x8192xf16, #thin16>
  %6 = blocksparse.sdd %b, %b {transpose_a}
      : (tensor<1024x8192xf16>, tensor<1024x8192xf16>) -> tensor<8192x8192xf16, #thin16>
  return %0, %1, %2, %3, %4, %5, %6
      : tensor<8192x8192xf16, #wide64>, tensor<8192x8192xf16, #wide64x128>,
        tensor<8192x8192xf16, #square128>, tensor<512x512xf16, #some64>,
        tensor<8192x8192xf16, #local32>, tensor<8192x8192xf16, #thin16>,
        tensor<8192x8192xf16, #thin16>
}

#wide256x512 = #blocksparse.layout<256x512, grid 32x16, random_balanced(density = 0.25, seed = 1)>
#some128 = #blocksparse.layout<128x128, grid 16x16, random_balanced(density = 0.25, seed = 1)>

// Clusters share rows of 128 where that is faster by 3 %: not with few tiles, nor with a short reduction.
// HOPPER-LABEL: @sampled_clusters(
// HOPPER: cuda.wgmma, tile = 128x256, cluster = 2>
// HOPPER: cuda.wgmma, tile = 128x256, cluster = 2>
// HOPPER: cuda.wgmma, tile = 128x256>
// HOPPER: cuda.wgmma, tile = 128x256>
func.func @sampled_clusters(%a: tensor<8192x8192xf16>, %b: tensor<2048x8192xf16>,
                            %c: tensor<4096x8192xf16>)
    -> (tensor<8192x8192xf16, #square128>, tensor<8192x8192xf16, #wide256x512>,
        tensor<2048x2048xf16, #some128>, tensor<8192x8192xf16, #square128>) {
  %0 = blocksparse.sdd %a, %a
      : (tensor<8192x8192xf16>, tensor<8192x8192xf16>) -> tensor<8192x8192xf16, #square128>
  %1 = blocksparse.sdd %a, %a {transpose_a}
      : (tensor<8192x8192xf16>, tensor<8192x8192xf16>) -> tensor<8192x8192xf16, #wide256x512>
  %2 = blocksparse.sdd %b, %b {transpose_b}
      : (tensor<2048x8192xf16>, tensor<2048x8192xf16>) -> tensor<2048x2048xf16, #some128>
  %3 = blocksparse.sdd %c, %c {transpose_a}
      : (tensor<4096x8192xf16>, tensor<4096x8192xf16>) -> tensor<8192x8192xf16, #square128>
  return %0, %1, %2, %3 : tensor<8192x8192xf16, #square128>, tensor<8192x8192xf16, #wide256x512>,
      tensor<2048x2048xf16, #some128>, tensor<8192x8192xf16, #square128>
}

#l16x24 = #blocksparse.layout<16x24, grid 8x8, dense>

// Both sides of a block must be multiples of 16 for mma.sync; stream kernels plan others.
// HOPPER-LABEL: @flat_blocks(
// HOPPER: blocksparse.dsd {{.*}}cuda.stream{{.*}}, block = {{16|32}}>
// HOPPER: blocksparse.sdd {{.*}}cuda.simt
// AMPERE-LABEL: @flat_blocks(
// AMPERE: blocksparse.dsd {{.*}}cuda.simt
// AMPERE: blocksparse.sdd {{.*}}cuda.simt
func.func @flat_blocks(%a: tensor<128x192xf16, #l16x24>, %b: tensor<192x512xf16>,
                       %c: tensor<128x64xf16>, %d: tensor<64x192xf16>)
    -> (tensor<128x512xf16>, tensor<128x192xf16, #l16x24>) {
  %0 = blocksparse.dsd %a, %b
      : (tensor<128x192xf16, #l16x24>, tensor<192x512xf16>) -> tensor<128x512xf16>
  %1 = blocksparse.sdd %c, %d
      : (tensor<128x64xf16>, tensor<64x192xf16>) -> tensor<128x192xf16, #l16x24>
  return %0, %1 : tensor<128x512xf16>, tensor<128x192xf16, #l16x24>
}
