// Products at the blocks of a pattern on Hopper's tensor cores whose tiles are made of any block rows
// and columns (`group` above 1): every transpose, blocks of which each side is 16, 32, 64 or more,
// heads with layouts of their own and with one, runs of neighbours, K that no stage divides.
// TARGET: cuda:sm_90a
// REQUIRES: gpu || simulator
// RUN: %if gpu %{ blocksparse-run %s --all-functions --check --repeat-check --device=cuda %}
// RUN: %if simulator %{ blocksparse-run %s --function=b16x16_nn,b32x32_tn,b16x32_nn,b32x16_tn,b64x16_nn,b32x64_tn,b64x128_nn,b192x64_tn,b16_runs_tn_shared,b32_heads_nn,b64_heads_nt,b64_many_nn --check --device=simulated --target=cuda:sm_90a %}

#l0 = #blocksparse.layout<16x16, grid 29x37, random(density = 0.25, seed = 1)>
#l1 = #blocksparse.layout<16x16, grid 29x37, random(density = 0.5, seed = 2)>
#l2 = #blocksparse.layout<16x16, grid 29x37, random(density = 0.1, seed = 3)>
#l3 = #blocksparse.layout<16x16, grid 29x37, random(density = 0.35, seed = 4)>
#l4 = #blocksparse.layout<32x32, grid 17x23, random(density = 0.25, seed = 5)>
#l5 = #blocksparse.layout<32x32, grid 17x23, random(density = 0.5, seed = 6)>
#l6 = #blocksparse.layout<32x32, grid 17x23, random(density = 0.1, seed = 7)>
#l7 = #blocksparse.layout<32x32, grid 17x23, random(density = 0.35, seed = 8)>
#l8 = #blocksparse.layout<64x64, grid 9x11, random(density = 0.25, seed = 9)>
#l9 = #blocksparse.layout<64x64, grid 9x11, random(density = 0.5, seed = 10)>
#l10 = #blocksparse.layout<64x64, grid 9x11, random(density = 0.1, seed = 11)>
#l11 = #blocksparse.layout<64x64, grid 9x11, random(density = 0.35, seed = 12)>
#l12 = #blocksparse.layout<16x32, grid 29x18, random(density = 0.25, seed = 13)>
#l13 = #blocksparse.layout<16x32, grid 29x18, random(density = 0.5, seed = 14)>
#l14 = #blocksparse.layout<16x32, grid 29x18, random(density = 0.1, seed = 15)>
#l15 = #blocksparse.layout<16x32, grid 29x18, random(density = 0.35, seed = 16)>
#l16 = #blocksparse.layout<32x16, grid 16x37, random(density = 0.25, seed = 17)>
#l17 = #blocksparse.layout<32x16, grid 16x37, random(density = 0.5, seed = 18)>
#l18 = #blocksparse.layout<32x16, grid 16x37, random(density = 0.1, seed = 19)>
#l19 = #blocksparse.layout<32x16, grid 16x37, random(density = 0.35, seed = 20)>
#l20 = #blocksparse.layout<16x64, grid 29x9, random(density = 0.25, seed = 21)>
#l21 = #blocksparse.layout<16x64, grid 29x9, random(density = 0.5, seed = 22)>
#l22 = #blocksparse.layout<16x64, grid 29x9, random(density = 0.1, seed = 23)>
#l23 = #blocksparse.layout<16x64, grid 29x9, random(density = 0.35, seed = 24)>
#l24 = #blocksparse.layout<64x16, grid 8x37, random(density = 0.25, seed = 25)>
#l25 = #blocksparse.layout<64x16, grid 8x37, random(density = 0.5, seed = 26)>
#l26 = #blocksparse.layout<64x16, grid 8x37, random(density = 0.1, seed = 27)>
#l27 = #blocksparse.layout<64x16, grid 8x37, random(density = 0.35, seed = 28)>
#l28 = #blocksparse.layout<32x64, grid 16x9, random(density = 0.25, seed = 29)>
#l29 = #blocksparse.layout<32x64, grid 16x9, random(density = 0.5, seed = 30)>
#l30 = #blocksparse.layout<32x64, grid 16x9, random(density = 0.1, seed = 31)>
#l31 = #blocksparse.layout<32x64, grid 16x9, random(density = 0.35, seed = 32)>
#l32 = #blocksparse.layout<64x32, grid 8x18, random(density = 0.25, seed = 33)>
#l33 = #blocksparse.layout<64x32, grid 8x18, random(density = 0.5, seed = 34)>
#l34 = #blocksparse.layout<64x32, grid 8x18, random(density = 0.1, seed = 35)>
#l35 = #blocksparse.layout<64x32, grid 8x18, random(density = 0.35, seed = 36)>
#l36 = #blocksparse.layout<64x128, grid 9x5, random(density = 0.25, seed = 37)>
#l37 = #blocksparse.layout<64x128, grid 9x5, random(density = 0.5, seed = 38)>
#l38 = #blocksparse.layout<64x128, grid 9x5, random(density = 0.1, seed = 39)>
#l39 = #blocksparse.layout<64x128, grid 9x5, random(density = 0.35, seed = 40)>
#l40 = #blocksparse.layout<192x64, grid 3x9, random(density = 0.25, seed = 41)>
#l41 = #blocksparse.layout<192x64, grid 3x9, random(density = 0.5, seed = 42)>
#l42 = #blocksparse.layout<192x64, grid 3x9, random(density = 0.1, seed = 43)>
#l43 = #blocksparse.layout<192x64, grid 3x9, random(density = 0.35, seed = 44)>
#l44 = #blocksparse.layout<16x16, grid 3x64x64, bigbird(num_random_blocks = 2, num_sliding_window_blocks = 3, num_global_blocks = 1, seed = 7)>
#l45 = #blocksparse.layout<16x16, grid 64x64, banded(lower = 96, upper = 96)>
#l46 = #blocksparse.layout<16x16, grid 1x1, dense>
#l47 = #blocksparse.layout<16x16, grid 128x128, random(density = 0.25, seed = 77)>
#l48 = #blocksparse.layout<32x32, grid 3x32x32, bigbird(num_random_blocks = 2, num_sliding_window_blocks = 3, num_global_blocks = 1, seed = 7)>
#l49 = #blocksparse.layout<32x32, grid 32x32, banded(lower = 96, upper = 96)>
#l50 = #blocksparse.layout<32x32, grid 1x1, dense>
#l51 = #blocksparse.layout<32x32, grid 64x64, random(density = 0.25, seed = 77)>
#l52 = #blocksparse.layout<64x64, grid 3x16x16, bigbird(num_random_blocks = 2, num_sliding_window_blocks = 3, num_global_blocks = 1, seed = 7)>
#l53 = #blocksparse.layout<64x64, grid 16x16, banded(lower = 96, upper = 96)>
#l54 = #blocksparse.layout<64x64, grid 1x1, dense>
#l55 = #blocksparse.layout<64x64, grid 32x32, random(density = 0.25, seed = 77)>

