// The gradients of attention of 16-bit floats in one kernel, whose sums of dq are ordered.
// TARGET: cuda:sm_90a
// REQUIRES: gpu || simulator
// RUN: %if gpu %{ blocksparse-run %s --all-functions --check --poison --repeat-check --device=cuda %}
// RUN: %if simulator %{ blocksparse-run %s --function=shared,heads,causal,wide,empty,window,lengths,bias_mask_cap --check --poison --repeat-check --device=simulated --target=cuda:sm_90a --sim-seed=5 %}
// RUN: %if simulator %{ blocksparse-run %s --function=shared --check --poison --strided --device=simulated --target=cuda:sm_90a %}
// RUN: blocksparse-compile %s --target=cuda:sm_90a -o %t.ptx
// RUN: FileCheck %s --input-file=%t.ptx

// A wait for the rank, the sum of a part of dq in global memory, and the word to the next one.
// CHECK-LABEL: .entry shared_attention_grad_ordered
// CHECK-DAG: ld.acquire.gpu.global.b32
// CHECK-DAG: cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32
// CHECK-DAG: st.release.gpu.global.b32

#one_kernel = #blocksparse.schedule<cuda.attention, kernels = 1>
#a = #blocksparse.layout<128x128, grid 4x4, mask "1010/0000/0110/1000">
#heads = #blocksparse.layout<128x128, grid 2x3x3, mask "101/010/111/000/110/001">
#lower = #blocksparse.layout<128x128, grid 4x4, causal>
#long = #blocksparse.layout<128x128, grid 8x8, random(density = 0.7, seed = 4)>
#wide = #blocksparse.layout<64x128, grid 4x4, random(density = 0.6, seed = 5)>
#square = #blocksparse.layout<128x128, grid 3x3, dense>
#full = #blocksparse.layout<128x128, grid 2x2, dense>
#none = #blocksparse.layout<128x128, grid 1x2, mask "00">

// Two heads share a pattern; a block row and a block column are empty.
func.func @shared(%q: tensor<1x2x512x128xbf16>, %k: tensor<1x2x512x128xbf16>, %v: tensor<1x2x512x128xbf16>, %out: tensor<1x2x512x128xbf16>, %lse: tensor<1x2x512xf32>, %dout: tensor<1x2x512x128xbf16>) -> (tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>) {
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#a) {scale = 0.0625, schedule = #one_kernel} : (tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>, tensor<1x2x512xf32>, tensor<1x2x512x128xbf16>) -> (tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>)
  return %dq, %dk, %dv : tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>
}

