// sdd on tensor cores: every transpose, blocks from 16 to 128, K of any length.
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --repeat-check --poison --device=simulated --target=cuda:sm_80 %}

#l0 = #blocksparse.layout<16x16, grid 2x2, mask "10/00">
#l1 = #blocksparse.layout<16x16, grid 3x3, mask "011/000/011">
#l2 = #blocksparse.layout<16x16, grid 2x2, mask "01/00">
#l3 = #blocksparse.layout<16x16, grid 2x2, mask "11/00">
#l4 = #blocksparse.layout<32x32, grid 2x2, mask "11/00">
#l5 = #blocksparse.layout<32x32, grid 3x3, mask "011/000/011">
#l6 = #blocksparse.layout<32x32, grid 2x2, mask "11/00">
#l7 = #blocksparse.layout<32x32, grid 2x2, mask "10/00">
#l8 = #blocksparse.layout<64x64, grid 2x2, mask "01/00">
#l9 = #blocksparse.layout<64x64, grid 3x3, mask "101/000/011">
#l10 = #blocksparse.layout<64x64, grid 2x2, mask "10/00">
#l11 = #blocksparse.layout<64x64, grid 2x2, mask "11/00">
#l12 = #blocksparse.layout<128x128, grid 2x2, mask "11/00">
#l13 = #blocksparse.layout<128x128, grid 3x3, mask "001/000/111">
#l14 = #blocksparse.layout<128x128, grid 2x2, mask "11/00">
#l15 = #blocksparse.layout<128x128, grid 2x2, mask "10/00">
#l16 = #blocksparse.layout<16x32, grid 2x2, mask "11/00">
#l17 = #blocksparse.layout<16x32, grid 3x3, mask "101/000/111">
#l18 = #blocksparse.layout<16x32, grid 2x2, mask "11/00">
#l19 = #blocksparse.layout<16x32, grid 2x2, mask "11/00">
#l20 = #blocksparse.layout<32x16, grid 2x2, mask "11/00">
#l21 = #blocksparse.layout<32x16, grid 3x3, mask "000/000/011">
#l22 = #blocksparse.layout<32x16, grid 2x2, mask "10/00">
#l23 = #blocksparse.layout<32x16, grid 2x2, mask "10/00">
#l24 = #blocksparse.layout<48x80, grid 2x2, mask "11/00">
#l25 = #blocksparse.layout<48x80, grid 3x3, mask "101/000/101">
#l26 = #blocksparse.layout<48x80, grid 2x2, mask "11/00">
#l27 = #blocksparse.layout<48x80, grid 2x2, mask "11/00">
#l28 = #blocksparse.layout<32x32, grid 2x3, mask "111/000">

func.func @sdd_16x16_nn_f16(%a0: tensor<32x24xf16>, %a1: tensor<24x24xf16>) -> tensor<32x24xf16, #l0> {
  %0 = blocksparse.sdd %a0, %a1 {alpha = 5.000000e-01 : f64} : (tensor<32x24xf16>, tensor<24x24xf16>) -> tensor<32x24xf16, #l0>
  return %0 : tensor<32x24xf16, #l0>
}

func.func @sdd_16x16_nt_bf16(%a0: tensor<40x72xbf16>, %a1: tensor<40x72xbf16>) -> tensor<40x40xbf16, #l1> {
  %0 = blocksparse.sdd %a0, %a1 {transpose_b} : (tensor<40x72xbf16>, tensor<40x72xbf16>) -> tensor<40x40xbf16, #l1>
  return %0 : tensor<40x40xbf16, #l1>
}

func.func @sdd_16x16_tn_f16(%a0: tensor<8x24xf16>, %a1: tensor<8x32xf16>) -> tensor<24x32xf16, #l2> {
  %0 = blocksparse.sdd %a0, %a1 {transpose_a} : (tensor<8x24xf16>, tensor<8x32xf16>) -> tensor<24x32xf16, #l2>
  return %0 : tensor<24x32xf16, #l2>
}

