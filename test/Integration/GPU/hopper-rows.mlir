// Rows of a warp that take a panel together (tile_m of a cuda.stream schedule): every split of a tile that is used,
// rows that share all, some and no panels, rows without a block, transposes, types, and what follows the products.
// REQUIRES: gpu
// RUN: blocksparse-run %s --all-functions --check --repeat-check --device=cuda

#l0 = #blocksparse.layout<16x16, grid 64x64, random_balanced(density = 0.5, seed = 3)>
#l1 = #blocksparse.layout<16x16, grid 64x64, random_balanced(density = 0.1, seed = 3)>
#l2 = #blocksparse.layout<16x16, grid 64x64, random_balanced(density = 0.25, seed = 3)>
#l3 = #blocksparse.layout<16x16, grid 64x64, random_balanced(density = 0.3, seed = 3)>
#l4 = #blocksparse.layout<16x16, grid 32x16, mask "1011001110001101/1011001110001101/1011001110001101/1011001110001101/1011001110001101/1011001110001101/1011001110001101/1011001110001101/1011001110001101/1011001110001101/1011001110001101/1011001110001101/1011001110001101/1011001110001101/1011001110001101/1011001110001101/1011001110001101/1011001110001101/1011001110001101/1011001110001101/1011001110001101/1011001110001101/1011001110001101/1011001110001101/1011001110001101/1011001110001101/1011001110001101/1011001110001101/1011001110001101/1011001110001101/1011001110001101/1011001110001101">
#l5 = #blocksparse.layout<16x16, grid 32x16, mask "1000000000000000/0100000000000000/0010000000000000/0001000000000000/0000100000000000/0000010000000000/0000001000000000/0000000100000000/0000000010000000/0000000001000000/0000000000100000/0000000000010000/0000000000001000/0000000000000100/0000000000000010/0000000000000001/1000000000000000/0100000000000000/0010000000000000/0001000000000000/0000100000000000/0000010000000000/0000001000000000/0000000100000000/0000000010000000/0000000001000000/0000000000100000/0000000000010000/0000000000001000/0000000000000100/0000000000000010/0000000000000001">
#l6 = #blocksparse.layout<16x16, grid 37x16, mask "1010001000011000/0000000000000000/1000010000110010/0010000111111100/0000000000000000/0011111001010110/0111110011001111/0000000000000000/0000000000000000/0000000000000000/0000000000000000/0000000000000000/1011001001001110/0000000000000000/0111011111000000/0010110011100111/0000000000000000/1101100001001000/0010001011110011/0000000000000000/1110001110001001/0110101000100110/0000000000000000/0111011110000101/0101100101011011/0000000000000000/1000000101100000/0100010101110011/0000000000000000/1000100000100110/0001001001101110/0000000000000000/1010101110010010/0101010011000111/0000000000000000/1011010111011100/0001100101110110">
#l7 = #blocksparse.layout<16x16, grid 63x64, random_balanced(density = 0.4, seed = 3)>
#l8 = #blocksparse.layout<16x16, grid 40x40, mask "0000000000000000000000000000000000000000/0000000000000000000000000000000000000000/0000000000000000000000000000000000000000/0000000000000000000000000000000000000000/0000000000000000000000000000000000000000/0000000000000000000000000000000000000000/0000000000000000000000000000000000000000/0000000000000000000000000000000000000000/0000000000000000000000000000000000000000/0000000000000000000000000000000000000000/0000000000000000000000000000000000000000/0000000000000000000000000000000000000000/0000000000000000000000000000000000000000/0000000000000000000000000000000000000000/0000000000000000000000000000000000000000/0000000000000000000000000000000000000000/0000000000000000000000000000000000000000/0000000000000000000000010000000000000000/0000000000000000000000000000000000000000/0000000000000000000000000000000000000000/0000000000000000000000000000000000000000/0000000000000000000000000000000000000000/0000000000000000000000000000000000000000/0000000000000000000000000000000000000000/0000000000000000000000000000000000000000/0000000000000000000000000000000000000000/0000000000000000000000000000000000000000/0000000000000000000000000000000000000000/0000000000000000000000000000000000000000/0000000000000000000000000000000000000000/0000000000000000000000000000000000000000/0000000000000000000000000000000000000000/0000000000000000000000000000000000000000/0000000000000000000000000000000000000000/0000000000000000000000000000000000000000/0000000000000000000000000000000000000000/0000000000000000000000000000000000000000/0000000000000000000000000000000000000000/0000000000000000000000000000000000000000/0000000000000000000000000000000000000000">
#l9 = #blocksparse.layout<16x16, grid 128x128, random(density = 0.05, seed = 5)>
#l10 = #blocksparse.layout<16x16, grid 64x32, random_balanced(density = 0.4, seed = 3)>
#l11 = #blocksparse.layout<16x16, grid 64x64, random_balanced(density = 0.2, seed = 3)>

