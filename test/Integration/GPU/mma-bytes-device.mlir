// More i8 and f8 on tensor cores: large tiles, every order of storage at blocks of 64, long
// reductions whose sums wrap.
// REQUIRES: gpu || simulator
// RUN: %if gpu %{ blocksparse-run %s --all-functions --check --repeat-check --device=cuda %}
// RUN: %if simulator %{ blocksparse-run %s --function=dsd_l16_nnt,dsd_wide_ntn,dsd_cut_columns,matmul_nn_130,dsd_l64_ntn_e5,dsd_l128_tnt_e5,dsd_nnt_i8,dsd_ttt_i8,sdd_tn_i8,dsd_ntt_e4,sdd_nn_e4,sdd_tt_e4 --check --device=simulated --target=cuda:sm_90 %}

#l16 = #blocksparse.layout<16x16, grid 3x3, mask "011/000/111">
#l32 = #blocksparse.layout<32x32, grid 2x3, mask "010/111">
#l48 = #blocksparse.layout<48x16, grid 2x4, mask "1011/0110">
#l64 = #blocksparse.layout<64x64, grid 2x2, mask "10/11">
#wide = #blocksparse.layout<32x96, grid 2x2, mask "11/01">
#l128 = #blocksparse.layout<128x128, grid 1x2, mask "11">

func.func @dsd_l16_nnt(%a0: tensor<48x48xi8, #l16>, %a1: tensor<48x48xi8>) -> tensor<48x48xi32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_out} : (tensor<48x48xi8, #l16>, tensor<48x48xi8>) -> tensor<48x48xi32>
  return %0 : tensor<48x48xi32>
}

func.func @dsd_l16_tnn(%a0: tensor<48x48xi8, #l16>, %a1: tensor<48x48xi8>) -> tensor<48x48xi32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a} : (tensor<48x48xi8, #l16>, tensor<48x48xi8>) -> tensor<48x48xi32>
  return %0 : tensor<48x48xi32>
}

