// Products at the blocks of a pattern of 16 and 32 rows and columns on Hopper's tensor cores: tiles
// of 128 x 256 that store their blocks alone. With B transposed block columns are gathered, with
// neither the transpose is computed and block rows are, with A alone chunks of 64 columns are taken.
// TARGET: cuda:sm_90a
// REQUIRES: gpu || simulator
// RUN: %if gpu %{ blocksparse-run %s --all-functions --check --repeat-check --device=cuda %}
// RUN: %if simulator %{ blocksparse-run %s --function=b16_nn_f16,b32_nt_f16,b16_tt_f16,rect_16x64,b16_single,b16_causal,b32_dense,rect_32x64_swapped,b32_shared_heads_swapped --check --device=simulated --target=cuda:sm_90a %}

#l0 = #blocksparse.layout<16x16, grid 63x17, random(density = 0.25, seed = 1)>
#l1 = #blocksparse.layout<16x16, grid 17x63, random(density = 0.1, seed = 5)>
#l2 = #blocksparse.layout<32x32, grid 33x11, random(density = 0.25, seed = 9)>
#l3 = #blocksparse.layout<32x32, grid 9x31, random(density = 0.5, seed = 13)>
#l4 = #blocksparse.layout<16x16, grid 63x17, random(density = 0.25, seed = 2)>
#l5 = #blocksparse.layout<16x16, grid 17x63, random(density = 0.1, seed = 6)>
#l6 = #blocksparse.layout<32x32, grid 33x11, random(density = 0.25, seed = 10)>
#l7 = #blocksparse.layout<32x32, grid 9x31, random(density = 0.5, seed = 14)>
#l8 = #blocksparse.layout<16x16, grid 63x17, random(density = 0.25, seed = 3)>
#l9 = #blocksparse.layout<16x16, grid 17x63, random(density = 0.1, seed = 7)>
#l10 = #blocksparse.layout<32x32, grid 33x11, random(density = 0.25, seed = 11)>
#l11 = #blocksparse.layout<32x32, grid 9x31, random(density = 0.5, seed = 15)>
#l12 = #blocksparse.layout<16x16, grid 63x17, random(density = 0.25, seed = 4)>
#l13 = #blocksparse.layout<16x16, grid 17x63, random(density = 0.1, seed = 8)>
#l14 = #blocksparse.layout<32x32, grid 33x11, random(density = 0.25, seed = 12)>
#l15 = #blocksparse.layout<32x32, grid 9x31, random(density = 0.5, seed = 16)>
#l16 = #blocksparse.layout<16x32, grid 64x18, random(density = 0.3, seed = 48)>
#l17 = #blocksparse.layout<32x16, grid 32x37, random(density = 0.3, seed = 48)>
#l18 = #blocksparse.layout<16x64, grid 64x9, random(density = 0.3, seed = 80)>
#l19 = #blocksparse.layout<64x16, grid 16x37, random(density = 0.3, seed = 80)>
#l20 = #blocksparse.layout<32x64, grid 32x9, random(density = 0.3, seed = 96)>
#l21 = #blocksparse.layout<64x32, grid 16x18, random(density = 0.3, seed = 96)>
#l22 = #blocksparse.layout<16x16, grid 40x40, random(density = 0.2, seed = 16)>
#l23 = #blocksparse.layout<16x16, grid 64x64, banded(lower = 0, upper = 0)>
#l24 = #blocksparse.layout<16x16, grid 1x1, dense>
#l25 = #blocksparse.layout<16x16, grid 32x32, dense>
#l26 = #blocksparse.layout<16x16, grid 128x128, banded(lower = 160, upper = 160)>
#l27 = #blocksparse.layout<16x16, grid 64x64, local_window(left = 3, right = 1)>
#l28 = #blocksparse.layout<16x16, grid 3x64x64, bigbird(num_random_blocks = 2, num_sliding_window_blocks = 3, num_global_blocks = 1, seed = 7)>
#l29 = #blocksparse.layout<16x16, grid 63x31, random(density = 0.15, seed = 17)>
#l30 = #blocksparse.layout<16x16, grid 64x64, causal>
#l31 = #blocksparse.layout<16x16, grid 256x256, random(density = 0.1, seed = 18)>
#l32 = #blocksparse.layout<16x16, grid 20x24, random(density = 0.3, seed = 19)>
#l33 = #blocksparse.layout<32x32, grid 40x40, random(density = 0.2, seed = 32)>
#l34 = #blocksparse.layout<32x32, grid 64x64, banded(lower = 0, upper = 0)>
#l35 = #blocksparse.layout<32x32, grid 1x1, dense>
#l36 = #blocksparse.layout<32x32, grid 16x16, dense>
#l37 = #blocksparse.layout<32x32, grid 64x64, banded(lower = 160, upper = 160)>
#l38 = #blocksparse.layout<32x32, grid 32x32, local_window(left = 3, right = 1)>
#l39 = #blocksparse.layout<32x32, grid 3x32x32, bigbird(num_random_blocks = 2, num_sliding_window_blocks = 3, num_global_blocks = 1, seed = 7)>
#l40 = #blocksparse.layout<32x32, grid 31x15, random(density = 0.15, seed = 33)>
#l41 = #blocksparse.layout<32x32, grid 32x32, causal>
#l42 = #blocksparse.layout<32x32, grid 128x128, random(density = 0.1, seed = 34)>
#l43 = #blocksparse.layout<32x32, grid 20x24, random(density = 0.3, seed = 35)>

