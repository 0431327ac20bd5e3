// Tiles of 512 columns, which clusters of two thread blocks share on Hopper: each copies half of the values
// to both. Every transpose, block rows with gaps and without a block, batches and heads, epilogues.
// TARGET: cuda:sm_90a
// REQUIRES: gpu || simulator
// RUN: %if gpu %{ blocksparse-run %s --all-functions --check --repeat-check --device=cuda %}
// RUN: %if simulator %{ blocksparse-run %s --function=d64,d64_empty_rows,d128_ta,d256_to,odd_rows,addmm64 --check --device=simulated --target=cuda:sm_90a %}

#shared = #blocksparse.schedule<cuda.wgmma, tile = 128x256, stages = 4, cluster = 2>
#two = #blocksparse.schedule<cuda.wgmma, tile = 128x256, stages = 2, cluster = 2>
#l0 = #blocksparse.layout<64x64, grid 16x16, random_balanced(density = 0.3, seed = 3)>
#l1 = #blocksparse.layout<64x64, grid 16x8, random_balanced(density = 0.3, seed = 3)>
#l2 = #blocksparse.layout<64x64, grid 64x32, random(density = 0.02, seed = 5)>
#l3 = #blocksparse.layout<64x64, grid 32x32, local_sliding_window(num_sliding_window_blocks = 3)>
#l4 = #blocksparse.layout<64x64, grid 64x8, random_balanced(density = 0.5, seed = 3)>
#l5 = #blocksparse.layout<64x64, grid 8x16, random_balanced(density = 0.3, seed = 3)>
#l6 = #blocksparse.layout<128x128, grid 8x8, random_balanced(density = 0.3, seed = 3)>
#l7 = #blocksparse.layout<128x128, grid 8x4, random_balanced(density = 0.3, seed = 3)>
#l8 = #blocksparse.layout<128x128, grid 32x16, random(density = 0.02, seed = 5)>
#l9 = #blocksparse.layout<128x128, grid 16x16, local_sliding_window(num_sliding_window_blocks = 3)>
#l10 = #blocksparse.layout<128x128, grid 32x4, random_balanced(density = 0.5, seed = 3)>
#l11 = #blocksparse.layout<128x128, grid 4x8, random_balanced(density = 0.3, seed = 3)>
#l12 = #blocksparse.layout<256x256, grid 4x4, random_balanced(density = 0.3, seed = 3)>
#l13 = #blocksparse.layout<256x256, grid 4x2, random_balanced(density = 0.3, seed = 3)>
#l14 = #blocksparse.layout<256x256, grid 8x8, random(density = 0.02, seed = 5)>
#l15 = #blocksparse.layout<256x256, grid 8x8, local_sliding_window(num_sliding_window_blocks = 3)>
#l16 = #blocksparse.layout<256x256, grid 16x2, random_balanced(density = 0.5, seed = 3)>
#l17 = #blocksparse.layout<256x256, grid 2x4, random_balanced(density = 0.3, seed = 3)>
#l18 = #blocksparse.layout<64x64, grid 15x16, random_balanced(density = 0.3, seed = 3)>
#l19 = #blocksparse.layout<192x64, grid 10x16, random_balanced(density = 0.3, seed = 3)>
#l20 = #blocksparse.layout<64x128, grid 16x8, random_balanced(density = 0.3, seed = 3)>
#l21 = #blocksparse.layout<64x64, grid 1x8, random_balanced(density = 0.5, seed = 3)>
#l22 = #blocksparse.layout<64x64, grid 3x8x8, random(density = 0.3, seed = 7)>

func.func @d64(%a: tensor<1024x1024xf16, #l0>, %b: tensor<1024x1024xf16>) -> tensor<1024x1024xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #shared} : (tensor<1024x1024xf16, #l0>, tensor<1024x1024xf16>) -> tensor<1024x1024xf16>
  return %0 : tensor<1024x1024xf16>
}

func.func @d64_bf(%a: tensor<1024x1024xbf16, #l0>, %b: tensor<1024x512xbf16>) -> tensor<1024x512xbf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #shared} : (tensor<1024x1024xbf16, #l0>, tensor<1024x512xbf16>) -> tensor<1024x512xbf16>
  return %0 : tensor<1024x512xbf16>
}

