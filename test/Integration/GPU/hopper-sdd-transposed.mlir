// Products at the blocks of a pattern on Hopper's tensor cores whose factors are written transposed
// first where they are MN-major: A, B and both, tiles of neighbouring and of gathered rows, m and n that no tile
// and k that no stage divides, batches and heads, operands that heads share, operands with gaps.
// TARGET: cuda:sm_90a
// REQUIRES: gpu || simulator
// RUN: %if gpu %{ blocksparse-run %s --all-functions --check --repeat-check --device=cuda %}
// RUN: %if gpu %{ blocksparse-run %s --function=b16_shared_b_nn,b32_odd_heads_tn --check --poison --strided=rows --device=cuda %}
// RUN: %if simulator %{ blocksparse-run %s --function=b16_nn_band_f16,b16_tn_rows_f16,b32_nn_band_f16,b32_tn_rows_f16,b16x32_nn,b16x64_nn,b32x64_nn,b16_heads_nn,b16_shared_a_tt,b32_odd_heads_tn,b32_band_tn --check --device=simulated --target=cuda:sm_90a %}
// RUN: %if simulator %{ blocksparse-run %s --function=b16_one_nn,b32_one_nn,b16_odd_heads_tn,b16_sampled_addmm_tt --check --poison --strided=rows --device=simulated --target=cuda:sm_90a %}
#l0 = #blocksparse.layout<16x16, grid 29x37, random(density = 0.25, seed = 1)>
#l1 = #blocksparse.layout<16x16, grid 29x37, random(density = 0.5, seed = 2)>
#l2 = #blocksparse.layout<16x16, grid 29x37, random(density = 0.1, seed = 3)>
#l3 = #blocksparse.layout<16x16, grid 29x37, random(density = 0.25, seed = 4)>
#l4 = #blocksparse.layout<16x16, grid 29x37, random(density = 0.5, seed = 5)>
#l5 = #blocksparse.layout<16x16, grid 29x37, random(density = 0.1, seed = 6)>
#l6 = #blocksparse.layout<16x16, grid 29x37, random(density = 0.25, seed = 7)>
#l7 = #blocksparse.layout<16x16, grid 29x37, random(density = 0.5, seed = 8)>
#l8 = #blocksparse.layout<16x16, grid 29x37, random(density = 0.1, seed = 9)>
#l9 = #blocksparse.layout<16x16, grid 29x37, random(density = 0.25, seed = 10)>
#l10 = #blocksparse.layout<16x16, grid 29x37, random(density = 0.5, seed = 11)>
#l11 = #blocksparse.layout<16x16, grid 29x37, random(density = 0.1, seed = 12)>
#l12 = #blocksparse.layout<32x32, grid 17x23, random(density = 0.25, seed = 13)>
#l13 = #blocksparse.layout<32x32, grid 17x23, random(density = 0.5, seed = 14)>
#l14 = #blocksparse.layout<32x32, grid 17x23, random(density = 0.1, seed = 15)>
#l15 = #blocksparse.layout<32x32, grid 17x23, random(density = 0.25, seed = 16)>
#l16 = #blocksparse.layout<32x32, grid 17x23, random(density = 0.5, seed = 17)>
#l17 = #blocksparse.layout<32x32, grid 17x23, random(density = 0.1, seed = 18)>
#l18 = #blocksparse.layout<32x32, grid 17x23, random(density = 0.25, seed = 19)>
#l19 = #blocksparse.layout<32x32, grid 17x23, random(density = 0.5, seed = 20)>
#l20 = #blocksparse.layout<32x32, grid 17x23, random(density = 0.1, seed = 21)>
#l21 = #blocksparse.layout<32x32, grid 17x23, random(density = 0.25, seed = 22)>
#l22 = #blocksparse.layout<32x32, grid 17x23, random(density = 0.5, seed = 23)>
#l23 = #blocksparse.layout<32x32, grid 17x23, random(density = 0.1, seed = 24)>
#l24 = #blocksparse.layout<16x32, grid 29x18, random(density = 0.25, seed = 25)>
#l25 = #blocksparse.layout<16x32, grid 29x18, random(density = 0.25, seed = 26)>
#l26 = #blocksparse.layout<16x32, grid 29x18, random(density = 0.25, seed = 27)>
#l27 = #blocksparse.layout<32x16, grid 16x37, random(density = 0.25, seed = 28)>
#l28 = #blocksparse.layout<32x16, grid 16x37, random(density = 0.25, seed = 29)>
#l29 = #blocksparse.layout<32x16, grid 16x37, random(density = 0.25, seed = 30)>
#l30 = #blocksparse.layout<16x64, grid 29x9, random(density = 0.25, seed = 31)>
#l31 = #blocksparse.layout<16x64, grid 29x9, random(density = 0.25, seed = 32)>
#l32 = #blocksparse.layout<16x64, grid 29x9, random(density = 0.25, seed = 33)>
#l33 = #blocksparse.layout<64x16, grid 8x37, random(density = 0.25, seed = 34)>
#l34 = #blocksparse.layout<64x16, grid 8x37, random(density = 0.25, seed = 35)>
#l35 = #blocksparse.layout<64x16, grid 8x37, random(density = 0.25, seed = 36)>
#l36 = #blocksparse.layout<32x64, grid 16x9, random(density = 0.25, seed = 37)>
#l37 = #blocksparse.layout<32x64, grid 16x9, random(density = 0.25, seed = 38)>
#l38 = #blocksparse.layout<32x64, grid 16x9, random(density = 0.25, seed = 39)>
#l39 = #blocksparse.layout<64x32, grid 8x18, random(density = 0.25, seed = 40)>
#l40 = #blocksparse.layout<64x32, grid 8x18, random(density = 0.25, seed = 41)>
#l41 = #blocksparse.layout<64x32, grid 8x18, random(density = 0.25, seed = 42)>
#l42 = #blocksparse.layout<16x16, grid 3x64x64, bigbird(num_random_blocks = 2, num_sliding_window_blocks = 3, num_global_blocks = 1, seed = 7)>
#l43 = #blocksparse.layout<16x16, grid 31x15, random(density = 0.25, seed = 43)>
#l44 = #blocksparse.layout<16x16, grid 31x15, random(density = 0.25, seed = 44)>
#l45 = #blocksparse.layout<16x16, grid 31x15, random(density = 0.25, seed = 45)>
#l46 = #blocksparse.layout<16x16, grid 31x15, random(density = 0.25, seed = 46)>
#l47 = #blocksparse.layout<16x16, grid 31x15, random(density = 0.25, seed = 47)>
#l48 = #blocksparse.layout<16x16, grid 64x64, banded(lower = 96, upper = 96)>
#l49 = #blocksparse.layout<16x16, grid 128x128, banded(lower = 96, upper = 96)>
#l50 = #blocksparse.layout<16x16, grid 1x1, dense>
#l51 = #blocksparse.layout<16x16, grid 128x128, random(density = 0.25, seed = 48)>
#l52 = #blocksparse.layout<16x16, grid 256x256, random(density = 0.25, seed = 49)>
#l53 = #blocksparse.layout<16x16, grid 20x24, random(density = 0.25, seed = 50)>
#l54 = #blocksparse.layout<16x16, grid 20x24, random(density = 0.25, seed = 51)>
#l55 = #blocksparse.layout<32x32, grid 3x32x32, bigbird(num_random_blocks = 2, num_sliding_window_blocks = 3, num_global_blocks = 1, seed = 7)>
#l56 = #blocksparse.layout<32x32, grid 31x15, random(density = 0.25, seed = 52)>
#l57 = #blocksparse.layout<32x32, grid 31x15, random(density = 0.25, seed = 53)>
#l58 = #blocksparse.layout<32x32, grid 31x15, random(density = 0.25, seed = 54)>
#l59 = #blocksparse.layout<32x32, grid 31x15, random(density = 0.25, seed = 55)>
#l60 = #blocksparse.layout<32x32, grid 31x15, random(density = 0.25, seed = 56)>
#l61 = #blocksparse.layout<32x32, grid 32x32, banded(lower = 96, upper = 96)>
#l62 = #blocksparse.layout<32x32, grid 64x64, banded(lower = 96, upper = 96)>
#l63 = #blocksparse.layout<32x32, grid 1x1, dense>
#l64 = #blocksparse.layout<32x32, grid 64x64, random(density = 0.25, seed = 57)>
#l65 = #blocksparse.layout<32x32, grid 128x128, random(density = 0.25, seed = 58)>
#l66 = #blocksparse.layout<32x32, grid 20x24, random(density = 0.25, seed = 59)>
#l67 = #blocksparse.layout<32x32, grid 20x24, random(density = 0.25, seed = 60)>