func.func @r4_c64(%a: tensor<1024x1024xf16, #l0>, %b: tensor<1024x512xf16>) -> tensor<1024x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 64, tile_n = 128, tile_k = 64, stages = 4, warps = 12, group = 24>} : (tensor<1024x1024xf16, #l0>, tensor<1024x512xf16>) -> tensor<1024x512xf16>
  return %0 : tensor<1024x512xf16>
}

func.func @r4_c64_sparse(%a: tensor<1024x1024xf16, #l1>, %b: tensor<1024x512xf16>) -> tensor<1024x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 64, tile_n = 128, tile_k = 128, stages = 4, warps = 12, group = 24>} : (tensor<1024x1024xf16, #l1>, tensor<1024x512xf16>) -> tensor<1024x512xf16>
  return %0 : tensor<1024x512xf16>
}

func.func @r6_c64(%a: tensor<1024x1024xf16, #l0>, %b: tensor<1024x512xf16>) -> tensor<1024x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 96, tile_n = 128, tile_k = 64, stages = 4, warps = 8, group = 24>} : (tensor<1024x1024xf16, #l0>, tensor<1024x512xf16>) -> tensor<1024x512xf16>
  return %0 : tensor<1024x512xf16>
}

func.func @r6_c64_quarter(%a: tensor<1024x1024xf16, #l2>, %b: tensor<1024x512xf16>) -> tensor<1024x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 96, tile_n = 128, tile_k = 96, stages = 4, warps = 8, group = 24>} : (tensor<1024x1024xf16, #l2>, tensor<1024x512xf16>) -> tensor<1024x512xf16>
  return %0 : tensor<1024x512xf16>
}

func.func @r5_c64(%a: tensor<1024x1024xf16, #l0>, %b: tensor<1024x512xf16>) -> tensor<1024x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 80, tile_n = 128, tile_k = 64, stages = 4, warps = 8, group = 20>} : (tensor<1024x1024xf16, #l0>, tensor<1024x512xf16>) -> tensor<1024x512xf16>
  return %0 : tensor<1024x512xf16>
}

func.func @r5_c64_three_panels(%a: tensor<1024x1024xf16, #l3>, %b: tensor<1024x512xf16>) -> tensor<1024x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 80, tile_n = 128, tile_k = 48, stages = 4, warps = 8, group = 20>} : (tensor<1024x1024xf16, #l3>, tensor<1024x512xf16>) -> tensor<1024x512xf16>
  return %0 : tensor<1024x512xf16>
}

func.func @r4_c64_two_panels(%a: tensor<1024x1024xf16, #l0>, %b: tensor<1024x512xf16>) -> tensor<1024x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 64, tile_n = 128, tile_k = 64, stages = 4, warps = 8, group = 16>} : (tensor<1024x1024xf16, #l0>, tensor<1024x512xf16>) -> tensor<1024x512xf16>
  return %0 : tensor<1024x512xf16>
}

func.func @r2_c64(%a: tensor<1024x1024xf16, #l0>, %b: tensor<1024x512xf16>) -> tensor<1024x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 32, tile_n = 128, tile_k = 64, stages = 4, warps = 16, group = 16>} : (tensor<1024x1024xf16, #l0>, tensor<1024x512xf16>) -> tensor<1024x512xf16>
  return %0 : tensor<1024x512xf16>
}

func.func @whole_rows(%a: tensor<1024x1024xf16, #l0>, %b: tensor<1024x512xf16>) -> tensor<1024x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 32, tile_n = 128, tile_k = 64, stages = 4, warps = 12, group = 24>} : (tensor<1024x1024xf16, #l0>, tensor<1024x512xf16>) -> tensor<1024x512xf16>
  return %0 : tensor<1024x512xf16>
}