func.func @b16_nn_f16(%a: tensor<1008x72xf16>, %b: tensor<72x272xf16>) -> tensor<1008x272xf16, #l0> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>}
      : (tensor<1008x72xf16>, tensor<72x272xf16>) -> tensor<1008x272xf16, #l0>
  return %0 : tensor<1008x272xf16, #l0>
}

func.func @b16_nn_bf16(%a: tensor<272x136xbf16>, %b: tensor<136x1008xbf16>) -> tensor<272x1008xbf16, #l1> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>, alpha = 0.5 : f64}
      : (tensor<272x136xbf16>, tensor<136x1008xbf16>) -> tensor<272x1008xbf16, #l1>
  return %0 : tensor<272x1008xbf16, #l1>
}

func.func @b32_nn_f16(%a: tensor<1056x200xf16>, %b: tensor<200x352xf16>) -> tensor<1056x352xf16, #l2> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>, alpha = -1.5 : f64}
      : (tensor<1056x200xf16>, tensor<200x352xf16>) -> tensor<1056x352xf16, #l2>
  return %0 : tensor<1056x352xf16, #l2>
}

func.func @b32_nn_bf16(%a: tensor<288x64xbf16>, %b: tensor<64x992xbf16>) -> tensor<288x992xbf16, #l3> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>}
      : (tensor<288x64xbf16>, tensor<64x992xbf16>) -> tensor<288x992xbf16, #l3>
  return %0 : tensor<288x992xbf16, #l3>
}

func.func @b16_nt_f16(%a: tensor<1008x72xf16>, %b: tensor<272x72xf16>) -> tensor<1008x272xf16, #l4> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>, transpose_b}
      : (tensor<1008x72xf16>, tensor<272x72xf16>) -> tensor<1008x272xf16, #l4>
  return %0 : tensor<1008x272xf16, #l4>
}

func.func @b16_nt_bf16(%a: tensor<272x136xbf16>, %b: tensor<1008x136xbf16>) -> tensor<272x1008xbf16, #l5> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>, transpose_b, alpha = 0.5 : f64}
      : (tensor<272x136xbf16>, tensor<1008x136xbf16>) -> tensor<272x1008xbf16, #l5>
  return %0 : tensor<272x1008xbf16, #l5>
}