func.func @b16_nn_band_f16(%a: tensor<464x64xf16>, %b: tensor<64x592xf16>) -> tensor<464x592xf16, #l0> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed>}
      : (tensor<464x64xf16>, tensor<64x592xf16>) -> tensor<464x592xf16, #l0>
  return %0 : tensor<464x592xf16, #l0>
}

func.func @b16_nn_band_bf16(%a: tensor<464x320xbf16>, %b: tensor<320x592xbf16>) -> tensor<464x592xbf16, #l1> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed>}
      : (tensor<464x320xbf16>, tensor<320x592xbf16>) -> tensor<464x592xbf16, #l1>
  return %0 : tensor<464x592xbf16, #l1>
}

func.func @b16_nn_rows_f16(%a: tensor<464x8xf16>, %b: tensor<8x592xf16>) -> tensor<464x592xf16, #l2> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>}
      : (tensor<464x8xf16>, tensor<8x592xf16>) -> tensor<464x592xf16, #l2>
  return %0 : tensor<464x592xf16, #l2>
}

func.func @b16_nn_rows_bf16(%a: tensor<464x72xbf16>, %b: tensor<72x592xbf16>) -> tensor<464x592xbf16, #l3> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>}
      : (tensor<464x72xbf16>, tensor<72x592xbf16>) -> tensor<464x592xbf16, #l3>
  return %0 : tensor<464x592xbf16, #l3>
}

