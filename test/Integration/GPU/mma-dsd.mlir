// dsd on tensor cores: every transpose, blocks from 16 to 128, sizes that are no multiples of
// the tile or of the block. Where a row is not a multiple of 16 bytes the scalar kernel runs.
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --repeat-check --poison --device=simulated --target=cuda:sm_80 %}

#l0 = #blocksparse.layout<16x16, grid 2x2, mask "11/00">
#l1 = #blocksparse.layout<16x16, grid 3x3, mask "011/000/111">
#l2 = #blocksparse.layout<16x16, grid 2x2, mask "01/00">
#l3 = #blocksparse.layout<16x16, grid 3x2, mask "00/00/10">
#l4 = #blocksparse.layout<32x32, grid 2x2, mask "11/00">
#l5 = #blocksparse.layout<32x32, grid 3x3, mask "010/000/111">
#l6 = #blocksparse.layout<32x32, grid 2x2, mask "01/00">
#l7 = #blocksparse.layout<32x32, grid 3x2, mask "11/00/10">
#l8 = #blocksparse.layout<64x64, grid 2x2, mask "10/00">
#l9 = #blocksparse.layout<64x64, grid 3x3, mask "011/000/100">
#l10 = #blocksparse.layout<64x64, grid 2x2, mask "10/00">
#l11 = #blocksparse.layout<64x64, grid 3x2, mask "00/00/01">
#l12 = #blocksparse.layout<128x128, grid 2x2, mask "01/00">
#l13 = #blocksparse.layout<128x128, grid 3x3, mask "001/000/111">
#l14 = #blocksparse.layout<128x128, grid 2x2, mask "10/00">
#l15 = #blocksparse.layout<128x128, grid 3x2, mask "10/00/00">
#l16 = #blocksparse.layout<16x32, grid 2x2, mask "10/00">
#l17 = #blocksparse.layout<16x32, grid 3x3, mask "100/000/110">
#l18 = #blocksparse.layout<16x32, grid 2x2, mask "11/00">
#l19 = #blocksparse.layout<16x32, grid 3x2, mask "10/00/00">
#l20 = #blocksparse.layout<32x16, grid 2x2, mask "10/00">
#l21 = #blocksparse.layout<32x16, grid 3x3, mask "011/000/111">
#l22 = #blocksparse.layout<32x16, grid 2x2, mask "11/00">
#l23 = #blocksparse.layout<32x16, grid 3x2, mask "11/00/01">
#l24 = #blocksparse.layout<48x16, grid 2x2, mask "11/00">
#l25 = #blocksparse.layout<48x16, grid 3x3, mask "001/000/110">
#l26 = #blocksparse.layout<48x16, grid 2x2, mask "11/00">
#l27 = #blocksparse.layout<48x16, grid 3x2, mask "10/00/00">
#l28 = #blocksparse.layout<96x64, grid 2x2, mask "01/00">
#l29 = #blocksparse.layout<96x64, grid 3x3, mask "100/000/000">
#l30 = #blocksparse.layout<96x64, grid 2x2, mask "10/00">
#l31 = #blocksparse.layout<96x64, grid 3x2, mask "11/00/10">

