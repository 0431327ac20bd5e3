// Attention of 16-bit floats in one kernel over blocks whose sizes are no multiples of 64.
// TARGET: cuda:sm_90a
// REQUIRES: gpu || simulator
// RUN: %if gpu %{ blocksparse-run %s --all-functions --check --poison --repeat-check --device=cuda %}
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --poison --repeat-check --device=simulated --target=cuda:sm_90a --sim-seed=5 %}
// With one worker, no tile is split.
// RUN: %if simulator %{ blocksparse-run %s --function=b16,b32,bigbird,causal --check --poison --device=simulated --target=cuda:sm_90a,workers=1 --sim-seed=6 %}
// RUN: blocksparse-compile %s --target=cuda:sm_90a --stop-after=optimise | FileCheck %s --check-prefix=FUSED --implicit-check-not=blocksparse.softmax

// FUSED-COUNT-14: blocksparse.attention

#a16 = #blocksparse.layout<16x16, grid 21x21, random(density = 0.2, seed = 3)>
#wide16 = #blocksparse.layout<16x16, grid 5x15, mask "100000000010001/000000000000000/111111111111111/010101010101010/000000000000001">
#heads32 = #blocksparse.layout<32x32, grid 2x5x5, mask "10001/01010/11111/00000/00110/11111/10000/01000/00100/00011">
#odd = #blocksparse.layout<48x80, grid 3x3, mask "101/010/111">
#bigbird = #blocksparse.layout<16x16, grid 32x32, bigbird(num_random_blocks = 1)>
#fixed = #blocksparse.layout<16x16, grid 32x32, fixed>
#lower32 = #blocksparse.layout<32x32, grid 5x5, mask "10000/11000/01110/11110/00011">
#pair = #blocksparse.layout<16x16, grid 4x8, mask "01000010/10000001/11110111/00000000">
#split = #blocksparse.layout<16x16, grid 4x32, mask "10111111111111111111111110111111/01000000000000000000000001000000/00000000000000000000000000000000/01010101010101010101010101010101">

// Rows of very different lengths, some without a block; the last tile has 16 queries.
func.func @b16(%q: tensor<1x2x336x64xbf16>, %k: tensor<1x2x336x64xbf16>, %v: tensor<1x2x336x64xbf16>) -> (tensor<1x2x336x64xbf16>, tensor<1x2x336xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#a16) {scale = 0.125} : (tensor<1x2x336x64xbf16>, tensor<1x2x336x64xbf16>, tensor<1x2x336x64xbf16>) -> (tensor<1x2x336x64xbf16>, tensor<1x2x336xf32>)
  return %out, %lse : tensor<1x2x336x64xbf16>, tensor<1x2x336xf32>
}

// Two batches, head dimensions of more than 64 columns, more keys than queries.
func.func @b16_wide(%q: tensor<2x1x80x128xf16>, %k: tensor<2x1x240x128xf16>, %v: tensor<2x1x240x80xf16>) -> (tensor<2x1x80x80xf16>, tensor<2x1x80xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#wide16) {scale = 0.125} : (tensor<2x1x80x128xf16>, tensor<2x1x240x128xf16>, tensor<2x1x240x80xf16>) -> (tensor<2x1x80x80xf16>, tensor<2x1x80xf32>)
  return %out, %lse : tensor<2x1x80x80xf16>, tensor<2x1x80xf32>
}

// A pattern for each head.
func.func @b32(%q: tensor<1x2x160x128xbf16>, %k: tensor<1x2x160x128xbf16>, %v: tensor<1x2x160x128xbf16>) -> (tensor<1x2x160x128xbf16>, tensor<1x2x160xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#heads32) {scale = 0.125} : (tensor<1x2x160x128xbf16>, tensor<1x2x160x128xbf16>, tensor<1x2x160x128xbf16>) -> (tensor<1x2x160x128xbf16>, tensor<1x2x160xf32>)
  return %out, %lse : tensor<1x2x160x128xbf16>, tensor<1x2x160xf32>
}