func.func @dsd_l32_nnn(%a0: tensor<64x96xi8, #l32>, %a1: tensor<96x48xi8>) -> tensor<64x48xi32> {
  %0 = blocksparse.dsd %a0, %a1 : (tensor<64x96xi8, #l32>, tensor<96x48xi8>) -> tensor<64x48xi32>
  return %0 : tensor<64x48xi32>
}

func.func @dsd_l32_ntn(%a0: tensor<64x96xi8, #l32>, %a1: tensor<48x96xi8>) -> tensor<64x48xi32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_b} : (tensor<64x96xi8, #l32>, tensor<48x96xi8>) -> tensor<64x48xi32>
  return %0 : tensor<64x48xi32>
}

func.func @dsd_l48_nnn(%a0: tensor<96x64xi8, #l48>, %a1: tensor<64x32xi8>) -> tensor<96x32xi32> {
  %0 = blocksparse.dsd %a0, %a1 : (tensor<96x64xi8, #l48>, tensor<64x32xi8>) -> tensor<96x32xi32>
  return %0 : tensor<96x32xi32>
}

func.func @dsd_wide_nnn(%a0: tensor<64x192xi8, #wide>, %a1: tensor<192x16xi8>) -> tensor<64x16xi32> {
  %0 = blocksparse.dsd %a0, %a1 : (tensor<64x192xi8, #wide>, tensor<192x16xi8>) -> tensor<64x16xi32>
  return %0 : tensor<64x16xi32>
}

func.func @dsd_wide_ntn(%a0: tensor<64x192xi8, #wide>, %a1: tensor<16x192xi8>) -> tensor<64x16xi32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_b} : (tensor<64x192xi8, #wide>, tensor<16x192xi8>) -> tensor<64x16xi32>
  return %0 : tensor<64x16xi32>
}

func.func @dsd_l64_nnn(%a0: tensor<128x128xi8, #l64>, %a1: tensor<128x48xi8>) -> tensor<128x48xi32> {
  %0 = blocksparse.dsd %a0, %a1 : (tensor<128x128xi8, #l64>, tensor<128x48xi8>) -> tensor<128x48xi32>
  return %0 : tensor<128x48xi32>
}

func.func @dsd_l64_tnn(%a0: tensor<128x128xi8, #l64>, %a1: tensor<128x48xi8>) -> tensor<128x48xi32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a} : (tensor<128x128xi8, #l64>, tensor<128x48xi8>) -> tensor<128x48xi32>
  return %0 : tensor<128x48xi32>
}

func.func @dsd_l64_ttn(%a0: tensor<128x128xi8, #l64>, %a1: tensor<48x128xi8>) -> tensor<128x48xi32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a, transpose_b} : (tensor<128x128xi8, #l64>, tensor<48x128xi8>) -> tensor<128x48xi32>
  return %0 : tensor<128x48xi32>
}

func.func @dsd_l64_nnt(%a0: tensor<128x128xi8, #l64>, %a1: tensor<128x48xi8>) -> tensor<48x128xi32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_out} : (tensor<128x128xi8, #l64>, tensor<128x48xi8>) -> tensor<48x128xi32>
  return %0 : tensor<48x128xi32>
}

func.func @dsd_l128_tnt(%a0: tensor<128x256xi8, #l128>, %a1: tensor<128x32xi8>) -> tensor<32x256xi32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a, transpose_out} : (tensor<128x256xi8, #l128>, tensor<128x32xi8>) -> tensor<32x256xi32>
  return %0 : tensor<32x256xi32>
}

func.func @dsd_cut_columns(%a0: tensor<120x80xi8, #l64>, %a1: tensor<16x80xi8>) -> tensor<120x16xi32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_b} : (tensor<120x80xi8, #l64>, tensor<16x80xi8>) -> tensor<120x16xi32>
  return %0 : tensor<120x16xi32>
}

func.func @sdd_l48_nn(%a0: tensor<96x80xi8>, %a1: tensor<80x64xi8>) -> tensor<96x64xi32, #l48> {
  %0 = blocksparse.sdd %a0, %a1 : (tensor<96x80xi8>, tensor<80x64xi8>) -> tensor<96x64xi32, #l48>
  return %0 : tensor<96x64xi32, #l48>
}

func.func @sdd_l64_nt(%a0: tensor<128x96xi8>, %a1: tensor<128x96xi8>) -> tensor<128x128xi32, #l64> {
  %0 = blocksparse.sdd %a0, %a1 {transpose_b, alpha = 2.0} : (tensor<128x96xi8>, tensor<128x96xi8>) -> tensor<128x128xi32, #l64>
  return %0 : tensor<128x128xi32, #l64>
}

func.func @sdd_l64_tt(%a0: tensor<64x128xi8>, %a1: tensor<128x64xi8>) -> tensor<128x128xi32, #l64> {
  %0 = blocksparse.sdd %a0, %a1 {transpose_a, transpose_b, alpha = 2.0} : (tensor<64x128xi8>, tensor<128x64xi8>) -> tensor<128x128xi32, #l64>
  return %0 : tensor<128x128xi32, #l64>
}

func.func @sdd_l128_tn(%a0: tensor<160x128xi8>, %a1: tensor<160x256xi8>) -> tensor<128x256xi32, #l128> {
  %0 = blocksparse.sdd %a0, %a1 {transpose_a} : (tensor<160x128xi8>, tensor<160x256xi8>) -> tensor<128x256xi32, #l128>
  return %0 : tensor<128x256xi32, #l128>
}

func.func @matmul_tn_48(%a0: tensor<65x48xi8>, %a1: tensor<65x48xi8>) -> tensor<48x48xi32> {
  %0 = blocksparse.matmul %a0, %a1 {transpose_a} : (tensor<65x48xi8>, tensor<65x48xi8>) -> tensor<48x48xi32>
  return %0 : tensor<48x48xi32>
}

func.func @matmul_nn_130(%a0: tensor<130x64xi8>, %a1: tensor<64x80xi8>) -> tensor<130x80xi32> {
  %0 = blocksparse.matmul %a0, %a1 : (tensor<130x64xi8>, tensor<64x80xi8>) -> tensor<130x80xi32>
  return %0 : tensor<130x80xi32>
}