func.func @b16x16_nn(%a: tensor<464x72xf16>, %b: tensor<72x592xf16>) -> tensor<464x592xf16, #l0> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>}
      : (tensor<464x72xf16>, tensor<72x592xf16>) -> tensor<464x592xf16, #l0>
  return %0 : tensor<464x592xf16, #l0>
}

func.func @b16x16_nt(%a: tensor<464x136xf16>, %b: tensor<592x136xf16>) -> tensor<464x592xf16, #l1> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_b}
      : (tensor<464x136xf16>, tensor<592x136xf16>) -> tensor<464x592xf16, #l1>
  return %0 : tensor<464x592xf16, #l1>
}

func.func @b16x16_tn(%a: tensor<64x464xbf16>, %b: tensor<64x592xbf16>) -> tensor<464x592xbf16, #l2> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_a}
      : (tensor<64x464xbf16>, tensor<64x592xbf16>) -> tensor<464x592xbf16, #l2>
  return %0 : tensor<464x592xbf16, #l2>
}

func.func @b16x16_tt(%a: tensor<320x464xbf16>, %b: tensor<592x320xbf16>) -> tensor<464x592xbf16, #l3> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_a, transpose_b}
      : (tensor<320x464xbf16>, tensor<592x320xbf16>) -> tensor<464x592xbf16, #l3>
  return %0 : tensor<464x592xbf16, #l3>
}

