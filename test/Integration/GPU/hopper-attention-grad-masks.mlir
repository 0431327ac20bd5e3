// The gradients of attention of 16-bit floats with masks, biases, a soft cap and shared heads in two kernels.
// TARGET: cuda:sm_90a
// REQUIRES: gpu || simulator
// RUN: %if gpu %{ blocksparse-run %s --all-functions --check --poison --repeat-check --device=cuda %}
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --poison --repeat-check --device=simulated --target=cuda:sm_90a --sim-seed=5 %}
// RUN: blocksparse-compile %s --target=cuda:sm_90a --stop-after=optimise | FileCheck %s --check-prefix=FUSED --implicit-check-not=blocksparse.softmax
// RUN: blocksparse-compile %s --target=cuda:sm_90a -o %t.ptx
// RUN: FileCheck %s --input-file=%t.ptx --check-prefix=PTX

// FUSED-COUNT-17: blocksparse.attention_grad
// PTX-DAG: .entry window_attention_grad_aligned_rows
// PTX-DAG: .entry window_attention_grad_keys_wgmma
// PTX-DAG: .entry window_attention_grad_queries_wgmma
// PTX-DAG: .entry window_wide_attention_grad_keys_wgmma
// PTX-DAG: .entry window_wide_attention_grad_queries_wgmma
// PTX-DAG: .entry bottom_right_attention_grad_keys_wgmma
// PTX-DAG: .entry bottom_right_attention_grad_queries_wgmma
// PTX-DAG: .entry lengths_attention_grad_keys_wgmma
// PTX-DAG: .entry lengths_attention_grad_queries_wgmma
// PTX-DAG: .entry lengths_wide_attention_grad_keys_wgmma
// PTX-DAG: .entry lengths_wide_attention_grad_queries_wgmma
// PTX-DAG: .entry segments_attention_grad_keys_wgmma
// PTX-DAG: .entry segments_attention_grad_queries_wgmma
// PTX-DAG: .entry padding_add_attention_grad_keys_wgmma
// PTX-DAG: .entry padding_add_attention_grad_queries_wgmma
// PTX-DAG: .entry padding_keep_attention_grad_keys_wgmma
// PTX-DAG: .entry padding_keep_attention_grad_queries_wgmma
// PTX-DAG: .entry bias_and_mask_attention_grad_keys_wgmma
// PTX-DAG: .entry bias_and_mask_attention_grad_queries_wgmma
// PTX-DAG: .entry mask_add_attention_grad_keys_wgmma
// PTX-DAG: .entry mask_add_attention_grad_queries_wgmma
// PTX-DAG: .entry capped_attention_grad_keys_wgmma
// PTX-DAG: .entry capped_attention_grad_queries_wgmma
// PTX-DAG: .entry capped_causal_attention_grad_keys_wgmma
// PTX-DAG: .entry capped_causal_attention_grad_queries_wgmma
// PTX-DAG: .entry grouped_attention_grad_keys_wgmma
// PTX-DAG: .entry grouped_attention_grad_queries_wgmma
// PTX-DAG: .entry multi_query_attention_grad_keys_wgmma
// PTX-DAG: .entry multi_query_attention_grad_queries_wgmma
// PTX-DAG: .entry grouped_lengths_attention_grad_keys_wgmma
// PTX-DAG: .entry grouped_lengths_attention_grad_queries_wgmma
// PTX-DAG: .entry nan_behind_length_attention_grad_keys_wgmma
// PTX-DAG: .entry nan_behind_length_attention_grad_queries_wgmma

#dense = #blocksparse.layout<128x128, grid 3x3, dense>
#wide = #blocksparse.layout<64x64, grid 2x5, mask "11111/10111">
#two = #blocksparse.layout<128x128, grid 2x2, mask "11/11">
#rows = #blocksparse.layout<128x128, grid 3x3, mask "101/000/110">
#stairs = #blocksparse.layout<64x64, grid 5x5, mask "10000/11000/01100/11110/00011">
#odd = #blocksparse.layout<64x64, grid 2x3, mask "011/110">
#one = #blocksparse.layout<128x128, grid 1x1, dense>
#single = #blocksparse.layout<64x64, grid 1x1, dense>