// Blocks that are no powers of 2.
func.func @b48x80(%q: tensor<1x1x144x64xf16>, %k: tensor<1x1x240x64xf16>, %v: tensor<1x1x240x64xf16>) -> (tensor<1x1x144x64xf16>, tensor<1x1x144xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#odd) {scale = 0.125} : (tensor<1x1x144x64xf16>, tensor<1x1x240x64xf16>, tensor<1x1x240x64xf16>) -> (tensor<1x1x144x64xf16>, tensor<1x1x144xf32>)
  return %out, %lse : tensor<1x1x144x64xf16>, tensor<1x1x144xf32>
}

// Long rows that two consumers share, beside short ones.
func.func @bigbird(%q: tensor<1x2x512x64xbf16>, %k: tensor<1x2x512x64xbf16>, %v: tensor<1x2x512x64xbf16>) -> (tensor<1x2x512x64xbf16>, tensor<1x2x512xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#bigbird) {scale = 0.125} : (tensor<1x2x512x64xbf16>, tensor<1x2x512x64xbf16>, tensor<1x2x512x64xbf16>) -> (tensor<1x2x512x64xbf16>, tensor<1x2x512xf32>)
  return %out, %lse : tensor<1x2x512x64xbf16>, tensor<1x2x512xf32>
}

// Rows of one window have the same keys.
func.func @fixed(%q: tensor<1x1x512x64xbf16>, %k: tensor<1x1x512x64xbf16>, %v: tensor<1x1x512x64xbf16>) -> (tensor<1x1x512x64xbf16>, tensor<1x1x512xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#fixed) {scale = 0.125} : (tensor<1x1x512x64xbf16>, tensor<1x1x512x64xbf16>, tensor<1x1x512x64xbf16>) -> (tensor<1x1x512x64xbf16>, tensor<1x1x512xf32>)
  return %out, %lse : tensor<1x1x512x64xbf16>, tensor<1x1x512xf32>
}

// Elements above the diagonal, inside of slices and of blocks.
func.func @causal(%q: tensor<1x1x336x64xbf16>, %k: tensor<1x1x336x64xbf16>, %v: tensor<1x1x336x64xbf16>) -> (tensor<1x1x336x64xbf16>, tensor<1x1x336xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#a16) {causal, scale = 0.125} : (tensor<1x1x336x64xbf16>, tensor<1x1x336x64xbf16>, tensor<1x1x336x64xbf16>) -> (tensor<1x1x336x64xbf16>, tensor<1x1x336xf32>)
  return %out, %lse : tensor<1x1x336x64xbf16>, tensor<1x1x336xf32>
}

// A window of 40 keys before and 10 behind the query.
func.func @window(%q: tensor<1x1x160x64xf16>, %k: tensor<1x1x160x64xf16>, %v: tensor<1x1x160x64xf16>) -> (tensor<1x1x160x64xf16>, tensor<1x1x160xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#lower32) {window = array<i64: 40, 10>, scale = 0.125} : (tensor<1x1x160x64xf16>, tensor<1x1x160x64xf16>, tensor<1x1x160x64xf16>) -> (tensor<1x1x160x64xf16>, tensor<1x1x160xf32>)
  return %out, %lse : tensor<1x1x160x64xf16>, tensor<1x1x160xf32>
}