func.func @matmul_nn_1(%a0: tensor<1x32xi8>, %a1: tensor<32x16xi8>) -> tensor<1x16xi32> {
  %0 = blocksparse.matmul %a0, %a1 : (tensor<1x32xi8>, tensor<32x16xi8>) -> tensor<1x16xi32>
  return %0 : tensor<1x16xi32>
}

func.func @matmul_batches(%a0: tensor<2x3x48x48xi8>, %a1: tensor<2x3x48x32xi8>, %a2: tensor<32xi32>, %a3: tensor<48x32xi8>) -> tensor<2x3x48x32xi32> {
  %0 = blocksparse.matmul %a0, %a1 bias(%a2) residual(%a3) {transpose_a, alpha = 2.0} : (tensor<2x3x48x48xi8>, tensor<2x3x48x32xi8>, tensor<32xi32>, tensor<48x32xi8>) -> tensor<2x3x48x32xi32>
  return %0 : tensor<2x3x48x32xi32>
}

func.func @dds_nnn(%a0: tensor<48x128xi8>, %a1: tensor<128x128xi8, #l64>) -> tensor<48x128xi32> {
  %0 = blocksparse.dds %a0, %a1 : (tensor<48x128xi8>, tensor<128x128xi8, #l64>) -> tensor<48x128xi32>
  return %0 : tensor<48x128xi32>
}

func.func @dsd_l16_nnn_e5(%a0: tensor<48x48xf8E5M2, #l16>, %a1: tensor<48x48xf8E5M2>) -> tensor<48x48xf16> {
  %0 = blocksparse.dsd %a0, %a1 : (tensor<48x48xf8E5M2, #l16>, tensor<48x48xf8E5M2>) -> tensor<48x48xf16>
  return %0 : tensor<48x48xf16>
}

func.func @dsd_l32_tnn_e4(%a0: tensor<64x96xf8E4M3FN, #l32>, %a1: tensor<64x48xf8E4M3FN>) -> tensor<96x48xf16> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a} : (tensor<64x96xf8E4M3FN, #l32>, tensor<64x48xf8E4M3FN>) -> tensor<96x48xf16>
  return %0 : tensor<96x48xf16>
}

func.func @dsd_l64_ntn_e5(%a0: tensor<128x128xf8E5M2, #l64>, %a1: tensor<32x128xf8E5M2>) -> tensor<128x32xf32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_b} : (tensor<128x128xf8E5M2, #l64>, tensor<32x128xf8E5M2>) -> tensor<128x32xf32>
  return %0 : tensor<128x32xf32>
}

func.func @dsd_l64_ttt_e4(%a0: tensor<128x128xf8E4M3FN, #l64>, %a1: tensor<32x128xf8E4M3FN>) -> tensor<32x128xf32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a, transpose_b, transpose_out} : (tensor<128x128xf8E4M3FN, #l64>, tensor<32x128xf8E4M3FN>) -> tensor<32x128xf32>
  return %0 : tensor<32x128xf32>
}

func.func @dsd_l64_ttt_e5(%a0: tensor<128x128xf8E5M2, #l64>, %a1: tensor<32x128xf8E5M2>) -> tensor<32x128xf16> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a, transpose_b, transpose_out} : (tensor<128x128xf8E5M2, #l64>, tensor<32x128xf8E5M2>) -> tensor<32x128xf16>
  return %0 : tensor<32x128xf16>
}

func.func @dsd_l48_nnt_e4(%a0: tensor<96x64xf8E4M3FN, #l48>, %a1: tensor<64x32xf8E4M3FN>) -> tensor<32x96xf16> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_out} : (tensor<96x64xf8E4M3FN, #l48>, tensor<64x32xf8E4M3FN>) -> tensor<32x96xf16>
  return %0 : tensor<32x96xf16>
}

func.func @dsd_wide_nnn_e4(%a0: tensor<64x192xf8E4M3FN, #wide>, %a1: tensor<192x16xf8E4M3FN>) -> tensor<64x16xf8E4M3FN> {
  %0 = blocksparse.dsd %a0, %a1 : (tensor<64x192xf8E4M3FN, #wide>, tensor<192x16xf8E4M3FN>) -> tensor<64x16xf8E4M3FN>
  return %0 : tensor<64x16xf8E4M3FN>
}

func.func @dsd_wide_nnn_e5(%a0: tensor<64x192xf8E5M2, #wide>, %a1: tensor<192x16xf8E5M2>) -> tensor<64x16xf32> {
  %0 = blocksparse.dsd %a0, %a1 : (tensor<64x192xf8E5M2, #wide>, tensor<192x16xf8E5M2>) -> tensor<64x16xf32>
  return %0 : tensor<64x16xf32>
}

func.func @dsd_l128_tnt_e5(%a0: tensor<128x256xf8E5M2, #l128>, %a1: tensor<128x16xf8E5M2>) -> tensor<16x256xf16> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a, transpose_out} : (tensor<128x256xf8E5M2, #l128>, tensor<128x16xf8E5M2>) -> tensor<16x256xf16>
  return %0 : tensor<16x256xf16>
}

func.func @sdd_l64_nt_e4(%a0: tensor<128x96xf8E4M3FN>, %a1: tensor<128x96xf8E4M3FN>) -> tensor<128x128xbf16, #l64> {
  %0 = blocksparse.sdd %a0, %a1 {transpose_b} : (tensor<128x96xf8E4M3FN>, tensor<128x96xf8E4M3FN>) -> tensor<128x128xbf16, #l64>
  return %0 : tensor<128x128xbf16, #l64>
}

func.func @sdd_l128_tt_e5(%a0: tensor<64x128xf8E5M2>, %a1: tensor<256x64xf8E5M2>) -> tensor<128x256xf32, #l128> {
  %0 = blocksparse.sdd %a0, %a1 {transpose_a, transpose_b} : (tensor<64x128xf8E5M2>, tensor<256x64xf8E5M2>) -> tensor<128x256xf32, #l128>
  return %0 : tensor<128x256xf32, #l128>
}

func.func @matmul_nn_e4(%a0: tensor<40x80xf8E4M3FN>, %a1: tensor<80x48xf8E4M3FN>, %a2: tensor<48xf32>) -> tensor<40x48xf32> {
  %0 = blocksparse.matmul %a0, %a1 bias(%a2) : (tensor<40x80xf8E4M3FN>, tensor<80x48xf8E4M3FN>, tensor<48xf32>) -> tensor<40x48xf32>
  return %0 : tensor<40x48xf32>
}

func.func @matmul_tn_e5(%a0: tensor<65x48xf8E5M2>, %a1: tensor<65x48xf8E5M2>, %a2: tensor<48xf32>) -> tensor<48x48xf32> {
  %0 = blocksparse.matmul %a0, %a1 bias(%a2) {transpose_a} : (tensor<65x48xf8E5M2>, tensor<65x48xf8E5M2>, tensor<48xf32>) -> tensor<48x48xf32>
  return %0 : tensor<48x48xf32>
}

func.func @dsd_nnn_i8(%a0: tensor<128x128xi8, #l64>, %a1: tensor<128x272xi8>) -> tensor<128x272xi32> {
  %0 = blocksparse.dsd %a0, %a1 : (tensor<128x128xi8, #l64>, tensor<128x272xi8>) -> tensor<128x272xi32>
  return %0 : tensor<128x272xi32>
}

func.func @dsd_nnt_i8(%a0: tensor<128x128xi8, #l64>, %a1: tensor<128x272xi8>) -> tensor<272x128xi32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_out} : (tensor<128x128xi8, #l64>, tensor<128x272xi8>) -> tensor<272x128xi32>
  return %0 : tensor<272x128xi32>
}

func.func @dsd_ntn_i8(%a0: tensor<128x128xi8, #l64>, %a1: tensor<272x128xi8>) -> tensor<128x272xi32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_b} : (tensor<128x128xi8, #l64>, tensor<272x128xi8>) -> tensor<128x272xi32>
  return %0 : tensor<128x272xi32>
}

func.func @dsd_ntt_i8(%a0: tensor<128x128xi8, #l64>, %a1: tensor<272x128xi8>) -> tensor<272x128xi32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_b, transpose_out} : (tensor<128x128xi8, #l64>, tensor<272x128xi8>) -> tensor<272x128xi32>
  return %0 : tensor<272x128xi32>
}

func.func @dsd_tnn_i8(%a0: tensor<128x128xi8, #l64>, %a1: tensor<128x272xi8>) -> tensor<128x272xi32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a} : (tensor<128x128xi8, #l64>, tensor<128x272xi8>) -> tensor<128x272xi32>
  return %0 : tensor<128x272xi32>
}

func.func @dsd_tnt_i8(%a0: tensor<128x128xi8, #l64>, %a1: tensor<128x272xi8>) -> tensor<272x128xi32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a, transpose_out} : (tensor<128x128xi8, #l64>, tensor<128x272xi8>) -> tensor<272x128xi32>
  return %0 : tensor<272x128xi32>
}

func.func @dsd_ttn_i8(%a0: tensor<128x128xi8, #l64>, %a1: tensor<272x128xi8>) -> tensor<128x272xi32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a, transpose_b} : (tensor<128x128xi8, #l64>, tensor<272x128xi8>) -> tensor<128x272xi32>
  return %0 : tensor<128x272xi32>
}

func.func @dsd_ttt_i8(%a0: tensor<128x128xi8, #l64>, %a1: tensor<272x128xi8>) -> tensor<272x128xi32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a, transpose_b, transpose_out} : (tensor<128x128xi8, #l64>, tensor<272x128xi8>) -> tensor<272x128xi32>
  return %0 : tensor<272x128xi32>
}

func.func @matmul_nn_i8(%a0: tensor<272x1040xi8>, %a1: tensor<1040x400xi8>) -> tensor<272x400xi32> {
  %0 = blocksparse.matmul %a0, %a1 : (tensor<272x1040xi8>, tensor<1040x400xi8>) -> tensor<272x400xi32>
  return %0 : tensor<272x400xi32>
}

func.func @sdd_nn_i8(%a0: tensor<128x528xi8>, %a1: tensor<528x256xi8>) -> tensor<128x256xi32, #l128> {
  %0 = blocksparse.sdd %a0, %a1 : (tensor<128x528xi8>, tensor<528x256xi8>) -> tensor<128x256xi32, #l128>
  return %0 : tensor<128x256xi32, #l128>
}

func.func @matmul_nt_i8(%a0: tensor<272x1040xi8>, %a1: tensor<400x1040xi8>) -> tensor<272x400xi32> {
  %0 = blocksparse.matmul %a0, %a1 {transpose_b} : (tensor<272x1040xi8>, tensor<400x1040xi8>) -> tensor<272x400xi32>
  return %0 : tensor<272x400xi32>
}

func.func @sdd_nt_i8(%a0: tensor<128x528xi8>, %a1: tensor<256x528xi8>) -> tensor<128x256xi32, #l128> {
  %0 = blocksparse.sdd %a0, %a1 {transpose_b} : (tensor<128x528xi8>, tensor<256x528xi8>) -> tensor<128x256xi32, #l128>
  return %0 : tensor<128x256xi32, #l128>
}

func.func @matmul_tn_i8(%a0: tensor<1040x272xi8>, %a1: tensor<1040x400xi8>) -> tensor<272x400xi32> {
  %0 = blocksparse.matmul %a0, %a1 {transpose_a} : (tensor<1040x272xi8>, tensor<1040x400xi8>) -> tensor<272x400xi32>
  return %0 : tensor<272x400xi32>
}

func.func @sdd_tn_i8(%a0: tensor<528x128xi8>, %a1: tensor<528x256xi8>) -> tensor<128x256xi32, #l128> {
  %0 = blocksparse.sdd %a0, %a1 {transpose_a} : (tensor<528x128xi8>, tensor<528x256xi8>) -> tensor<128x256xi32, #l128>
  return %0 : tensor<128x256xi32, #l128>
}

