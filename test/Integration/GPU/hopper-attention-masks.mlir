// Attention of 16-bit floats with masks, biases, a sink and shared heads in one kernel.
// TARGET: cuda:sm_90a
// REQUIRES: gpu || simulator
// RUN: %if gpu %{ blocksparse-run %s --all-functions --check --poison --repeat-check --device=cuda %}
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --poison --device=simulated --target=cuda:sm_90a --sim-seed=5 %}
// RUN: blocksparse-compile %s --target=cuda:sm_90a --stop-after=optimise | FileCheck %s --check-prefix=FUSED --implicit-check-not=blocksparse.softmax

// FUSED-COUNT-10: blocksparse.attention

#dense = #blocksparse.layout<128x128, grid 3x3, dense>
#wide = #blocksparse.layout<64x64, grid 2x5, mask "11111/10111">
#two = #blocksparse.layout<128x128, grid 2x2, mask "11/11">
#rows = #blocksparse.layout<128x128, grid 3x3, mask "101/000/111">
#odd = #blocksparse.layout<64x64, grid 5x5, mask "10000/11000/01100/11110/00011">
#one = #blocksparse.layout<128x128, grid 1x1, dense>

// Bounds on both sides of a diagonal that is moved, so that whole blocks are outside.
func.func @window(%q: tensor<1x2x384x64xbf16>, %k: tensor<1x2x384x64xbf16>, %v: tensor<1x2x384x64xbf16>) -> (tensor<1x2x384x64xbf16>, tensor<1x2x384xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#dense) {causal_offset = 40 : i64, window = array<i64: 90, 20>, scale = 0.125} : (tensor<1x2x384x64xbf16>, tensor<1x2x384x64xbf16>, tensor<1x2x384x64xbf16>) -> (tensor<1x2x384x64xbf16>, tensor<1x2x384xf32>)
  return %out, %lse : tensor<1x2x384x64xbf16>, tensor<1x2x384xf32>
}

// Causal, with the end of the diagonal in the last row and key.
func.func @bottom_right(%q: tensor<1x1x128x128xf16>, %k: tensor<1x1x320x128xf16>, %v: tensor<1x1x320x128xf16>) -> (tensor<1x1x128x128xf16>, tensor<1x1x128xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#wide) {causal, causal_offset = 192 : i64, scale = 0.125} : (tensor<1x1x128x128xf16>, tensor<1x1x320x128xf16>, tensor<1x1x320x128xf16>) -> (tensor<1x1x128x128xf16>, tensor<1x1x128xf32>)
  return %out, %lse : tensor<1x1x128x128xf16>, tensor<1x1x128xf32>
}