func.func @b32_nt_f16(%a: tensor<1056x200xf16>, %b: tensor<352x200xf16>) -> tensor<1056x352xf16, #l6> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>, transpose_b, alpha = -1.5 : f64}
      : (tensor<1056x200xf16>, tensor<352x200xf16>) -> tensor<1056x352xf16, #l6>
  return %0 : tensor<1056x352xf16, #l6>
}

func.func @b32_nt_bf16(%a: tensor<288x64xbf16>, %b: tensor<992x64xbf16>) -> tensor<288x992xbf16, #l7> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>, transpose_b}
      : (tensor<288x64xbf16>, tensor<992x64xbf16>) -> tensor<288x992xbf16, #l7>
  return %0 : tensor<288x992xbf16, #l7>
}

func.func @b16_tn_f16(%a: tensor<72x1008xf16>, %b: tensor<72x272xf16>) -> tensor<1008x272xf16, #l8> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>, transpose_a}
      : (tensor<72x1008xf16>, tensor<72x272xf16>) -> tensor<1008x272xf16, #l8>
  return %0 : tensor<1008x272xf16, #l8>
}

func.func @b16_tn_bf16(%a: tensor<136x272xbf16>, %b: tensor<136x1008xbf16>) -> tensor<272x1008xbf16, #l9> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>, transpose_a, alpha = 0.5 : f64}
      : (tensor<136x272xbf16>, tensor<136x1008xbf16>) -> tensor<272x1008xbf16, #l9>
  return %0 : tensor<272x1008xbf16, #l9>
}

func.func @b32_tn_f16(%a: tensor<200x1056xf16>, %b: tensor<200x352xf16>) -> tensor<1056x352xf16, #l10> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>, transpose_a, alpha = -1.5 : f64}
      : (tensor<200x1056xf16>, tensor<200x352xf16>) -> tensor<1056x352xf16, #l10>
  return %0 : tensor<1056x352xf16, #l10>
}

func.func @b32_tn_bf16(%a: tensor<64x288xbf16>, %b: tensor<64x992xbf16>) -> tensor<288x992xbf16, #l11> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>, transpose_a}
      : (tensor<64x288xbf16>, tensor<64x992xbf16>) -> tensor<288x992xbf16, #l11>
  return %0 : tensor<288x992xbf16, #l11>
}

func.func @b16_tt_f16(%a: tensor<72x1008xf16>, %b: tensor<272x72xf16>) -> tensor<1008x272xf16, #l12> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>, transpose_a, transpose_b}
      : (tensor<72x1008xf16>, tensor<272x72xf16>) -> tensor<1008x272xf16, #l12>
  return %0 : tensor<1008x272xf16, #l12>
}

func.func @b16_tt_bf16(%a: tensor<136x272xbf16>, %b: tensor<1008x136xbf16>) -> tensor<272x1008xbf16, #l13> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>, transpose_a, transpose_b, alpha = 0.5 : f64}
      : (tensor<136x272xbf16>, tensor<1008x136xbf16>) -> tensor<272x1008xbf16, #l13>
  return %0 : tensor<272x1008xbf16, #l13>
}

func.func @b32_tt_f16(%a: tensor<200x1056xf16>, %b: tensor<352x200xf16>) -> tensor<1056x352xf16, #l14> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>, transpose_a, transpose_b, alpha = -1.5 : f64}
      : (tensor<200x1056xf16>, tensor<352x200xf16>) -> tensor<1056x352xf16, #l14>
  return %0 : tensor<1056x352xf16, #l14>
}

func.func @b32_tt_bf16(%a: tensor<64x288xbf16>, %b: tensor<992x64xbf16>) -> tensor<288x992xbf16, #l15> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>, transpose_a, transpose_b}
      : (tensor<64x288xbf16>, tensor<992x64xbf16>) -> tensor<288x992xbf16, #l15>
  return %0 : tensor<288x992xbf16, #l15>
}

