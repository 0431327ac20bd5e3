// Every query block attends to key block 0 alone: the result differs from dense attention.
// RUN: blocksparse-run %s --all-functions --check --repeat-check
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --device=simulated %}

#first = #blocksparse.layout<64x64, grid 8x8, mask "10000000/10000000/10000000/10000000/10000000/10000000/10000000/10000000">

func.func @first_block(%q: tensor<512x64xf32> {blocksparse.fill = "zeros"}, %k: tensor<512x64xf32>, %v: tensor<512x1xf32> {blocksparse.fill = "arange"})
    -> (tensor<512x1xf32> {blocksparse.expect = dense<31.5> : tensor<f32>}, tensor<512xf32>) {
  %0, %1 = blocksparse.attention %q, %k, %v layout(#first) : (tensor<512x64xf32>, tensor<512x64xf32>, tensor<512x1xf32>) -> (tensor<512x1xf32>, tensor<512xf32>)
  return %0, %1 : tensor<512x1xf32>, tensor<512xf32>
}