func.func @b32x32_nn(%a: tensor<544x8xf16>, %b: tensor<8x736xf16>) -> tensor<544x736xf16, #l4> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>}
      : (tensor<544x8xf16>, tensor<8x736xf16>) -> tensor<544x736xf16, #l4>
  return %0 : tensor<544x736xf16, #l4>
}

func.func @b32x32_nt(%a: tensor<544x200xf16>, %b: tensor<736x200xf16>) -> tensor<544x736xf16, #l5> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_b}
      : (tensor<544x200xf16>, tensor<736x200xf16>) -> tensor<544x736xf16, #l5>
  return %0 : tensor<544x736xf16, #l5>
}

func.func @b32x32_tn(%a: tensor<72x544xbf16>, %b: tensor<72x736xbf16>) -> tensor<544x736xbf16, #l6> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_a}
      : (tensor<72x544xbf16>, tensor<72x736xbf16>) -> tensor<544x736xbf16, #l6>
  return %0 : tensor<544x736xbf16, #l6>
}

func.func @b32x32_tt(%a: tensor<136x544xbf16>, %b: tensor<736x136xbf16>) -> tensor<544x736xbf16, #l7> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_a, transpose_b}
      : (tensor<136x544xbf16>, tensor<736x136xbf16>) -> tensor<544x736xbf16, #l7>
  return %0 : tensor<544x736xbf16, #l7>
}

func.func @b64x64_nn(%a: tensor<576x64xf16>, %b: tensor<64x704xf16>) -> tensor<576x704xf16, #l8> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>}
      : (tensor<576x64xf16>, tensor<64x704xf16>) -> tensor<576x704xf16, #l8>
  return %0 : tensor<576x704xf16, #l8>
}

func.func @b64x64_nt(%a: tensor<576x320xf16>, %b: tensor<704x320xf16>) -> tensor<576x704xf16, #l9> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_b}
      : (tensor<576x320xf16>, tensor<704x320xf16>) -> tensor<576x704xf16, #l9>
  return %0 : tensor<576x704xf16, #l9>
}

func.func @b64x64_tn(%a: tensor<8x576xbf16>, %b: tensor<8x704xbf16>) -> tensor<576x704xbf16, #l10> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_a}
      : (tensor<8x576xbf16>, tensor<8x704xbf16>) -> tensor<576x704xbf16, #l10>
  return %0 : tensor<576x704xbf16, #l10>
}

func.func @b64x64_tt(%a: tensor<200x576xbf16>, %b: tensor<704x200xbf16>) -> tensor<576x704xbf16, #l11> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_a, transpose_b}
      : (tensor<200x576xbf16>, tensor<704x200xbf16>) -> tensor<576x704xbf16, #l11>
  return %0 : tensor<576x704xbf16, #l11>
}

func.func @b16x32_nn(%a: tensor<464x72xf16>, %b: tensor<72x576xf16>) -> tensor<464x576xf16, #l12> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>}
      : (tensor<464x72xf16>, tensor<72x576xf16>) -> tensor<464x576xf16, #l12>
  return %0 : tensor<464x576xf16, #l12>
}

func.func @b16x32_nt(%a: tensor<464x136xf16>, %b: tensor<576x136xf16>) -> tensor<464x576xf16, #l13> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_b}
      : (tensor<464x136xf16>, tensor<576x136xf16>) -> tensor<464x576xf16, #l13>
  return %0 : tensor<464x576xf16, #l13>
}