func.func @matmul_tt_i8(%a0: tensor<1040x272xi8>, %a1: tensor<400x1040xi8>) -> tensor<272x400xi32> {
  %0 = blocksparse.matmul %a0, %a1 {transpose_a, transpose_b} : (tensor<1040x272xi8>, tensor<400x1040xi8>) -> tensor<272x400xi32>
  return %0 : tensor<272x400xi32>
}

func.func @sdd_tt_i8(%a0: tensor<528x128xi8>, %a1: tensor<256x528xi8>) -> tensor<128x256xi32, #l128> {
  %0 = blocksparse.sdd %a0, %a1 {transpose_a, transpose_b} : (tensor<528x128xi8>, tensor<256x528xi8>) -> tensor<128x256xi32, #l128>
  return %0 : tensor<128x256xi32, #l128>
}

func.func @dsd_nnn_e4(%a0: tensor<128x128xf8E4M3FN, #l64>, %a1: tensor<128x272xf8E4M3FN>) -> tensor<128x272xf32> {
  %0 = blocksparse.dsd %a0, %a1 : (tensor<128x128xf8E4M3FN, #l64>, tensor<128x272xf8E4M3FN>) -> tensor<128x272xf32>
  return %0 : tensor<128x272xf32>
}

func.func @dsd_nnt_e4(%a0: tensor<128x128xf8E4M3FN, #l64>, %a1: tensor<128x272xf8E4M3FN>) -> tensor<272x128xf32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_out} : (tensor<128x128xf8E4M3FN, #l64>, tensor<128x272xf8E4M3FN>) -> tensor<272x128xf32>
  return %0 : tensor<272x128xf32>
}

func.func @dsd_ntn_e4(%a0: tensor<128x128xf8E4M3FN, #l64>, %a1: tensor<272x128xf8E4M3FN>) -> tensor<128x272xf32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_b} : (tensor<128x128xf8E4M3FN, #l64>, tensor<272x128xf8E4M3FN>) -> tensor<128x272xf32>
  return %0 : tensor<128x272xf32>
}

func.func @dsd_ntt_e4(%a0: tensor<128x128xf8E4M3FN, #l64>, %a1: tensor<272x128xf8E4M3FN>) -> tensor<272x128xf32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_b, transpose_out} : (tensor<128x128xf8E4M3FN, #l64>, tensor<272x128xf8E4M3FN>) -> tensor<272x128xf32>
  return %0 : tensor<272x128xf32>
}

func.func @dsd_tnn_e4(%a0: tensor<128x128xf8E4M3FN, #l64>, %a1: tensor<128x272xf8E4M3FN>) -> tensor<128x272xf32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a} : (tensor<128x128xf8E4M3FN, #l64>, tensor<128x272xf8E4M3FN>) -> tensor<128x272xf32>
  return %0 : tensor<128x272xf32>
}

func.func @dsd_tnt_e4(%a0: tensor<128x128xf8E4M3FN, #l64>, %a1: tensor<128x272xf8E4M3FN>) -> tensor<272x128xf32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a, transpose_out} : (tensor<128x128xf8E4M3FN, #l64>, tensor<128x272xf8E4M3FN>) -> tensor<272x128xf32>
  return %0 : tensor<272x128xf32>
}

func.func @dsd_ttn_e4(%a0: tensor<128x128xf8E4M3FN, #l64>, %a1: tensor<272x128xf8E4M3FN>) -> tensor<128x272xf32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a, transpose_b} : (tensor<128x128xf8E4M3FN, #l64>, tensor<272x128xf8E4M3FN>) -> tensor<128x272xf32>
  return %0 : tensor<128x272xf32>
}

func.func @dsd_ttt_e4(%a0: tensor<128x128xf8E4M3FN, #l64>, %a1: tensor<272x128xf8E4M3FN>) -> tensor<272x128xf32> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a, transpose_b, transpose_out} : (tensor<128x128xf8E4M3FN, #l64>, tensor<272x128xf8E4M3FN>) -> tensor<272x128xf32>
  return %0 : tensor<272x128xf32>
}

func.func @matmul_nn_e4_large(%a0: tensor<272x1040xf8E4M3FN>, %a1: tensor<1040x400xf8E4M3FN>) -> tensor<272x400xf32> {
  %0 = blocksparse.matmul %a0, %a1 : (tensor<272x1040xf8E4M3FN>, tensor<1040x400xf8E4M3FN>) -> tensor<272x400xf32>
  return %0 : tensor<272x400xf32>
}

func.func @sdd_nn_e4(%a0: tensor<128x528xf8E4M3FN>, %a1: tensor<528x256xf8E4M3FN>) -> tensor<128x256xf32, #l128> {
  %0 = blocksparse.sdd %a0, %a1 : (tensor<128x528xf8E4M3FN>, tensor<528x256xf8E4M3FN>) -> tensor<128x256xf32, #l128>
  return %0 : tensor<128x256xf32, #l128>
}

