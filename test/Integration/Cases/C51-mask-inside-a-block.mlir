// The layout is only a superset: the element mask inside a stored block counts.
// RUN: blocksparse-run %s --all-functions --check --repeat-check
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --device=simulated %}

#layout = #blocksparse.layout<16x16, grid 1x1, mask "1">
!d = tensor<16x8xf32>
!v = tensor<16x1xf32>

func.func @causal(%q: !d {blocksparse.fill = "zeros"}, %k: !d {blocksparse.fill = "zeros"}, %v: !v {blocksparse.fill = "arange"})
    -> (!v {blocksparse.expect = dense<[[0.0], [0.5], [1.0], [1.5], [2.0], [2.5], [3.0], [3.5], [4.0], [4.5], [5.0], [5.5], [6.0], [6.5], [7.0], [7.5]]> : tensor<16x1xf32>}, tensor<16xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#layout) {causal} : (!d, !d, !v) -> (!v, tensor<16xf32>)
  return %out, %lse : !v, tensor<16xf32>
}

func.func @mask(%q: !d {blocksparse.fill = "zeros"}, %k: !d {blocksparse.fill = "zeros"}, %v: !v {blocksparse.fill = "arange"},
                %mask: tensor<16x16xi8> {blocksparse.value = dense<[[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0], [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]]> : tensor<16x16xi32>})
    -> (!v {blocksparse.expect = dense<[[0.0], [0.5], [1.0], [1.5], [2.0], [2.5], [3.0], [3.5], [4.0], [4.5], [5.0], [5.5], [6.0], [6.5], [7.0], [7.5]]> : tensor<16x1xf32>}, tensor<16xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v attention_mask(%mask) layout(#layout) {attention_mask_mode = #blocksparse.mask_mode<mul>}
    : (!d, !d, !v, tensor<16x16xi8>) -> (!v, tensor<16xf32>)
  return %out, %lse : !v, tensor<16xf32>
}
