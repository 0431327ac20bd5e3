// Partial sums of f16 products are f32: a running f16 sum would stop at 2048.
// RUN: blocksparse-run %s --all-functions --check --repeat-check
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --device=simulated %}

#layout = #blocksparse.layout<16x16, grid 1x256, dense>

func.func @long_row(%a: tensor<16x4096xf16, #layout> {blocksparse.fill = "ones"}, %b: tensor<4096x16xf16> {blocksparse.fill = "ones"})
    -> (tensor<16x16xf16> {blocksparse.expect = dense<4096.0> : tensor<f32>}) {
  %0 = blocksparse.dsd %a, %b : (tensor<16x4096xf16, #layout>, tensor<4096x16xf16>) -> tensor<16x16xf16>
  return %0 : tensor<16x16xf16>
}