// Bounds on both sides of a diagonal that is moved, so that whole blocks are outside.
func.func @window(%q: tensor<1x2x384x64xbf16>, %k: tensor<1x2x384x64xbf16>, %v: tensor<1x2x384x64xbf16>, %dout: tensor<1x2x384x64xbf16>) -> (tensor<1x2x384x64xbf16>, tensor<1x2x384x64xbf16>, tensor<1x2x384x64xbf16>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#dense) {causal_offset = 40 : i64, window = array<i64: 90, 20>, scale = 0.125} : (tensor<1x2x384x64xbf16>, tensor<1x2x384x64xbf16>, tensor<1x2x384x64xbf16>) -> (tensor<1x2x384x64xbf16>, tensor<1x2x384xf32>)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#dense) {causal_offset = 40 : i64, window = array<i64: 90, 20>, scale = 0.125} : (tensor<1x2x384x64xbf16>, tensor<1x2x384x64xbf16>, tensor<1x2x384x64xbf16>, tensor<1x2x384x64xbf16>, tensor<1x2x384xf32>, tensor<1x2x384x64xbf16>) -> (tensor<1x2x384x64xbf16>, tensor<1x2x384x64xbf16>, tensor<1x2x384x64xbf16>)
  return %dq, %dk, %dv : tensor<1x2x384x64xbf16>, tensor<1x2x384x64xbf16>, tensor<1x2x384x64xbf16>
}

// The same with more columns, before the diagonal.
func.func @window_wide(%q: tensor<1x1x384x128xf16>, %k: tensor<1x1x384x128xf16>, %v: tensor<1x1x384x128xf16>, %dout: tensor<1x1x384x128xf16>, %dlse: tensor<1x1x384xf32>) -> (tensor<1x1x384x128xf16>, tensor<1x1x384x128xf16>, tensor<1x1x384x128xf16>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#dense) {causal_offset = -70 : i64, window = array<i64: 100, 30>, scale = 0.125} : (tensor<1x1x384x128xf16>, tensor<1x1x384x128xf16>, tensor<1x1x384x128xf16>) -> (tensor<1x1x384x128xf16>, tensor<1x1x384xf32>)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout dlse(%dlse) layout(#dense) {causal_offset = -70 : i64, window = array<i64: 100, 30>, scale = 0.125} : (tensor<1x1x384x128xf16>, tensor<1x1x384x128xf16>, tensor<1x1x384x128xf16>, tensor<1x1x384x128xf16>, tensor<1x1x384xf32>, tensor<1x1x384x128xf16>, tensor<1x1x384xf32>) -> (tensor<1x1x384x128xf16>, tensor<1x1x384x128xf16>, tensor<1x1x384x128xf16>)
  return %dq, %dk, %dv : tensor<1x1x384x128xf16>, tensor<1x1x384x128xf16>, tensor<1x1x384x128xf16>
}

// Causal, with the end of the diagonal in the last row and key.
func.func @bottom_right(%q: tensor<1x1x128x128xf16>, %k: tensor<1x1x320x128xf16>, %v: tensor<1x1x320x128xf16>, %dout: tensor<1x1x128x128xf16>) -> (tensor<1x1x128x128xf16>, tensor<1x1x320x128xf16>, tensor<1x1x320x128xf16>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#wide) {causal, causal_offset = 192 : i64, scale = 0.125} : (tensor<1x1x128x128xf16>, tensor<1x1x320x128xf16>, tensor<1x1x320x128xf16>) -> (tensor<1x1x128x128xf16>, tensor<1x1x128xf32>)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#wide) {causal, causal_offset = 192 : i64, scale = 0.125} : (tensor<1x1x128x128xf16>, tensor<1x1x320x128xf16>, tensor<1x1x320x128xf16>, tensor<1x1x128x128xf16>, tensor<1x1x128xf32>, tensor<1x1x128x128xf16>) -> (tensor<1x1x128x128xf16>, tensor<1x1x320x128xf16>, tensor<1x1x320x128xf16>)
  return %dq, %dk, %dv : tensor<1x1x128x128xf16>, tensor<1x1x320x128xf16>, tensor<1x1x320x128xf16>
}