func.func @b16_tn_band_f16(%a: tensor<200x464xf16>, %b: tensor<200x592xf16>) -> tensor<464x592xf16, #l4> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed>, transpose_a}
      : (tensor<200x464xf16>, tensor<200x592xf16>) -> tensor<464x592xf16, #l4>
  return %0 : tensor<464x592xf16, #l4>
}

func.func @b16_tn_band_bf16(%a: tensor<136x464xbf16>, %b: tensor<136x592xbf16>) -> tensor<464x592xbf16, #l5> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed>, transpose_a}
      : (tensor<136x464xbf16>, tensor<136x592xbf16>) -> tensor<464x592xbf16, #l5>
  return %0 : tensor<464x592xbf16, #l5>
}

func.func @b16_tn_rows_f16(%a: tensor<64x464xf16>, %b: tensor<64x592xf16>) -> tensor<464x592xf16, #l6> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>, transpose_a}
      : (tensor<64x464xf16>, tensor<64x592xf16>) -> tensor<464x592xf16, #l6>
  return %0 : tensor<464x592xf16, #l6>
}

func.func @b16_tn_rows_bf16(%a: tensor<320x464xbf16>, %b: tensor<320x592xbf16>) -> tensor<464x592xbf16, #l7> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>, transpose_a}
      : (tensor<320x464xbf16>, tensor<320x592xbf16>) -> tensor<464x592xbf16, #l7>
  return %0 : tensor<464x592xbf16, #l7>
}

func.func @b16_tt_band_f16(%a: tensor<8x464xf16>, %b: tensor<592x8xf16>) -> tensor<464x592xf16, #l8> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed>, transpose_a, transpose_b}
      : (tensor<8x464xf16>, tensor<592x8xf16>) -> tensor<464x592xf16, #l8>
  return %0 : tensor<464x592xf16, #l8>
}

func.func @b16_tt_band_bf16(%a: tensor<72x464xbf16>, %b: tensor<592x72xbf16>) -> tensor<464x592xbf16, #l9> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed>, transpose_a, transpose_b}
      : (tensor<72x464xbf16>, tensor<592x72xbf16>) -> tensor<464x592xbf16, #l9>
  return %0 : tensor<464x592xbf16, #l9>
}

func.func @b16_tt_rows_f16(%a: tensor<200x464xf16>, %b: tensor<592x200xf16>) -> tensor<464x592xf16, #l10> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>, transpose_a, transpose_b}
      : (tensor<200x464xf16>, tensor<592x200xf16>) -> tensor<464x592xf16, #l10>
  return %0 : tensor<464x592xf16, #l10>
}

func.func @b16_tt_rows_bf16(%a: tensor<136x464xbf16>, %b: tensor<592x136xbf16>) -> tensor<464x592xbf16, #l11> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>, transpose_a, transpose_b}
      : (tensor<136x464xbf16>, tensor<592x136xbf16>) -> tensor<464x592xbf16, #l11>
  return %0 : tensor<464x592xbf16, #l11>
}

func.func @b32_nn_band_f16(%a: tensor<544x64xf16>, %b: tensor<64x736xf16>) -> tensor<544x736xf16, #l12> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed>}
      : (tensor<544x64xf16>, tensor<64x736xf16>) -> tensor<544x736xf16, #l12>
  return %0 : tensor<544x736xf16, #l12>
}

func.func @b32_nn_band_bf16(%a: tensor<544x320xbf16>, %b: tensor<320x736xbf16>) -> tensor<544x736xbf16, #l13> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed>}
      : (tensor<544x320xbf16>, tensor<320x736xbf16>) -> tensor<544x736xbf16, #l13>
  return %0 : tensor<544x736xbf16, #l13>
}

