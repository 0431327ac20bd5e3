// dsd of few columns: numbers of columns on both sides of 8, 16, 32 and 64, blocks whose sides are
// no multiples of the tile or of a step, transposes, sizes that are no multiple of the block,
// run-time patterns, heads and epilogues.
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --poison --repeat-check --device=simulated --target=cuda:sm_80 --sim-seed=3 %}
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --device=simulated --target=cuda:sm_90a %}

#l0 = #blocksparse.layout<32x32, grid 3x3, mask "101/000/111">
#l1 = #blocksparse.layout<64x64, grid 2x3, mask "011/110">
#l2 = #blocksparse.layout<16x16, grid 3x3, mask "101/000/111">
#l3 = #blocksparse.layout<64x32, grid 2x3, mask "011/110">
#l4 = #blocksparse.layout<16x16, grid 3x5, mask "11101/00000/01110">
#l5 = #blocksparse.layout<8x8, grid 3x5, mask "11101/00000/01110">
#l6 = #blocksparse.layout<24x24, grid 3x5, mask "11101/00000/01110">
#l7 = #blocksparse.layout<48x40, grid 3x3, mask "101/000/111">
#l8 = #blocksparse.layout<1x16, grid 5x5, mask "11101/00000/01110/00001/11111">
#l9 = #blocksparse.layout<96x8, grid 2x5, mask "11101/01110">
#l10 = #blocksparse.layout<64x64, grid 2x3, mask "011/111">
#l11 = #blocksparse.layout<16x16, grid 3x5, mask "11101/00001/01110">
#l12 = #blocksparse.layout<128x128, grid 2x2, mask "11/01">

