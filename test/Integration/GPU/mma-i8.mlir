// i8 on tensor cores, accumulators of i32: every order of storage (pairs of bytes of an MN-major tile go
// through ldmatrix), blocks from 16 to 128, sizes that are no multiples of the tile or of the block,
// run-time patterns, split rows. Where a row is no multiple of 16 bytes the scalar kernel runs.
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --repeat-check --poison --device=simulated --target=cuda:sm_80 %}

#l16 = #blocksparse.layout<16x16, grid 3x3, mask "011/000/111">
#l32 = #blocksparse.layout<32x32, grid 2x3, mask "010/111">
#l48 = #blocksparse.layout<48x16, grid 2x4, mask "1011/0110">
#l64 = #blocksparse.layout<64x64, grid 2x2, mask "10/11">
#wide = #blocksparse.layout<32x96, grid 2x2, mask "11/01">
#l128 = #blocksparse.layout<128x128, grid 1x2, mask "11">
#long = #blocksparse.layout<16x32, grid 2x40, mask "1111111111111111111111111111111111111111/1010101010101010101010101010101010101010">
#bsr16 = #blocksparse.bsr<16x16>
#bsr32 = #blocksparse.bsr<32x32>

func.func @dsd_l16_nnn(%a0: tensor<48x48xi8, #l16>, %a1: tensor<48x48xi8>) -> tensor<48x48xi32> {
  %0 = blocksparse.dsd %a0, %a1 : (tensor<48x48xi8, #l16>, tensor<48x48xi8>) -> tensor<48x48xi32>
  return %0 : tensor<48x48xi32>
}

func.func @dsd_l16_ttt(%a0: tensor<48x48xi8, #l16>, %a1: tensor<48x48xi8>) -> tensor<48x48xi32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a, transpose_b, transpose_out} : (tensor<48x48xi8, #l16>, tensor<48x48xi8>) -> tensor<48x48xi32>
  return %0 : tensor<48x48xi32>
}

func.func @dsd_l32_nnt(%a0: tensor<64x96xi8, #l32>, %a1: tensor<96x48xi8>) -> tensor<48x64xi32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_out} : (tensor<64x96xi8, #l32>, tensor<96x48xi8>) -> tensor<48x64xi32>
  return %0 : tensor<48x64xi32>
}

func.func @dsd_l32_tnn(%a0: tensor<64x96xi8, #l32>, %a1: tensor<64x48xi8>) -> tensor<96x48xi32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a} : (tensor<64x96xi8, #l32>, tensor<64x48xi8>) -> tensor<96x48xi32>
  return %0 : tensor<96x48xi32>
}

func.func @dsd_l48_tnt(%a0: tensor<96x64xi8, #l48>, %a1: tensor<96x32xi8>) -> tensor<32x64xi32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a, transpose_out} : (tensor<96x64xi8, #l48>, tensor<96x32xi8>) -> tensor<32x64xi32>
  return %0 : tensor<32x64xi32>
}

func.func @dsd_l48_ntt(%a0: tensor<96x64xi8, #l48>, %a1: tensor<32x64xi8>) -> tensor<32x96xi32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_b, transpose_out} : (tensor<96x64xi8, #l48>, tensor<32x64xi8>) -> tensor<32x96xi32>
  return %0 : tensor<32x96xi32>
}

func.func @dsd_wide_tnn(%a0: tensor<64x192xi8, #wide>, %a1: tensor<64x16xi8>) -> tensor<192x16xi32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a} : (tensor<64x192xi8, #wide>, tensor<64x16xi8>) -> tensor<192x16xi32>
  return %0 : tensor<192x16xi32>
}

func.func @dsd_l64_ntn(%a0: tensor<128x128xi8, #l64>, %a1: tensor<48x128xi8>) -> tensor<128x48xi32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_b} : (tensor<128x128xi8, #l64>, tensor<48x128xi8>) -> tensor<128x48xi32>
  return %0 : tensor<128x48xi32>
}

func.func @dsd_l128_nnn(%a0: tensor<128x256xi8, #l128>, %a1: tensor<256x32xi8>) -> tensor<128x32xi32> {
  %0 = blocksparse.dsd %a0, %a1 : (tensor<128x256xi8, #l128>, tensor<256x32xi8>) -> tensor<128x32xi32>
  return %0 : tensor<128x32xi32>
}

func.func @dsd_cut_rows(%a0: tensor<57x89xi8, #l32>, %a1: tensor<89x48xi8>) -> tensor<57x48xi32> {
  %0 = blocksparse.dsd %a0, %a1 : (tensor<57x89xi8, #l32>, tensor<89x48xi8>) -> tensor<57x48xi32>
  return %0 : tensor<57x48xi32>
}

func.func @dsd_cut_rows_tnt(%a0: tensor<57x89xi8, #l32>, %a1: tensor<57x32xi8>) -> tensor<32x89xi32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a, transpose_out} : (tensor<57x89xi8, #l32>, tensor<57x32xi8>) -> tensor<32x89xi32>
  return %0 : tensor<32x89xi32>
}

func.func @dsd_unaligned(%a0: tensor<64x96xi8, #l32>, %a1: tensor<96x40xi8>) -> tensor<64x40xi32> {
  %0 = blocksparse.dsd %a0, %a1 : (tensor<64x96xi8, #l32>, tensor<96x40xi8>) -> tensor<64x40xi32>
  return %0 : tensor<64x40xi32>
}

func.func @dsd_batches(%a0: tensor<2x3x48x48xi8, #l16>, %a1: tensor<2x3x32x48xi8>) -> tensor<2x3x48x32xi32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a, transpose_b} : (tensor<2x3x48x48xi8, #l16>, tensor<2x3x32x48xi8>) -> tensor<2x3x48x32xi32>
  return %0 : tensor<2x3x48x32xi32>
}

func.func @dsd_run_time(%a0: tensor<40x72xi8, #bsr16>, %a1: tensor<72x48xi8>) -> tensor<40x48xi32> {
  %0 = blocksparse.dsd %a0, %a1 : (tensor<40x72xi8, #bsr16>, tensor<72x48xi8>) -> tensor<40x48xi32>
  return %0 : tensor<40x48xi32>
}

func.func @dsd_run_time_tnt(%a0: tensor<90x64xi8, #bsr32>, %a1: tensor<90x32xi8>) -> tensor<32x64xi32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a, transpose_out} : (tensor<90x64xi8, #bsr32>, tensor<90x32xi8>) -> tensor<32x64xi32>
  return %0 : tensor<32x64xi32>
}

func.func @dsd_split(%a0: tensor<32x1280xi8, #long>, %a1: tensor<1280x48xi8>, %a2: tensor<48xi32>) -> tensor<32x48xi32> {
  %0 = blocksparse.dsd %a0, %a1 bias(%a2) {activation = #blocksparse.activation<relu>, alpha = -3.0, schedule = #blocksparse.schedule<cuda.mma, tile = 16x64, stages = 4, split = 7>} : (tensor<32x1280xi8, #long>, tensor<1280x48xi8>, tensor<48xi32>) -> tensor<32x48xi32>
  return %0 : tensor<32x48xi32>
}

func.func @largest(%a0: tensor<16x64xi8> {blocksparse.value = dense<-128> : tensor<i32>}, %a1: tensor<64x16xi8> {blocksparse.value = dense<-128> : tensor<i32>})
    -> (tensor<16x16xi32> {blocksparse.expect = dense<1048576> : tensor<i32>}) {
  %0 = blocksparse.matmul %a0, %a1 : (tensor<16x64xi8>, tensor<64x16xi8>) -> tensor<16x16xi32>
  return %0 : tensor<16x16xi32>
}

func.func @sdd_l16_nn(%a0: tensor<48x48xi8>, %a1: tensor<48x48xi8>) -> tensor<48x48xi32, #l16> {
  %0 = blocksparse.sdd %a0, %a1 : (tensor<48x48xi8>, tensor<48x48xi8>) -> tensor<48x48xi32, #l16>
  return %0 : tensor<48x48xi32, #l16>
}

func.func @sdd_l16_tt(%a0: tensor<80x48xi8>, %a1: tensor<48x80xi8>) -> tensor<48x48xi32, #l16> {
  %0 = blocksparse.sdd %a0, %a1 {transpose_a, transpose_b} : (tensor<80x48xi8>, tensor<48x80xi8>) -> tensor<48x48xi32, #l16>
  return %0 : tensor<48x48xi32, #l16>
}

func.func @sdd_l32_nt(%a0: tensor<64x32xi8>, %a1: tensor<96x32xi8>) -> tensor<64x96xi32, #l32> {
  %0 = blocksparse.sdd %a0, %a1 {transpose_b} : (tensor<64x32xi8>, tensor<96x32xi8>) -> tensor<64x96xi32, #l32>
  return %0 : tensor<64x96xi32, #l32>
}

func.func @sdd_l32_tn(%a0: tensor<89x64xi8>, %a1: tensor<89x96xi8>) -> tensor<64x96xi32, #l32> {
  %0 = blocksparse.sdd %a0, %a1 {transpose_a} : (tensor<89x64xi8>, tensor<89x96xi8>) -> tensor<64x96xi32, #l32>
  return %0 : tensor<64x96xi32, #l32>
}

func.func @sdd_wide_nn(%a0: tensor<64x48xi8>, %a1: tensor<48x192xi8>) -> tensor<64x192xi32, #wide> {
  %0 = blocksparse.sdd %a0, %a1 : (tensor<64x48xi8>, tensor<48x192xi8>) -> tensor<64x192xi32, #wide>
  return %0 : tensor<64x192xi32, #wide>
}

func.func @matmul_nn_40(%a0: tensor<40x80xi8>, %a1: tensor<80x48xi8>) -> tensor<40x48xi32> {
  %0 = blocksparse.matmul %a0, %a1 : (tensor<40x80xi8>, tensor<80x48xi8>) -> tensor<40x48xi32>
  return %0 : tensor<40x48xi32>
}

func.func @matmul_nt_33(%a0: tensor<33x112xi8>, %a1: tensor<20x112xi8>) -> tensor<33x20xi32> {
  %0 = blocksparse.matmul %a0, %a1 {transpose_b} : (tensor<33x112xi8>, tensor<20x112xi8>) -> tensor<33x20xi32>
  return %0 : tensor<33x20xi32>
}

func.func @matmul_tt_64(%a0: tensor<128x64xi8>, %a1: tensor<32x128xi8>) -> tensor<64x32xi32> {
  %0 = blocksparse.matmul %a0, %a1 {transpose_a, transpose_b} : (tensor<128x64xi8>, tensor<32x128xi8>) -> tensor<64x32xi32>
  return %0 : tensor<64x32xi32>
}

func.func @bsr_addmm(%a0: tensor<96x64xi8, #l48>, %a1: tensor<64x32xi8>, %a2: tensor<96x32xi32>, %a3: tensor<96xi8>) -> tensor<96x32xi32> {
  %0 = blocksparse.bsr_addmm %a0, %a1 input(%a2) left_alpha(%a3) {alpha = 2.0, beta = -3.0, activation = #blocksparse.activation<relu>} : (tensor<96x64xi8, #l48>, tensor<64x32xi8>, tensor<96x32xi32>, tensor<96xi8>) -> tensor<96x32xi32>
  return %0 : tensor<96x32xi32>
}

func.func @dds_tnt(%a0: tensor<128x48xi8>, %a1: tensor<128x128xi8, #l64>) -> tensor<128x48xi32> {
  %0 = blocksparse.dds %a0, %a1 {transpose_a, transpose_out} : (tensor<128x48xi8>, tensor<128x128xi8, #l64>) -> tensor<128x48xi32>
  return %0 : tensor<128x48xi32>
}

func.func @sampled_addmm(%a0: tensor<64x96xi32, #l32>, %a1: tensor<48x64xi8>, %a2: tensor<48x96xi8>) -> tensor<64x96xi32, #l32> {
  %0 = blocksparse.sampled_addmm %a0, %a1, %a2 {alpha = -3.0, beta = 2.0, transpose_a} : (tensor<64x96xi32, #l32>, tensor<48x64xi8>, tensor<48x96xi8>) -> tensor<64x96xi32, #l32>
  return %0 : tensor<64x96xi32, #l32>
}