func.func @b32_nn_rows_f16(%a: tensor<544x8xf16>, %b: tensor<8x736xf16>) -> tensor<544x736xf16, #l14> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>}
      : (tensor<544x8xf16>, tensor<8x736xf16>) -> tensor<544x736xf16, #l14>
  return %0 : tensor<544x736xf16, #l14>
}

func.func @b32_nn_rows_bf16(%a: tensor<544x72xbf16>, %b: tensor<72x736xbf16>) -> tensor<544x736xbf16, #l15> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>}
      : (tensor<544x72xbf16>, tensor<72x736xbf16>) -> tensor<544x736xbf16, #l15>
  return %0 : tensor<544x736xbf16, #l15>
}

func.func @b32_tn_band_f16(%a: tensor<200x544xf16>, %b: tensor<200x736xf16>) -> tensor<544x736xf16, #l16> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed>, transpose_a}
      : (tensor<200x544xf16>, tensor<200x736xf16>) -> tensor<544x736xf16, #l16>
  return %0 : tensor<544x736xf16, #l16>
}

func.func @b32_tn_band_bf16(%a: tensor<136x544xbf16>, %b: tensor<136x736xbf16>) -> tensor<544x736xbf16, #l17> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed>, transpose_a}
      : (tensor<136x544xbf16>, tensor<136x736xbf16>) -> tensor<544x736xbf16, #l17>
  return %0 : tensor<544x736xbf16, #l17>
}

func.func @b32_tn_rows_f16(%a: tensor<64x544xf16>, %b: tensor<64x736xf16>) -> tensor<544x736xf16, #l18> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>, transpose_a}
      : (tensor<64x544xf16>, tensor<64x736xf16>) -> tensor<544x736xf16, #l18>
  return %0 : tensor<544x736xf16, #l18>
}

func.func @b32_tn_rows_bf16(%a: tensor<320x544xbf16>, %b: tensor<320x736xbf16>) -> tensor<544x736xbf16, #l19> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>, transpose_a}
      : (tensor<320x544xbf16>, tensor<320x736xbf16>) -> tensor<544x736xbf16, #l19>
  return %0 : tensor<544x736xbf16, #l19>
}

func.func @b32_tt_band_f16(%a: tensor<8x544xf16>, %b: tensor<736x8xf16>) -> tensor<544x736xf16, #l20> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed>, transpose_a, transpose_b}
      : (tensor<8x544xf16>, tensor<736x8xf16>) -> tensor<544x736xf16, #l20>
  return %0 : tensor<544x736xf16, #l20>
}

func.func @b32_tt_band_bf16(%a: tensor<72x544xbf16>, %b: tensor<736x72xbf16>) -> tensor<544x736xbf16, #l21> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed>, transpose_a, transpose_b}
      : (tensor<72x544xbf16>, tensor<736x72xbf16>) -> tensor<544x736xbf16, #l21>
  return %0 : tensor<544x736xbf16, #l21>
}

func.func @b32_tt_rows_f16(%a: tensor<200x544xf16>, %b: tensor<736x200xf16>) -> tensor<544x736xf16, #l22> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>, transpose_a, transpose_b}
      : (tensor<200x544xf16>, tensor<736x200xf16>) -> tensor<544x736xf16, #l22>
  return %0 : tensor<544x736xf16, #l22>
}

func.func @b32_tt_rows_bf16(%a: tensor<136x544xbf16>, %b: tensor<736x136xbf16>) -> tensor<544x736xbf16, #l23> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>, transpose_a, transpose_b}
      : (tensor<136x544xbf16>, tensor<736x136xbf16>) -> tensor<544x736xbf16, #l23>
  return %0 : tensor<544x736xbf16, #l23>
}

func.func @b16x32_nn(%a: tensor<464x64xf16>, %b: tensor<64x576xf16>) -> tensor<464x576xf16, #l24> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>}
      : (tensor<464x64xf16>, tensor<64x576xf16>) -> tensor<464x576xf16, #l24>
  return %0 : tensor<464x576xf16, #l24>
}

func.func @b16x32_tn(%a: tensor<320x464xbf16>, %b: tensor<320x576xbf16>) -> tensor<464x576xbf16, #l25> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>, transpose_a}
      : (tensor<320x464xbf16>, tensor<320x576xbf16>) -> tensor<464x576xbf16, #l25>
  return %0 : tensor<464x576xbf16, #l25>
}

