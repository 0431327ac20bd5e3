// A head without any block, and a layout without any: nothing fails, dense results are 0.
// RUN: blocksparse-run %s --all-functions --check --repeat-check
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --device=simulated %}

#some = #blocksparse.layout<16x16, grid 2x1x1, mask "1/0">
#none = #blocksparse.layout<16x16, grid 1x1, mask "0">

func.func @one_empty_head_sdd(%a: tensor<2x2x16x16xf32> {blocksparse.fill = "ones"}, %b: tensor<2x2x16x16xf32> {blocksparse.fill = "ones"})
    -> (tensor<2x2x16x16xf32, #some> {blocksparse.expect = dense<16.0> : tensor<f32>}) {
  %0 = blocksparse.sdd %a, %b : (tensor<2x2x16x16xf32>, tensor<2x2x16x16xf32>) -> tensor<2x2x16x16xf32, #some>
  return %0 : tensor<2x2x16x16xf32, #some>
}

// Forward, and the gradients of dsd: dA = sdd(dC, B^T), dB = dsd(A^T, dC).
func.func @one_empty_head_dsd(%a: tensor<2x2x16x16xf32, #some> {blocksparse.fill = "ones"}, %b: tensor<2x2x16x16xf32> {blocksparse.fill = "ones"}, %dc: tensor<2x2x16x16xf32> {blocksparse.fill = "ones"})
    -> (tensor<2x2x16x16xf32> {blocksparse.expect = dense<[[[[16]], [[0]]]]> : tensor<1x2x1x1xi32>}, tensor<2x2x16x16xf32, #some> {blocksparse.expect = dense<16.0> : tensor<f32>}, tensor<2x2x16x16xf32> {blocksparse.expect = dense<[[[[16]], [[0]]]]> : tensor<1x2x1x1xi32>}) {
  %c = blocksparse.dsd %a, %b : (tensor<2x2x16x16xf32, #some>, tensor<2x2x16x16xf32>) -> tensor<2x2x16x16xf32>
  %da = blocksparse.sdd %dc, %b {transpose_b} : (tensor<2x2x16x16xf32>, tensor<2x2x16x16xf32>) -> tensor<2x2x16x16xf32, #some>
  %db = blocksparse.dsd %a, %dc {transpose_a} : (tensor<2x2x16x16xf32, #some>, tensor<2x2x16x16xf32>) -> tensor<2x2x16x16xf32>
  return %c, %da, %db : tensor<2x2x16x16xf32>, tensor<2x2x16x16xf32, #some>, tensor<2x2x16x16xf32>
}

// Forward, and the gradients of dds: dA = dds(dC, B^T), dB = sdd(A^T, dC).
func.func @one_empty_head_dds(%a: tensor<2x2x16x16xf32> {blocksparse.fill = "ones"}, %b: tensor<2x2x16x16xf32, #some> {blocksparse.fill = "ones"}, %dc: tensor<2x2x16x16xf32> {blocksparse.fill = "ones"})
    -> (tensor<2x2x16x16xf32> {blocksparse.expect = dense<[[[[16]], [[0]]]]> : tensor<1x2x1x1xi32>}, tensor<2x2x16x16xf32> {blocksparse.expect = dense<[[[[16]], [[0]]]]> : tensor<1x2x1x1xi32>}, tensor<2x2x16x16xf32, #some> {blocksparse.expect = dense<16.0> : tensor<f32>}) {
  %c = blocksparse.dds %a, %b : (tensor<2x2x16x16xf32>, tensor<2x2x16x16xf32, #some>) -> tensor<2x2x16x16xf32>
  %da = blocksparse.dds %dc, %b {transpose_b} : (tensor<2x2x16x16xf32>, tensor<2x2x16x16xf32, #some>) -> tensor<2x2x16x16xf32>
  %db = blocksparse.sdd %a, %dc {transpose_a} : (tensor<2x2x16x16xf32>, tensor<2x2x16x16xf32>) -> tensor<2x2x16x16xf32, #some>
  return %c, %da, %db : tensor<2x2x16x16xf32>, tensor<2x2x16x16xf32>, tensor<2x2x16x16xf32, #some>
}

func.func @no_block_sdd(%a: tensor<2x1x16x16xf32> {blocksparse.fill = "ones"}, %b: tensor<2x1x16x16xf32> {blocksparse.fill = "ones"})
    -> (tensor<2x1x16x16xf32, #none> {blocksparse.expect = dense<16.0> : tensor<f32>}) {
  %0 = blocksparse.sdd %a, %b : (tensor<2x1x16x16xf32>, tensor<2x1x16x16xf32>) -> tensor<2x1x16x16xf32, #none>
  return %0 : tensor<2x1x16x16xf32, #none>
}

// Forward, and the gradients of dsd: dA = sdd(dC, B^T), dB = dsd(A^T, dC).
func.func @no_block_dsd(%a: tensor<2x1x16x16xf32, #none> {blocksparse.fill = "ones"}, %b: tensor<2x1x16x16xf32> {blocksparse.fill = "ones"}, %dc: tensor<2x1x16x16xf32> {blocksparse.fill = "ones"})
    -> (tensor<2x1x16x16xf32> {blocksparse.expect = dense<0.0> : tensor<f32>}, tensor<2x1x16x16xf32, #none> {blocksparse.expect = dense<16.0> : tensor<f32>}, tensor<2x1x16x16xf32> {blocksparse.expect = dense<0.0> : tensor<f32>}) {
  %c = blocksparse.dsd %a, %b : (tensor<2x1x16x16xf32, #none>, tensor<2x1x16x16xf32>) -> tensor<2x1x16x16xf32>
  %da = blocksparse.sdd %dc, %b {transpose_b} : (tensor<2x1x16x16xf32>, tensor<2x1x16x16xf32>) -> tensor<2x1x16x16xf32, #none>
  %db = blocksparse.dsd %a, %dc {transpose_a} : (tensor<2x1x16x16xf32, #none>, tensor<2x1x16x16xf32>) -> tensor<2x1x16x16xf32>
  return %c, %da, %db : tensor<2x1x16x16xf32>, tensor<2x1x16x16xf32, #none>, tensor<2x1x16x16xf32>
}

// Forward, and the gradients of dds: dA = dds(dC, B^T), dB = sdd(A^T, dC).
func.func @no_block_dds(%a: tensor<2x1x16x16xf32> {blocksparse.fill = "ones"}, %b: tensor<2x1x16x16xf32, #none> {blocksparse.fill = "ones"}, %dc: tensor<2x1x16x16xf32> {blocksparse.fill = "ones"})
    -> (tensor<2x1x16x16xf32> {blocksparse.expect = dense<0.0> : tensor<f32>}, tensor<2x1x16x16xf32> {blocksparse.expect = dense<0.0> : tensor<f32>}, tensor<2x1x16x16xf32, #none> {blocksparse.expect = dense<16.0> : tensor<f32>}) {
  %c = blocksparse.dds %a, %b : (tensor<2x1x16x16xf32>, tensor<2x1x16x16xf32, #none>) -> tensor<2x1x16x16xf32>
  %da = blocksparse.dds %dc, %b {transpose_b} : (tensor<2x1x16x16xf32>, tensor<2x1x16x16xf32, #none>) -> tensor<2x1x16x16xf32>
  %db = blocksparse.sdd %a, %dc {transpose_a} : (tensor<2x1x16x16xf32>, tensor<2x1x16x16xf32>) -> tensor<2x1x16x16xf32, #none>
  return %c, %da, %db : tensor<2x1x16x16xf32>, tensor<2x1x16x16xf32>, tensor<2x1x16x16xf32, #none>
}