func.func @b16x32_tn(%a: tensor<64x464xbf16>, %b: tensor<64x576xbf16>) -> tensor<464x576xbf16, #l14> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_a}
      : (tensor<64x464xbf16>, tensor<64x576xbf16>) -> tensor<464x576xbf16, #l14>
  return %0 : tensor<464x576xbf16, #l14>
}

func.func @b16x32_tt(%a: tensor<320x464xbf16>, %b: tensor<576x320xbf16>) -> tensor<464x576xbf16, #l15> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_a, transpose_b}
      : (tensor<320x464xbf16>, tensor<576x320xbf16>) -> tensor<464x576xbf16, #l15>
  return %0 : tensor<464x576xbf16, #l15>
}

func.func @b32x16_nn(%a: tensor<512x8xf16>, %b: tensor<8x592xf16>) -> tensor<512x592xf16, #l16> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>}
      : (tensor<512x8xf16>, tensor<8x592xf16>) -> tensor<512x592xf16, #l16>
  return %0 : tensor<512x592xf16, #l16>
}

func.func @b32x16_nt(%a: tensor<512x200xf16>, %b: tensor<592x200xf16>) -> tensor<512x592xf16, #l17> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_b}
      : (tensor<512x200xf16>, tensor<592x200xf16>) -> tensor<512x592xf16, #l17>
  return %0 : tensor<512x592xf16, #l17>
}

func.func @b32x16_tn(%a: tensor<72x512xbf16>, %b: tensor<72x592xbf16>) -> tensor<512x592xbf16, #l18> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_a}
      : (tensor<72x512xbf16>, tensor<72x592xbf16>) -> tensor<512x592xbf16, #l18>
  return %0 : tensor<512x592xbf16, #l18>
}

func.func @b32x16_tt(%a: tensor<136x512xbf16>, %b: tensor<592x136xbf16>) -> tensor<512x592xbf16, #l19> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_a, transpose_b}
      : (tensor<136x512xbf16>, tensor<592x136xbf16>) -> tensor<512x592xbf16, #l19>
  return %0 : tensor<512x592xbf16, #l19>
}

func.func @b16x64_nn(%a: tensor<464x64xf16>, %b: tensor<64x576xf16>) -> tensor<464x576xf16, #l20> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>}
      : (tensor<464x64xf16>, tensor<64x576xf16>) -> tensor<464x576xf16, #l20>
  return %0 : tensor<464x576xf16, #l20>
}

func.func @b16x64_nt(%a: tensor<464x320xf16>, %b: tensor<576x320xf16>) -> tensor<464x576xf16, #l21> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_b}
      : (tensor<464x320xf16>, tensor<576x320xf16>) -> tensor<464x576xf16, #l21>
  return %0 : tensor<464x576xf16, #l21>
}

func.func @b16x64_tn(%a: tensor<8x464xbf16>, %b: tensor<8x576xbf16>) -> tensor<464x576xbf16, #l22> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_a}
      : (tensor<8x464xbf16>, tensor<8x576xbf16>) -> tensor<464x576xbf16, #l22>
  return %0 : tensor<464x576xbf16, #l22>
}

func.func @b16x64_tt(%a: tensor<200x464xbf16>, %b: tensor<576x200xbf16>) -> tensor<464x576xbf16, #l23> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_a, transpose_b}
      : (tensor<200x464xbf16>, tensor<576x200xbf16>) -> tensor<464x576xbf16, #l23>
  return %0 : tensor<464x576xbf16, #l23>
}

func.func @b64x16_nn(%a: tensor<512x72xf16>, %b: tensor<72x592xf16>) -> tensor<512x592xf16, #l24> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>}
      : (tensor<512x72xf16>, tensor<72x592xf16>) -> tensor<512x592xf16, #l24>
  return %0 : tensor<512x592xf16, #l24>
}

func.func @b64x16_nt(%a: tensor<512x136xf16>, %b: tensor<592x136xf16>) -> tensor<512x592xf16, #l25> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_b}
      : (tensor<512x136xf16>, tensor<592x136xf16>) -> tensor<512x592xf16, #l25>
  return %0 : tensor<512x592xf16, #l25>
}

