// Two programs of one length but other layouts do not share tables.
// RUN: blocksparse-run %s --all-functions --check --repeat-check
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --device=simulated %}

#dense = #blocksparse.layout<16x16, grid 4x4, dense>
#diagonal = #blocksparse.layout<16x16, grid 4x4, diagonal>
!d = tensor<64x8xf32>
!v = tensor<64x1xf32>

func.func @first(%q: !d {blocksparse.fill = "zeros"}, %k: !d {blocksparse.fill = "zeros"}, %v: !v {blocksparse.fill = "arange"})
    -> (!v {blocksparse.expect = dense<31.5> : tensor<f32>}, tensor<64xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#dense) : (!d, !d, !v) -> (!v, tensor<64xf32>)
  return %out, %lse : !v, tensor<64xf32>
}

func.func @second(%q: !d {blocksparse.fill = "zeros"}, %k: !d {blocksparse.fill = "zeros"}, %v: !v {blocksparse.fill = "arange"})
    -> (!v {blocksparse.expect = dense<[[7.5], [7.5], [7.5], [7.5], [7.5], [7.5], [7.5], [7.5], [7.5], [7.5], [7.5], [7.5], [7.5], [7.5], [7.5], [7.5], [23.5], [23.5], [23.5], [23.5], [23.5], [23.5], [23.5], [23.5], [23.5], [23.5], [23.5], [23.5], [23.5], [23.5], [23.5], [23.5], [39.5], [39.5], [39.5], [39.5], [39.5], [39.5], [39.5], [39.5], [39.5], [39.5], [39.5], [39.5], [39.5], [39.5], [39.5], [39.5], [55.5], [55.5], [55.5], [55.5], [55.5], [55.5], [55.5], [55.5], [55.5], [55.5], [55.5], [55.5], [55.5], [55.5], [55.5], [55.5]]> : tensor<64x1xf32>}, tensor<64xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#diagonal) : (!d, !d, !v) -> (!v, tensor<64xf32>)
  return %out, %lse : !v, tensor<64xf32>
}
