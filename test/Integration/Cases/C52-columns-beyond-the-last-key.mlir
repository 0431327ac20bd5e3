// 65 keys in blocks of 64: the padding of the last block gets no weight.
// RUN: blocksparse-run %s --all-functions --check --repeat-check
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --device=simulated %}

#layout = #blocksparse.layout<64x64, grid 1x2, mask "11">

func.func @tail(%q: tensor<64x16xf32> {blocksparse.fill = "zeros"}, %k: tensor<65x16xf32>, %v: tensor<65x16xf32> {blocksparse.fill = "ones"})
    -> (tensor<64x16xf32> {blocksparse.expect = dense<1.0> : tensor<f32>}, tensor<64xf32> {blocksparse.expect = dense<4.174387269895637> : tensor<f64>}) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#layout) : (tensor<64x16xf32>, tensor<65x16xf32>, tensor<65x16xf32>) -> (tensor<64x16xf32>, tensor<64xf32>)
  return %out, %lse : tensor<64x16xf32>, tensor<64xf32>
}