func.func @b64x16_tn(%a: tensor<64x512xbf16>, %b: tensor<64x592xbf16>) -> tensor<512x592xbf16, #l26> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_a}
      : (tensor<64x512xbf16>, tensor<64x592xbf16>) -> tensor<512x592xbf16, #l26>
  return %0 : tensor<512x592xbf16, #l26>
}

func.func @b64x16_tt(%a: tensor<320x512xbf16>, %b: tensor<592x320xbf16>) -> tensor<512x592xbf16, #l27> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_a, transpose_b}
      : (tensor<320x512xbf16>, tensor<592x320xbf16>) -> tensor<512x592xbf16, #l27>
  return %0 : tensor<512x592xbf16, #l27>
}

func.func @b32x64_nn(%a: tensor<512x8xf16>, %b: tensor<8x576xf16>) -> tensor<512x576xf16, #l28> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>}
      : (tensor<512x8xf16>, tensor<8x576xf16>) -> tensor<512x576xf16, #l28>
  return %0 : tensor<512x576xf16, #l28>
}

func.func @b32x64_nt(%a: tensor<512x200xf16>, %b: tensor<576x200xf16>) -> tensor<512x576xf16, #l29> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_b}
      : (tensor<512x200xf16>, tensor<576x200xf16>) -> tensor<512x576xf16, #l29>
  return %0 : tensor<512x576xf16, #l29>
}

func.func @b32x64_tn(%a: tensor<72x512xbf16>, %b: tensor<72x576xbf16>) -> tensor<512x576xbf16, #l30> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_a}
      : (tensor<72x512xbf16>, tensor<72x576xbf16>) -> tensor<512x576xbf16, #l30>
  return %0 : tensor<512x576xbf16, #l30>
}

func.func @b32x64_tt(%a: tensor<136x512xbf16>, %b: tensor<576x136xbf16>) -> tensor<512x576xbf16, #l31> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_a, transpose_b}
      : (tensor<136x512xbf16>, tensor<576x136xbf16>) -> tensor<512x576xbf16, #l31>
  return %0 : tensor<512x576xbf16, #l31>
}

func.func @b64x32_nn(%a: tensor<512x64xf16>, %b: tensor<64x576xf16>) -> tensor<512x576xf16, #l32> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>}
      : (tensor<512x64xf16>, tensor<64x576xf16>) -> tensor<512x576xf16, #l32>
  return %0 : tensor<512x576xf16, #l32>
}

func.func @b64x32_nt(%a: tensor<512x320xf16>, %b: tensor<576x320xf16>) -> tensor<512x576xf16, #l33> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_b}
      : (tensor<512x320xf16>, tensor<576x320xf16>) -> tensor<512x576xf16, #l33>
  return %0 : tensor<512x576xf16, #l33>
}

func.func @b64x32_tn(%a: tensor<8x512xbf16>, %b: tensor<8x576xbf16>) -> tensor<512x576xbf16, #l34> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_a}
      : (tensor<8x512xbf16>, tensor<8x576xbf16>) -> tensor<512x576xbf16, #l34>
  return %0 : tensor<512x576xbf16, #l34>
}

func.func @b64x32_tt(%a: tensor<200x512xbf16>, %b: tensor<576x200xbf16>) -> tensor<512x576xbf16, #l35> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_a, transpose_b}
      : (tensor<200x512xbf16>, tensor<576x200xbf16>) -> tensor<512x576xbf16, #l35>
  return %0 : tensor<512x576xbf16, #l35>
}

func.func @b64x128_nn(%a: tensor<576x72xf16>, %b: tensor<72x640xf16>) -> tensor<576x640xf16, #l36> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>}
      : (tensor<576x72xf16>, tensor<72x640xf16>) -> tensor<576x640xf16, #l36>
  return %0 : tensor<576x640xf16, #l36>
}