func.func @sdd_16x16_tt_bf16(%a0: tensor<40x32xbf16>, %a1: tensor<32x40xbf16>) -> tensor<32x32xf32, #l3> {
  %0 = blocksparse.sdd %a0, %a1 {transpose_a, transpose_b, alpha = 5.000000e-01 : f64} : (tensor<40x32xbf16>, tensor<32x40xbf16>) -> tensor<32x32xf32, #l3>
  return %0 : tensor<32x32xf32, #l3>
}

func.func @sdd_32x32_nn_f16(%a0: tensor<64x33xf16>, %a1: tensor<33x56xf16>) -> tensor<64x56xf32, #l4> {
  %0 = blocksparse.sdd %a0, %a1 : (tensor<64x33xf16>, tensor<33x56xf16>) -> tensor<64x56xf32, #l4>
  return %0 : tensor<64x56xf32, #l4>
}

func.func @sdd_32x32_nt_bf16(%a0: tensor<72x72xbf16>, %a1: tensor<72x72xbf16>) -> tensor<72x72xf32, #l5> {
  %0 = blocksparse.sdd %a0, %a1 {transpose_b} : (tensor<72x72xbf16>, tensor<72x72xbf16>) -> tensor<72x72xf32, #l5>
  return %0 : tensor<72x72xf32, #l5>
}

func.func @sdd_32x32_tn_f16(%a0: tensor<8x56xf16>, %a1: tensor<8x64xf16>) -> tensor<56x64xf16, #l6> {
  %0 = blocksparse.sdd %a0, %a1 {transpose_a, alpha = 5.000000e-01 : f64} : (tensor<8x56xf16>, tensor<8x64xf16>) -> tensor<56x64xf16, #l6>
  return %0 : tensor<56x64xf16, #l6>
}

func.func @sdd_32x32_tt_bf16(%a0: tensor<40x64xbf16>, %a1: tensor<64x40xbf16>) -> tensor<64x64xbf16, #l7> {
  %0 = blocksparse.sdd %a0, %a1 {transpose_a, transpose_b} : (tensor<40x64xbf16>, tensor<64x40xbf16>) -> tensor<64x64xbf16, #l7>
  return %0 : tensor<64x64xbf16, #l7>
}

func.func @sdd_64x64_nn_f16(%a0: tensor<128x24xf16>, %a1: tensor<24x120xf16>) -> tensor<128x120xf16, #l8> {
  %0 = blocksparse.sdd %a0, %a1 : (tensor<128x24xf16>, tensor<24x120xf16>) -> tensor<128x120xf16, #l8>
  return %0 : tensor<128x120xf16, #l8>
}

func.func @sdd_64x64_nt_bf16(%a0: tensor<136x33xbf16>, %a1: tensor<136x33xbf16>) -> tensor<136x136xf32, #l9> {
  %0 = blocksparse.sdd %a0, %a1 {transpose_b, alpha = 5.000000e-01 : f64} : (tensor<136x33xbf16>, tensor<136x33xbf16>) -> tensor<136x136xf32, #l9>
  return %0 : tensor<136x136xf32, #l9>
}

func.func @sdd_64x64_tn_f16(%a0: tensor<8x120xf16>, %a1: tensor<8x128xf16>) -> tensor<120x128xf32, #l10> {
  %0 = blocksparse.sdd %a0, %a1 {transpose_a} : (tensor<8x120xf16>, tensor<8x128xf16>) -> tensor<120x128xf32, #l10>
  return %0 : tensor<120x128xf32, #l10>
}

func.func @sdd_64x64_tt_bf16(%a0: tensor<40x128xbf16>, %a1: tensor<128x40xbf16>) -> tensor<128x128xf32, #l11> {
  %0 = blocksparse.sdd %a0, %a1 {transpose_a, transpose_b} : (tensor<40x128xbf16>, tensor<128x40xbf16>) -> tensor<128x128xf32, #l11>
  return %0 : tensor<128x128xf32, #l11>
}