func.func @matmul_nt_e4(%a0: tensor<272x1040xf8E4M3FN>, %a1: tensor<400x1040xf8E4M3FN>) -> tensor<272x400xf32> {
  %0 = blocksparse.matmul %a0, %a1 {transpose_b} : (tensor<272x1040xf8E4M3FN>, tensor<400x1040xf8E4M3FN>) -> tensor<272x400xf32>
  return %0 : tensor<272x400xf32>
}

func.func @sdd_nt_e4(%a0: tensor<128x528xf8E4M3FN>, %a1: tensor<256x528xf8E4M3FN>) -> tensor<128x256xf32, #l128> {
  %0 = blocksparse.sdd %a0, %a1 {transpose_b} : (tensor<128x528xf8E4M3FN>, tensor<256x528xf8E4M3FN>) -> tensor<128x256xf32, #l128>
  return %0 : tensor<128x256xf32, #l128>
}

func.func @matmul_tn_e4(%a0: tensor<1040x272xf8E4M3FN>, %a1: tensor<1040x400xf8E4M3FN>) -> tensor<272x400xf32> {
  %0 = blocksparse.matmul %a0, %a1 {transpose_a} : (tensor<1040x272xf8E4M3FN>, tensor<1040x400xf8E4M3FN>) -> tensor<272x400xf32>
  return %0 : tensor<272x400xf32>
}

