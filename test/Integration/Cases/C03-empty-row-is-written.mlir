// A row or column of the layout without a block: the result there is 0, written, not skipped.
// Result buffers hold NaN before the call.
// RUN: blocksparse-run %s --all-functions --check --repeat-check
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --device=simulated %}

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/00">

func.func @dsd(%a: tensor<32x32xf32, #layout> {blocksparse.fill = "ones"}, %b: tensor<32x16xf32> {blocksparse.fill = "ones"})
    -> (tensor<32x16xf32> {blocksparse.expect = dense<[[16], [16], [16], [16], [16], [16], [16], [16], [16], [16], [16], [16], [16], [16], [16], [16], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0]]> : tensor<32x1xi32>}) {
  %0 = blocksparse.dsd %a, %b : (tensor<32x32xf32, #layout>, tensor<32x16xf32>) -> tensor<32x16xf32>
  return %0 : tensor<32x16xf32>
}

func.func @dsd_transposed(%a: tensor<32x32xf32, #layout> {blocksparse.fill = "ones"}, %b: tensor<32x16xf32> {blocksparse.fill = "ones"})
    -> (tensor<32x16xf32> {blocksparse.expect = dense<[[16], [16], [16], [16], [16], [16], [16], [16], [16], [16], [16], [16], [16], [16], [16], [16], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0]]> : tensor<32x1xi32>}) {
  %0 = blocksparse.dsd %a, %b {transpose_a} : (tensor<32x32xf32, #layout>, tensor<32x16xf32>) -> tensor<32x16xf32>
  return %0 : tensor<32x16xf32>
}

func.func @dds(%a: tensor<16x32xf32> {blocksparse.fill = "ones"}, %b: tensor<32x32xf32, #layout> {blocksparse.fill = "ones"})
    -> (tensor<16x32xf32> {blocksparse.expect = dense<[16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]> : tensor<32xi32>}) {
  %0 = blocksparse.dds %a, %b : (tensor<16x32xf32>, tensor<32x32xf32, #layout>) -> tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}