func.func @rect_16x32(%a: tensor<1024x96xf16>, %b: tensor<576x96xf16>) -> tensor<1024x576xf16, #l16> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>, transpose_b}
      : (tensor<1024x96xf16>, tensor<576x96xf16>) -> tensor<1024x576xf16, #l16>
  return %0 : tensor<1024x576xf16, #l16>
}

func.func @rect_32x16(%a: tensor<1024x96xf16>, %b: tensor<592x96xf16>) -> tensor<1024x592xf16, #l17> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>, transpose_b}
      : (tensor<1024x96xf16>, tensor<592x96xf16>) -> tensor<1024x592xf16, #l17>
  return %0 : tensor<1024x592xf16, #l17>
}

func.func @rect_16x64(%a: tensor<1024x96xf16>, %b: tensor<576x96xf16>) -> tensor<1024x576xf16, #l18> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>, transpose_b}
      : (tensor<1024x96xf16>, tensor<576x96xf16>) -> tensor<1024x576xf16, #l18>
  return %0 : tensor<1024x576xf16, #l18>
}

func.func @rect_64x16(%a: tensor<1024x96xf16>, %b: tensor<592x96xf16>) -> tensor<1024x592xf16, #l19> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>, transpose_b}
      : (tensor<1024x96xf16>, tensor<592x96xf16>) -> tensor<1024x592xf16, #l19>
  return %0 : tensor<1024x592xf16, #l19>
}

func.func @rect_32x64(%a: tensor<1024x96xf16>, %b: tensor<576x96xf16>) -> tensor<1024x576xf16, #l20> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>, transpose_b}
      : (tensor<1024x96xf16>, tensor<576x96xf16>) -> tensor<1024x576xf16, #l20>
  return %0 : tensor<1024x576xf16, #l20>
}

func.func @rect_64x32(%a: tensor<1024x96xf16>, %b: tensor<576x96xf16>) -> tensor<1024x576xf16, #l21> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>, transpose_b}
      : (tensor<1024x96xf16>, tensor<576x96xf16>) -> tensor<1024x576xf16, #l21>
  return %0 : tensor<1024x576xf16, #l21>
}

func.func @b16_short_k(%a: tensor<640x8xf16>, %b: tensor<8x640xf16>) -> tensor<640x640xf16, #l22> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>}
      : (tensor<640x8xf16>, tensor<8x640xf16>) -> tensor<640x640xf16, #l22>
  return %0 : tensor<640x640xf16, #l22>
}

func.func @b16_one_block(%a: tensor<1024x64xf16>, %b: tensor<64x1024xf16>) -> tensor<1024x1024xf16, #l23> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>}
      : (tensor<1024x64xf16>, tensor<64x1024xf16>) -> tensor<1024x1024xf16, #l23>
  return %0 : tensor<1024x1024xf16, #l23>
}

func.func @b16_single(%a: tensor<16x64xbf16>, %b: tensor<16x64xbf16>) -> tensor<16x16xbf16, #l24> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>, transpose_b}
      : (tensor<16x64xbf16>, tensor<16x64xbf16>) -> tensor<16x16xbf16, #l24>
  return %0 : tensor<16x16xbf16, #l24>
}

func.func @b16_dense(%a: tensor<512x128xf16>, %b: tensor<512x128xf16>) -> tensor<512x512xf16, #l25> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>, transpose_b}
      : (tensor<512x128xf16>, tensor<512x128xf16>) -> tensor<512x512xf16, #l25>
  return %0 : tensor<512x512xf16, #l25>
}

func.func @b16_band(%a: tensor<2048x256xf16>, %b: tensor<2048x256xf16>) -> tensor<2048x2048xf16, #l26> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>, transpose_b, alpha = 0.125 : f64}
      : (tensor<2048x256xf16>, tensor<2048x256xf16>) -> tensor<2048x2048xf16, #l26>
  return %0 : tensor<2048x2048xf16, #l26>
}