// Batches of their own lengths; one ends in a block of queries.
func.func @lengths(%q: tensor<2x1x256x64xf16>, %k: tensor<2x1x256x64xf16>, %v: tensor<2x1x256x64xf16>, %n: tensor<2xi32> {blocksparse.value = dense<[100, 256]> : tensor<2xi32>}, %m: tensor<2xi32> {blocksparse.value = dense<[256, 70]> : tensor<2xi32>}) -> (tensor<2x1x256x64xf16>, tensor<2x1x256xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v key_lengths(%n) query_lengths(%m) layout(#two) {scale = 0.125} : (tensor<2x1x256x64xf16>, tensor<2x1x256x64xf16>, tensor<2x1x256x64xf16>, tensor<2xi32>, tensor<2xi32>) -> (tensor<2x1x256x64xf16>, tensor<2x1x256xf32>)
  return %out, %lse : tensor<2x1x256x64xf16>, tensor<2x1x256xf32>
}

// Sequences that begin inside of blocks.
func.func @segments(%q: tensor<1x1x256x64xbf16>, %k: tensor<1x1x256x64xbf16>, %v: tensor<1x1x256x64xbf16>, %s: tensor<256xi32> {blocksparse.value = dense<[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4]> : tensor<256xi32>}) -> (tensor<1x1x256x64xbf16>, tensor<1x1x256xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v segment_ids(%s, %s) layout(#two) {causal, scale = 0.125} : (tensor<1x1x256x64xbf16>, tensor<1x1x256x64xbf16>, tensor<1x1x256x64xbf16>, tensor<256xi32>, tensor<256xi32>) -> (tensor<1x1x256x64xbf16>, tensor<1x1x256xf32>)
  return %out, %lse : tensor<1x1x256x64xbf16>, tensor<1x1x256xf32>
}

// A mask of keys that is added.
func.func @padding_add(%q: tensor<2x1x256x64xbf16>, %k: tensor<2x1x256x64xbf16>, %v: tensor<2x1x256x64xbf16>, %p: tensor<2x256xf32> {blocksparse.fill = "forbid"}) -> (tensor<2x1x256x64xbf16>, tensor<2x1x256xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v key_padding_mask(%p) layout(#two) {scale = 0.125} : (tensor<2x1x256x64xbf16>, tensor<2x1x256x64xbf16>, tensor<2x1x256x64xbf16>, tensor<2x256xf32>) -> (tensor<2x1x256x64xbf16>, tensor<2x1x256xf32>)
  return %out, %lse : tensor<2x1x256x64xbf16>, tensor<2x1x256xf32>
}

// A mask of keys of i1.
func.func @padding_keep(%q: tensor<1x2x256x128xf16>, %k: tensor<1x2x256x128xf16>, %v: tensor<1x2x256x128xf16>, %p: tensor<256xi1> {blocksparse.fill = "keep"}) -> (tensor<1x2x256x128xf16>, tensor<1x2x256xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v key_padding_mask(%p) layout(#two) {key_padding_mask_mode = #blocksparse.mask_mode<mul>, scale = 0.125} : (tensor<1x2x256x128xf16>, tensor<1x2x256x128xf16>, tensor<1x2x256x128xf16>, tensor<256xi1>) -> (tensor<1x2x256x128xf16>, tensor<1x2x256xf32>)
  return %out, %lse : tensor<1x2x256x128xf16>, tensor<1x2x256xf32>
}

// A bias of each head and a mask of elements that all heads share.
func.func @bias_and_mask(%q: tensor<1x2x256x64xf16>, %k: tensor<1x2x256x64xf16>, %v: tensor<1x2x256x64xf16>, %r: tensor<2x256x256xf16>, %p: tensor<256x256xi8> {blocksparse.fill = "keep"}) -> (tensor<1x2x256x64xf16>, tensor<1x2x256xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v rpe(%r) attention_mask(%p) layout(#two) {attention_mask_mode = #blocksparse.mask_mode<mul>, scale = 0.125} : (tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>, tensor<2x256x256xf16>, tensor<256x256xi8>) -> (tensor<1x2x256x64xf16>, tensor<1x2x256xf32>)
  return %out, %lse : tensor<1x2x256x64xf16>, tensor<1x2x256xf32>
}

// Four heads of queries on two of keys and one of values, with a sink and a soft cap; one block row is empty.
func.func @grouped_sink_cap(%q: tensor<1x4x384x64xbf16>, %k: tensor<1x2x384x64xbf16>, %v: tensor<1x1x384x64xbf16>, %s: tensor<4xf32>) -> (tensor<1x4x384x64xbf16>, tensor<1x4x384xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v sink(%s) layout(#rows) {soft_cap = 2.0, scale = 0.5} : (tensor<1x4x384x64xbf16>, tensor<1x2x384x64xbf16>, tensor<1x1x384x64xbf16>, tensor<4xf32>) -> (tensor<1x4x384x64xbf16>, tensor<1x4x384xf32>)
  return %out, %lse : tensor<1x4x384x64xbf16>, tensor<1x4x384xf32>
}

// Everything at once, with pairs of block rows.
func.func @grouped_sink_causal(%q: tensor<1x4x320x128xf16>, %k: tensor<1x2x320x128xf16>, %v: tensor<1x2x320x128xf16>, %s: tensor<4xf32>, %n: tensor<1xi32> {blocksparse.value = dense<[200]> : tensor<1xi32>}, %r: tensor<4x1x320xf32>) -> (tensor<1x4x320x128xf16>, tensor<1x4x320xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v rpe(%r) key_lengths(%n) sink(%s) layout(#odd) {causal, window = array<i64: 100, -1>, scale = 0.125} : (tensor<1x4x320x128xf16>, tensor<1x2x320x128xf16>, tensor<1x2x320x128xf16>, tensor<4x1x320xf32>, tensor<1xi32>, tensor<4xf32>) -> (tensor<1x4x320x128xf16>, tensor<1x4x320xf32>)
  return %out, %lse : tensor<1x4x320x128xf16>, tensor<1x4x320xf32>
}

// NaN in a row of v behind a mask of keys.
func.func @nan_behind_padding(%q: tensor<1x1x128x64xf16>, %k: tensor<1x1x128x64xf16>, %v: tensor<1x1x128x64xf16> {blocksparse.value = dense<[[-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [0x7E00], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0]]> : tensor<128x1xf16>}, %p: tensor<128xi8> {blocksparse.value = dense<[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]> : tensor<128xi8>}) -> (tensor<1x1x128x64xf16>, tensor<1x1x128xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v key_padding_mask(%p) layout(#one) {key_padding_mask_mode = #blocksparse.mask_mode<mul>, scale = 0.125} : (tensor<1x1x128x64xf16>, tensor<1x1x128x64xf16>, tensor<1x1x128x64xf16>, tensor<128xi8>) -> (tensor<1x1x128x64xf16>, tensor<1x1x128xf32>)
  return %out, %lse : tensor<1x1x128x64xf16>, tensor<1x1x128xf32>
}