// Batches of their own lengths.
func.func @lengths(%q: tensor<2x1x160x64xf16>, %k: tensor<2x1x160x64xf16>, %v: tensor<2x1x160x64xf16>, %n: tensor<2xi32> {blocksparse.value = dense<[100, 160]> : tensor<2xi32>}, %m: tensor<2xi32> {blocksparse.value = dense<[160, 70]> : tensor<2xi32>}) -> (tensor<2x1x160x64xf16>, tensor<2x1x160xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v key_lengths(%n) query_lengths(%m) layout(#lower32) {scale = 0.125} : (tensor<2x1x160x64xf16>, tensor<2x1x160x64xf16>, tensor<2x1x160x64xf16>, tensor<2xi32>, tensor<2xi32>) -> (tensor<2x1x160x64xf16>, tensor<2x1x160xf32>)
  return %out, %lse : tensor<2x1x160x64xf16>, tensor<2x1x160xf32>
}

// A mask of keys of i1, and heads of queries that share one of keys.
func.func @padding(%q: tensor<1x2x336x64xbf16>, %k: tensor<1x1x336x64xbf16>, %v: tensor<1x1x336x64xbf16>, %p: tensor<336xi1> {blocksparse.fill = "keep"}) -> (tensor<1x2x336x64xbf16>, tensor<1x2x336xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v key_padding_mask(%p) layout(#a16) {key_padding_mask_mode = #blocksparse.mask_mode<mul>, scale = 0.125} : (tensor<1x2x336x64xbf16>, tensor<1x1x336x64xbf16>, tensor<1x1x336x64xbf16>, tensor<336xi1>) -> (tensor<1x2x336x64xbf16>, tensor<1x2x336xf32>)
  return %out, %lse : tensor<1x2x336x64xbf16>, tensor<1x2x336xf32>
}

// A bias of elements, a soft cap and a sink.
func.func @bias(%q: tensor<1x2x160x64xbf16>, %k: tensor<1x2x160x64xbf16>, %v: tensor<1x2x160x64xbf16>, %r: tensor<160x160xf32>, %s: tensor<2xf32>) -> (tensor<1x2x160x64xbf16>, tensor<1x2x160xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v rpe(%r) sink(%s) layout(#lower32) {soft_cap = 20.0, scale = 0.125} : (tensor<1x2x160x64xbf16>, tensor<1x2x160x64xbf16>, tensor<1x2x160x64xbf16>, tensor<160x160xf32>, tensor<2xf32>) -> (tensor<1x2x160x64xbf16>, tensor<1x2x160xf32>)
  return %out, %lse : tensor<1x2x160x64xbf16>, tensor<1x2x160xf32>
}

// Rows 16 to 31 do not use NaN of keys that rows 0 to 15 of the same tile take.
func.func @nan_beside(%q: tensor<1x1x64x64xf16>, %k: tensor<1x1x128x64xf16> {blocksparse.value = dense<[[-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [0x7E00], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0]]> : tensor<128x1xf16>}, %v: tensor<1x1x128x64xf16> {blocksparse.value = dense<[[-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [0x7E00], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0]]> : tensor<128x1xf16>}) -> (tensor<1x1x64x64xf16>, tensor<1x1x64xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#pair) {scale = 0.125} : (tensor<1x1x64x64xf16>, tensor<1x1x128x64xf16>, tensor<1x1x128x64xf16>) -> (tensor<1x1x64x64xf16>, tensor<1x1x64xf32>)
  return %out, %lse : tensor<1x1x64x64xf16>, tensor<1x1x64xf32>
}

// No row takes keys 64 to 79.
func.func @nan_unlisted(%q: tensor<1x1x64x64xbf16>, %k: tensor<1x1x128x64xbf16> {blocksparse.value = dense<[[-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [0x7FC0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0]]> : tensor<128x1xbf16>}, %v: tensor<1x1x128x64xbf16> {blocksparse.value = dense<[[-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [0x7FC0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0]]> : tensor<128x1xbf16>}) -> (tensor<1x1x64x64xbf16>, tensor<1x1x64xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#pair) {scale = 0.125} : (tensor<1x1x64x64xbf16>, tensor<1x1x128x64xbf16>, tensor<1x1x128x64xbf16>) -> (tensor<1x1x64x64xbf16>, tensor<1x1x64xf32>)
  return %out, %lse : tensor<1x1x64x64xbf16>, tensor<1x1x64xf32>
}

// The same in a tile that two consumers share.
func.func @nan_split(%q: tensor<1x1x64x64xf16>, %k: tensor<1x1x512x64xf16>, %v: tensor<1x1x512x64xf16> {blocksparse.value = dense<[[-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [0x7E00], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [0x7E00], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0]]> : tensor<512x1xf16>}) -> (tensor<1x1x64x64xf16>, tensor<1x1x64xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#split) {scale = 0.125} : (tensor<1x1x64x64xf16>, tensor<1x1x512x64xf16>, tensor<1x1x512x64xf16>) -> (tensor<1x1x64x64xf16>, tensor<1x1x64xf32>)
  return %out, %lse : tensor<1x1x64x64xf16>, tensor<1x1x64xf32>
}