// Batches of their own lengths; one ends in a block of queries, and one has no key.
func.func @lengths(%q: tensor<2x1x256x64xbf16>, %k: tensor<2x1x256x64xbf16>, %v: tensor<2x1x256x64xbf16>, %dout: tensor<2x1x256x64xbf16>, %n: tensor<2xi32> {blocksparse.value = dense<[100, 256]> : tensor<2xi32>}, %m: tensor<2xi32> {blocksparse.value = dense<[256, 70]> : tensor<2xi32>}) -> (tensor<2x1x256x64xbf16>, tensor<2x1x256x64xbf16>, tensor<2x1x256x64xbf16>) {
  %out, %lse = blocksparse.attention %q, %k, %v key_lengths(%n) query_lengths(%m) layout(#two) {scale = 0.125} : (tensor<2x1x256x64xbf16>, tensor<2x1x256x64xbf16>, tensor<2x1x256x64xbf16>, tensor<2xi32>, tensor<2xi32>) -> (tensor<2x1x256x64xbf16>, tensor<2x1x256xf32>)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout key_lengths(%n) query_lengths(%m) layout(#two) {scale = 0.125} : (tensor<2x1x256x64xbf16>, tensor<2x1x256x64xbf16>, tensor<2x1x256x64xbf16>, tensor<2x1x256x64xbf16>, tensor<2x1x256xf32>, tensor<2x1x256x64xbf16>, tensor<2xi32>, tensor<2xi32>) -> (tensor<2x1x256x64xbf16>, tensor<2x1x256x64xbf16>, tensor<2x1x256x64xbf16>)
  return %dq, %dk, %dv : tensor<2x1x256x64xbf16>, tensor<2x1x256x64xbf16>, tensor<2x1x256x64xbf16>
}

// Lengths with more columns; one batch has no key.
func.func @lengths_wide(%q: tensor<2x1x256x128xf16>, %k: tensor<2x1x256x128xf16>, %v: tensor<2x1x256x128xf16>, %dout: tensor<2x1x256x128xf16>, %n: tensor<2xi32> {blocksparse.value = dense<[0, 131]> : tensor<2xi32>}) -> (tensor<2x1x256x128xf16>, tensor<2x1x256x128xf16>, tensor<2x1x256x128xf16>) {
  %out, %lse = blocksparse.attention %q, %k, %v key_lengths(%n) layout(#two) {causal, scale = 0.125} : (tensor<2x1x256x128xf16>, tensor<2x1x256x128xf16>, tensor<2x1x256x128xf16>, tensor<2xi32>) -> (tensor<2x1x256x128xf16>, tensor<2x1x256xf32>)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout key_lengths(%n) layout(#two) {causal, scale = 0.125} : (tensor<2x1x256x128xf16>, tensor<2x1x256x128xf16>, tensor<2x1x256x128xf16>, tensor<2x1x256x128xf16>, tensor<2x1x256xf32>, tensor<2x1x256x128xf16>, tensor<2xi32>) -> (tensor<2x1x256x128xf16>, tensor<2x1x256x128xf16>, tensor<2x1x256x128xf16>)
  return %dq, %dk, %dv : tensor<2x1x256x128xf16>, tensor<2x1x256x128xf16>, tensor<2x1x256x128xf16>
}

// Sequences that begin inside of blocks.
func.func @segments(%q: tensor<1x1x256x64xbf16>, %k: tensor<1x1x256x64xbf16>, %v: tensor<1x1x256x64xbf16>, %dout: tensor<1x1x256x64xbf16>, %s: tensor<256xi32> {blocksparse.value = dense<[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4]> : tensor<256xi32>}, %t: tensor<256xi32> {blocksparse.value = dense<[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4]> : tensor<256xi32>}) -> (tensor<1x1x256x64xbf16>, tensor<1x1x256x64xbf16>, tensor<1x1x256x64xbf16>) {
  %out, %lse = blocksparse.attention %q, %k, %v segment_ids(%s, %t) layout(#two) {causal, scale = 0.125} : (tensor<1x1x256x64xbf16>, tensor<1x1x256x64xbf16>, tensor<1x1x256x64xbf16>, tensor<256xi32>, tensor<256xi32>) -> (tensor<1x1x256x64xbf16>, tensor<1x1x256xf32>)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout segment_ids(%s, %t) layout(#two) {causal, scale = 0.125} : (tensor<1x1x256x64xbf16>, tensor<1x1x256x64xbf16>, tensor<1x1x256x64xbf16>, tensor<1x1x256x64xbf16>, tensor<1x1x256xf32>, tensor<1x1x256x64xbf16>, tensor<256xi32>, tensor<256xi32>) -> (tensor<1x1x256x64xbf16>, tensor<1x1x256x64xbf16>, tensor<1x1x256x64xbf16>)
  return %dq, %dk, %dv : tensor<1x1x256x64xbf16>, tensor<1x1x256x64xbf16>, tensor<1x1x256x64xbf16>
}

// A mask of keys that is added.
func.func @padding_add(%q: tensor<2x1x256x64xbf16>, %k: tensor<2x1x256x64xbf16>, %v: tensor<2x1x256x64xbf16>, %dout: tensor<2x1x256x64xbf16>, %p: tensor<2x256xf32> {blocksparse.fill = "forbid"}) -> (tensor<2x1x256x64xbf16>, tensor<2x1x256x64xbf16>, tensor<2x1x256x64xbf16>) {
  %out, %lse = blocksparse.attention %q, %k, %v key_padding_mask(%p) layout(#two) {scale = 0.125} : (tensor<2x1x256x64xbf16>, tensor<2x1x256x64xbf16>, tensor<2x1x256x64xbf16>, tensor<2x256xf32>) -> (tensor<2x1x256x64xbf16>, tensor<2x1x256xf32>)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout key_padding_mask(%p) layout(#two) {scale = 0.125} : (tensor<2x1x256x64xbf16>, tensor<2x1x256x64xbf16>, tensor<2x1x256x64xbf16>, tensor<2x1x256x64xbf16>, tensor<2x1x256xf32>, tensor<2x1x256x64xbf16>, tensor<2x256xf32>) -> (tensor<2x1x256x64xbf16>, tensor<2x1x256x64xbf16>, tensor<2x1x256x64xbf16>)
  return %dq, %dk, %dv : tensor<2x1x256x64xbf16>, tensor<2x1x256x64xbf16>, tensor<2x1x256x64xbf16>
}

// A mask of keys of i1, with more columns.
func.func @padding_keep(%q: tensor<1x2x256x128xf16>, %k: tensor<1x2x256x128xf16>, %v: tensor<1x2x256x128xf16>, %dout: tensor<1x2x256x128xf16>, %p: tensor<256xi1> {blocksparse.fill = "keep"}) -> (tensor<1x2x256x128xf16>, tensor<1x2x256x128xf16>, tensor<1x2x256x128xf16>) {
  %out, %lse = blocksparse.attention %q, %k, %v key_padding_mask(%p) layout(#two) {key_padding_mask_mode = #blocksparse.mask_mode<mul>, scale = 0.125} : (tensor<1x2x256x128xf16>, tensor<1x2x256x128xf16>, tensor<1x2x256x128xf16>, tensor<256xi1>) -> (tensor<1x2x256x128xf16>, tensor<1x2x256xf32>)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout key_padding_mask(%p) layout(#two) {key_padding_mask_mode = #blocksparse.mask_mode<mul>, scale = 0.125} : (tensor<1x2x256x128xf16>, tensor<1x2x256x128xf16>, tensor<1x2x256x128xf16>, tensor<1x2x256x128xf16>, tensor<1x2x256xf32>, tensor<1x2x256x128xf16>, tensor<256xi1>) -> (tensor<1x2x256x128xf16>, tensor<1x2x256x128xf16>, tensor<1x2x256x128xf16>)
  return %dq, %dk, %dv : tensor<1x2x256x128xf16>, tensor<1x2x256x128xf16>, tensor<1x2x256x128xf16>
}

// A bias of each head and a mask of elements that all heads share.
func.func @bias_and_mask(%q: tensor<1x2x256x64xf16>, %k: tensor<1x2x256x64xf16>, %v: tensor<1x2x256x64xf16>, %dout: tensor<1x2x256x64xf16>, %r: tensor<2x256x256xf16>, %p: tensor<256x256xi8> {blocksparse.fill = "keep"}) -> (tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>) {
  %out, %lse = blocksparse.attention %q, %k, %v rpe(%r) attention_mask(%p) layout(#two) {attention_mask_mode = #blocksparse.mask_mode<mul>, scale = 0.125} : (tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>, tensor<2x256x256xf16>, tensor<256x256xi8>) -> (tensor<1x2x256x64xf16>, tensor<1x2x256xf32>)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout rpe(%r) attention_mask(%p) layout(#two) {attention_mask_mode = #blocksparse.mask_mode<mul>, scale = 0.125} : (tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>, tensor<1x2x256xf32>, tensor<1x2x256x64xf16>, tensor<2x256x256xf16>, tensor<256x256xi8>) -> (tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>)
  return %dq, %dk, %dv : tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>
}

// A mask of elements of each batch that is added, with more columns.
func.func @mask_add(%q: tensor<2x1x128x128xbf16>, %k: tensor<2x1x192x128xbf16>, %v: tensor<2x1x192x128xbf16>, %dout: tensor<2x1x128x128xbf16>, %p: tensor<2x1x128x192xf32> {blocksparse.fill = "forbid"}) -> (tensor<2x1x128x128xbf16>, tensor<2x1x192x128xbf16>, tensor<2x1x192x128xbf16>) {
  %out, %lse = blocksparse.attention %q, %k, %v attention_mask(%p) layout(#odd) {scale = 0.125} : (tensor<2x1x128x128xbf16>, tensor<2x1x192x128xbf16>, tensor<2x1x192x128xbf16>, tensor<2x1x128x192xf32>) -> (tensor<2x1x128x128xbf16>, tensor<2x1x128xf32>)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout attention_mask(%p) layout(#odd) {scale = 0.125} : (tensor<2x1x128x128xbf16>, tensor<2x1x192x128xbf16>, tensor<2x1x192x128xbf16>, tensor<2x1x128x128xbf16>, tensor<2x1x128xf32>, tensor<2x1x128x128xbf16>, tensor<2x1x128x192xf32>) -> (tensor<2x1x128x128xbf16>, tensor<2x1x192x128xbf16>, tensor<2x1x192x128xbf16>)
  return %dq, %dk, %dv : tensor<2x1x128x128xbf16>, tensor<2x1x192x128xbf16>, tensor<2x1x192x128xbf16>
}

// Capped scores without a mask; v is narrower than k.
func.func @capped(%q: tensor<1x1x384x128xf16>, %k: tensor<1x1x384x128xf16>, %v: tensor<1x1x384x80xf16>, %dout: tensor<1x1x384x80xf16>) -> (tensor<1x1x384x128xf16>, tensor<1x1x384x128xf16>, tensor<1x1x384x80xf16>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#rows) {soft_cap = 1.5, scale = 0.125} : (tensor<1x1x384x128xf16>, tensor<1x1x384x128xf16>, tensor<1x1x384x80xf16>) -> (tensor<1x1x384x80xf16>, tensor<1x1x384xf32>)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#rows) {soft_cap = 1.5, scale = 0.125} : (tensor<1x1x384x128xf16>, tensor<1x1x384x128xf16>, tensor<1x1x384x80xf16>, tensor<1x1x384x80xf16>, tensor<1x1x384xf32>, tensor<1x1x384x80xf16>) -> (tensor<1x1x384x128xf16>, tensor<1x1x384x128xf16>, tensor<1x1x384x80xf16>)
  return %dq, %dk, %dv : tensor<1x1x384x128xf16>, tensor<1x1x384x128xf16>, tensor<1x1x384x80xf16>
}

// Capped scores below the diagonal.
func.func @capped_causal(%q: tensor<1x1x384x64xbf16>, %k: tensor<1x1x384x64xbf16>, %v: tensor<1x1x384x64xbf16>, %dout: tensor<1x1x384x64xbf16>) -> (tensor<1x1x384x64xbf16>, tensor<1x1x384x64xbf16>, tensor<1x1x384x64xbf16>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#dense) {causal, soft_cap = 0.75, scale = 0.125} : (tensor<1x1x384x64xbf16>, tensor<1x1x384x64xbf16>, tensor<1x1x384x64xbf16>) -> (tensor<1x1x384x64xbf16>, tensor<1x1x384xf32>)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#dense) {causal, soft_cap = 0.75, scale = 0.125} : (tensor<1x1x384x64xbf16>, tensor<1x1x384x64xbf16>, tensor<1x1x384x64xbf16>, tensor<1x1x384x64xbf16>, tensor<1x1x384xf32>, tensor<1x1x384x64xbf16>) -> (tensor<1x1x384x64xbf16>, tensor<1x1x384x64xbf16>, tensor<1x1x384x64xbf16>)
  return %dq, %dk, %dv : tensor<1x1x384x64xbf16>, tensor<1x1x384x64xbf16>, tensor<1x1x384x64xbf16>
}

// Four heads of queries on two of keys, with a soft cap and a bias of each head.
func.func @grouped(%q: tensor<1x4x320x64xbf16>, %k: tensor<1x2x320x64xbf16>, %v: tensor<1x2x320x64xbf16>, %dout: tensor<1x4x320x64xbf16>, %r: tensor<4x1x320xf32>) -> (tensor<1x4x320x64xbf16>, tensor<1x2x320x64xbf16>, tensor<1x2x320x64xbf16>) {
  %out, %lse = blocksparse.attention %q, %k, %v rpe(%r) layout(#stairs) {causal, soft_cap = 2.0, scale = 0.125} : (tensor<1x4x320x64xbf16>, tensor<1x2x320x64xbf16>, tensor<1x2x320x64xbf16>, tensor<4x1x320xf32>) -> (tensor<1x4x320x64xbf16>, tensor<1x4x320xf32>)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout rpe(%r) layout(#stairs) {causal, soft_cap = 2.0, scale = 0.125} : (tensor<1x4x320x64xbf16>, tensor<1x2x320x64xbf16>, tensor<1x2x320x64xbf16>, tensor<1x4x320x64xbf16>, tensor<1x4x320xf32>, tensor<1x4x320x64xbf16>, tensor<4x1x320xf32>) -> (tensor<1x4x320x64xbf16>, tensor<1x2x320x64xbf16>, tensor<1x2x320x64xbf16>)
  return %dq, %dk, %dv : tensor<1x4x320x64xbf16>, tensor<1x2x320x64xbf16>, tensor<1x2x320x64xbf16>
}

// Three heads of queries on one of keys, in two batches, with more columns.
func.func @multi_query(%q: tensor<2x3x320x128xf16>, %k: tensor<2x1x320x128xf16>, %v: tensor<2x1x320x128xf16>, %dout: tensor<2x3x320x128xf16>) -> (tensor<2x3x320x128xf16>, tensor<2x1x320x128xf16>, tensor<2x1x320x128xf16>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#stairs) {scale = 0.125} : (tensor<2x3x320x128xf16>, tensor<2x1x320x128xf16>, tensor<2x1x320x128xf16>) -> (tensor<2x3x320x128xf16>, tensor<2x3x320xf32>)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#stairs) {scale = 0.125} : (tensor<2x3x320x128xf16>, tensor<2x1x320x128xf16>, tensor<2x1x320x128xf16>, tensor<2x3x320x128xf16>, tensor<2x3x320xf32>, tensor<2x3x320x128xf16>) -> (tensor<2x3x320x128xf16>, tensor<2x1x320x128xf16>, tensor<2x1x320x128xf16>)
  return %dq, %dk, %dv : tensor<2x3x320x128xf16>, tensor<2x1x320x128xf16>, tensor<2x1x320x128xf16>
}

// Two heads of queries on one of keys, whose lengths differ.
func.func @grouped_lengths(%q: tensor<2x2x256x128xbf16>, %k: tensor<2x1x256x128xbf16>, %v: tensor<2x1x256x128xbf16>, %dout: tensor<2x2x256x128xbf16>, %dlse: tensor<2x2x256xf32>, %n: tensor<2xi32> {blocksparse.value = dense<[200, 90]> : tensor<2xi32>}) -> (tensor<2x2x256x128xbf16>, tensor<2x1x256x128xbf16>, tensor<2x1x256x128xbf16>) {
  %out, %lse = blocksparse.attention %q, %k, %v key_lengths(%n) layout(#two) {scale = 0.125} : (tensor<2x2x256x128xbf16>, tensor<2x1x256x128xbf16>, tensor<2x1x256x128xbf16>, tensor<2xi32>) -> (tensor<2x2x256x128xbf16>, tensor<2x2x256xf32>)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout key_lengths(%n) dlse(%dlse) layout(#two) {scale = 0.125} : (tensor<2x2x256x128xbf16>, tensor<2x1x256x128xbf16>, tensor<2x1x256x128xbf16>, tensor<2x2x256x128xbf16>, tensor<2x2x256xf32>, tensor<2x2x256x128xbf16>, tensor<2xi32>, tensor<2x2x256xf32>) -> (tensor<2x2x256x128xbf16>, tensor<2x1x256x128xbf16>, tensor<2x1x256x128xbf16>)
  return %dq, %dk, %dv : tensor<2x2x256x128xbf16>, tensor<2x1x256x128xbf16>, tensor<2x1x256x128xbf16>
}

// NaN in keys and values beyond the length reaches nothing; 128 queries give each of 20 keys a twentieth.
func.func @nan_behind_length(%q: tensor<1x1x128x64xf16> {blocksparse.fill = "zeros"}, %k: tensor<1x1x128x64xf16> {blocksparse.value = dense<[[0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00]]> : tensor<128x1xf16>}, %v: tensor<1x1x128x64xf16> {blocksparse.value = dense<[[1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00], [0x7E00]]> : tensor<128x1xf16>}, %dout: tensor<1x1x128x64xf16>, %n: tensor<1xi32> {blocksparse.value = dense<20> : tensor<1xi32>}) -> (tensor<1x1x128x64xf16>, tensor<1x1x128x64xf16>, tensor<1x1x128x64xf16>) {
  %out, %lse = blocksparse.attention %q, %k, %v key_lengths(%n) layout(#one) {scale = 0.125} : (tensor<1x1x128x64xf16>, tensor<1x1x128x64xf16>, tensor<1x1x128x64xf16>, tensor<1xi32>) -> (tensor<1x1x128x64xf16>, tensor<1x1x128xf32>)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout key_lengths(%n) layout(#one) {scale = 0.125} : (tensor<1x1x128x64xf16>, tensor<1x1x128x64xf16>, tensor<1x1x128x64xf16>, tensor<1x1x128x64xf16>, tensor<1x1x128xf32>, tensor<1x1x128x64xf16>, tensor<1xi32>) -> (tensor<1x1x128x64xf16>, tensor<1x1x128x64xf16>, tensor<1x1x128x64xf16>)
  return %dq, %dk, %dv : tensor<1x1x128x64xf16>, tensor<1x1x128x64xf16>, tensor<1x1x128x64xf16>
}

// Scores well beyond their cap, in a product small enough that a gradient without its factor exceeds the bound.
func.func @capped_small(%q: tensor<1x1x64x16xf16>, %k: tensor<1x1x64x16xf16>, %v: tensor<1x1x64x16xf16>, %dout: tensor<1x1x64x16xf16>) -> (tensor<1x1x64x16xf16>, tensor<1x1x64x16xf16>, tensor<1x1x64x16xf16>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#single) {soft_cap = 0.5, scale = 1.0} : (tensor<1x1x64x16xf16>, tensor<1x1x64x16xf16>, tensor<1x1x64x16xf16>) -> (tensor<1x1x64x16xf16>, tensor<1x1x64xf32>)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#single) {soft_cap = 0.5, scale = 1.0} : (tensor<1x1x64x16xf16>, tensor<1x1x64x16xf16>, tensor<1x1x64x16xf16>, tensor<1x1x64x16xf16>, tensor<1x1x64xf32>, tensor<1x1x64x16xf16>) -> (tensor<1x1x64x16xf16>, tensor<1x1x64x16xf16>, tensor<1x1x64x16xf16>)
  return %dq, %dk, %dv : tensor<1x1x64x16xf16>, tensor<1x1x64x16xf16>, tensor<1x1x64x16xf16>
}