func.func @b16_window(%a: tensor<2x1024x64xbf16>, %b: tensor<2x1024x64xbf16>) -> tensor<2x1024x1024xbf16, #l27> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>, transpose_b}
      : (tensor<2x1024x64xbf16>, tensor<2x1024x64xbf16>) -> tensor<2x1024x1024xbf16, #l27>
  return %0 : tensor<2x1024x1024xbf16, #l27>
}

func.func @b16_bigbird_heads(%a: tensor<2x3x1024x64xf16>, %b: tensor<2x3x1024x64xf16>) -> tensor<2x3x1024x1024xf16, #l28> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>, transpose_b}
      : (tensor<2x3x1024x64xf16>, tensor<2x3x1024x64xf16>) -> tensor<2x3x1024x1024xf16, #l28>
  return %0 : tensor<2x3x1024x1024xf16, #l28>
}

func.func @b16_shared_heads(%a: tensor<2x4x40x1008xbf16>, %b: tensor<2x4x40x496xbf16>) -> tensor<2x4x1008x496xbf16, #l29> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>, transpose_a}
      : (tensor<2x4x40x1008xbf16>, tensor<2x4x40x496xbf16>) -> tensor<2x4x1008x496xbf16, #l29>
  return %0 : tensor<2x4x1008x496xbf16, #l29>
}

func.func @b16_causal(%a: tensor<2x2x1024x64xf16>, %b: tensor<2x2x1024x64xf16>) -> tensor<2x2x1024x1024xf16, #l30> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>, transpose_b}
      : (tensor<2x2x1024x64xf16>, tensor<2x2x1024x64xf16>) -> tensor<2x2x1024x1024xf16, #l30>
  return %0 : tensor<2x2x1024x1024xf16, #l30>
}

func.func @b16_large(%a: tensor<4096x512xf16>, %b: tensor<4096x512xf16>) -> tensor<4096x4096xf16, #l31> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>, transpose_b}
      : (tensor<4096x512xf16>, tensor<4096x512xf16>) -> tensor<4096x4096xf16, #l31>
  return %0 : tensor<4096x4096xf16, #l31>
}

func.func @b16_sampled_addmm(%c: tensor<320x384xf16, #l32>, %a: tensor<320x48xf16>, %b: tensor<48x384xf16>) -> tensor<320x384xf16, #l32> {
  %0 = blocksparse.sampled_addmm %c, %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>, alpha = 2.0 : f64, beta = 0.0 : f64}
      : (tensor<320x384xf16, #l32>, tensor<320x48xf16>, tensor<48x384xf16>) -> tensor<320x384xf16, #l32>
  return %0 : tensor<320x384xf16, #l32>
}

func.func @b32_short_k(%a: tensor<1280x8xf16>, %b: tensor<8x1280xf16>) -> tensor<1280x1280xf16, #l33> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>}
      : (tensor<1280x8xf16>, tensor<8x1280xf16>) -> tensor<1280x1280xf16, #l33>
  return %0 : tensor<1280x1280xf16, #l33>
}

func.func @b32_one_block(%a: tensor<2048x64xf16>, %b: tensor<64x2048xf16>) -> tensor<2048x2048xf16, #l34> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>}
      : (tensor<2048x64xf16>, tensor<64x2048xf16>) -> tensor<2048x2048xf16, #l34>
  return %0 : tensor<2048x2048xf16, #l34>
}

func.func @b32_single(%a: tensor<32x64xbf16>, %b: tensor<32x64xbf16>) -> tensor<32x32xbf16, #l35> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>, transpose_b}
      : (tensor<32x64xbf16>, tensor<32x64xbf16>) -> tensor<32x32xbf16, #l35>
  return %0 : tensor<32x32xbf16, #l35>
}

