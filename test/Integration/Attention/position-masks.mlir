// Attention whose masks are functions of the position, shared heads, a sink and the merge of parts, with
// numbers worked out by hand: queries of 0 give each allowed key the same weight.
// DEFINE: %{run} = blocksparse-run %s --all-functions --check --repeat-check --poison
// RUN: %{run}
// RUN: %if simulator %{ %{run} --target=cuda:sm_80 --device=simulated %}
// RUN: %if simulator %{ %{run} --target=cuda:sm_90a --device=simulated %}

#wide = #blocksparse.layout<4x4, grid 1x2, dense>
#square = #blocksparse.layout<4x4, grid 2x2, dense>
#rows = #blocksparse.layout<4x8, grid 2x1, dense>

// The last four queries of eight keys: row i sees the keys up to i + 4.
func.func @bottom_right(%q: tensor<4x1xf32> {blocksparse.fill = "zeros"}, %k: tensor<8x1xf32>, %v: tensor<8x1xf32> {blocksparse.fill = "arange"}) -> (tensor<4x1xf32> {blocksparse.expect = dense<[[2.0], [2.5], [3.0], [3.5]]> : tensor<4x1xf64>}, tensor<4xf32>) {
  %o, %l = blocksparse.attention %q, %k, %v layout(#wide) {causal, causal_offset = 4} : (tensor<4x1xf32>, tensor<8x1xf32>, tensor<8x1xf32>) -> (tensor<4x1xf32>, tensor<4xf32>)
  return %o, %l : tensor<4x1xf32>, tensor<4xf32>
}

// Rows above the diagonal have no key.
func.func @top_rows_without_a_key(%q: tensor<8x1xf32> {blocksparse.fill = "zeros"}, %k: tensor<8x1xf32>, %v: tensor<8x1xf32> {blocksparse.fill = "arange"}) -> (tensor<8x1xf32> {blocksparse.expect = dense<[[0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.5]]> : tensor<8x1xf64>}, tensor<8xf32>) {
  %o, %l = blocksparse.attention %q, %k, %v layout(#square) {causal, causal_offset = -6} : (tensor<8x1xf32>, tensor<8x1xf32>, tensor<8x1xf32>) -> (tensor<8x1xf32>, tensor<8xf32>)
  return %o, %l : tensor<8x1xf32>, tensor<8xf32>
}

// The key of the row and the one before it.
func.func @window(%q: tensor<8x1xf32> {blocksparse.fill = "zeros"}, %k: tensor<8x1xf32>, %v: tensor<8x1xf32> {blocksparse.fill = "arange"}) -> (tensor<8x1xf32> {blocksparse.expect = dense<[[0.0], [0.5], [1.5], [2.5], [3.5], [4.5], [5.5], [6.5]]> : tensor<8x1xf64>}, tensor<8xf32>) {
  %o, %l = blocksparse.attention %q, %k, %v layout(#square) {window = array<i64: 1, 0>} : (tensor<8x1xf32>, tensor<8x1xf32>, tensor<8x1xf32>) -> (tensor<8x1xf32>, tensor<8xf32>)
  return %o, %l : tensor<8x1xf32>, tensor<8xf32>
}

// Three keys in the first batch, whose queries end after two, and eight in the second.
func.func @lengths(%q: tensor<2x1x8x1xf32> {blocksparse.fill = "zeros"}, %k: tensor<2x1x8x1xf32>, %v: tensor<8x1xf32> {blocksparse.fill = "arange"}, %n: tensor<2xi32> {blocksparse.value = dense<[3, 8]> : tensor<2xi32>}, %m: tensor<2xi32> {blocksparse.value = dense<[2, 9]> : tensor<2xi32>}) -> (tensor<2x1x8x1xf32> {blocksparse.expect = dense<[[[[1.0], [1.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0]]], [[[3.5], [3.5], [3.5], [3.5], [3.5], [3.5], [3.5], [3.5]]]]> : tensor<2x1x8x1xf64>}, tensor<2x1x8xf32>) {
  %o, %l = blocksparse.attention %q, %k, %v key_lengths(%n) query_lengths(%m) layout(#square) : (tensor<2x1x8x1xf32>, tensor<2x1x8x1xf32>, tensor<8x1xf32>, tensor<2xi32>, tensor<2xi32>) -> (tensor<2x1x8x1xf32>, tensor<2x1x8xf32>)
  return %o, %l : tensor<2x1x8x1xf32>, tensor<2x1x8xf32>
}

// Two sequences of four in one.
func.func @segments(%q: tensor<8x1xf16> {blocksparse.fill = "zeros"}, %k: tensor<8x1xf16>, %v: tensor<8x1xf16> {blocksparse.fill = "arange"}, %s: tensor<8xi32> {blocksparse.value = dense<[0, 0, 0, 0, 7, 7, 7, 7]> : tensor<8xi32>}) -> (tensor<8x1xf16> {blocksparse.expect = dense<[[1.5], [1.5], [1.5], [1.5], [5.5], [5.5], [5.5], [5.5]]> : tensor<8x1xf64>}, tensor<8xf32>) {
  %o, %l = blocksparse.attention %q, %k, %v segment_ids(%s, %s) layout(#rows) : (tensor<8x1xf16>, tensor<8x1xf16>, tensor<8x1xf16>, tensor<8xi32>, tensor<8xi32>) -> (tensor<8x1xf16>, tensor<8xf32>)
  return %o, %l : tensor<8x1xf16>, tensor<8xf32>
}

// Four keys of the value 1 beside a sink of the same score: four fifths.
func.func @sink(%q: tensor<4x1xf32> {blocksparse.fill = "zeros"}, %k: tensor<8x1xf32>, %v: tensor<8x1xf32> {blocksparse.fill = "ones"}, %s: tensor<1xf32> {blocksparse.fill = "zeros"}, %n: tensor<1xi32> {blocksparse.value = dense<[4]> : tensor<1xi32>}) -> (tensor<4x1xf32> {blocksparse.expect = dense<0.8> : tensor<f64>}, tensor<4xf32>) {
  %o, %l = blocksparse.attention %q, %k, %v key_lengths(%n) sink(%s) layout(#wide) : (tensor<4x1xf32>, tensor<8x1xf32>, tensor<8x1xf32>, tensor<1xi32>, tensor<1xf32>) -> (tensor<4x1xf32>, tensor<4xf32>)
  return %o, %l : tensor<4x1xf32>, tensor<4xf32>
}

// Heads 0 and 1 of queries use head 0 of values, heads 2 and 3 head 1.
func.func @shared_heads(%q: tensor<4x4x1xf32> {blocksparse.fill = "zeros"}, %k: tensor<2x8x1xf32>, %v: tensor<2x8x1xf32> {blocksparse.value = dense<[[[1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0]], [[2.0], [2.0], [2.0], [2.0], [2.0], [2.0], [2.0], [2.0]]]> : tensor<2x8x1xf64>}) -> (tensor<4x4x1xf32> {blocksparse.expect = dense<[[[1.0], [1.0], [1.0], [1.0]], [[1.0], [1.0], [1.0], [1.0]], [[2.0], [2.0], [2.0], [2.0]], [[2.0], [2.0], [2.0], [2.0]]]> : tensor<4x4x1xf64>}, tensor<4x4xf32>) {
  %o, %l = blocksparse.attention %q, %k, %v layout(#wide) : (tensor<4x4x1xf32>, tensor<2x8x1xf32>, tensor<2x8x1xf32>) -> (tensor<4x4x1xf32>, tensor<4x4xf32>)
  return %o, %l : tensor<4x4x1xf32>, tensor<4x4xf32>
}

// A cap of 1 under scores of 30: every score is 1 or -1, and its weight e or 1/e.
func.func @soft_cap(%q: tensor<4x1xf32> {blocksparse.fill = "30"}, %k: tensor<8x1xf32> {blocksparse.value = dense<[[1.0], [-1.0], [1.0], [-1.0], [1.0], [-1.0], [1.0], [-1.0]]> : tensor<8x1xf64>}, %v: tensor<8x1xf32> {blocksparse.value = dense<[[1.0], [0.0], [1.0], [0.0], [1.0], [0.0], [1.0], [0.0]]> : tensor<8x1xf64>}) -> (tensor<4x1xf32> {blocksparse.expect = dense<0.8807970779778824> : tensor<f64>}, tensor<4xf32>) {
  %o, %l = blocksparse.attention %q, %k, %v layout(#wide) {soft_cap = 1.0} : (tensor<4x1xf32>, tensor<8x1xf32>, tensor<8x1xf32>) -> (tensor<4x1xf32>, tensor<4xf32>)
  return %o, %l : tensor<4x1xf32>, tensor<4xf32>
}

// Two halves of the keys, merged, are the whole: the mean of 0 to 7.
func.func @merge(%q: tensor<4x1xf32> {blocksparse.fill = "zeros"}, %k: tensor<4x1xf32>, %v: tensor<8x1xf32> {blocksparse.fill = "arange"}) -> (tensor<4x1xf32> {blocksparse.expect = dense<3.5> : tensor<f64>}, tensor<4xf32>) {
  %v0 = tensor.extract_slice %v[0, 0] [4, 1] [1, 1] : tensor<8x1xf32> to tensor<4x1xf32>
  %v1 = tensor.extract_slice %v[4, 0] [4, 1] [1, 1] : tensor<8x1xf32> to tensor<4x1xf32>
  %o0, %l0 = blocksparse.attention %q, %k, %v0 layout(#blocksparse.layout<4x4, grid 1x1, dense>) : (tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>) -> (tensor<4x1xf32>, tensor<4xf32>)
  %o1, %l1 = blocksparse.attention %q, %k, %v1 layout(#blocksparse.layout<4x4, grid 1x1, dense>) : (tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>) -> (tensor<4x1xf32>, tensor<4xf32>)
  %o, %l = blocksparse.attention_merge %o0, %o1 lses(%l0, %l1) : (tensor<4x1xf32>, tensor<4x1xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4x1xf32>, tensor<4xf32>)
  return %o, %l : tensor<4x1xf32>, tensor<4xf32>
}

// NaN in keys and values that a mask of the position forbids is not used, and neither is it in gradients.
func.func @nan_behind_a_window(%q: tensor<4x4xf32>, %k: tensor<8x4xf32> {blocksparse.fill = "nan"}, %v: tensor<8x4xf32> {blocksparse.fill = "nan"}, %n: tensor<1xi32> {blocksparse.value = dense<[0]> : tensor<1xi32>}, %d: tensor<4x4xf32>, %lse: tensor<4xf32>) -> (tensor<4x4xf32> {blocksparse.expect = dense<0.0> : tensor<f64>}, tensor<4x4xf32> {blocksparse.expect = dense<0.0> : tensor<f64>}) {
  %o, %l = blocksparse.attention %q, %k, %v key_lengths(%n) layout(#wide) : (tensor<4x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<1xi32>) -> (tensor<4x4xf32>, tensor<4xf32>)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %d, %lse, %d key_lengths(%n) dlse(%lse) layout(#wide) : (tensor<4x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<1xi32>, tensor<4xf32>) -> (tensor<4x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>)
  return %o, %dq : tensor<4x4xf32>, tensor<4x4xf32>
}
