// dsd on Hopper's tensor cores: blocks from 16 to 256 with every transpose, wide and narrow results, rows
// that are cut, sparse and local patterns, batches and heads.
// REQUIRES: gpu || simulator
// RUN: %if gpu %{ blocksparse-run %s --all-functions --check --repeat-check --device=cuda %}
// RUN: %if simulator %{ blocksparse-run %s --function=d16,d16_all,d16_heads,d32_to,d32_local,d64_tb,d64_sparse,d128_ta,d128_ragged,d256_tb,d256_heads --check --device=simulated --target=cuda:sm_90a %}

#l0 = #blocksparse.layout<16x16, grid 64x64, random_balanced(density = 0.3, seed = 3)>
#l1 = #blocksparse.layout<16x16, grid 64x64, random_balanced(density = 0.25, seed = 3)>
#l2 = #blocksparse.layout<16x16, grid 64x32, random_balanced(density = 0.3, seed = 3)>
#l3 = #blocksparse.layout<16x16, grid 63x64, random_balanced(density = 0.3, seed = 3)>
#l4 = #blocksparse.layout<16x16, grid 128x128, random(density = 0.02, seed = 5)>
#l5 = #blocksparse.layout<16x16, grid 128x128, local_sliding_window(num_sliding_window_blocks = 5)>
#l6 = #blocksparse.layout<16x16, grid 64x64, random_balanced(density = 0.2, seed = 3)>
#l7 = #blocksparse.layout<32x32, grid 32x32, random_balanced(density = 0.3, seed = 3)>
#l8 = #blocksparse.layout<32x32, grid 32x32, random_balanced(density = 0.25, seed = 3)>
#l9 = #blocksparse.layout<32x32, grid 32x16, random_balanced(density = 0.3, seed = 3)>
#l10 = #blocksparse.layout<32x32, grid 64x64, random(density = 0.02, seed = 5)>
#l11 = #blocksparse.layout<32x32, grid 64x64, local_sliding_window(num_sliding_window_blocks = 5)>
#l12 = #blocksparse.layout<32x32, grid 32x32, random_balanced(density = 0.2, seed = 3)>
#l13 = #blocksparse.layout<64x64, grid 16x16, random_balanced(density = 0.3, seed = 3)>
#l14 = #blocksparse.layout<64x64, grid 16x16, random_balanced(density = 0.25, seed = 3)>
#l15 = #blocksparse.layout<64x64, grid 16x8, random_balanced(density = 0.3, seed = 3)>
#l16 = #blocksparse.layout<64x64, grid 32x32, random(density = 0.02, seed = 5)>
#l17 = #blocksparse.layout<64x64, grid 32x32, local_sliding_window(num_sliding_window_blocks = 5)>
#l18 = #blocksparse.layout<64x64, grid 16x16, random_balanced(density = 0.2, seed = 3)>
#l19 = #blocksparse.layout<128x128, grid 8x8, random_balanced(density = 0.3, seed = 3)>
#l20 = #blocksparse.layout<128x128, grid 8x8, random_balanced(density = 0.25, seed = 3)>
#l21 = #blocksparse.layout<128x128, grid 8x4, random_balanced(density = 0.3, seed = 3)>
#l22 = #blocksparse.layout<128x128, grid 16x16, random(density = 0.02, seed = 5)>
#l23 = #blocksparse.layout<128x128, grid 16x16, local_sliding_window(num_sliding_window_blocks = 5)>
#l24 = #blocksparse.layout<128x128, grid 8x8, random_balanced(density = 0.2, seed = 3)>
#l25 = #blocksparse.layout<256x256, grid 4x4, random_balanced(density = 0.3, seed = 3)>
#l26 = #blocksparse.layout<256x256, grid 4x2, random_balanced(density = 0.3, seed = 3)>
#l27 = #blocksparse.layout<256x256, grid 8x8, random(density = 0.02, seed = 5)>
#l28 = #blocksparse.layout<256x256, grid 4x4, random_balanced(density = 0.2, seed = 3)>