func.func @narrow(%a: tensor<1024x1024xf16, #l0>, %b: tensor<1024x64xf16>) -> tensor<1024x64xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 64, tile_n = 128, tile_k = 64, stages = 4, warps = 12, group = 24>} : (tensor<1024x1024xf16, #l0>, tensor<1024x64xf16>) -> tensor<1024x64xf16>
  return %0 : tensor<1024x64xf16>
}

func.func @narrow_many(%a: tensor<1024x1024xf16, #l0>, %b: tensor<1024x192xf16>) -> tensor<1024x192xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 64, tile_n = 128, tile_k = 64, stages = 4, warps = 8, group = 16>} : (tensor<1024x1024xf16, #l0>, tensor<1024x192xf16>) -> tensor<1024x192xf16>
  return %0 : tensor<1024x192xf16>
}

func.func @same_rows(%a: tensor<512x256xf16, #l4>, %b: tensor<256x256xf16>) -> tensor<512x256xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 64, tile_n = 128, tile_k = 64, stages = 4, warps = 8, group = 16>} : (tensor<512x256xf16, #l4>, tensor<256x256xf16>) -> tensor<512x256xf16>
  return %0 : tensor<512x256xf16>
}

func.func @no_common_panel(%a: tensor<512x256xf16, #l5>, %b: tensor<256x256xf16>) -> tensor<512x256xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 64, tile_n = 128, tile_k = 64, stages = 4, warps = 8, group = 16>} : (tensor<512x256xf16, #l5>, tensor<256x256xf16>) -> tensor<512x256xf16>
  return %0 : tensor<512x256xf16>
}

func.func @no_common_panel_r6(%a: tensor<512x256xf16, #l5>, %b: tensor<256x256xf16>) -> tensor<512x256xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 96, tile_n = 128, tile_k = 64, stages = 4, warps = 8, group = 24>} : (tensor<512x256xf16, #l5>, tensor<256x256xf16>) -> tensor<512x256xf16>
  return %0 : tensor<512x256xf16>
}

func.func @empty_rows(%a: tensor<592x256xf16, #l6>, %b: tensor<256x256xf16>) -> tensor<592x256xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 64, tile_n = 128, tile_k = 64, stages = 4, warps = 12, group = 24>} : (tensor<592x256xf16, #l6>, tensor<256x256xf16>) -> tensor<592x256xf16>
  return %0 : tensor<592x256xf16>
}

func.func @empty_rows_r5(%a: tensor<592x256xf16, #l6>, %b: tensor<256x256xf16>) -> tensor<592x256xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 80, tile_n = 128, tile_k = 64, stages = 4, warps = 8, group = 20>} : (tensor<592x256xf16, #l6>, tensor<256x256xf16>) -> tensor<592x256xf16>
  return %0 : tensor<592x256xf16>
}

func.func @ragged(%a: tensor<1000x1024xf16, #l7>, %b: tensor<1024x320xf16>) -> tensor<1000x320xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 96, tile_n = 128, tile_k = 64, stages = 4, warps = 8, group = 24>} : (tensor<1000x1024xf16, #l7>, tensor<1024x320xf16>) -> tensor<1000x320xf16>
  return %0 : tensor<1000x320xf16>
}

func.func @one_block(%a: tensor<640x640xf16, #l8>, %b: tensor<640x128xf16>) -> tensor<640x128xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 64, tile_n = 128, tile_k = 64, stages = 4, warps = 12, group = 24>} : (tensor<640x640xf16, #l8>, tensor<640x128xf16>) -> tensor<640x128xf16>
  return %0 : tensor<640x128xf16>
}

func.func @unequal(%a: tensor<2048x2048xf16, #l9>, %b: tensor<2048x256xf16>) -> tensor<2048x256xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 64, tile_n = 128, tile_k = 128, stages = 4, warps = 12, group = 24>} : (tensor<2048x2048xf16, #l9>, tensor<2048x256xf16>) -> tensor<2048x256xf16>
  return %0 : tensor<2048x256xf16>
}

