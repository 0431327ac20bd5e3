// More than 65535 blocks, and 65536 batches.
// RUN: blocksparse-run %s --all-functions --check
// RUN: %if simulator %{ blocksparse-run %s --function=batches --check --device=simulated %}

#layout = #blocksparse.layout<16x16, grid 257x256, dense>

func.func @blocks(%a: tensor<4112x16xf16> {blocksparse.fill = "ones"}, %b: tensor<16x4096xf16> {blocksparse.fill = "ones"})
    -> (tensor<4112x4096xf16, #layout> {blocksparse.expect = dense<16.0> : tensor<f32>}) {
  %0 = blocksparse.sdd %a, %b : (tensor<4112x16xf16>, tensor<16x4096xf16>) -> tensor<4112x4096xf16, #layout>
  return %0 : tensor<4112x4096xf16, #layout>
}

#one = #blocksparse.layout<16x16, grid 1x1, mask "1">

func.func @batches(%a: tensor<65536x1x16x16xf16> {blocksparse.fill = "ones"}, %b: tensor<16x16xf16> {blocksparse.fill = "ones"})
    -> (tensor<65536x1x16x16xf16, #one> {blocksparse.expect = dense<16.0> : tensor<f32>}) {
  %0 = blocksparse.sdd %a, %b : (tensor<65536x1x16x16xf16>, tensor<16x16xf16>) -> tensor<65536x1x16x16xf16, #one>
  return %0 : tensor<65536x1x16x16xf16, #one>
}