func.func @b64x128_nt(%a: tensor<576x136xf16>, %b: tensor<640x136xf16>) -> tensor<576x640xf16, #l37> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_b}
      : (tensor<576x136xf16>, tensor<640x136xf16>) -> tensor<576x640xf16, #l37>
  return %0 : tensor<576x640xf16, #l37>
}

func.func @b64x128_tn(%a: tensor<64x576xbf16>, %b: tensor<64x640xbf16>) -> tensor<576x640xbf16, #l38> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_a}
      : (tensor<64x576xbf16>, tensor<64x640xbf16>) -> tensor<576x640xbf16, #l38>
  return %0 : tensor<576x640xbf16, #l38>
}

func.func @b64x128_tt(%a: tensor<320x576xbf16>, %b: tensor<640x320xbf16>) -> tensor<576x640xbf16, #l39> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_a, transpose_b}
      : (tensor<320x576xbf16>, tensor<640x320xbf16>) -> tensor<576x640xbf16, #l39>
  return %0 : tensor<576x640xbf16, #l39>
}

func.func @b192x64_nn(%a: tensor<576x8xf16>, %b: tensor<8x576xf16>) -> tensor<576x576xf16, #l40> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>}
      : (tensor<576x8xf16>, tensor<8x576xf16>) -> tensor<576x576xf16, #l40>
  return %0 : tensor<576x576xf16, #l40>
}

func.func @b192x64_nt(%a: tensor<576x200xf16>, %b: tensor<576x200xf16>) -> tensor<576x576xf16, #l41> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_b}
      : (tensor<576x200xf16>, tensor<576x200xf16>) -> tensor<576x576xf16, #l41>
  return %0 : tensor<576x576xf16, #l41>
}

func.func @b192x64_tn(%a: tensor<72x576xbf16>, %b: tensor<72x576xbf16>) -> tensor<576x576xbf16, #l42> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_a}
      : (tensor<72x576xbf16>, tensor<72x576xbf16>) -> tensor<576x576xbf16, #l42>
  return %0 : tensor<576x576xbf16, #l42>
}

func.func @b192x64_tt(%a: tensor<136x576xbf16>, %b: tensor<576x136xbf16>) -> tensor<576x576xbf16, #l43> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_a, transpose_b}
      : (tensor<136x576xbf16>, tensor<576x136xbf16>) -> tensor<576x576xbf16, #l43>
  return %0 : tensor<576x576xbf16, #l43>
}

func.func @b16_heads_nt(%a: tensor<2x3x1024x64xf16>, %b: tensor<2x3x1024x64xf16>) -> tensor<2x3x1024x1024xf16, #l44> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_b}
      : (tensor<2x3x1024x64xf16>, tensor<2x3x1024x64xf16>) -> tensor<2x3x1024x1024xf16, #l44>
  return %0 : tensor<2x3x1024x1024xf16, #l44>
}

func.func @b16_heads_tt(%a: tensor<2x3x64x1024xf16>, %b: tensor<2x3x1024x64xf16>) -> tensor<2x3x1024x1024xf16, #l44> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_a, transpose_b}
      : (tensor<2x3x64x1024xf16>, tensor<2x3x1024x64xf16>) -> tensor<2x3x1024x1024xf16, #l44>
  return %0 : tensor<2x3x1024x1024xf16, #l44>
}

func.func @b16_heads_nn(%a: tensor<2x3x1024x72xf16>, %b: tensor<2x3x72x1024xf16>) -> tensor<2x3x1024x1024xf16, #l44> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>}
      : (tensor<2x3x1024x72xf16>, tensor<2x3x72x1024xf16>) -> tensor<2x3x1024x1024xf16, #l44>
  return %0 : tensor<2x3x1024x1024xf16, #l44>
}

func.func @b16_runs_nt(%a: tensor<1024x128xf16>, %b: tensor<1024x128xf16>) -> tensor<1024x1024xf16, #l45> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_b}
      : (tensor<1024x128xf16>, tensor<1024x128xf16>) -> tensor<1024x1024xf16, #l45>
  return %0 : tensor<1024x1024xf16, #l45>
}