func.func @bf16_r4(%a: tensor<1024x512xbf16, #l10>, %b: tensor<512x512xbf16>) -> tensor<1024x512xbf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 64, tile_n = 128, tile_k = 64, stages = 4, warps = 12, group = 24>} : (tensor<1024x512xbf16, #l10>, tensor<512x512xbf16>) -> tensor<1024x512xbf16>
  return %0 : tensor<1024x512xbf16>
}

func.func @ta_r4(%a: tensor<1024x512xf16, #l10>, %b: tensor<1024x512xf16>) -> tensor<512x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 64, tile_n = 128, tile_k = 64, stages = 4, warps = 12, group = 24>, transpose_a} : (tensor<1024x512xf16, #l10>, tensor<1024x512xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}

func.func @tb_r4(%a: tensor<1024x512xf16, #l10>, %b: tensor<512x512xf16>) -> tensor<1024x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 64, tile_n = 128, tile_k = 64, stages = 4, warps = 12, group = 24>, transpose_b} : (tensor<1024x512xf16, #l10>, tensor<512x512xf16>) -> tensor<1024x512xf16>
  return %0 : tensor<1024x512xf16>
}

func.func @to_r4(%a: tensor<1024x512xf16, #l10>, %b: tensor<512x512xf16>) -> tensor<512x1024xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 64, tile_n = 128, tile_k = 64, stages = 4, warps = 12, group = 24>, transpose_out} : (tensor<1024x512xf16, #l10>, tensor<512x512xf16>) -> tensor<512x1024xf16>
  return %0 : tensor<512x1024xf16>
}

func.func @all_r4(%a: tensor<1024x512xbf16, #l10>, %b: tensor<512x1024xbf16>) -> tensor<512x512xbf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 64, tile_n = 128, tile_k = 64, stages = 4, warps = 12, group = 24>, transpose_a, transpose_b, transpose_out} : (tensor<1024x512xbf16, #l10>, tensor<512x1024xbf16>) -> tensor<512x512xbf16>
  return %0 : tensor<512x512xbf16>
}

func.func @bf16_r5(%a: tensor<1024x512xbf16, #l10>, %b: tensor<512x512xbf16>) -> tensor<1024x512xbf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 80, tile_n = 128, tile_k = 64, stages = 4, warps = 8, group = 20>} : (tensor<1024x512xbf16, #l10>, tensor<512x512xbf16>) -> tensor<1024x512xbf16>
  return %0 : tensor<1024x512xbf16>
}

func.func @ta_r5(%a: tensor<1024x512xf16, #l10>, %b: tensor<1024x512xf16>) -> tensor<512x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 80, tile_n = 128, tile_k = 64, stages = 4, warps = 8, group = 20>, transpose_a} : (tensor<1024x512xf16, #l10>, tensor<1024x512xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}

func.func @tb_r5(%a: tensor<1024x512xf16, #l10>, %b: tensor<512x512xf16>) -> tensor<1024x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 80, tile_n = 128, tile_k = 64, stages = 4, warps = 8, group = 20>, transpose_b} : (tensor<1024x512xf16, #l10>, tensor<512x512xf16>) -> tensor<1024x512xf16>
  return %0 : tensor<1024x512xf16>
}

func.func @to_r5(%a: tensor<1024x512xf16, #l10>, %b: tensor<512x512xf16>) -> tensor<512x1024xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 80, tile_n = 128, tile_k = 64, stages = 4, warps = 8, group = 20>, transpose_out} : (tensor<1024x512xf16, #l10>, tensor<512x512xf16>) -> tensor<512x1024xf16>
  return %0 : tensor<512x1024xf16>
}

func.func @all_r5(%a: tensor<1024x512xbf16, #l10>, %b: tensor<512x1024xbf16>) -> tensor<512x512xbf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 80, tile_n = 128, tile_k = 64, stages = 4, warps = 8, group = 20>, transpose_a, transpose_b, transpose_out} : (tensor<1024x512xbf16, #l10>, tensor<512x1024xbf16>) -> tensor<512x512xbf16>
  return %0 : tensor<512x512xbf16>
}

func.func @bf16_r6(%a: tensor<1024x512xbf16, #l10>, %b: tensor<512x512xbf16>) -> tensor<1024x512xbf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 96, tile_n = 128, tile_k = 64, stages = 4, warps = 8, group = 24>} : (tensor<1024x512xbf16, #l10>, tensor<512x512xbf16>) -> tensor<1024x512xbf16>
  return %0 : tensor<1024x512xbf16>
}

func.func @ta_r6(%a: tensor<1024x512xf16, #l10>, %b: tensor<1024x512xf16>) -> tensor<512x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 96, tile_n = 128, tile_k = 64, stages = 4, warps = 8, group = 24>, transpose_a} : (tensor<1024x512xf16, #l10>, tensor<1024x512xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}

func.func @tb_r6(%a: tensor<1024x512xf16, #l10>, %b: tensor<512x512xf16>) -> tensor<1024x512xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 96, tile_n = 128, tile_k = 64, stages = 4, warps = 8, group = 24>, transpose_b} : (tensor<1024x512xf16, #l10>, tensor<512x512xf16>) -> tensor<1024x512xf16>
  return %0 : tensor<1024x512xf16>
}

func.func @to_r6(%a: tensor<1024x512xf16, #l10>, %b: tensor<512x512xf16>) -> tensor<512x1024xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 96, tile_n = 128, tile_k = 64, stages = 4, warps = 8, group = 24>, transpose_out} : (tensor<1024x512xf16, #l10>, tensor<512x512xf16>) -> tensor<512x1024xf16>
  return %0 : tensor<512x1024xf16>
}

func.func @all_r6(%a: tensor<1024x512xbf16, #l10>, %b: tensor<512x1024xbf16>) -> tensor<512x512xbf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 96, tile_n = 128, tile_k = 64, stages = 4, warps = 8, group = 24>, transpose_a, transpose_b, transpose_out} : (tensor<1024x512xbf16, #l10>, tensor<512x1024xbf16>) -> tensor<512x512xbf16>
  return %0 : tensor<512x512xbf16>
}

func.func @heads(%a: tensor<2x3x1024x1024xf16, #l11>, %b: tensor<2x3x1024x64xf16>) -> tensor<2x3x1024x64xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 64, tile_n = 128, tile_k = 64, stages = 4, warps = 12, group = 24>} : (tensor<2x3x1024x1024xf16, #l11>, tensor<2x3x1024x64xf16>) -> tensor<2x3x1024x64xf16>
  return %0 : tensor<2x3x1024x64xf16>
}

func.func @addmm_r4_f16(%a: tensor<1024x512xf16, #l10>, %b: tensor<512x512xf16>, %input: tensor<1024x512xf16>, %left: tensor<1024xf16>, %right: tensor<512xf16>, %bias: tensor<512xf16>, %residual: tensor<1024x512xf16>) -> tensor<1024x512xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%input) left_alpha(%left) right_alpha(%right) bias(%bias) residual(%residual) {activation = #blocksparse.activation<silu>, alpha = 5.000000e-01 : f64, beta = 2.000000e+00 : f64, schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 64, tile_n = 128, tile_k = 64, stages = 4, warps = 12, group = 24>} : (tensor<1024x512xf16, #l10>, tensor<512x512xf16>, tensor<1024x512xf16>, tensor<1024xf16>, tensor<512xf16>, tensor<512xf16>, tensor<1024x512xf16>) -> tensor<1024x512xf16>
  return %0 : tensor<1024x512xf16>
}

func.func @addmm_r4_bf16(%a: tensor<1024x512xbf16, #l10>, %b: tensor<512x512xbf16>, %input: tensor<1024x512xbf16>, %left: tensor<1024xbf16>, %right: tensor<512xbf16>, %bias: tensor<512xbf16>, %residual: tensor<1024x512xbf16>) -> tensor<1024x512xbf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%input) left_alpha(%left) right_alpha(%right) bias(%bias) residual(%residual) {activation = #blocksparse.activation<silu>, alpha = 5.000000e-01 : f64, beta = 2.000000e+00 : f64, schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 64, tile_n = 128, tile_k = 64, stages = 4, warps = 12, group = 24>} : (tensor<1024x512xbf16, #l10>, tensor<512x512xbf16>, tensor<1024x512xbf16>, tensor<1024xbf16>, tensor<512xbf16>, tensor<512xbf16>, tensor<1024x512xbf16>) -> tensor<1024x512xbf16>
  return %0 : tensor<1024x512xbf16>
}

func.func @addmm_r5_f16(%a: tensor<1024x512xf16, #l10>, %b: tensor<512x512xf16>, %input: tensor<1024x512xf16>, %left: tensor<1024xf16>, %right: tensor<512xf16>, %bias: tensor<512xf16>, %residual: tensor<1024x512xf16>) -> tensor<1024x512xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%input) left_alpha(%left) right_alpha(%right) bias(%bias) residual(%residual) {activation = #blocksparse.activation<silu>, alpha = 5.000000e-01 : f64, beta = 2.000000e+00 : f64, schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 80, tile_n = 128, tile_k = 64, stages = 4, warps = 8, group = 20>} : (tensor<1024x512xf16, #l10>, tensor<512x512xf16>, tensor<1024x512xf16>, tensor<1024xf16>, tensor<512xf16>, tensor<512xf16>, tensor<1024x512xf16>) -> tensor<1024x512xf16>
  return %0 : tensor<1024x512xf16>
}

func.func @addmm_r5_bf16(%a: tensor<1024x512xbf16, #l10>, %b: tensor<512x512xbf16>, %input: tensor<1024x512xbf16>, %left: tensor<1024xbf16>, %right: tensor<512xbf16>, %bias: tensor<512xbf16>, %residual: tensor<1024x512xbf16>) -> tensor<1024x512xbf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%input) left_alpha(%left) right_alpha(%right) bias(%bias) residual(%residual) {activation = #blocksparse.activation<silu>, alpha = 5.000000e-01 : f64, beta = 2.000000e+00 : f64, schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 80, tile_n = 128, tile_k = 64, stages = 4, warps = 8, group = 20>} : (tensor<1024x512xbf16, #l10>, tensor<512x512xbf16>, tensor<1024x512xbf16>, tensor<1024xbf16>, tensor<512xbf16>, tensor<512xbf16>, tensor<1024x512xbf16>) -> tensor<1024x512xbf16>
  return %0 : tensor<1024x512xbf16>
}

func.func @addmm_r6_f16(%a: tensor<1024x512xf16, #l10>, %b: tensor<512x512xf16>, %input: tensor<1024x512xf16>, %left: tensor<1024xf16>, %right: tensor<512xf16>, %bias: tensor<512xf16>, %residual: tensor<1024x512xf16>) -> tensor<1024x512xf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%input) left_alpha(%left) right_alpha(%right) bias(%bias) residual(%residual) {activation = #blocksparse.activation<silu>, alpha = 5.000000e-01 : f64, beta = 2.000000e+00 : f64, schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 96, tile_n = 128, tile_k = 64, stages = 4, warps = 8, group = 24>} : (tensor<1024x512xf16, #l10>, tensor<512x512xf16>, tensor<1024x512xf16>, tensor<1024xf16>, tensor<512xf16>, tensor<512xf16>, tensor<1024x512xf16>) -> tensor<1024x512xf16>
  return %0 : tensor<1024x512xf16>
}

func.func @addmm_r6_bf16(%a: tensor<1024x512xbf16, #l10>, %b: tensor<512x512xbf16>, %input: tensor<1024x512xbf16>, %left: tensor<1024xbf16>, %right: tensor<512xbf16>, %bias: tensor<512xbf16>, %residual: tensor<1024x512xbf16>) -> tensor<1024x512xbf16> {
  %0 = blocksparse.bsr_addmm %a, %b input(%input) left_alpha(%left) right_alpha(%right) bias(%bias) residual(%residual) {activation = #blocksparse.activation<silu>, alpha = 5.000000e-01 : f64, beta = 2.000000e+00 : f64, schedule = #blocksparse.schedule<kernel = "cuda.stream", tile_m = 96, tile_n = 128, tile_k = 64, stages = 4, warps = 8, group = 24>} : (tensor<1024x512xbf16, #l10>, tensor<512x512xbf16>, tensor<1024x512xbf16>, tensor<1024xbf16>, tensor<512xbf16>, tensor<512xbf16>, tensor<1024x512xbf16>) -> tensor<1024x512xbf16>
  return %0 : tensor<1024x512xbf16>
}
