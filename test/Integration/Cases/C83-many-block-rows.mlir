// More than 65535 rows in blocks of 16, one block a row.
// RUN: blocksparse-run %s --all-functions --check
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --device=simulated %}

#layout = #blocksparse.layout<16x16, grid 4097x1, dense>

func.func @rows(%a: tensor<65552x16xf32, #layout> {blocksparse.fill = "ones"}, %b: tensor<16x16xf32> {blocksparse.fill = "ones"})
    -> (tensor<65552x16xf32> {blocksparse.expect = dense<16.0> : tensor<f32>}) {
  %0 = blocksparse.dsd %a, %b : (tensor<65552x16xf32, #layout>, tensor<16x16xf32>) -> tensor<65552x16xf32>
  return %0 : tensor<65552x16xf32>
}