func.func @b32_dense(%a: tensor<512x128xf16>, %b: tensor<512x128xf16>) -> tensor<512x512xf16, #l36> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>, transpose_b}
      : (tensor<512x128xf16>, tensor<512x128xf16>) -> tensor<512x512xf16, #l36>
  return %0 : tensor<512x512xf16, #l36>
}

func.func @b32_band(%a: tensor<2048x256xf16>, %b: tensor<2048x256xf16>) -> tensor<2048x2048xf16, #l37> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>, transpose_b, alpha = 0.125 : f64}
      : (tensor<2048x256xf16>, tensor<2048x256xf16>) -> tensor<2048x2048xf16, #l37>
  return %0 : tensor<2048x2048xf16, #l37>
}

func.func @b32_window(%a: tensor<2x1024x64xbf16>, %b: tensor<2x1024x64xbf16>) -> tensor<2x1024x1024xbf16, #l38> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>, transpose_b}
      : (tensor<2x1024x64xbf16>, tensor<2x1024x64xbf16>) -> tensor<2x1024x1024xbf16, #l38>
  return %0 : tensor<2x1024x1024xbf16, #l38>
}

func.func @b32_bigbird_heads(%a: tensor<2x3x1024x64xf16>, %b: tensor<2x3x1024x64xf16>) -> tensor<2x3x1024x1024xf16, #l39> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>, transpose_b}
      : (tensor<2x3x1024x64xf16>, tensor<2x3x1024x64xf16>) -> tensor<2x3x1024x1024xf16, #l39>
  return %0 : tensor<2x3x1024x1024xf16, #l39>
}

func.func @b32_shared_heads(%a: tensor<2x4x40x992xbf16>, %b: tensor<2x4x40x480xbf16>) -> tensor<2x4x992x480xbf16, #l40> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>, transpose_a}
      : (tensor<2x4x40x992xbf16>, tensor<2x4x40x480xbf16>) -> tensor<2x4x992x480xbf16, #l40>
  return %0 : tensor<2x4x992x480xbf16, #l40>
}

func.func @b32_causal(%a: tensor<2x2x1024x64xf16>, %b: tensor<2x2x1024x64xf16>) -> tensor<2x2x1024x1024xf16, #l41> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>, transpose_b}
      : (tensor<2x2x1024x64xf16>, tensor<2x2x1024x64xf16>) -> tensor<2x2x1024x1024xf16, #l41>
  return %0 : tensor<2x2x1024x1024xf16, #l41>
}

func.func @b32_large(%a: tensor<4096x512xf16>, %b: tensor<4096x512xf16>) -> tensor<4096x4096xf16, #l42> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>, transpose_b}
      : (tensor<4096x512xf16>, tensor<4096x512xf16>) -> tensor<4096x4096xf16, #l42>
  return %0 : tensor<4096x4096xf16, #l42>
}

func.func @b32_sampled_addmm(%c: tensor<640x768xf16, #l43>, %a: tensor<640x48xf16>, %b: tensor<48x768xf16>) -> tensor<640x768xf16, #l43> {
  %0 = blocksparse.sampled_addmm %c, %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>, alpha = 2.0 : f64, beta = 0.0 : f64}
      : (tensor<640x768xf16, #l43>, tensor<640x48xf16>, tensor<48x768xf16>) -> tensor<640x768xf16, #l43>
  return %0 : tensor<640x768xf16, #l43>
}

func.func @rect_16x32_swapped(%a: tensor<1024x96xf16>, %b: tensor<96x576xf16>) -> tensor<1024x576xf16, #l16> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>}
      : (tensor<1024x96xf16>, tensor<96x576xf16>) -> tensor<1024x576xf16, #l16>
  return %0 : tensor<1024x576xf16, #l16>
}

func.func @rect_32x16_swapped(%a: tensor<1024x96xf16>, %b: tensor<96x592xf16>) -> tensor<1024x592xf16, #l17> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>}
      : (tensor<1024x96xf16>, tensor<96x592xf16>) -> tensor<1024x592xf16, #l17>
  return %0 : tensor<1024x592xf16, #l17>
}

