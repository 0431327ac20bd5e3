// dsd, dds and sdd on tensor cores with batches and heads: one pattern for all heads, one for each,
// operands that are broadcast.
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --repeat-check --poison --device=simulated --target=cuda:sm_80 %}

#l0 = #blocksparse.layout<16x16, grid 3x4, mask "0100/0000/1100">
#l1 = #blocksparse.layout<16x32, grid 2x3x2, mask "01/00/10/00/00/10">
#l2 = #blocksparse.layout<32x32, grid 2x2, mask "10/00">

func.func @shared_pattern(%a0: tensor<2x3x40x56xf16, #l0>, %a1: tensor<2x3x56x40xf16>) -> tensor<2x3x40x40xf16> {
  %0 = blocksparse.dsd %a0, %a1 : (tensor<2x3x40x56xf16, #l0>, tensor<2x3x56x40xf16>) -> tensor<2x3x40x40xf16>
  return %0 : tensor<2x3x40x40xf16>
}

func.func @shared_values(%a0: tensor<40x56xf16, #l0>, %a1: tensor<2x3x56x40xf16>) -> tensor<2x3x40x40xf16> {
  %0 = blocksparse.dsd %a0, %a1 : (tensor<40x56xf16, #l0>, tensor<2x3x56x40xf16>) -> tensor<2x3x40x40xf16>
  return %0 : tensor<2x3x40x40xf16>
}

func.func @pattern_of_each_head(%a0: tensor<2x2x40x64xbf16, #l1>, %a1: tensor<2x2x24x64xbf16>) -> tensor<2x2x40x24xbf16> {
  %0 = blocksparse.dsd %a0, %a1 {transpose_b} : (tensor<2x2x40x64xbf16, #l1>, tensor<2x2x24x64xbf16>) -> tensor<2x2x40x24xbf16>
  return %0 : tensor<2x2x40x24xbf16>
}

func.func @broadcast_dense(%a0: tensor<2x2x40x64xf16, #l1>, %a1: tensor<64x24xf16>) -> tensor<2x2x40x24xf32> {
  %0 = blocksparse.dsd %a0, %a1 : (tensor<2x2x40x64xf16, #l1>, tensor<64x24xf16>) -> tensor<2x2x40x24xf32>
  return %0 : tensor<2x2x40x24xf32>
}

func.func @dds_heads(%a0: tensor<2x2x24x40xf16>, %a1: tensor<2x2x40x64xf16, #l1>) -> tensor<2x2x24x64xf16> {
  %0 = blocksparse.dds %a0, %a1 : (tensor<2x2x24x40xf16>, tensor<2x2x40x64xf16, #l1>) -> tensor<2x2x24x64xf16>
  return %0 : tensor<2x2x24x64xf16>
}

func.func @dds_transposed(%a0: tensor<3x24x64xbf16>, %a1: tensor<3x64x64xbf16, #l2>) -> tensor<3x24x64xbf16> {
  %0 = blocksparse.dds %a0, %a1 {transpose_b} : (tensor<3x24x64xbf16>, tensor<3x64x64xbf16, #l2>) -> tensor<3x24x64xbf16>
  return %0 : tensor<3x24x64xbf16>
}

func.func @sdd_shared_pattern(%a0: tensor<2x3x64x24xf16>, %a1: tensor<2x3x24x64xf16>) -> tensor<2x3x64x64xf16, #l2> {
  %0 = blocksparse.sdd %a0, %a1 : (tensor<2x3x64x24xf16>, tensor<2x3x24x64xf16>) -> tensor<2x3x64x64xf16, #l2>
  return %0 : tensor<2x3x64x64xf16, #l2>
}

func.func @sdd_pattern_of_each_head(%a0: tensor<2x2x40x72xbf16>, %a1: tensor<2x64x72xbf16>) -> tensor<2x2x40x64xbf16, #l1> {
  %0 = blocksparse.sdd %a0, %a1 {transpose_b} : (tensor<2x2x40x72xbf16>, tensor<2x64x72xbf16>) -> tensor<2x2x40x64xbf16, #l1>
  return %0 : tensor<2x2x40x64xbf16, #l1>
}