func.func @b16x32_tt(%a: tensor<8x464xf16>, %b: tensor<576x8xf16>) -> tensor<464x576xf16, #l26> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>, transpose_a, transpose_b}
      : (tensor<8x464xf16>, tensor<576x8xf16>) -> tensor<464x576xf16, #l26>
  return %0 : tensor<464x576xf16, #l26>
}

func.func @b32x16_nn(%a: tensor<512x72xbf16>, %b: tensor<72x592xbf16>) -> tensor<512x592xbf16, #l27> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>}
      : (tensor<512x72xbf16>, tensor<72x592xbf16>) -> tensor<512x592xbf16, #l27>
  return %0 : tensor<512x592xbf16, #l27>
}

func.func @b32x16_tn(%a: tensor<200x512xf16>, %b: tensor<200x592xf16>) -> tensor<512x592xf16, #l28> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>, transpose_a}
      : (tensor<200x512xf16>, tensor<200x592xf16>) -> tensor<512x592xf16, #l28>
  return %0 : tensor<512x592xf16, #l28>
}

func.func @b32x16_tt(%a: tensor<136x512xbf16>, %b: tensor<592x136xbf16>) -> tensor<512x592xbf16, #l29> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>, transpose_a, transpose_b}
      : (tensor<136x512xbf16>, tensor<592x136xbf16>) -> tensor<512x592xbf16, #l29>
  return %0 : tensor<512x592xbf16, #l29>
}

func.func @b16x64_nn(%a: tensor<464x64xf16>, %b: tensor<64x576xf16>) -> tensor<464x576xf16, #l30> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>}
      : (tensor<464x64xf16>, tensor<64x576xf16>) -> tensor<464x576xf16, #l30>
  return %0 : tensor<464x576xf16, #l30>
}

func.func @b16x64_tn(%a: tensor<320x464xbf16>, %b: tensor<320x576xbf16>) -> tensor<464x576xbf16, #l31> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>, transpose_a}
      : (tensor<320x464xbf16>, tensor<320x576xbf16>) -> tensor<464x576xbf16, #l31>
  return %0 : tensor<464x576xbf16, #l31>
}

func.func @b16x64_tt(%a: tensor<8x464xf16>, %b: tensor<576x8xf16>) -> tensor<464x576xf16, #l32> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>, transpose_a, transpose_b}
      : (tensor<8x464xf16>, tensor<576x8xf16>) -> tensor<464x576xf16, #l32>
  return %0 : tensor<464x576xf16, #l32>
}

func.func @b64x16_nn(%a: tensor<512x72xbf16>, %b: tensor<72x592xbf16>) -> tensor<512x592xbf16, #l33> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>}
      : (tensor<512x72xbf16>, tensor<72x592xbf16>) -> tensor<512x592xbf16, #l33>
  return %0 : tensor<512x592xbf16, #l33>
}

func.func @b64x16_tn(%a: tensor<200x512xf16>, %b: tensor<200x592xf16>) -> tensor<512x592xf16, #l34> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>, transpose_a}
      : (tensor<200x512xf16>, tensor<200x592xf16>) -> tensor<512x592xf16, #l34>
  return %0 : tensor<512x592xf16, #l34>
}

func.func @b64x16_tt(%a: tensor<136x512xbf16>, %b: tensor<592x136xbf16>) -> tensor<512x592xbf16, #l35> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>, transpose_a, transpose_b}
      : (tensor<136x512xbf16>, tensor<592x136xbf16>) -> tensor<512x592xbf16, #l35>
  return %0 : tensor<512x592xbf16, #l35>
}

func.func @b32x64_nn(%a: tensor<512x64xf16>, %b: tensor<64x576xf16>) -> tensor<512x576xf16, #l36> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>}
      : (tensor<512x64xf16>, tensor<64x576xf16>) -> tensor<512x576xf16, #l36>
  return %0 : tensor<512x576xf16, #l36>
}

func.func @b32x64_tn(%a: tensor<320x512xbf16>, %b: tensor<320x576xbf16>) -> tensor<512x576xbf16, #l37> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>, transpose_a}
      : (tensor<320x512xbf16>, tensor<320x576xbf16>) -> tensor<512x576xbf16, #l37>
  return %0 : tensor<512x576xbf16, #l37>
}

func.func @b32x64_tt(%a: tensor<8x512xf16>, %b: tensor<576x8xf16>) -> tensor<512x576xf16, #l38> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>, transpose_a, transpose_b}
      : (tensor<8x512xf16>, tensor<576x8xf16>) -> tensor<512x576xf16, #l38>
  return %0 : tensor<512x576xf16, #l38>
}

