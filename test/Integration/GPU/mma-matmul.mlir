// The dense product on tensor cores: every form and transpose, batches, the epilogue.
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --repeat-check --poison --device=simulated --target=cuda:sm_80 %}

func.func @matmul_nn_40_72_56(%a0: tensor<40x56xf16>, %a1: tensor<56x72xf16>, %a2: tensor<72xf16>) -> tensor<40x72xf16> {
  %0 = blocksparse.matmul %a0, %a1 bias(%a2) : (tensor<40x56xf16>, tensor<56x72xf16>, tensor<72xf16>) -> tensor<40x72xf16>
  return %0 : tensor<40x72xf16>
}

func.func @matmul_nn_136_24_32(%a0: tensor<136x32xbf16>, %a1: tensor<32x24xbf16>) -> tensor<136x24xbf16> {
  %0 = blocksparse.matmul %a0, %a1 {activation = #blocksparse.activation<gelu_tanh>} : (tensor<136x32xbf16>, tensor<32x24xbf16>) -> tensor<136x24xbf16>
  return %0 : tensor<136x24xbf16>
}

func.func @matmul_nn_16_136_8(%a0: tensor<16x8xf16>, %a1: tensor<8x136xf16>) -> tensor<16x136xf16> {
  %0 = blocksparse.matmul %a0, %a1 : (tensor<16x8xf16>, tensor<8x136xf16>) -> tensor<16x136xf16>
  return %0 : tensor<16x136xf16>
}

func.func @matmul_nn_8_200_40(%a0: tensor<8x40xbf16>, %a1: tensor<40x200xbf16>, %a2: tensor<200xbf16>) -> tensor<8x200xf32> {
  %0 = blocksparse.matmul %a0, %a1 bias(%a2) : (tensor<8x40xbf16>, tensor<40x200xbf16>, tensor<200xbf16>) -> tensor<8x200xf32>
  return %0 : tensor<8x200xf32>
}

func.func @matmul_nn_33_64_48(%a0: tensor<33x48xf16>, %a1: tensor<48x64xf16>) -> tensor<33x64xf16> {
  %0 = blocksparse.matmul %a0, %a1 : (tensor<33x48xf16>, tensor<48x64xf16>) -> tensor<33x64xf16>
  return %0 : tensor<33x64xf16>
}

func.func @matmul_nt_40_72_56(%a0: tensor<40x56xbf16>, %a1: tensor<72x56xbf16>) -> tensor<40x72xbf16> {
  %0 = blocksparse.matmul %a0, %a1 {transpose_b, activation = #blocksparse.activation<gelu_tanh>} : (tensor<40x56xbf16>, tensor<72x56xbf16>) -> tensor<40x72xbf16>
  return %0 : tensor<40x72xbf16>
}

func.func @matmul_nt_136_24_32(%a0: tensor<136x32xf16>, %a1: tensor<24x32xf16>, %a2: tensor<24xf16>) -> tensor<136x24xf16> {
  %0 = blocksparse.matmul %a0, %a1 bias(%a2) {transpose_b} : (tensor<136x32xf16>, tensor<24x32xf16>, tensor<24xf16>) -> tensor<136x24xf16>
  return %0 : tensor<136x24xf16>
}

func.func @matmul_nt_16_136_8(%a0: tensor<16x8xbf16>, %a1: tensor<136x8xbf16>) -> tensor<16x136xbf16> {
  %0 = blocksparse.matmul %a0, %a1 {transpose_b} : (tensor<16x8xbf16>, tensor<136x8xbf16>) -> tensor<16x136xbf16>
  return %0 : tensor<16x136xbf16>
}

func.func @matmul_nt_8_200_40(%a0: tensor<8x40xf16>, %a1: tensor<200x40xf16>) -> tensor<8x200xf32> {
  %0 = blocksparse.matmul %a0, %a1 {transpose_b} : (tensor<8x40xf16>, tensor<200x40xf16>) -> tensor<8x200xf32>
  return %0 : tensor<8x200xf32>
}

func.func @matmul_nt_33_64_48(%a0: tensor<33x48xbf16>, %a1: tensor<64x48xbf16>, %a2: tensor<64xbf16>) -> tensor<33x64xbf16> {
  %0 = blocksparse.matmul %a0, %a1 bias(%a2) {transpose_b, activation = #blocksparse.activation<gelu_tanh>} : (tensor<33x48xbf16>, tensor<64x48xbf16>, tensor<64xbf16>) -> tensor<33x64xbf16>
  return %0 : tensor<33x64xbf16>
}

func.func @matmul_tn_40_72_56(%a0: tensor<56x40xf16>, %a1: tensor<56x72xf16>) -> tensor<40x72xf16> {
  %0 = blocksparse.matmul %a0, %a1 {transpose_a} : (tensor<56x40xf16>, tensor<56x72xf16>) -> tensor<40x72xf16>
  return %0 : tensor<40x72xf16>
}

func.func @matmul_tn_136_24_32(%a0: tensor<32x136xbf16>, %a1: tensor<32x24xbf16>) -> tensor<136x24xbf16> {
  %0 = blocksparse.matmul %a0, %a1 {transpose_a} : (tensor<32x136xbf16>, tensor<32x24xbf16>) -> tensor<136x24xbf16>
  return %0 : tensor<136x24xbf16>
}

func.func @matmul_tn_16_136_8(%a0: tensor<8x16xf16>, %a1: tensor<8x136xf16>, %a2: tensor<136xf16>) -> tensor<16x136xf16> {
  %0 = blocksparse.matmul %a0, %a1 bias(%a2) {transpose_a} : (tensor<8x16xf16>, tensor<8x136xf16>, tensor<136xf16>) -> tensor<16x136xf16>
  return %0 : tensor<16x136xf16>
}

func.func @matmul_tn_8_200_40(%a0: tensor<40x8xbf16>, %a1: tensor<40x200xbf16>) -> tensor<8x200xf32> {
  %0 = blocksparse.matmul %a0, %a1 {transpose_a, activation = #blocksparse.activation<gelu_tanh>} : (tensor<40x8xbf16>, tensor<40x200xbf16>) -> tensor<8x200xf32>
  return %0 : tensor<8x200xf32>
}

func.func @matmul_tn_33_64_48(%a0: tensor<48x33xf16>, %a1: tensor<48x64xf16>) -> tensor<33x64xf16> {
  %0 = blocksparse.matmul %a0, %a1 {transpose_a} : (tensor<48x33xf16>, tensor<48x64xf16>) -> tensor<33x64xf16>
  return %0 : tensor<33x64xf16>
}

func.func @matmul_tt_40_72_56(%a0: tensor<56x40xbf16>, %a1: tensor<72x56xbf16>, %a2: tensor<72xbf16>) -> tensor<40x72xbf16> {
  %0 = blocksparse.matmul %a0, %a1 bias(%a2) {transpose_a, transpose_b} : (tensor<56x40xbf16>, tensor<72x56xbf16>, tensor<72xbf16>) -> tensor<40x72xbf16>
  return %0 : tensor<40x72xbf16>
}

func.func @matmul_tt_136_24_32(%a0: tensor<32x136xf16>, %a1: tensor<24x32xf16>) -> tensor<136x24xf16> {
  %0 = blocksparse.matmul %a0, %a1 {transpose_a, transpose_b} : (tensor<32x136xf16>, tensor<24x32xf16>) -> tensor<136x24xf16>
  return %0 : tensor<136x24xf16>
}

func.func @matmul_tt_16_136_8(%a0: tensor<8x16xbf16>, %a1: tensor<136x8xbf16>) -> tensor<16x136xbf16> {
  %0 = blocksparse.matmul %a0, %a1 {transpose_a, transpose_b, activation = #blocksparse.activation<gelu_tanh>} : (tensor<8x16xbf16>, tensor<136x8xbf16>) -> tensor<16x136xbf16>
  return %0 : tensor<16x136xbf16>
}

func.func @matmul_tt_8_200_40(%a0: tensor<40x8xf16>, %a1: tensor<200x40xf16>, %a2: tensor<200xf16>) -> tensor<8x200xf32> {
  %0 = blocksparse.matmul %a0, %a1 bias(%a2) {transpose_a, transpose_b} : (tensor<40x8xf16>, tensor<200x40xf16>, tensor<200xf16>) -> tensor<8x200xf32>
  return %0 : tensor<8x200xf32>
}

func.func @matmul_tt_33_64_48(%a0: tensor<48x33xbf16>, %a1: tensor<64x48xbf16>) -> tensor<33x64xbf16> {
  %0 = blocksparse.matmul %a0, %a1 {transpose_a, transpose_b} : (tensor<48x33xbf16>, tensor<64x48xbf16>) -> tensor<33x64xbf16>
  return %0 : tensor<33x64xbf16>
}

func.func @matmul_batches(%a0: tensor<2x3x24x40xf16>, %a1: tensor<3x40x48xf16>) -> tensor<2x3x24x48xf16> {
  %0 = blocksparse.matmul %a0, %a1 : (tensor<2x3x24x40xf16>, tensor<3x40x48xf16>) -> tensor<2x3x24x48xf16>
  return %0 : tensor<2x3x24x48xf16>
}

func.func @score(%a0: tensor<2x40x3x64xf16>, %a1: tensor<2x24x3x64xf16>) -> tensor<2x3x40x24xf16> {
  %0 = blocksparse.matmul %a0, %a1 {form = #blocksparse.form<score>} : (tensor<2x40x3x64xf16>, tensor<2x24x3x64xf16>) -> tensor<2x3x40x24xf16>
  return %0 : tensor<2x3x40x24xf16>
}

func.func @context(%a0: tensor<2x3x40x24xf16>, %a1: tensor<2x24x3x64xf16>) -> tensor<2x40x3x64xf16> {
  %0 = blocksparse.matmul %a0, %a1 {form = #blocksparse.form<context>} : (tensor<2x3x40x24xf16>, tensor<2x24x3x64xf16>) -> tensor<2x40x3x64xf16>
  return %0 : tensor<2x40x3x64xf16>
}