func.func @b16_runs_tn_shared(%a: tensor<2x2x128x1024xbf16>, %b: tensor<2x2x128x1024xbf16>) -> tensor<2x2x1024x1024xbf16, #l45> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_a}
      : (tensor<2x2x128x1024xbf16>, tensor<2x2x128x1024xbf16>) -> tensor<2x2x1024x1024xbf16, #l45>
  return %0 : tensor<2x2x1024x1024xbf16, #l45>
}

func.func @b16_one(%a: tensor<16x40xf16>, %b: tensor<40x16xf16>) -> tensor<16x16xf16, #l46> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>}
      : (tensor<16x40xf16>, tensor<40x16xf16>) -> tensor<16x16xf16, #l46>
  return %0 : tensor<16x16xf16, #l46>
}

func.func @b16_many_nn(%a: tensor<2048x136xf16>, %b: tensor<136x2048xf16>) -> tensor<2048x2048xf16, #l47> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>}
      : (tensor<2048x136xf16>, tensor<136x2048xf16>) -> tensor<2048x2048xf16, #l47>
  return %0 : tensor<2048x2048xf16, #l47>
}

func.func @b16_many_nt(%a: tensor<2048x136xf16>, %b: tensor<2048x136xf16>) -> tensor<2048x2048xf16, #l47> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_b}
      : (tensor<2048x136xf16>, tensor<2048x136xf16>) -> tensor<2048x2048xf16, #l47>
  return %0 : tensor<2048x2048xf16, #l47>
}

func.func @b32_heads_nt(%a: tensor<2x3x1024x64xf16>, %b: tensor<2x3x1024x64xf16>) -> tensor<2x3x1024x1024xf16, #l48> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_b}
      : (tensor<2x3x1024x64xf16>, tensor<2x3x1024x64xf16>) -> tensor<2x3x1024x1024xf16, #l48>
  return %0 : tensor<2x3x1024x1024xf16, #l48>
}

func.func @b32_heads_tt(%a: tensor<2x3x64x1024xf16>, %b: tensor<2x3x1024x64xf16>) -> tensor<2x3x1024x1024xf16, #l48> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_a, transpose_b}
      : (tensor<2x3x64x1024xf16>, tensor<2x3x1024x64xf16>) -> tensor<2x3x1024x1024xf16, #l48>
  return %0 : tensor<2x3x1024x1024xf16, #l48>
}

func.func @b32_heads_nn(%a: tensor<2x3x1024x72xf16>, %b: tensor<2x3x72x1024xf16>) -> tensor<2x3x1024x1024xf16, #l48> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>}
      : (tensor<2x3x1024x72xf16>, tensor<2x3x72x1024xf16>) -> tensor<2x3x1024x1024xf16, #l48>
  return %0 : tensor<2x3x1024x1024xf16, #l48>
}

func.func @b32_runs_nt(%a: tensor<1024x128xf16>, %b: tensor<1024x128xf16>) -> tensor<1024x1024xf16, #l49> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_b}
      : (tensor<1024x128xf16>, tensor<1024x128xf16>) -> tensor<1024x1024xf16, #l49>
  return %0 : tensor<1024x1024xf16, #l49>
}

func.func @b32_runs_tn_shared(%a: tensor<2x2x128x1024xbf16>, %b: tensor<2x2x128x1024xbf16>) -> tensor<2x2x1024x1024xbf16, #l49> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_a}
      : (tensor<2x2x128x1024xbf16>, tensor<2x2x128x1024xbf16>) -> tensor<2x2x1024x1024xbf16, #l49>
  return %0 : tensor<2x2x1024x1024xbf16, #l49>
}

func.func @b32_one(%a: tensor<32x40xf16>, %b: tensor<40x32xf16>) -> tensor<32x32xf16, #l50> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>}
      : (tensor<32x40xf16>, tensor<40x32xf16>) -> tensor<32x32xf16, #l50>
  return %0 : tensor<32x32xf16, #l50>
}