func.func @d64_ta(%a: tensor<1024x512xf16, #l1>, %b: tensor<1024x512xf16>) -> tensor<512x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #shared, transpose_a} : (tensor<1024x512xf16, #l1>, tensor<1024x512xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}

func.func @d64_tb(%a: tensor<1024x512xf16, #l1>, %b: tensor<1024x512xf16>) -> tensor<1024x1024xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #shared, transpose_b} : (tensor<1024x512xf16, #l1>, tensor<1024x512xf16>) -> tensor<1024x1024xf16>
  return %0 : tensor<1024x1024xf16>
}

func.func @d64_to(%a: tensor<1024x512xf16, #l1>, %b: tensor<512x1024xf16>) -> tensor<1024x1024xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #shared, transpose_out} : (tensor<1024x512xf16, #l1>, tensor<512x1024xf16>) -> tensor<1024x1024xf16>
  return %0 : tensor<1024x1024xf16>
}

func.func @d64_all(%a: tensor<1024x512xf16, #l1>, %b: tensor<512x1024xf16>) -> tensor<512x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #shared, transpose_a, transpose_b, transpose_out} : (tensor<1024x512xf16, #l1>, tensor<512x1024xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}

func.func @d64_empty_rows(%a: tensor<4096x2048xf16, #l2>, %b: tensor<2048x512xf16>) -> tensor<4096x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #shared} : (tensor<4096x2048xf16, #l2>, tensor<2048x512xf16>) -> tensor<4096x512xf16>
  return %0 : tensor<4096x512xf16>
}

func.func @d64_band(%a: tensor<2048x2048xf16, #l3>, %b: tensor<2048x512xf16>) -> tensor<2048x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #shared} : (tensor<2048x2048xf16, #l3>, tensor<2048x512xf16>) -> tensor<2048x512xf16>
  return %0 : tensor<2048x512xf16>
}

func.func @d64_many_tiles(%a: tensor<4096x512xf16, #l4>, %b: tensor<512x8192xf16>) -> tensor<4096x8192xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #shared} : (tensor<4096x512xf16, #l4>, tensor<512x8192xf16>) -> tensor<4096x8192xf16>
  return %0 : tensor<4096x8192xf16>
}

func.func @d64_two_stages(%a: tensor<512x1024xf16, #l5>, %b: tensor<1024x512xf16>) -> tensor<512x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #two} : (tensor<512x1024xf16, #l5>, tensor<1024x512xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}

func.func @d128(%a: tensor<1024x1024xf16, #l6>, %b: tensor<1024x1024xf16>) -> tensor<1024x1024xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #shared} : (tensor<1024x1024xf16, #l6>, tensor<1024x1024xf16>) -> tensor<1024x1024xf16>
  return %0 : tensor<1024x1024xf16>
}

func.func @d128_bf(%a: tensor<1024x1024xbf16, #l6>, %b: tensor<1024x512xbf16>) -> tensor<1024x512xbf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #shared} : (tensor<1024x1024xbf16, #l6>, tensor<1024x512xbf16>) -> tensor<1024x512xbf16>
  return %0 : tensor<1024x512xbf16>
}

func.func @d128_ta(%a: tensor<1024x512xf16, #l7>, %b: tensor<1024x512xf16>) -> tensor<512x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #shared, transpose_a} : (tensor<1024x512xf16, #l7>, tensor<1024x512xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}

func.func @d128_tb(%a: tensor<1024x512xf16, #l7>, %b: tensor<1024x512xf16>) -> tensor<1024x1024xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #shared, transpose_b} : (tensor<1024x512xf16, #l7>, tensor<1024x512xf16>) -> tensor<1024x1024xf16>
  return %0 : tensor<1024x1024xf16>
}

func.func @d128_to(%a: tensor<1024x512xf16, #l7>, %b: tensor<512x1024xf16>) -> tensor<1024x1024xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #shared, transpose_out} : (tensor<1024x512xf16, #l7>, tensor<512x1024xf16>) -> tensor<1024x1024xf16>
  return %0 : tensor<1024x1024xf16>
}

func.func @d128_all(%a: tensor<1024x512xf16, #l7>, %b: tensor<512x1024xf16>) -> tensor<512x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #shared, transpose_a, transpose_b, transpose_out} : (tensor<1024x512xf16, #l7>, tensor<512x1024xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}

func.func @d128_empty_rows(%a: tensor<4096x2048xf16, #l8>, %b: tensor<2048x512xf16>) -> tensor<4096x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #shared} : (tensor<4096x2048xf16, #l8>, tensor<2048x512xf16>) -> tensor<4096x512xf16>
  return %0 : tensor<4096x512xf16>
}

func.func @d128_band(%a: tensor<2048x2048xf16, #l9>, %b: tensor<2048x512xf16>) -> tensor<2048x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #shared} : (tensor<2048x2048xf16, #l9>, tensor<2048x512xf16>) -> tensor<2048x512xf16>
  return %0 : tensor<2048x512xf16>
}

func.func @d128_many_tiles(%a: tensor<4096x512xf16, #l10>, %b: tensor<512x8192xf16>) -> tensor<4096x8192xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #shared} : (tensor<4096x512xf16, #l10>, tensor<512x8192xf16>) -> tensor<4096x8192xf16>
  return %0 : tensor<4096x8192xf16>
}

func.func @d128_two_stages(%a: tensor<512x1024xf16, #l11>, %b: tensor<1024x512xf16>) -> tensor<512x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #two} : (tensor<512x1024xf16, #l11>, tensor<1024x512xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}

func.func @d256(%a: tensor<1024x1024xf16, #l12>, %b: tensor<1024x1024xf16>) -> tensor<1024x1024xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #shared} : (tensor<1024x1024xf16, #l12>, tensor<1024x1024xf16>) -> tensor<1024x1024xf16>
  return %0 : tensor<1024x1024xf16>
}

func.func @d256_bf(%a: tensor<1024x1024xbf16, #l12>, %b: tensor<1024x512xbf16>) -> tensor<1024x512xbf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #shared} : (tensor<1024x1024xbf16, #l12>, tensor<1024x512xbf16>) -> tensor<1024x512xbf16>
  return %0 : tensor<1024x512xbf16>
}

func.func @d256_ta(%a: tensor<1024x512xf16, #l13>, %b: tensor<1024x512xf16>) -> tensor<512x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #shared, transpose_a} : (tensor<1024x512xf16, #l13>, tensor<1024x512xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}

func.func @d256_tb(%a: tensor<1024x512xf16, #l13>, %b: tensor<1024x512xf16>) -> tensor<1024x1024xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #shared, transpose_b} : (tensor<1024x512xf16, #l13>, tensor<1024x512xf16>) -> tensor<1024x1024xf16>
  return %0 : tensor<1024x1024xf16>
}

func.func @d256_to(%a: tensor<1024x512xf16, #l13>, %b: tensor<512x1024xf16>) -> tensor<1024x1024xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #shared, transpose_out} : (tensor<1024x512xf16, #l13>, tensor<512x1024xf16>) -> tensor<1024x1024xf16>
  return %0 : tensor<1024x1024xf16>
}

func.func @d256_all(%a: tensor<1024x512xf16, #l13>, %b: tensor<512x1024xf16>) -> tensor<512x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #shared, transpose_a, transpose_b, transpose_out} : (tensor<1024x512xf16, #l13>, tensor<512x1024xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}

func.func @d256_empty_rows(%a: tensor<2048x2048xf16, #l14>, %b: tensor<2048x512xf16>) -> tensor<2048x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #shared} : (tensor<2048x2048xf16, #l14>, tensor<2048x512xf16>) -> tensor<2048x512xf16>
  return %0 : tensor<2048x512xf16>
}

func.func @d256_band(%a: tensor<2048x2048xf16, #l15>, %b: tensor<2048x512xf16>) -> tensor<2048x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #shared} : (tensor<2048x2048xf16, #l15>, tensor<2048x512xf16>) -> tensor<2048x512xf16>
  return %0 : tensor<2048x512xf16>
}

func.func @d256_many_tiles(%a: tensor<4096x512xf16, #l16>, %b: tensor<512x8192xf16>) -> tensor<4096x8192xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #shared} : (tensor<4096x512xf16, #l16>, tensor<512x8192xf16>) -> tensor<4096x8192xf16>
  return %0 : tensor<4096x8192xf16>
}

func.func @d256_two_stages(%a: tensor<512x1024xf16, #l17>, %b: tensor<1024x512xf16>) -> tensor<512x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #two} : (tensor<512x1024xf16, #l17>, tensor<1024x512xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}

func.func @odd_rows(%a: tensor<960x1024xf16, #l18>, %b: tensor<1024x512xf16>) -> tensor<960x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #shared} : (tensor<960x1024xf16, #l18>, tensor<1024x512xf16>) -> tensor<960x512xf16>
  return %0 : tensor<960x512xf16>
}

func.func @tall(%a: tensor<1920x1024xf16, #l19>, %b: tensor<1024x512xf16>) -> tensor<1920x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #shared} : (tensor<1920x1024xf16, #l19>, tensor<1024x512xf16>) -> tensor<1920x512xf16>
  return %0 : tensor<1920x512xf16>
}

func.func @wide(%a: tensor<1024x1024xf16, #l20>, %b: tensor<1024x512xf16>) -> tensor<1024x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #shared} : (tensor<1024x1024xf16, #l20>, tensor<1024x512xf16>) -> tensor<1024x512xf16>
  return %0 : tensor<1024x512xf16>
}

func.func @one_tile(%a: tensor<64x512xf16, #l21>, %b: tensor<512x512xf16>) -> tensor<64x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #shared} : (tensor<64x512xf16, #l21>, tensor<512x512xf16>) -> tensor<64x512xf16>
  return %0 : tensor<64x512xf16>
}

func.func @heads(%a: tensor<3x512x512xf16, #l22>, %b: tensor<3x512x1024xf16>) -> tensor<3x512x1024xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #shared} : (tensor<3x512x512xf16, #l22>, tensor<3x512x1024xf16>) -> tensor<3x512x1024xf16>
  return %0 : tensor<3x512x1024xf16>
}

func.func @dds64(%a: tensor<1024x1024xf16>, %b: tensor<1024x1024xf16, #l0>) -> tensor<1024x1024xf16> {
  %0 = blocksparse.dds %a, %b {schedule = #shared} : (tensor<1024x1024xf16>, tensor<1024x1024xf16, #l0>) -> tensor<1024x1024xf16>
  return %0 : tensor<1024x1024xf16>
}

func.func @addmm64(%a: tensor<1024x1024xf16, #l0>, %b: tensor<1024x1024xf16>, %c: tensor<1024x1024xf16>) -> tensor<1024x1024xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%c) {schedule = #shared, alpha = 0.5 : f64, beta = 2.0 : f64}
      : (tensor<1024x1024xf16, #l0>, tensor<1024x1024xf16>, tensor<1024x1024xf16>) -> tensor<1024x1024xf16>
  return %0 : tensor<1024x1024xf16>
}

func.func @dds128(%a: tensor<1024x1024xf16>, %b: tensor<1024x1024xf16, #l6>) -> tensor<1024x1024xf16> {
  %0 = blocksparse.dds %a, %b {schedule = #shared} : (tensor<1024x1024xf16>, tensor<1024x1024xf16, #l6>) -> tensor<1024x1024xf16>
  return %0 : tensor<1024x1024xf16>
}

func.func @addmm128(%a: tensor<1024x1024xf16, #l6>, %b: tensor<1024x1024xf16>, %c: tensor<1024x1024xf16>) -> tensor<1024x1024xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%c) {schedule = #shared, alpha = 0.5 : f64, beta = 2.0 : f64}
      : (tensor<1024x1024xf16, #l6>, tensor<1024x1024xf16>, tensor<1024x1024xf16>) -> tensor<1024x1024xf16>
  return %0 : tensor<1024x1024xf16>
}