// A pattern for each head, two batches, head dimensions below 128, and the gradient of lse.
func.func @heads(%q: tensor<2x2x384x80xf16>, %k: tensor<2x2x384x80xf16>, %v: tensor<2x2x384x120xf16>, %out: tensor<2x2x384x120xf16>, %lse: tensor<2x2x384xf32>, %dout: tensor<2x2x384x120xf16>, %dlse: tensor<2x2x384xf32>) -> (tensor<2x2x384x80xf16>, tensor<2x2x384x80xf16>, tensor<2x2x384x120xf16>) {
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout dlse(%dlse) layout(#heads) {scale = 0.0625, schedule = #one_kernel} : (tensor<2x2x384x80xf16>, tensor<2x2x384x80xf16>, tensor<2x2x384x120xf16>, tensor<2x2x384x120xf16>, tensor<2x2x384xf32>, tensor<2x2x384x120xf16>, tensor<2x2x384xf32>) -> (tensor<2x2x384x80xf16>, tensor<2x2x384x80xf16>, tensor<2x2x384x120xf16>)
  return %dq, %dk, %dv : tensor<2x2x384x80xf16>, tensor<2x2x384x80xf16>, tensor<2x2x384x120xf16>
}

// Elements above the diagonal.
func.func @causal(%q: tensor<1x2x512x128xbf16>, %k: tensor<1x2x512x128xbf16>, %v: tensor<1x2x512x128xbf16>, %out: tensor<1x2x512x128xbf16>, %lse: tensor<1x2x512xf32>, %dout: tensor<1x2x512x128xbf16>) -> (tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>) {
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#lower) {causal, scale = 0.0625, schedule = #one_kernel} : (tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>, tensor<1x2x512xf32>, tensor<1x2x512x128xbf16>) -> (tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>)
  return %dq, %dk, %dv : tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>
}

// More keys than queries.
func.func @wide(%q: tensor<1x2x256x128xf16>, %k: tensor<1x2x512x128xf16>, %v: tensor<1x2x512x128xf16>, %out: tensor<1x2x256x128xf16>, %lse: tensor<1x2x256xf32>, %dout: tensor<1x2x256x128xf16>) -> (tensor<1x2x256x128xf16>, tensor<1x2x512x128xf16>, tensor<1x2x512x128xf16>) {
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#wide) {scale = 0.0625, schedule = #one_kernel} : (tensor<1x2x256x128xf16>, tensor<1x2x512x128xf16>, tensor<1x2x512x128xf16>, tensor<1x2x256x128xf16>, tensor<1x2x256xf32>, tensor<1x2x256x128xf16>) -> (tensor<1x2x256x128xf16>, tensor<1x2x512x128xf16>, tensor<1x2x512x128xf16>)
  return %dq, %dk, %dv : tensor<1x2x256x128xf16>, tensor<1x2x512x128xf16>, tensor<1x2x512x128xf16>
}

// No block at all.
func.func @empty(%q: tensor<1x1x128x128xf16>, %k: tensor<1x1x256x128xf16>, %v: tensor<1x1x256x128xf16>, %out: tensor<1x1x128x128xf16>, %lse: tensor<1x1x128xf32>, %dout: tensor<1x1x128x128xf16>) -> (tensor<1x1x128x128xf16>, tensor<1x1x256x128xf16>, tensor<1x1x256x128xf16>) {
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#none) {scale = 0.0625, schedule = #one_kernel} : (tensor<1x1x128x128xf16>, tensor<1x1x256x128xf16>, tensor<1x1x256x128xf16>, tensor<1x1x128x128xf16>, tensor<1x1x128xf32>, tensor<1x1x128x128xf16>) -> (tensor<1x1x128x128xf16>, tensor<1x1x256x128xf16>, tensor<1x1x256x128xf16>)
  return %dq, %dk, %dv : tensor<1x1x128x128xf16>, tensor<1x1x256x128xf16>, tensor<1x1x256x128xf16>
}

// More tiles than CTAs, in an order that many CTAs wait for.
func.func @many_tiles(%q: tensor<1x40x1024x128xbf16>, %k: tensor<1x40x1024x128xbf16>, %v: tensor<1x40x1024x128xbf16>, %out: tensor<1x40x1024x128xbf16>, %lse: tensor<1x40x1024xf32>, %dout: tensor<1x40x1024x128xbf16>) -> (tensor<1x40x1024x128xbf16>, tensor<1x40x1024x128xbf16>, tensor<1x40x1024x128xbf16>) {
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#long) {scale = 0.0625, schedule = #one_kernel} : (tensor<1x40x1024x128xbf16>, tensor<1x40x1024x128xbf16>, tensor<1x40x1024x128xbf16>, tensor<1x40x1024x128xbf16>, tensor<1x40x1024xf32>, tensor<1x40x1024x128xbf16>) -> (tensor<1x40x1024x128xbf16>, tensor<1x40x1024x128xbf16>, tensor<1x40x1024x128xbf16>)
  return %dq, %dk, %dv : tensor<1x40x1024x128xbf16>, tensor<1x40x1024x128xbf16>, tensor<1x40x1024x128xbf16>
}

// Bounds on both sides of a diagonal that is moved.
func.func @window(%q: tensor<1x1x384x128xbf16>, %k: tensor<1x1x384x128xbf16>, %v: tensor<1x1x384x128xbf16>, %dout: tensor<1x1x384x128xbf16>) -> (tensor<1x1x384x128xbf16>, tensor<1x1x384x128xbf16>, tensor<1x1x384x128xbf16>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#square) {causal_offset = -30 : i64, window = array<i64: 90, 40>, scale = 0.0625} : (tensor<1x1x384x128xbf16>, tensor<1x1x384x128xbf16>, tensor<1x1x384x128xbf16>) -> (tensor<1x1x384x128xbf16>, tensor<1x1x384xf32>)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#square) {causal_offset = -30 : i64, window = array<i64: 90, 40>, scale = 0.0625, schedule = #one_kernel} : (tensor<1x1x384x128xbf16>, tensor<1x1x384x128xbf16>, tensor<1x1x384x128xbf16>, tensor<1x1x384x128xbf16>, tensor<1x1x384xf32>, tensor<1x1x384x128xbf16>) -> (tensor<1x1x384x128xbf16>, tensor<1x1x384x128xbf16>, tensor<1x1x384x128xbf16>)
  return %dq, %dk, %dv : tensor<1x1x384x128xbf16>, tensor<1x1x384x128xbf16>, tensor<1x1x384x128xbf16>
}

// Batches of their own lengths; one has no key.
func.func @lengths(%q: tensor<2x1x256x128xf16>, %k: tensor<2x1x256x128xf16>, %v: tensor<2x1x256x128xf16>, %dout: tensor<2x1x256x128xf16>, %n: tensor<2xi32> {blocksparse.value = dense<[100, 0]> : tensor<2xi32>}, %m: tensor<2xi32> {blocksparse.value = dense<[200, 256]> : tensor<2xi32>}) -> (tensor<2x1x256x128xf16>, tensor<2x1x256x128xf16>, tensor<2x1x256x128xf16>) {
  %out, %lse = blocksparse.attention %q, %k, %v key_lengths(%n) query_lengths(%m) layout(#full) {scale = 0.0625} : (tensor<2x1x256x128xf16>, tensor<2x1x256x128xf16>, tensor<2x1x256x128xf16>, tensor<2xi32>, tensor<2xi32>) -> (tensor<2x1x256x128xf16>, tensor<2x1x256xf32>)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout key_lengths(%n) query_lengths(%m) layout(#full) {scale = 0.0625, schedule = #one_kernel} : (tensor<2x1x256x128xf16>, tensor<2x1x256x128xf16>, tensor<2x1x256x128xf16>, tensor<2x1x256x128xf16>, tensor<2x1x256xf32>, tensor<2x1x256x128xf16>, tensor<2xi32>, tensor<2xi32>) -> (tensor<2x1x256x128xf16>, tensor<2x1x256x128xf16>, tensor<2x1x256x128xf16>)
  return %dq, %dk, %dv : tensor<2x1x256x128xf16>, tensor<2x1x256x128xf16>, tensor<2x1x256x128xf16>
}

// Capped scores, a bias of each head, and a mask of elements.
func.func @bias_mask_cap(%q: tensor<1x2x256x128xbf16>, %k: tensor<1x2x256x128xbf16>, %v: tensor<1x2x256x128xbf16>, %dout: tensor<1x2x256x128xbf16>, %r: tensor<2x1x256xf32>, %p: tensor<256x256xi8> {blocksparse.fill = "keep"}) -> (tensor<1x2x256x128xbf16>, tensor<1x2x256x128xbf16>, tensor<1x2x256x128xbf16>) {
  %out, %lse = blocksparse.attention %q, %k, %v rpe(%r) attention_mask(%p) layout(#full) {soft_cap = 1.5, attention_mask_mode = #blocksparse.mask_mode<mul>, scale = 0.0625} : (tensor<1x2x256x128xbf16>, tensor<1x2x256x128xbf16>, tensor<1x2x256x128xbf16>, tensor<2x1x256xf32>, tensor<256x256xi8>) -> (tensor<1x2x256x128xbf16>, tensor<1x2x256xf32>)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout rpe(%r) attention_mask(%p) layout(#full) {soft_cap = 1.5, attention_mask_mode = #blocksparse.mask_mode<mul>, scale = 0.0625, schedule = #one_kernel} : (tensor<1x2x256x128xbf16>, tensor<1x2x256x128xbf16>, tensor<1x2x256x128xbf16>, tensor<1x2x256x128xbf16>, tensor<1x2x256xf32>, tensor<1x2x256x128xbf16>, tensor<2x1x256xf32>, tensor<256x256xi8>) -> (tensor<1x2x256x128xbf16>, tensor<1x2x256x128xbf16>, tensor<1x2x256x128xbf16>)
  return %dq, %dk, %dv : tensor<1x2x256x128xbf16>, tensor<1x2x256x128xbf16>, tensor<1x2x256x128xbf16>
}