func.func @rect_16x64_swapped(%a: tensor<1024x96xf16>, %b: tensor<96x576xf16>) -> tensor<1024x576xf16, #l18> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>}
      : (tensor<1024x96xf16>, tensor<96x576xf16>) -> tensor<1024x576xf16, #l18>
  return %0 : tensor<1024x576xf16, #l18>
}

func.func @rect_64x16_swapped(%a: tensor<1024x96xf16>, %b: tensor<96x592xf16>) -> tensor<1024x592xf16, #l19> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>}
      : (tensor<1024x96xf16>, tensor<96x592xf16>) -> tensor<1024x592xf16, #l19>
  return %0 : tensor<1024x592xf16, #l19>
}

func.func @rect_32x64_swapped(%a: tensor<1024x96xf16>, %b: tensor<96x576xf16>) -> tensor<1024x576xf16, #l20> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>}
      : (tensor<1024x96xf16>, tensor<96x576xf16>) -> tensor<1024x576xf16, #l20>
  return %0 : tensor<1024x576xf16, #l20>
}

func.func @rect_64x32_swapped(%a: tensor<1024x96xf16>, %b: tensor<96x576xf16>) -> tensor<1024x576xf16, #l21> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>}
      : (tensor<1024x96xf16>, tensor<96x576xf16>) -> tensor<1024x576xf16, #l21>
  return %0 : tensor<1024x576xf16, #l21>
}

func.func @b16_band_swapped(%a: tensor<2048x256xf16>, %b: tensor<256x2048xf16>) -> tensor<2048x2048xf16, #l26> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>, alpha = 0.125 : f64}
      : (tensor<2048x256xf16>, tensor<256x2048xf16>) -> tensor<2048x2048xf16, #l26>
  return %0 : tensor<2048x2048xf16, #l26>
}

func.func @b16_shared_heads_swapped(%a: tensor<2x4x1008x40xbf16>, %b: tensor<2x4x40x496xbf16>) -> tensor<2x4x1008x496xbf16, #l29> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>}
      : (tensor<2x4x1008x40xbf16>, tensor<2x4x40x496xbf16>) -> tensor<2x4x1008x496xbf16, #l29>
  return %0 : tensor<2x4x1008x496xbf16, #l29>
}

func.func @b16_large_swapped(%a: tensor<4096x512xf16>, %b: tensor<512x4096xf16>) -> tensor<4096x4096xf16, #l31> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>}
      : (tensor<4096x512xf16>, tensor<512x4096xf16>) -> tensor<4096x4096xf16, #l31>
  return %0 : tensor<4096x4096xf16, #l31>
}

func.func @b32_band_swapped(%a: tensor<2048x256xf16>, %b: tensor<256x2048xf16>) -> tensor<2048x2048xf16, #l37> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>, alpha = 0.125 : f64}
      : (tensor<2048x256xf16>, tensor<256x2048xf16>) -> tensor<2048x2048xf16, #l37>
  return %0 : tensor<2048x2048xf16, #l37>
}

func.func @b32_shared_heads_swapped(%a: tensor<2x4x992x40xbf16>, %b: tensor<2x4x40x480xbf16>) -> tensor<2x4x992x480xbf16, #l40> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>}
      : (tensor<2x4x992x40xbf16>, tensor<2x4x40x480xbf16>) -> tensor<2x4x992x480xbf16, #l40>
  return %0 : tensor<2x4x992x480xbf16, #l40>
}

func.func @b32_large_swapped(%a: tensor<4096x512xf16>, %b: tensor<512x4096xf16>) -> tensor<4096x4096xf16, #l42> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma>}
      : (tensor<4096x512xf16>, tensor<512x4096xf16>) -> tensor<4096x4096xf16, #l42>
  return %0 : tensor<4096x4096xf16, #l42>
}
