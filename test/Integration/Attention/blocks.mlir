// Attention of several block sizes, element types and head dimensions, with rows, keys and columns that end inside of
// blocks, chunks and vectors.
// DEFINE: %{run} = blocksparse-run %s --all-functions --check --repeat-check --poison
// RUN: %{run} --target=cpu
// RUN: %if simulator %{ %{run} --target=cuda:sm_80 --device=simulated %}
// RUN: blocksparse-compile %s --target=cpu --stop-after=optimise | FileCheck %s --implicit-check-not=blocksparse.softmax

// CHECK-COUNT-6: blocksparse.attention

#large = #blocksparse.layout<96x160, grid 2x2, mask "11/01">
#odd = #blocksparse.layout<12x20, grid 4x3, mask "101/000/110/111">
#narrow = #blocksparse.layout<1x7, grid 5x3, mask "111/000/101/010/110">
#square = #blocksparse.layout<16x16, grid 4x4, causal>

// Blocks of three chunks, the last ones of fewer keys.
func.func @chunks(%q: tensor<2x180x40xf32>, %k: tensor<2x300x40xf32>, %v: tensor<2x300x20xf32>, %n: tensor<1xi32> {blocksparse.value = dense<[250]> : tensor<1xi32>}) -> (tensor<2x180x20xf32>, tensor<2x180xf32>) {
  %o, %l = blocksparse.attention %q, %k, %v key_lengths(%n) layout(#large) {scale = 0.25} : (tensor<2x180x40xf32>, tensor<2x300x40xf32>, tensor<2x300x20xf32>, tensor<1xi32>) -> (tensor<2x180x20xf32>, tensor<2x180xf32>)
  return %o, %l : tensor<2x180x20xf32>, tensor<2x180xf32>
}

// Converted keys and values of odd numbers of columns.
func.func @converted(%q: tensor<3x48x19xbf16>, %k: tensor<3x60x19xbf16>, %v: tensor<3x60x23xbf16>) -> (tensor<3x48x23xbf16>, tensor<3x48xf32>) {
  %o, %l = blocksparse.attention %q, %k, %v layout(#odd) {scale = 0.25} : (tensor<3x48x19xbf16>, tensor<3x60x19xbf16>, tensor<3x60x23xbf16>) -> (tensor<3x48x23xbf16>, tensor<3x48xf32>)
  return %o, %l : tensor<3x48x23xbf16>, tensor<3x48xf32>
}

func.func @wide_elements(%q: tensor<48x16xf64>, %k: tensor<60x16xf64>, %v: tensor<60x33xf64>, %r: tensor<48x60xf64>) -> (tensor<48x33xf64>, tensor<48xf64>) {
  %o, %l = blocksparse.attention %q, %k, %v rpe(%r) layout(#odd) {scale = 0.25, soft_cap = 3.0} : (tensor<48x16xf64>, tensor<60x16xf64>, tensor<60x33xf64>, tensor<48x60xf64>) -> (tensor<48x33xf64>, tensor<48xf64>)
  return %o, %l : tensor<48x33xf64>, tensor<48xf64>
}

// One query to a block row.
func.func @one_row(%q: tensor<5x8xf32>, %k: tensor<20x8xf32>, %v: tensor<20x8xf32>) -> (tensor<5x8xf32>, tensor<5xf32>) {
  %o, %l = blocksparse.attention %q, %k, %v layout(#narrow) {scale = 0.25} : (tensor<5x8xf32>, tensor<20x8xf32>, tensor<20x8xf32>) -> (tensor<5x8xf32>, tensor<5xf32>)
  return %o, %l : tensor<5x8xf32>, tensor<5xf32>
}

// Scores so large that every power but one of a row is 0.
func.func @large_scores(%q: tensor<64x32xf16>, %k: tensor<64x32xf16>, %v: tensor<64x32xf16>) -> (tensor<64x32xf16>, tensor<64xf32>) {
  %o, %l = blocksparse.attention %q, %k, %v layout(#square) {causal, scale = 30.0} : (tensor<64x32xf16>, tensor<64x32xf16>, tensor<64x32xf16>) -> (tensor<64x32xf16>, tensor<64xf32>)
  return %o, %l : tensor<64x32xf16>, tensor<64xf32>
}

// A scale below 0 turns the order of scores around.
func.func @negative_scale(%q: tensor<64x32xf32>, %k: tensor<64x32xf32>, %v: tensor<64x32xf32>, %m: tensor<64x64xi1> {blocksparse.fill = "keep"}) -> (tensor<64x32xf32>, tensor<64xf32>) {
  %o, %l = blocksparse.attention %q, %k, %v attention_mask(%m) layout(#square) {attention_mask_mode = #blocksparse.mask_mode<mul>, scale = -0.5} : (tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x64xi1>) -> (tensor<64x32xf32>, tensor<64xf32>)
  return %o, %l : tensor<64x32xf32>, tensor<64xf32>
}