func.func @sdd_128x128_nn_f16(%a0: tensor<256x24xf16>, %a1: tensor<24x248xf16>) -> tensor<256x248xf16, #l12> {
  %0 = blocksparse.sdd %a0, %a1 {alpha = 5.000000e-01 : f64} : (tensor<256x24xf16>, tensor<24x248xf16>) -> tensor<256x248xf16, #l12>
  return %0 : tensor<256x248xf16, #l12>
}

func.func @sdd_128x128_nt_bf16(%a0: tensor<264x72xbf16>, %a1: tensor<264x72xbf16>) -> tensor<264x264xbf16, #l13> {
  %0 = blocksparse.sdd %a0, %a1 {transpose_b} : (tensor<264x72xbf16>, tensor<264x72xbf16>) -> tensor<264x264xbf16, #l13>
  return %0 : tensor<264x264xbf16, #l13>
}

func.func @sdd_128x128_tn_f16(%a0: tensor<33x248xf16>, %a1: tensor<33x256xf16>) -> tensor<248x256xf16, #l14> {
  %0 = blocksparse.sdd %a0, %a1 {transpose_a} : (tensor<33x248xf16>, tensor<33x256xf16>) -> tensor<248x256xf16, #l14>
  return %0 : tensor<248x256xf16, #l14>
}

func.func @sdd_128x128_tt_bf16(%a0: tensor<40x256xbf16>, %a1: tensor<256x40xbf16>) -> tensor<256x256xf32, #l15> {
  %0 = blocksparse.sdd %a0, %a1 {transpose_a, transpose_b, alpha = 5.000000e-01 : f64} : (tensor<40x256xbf16>, tensor<256x40xbf16>) -> tensor<256x256xf32, #l15>
  return %0 : tensor<256x256xf32, #l15>
}

func.func @sdd_16x32_nn_f16(%a0: tensor<32x24xf16>, %a1: tensor<24x56xf16>) -> tensor<32x56xf32, #l16> {
  %0 = blocksparse.sdd %a0, %a1 : (tensor<32x24xf16>, tensor<24x56xf16>) -> tensor<32x56xf32, #l16>
  return %0 : tensor<32x56xf32, #l16>
}

func.func @sdd_16x32_nt_bf16(%a0: tensor<40x72xbf16>, %a1: tensor<72x72xbf16>) -> tensor<40x72xf32, #l17> {
  %0 = blocksparse.sdd %a0, %a1 {transpose_b} : (tensor<40x72xbf16>, tensor<72x72xbf16>) -> tensor<40x72xf32, #l17>
  return %0 : tensor<40x72xf32, #l17>
}

func.func @sdd_16x32_tn_f16(%a0: tensor<8x24xf16>, %a1: tensor<8x64xf16>) -> tensor<24x64xf16, #l18> {
  %0 = blocksparse.sdd %a0, %a1 {transpose_a, alpha = 5.000000e-01 : f64} : (tensor<8x24xf16>, tensor<8x64xf16>) -> tensor<24x64xf16, #l18>
  return %0 : tensor<24x64xf16, #l18>
}

func.func @sdd_16x32_tt_bf16(%a0: tensor<33x32xbf16>, %a1: tensor<64x33xbf16>) -> tensor<32x64xbf16, #l19> {
  %0 = blocksparse.sdd %a0, %a1 {transpose_a, transpose_b} : (tensor<33x32xbf16>, tensor<64x33xbf16>) -> tensor<32x64xbf16, #l19>
  return %0 : tensor<32x64xbf16, #l19>
}

func.func @sdd_32x16_nn_f16(%a0: tensor<64x24xf16>, %a1: tensor<24x24xf16>) -> tensor<64x24xf16, #l20> {
  %0 = blocksparse.sdd %a0, %a1 : (tensor<64x24xf16>, tensor<24x24xf16>) -> tensor<64x24xf16, #l20>
  return %0 : tensor<64x24xf16, #l20>
}