func.func @d16(%a: tensor<1024x1024xf16, #l0>, %b: tensor<1024x512xf16>) -> tensor<1024x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream, tile = 64x64, panels = 4, stages = 5, warps = 4>} : (tensor<1024x1024xf16, #l0>, tensor<1024x512xf16>) -> tensor<1024x512xf16>
  return %0 : tensor<1024x512xf16>
}

func.func @d16_bf(%a: tensor<1024x1024xbf16, #l0>, %b: tensor<1024x512xbf16>) -> tensor<1024x512xbf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream, tile = 64x64, panels = 4, stages = 5, warps = 4>} : (tensor<1024x1024xbf16, #l0>, tensor<1024x512xbf16>) -> tensor<1024x512xbf16>
  return %0 : tensor<1024x512xbf16>
}

func.func @d16_wide(%a: tensor<1024x1024xf16, #l1>, %b: tensor<1024x4096xf16>) -> tensor<1024x4096xf16> {
  %0 = blocksparse.dsd %a, %b  : (tensor<1024x1024xf16, #l1>, tensor<1024x4096xf16>) -> tensor<1024x4096xf16>
  return %0 : tensor<1024x4096xf16>
}

func.func @d16_ta(%a: tensor<1024x512xf16, #l2>, %b: tensor<1024x512xf16>) -> tensor<512x512xf16> {
  %0 = blocksparse.dsd %a, %b {transpose_a, schedule = #blocksparse.schedule<cuda.stream, tile = 64x64, panels = 4, stages = 5, warps = 4>} : (tensor<1024x512xf16, #l2>, tensor<1024x512xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}

func.func @d16_tb(%a: tensor<1024x512xf16, #l2>, %b: tensor<512x512xf16>) -> tensor<1024x512xf16> {
  %0 = blocksparse.dsd %a, %b {transpose_b, schedule = #blocksparse.schedule<cuda.stream, tile = 64x64, panels = 8, panels_per_copy = 4, stages = 3, warps = 4>} : (tensor<1024x512xf16, #l2>, tensor<512x512xf16>) -> tensor<1024x512xf16>
  return %0 : tensor<1024x512xf16>
}

func.func @d16_to(%a: tensor<1024x512xf16, #l2>, %b: tensor<512x512xf16>) -> tensor<512x1024xf16> {
  %0 = blocksparse.dsd %a, %b {transpose_out, schedule = #blocksparse.schedule<cuda.stream, tile = 64x64, panels = 4, stages = 5, warps = 4>} : (tensor<1024x512xf16, #l2>, tensor<512x512xf16>) -> tensor<512x1024xf16>
  return %0 : tensor<512x1024xf16>
}

func.func @d16_all(%a: tensor<1024x512xf16, #l2>, %b: tensor<512x1024xf16>) -> tensor<512x512xf16> {
  %0 = blocksparse.dsd %a, %b {transpose_a, transpose_b, transpose_out, schedule = #blocksparse.schedule<cuda.stream, tile = 64x64, panels = 8, panels_per_copy = 4, stages = 3, warps = 4>} : (tensor<1024x512xf16, #l2>, tensor<512x1024xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}

func.func @d16_n64(%a: tensor<1024x1024xf16, #l0>, %b: tensor<1024x64xf16>) -> tensor<1024x64xf16> {
  %0 = blocksparse.dsd %a, %b  : (tensor<1024x1024xf16, #l0>, tensor<1024x64xf16>) -> tensor<1024x64xf16>
  return %0 : tensor<1024x64xf16>
}

func.func @d16_n192(%a: tensor<1024x1024xf16, #l0>, %b: tensor<1024x192xf16>) -> tensor<1024x192xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream, tile = 64x64, panels = 4, stages = 5, warps = 4>} : (tensor<1024x1024xf16, #l0>, tensor<1024x192xf16>) -> tensor<1024x192xf16>
  return %0 : tensor<1024x192xf16>
}

func.func @d16_ragged(%a: tensor<1000x1024xf16, #l3>, %b: tensor<1024x320xf16>) -> tensor<1000x320xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream, tile = 64x64, panels = 4, stages = 5, warps = 4>} : (tensor<1000x1024xf16, #l3>, tensor<1024x320xf16>) -> tensor<1000x320xf16>
  return %0 : tensor<1000x320xf16>
}

func.func @d16_sparse(%a: tensor<2048x2048xf16, #l4>, %b: tensor<2048x256xf16>) -> tensor<2048x256xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream, tile = 128x64, panels = 6, stages = 4, warps = 8>} : (tensor<2048x2048xf16, #l4>, tensor<2048x256xf16>) -> tensor<2048x256xf16>
  return %0 : tensor<2048x256xf16>
}

func.func @d16_local(%a: tensor<2048x2048xf16, #l5>, %b: tensor<2048x256xf16>) -> tensor<2048x256xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream, tile = 64x64, panels = 4, stages = 5, warps = 4>} : (tensor<2048x2048xf16, #l5>, tensor<2048x256xf16>) -> tensor<2048x256xf16>
  return %0 : tensor<2048x256xf16>
}

func.func @d16_heads(%a: tensor<2x3x1024x1024xf16, #l6>, %b: tensor<2x3x1024x64xf16>) -> tensor<2x3x1024x64xf16> {
  %0 = blocksparse.dsd %a, %b  : (tensor<2x3x1024x1024xf16, #l6>, tensor<2x3x1024x64xf16>) -> tensor<2x3x1024x64xf16>
  return %0 : tensor<2x3x1024x64xf16>
}

func.func @d32(%a: tensor<1024x1024xf16, #l7>, %b: tensor<1024x512xf16>) -> tensor<1024x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 128x64, panels = 4, stages = 3, warps = 8>} : (tensor<1024x1024xf16, #l7>, tensor<1024x512xf16>) -> tensor<1024x512xf16>
  return %0 : tensor<1024x512xf16>
}

func.func @d32_bf(%a: tensor<1024x1024xbf16, #l7>, %b: tensor<1024x512xbf16>) -> tensor<1024x512xbf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 128x64, panels = 4, stages = 3, warps = 8>} : (tensor<1024x1024xbf16, #l7>, tensor<1024x512xbf16>) -> tensor<1024x512xbf16>
  return %0 : tensor<1024x512xbf16>
}

func.func @d32_wide(%a: tensor<1024x1024xf16, #l8>, %b: tensor<1024x4096xf16>) -> tensor<1024x4096xf16> {
  %0 = blocksparse.dsd %a, %b  : (tensor<1024x1024xf16, #l8>, tensor<1024x4096xf16>) -> tensor<1024x4096xf16>
  return %0 : tensor<1024x4096xf16>
}

func.func @d32_ta(%a: tensor<1024x512xf16, #l9>, %b: tensor<1024x512xf16>) -> tensor<512x512xf16> {
  %0 = blocksparse.dsd %a, %b {transpose_a} : (tensor<1024x512xf16, #l9>, tensor<1024x512xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}

func.func @d32_tb(%a: tensor<1024x512xf16, #l9>, %b: tensor<512x512xf16>) -> tensor<1024x512xf16> {
  %0 = blocksparse.dsd %a, %b {transpose_b, schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 128x64, panels = 4, stages = 3, warps = 8>} : (tensor<1024x512xf16, #l9>, tensor<512x512xf16>) -> tensor<1024x512xf16>
  return %0 : tensor<1024x512xf16>
}

func.func @d32_to(%a: tensor<1024x512xf16, #l9>, %b: tensor<512x512xf16>) -> tensor<512x1024xf16> {
  %0 = blocksparse.dsd %a, %b {transpose_out, schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 128x64, panels = 4, stages = 3, warps = 8>} : (tensor<1024x512xf16, #l9>, tensor<512x512xf16>) -> tensor<512x1024xf16>
  return %0 : tensor<512x1024xf16>
}

func.func @d32_all(%a: tensor<1024x512xf16, #l9>, %b: tensor<512x1024xf16>) -> tensor<512x512xf16> {
  %0 = blocksparse.dsd %a, %b {transpose_a, transpose_b, transpose_out} : (tensor<1024x512xf16, #l9>, tensor<512x1024xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}

func.func @d32_n64(%a: tensor<1024x1024xf16, #l7>, %b: tensor<1024x64xf16>) -> tensor<1024x64xf16> {
  %0 = blocksparse.dsd %a, %b  : (tensor<1024x1024xf16, #l7>, tensor<1024x64xf16>) -> tensor<1024x64xf16>
  return %0 : tensor<1024x64xf16>
}

func.func @d32_n192(%a: tensor<1024x1024xf16, #l7>, %b: tensor<1024x192xf16>) -> tensor<1024x192xf16> {
  %0 = blocksparse.dsd %a, %b  : (tensor<1024x1024xf16, #l7>, tensor<1024x192xf16>) -> tensor<1024x192xf16>
  return %0 : tensor<1024x192xf16>
}

func.func @d32_ragged(%a: tensor<1000x1024xf16, #l7>, %b: tensor<1024x320xf16>) -> tensor<1000x320xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 128x64, panels = 4, stages = 3, warps = 8>} : (tensor<1000x1024xf16, #l7>, tensor<1024x320xf16>) -> tensor<1000x320xf16>
  return %0 : tensor<1000x320xf16>
}

func.func @d32_sparse(%a: tensor<2048x2048xf16, #l10>, %b: tensor<2048x256xf16>) -> tensor<2048x256xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 128x64, panels = 3, stages = 3, warps = 8>} : (tensor<2048x2048xf16, #l10>, tensor<2048x256xf16>) -> tensor<2048x256xf16>
  return %0 : tensor<2048x256xf16>
}

func.func @d32_local(%a: tensor<2048x2048xf16, #l11>, %b: tensor<2048x256xf16>) -> tensor<2048x256xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.stream_wgmma, tile = 128x64, panels = 4, stages = 3, warps = 8>} : (tensor<2048x2048xf16, #l11>, tensor<2048x256xf16>) -> tensor<2048x256xf16>
  return %0 : tensor<2048x256xf16>
}

func.func @d32_heads(%a: tensor<2x3x1024x1024xf16, #l12>, %b: tensor<2x3x1024x64xf16>) -> tensor<2x3x1024x64xf16> {
  %0 = blocksparse.dsd %a, %b  : (tensor<2x3x1024x1024xf16, #l12>, tensor<2x3x1024x64xf16>) -> tensor<2x3x1024x64xf16>
  return %0 : tensor<2x3x1024x64xf16>
}

func.func @d64(%a: tensor<1024x1024xf16, #l13>, %b: tensor<1024x512xf16>) -> tensor<1024x512xf16> {
  %0 = blocksparse.dsd %a, %b  : (tensor<1024x1024xf16, #l13>, tensor<1024x512xf16>) -> tensor<1024x512xf16>
  return %0 : tensor<1024x512xf16>
}

func.func @d64_bf(%a: tensor<1024x1024xbf16, #l13>, %b: tensor<1024x512xbf16>) -> tensor<1024x512xbf16> {
  %0 = blocksparse.dsd %a, %b  : (tensor<1024x1024xbf16, #l13>, tensor<1024x512xbf16>) -> tensor<1024x512xbf16>
  return %0 : tensor<1024x512xbf16>
}

func.func @d64_wide(%a: tensor<1024x1024xf16, #l14>, %b: tensor<1024x4096xf16>) -> tensor<1024x4096xf16> {
  %0 = blocksparse.dsd %a, %b  : (tensor<1024x1024xf16, #l14>, tensor<1024x4096xf16>) -> tensor<1024x4096xf16>
  return %0 : tensor<1024x4096xf16>
}

func.func @d64_ta(%a: tensor<1024x512xf16, #l15>, %b: tensor<1024x512xf16>) -> tensor<512x512xf16> {
  %0 = blocksparse.dsd %a, %b {transpose_a} : (tensor<1024x512xf16, #l15>, tensor<1024x512xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}

func.func @d64_tb(%a: tensor<1024x512xf16, #l15>, %b: tensor<512x512xf16>) -> tensor<1024x512xf16> {
  %0 = blocksparse.dsd %a, %b {transpose_b} : (tensor<1024x512xf16, #l15>, tensor<512x512xf16>) -> tensor<1024x512xf16>
  return %0 : tensor<1024x512xf16>
}

func.func @d64_to(%a: tensor<1024x512xf16, #l15>, %b: tensor<512x512xf16>) -> tensor<512x1024xf16> {
  %0 = blocksparse.dsd %a, %b {transpose_out} : (tensor<1024x512xf16, #l15>, tensor<512x512xf16>) -> tensor<512x1024xf16>
  return %0 : tensor<512x1024xf16>
}

func.func @d64_all(%a: tensor<1024x512xf16, #l15>, %b: tensor<512x1024xf16>) -> tensor<512x512xf16> {
  %0 = blocksparse.dsd %a, %b {transpose_a, transpose_b, transpose_out} : (tensor<1024x512xf16, #l15>, tensor<512x1024xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}

func.func @d64_n64(%a: tensor<1024x1024xf16, #l13>, %b: tensor<1024x64xf16>) -> tensor<1024x64xf16> {
  %0 = blocksparse.dsd %a, %b  : (tensor<1024x1024xf16, #l13>, tensor<1024x64xf16>) -> tensor<1024x64xf16>
  return %0 : tensor<1024x64xf16>
}

func.func @d64_n192(%a: tensor<1024x1024xf16, #l13>, %b: tensor<1024x192xf16>) -> tensor<1024x192xf16> {
  %0 = blocksparse.dsd %a, %b  : (tensor<1024x1024xf16, #l13>, tensor<1024x192xf16>) -> tensor<1024x192xf16>
  return %0 : tensor<1024x192xf16>
}

func.func @d64_ragged(%a: tensor<1000x1024xf16, #l13>, %b: tensor<1024x320xf16>) -> tensor<1000x320xf16> {
  %0 = blocksparse.dsd %a, %b  : (tensor<1000x1024xf16, #l13>, tensor<1024x320xf16>) -> tensor<1000x320xf16>
  return %0 : tensor<1000x320xf16>
}

func.func @d64_sparse(%a: tensor<2048x2048xf16, #l16>, %b: tensor<2048x256xf16>) -> tensor<2048x256xf16> {
  %0 = blocksparse.dsd %a, %b  : (tensor<2048x2048xf16, #l16>, tensor<2048x256xf16>) -> tensor<2048x256xf16>
  return %0 : tensor<2048x256xf16>
}

func.func @d64_local(%a: tensor<2048x2048xf16, #l17>, %b: tensor<2048x256xf16>) -> tensor<2048x256xf16> {
  %0 = blocksparse.dsd %a, %b  : (tensor<2048x2048xf16, #l17>, tensor<2048x256xf16>) -> tensor<2048x256xf16>
  return %0 : tensor<2048x256xf16>
}

func.func @d64_heads(%a: tensor<2x3x1024x1024xf16, #l18>, %b: tensor<2x3x1024x64xf16>) -> tensor<2x3x1024x64xf16> {
  %0 = blocksparse.dsd %a, %b  : (tensor<2x3x1024x1024xf16, #l18>, tensor<2x3x1024x64xf16>) -> tensor<2x3x1024x64xf16>
  return %0 : tensor<2x3x1024x64xf16>
}

func.func @d128(%a: tensor<1024x1024xf16, #l19>, %b: tensor<1024x512xf16>) -> tensor<1024x512xf16> {
  %0 = blocksparse.dsd %a, %b  : (tensor<1024x1024xf16, #l19>, tensor<1024x512xf16>) -> tensor<1024x512xf16>
  return %0 : tensor<1024x512xf16>
}

func.func @d128_bf(%a: tensor<1024x1024xbf16, #l19>, %b: tensor<1024x512xbf16>) -> tensor<1024x512xbf16> {
  %0 = blocksparse.dsd %a, %b  : (tensor<1024x1024xbf16, #l19>, tensor<1024x512xbf16>) -> tensor<1024x512xbf16>
  return %0 : tensor<1024x512xbf16>
}

func.func @d128_wide(%a: tensor<1024x1024xf16, #l20>, %b: tensor<1024x4096xf16>) -> tensor<1024x4096xf16> {
  %0 = blocksparse.dsd %a, %b  : (tensor<1024x1024xf16, #l20>, tensor<1024x4096xf16>) -> tensor<1024x4096xf16>
  return %0 : tensor<1024x4096xf16>
}

func.func @d128_ta(%a: tensor<1024x512xf16, #l21>, %b: tensor<1024x512xf16>) -> tensor<512x512xf16> {
  %0 = blocksparse.dsd %a, %b {transpose_a} : (tensor<1024x512xf16, #l21>, tensor<1024x512xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}

func.func @d128_tb(%a: tensor<1024x512xf16, #l21>, %b: tensor<512x512xf16>) -> tensor<1024x512xf16> {
  %0 = blocksparse.dsd %a, %b {transpose_b} : (tensor<1024x512xf16, #l21>, tensor<512x512xf16>) -> tensor<1024x512xf16>
  return %0 : tensor<1024x512xf16>
}

func.func @d128_to(%a: tensor<1024x512xf16, #l21>, %b: tensor<512x512xf16>) -> tensor<512x1024xf16> {
  %0 = blocksparse.dsd %a, %b {transpose_out} : (tensor<1024x512xf16, #l21>, tensor<512x512xf16>) -> tensor<512x1024xf16>
  return %0 : tensor<512x1024xf16>
}

func.func @d128_all(%a: tensor<1024x512xf16, #l21>, %b: tensor<512x1024xf16>) -> tensor<512x512xf16> {
  %0 = blocksparse.dsd %a, %b {transpose_a, transpose_b, transpose_out} : (tensor<1024x512xf16, #l21>, tensor<512x1024xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}

func.func @d128_n64(%a: tensor<1024x1024xf16, #l19>, %b: tensor<1024x64xf16>) -> tensor<1024x64xf16> {
  %0 = blocksparse.dsd %a, %b  : (tensor<1024x1024xf16, #l19>, tensor<1024x64xf16>) -> tensor<1024x64xf16>
  return %0 : tensor<1024x64xf16>
}

func.func @d128_n192(%a: tensor<1024x1024xf16, #l19>, %b: tensor<1024x192xf16>) -> tensor<1024x192xf16> {
  %0 = blocksparse.dsd %a, %b  : (tensor<1024x1024xf16, #l19>, tensor<1024x192xf16>) -> tensor<1024x192xf16>
  return %0 : tensor<1024x192xf16>
}

func.func @d128_ragged(%a: tensor<1000x1024xf16, #l19>, %b: tensor<1024x320xf16>) -> tensor<1000x320xf16> {
  %0 = blocksparse.dsd %a, %b  : (tensor<1000x1024xf16, #l19>, tensor<1024x320xf16>) -> tensor<1000x320xf16>
  return %0 : tensor<1000x320xf16>
}

func.func @d128_sparse(%a: tensor<2048x2048xf16, #l22>, %b: tensor<2048x256xf16>) -> tensor<2048x256xf16> {
  %0 = blocksparse.dsd %a, %b  : (tensor<2048x2048xf16, #l22>, tensor<2048x256xf16>) -> tensor<2048x256xf16>
  return %0 : tensor<2048x256xf16>
}

func.func @d128_local(%a: tensor<2048x2048xf16, #l23>, %b: tensor<2048x256xf16>) -> tensor<2048x256xf16> {
  %0 = blocksparse.dsd %a, %b  : (tensor<2048x2048xf16, #l23>, tensor<2048x256xf16>) -> tensor<2048x256xf16>
  return %0 : tensor<2048x256xf16>
}

func.func @d128_heads(%a: tensor<2x3x1024x1024xf16, #l24>, %b: tensor<2x3x1024x64xf16>) -> tensor<2x3x1024x64xf16> {
  %0 = blocksparse.dsd %a, %b  : (tensor<2x3x1024x1024xf16, #l24>, tensor<2x3x1024x64xf16>) -> tensor<2x3x1024x64xf16>
  return %0 : tensor<2x3x1024x64xf16>
}

func.func @d256(%a: tensor<1024x1024xf16, #l25>, %b: tensor<1024x512xf16>) -> tensor<1024x512xf16> {
  %0 = blocksparse.dsd %a, %b  : (tensor<1024x1024xf16, #l25>, tensor<1024x512xf16>) -> tensor<1024x512xf16>
  return %0 : tensor<1024x512xf16>
}

func.func @d256_ta(%a: tensor<1024x512xf16, #l26>, %b: tensor<1024x512xf16>) -> tensor<512x512xf16> {
  %0 = blocksparse.dsd %a, %b {transpose_a} : (tensor<1024x512xf16, #l26>, tensor<1024x512xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}

func.func @d256_tb(%a: tensor<1024x512xf16, #l26>, %b: tensor<512x512xf16>) -> tensor<1024x512xf16> {
  %0 = blocksparse.dsd %a, %b {transpose_b} : (tensor<1024x512xf16, #l26>, tensor<512x512xf16>) -> tensor<1024x512xf16>
  return %0 : tensor<1024x512xf16>
}

func.func @d256_to(%a: tensor<1024x512xf16, #l26>, %b: tensor<512x512xf16>) -> tensor<512x1024xf16> {
  %0 = blocksparse.dsd %a, %b {transpose_out} : (tensor<1024x512xf16, #l26>, tensor<512x512xf16>) -> tensor<512x1024xf16>
  return %0 : tensor<512x1024xf16>
}

func.func @d256_all(%a: tensor<1024x512xf16, #l26>, %b: tensor<512x1024xf16>) -> tensor<512x512xf16> {
  %0 = blocksparse.dsd %a, %b {transpose_a, transpose_b, transpose_out} : (tensor<1024x512xf16, #l26>, tensor<512x1024xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}

func.func @d256_n192(%a: tensor<1024x1024xf16, #l25>, %b: tensor<1024x192xf16>) -> tensor<1024x192xf16> {
  %0 = blocksparse.dsd %a, %b  : (tensor<1024x1024xf16, #l25>, tensor<1024x192xf16>) -> tensor<1024x192xf16>
  return %0 : tensor<1024x192xf16>
}

func.func @d256_ragged(%a: tensor<1000x1024xf16, #l25>, %b: tensor<1024x320xf16>) -> tensor<1000x320xf16> {
  %0 = blocksparse.dsd %a, %b  : (tensor<1000x1024xf16, #l25>, tensor<1024x320xf16>) -> tensor<1000x320xf16>
  return %0 : tensor<1000x320xf16>
}

func.func @d256_sparse(%a: tensor<2048x2048xf16, #l27>, %b: tensor<2048x256xf16>) -> tensor<2048x256xf16> {
  %0 = blocksparse.dsd %a, %b  : (tensor<2048x2048xf16, #l27>, tensor<2048x256xf16>) -> tensor<2048x256xf16>
  return %0 : tensor<2048x256xf16>
}

func.func @d256_heads(%a: tensor<2x3x1024x1024xf16, #l28>, %b: tensor<2x3x1024x64xf16>) -> tensor<2x3x1024x64xf16> {
  %0 = blocksparse.dsd %a, %b  : (tensor<2x3x1024x1024xf16, #l28>, tensor<2x3x1024x64xf16>) -> tensor<2x3x1024x64xf16>
  return %0 : tensor<2x3x1024x64xf16>
}