func.func @sdd_tn_e4(%a0: tensor<528x128xf8E4M3FN>, %a1: tensor<528x256xf8E4M3FN>) -> tensor<128x256xf32, #l128> {
  %0 = blocksparse.sdd %a0, %a1 {transpose_a} : (tensor<528x128xf8E4M3FN>, tensor<528x256xf8E4M3FN>) -> tensor<128x256xf32, #l128>
  return %0 : tensor<128x256xf32, #l128>
}

func.func @matmul_tt_e4(%a0: tensor<1040x272xf8E4M3FN>, %a1: tensor<400x1040xf8E4M3FN>) -> tensor<272x400xf32> {
  %0 = blocksparse.matmul %a0, %a1 {transpose_a, transpose_b} : (tensor<1040x272xf8E4M3FN>, tensor<400x1040xf8E4M3FN>) -> tensor<272x400xf32>
  return %0 : tensor<272x400xf32>
}

func.func @sdd_tt_e4(%a0: tensor<528x128xf8E4M3FN>, %a1: tensor<256x528xf8E4M3FN>) -> tensor<128x256xf32, #l128> {
  %0 = blocksparse.sdd %a0, %a1 {transpose_a, transpose_b} : (tensor<528x128xf8E4M3FN>, tensor<256x528xf8E4M3FN>) -> tensor<128x256xf32, #l128>
  return %0 : tensor<128x256xf32, #l128>
}

func.func @wraps(%a0: tensor<16x131072xi8> {blocksparse.value = dense<-128> : tensor<i32>}, %a1: tensor<131072x16xi8> {blocksparse.value = dense<-128> : tensor<i32>})
    -> (tensor<16x16xi32> {blocksparse.expect = dense<-2147483648> : tensor<i32>}) {
  %0 = blocksparse.matmul %a0, %a1 : (tensor<16x131072xi8>, tensor<131072x16xi8>) -> tensor<16x16xi32>
  return %0 : tensor<16x16xi32>
}