func.func @sdd_32x16_nt_bf16(%a0: tensor<72x72xbf16>, %a1: tensor<40x72xbf16>) -> tensor<72x40xf32, #l21> {
  %0 = blocksparse.sdd %a0, %a1 {transpose_b, alpha = 5.000000e-01 : f64} : (tensor<72x72xbf16>, tensor<40x72xbf16>) -> tensor<72x40xf32, #l21>
  return %0 : tensor<72x40xf32, #l21>
}

func.func @sdd_32x16_tn_f16(%a0: tensor<8x56xf16>, %a1: tensor<8x32xf16>) -> tensor<56x32xf32, #l22> {
  %0 = blocksparse.sdd %a0, %a1 {transpose_a} : (tensor<8x56xf16>, tensor<8x32xf16>) -> tensor<56x32xf32, #l22>
  return %0 : tensor<56x32xf32, #l22>
}

func.func @sdd_32x16_tt_bf16(%a0: tensor<40x64xbf16>, %a1: tensor<32x40xbf16>) -> tensor<64x32xf32, #l23> {
  %0 = blocksparse.sdd %a0, %a1 {transpose_a, transpose_b} : (tensor<40x64xbf16>, tensor<32x40xbf16>) -> tensor<64x32xf32, #l23>
  return %0 : tensor<64x32xf32, #l23>
}

func.func @sdd_48x80_nn_f16(%a0: tensor<96x33xf16>, %a1: tensor<33x152xf16>) -> tensor<96x152xf16, #l24> {
  %0 = blocksparse.sdd %a0, %a1 {alpha = 5.000000e-01 : f64} : (tensor<96x33xf16>, tensor<33x152xf16>) -> tensor<96x152xf16, #l24>
  return %0 : tensor<96x152xf16, #l24>
}

func.func @sdd_48x80_nt_bf16(%a0: tensor<104x72xbf16>, %a1: tensor<168x72xbf16>) -> tensor<104x168xbf16, #l25> {
  %0 = blocksparse.sdd %a0, %a1 {transpose_b} : (tensor<104x72xbf16>, tensor<168x72xbf16>) -> tensor<104x168xbf16, #l25>
  return %0 : tensor<104x168xbf16, #l25>
}

func.func @sdd_48x80_tn_f16(%a0: tensor<8x88xf16>, %a1: tensor<8x160xf16>) -> tensor<88x160xf16, #l26> {
  %0 = blocksparse.sdd %a0, %a1 {transpose_a} : (tensor<8x88xf16>, tensor<8x160xf16>) -> tensor<88x160xf16, #l26>
  return %0 : tensor<88x160xf16, #l26>
}

func.func @sdd_48x80_tt_bf16(%a0: tensor<40x96xbf16>, %a1: tensor<160x40xbf16>) -> tensor<96x160xf32, #l27> {
  %0 = blocksparse.sdd %a0, %a1 {transpose_a, transpose_b, alpha = 5.000000e-01 : f64} : (tensor<40x96xbf16>, tensor<160x40xbf16>) -> tensor<96x160xf32, #l27>
  return %0 : tensor<96x160xf32, #l27>
}

func.func @sampled_addmm(%a0: tensor<64x72xf16, #l28>, %a1: tensor<64x40xf16>, %a2: tensor<40x72xf16>) -> tensor<64x72xf16, #l28> {
  %0 = blocksparse.sampled_addmm %a0, %a1, %a2 {alpha = 5.000000e-01 : f64, beta = -2.000000e+00 : f64} : (tensor<64x72xf16, #l28>, tensor<64x40xf16>, tensor<40x72xf16>) -> tensor<64x72xf16, #l28>
  return %0 : tensor<64x72xf16, #l28>
}