func.func @b32_many_nn(%a: tensor<2048x136xf16>, %b: tensor<136x2048xf16>) -> tensor<2048x2048xf16, #l51> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>}
      : (tensor<2048x136xf16>, tensor<136x2048xf16>) -> tensor<2048x2048xf16, #l51>
  return %0 : tensor<2048x2048xf16, #l51>
}

func.func @b32_many_nt(%a: tensor<2048x136xf16>, %b: tensor<2048x136xf16>) -> tensor<2048x2048xf16, #l51> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_b}
      : (tensor<2048x136xf16>, tensor<2048x136xf16>) -> tensor<2048x2048xf16, #l51>
  return %0 : tensor<2048x2048xf16, #l51>
}

func.func @b64_heads_nt(%a: tensor<2x3x1024x64xf16>, %b: tensor<2x3x1024x64xf16>) -> tensor<2x3x1024x1024xf16, #l52> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_b}
      : (tensor<2x3x1024x64xf16>, tensor<2x3x1024x64xf16>) -> tensor<2x3x1024x1024xf16, #l52>
  return %0 : tensor<2x3x1024x1024xf16, #l52>
}

func.func @b64_heads_tt(%a: tensor<2x3x64x1024xf16>, %b: tensor<2x3x1024x64xf16>) -> tensor<2x3x1024x1024xf16, #l52> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_a, transpose_b}
      : (tensor<2x3x64x1024xf16>, tensor<2x3x1024x64xf16>) -> tensor<2x3x1024x1024xf16, #l52>
  return %0 : tensor<2x3x1024x1024xf16, #l52>
}

func.func @b64_heads_nn(%a: tensor<2x3x1024x72xf16>, %b: tensor<2x3x72x1024xf16>) -> tensor<2x3x1024x1024xf16, #l52> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>}
      : (tensor<2x3x1024x72xf16>, tensor<2x3x72x1024xf16>) -> tensor<2x3x1024x1024xf16, #l52>
  return %0 : tensor<2x3x1024x1024xf16, #l52>
}

func.func @b64_runs_nt(%a: tensor<1024x128xf16>, %b: tensor<1024x128xf16>) -> tensor<1024x1024xf16, #l53> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_b}
      : (tensor<1024x128xf16>, tensor<1024x128xf16>) -> tensor<1024x1024xf16, #l53>
  return %0 : tensor<1024x1024xf16, #l53>
}

func.func @b64_runs_tn_shared(%a: tensor<2x2x128x1024xbf16>, %b: tensor<2x2x128x1024xbf16>) -> tensor<2x2x1024x1024xbf16, #l53> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_a}
      : (tensor<2x2x128x1024xbf16>, tensor<2x2x128x1024xbf16>) -> tensor<2x2x1024x1024xbf16, #l53>
  return %0 : tensor<2x2x1024x1024xbf16, #l53>
}

func.func @b64_one(%a: tensor<64x40xf16>, %b: tensor<40x64xf16>) -> tensor<64x64xf16, #l54> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>}
      : (tensor<64x40xf16>, tensor<40x64xf16>) -> tensor<64x64xf16, #l54>
  return %0 : tensor<64x64xf16, #l54>
}

func.func @b64_many_nn(%a: tensor<2048x136xf16>, %b: tensor<136x2048xf16>) -> tensor<2048x2048xf16, #l55> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>}
      : (tensor<2048x136xf16>, tensor<136x2048xf16>) -> tensor<2048x2048xf16, #l55>
  return %0 : tensor<2048x2048xf16, #l55>
}

func.func @b64_many_nt(%a: tensor<2048x136xf16>, %b: tensor<2048x136xf16>) -> tensor<2048x2048xf16, #l55> {
  %0 = blocksparse.sdd %a, %b
      {schedule = #blocksparse.schedule<cuda.wgmma, gather = true>, transpose_b}
      : (tensor<2048x136xf16>, tensor<2048x136xf16>) -> tensor<2048x2048xf16, #l55>
  return %0 : tensor<2048x2048xf16, #l55>
}