func.func @b64x32_nn(%a: tensor<512x72xbf16>, %b: tensor<72x576xbf16>) -> tensor<512x576xbf16, #l39> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>}
      : (tensor<512x72xbf16>, tensor<72x576xbf16>) -> tensor<512x576xbf16, #l39>
  return %0 : tensor<512x576xbf16, #l39>
}

func.func @b64x32_tn(%a: tensor<200x512xf16>, %b: tensor<200x576xf16>) -> tensor<512x576xf16, #l40> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>, transpose_a}
      : (tensor<200x512xf16>, tensor<200x576xf16>) -> tensor<512x576xf16, #l40>
  return %0 : tensor<512x576xf16, #l40>
}

func.func @b64x32_tt(%a: tensor<136x512xbf16>, %b: tensor<576x136xbf16>) -> tensor<512x576xbf16, #l41> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>, transpose_a, transpose_b}
      : (tensor<136x512xbf16>, tensor<576x136xbf16>) -> tensor<512x576xbf16, #l41>
  return %0 : tensor<512x576xbf16, #l41>
}

func.func @b16_heads_nn(%a: tensor<2x3x1024x72xf16>, %b: tensor<2x3x72x1024xf16>) -> tensor<2x3x1024x1024xf16, #l42> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>}
      : (tensor<2x3x1024x72xf16>, tensor<2x3x72x1024xf16>) -> tensor<2x3x1024x1024xf16, #l42>
  return %0 : tensor<2x3x1024x1024xf16, #l42>
}

func.func @b16_heads_tn(%a: tensor<2x3x72x1024xf16>, %b: tensor<2x3x72x1024xf16>) -> tensor<2x3x1024x1024xf16, #l42> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>, transpose_a}
      : (tensor<2x3x72x1024xf16>, tensor<2x3x72x1024xf16>) -> tensor<2x3x1024x1024xf16, #l42>
  return %0 : tensor<2x3x1024x1024xf16, #l42>
}

func.func @b16_heads_tt(%a: tensor<2x3x72x1024xf16>, %b: tensor<2x3x1024x72xf16>) -> tensor<2x3x1024x1024xf16, #l42> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>, transpose_a, transpose_b}
      : (tensor<2x3x72x1024xf16>, tensor<2x3x1024x72xf16>) -> tensor<2x3x1024x1024xf16, #l42>
  return %0 : tensor<2x3x1024x1024xf16, #l42>
}

func.func @b16_odd_heads_tn(%a: tensor<2x4x40x496xbf16>, %b: tensor<2x4x40x240xbf16>) -> tensor<2x4x496x240xbf16, #l43> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>, transpose_a}
      : (tensor<2x4x40x496xbf16>, tensor<2x4x40x240xbf16>) -> tensor<2x4x496x240xbf16, #l43>
  return %0 : tensor<2x4x496x240xbf16, #l43>
}

func.func @b16_shared_b_nn(%a: tensor<4x496x40xf16>, %b: tensor<40x240xf16>) -> tensor<4x496x240xf16, #l44> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>}
      : (tensor<4x496x40xf16>, tensor<40x240xf16>) -> tensor<4x496x240xf16, #l44>
  return %0 : tensor<4x496x240xf16, #l44>
}

func.func @b16_shared_a_tn(%a: tensor<136x496xbf16>, %b: tensor<2x4x136x240xbf16>) -> tensor<2x4x496x240xbf16, #l45> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>, transpose_a}
      : (tensor<136x496xbf16>, tensor<2x4x136x240xbf16>) -> tensor<2x4x496x240xbf16, #l45>
  return %0 : tensor<2x4x496x240xbf16, #l45>
}

func.func @b16_shared_a_tt(%a: tensor<4x136x496xf16>, %b: tensor<2x4x240x136xf16>) -> tensor<2x4x496x240xf16, #l46> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed>, transpose_a, transpose_b}
      : (tensor<4x136x496xf16>, tensor<2x4x240x136xf16>) -> tensor<2x4x496x240xf16, #l46>
  return %0 : tensor<2x4x496x240xf16, #l46>
}

func.func @b16_one_head_nn(%a: tensor<2x4x496x40xf16>, %b: tensor<2x1x40x240xf16>) -> tensor<2x4x496x240xf16, #l47> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>}
      : (tensor<2x4x496x40xf16>, tensor<2x1x40x240xf16>) -> tensor<2x4x496x240xf16, #l47>
  return %0 : tensor<2x4x496x240xf16, #l47>
}

func.func @b16_runs_nn(%a: tensor<1024x128xf16>, %b: tensor<128x1024xf16>) -> tensor<1024x1024xf16, #l48> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>}
      : (tensor<1024x128xf16>, tensor<128x1024xf16>) -> tensor<1024x1024xf16, #l48>
  return %0 : tensor<1024x1024xf16, #l48>
}

