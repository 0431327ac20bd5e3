// f8 on tensor cores, as f16 that stand for it exactly, sums in f32: every order of storage, both
// formats, results of 8, 16 and 32 bits, f8 that is not finite.
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --repeat-check --poison --device=simulated --target=cuda:sm_90 %}

#l16 = #blocksparse.layout<16x16, grid 3x3, mask "011/000/111">
#l32 = #blocksparse.layout<32x32, grid 2x3, mask "010/111">
#l48 = #blocksparse.layout<48x16, grid 2x4, mask "1011/0110">
#l64 = #blocksparse.layout<64x64, grid 2x2, mask "10/11">
#l128 = #blocksparse.layout<128x128, grid 1x2, mask "11">

func.func @dsd_l16_nnn_e4(%a0: tensor<48x48xf8E4M3FN, #l16>, %a1: tensor<48x48xf8E4M3FN>) -> tensor<48x48xf32> {
  %0 = blocksparse.dsd %a0, %a1 : (tensor<48x48xf8E4M3FN, #l16>, tensor<48x48xf8E4M3FN>) -> tensor<48x48xf32>
  return %0 : tensor<48x48xf32>
}

func.func @dsd_l32_tnn_e5(%a0: tensor<64x96xf8E5M2, #l32>, %a1: tensor<64x48xf8E5M2>) -> tensor<96x48xf8E5M2> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a} : (tensor<64x96xf8E5M2, #l32>, tensor<64x48xf8E5M2>) -> tensor<96x48xf8E5M2>
  return %0 : tensor<96x48xf8E5M2>
}

func.func @dsd_l64_ntn_e4(%a0: tensor<128x128xf8E4M3FN, #l64>, %a1: tensor<32x128xf8E4M3FN>) -> tensor<128x32xf8E4M3FN> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_b} : (tensor<128x128xf8E4M3FN, #l64>, tensor<32x128xf8E4M3FN>) -> tensor<128x32xf8E4M3FN>
  return %0 : tensor<128x32xf8E4M3FN>
}

func.func @dsd_l48_nnt_e5(%a0: tensor<96x64xf8E5M2, #l48>, %a1: tensor<64x32xf8E5M2>) -> tensor<32x96xf8E5M2> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_out} : (tensor<96x64xf8E5M2, #l48>, tensor<64x32xf8E5M2>) -> tensor<32x96xf8E5M2>
  return %0 : tensor<32x96xf8E5M2>
}

func.func @dsd_l128_tnt_e4(%a0: tensor<128x256xf8E4M3FN, #l128>, %a1: tensor<128x16xf8E4M3FN>) -> tensor<16x256xf32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a, transpose_out} : (tensor<128x256xf8E4M3FN, #l128>, tensor<128x16xf8E4M3FN>) -> tensor<16x256xf32>
  return %0 : tensor<16x256xf32>
}

func.func @sdd_l16_nn_e4(%a0: tensor<48x48xf8E4M3FN>, %a1: tensor<48x48xf8E4M3FN>) -> tensor<48x48xf32, #l16> {
  %0 = blocksparse.sdd %a0, %a1 : (tensor<48x48xf8E4M3FN>, tensor<48x48xf8E4M3FN>) -> tensor<48x48xf32, #l16>
  return %0 : tensor<48x48xf32, #l16>
}

func.func @sdd_l32_tn_e5(%a0: tensor<89x64xf8E5M2>, %a1: tensor<89x96xf8E5M2>) -> tensor<64x96xf8E5M2, #l32> {
  %0 = blocksparse.sdd %a0, %a1 {transpose_a} : (tensor<89x64xf8E5M2>, tensor<89x96xf8E5M2>) -> tensor<64x96xf8E5M2, #l32>
  return %0 : tensor<64x96xf8E5M2, #l32>
}

func.func @matmul_nt_e4(%a0: tensor<33x112xf8E4M3FN>, %a1: tensor<20x112xf8E4M3FN>, %a2: tensor<20xf32>) -> tensor<33x20xf8E4M3FN> {
  %0 = blocksparse.matmul %a0, %a1 bias(%a2) {transpose_b} : (tensor<33x112xf8E4M3FN>, tensor<20x112xf8E4M3FN>, tensor<20xf32>) -> tensor<33x20xf8E4M3FN>
  return %0 : tensor<33x20xf8E4M3FN>
}

func.func @matmul_tt_e5(%a0: tensor<128x64xf8E5M2>, %a1: tensor<32x128xf8E5M2>, %a2: tensor<32xf32>) -> tensor<64x32xf8E5M2> {
  %0 = blocksparse.matmul %a0, %a1 bias(%a2) {transpose_a, transpose_b} : (tensor<128x64xf8E5M2>, tensor<32x128xf8E5M2>, tensor<32xf32>) -> tensor<64x32xf8E5M2>
  return %0 : tensor<64x32xf8E5M2>
}

func.func @dsd_unaligned(%a0: tensor<64x96xf8E4M3FN, #l32>, %a1: tensor<96x40xf8E4M3FN>) -> tensor<64x40xf32> {
  %0 = blocksparse.dsd %a0, %a1 : (tensor<64x96xf8E4M3FN, #l32>, tensor<96x40xf8E4M3FN>) -> tensor<64x40xf32>
  return %0 : tensor<64x40xf32>
}

func.func @nan(%a0: tensor<16x32xf8E4M3FN> {blocksparse.value = dense<0x7FC00000> : tensor<f32>}, %a1: tensor<32x16xf8E4M3FN> {blocksparse.value = dense<5.000000e-01> : tensor<f32>})
    -> (tensor<16x16xf32> {blocksparse.expect = dense<0x7FC00000> : tensor<f32>}) {
  %0 = blocksparse.matmul %a0, %a1 : (tensor<16x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

func.func @infinity(%a0: tensor<16x32xf8E5M2> {blocksparse.value = dense<0x7F800000> : tensor<f32>}, %a1: tensor<32x16xf8E5M2> {blocksparse.value = dense<5.000000e-01> : tensor<f32>})
    -> (tensor<16x16xf32> {blocksparse.expect = dense<0x7F800000> : tensor<f32>}) {
  %0 = blocksparse.matmul %a0, %a1 : (tensor<16x32xf8E5M2>, tensor<32x16xf8E5M2>) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}