func.func @n1(%a: tensor<96x96xf16, #l0>, %b: tensor<96x1xf16>) -> tensor<96x1xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.skinny>}
      : (tensor<96x96xf16, #l0>, tensor<96x1xf16>) -> tensor<96x1xf16>
  return %0 : tensor<96x1xf16>
}

func.func @n2(%a: tensor<96x96xf16, #l0>, %b: tensor<96x2xf16>) -> tensor<96x2xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.skinny>}
      : (tensor<96x96xf16, #l0>, tensor<96x2xf16>) -> tensor<96x2xf16>
  return %0 : tensor<96x2xf16>
}

func.func @n7(%a: tensor<96x96xf16, #l0>, %b: tensor<96x7xf16>) -> tensor<96x7xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.skinny>}
      : (tensor<96x96xf16, #l0>, tensor<96x7xf16>) -> tensor<96x7xf16>
  return %0 : tensor<96x7xf16>
}

func.func @n8(%a: tensor<96x96xf16, #l0>, %b: tensor<96x8xf16>) -> tensor<96x8xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.skinny>}
      : (tensor<96x96xf16, #l0>, tensor<96x8xf16>) -> tensor<96x8xf16>
  return %0 : tensor<96x8xf16>
}

func.func @n16(%a: tensor<96x96xf16, #l0>, %b: tensor<96x16xf16>) -> tensor<96x16xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.skinny>}
      : (tensor<96x96xf16, #l0>, tensor<96x16xf16>) -> tensor<96x16xf16>
  return %0 : tensor<96x16xf16>
}

func.func @n31(%a: tensor<96x96xf16, #l0>, %b: tensor<96x31xf16>) -> tensor<96x31xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.skinny>}
      : (tensor<96x96xf16, #l0>, tensor<96x31xf16>) -> tensor<96x31xf16>
  return %0 : tensor<96x31xf16>
}

func.func @n32(%a: tensor<96x96xf16, #l0>, %b: tensor<96x32xf16>) -> tensor<96x32xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.skinny>}
      : (tensor<96x96xf16, #l0>, tensor<96x32xf16>) -> tensor<96x32xf16>
  return %0 : tensor<96x32xf16>
}

func.func @n64(%a: tensor<96x96xf16, #l0>, %b: tensor<96x64xf16>) -> tensor<96x64xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.skinny>}
      : (tensor<96x96xf16, #l0>, tensor<96x64xf16>) -> tensor<96x64xf16>
  return %0 : tensor<96x64xf16>
}

func.func @k_major_n1(%a: tensor<96x96xf16, #l0>, %b: tensor<1x96xf16>) -> tensor<96x1xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.skinny>, transpose_b}
      : (tensor<96x96xf16, #l0>, tensor<1x96xf16>) -> tensor<96x1xf16>
  return %0 : tensor<96x1xf16>
}

func.func @k_major_n8(%a: tensor<96x96xf16, #l0>, %b: tensor<8x96xf16>) -> tensor<96x8xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.skinny>, transpose_b}
      : (tensor<96x96xf16, #l0>, tensor<8x96xf16>) -> tensor<96x8xf16>
  return %0 : tensor<96x8xf16>
}

func.func @k_major_n12(%a: tensor<96x96xf16, #l0>, %b: tensor<12x96xf16>) -> tensor<96x12xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.skinny>, transpose_b}
      : (tensor<96x96xf16, #l0>, tensor<12x96xf16>) -> tensor<96x12xf16>
  return %0 : tensor<96x12xf16>
}

func.func @k_major_n64(%a: tensor<96x96xf16, #l0>, %b: tensor<64x96xf16>) -> tensor<96x64xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.skinny>, transpose_b}
      : (tensor<96x96xf16, #l0>, tensor<64x96xf16>) -> tensor<96x64xf16>
  return %0 : tensor<96x64xf16>
}

func.func @bf16_n4(%a: tensor<128x192xbf16, #l1>, %b: tensor<192x4xbf16>) -> tensor<128x4xbf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.skinny>}
      : (tensor<128x192xbf16, #l1>, tensor<192x4xbf16>) -> tensor<128x4xbf16>
  return %0 : tensor<128x4xbf16>
}

func.func @to_f32_n8(%a: tensor<128x192xf16, #l1>, %b: tensor<192x8xf16>) -> tensor<128x8xf32> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.skinny>}
      : (tensor<128x192xf16, #l1>, tensor<192x8xf16>) -> tensor<128x8xf32>
  return %0 : tensor<128x8xf32>
}

func.func @out_n8(%a: tensor<48x48xf16, #l2>, %b: tensor<48x8xf16>) -> tensor<8x48xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.skinny>, transpose_out}
      : (tensor<48x48xf16, #l2>, tensor<48x8xf16>) -> tensor<8x48xf16>
  return %0 : tensor<8x48xf16>
}

func.func @out_n1(%a: tensor<128x96xf16, #l3>, %b: tensor<1x96xf16>) -> tensor<1x128xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.skinny>, transpose_b, transpose_out}
      : (tensor<128x96xf16, #l3>, tensor<1x96xf16>) -> tensor<1x128xf16>
  return %0 : tensor<1x128xf16>
}

func.func @block16_n1(%a: tensor<48x80xf16, #l4>, %b: tensor<80x1xf16>) -> tensor<48x1xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.skinny>}
      : (tensor<48x80xf16, #l4>, tensor<80x1xf16>) -> tensor<48x1xf16>
  return %0 : tensor<48x1xf16>
}

func.func @block8_n3(%a: tensor<24x40xf16, #l5>, %b: tensor<40x3xf16>) -> tensor<24x3xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.skinny>}
      : (tensor<24x40xf16, #l5>, tensor<40x3xf16>) -> tensor<24x3xf16>
  return %0 : tensor<24x3xf16>
}

func.func @block24_n8(%a: tensor<72x120xf16, #l6>, %b: tensor<120x8xf16>) -> tensor<72x8xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.skinny>}
      : (tensor<72x120xf16, #l6>, tensor<120x8xf16>) -> tensor<72x8xf16>
  return %0 : tensor<72x8xf16>
}

func.func @block48x40_n2(%a: tensor<144x120xf16, #l7>, %b: tensor<120x2xf16>) -> tensor<144x2xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.skinny>}
      : (tensor<144x120xf16, #l7>, tensor<120x2xf16>) -> tensor<144x2xf16>
  return %0 : tensor<144x2xf16>
}

func.func @block1x16_n1(%a: tensor<5x80xf16, #l8>, %b: tensor<80x1xf16>) -> tensor<5x1xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.skinny>}
      : (tensor<5x80xf16, #l8>, tensor<80x1xf16>) -> tensor<5x1xf16>
  return %0 : tensor<5x1xf16>
}

func.func @block96x8_n16(%a: tensor<192x40xf16, #l9>, %b: tensor<40x16xf16>) -> tensor<192x16xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.skinny>}
      : (tensor<192x40xf16, #l9>, tensor<40x16xf16>) -> tensor<192x16xf16>
  return %0 : tensor<192x16xf16>
}

func.func @edge_n1(%a: tensor<91x88xf16, #l0>, %b: tensor<88x1xf16>) -> tensor<91x1xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.skinny>}
      : (tensor<91x88xf16, #l0>, tensor<88x1xf16>) -> tensor<91x1xf16>
  return %0 : tensor<91x1xf16>
}

func.func @edge_n8(%a: tensor<98x168xf16, #l10>, %b: tensor<168x8xf16>) -> tensor<98x8xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.skinny>}
      : (tensor<98x168xf16, #l10>, tensor<168x8xf16>) -> tensor<98x8xf16>
  return %0 : tensor<98x8xf16>
}

func.func @edge_n64(%a: tensor<47x72xf16, #l11>, %b: tensor<72x64xf16>) -> tensor<47x64xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.skinny>}
      : (tensor<47x72xf16, #l11>, tensor<72x64xf16>) -> tensor<47x64xf16>
  return %0 : tensor<47x64xf16>
}

func.func @one_warp(%a: tensor<128x192xf16, #l10>, %b: tensor<192x8xf16>) -> tensor<128x8xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.skinny, tile = 64x8, warps = 1, unroll = 1>}
      : (tensor<128x192xf16, #l10>, tensor<192x8xf16>) -> tensor<128x8xf16>
  return %0 : tensor<128x8xf16>
}

func.func @many_warps(%a: tensor<256x256xf16, #l12>, %b: tensor<256x8xf16>) -> tensor<256x8xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.skinny, tile = 128x8, warps = 16, unroll = 8>}
      : (tensor<256x256xf16, #l12>, tensor<256x8xf16>) -> tensor<256x8xf16>
  return %0 : tensor<256x8xf16>
}

func.func @tall_n32(%a: tensor<128x192xf16, #l10>, %b: tensor<192x32xf16>) -> tensor<128x32xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.skinny, tile = 64x32, warps = 2, unroll = 3>}
      : (tensor<128x192xf16, #l10>, tensor<192x32xf16>) -> tensor<128x32xf16>
  return %0 : tensor<128x32xf16>
}

func.func @run_time_n1(%a: tensor<90x88xf16, #blocksparse.bsr<32x16>>, %b: tensor<88x1xf16>) -> tensor<90x1xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.skinny>}
      : (tensor<90x88xf16, #blocksparse.bsr<32x16>>, tensor<88x1xf16>) -> tensor<90x1xf16>
  return %0 : tensor<90x1xf16>
}

func.func @run_time_n16(%a: tensor<2x64x128xbf16, #blocksparse.bsr<64x64>>, %b: tensor<2x128x16xbf16>) -> tensor<2x64x16xbf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.skinny>}
      : (tensor<2x64x128xbf16, #blocksparse.bsr<64x64>>, tensor<2x128x16xbf16>) -> tensor<2x64x16xbf16>
  return %0 : tensor<2x64x16xbf16>
}

#heads = #blocksparse.layout<32x32, grid 2x2x3, mask "011/100/110/001">

func.func @heads_n8(%a: tensor<2x2x64x96xf16, #heads>, %b: tensor<2x2x96x8xf16>) -> tensor<2x2x64x8xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.skinny>}
      : (tensor<2x2x64x96xf16, #heads>, tensor<2x2x96x8xf16>) -> tensor<2x2x64x8xf16>
  return %0 : tensor<2x2x64x8xf16>
}

func.func @dds_rows_3(%a: tensor<3x96xf16>, %b: tensor<96x96xf16, #l0>) -> tensor<3x96xf16> {
  %0 = blocksparse.dds %a, %b {transpose_b, schedule = #blocksparse.schedule<cuda.skinny>}
      : (tensor<3x96xf16>, tensor<96x96xf16, #l0>) -> tensor<3x96xf16>
  return %0 : tensor<3x96xf16>
}

func.func @terms(%x: tensor<96x5xf16>, %a: tensor<96x96xf16, #l0>, %b: tensor<96x5xf16>, %left: tensor<96xf16>, %bias: tensor<5xf16>, %residual: tensor<96x5xf16>) -> tensor<96x5xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%x) left_alpha(%left) bias(%bias) residual(%residual)
      {alpha = 0.5 : f64, beta = 2.0 : f64, activation = #blocksparse.activation<relu>, schedule = #blocksparse.schedule<cuda.skinny>}
      : (tensor<96x96xf16, #l0>, tensor<96x5xf16>, tensor<96x5xf16>, tensor<96xf16>, tensor<5xf16>, tensor<96x5xf16>) -> tensor<96x5xf16>
  return %0 : tensor<96x5xf16>
}

func.func @no_products(%a: tensor<96x96xf16, #l0>, %b: tensor<96x8xf16>, %x: tensor<96x8xf16>) -> tensor<96x8xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%x) {alpha = 0.0 : f64, schedule = #blocksparse.schedule<cuda.skinny>}
      : (tensor<96x96xf16, #l0>, tensor<96x8xf16>, tensor<96x8xf16>) -> tensor<96x8xf16>
  return %0 : tensor<96x8xf16>
}