func.func @b16_band_tn(%a: tensor<256x2048xf16>, %b: tensor<256x2048xf16>) -> tensor<2048x2048xf16, #l49> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed>, transpose_a, alpha = 0.125 : f64}
      : (tensor<256x2048xf16>, tensor<256x2048xf16>) -> tensor<2048x2048xf16, #l49>
  return %0 : tensor<2048x2048xf16, #l49>
}

func.func @b16_one_nn(%a: tensor<16x40xf16>, %b: tensor<40x16xf16>) -> tensor<16x16xf16, #l50> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>}
      : (tensor<16x40xf16>, tensor<40x16xf16>) -> tensor<16x16xf16, #l50>
  return %0 : tensor<16x16xf16, #l50>
}

func.func @b16_many_nn(%a: tensor<2048x136xf16>, %b: tensor<136x2048xf16>) -> tensor<2048x2048xf16, #l51> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>}
      : (tensor<2048x136xf16>, tensor<136x2048xf16>) -> tensor<2048x2048xf16, #l51>
  return %0 : tensor<2048x2048xf16, #l51>
}

func.func @b16_large_nn(%a: tensor<4096x2048xbf16>, %b: tensor<2048x4096xbf16>) -> tensor<4096x4096xbf16, #l52> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>}
      : (tensor<4096x2048xbf16>, tensor<2048x4096xbf16>) -> tensor<4096x4096xbf16, #l52>
  return %0 : tensor<4096x4096xbf16, #l52>
}

func.func @b16_sampled_addmm_nn(%c: tensor<320x384xf16, #l53>, %a: tensor<320x48xf16>, %b: tensor<48x384xf16>) -> tensor<320x384xf16, #l53> {
  %0 = blocksparse.sampled_addmm %c, %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>, alpha = 0.5 : f64, beta = 0.0 : f64}
      : (tensor<320x384xf16, #l53>, tensor<320x48xf16>, tensor<48x384xf16>) -> tensor<320x384xf16, #l53>
  return %0 : tensor<320x384xf16, #l53>
}

func.func @b16_sampled_addmm_tt(%c: tensor<320x384xbf16, #l54>, %a: tensor<48x320xbf16>, %b: tensor<384x48xbf16>) -> tensor<320x384xbf16, #l54> {
  %0 = blocksparse.sampled_addmm %c, %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed>, transpose_a, transpose_b, alpha = 2.0 : f64, beta = 0.0 : f64}
      : (tensor<320x384xbf16, #l54>, tensor<48x320xbf16>, tensor<384x48xbf16>) -> tensor<320x384xbf16, #l54>
  return %0 : tensor<320x384xbf16, #l54>
}

func.func @b32_heads_nn(%a: tensor<2x3x1024x72xf16>, %b: tensor<2x3x72x1024xf16>) -> tensor<2x3x1024x1024xf16, #l55> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>}
      : (tensor<2x3x1024x72xf16>, tensor<2x3x72x1024xf16>) -> tensor<2x3x1024x1024xf16, #l55>
  return %0 : tensor<2x3x1024x1024xf16, #l55>
}

func.func @b32_heads_tn(%a: tensor<2x3x72x1024xf16>, %b: tensor<2x3x72x1024xf16>) -> tensor<2x3x1024x1024xf16, #l55> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>, transpose_a}
      : (tensor<2x3x72x1024xf16>, tensor<2x3x72x1024xf16>) -> tensor<2x3x1024x1024xf16, #l55>
  return %0 : tensor<2x3x1024x1024xf16, #l55>
}

func.func @b32_heads_tt(%a: tensor<2x3x72x1024xf16>, %b: tensor<2x3x1024x72xf16>) -> tensor<2x3x1024x1024xf16, #l55> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>, transpose_a, transpose_b}
      : (tensor<2x3x72x1024xf16>, tensor<2x3x1024x72xf16>) -> tensor<2x3x1024x1024xf16, #l55>
  return %0 : tensor<2x3x1024x1024xf16, #l55>
}

func.func @b32_odd_heads_tn(%a: tensor<2x4x40x992xbf16>, %b: tensor<2x4x40x480xbf16>) -> tensor<2x4x992x480xbf16, #l56> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>, transpose_a}
      : (tensor<2x4x40x992xbf16>, tensor<2x4x40x480xbf16>) -> tensor<2x4x992x480xbf16, #l56>
  return %0 : tensor<2x4x992x480xbf16, #l56>
}

