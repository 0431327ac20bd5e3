// The gradient through lse: d lse / d score is p, so dq = scale * diag(d lse) p k, with left_alpha as
// the diagonal. q = 0, k = j/8, scale 0.5 and d lse = 1 + i give (1 + i) * 0.5 * 0.9375.
// DEFINE: %{run} = blocksparse-run %s --all-functions --check --repeat-check
// RUN: %{run}
// RUN: %if simulator %{ %{run} --target=cuda:sm_80 --device=simulated %}
// RUN: %{run} --target=cuda:sm_90a --device=simulated

#layout = #blocksparse.layout<16x16, grid 1x1, dense>
!d = tensor<16x1xf32>
!s = tensor<16x16xf32, #layout>
func.func @f(%q: !d {blocksparse.fill = "zeros"}, %k: !d {blocksparse.value = dense<[[0.0], [0.125], [0.25], [0.375], [0.5], [0.625], [0.75], [0.875], [1.0], [1.125], [1.25], [1.375], [1.5], [1.625], [1.75], [1.875]]> : tensor<16x1xf64>}, %dlse: tensor<16xf32> {blocksparse.value = dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0]> : tensor<16xf64>}) -> (!d {blocksparse.expect = dense<[[0.46875], [0.9375], [1.40625], [1.875], [2.34375], [2.8125], [3.28125], [3.75], [4.21875], [4.6875], [5.15625], [5.625], [6.09375], [6.5625], [7.03125], [7.5]]> : tensor<16x1xf64>}) {
  %x = blocksparse.sdd %q, %k {transpose_b} : (!d, !d) -> !s
  %p = blocksparse.softmax %x {scale = 0.5} : (!s) -> !s
  %0 = blocksparse.bsr_addmm %p, %k left_alpha(%dlse) {alpha = 0.5, beta = 0.0} : (!s, !d, tensor<16xf32>) -> !d
  return %0 : !d
}

// The gradient with respect to k: dk = scale * p^T (diag(d lse) q). k = 0 and q = i/8 give
// 0.5 * 170 / 16 for every key.
func.func @keys(%q: !d {blocksparse.value = dense<[[0.0], [0.125], [0.25], [0.375], [0.5], [0.625], [0.75], [0.875], [1.0], [1.125], [1.25], [1.375], [1.5], [1.625], [1.75], [1.875]]> : tensor<16x1xf64>}, %k: !d {blocksparse.fill = "zeros"}, %dlse: !d {blocksparse.value = dense<[[1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.0], [9.0], [10.0], [11.0], [12.0], [13.0], [14.0], [15.0], [16.0]]> : tensor<16x1xf64>}) -> (!d {blocksparse.expect = dense<5.3125> : tensor<f64>}) {
  %x = blocksparse.sdd %q, %k {transpose_b} : (!d, !d) -> !s
  %p = blocksparse.softmax %x {scale = 0.5} : (!s) -> !s
  %y = arith.mulf %q, %dlse : !d
  %0 = blocksparse.dsd %p, %y {alpha = 0.5, transpose_a} : (!s, !d) -> !d
  return %0 : !d
}

// A layout with a hole: the first rows see 16 keys, whose mean is 0.9375, the others 32 of mean 1.9375,
// and d lse is 1 and 2.
#corner = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
!c = tensor<32x32xf32, #corner>
!e = tensor<32x1xf32>
func.func @hole(%q: !e {blocksparse.fill = "zeros"}, %k: !e {blocksparse.value = dense<[[0.0], [0.125], [0.25], [0.375], [0.5], [0.625], [0.75], [0.875], [1.0], [1.125], [1.25], [1.375], [1.5], [1.625], [1.75], [1.875], [2.0], [2.125], [2.25], [2.375], [2.5], [2.625], [2.75], [2.875], [3.0], [3.125], [3.25], [3.375], [3.5], [3.625], [3.75], [3.875]]> : tensor<32x1xf64>}, %dlse: tensor<32xf32> {blocksparse.value = dense<[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2]> : tensor<32xi32>}) -> (!e {blocksparse.expect = dense<[[0.9375], [0.9375], [0.9375], [0.9375], [0.9375], [0.9375], [0.9375], [0.9375], [0.9375], [0.9375], [0.9375], [0.9375], [0.9375], [0.9375], [0.9375], [0.9375], [3.875], [3.875], [3.875], [3.875], [3.875], [3.875], [3.875], [3.875], [3.875], [3.875], [3.875], [3.875], [3.875], [3.875], [3.875], [3.875]]> : tensor<32x1xf64>}) {
  %x = blocksparse.sdd %q, %k {transpose_b} : (!e, !e) -> !c
  %p = blocksparse.softmax %x : (!c) -> !c
  %0 = blocksparse.bsr_addmm %p, %k left_alpha(%dlse) {beta = 0.0} : (!c, !e, tensor<32xf32>) -> !e
  return %0 : !e
}
