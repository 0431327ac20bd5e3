// MN-major factors are written transposed first where the tiles of the transposed problem save more
// than that takes.
// RUN: blocksparse-opt %s -blocksparse-select-schedule="target=cuda:sm_90a" | FileCheck %s
// RUN: blocksparse-opt %s -blocksparse-select-schedule="target=cuda:sm_90" | FileCheck %s --check-prefix=OTHER --implicit-check-not=wgmma

#b32 = #blocksparse.layout<32x32, grid 256x256, random_balanced(density = 0.25, seed = 1)>
#b16 = #blocksparse.layout<16x16, grid 512x512, random_balanced(density = 0.25, seed = 1)>
#b64 = #blocksparse.layout<64x64, grid 128x128, random_balanced(density = 0.25, seed = 1)>
#band = #blocksparse.layout<16x16, grid 512x512, banded(lower = 512, upper = 512)>
#small = #blocksparse.layout<32x32, grid 64x64, random_balanced(density = 0.25, seed = 1)>
#heads = #blocksparse.layout<32x32, grid 128x128, random_balanced(density = 0.25, seed = 1)>

// B, A and both are MN-major.
// CHECK-LABEL: @large(
// CHECK: cuda.wgmma_transposed, tile = 128x256, gather = true>
// CHECK: cuda.wgmma_transposed, tile = 128x256, gather = true>
// CHECK: cuda.wgmma_transposed, tile = 128x256, gather = true>
// CHECK: cuda.wgmma_transposed, tile = 128x256, gather = true>
// CHECK: sampled_addmm {{.*}}cuda.wgmma_transposed
// OTHER-LABEL: @large(
// OTHER-COUNT-5: cuda.mma
func.func @large(%a: tensor<8192x8192xf16>, %b: tensor<8192x8192xf16>, %x: tensor<8192x8192xf16, #b32>)
    -> (tensor<8192x8192xf16, #b32>, tensor<8192x8192xf16, #b16>, tensor<8192x8192xf16, #b32>,
        tensor<8192x8192xf16, #b32>, tensor<8192x8192xf16, #b32>) {
  %0 = blocksparse.sdd %a, %b
      : (tensor<8192x8192xf16>, tensor<8192x8192xf16>) -> tensor<8192x8192xf16, #b32>
  %1 = blocksparse.sdd %a, %b
      : (tensor<8192x8192xf16>, tensor<8192x8192xf16>) -> tensor<8192x8192xf16, #b16>
  %2 = blocksparse.sdd %a, %b {transpose_a, transpose_b}
      : (tensor<8192x8192xf16>, tensor<8192x8192xf16>) -> tensor<8192x8192xf16, #b32>
  %3 = blocksparse.sdd %a, %b {transpose_a}
      : (tensor<8192x8192xf16>, tensor<8192x8192xf16>) -> tensor<8192x8192xf16, #b32>
  %4 = blocksparse.sampled_addmm %x, %a, %b {beta = 0.0 : f64}
      : (tensor<8192x8192xf16, #b32>, tensor<8192x8192xf16>, tensor<8192x8192xf16>)
      -> tensor<8192x8192xf16, #b32>
  return %0, %1, %2, %3, %4 : tensor<8192x8192xf16, #b32>, tensor<8192x8192xf16, #b16>,
      tensor<8192x8192xf16, #b32>, tensor<8192x8192xf16, #b32>, tensor<8192x8192xf16, #b32>
}

// There is nothing to transpose, nothing to gain from it (blocks of 64, a banded pattern), or little.
// CHECK-LABEL: @not_transposed(
// CHECK-COUNT-3: cuda.wgmma,
// CHECK: cuda.wgmma, tile = 128x256>
func.func @not_transposed(%a: tensor<8192x8192xf16>, %b: tensor<8192x8192xf16>,
                      %c: tensor<2048x1024xf16>, %d: tensor<1024x2048xf16>)
    -> (tensor<8192x8192xf16, #b32>, tensor<8192x8192xf16, #b64>, tensor<8192x8192xf16, #band>,
        tensor<2048x2048xf16, #small>) {
  %0 = blocksparse.sdd %a, %b {transpose_b}
      : (tensor<8192x8192xf16>, tensor<8192x8192xf16>) -> tensor<8192x8192xf16, #b32>
  %1 = blocksparse.sdd %a, %b
      : (tensor<8192x8192xf16>, tensor<8192x8192xf16>) -> tensor<8192x8192xf16, #b64>
  %2 = blocksparse.sdd %a, %b
      : (tensor<8192x8192xf16>, tensor<8192x8192xf16>) -> tensor<8192x8192xf16, #band>
  %3 = blocksparse.sdd %c, %d
      : (tensor<2048x1024xf16>, tensor<1024x2048xf16>) -> tensor<2048x2048xf16, #small>
  return %0, %1, %2, %3 : tensor<8192x8192xf16, #b32>, tensor<8192x8192xf16, #b64>,
      tensor<8192x8192xf16, #band>, tensor<2048x2048xf16, #small>
}

// A factor that all heads share is transposed once.
// CHECK-LABEL: @heads(
// CHECK: cuda.wgmma_transposed,
// CHECK: cuda.wgmma,
func.func @heads(%a: tensor<8x4096x256xf16>, %shared: tensor<256x4096xf16>, %own: tensor<8x256x4096xf16>)
    -> (tensor<8x4096x4096xf16, #heads>, tensor<8x4096x4096xf16, #heads>) {
  %0 = blocksparse.sdd %a, %shared
      : (tensor<8x4096x256xf16>, tensor<256x4096xf16>) -> tensor<8x4096x4096xf16, #heads>
  %1 = blocksparse.sdd %a, %own
      : (tensor<8x4096x256xf16>, tensor<8x256x4096xf16>) -> tensor<8x4096x4096xf16, #heads>
  return %0, %1 : tensor<8x4096x4096xf16, #heads>, tensor<8x4096x4096xf16, #heads>
}