func.func @dsd_16x16_nnn_f16(%a0: tensor<32x24xf16, #l0>, %a1: tensor<24x24xf16>) -> tensor<32x24xf16> {
  %0 = blocksparse.dsd %a0, %a1 : (tensor<32x24xf16, #l0>, tensor<24x24xf16>) -> tensor<32x24xf16>
  return %0 : tensor<32x24xf16>
}

func.func @dsd_16x16_ntn_bf16(%a0: tensor<40x40xbf16, #l1>, %a1: tensor<72x40xbf16>) -> tensor<40x72xbf16> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_b} : (tensor<40x40xbf16, #l1>, tensor<72x40xbf16>) -> tensor<40x72xbf16>
  return %0 : tensor<40x72xbf16>
}

func.func @dsd_16x16_tnt_f16(%a0: tensor<24x29xf16, #l2>, %a1: tensor<24x136xf16>) -> tensor<136x29xf16> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a, transpose_out} : (tensor<24x29xf16, #l2>, tensor<24x136xf16>) -> tensor<136x29xf16>
  return %0 : tensor<136x29xf16>
}

func.func @dsd_16x16_ttt_bf16(%a0: tensor<35x32xbf16, #l3>, %a1: tensor<40x35xbf16>) -> tensor<40x32xf32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a, transpose_b, transpose_out} : (tensor<35x32xbf16, #l3>, tensor<40x35xbf16>) -> tensor<40x32xf32>
  return %0 : tensor<40x32xf32>
}

func.func @dsd_32x32_nnn_f16(%a0: tensor<64x56xf16, #l4>, %a1: tensor<56x24xf16>) -> tensor<64x24xf32> {
  %0 = blocksparse.dsd %a0, %a1 : (tensor<64x56xf16, #l4>, tensor<56x24xf16>) -> tensor<64x24xf32>
  return %0 : tensor<64x24xf32>
}

func.func @dsd_32x32_ntn_bf16(%a0: tensor<72x72xbf16, #l5>, %a1: tensor<72x72xbf16>) -> tensor<72x72xf32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_b} : (tensor<72x72xbf16, #l5>, tensor<72x72xbf16>) -> tensor<72x72xf32>
  return %0 : tensor<72x72xf32>
}

func.func @dsd_32x32_tnt_f16(%a0: tensor<56x61xf16, #l6>, %a1: tensor<56x37xf16>) -> tensor<37x61xf16> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a, transpose_out} : (tensor<56x61xf16, #l6>, tensor<56x37xf16>) -> tensor<37x61xf16>
  return %0 : tensor<37x61xf16>
}

func.func @dsd_32x32_ttt_bf16(%a0: tensor<67x64xbf16, #l7>, %a1: tensor<40x67xbf16>) -> tensor<40x64xbf16> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a, transpose_b, transpose_out} : (tensor<67x64xbf16, #l7>, tensor<40x67xbf16>) -> tensor<40x64xbf16>
  return %0 : tensor<40x64xbf16>
}

func.func @dsd_64x64_nnn_f16(%a0: tensor<128x120xf16, #l8>, %a1: tensor<120x24xf16>) -> tensor<128x24xf16> {
  %0 = blocksparse.dsd %a0, %a1 : (tensor<128x120xf16, #l8>, tensor<120x24xf16>) -> tensor<128x24xf16>
  return %0 : tensor<128x24xf16>
}

func.func @dsd_64x64_ntn_bf16(%a0: tensor<136x136xbf16, #l9>, %a1: tensor<72x136xbf16>) -> tensor<136x72xf32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_b} : (tensor<136x136xbf16, #l9>, tensor<72x136xbf16>) -> tensor<136x72xf32>
  return %0 : tensor<136x72xf32>
}

func.func @dsd_64x64_tnt_f16(%a0: tensor<120x125xf16, #l10>, %a1: tensor<120x136xf16>) -> tensor<136x125xf32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a, transpose_out} : (tensor<120x125xf16, #l10>, tensor<120x136xf16>) -> tensor<136x125xf32>
  return %0 : tensor<136x125xf32>
}

func.func @dsd_64x64_ttt_bf16(%a0: tensor<131x128xbf16, #l11>, %a1: tensor<40x131xbf16>) -> tensor<40x128xf32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a, transpose_b, transpose_out} : (tensor<131x128xbf16, #l11>, tensor<40x131xbf16>) -> tensor<40x128xf32>
  return %0 : tensor<40x128xf32>
}

func.func @dsd_128x128_nnn_f16(%a0: tensor<256x248xf16, #l12>, %a1: tensor<248x24xf16>) -> tensor<256x24xf16> {
  %0 = blocksparse.dsd %a0, %a1 : (tensor<256x248xf16, #l12>, tensor<248x24xf16>) -> tensor<256x24xf16>
  return %0 : tensor<256x24xf16>
}

func.func @dsd_128x128_ntn_bf16(%a0: tensor<264x264xbf16, #l13>, %a1: tensor<37x264xbf16>) -> tensor<264x37xbf16> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_b} : (tensor<264x264xbf16, #l13>, tensor<37x264xbf16>) -> tensor<264x37xbf16>
  return %0 : tensor<264x37xbf16>
}

func.func @dsd_128x128_tnt_f16(%a0: tensor<248x253xf16, #l14>, %a1: tensor<248x136xf16>) -> tensor<136x253xf16> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a, transpose_out} : (tensor<248x253xf16, #l14>, tensor<248x136xf16>) -> tensor<136x253xf16>
  return %0 : tensor<136x253xf16>
}

func.func @dsd_128x128_ttt_bf16(%a0: tensor<259x256xbf16, #l15>, %a1: tensor<40x259xbf16>) -> tensor<40x256xf32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a, transpose_b, transpose_out} : (tensor<259x256xbf16, #l15>, tensor<40x259xbf16>) -> tensor<40x256xf32>
  return %0 : tensor<40x256xf32>
}

func.func @dsd_16x32_nnn_f16(%a0: tensor<32x56xf16, #l16>, %a1: tensor<56x24xf16>) -> tensor<32x24xf32> {
  %0 = blocksparse.dsd %a0, %a1 : (tensor<32x56xf16, #l16>, tensor<56x24xf16>) -> tensor<32x24xf32>
  return %0 : tensor<32x24xf32>
}

func.func @dsd_16x32_ntn_bf16(%a0: tensor<40x72xbf16, #l17>, %a1: tensor<72x72xbf16>) -> tensor<40x72xf32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_b} : (tensor<40x72xbf16, #l17>, tensor<72x72xbf16>) -> tensor<40x72xf32>
  return %0 : tensor<40x72xf32>
}

func.func @dsd_16x32_tnt_f16(%a0: tensor<24x61xf16, #l18>, %a1: tensor<24x136xf16>) -> tensor<136x61xf16> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a, transpose_out} : (tensor<24x61xf16, #l18>, tensor<24x136xf16>) -> tensor<136x61xf16>
  return %0 : tensor<136x61xf16>
}

func.func @dsd_16x32_ttt_bf16(%a0: tensor<35x64xbf16, #l19>, %a1: tensor<40x35xbf16>) -> tensor<40x64xbf16> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a, transpose_b, transpose_out} : (tensor<35x64xbf16, #l19>, tensor<40x35xbf16>) -> tensor<40x64xbf16>
  return %0 : tensor<40x64xbf16>
}

func.func @dsd_32x16_nnn_f16(%a0: tensor<64x24xf16, #l20>, %a1: tensor<24x37xf16>) -> tensor<64x37xf16> {
  %0 = blocksparse.dsd %a0, %a1 : (tensor<64x24xf16, #l20>, tensor<24x37xf16>) -> tensor<64x37xf16>
  return %0 : tensor<64x37xf16>
}

func.func @dsd_32x16_ntn_bf16(%a0: tensor<72x40xbf16, #l21>, %a1: tensor<72x40xbf16>) -> tensor<72x72xf32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_b} : (tensor<72x40xbf16, #l21>, tensor<72x40xbf16>) -> tensor<72x72xf32>
  return %0 : tensor<72x72xf32>
}

func.func @dsd_32x16_tnt_f16(%a0: tensor<56x29xf16, #l22>, %a1: tensor<56x136xf16>) -> tensor<136x29xf32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a, transpose_out} : (tensor<56x29xf16, #l22>, tensor<56x136xf16>) -> tensor<136x29xf32>
  return %0 : tensor<136x29xf32>
}

func.func @dsd_32x16_ttt_bf16(%a0: tensor<67x32xbf16, #l23>, %a1: tensor<40x67xbf16>) -> tensor<40x32xf32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a, transpose_b, transpose_out} : (tensor<67x32xbf16, #l23>, tensor<40x67xbf16>) -> tensor<40x32xf32>
  return %0 : tensor<40x32xf32>
}

func.func @dsd_48x16_nnn_f16(%a0: tensor<96x24xf16, #l24>, %a1: tensor<24x24xf16>) -> tensor<96x24xf16> {
  %0 = blocksparse.dsd %a0, %a1 : (tensor<96x24xf16, #l24>, tensor<24x24xf16>) -> tensor<96x24xf16>
  return %0 : tensor<96x24xf16>
}

func.func @dsd_48x16_ntn_bf16(%a0: tensor<104x40xbf16, #l25>, %a1: tensor<72x40xbf16>) -> tensor<104x72xbf16> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_b} : (tensor<104x40xbf16, #l25>, tensor<72x40xbf16>) -> tensor<104x72xbf16>
  return %0 : tensor<104x72xbf16>
}

func.func @dsd_48x16_tnt_f16(%a0: tensor<88x29xf16, #l26>, %a1: tensor<88x136xf16>) -> tensor<136x29xf16> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a, transpose_out} : (tensor<88x29xf16, #l26>, tensor<88x136xf16>) -> tensor<136x29xf16>
  return %0 : tensor<136x29xf16>
}

func.func @dsd_48x16_ttt_bf16(%a0: tensor<99x32xbf16, #l27>, %a1: tensor<37x99xbf16>) -> tensor<37x32xf32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a, transpose_b, transpose_out} : (tensor<99x32xbf16, #l27>, tensor<37x99xbf16>) -> tensor<37x32xf32>
  return %0 : tensor<37x32xf32>
}

func.func @dsd_96x64_nnn_f16(%a0: tensor<192x120xf16, #l28>, %a1: tensor<120x24xf16>) -> tensor<192x24xf32> {
  %0 = blocksparse.dsd %a0, %a1 : (tensor<192x120xf16, #l28>, tensor<120x24xf16>) -> tensor<192x24xf32>
  return %0 : tensor<192x24xf32>
}

func.func @dsd_96x64_ntn_bf16(%a0: tensor<200x136xbf16, #l29>, %a1: tensor<72x136xbf16>) -> tensor<200x72xf32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_b} : (tensor<200x136xbf16, #l29>, tensor<72x136xbf16>) -> tensor<200x72xf32>
  return %0 : tensor<200x72xf32>
}

func.func @dsd_96x64_tnt_f16(%a0: tensor<184x125xf16, #l30>, %a1: tensor<184x136xf16>) -> tensor<136x125xf16> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a, transpose_out} : (tensor<184x125xf16, #l30>, tensor<184x136xf16>) -> tensor<136x125xf16>
  return %0 : tensor<136x125xf16>
}

func.func @dsd_96x64_ttt_bf16(%a0: tensor<195x128xbf16, #l31>, %a1: tensor<40x195xbf16>) -> tensor<40x128xbf16> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a, transpose_b, transpose_out} : (tensor<195x128xbf16, #l31>, tensor<40x195xbf16>) -> tensor<40x128xbf16>
  return %0 : tensor<40x128xbf16>
}