func.func @b32_shared_b_nn(%a: tensor<4x992x40xf16>, %b: tensor<40x480xf16>) -> tensor<4x992x480xf16, #l57> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>}
      : (tensor<4x992x40xf16>, tensor<40x480xf16>) -> tensor<4x992x480xf16, #l57>
  return %0 : tensor<4x992x480xf16, #l57>
}

func.func @b32_shared_a_tn(%a: tensor<136x992xbf16>, %b: tensor<2x4x136x480xbf16>) -> tensor<2x4x992x480xbf16, #l58> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>, transpose_a}
      : (tensor<136x992xbf16>, tensor<2x4x136x480xbf16>) -> tensor<2x4x992x480xbf16, #l58>
  return %0 : tensor<2x4x992x480xbf16, #l58>
}

func.func @b32_shared_a_tt(%a: tensor<4x136x992xf16>, %b: tensor<2x4x480x136xf16>) -> tensor<2x4x992x480xf16, #l59> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed>, transpose_a, transpose_b}
      : (tensor<4x136x992xf16>, tensor<2x4x480x136xf16>) -> tensor<2x4x992x480xf16, #l59>
  return %0 : tensor<2x4x992x480xf16, #l59>
}

func.func @b32_one_head_nn(%a: tensor<2x4x992x40xf16>, %b: tensor<2x1x40x480xf16>) -> tensor<2x4x992x480xf16, #l60> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>}
      : (tensor<2x4x992x40xf16>, tensor<2x1x40x480xf16>) -> tensor<2x4x992x480xf16, #l60>
  return %0 : tensor<2x4x992x480xf16, #l60>
}

func.func @b32_runs_nn(%a: tensor<1024x128xf16>, %b: tensor<128x1024xf16>) -> tensor<1024x1024xf16, #l61> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>}
      : (tensor<1024x128xf16>, tensor<128x1024xf16>) -> tensor<1024x1024xf16, #l61>
  return %0 : tensor<1024x1024xf16, #l61>
}

func.func @b32_band_tn(%a: tensor<256x2048xf16>, %b: tensor<256x2048xf16>) -> tensor<2048x2048xf16, #l62> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed>, transpose_a, alpha = 0.125 : f64}
      : (tensor<256x2048xf16>, tensor<256x2048xf16>) -> tensor<2048x2048xf16, #l62>
  return %0 : tensor<2048x2048xf16, #l62>
}

func.func @b32_one_nn(%a: tensor<32x40xf16>, %b: tensor<40x32xf16>) -> tensor<32x32xf16, #l63> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>}
      : (tensor<32x40xf16>, tensor<40x32xf16>) -> tensor<32x32xf16, #l63>
  return %0 : tensor<32x32xf16, #l63>
}

func.func @b32_many_nn(%a: tensor<2048x136xf16>, %b: tensor<136x2048xf16>) -> tensor<2048x2048xf16, #l64> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>}
      : (tensor<2048x136xf16>, tensor<136x2048xf16>) -> tensor<2048x2048xf16, #l64>
  return %0 : tensor<2048x2048xf16, #l64>
}

func.func @b32_large_nn(%a: tensor<4096x2048xbf16>, %b: tensor<2048x4096xbf16>) -> tensor<4096x4096xbf16, #l65> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>}
      : (tensor<4096x2048xbf16>, tensor<2048x4096xbf16>) -> tensor<4096x4096xbf16, #l65>
  return %0 : tensor<4096x4096xbf16, #l65>
}

func.func @b32_sampled_addmm_nn(%c: tensor<640x768xf16, #l66>, %a: tensor<640x48xf16>, %b: tensor<48x768xf16>) -> tensor<640x768xf16, #l66> {
  %0 = blocksparse.sampled_addmm %c, %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>, alpha = 0.5 : f64, beta = 0.0 : f64}
      : (tensor<640x768xf16, #l66>, tensor<640x48xf16>, tensor<48x768xf16>) -> tensor<640x768xf16, #l66>
  return %0 : tensor<640x768xf16, #l66>
}

func.func @b32_sampled_addmm_tt(%c: tensor<640x768xbf16, #l67>, %a: tensor<48x640xbf16>, %b: tensor<768x48xbf16>) -> tensor<640x768xbf16, #l67> {
  %0 = blocksparse.sampled_addmm %c, %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma_transposed>, transpose_a, transpose_b, alpha = 2.0 : f64, beta = 0.0 : f64}
      : (tensor<640x768xbf16, #l67>, tensor<48x640xbf16>, tensor<768x48xbf16>) -> tensor<640x768xbf16, #l67>
  return %0 : tensor<640x768xbf16, #l67>
}
