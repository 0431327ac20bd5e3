// Long block rows, cut into runs with slots whose partial sums a second kernel adds up, and
// a pattern known at run time alone.
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --repeat-check --poison --device=simulated --target=cuda:sm_80 %}

#l0 = #blocksparse.layout<16x16, grid 3x40, mask "1111111111111111111111111111111111111111/0000000000000000000000000000000000000000/1010101010101010101010101010101010101010">
#l1 = #blocksparse.bsr<16x16>

func.func @long_row(%a0: tensor<48x640xf16, #l0>, %a1: tensor<640x40xf16>) -> tensor<48x40xf16> {
  %0 = blocksparse.dsd %a0, %a1 : (tensor<48x640xf16, #l0>, tensor<640x40xf16>) -> tensor<48x40xf16>
  return %0 : tensor<48x40xf16>
}

func.func @split(%a0: tensor<48x640xf16, #l0>, %a1: tensor<640x40xf16>, %a2: tensor<40xf16>) -> tensor<48x40xf16> {
  %0 = blocksparse.dsd %a0, %a1 bias(%a2) {activation = #blocksparse.activation<silu>, schedule = #blocksparse.schedule<cuda.mma, tile = 16x64, stages = 4, split = 7>} : (tensor<48x640xf16, #l0>, tensor<640x40xf16>, tensor<40xf16>) -> tensor<48x40xf16>
  return %0 : tensor<48x40xf16>
}

func.func @split_heads(%a0: tensor<2x40x640xbf16, #l0>, %a1: tensor<2x44x640xbf16>) -> tensor<2x44x40xbf16> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_b, transpose_out, schedule = #blocksparse.schedule<cuda.mma, tile = 16x64, stages = 4, split = 7>} : (tensor<2x40x640xbf16, #l0>, tensor<2x44x640xbf16>) -> tensor<2x44x40xbf16>
  return %0 : tensor<2x44x40xbf16>
}

func.func @dynamic(%a0: tensor<40x72xf16, #l1>, %a1: tensor<72x40xf16>) -> tensor<40x40xf16> {
  %0 = blocksparse.dsd %a0, %a1 : (tensor<40x72xf16, #l1>, tensor<72x40xf16>) -> tensor<40x40xf16>
  return %0 : tensor<40x40xf16>
}

func.func @dynamic_transposed(%a0: tensor<40x72xbf16, #l1>, %a1: tensor<40x24xbf16>) -> tensor<72x24xbf16> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_a} : (tensor<40x72xbf16, #l1>, tensor<40x24xbf16>) -> tensor<72x24xbf16>
  return %0 : tensor<72x24xbf16>
}
