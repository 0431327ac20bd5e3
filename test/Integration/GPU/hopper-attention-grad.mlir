// The gradients of attention of 16-bit floats in two kernels.
// TARGET: cuda:sm_90a
// REQUIRES: gpu || simulator
// RUN: %if gpu %{ blocksparse-run %s --all-functions --check --poison --repeat-check --device=cuda %}
// RUN: %if simulator %{ blocksparse-run %s --function=b128_d128,b128_d64,b64_d128,b64_d64,causal_b128,causal_b64,narrow,chain,nan_above,nan_query,small --check --poison --repeat-check --device=simulated --target=cuda:sm_90a --sim-seed=5 %}
// RUN: %if simulator %{ blocksparse-run %s --function=small --check --poison --strided --device=simulated --target=cuda:sm_90a %}
// RUN: blocksparse-compile %s --target=cuda:sm_90a --stop-after=optimise | FileCheck %s --check-prefix=FUSED --implicit-check-not=blocksparse.softmax

// FUSED-COUNT-12: blocksparse.attention_grad

#a = #blocksparse.layout<128x128, grid 4x4, mask "1010/0000/0110/1000">
#heads = #blocksparse.layout<128x128, grid 2x3x3, mask "101/010/111/000/110/001">
#b = #blocksparse.layout<64x64, grid 7x7, random(density = 0.5, seed = 3)>
#c = #blocksparse.layout<64x64, grid 7x7, mask "1000001/0000000/0110000/0000000/1000001/1111101/0110000">
#causal = #blocksparse.layout<128x128, grid 4x4, causal>
#causal64 = #blocksparse.layout<64x64, grid 5x5, causal>
#long = #blocksparse.layout<128x128, grid 8x8, random(density = 0.7, seed = 4)>
#one = #blocksparse.layout<128x128, grid 1x1, dense>
#small = #blocksparse.layout<64x64, grid 2x2, mask "10/11">
#wide = #blocksparse.layout<64x128, grid 4x4, random(density = 0.6, seed = 5)>

// Two heads share a pattern; a block row and a block column are empty.
func.func @b128_d128(%q: tensor<1x2x512x128xbf16>, %k: tensor<1x2x512x128xbf16>, %v: tensor<1x2x512x128xbf16>, %out: tensor<1x2x512x128xbf16>, %lse: tensor<1x2x512xf32>, %dout: tensor<1x2x512x128xbf16>) -> (tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>) {
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#a) {scale = 0.0625} : (tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>, tensor<1x2x512xf32>, tensor<1x2x512x128xbf16>) -> (tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>)
  return %dq, %dk, %dv : tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>
}

// A pattern for each head, and two batches.
func.func @b128_d64(%q: tensor<2x2x384x64xf16>, %k: tensor<2x2x384x64xf16>, %v: tensor<2x2x384x64xf16>, %out: tensor<2x2x384x64xf16>, %lse: tensor<2x2x384xf32>, %dout: tensor<2x2x384x64xf16>) -> (tensor<2x2x384x64xf16>, tensor<2x2x384x64xf16>, tensor<2x2x384x64xf16>) {
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#heads) {scale = 0.0625} : (tensor<2x2x384x64xf16>, tensor<2x2x384x64xf16>, tensor<2x2x384x64xf16>, tensor<2x2x384x64xf16>, tensor<2x2x384xf32>, tensor<2x2x384x64xf16>) -> (tensor<2x2x384x64xf16>, tensor<2x2x384x64xf16>, tensor<2x2x384x64xf16>)
  return %dq, %dk, %dv : tensor<2x2x384x64xf16>, tensor<2x2x384x64xf16>, tensor<2x2x384x64xf16>
}

// An odd number of tiles, so that one consumer has none.
func.func @b64_d128(%q: tensor<1x1x448x128xf16>, %k: tensor<1x1x448x128xf16>, %v: tensor<1x1x448x128xf16>, %out: tensor<1x1x448x128xf16>, %lse: tensor<1x1x448xf32>, %dout: tensor<1x1x448x128xf16>) -> (tensor<1x1x448x128xf16>, tensor<1x1x448x128xf16>, tensor<1x1x448x128xf16>) {
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#b) {scale = 0.0625} : (tensor<1x1x448x128xf16>, tensor<1x1x448x128xf16>, tensor<1x1x448x128xf16>, tensor<1x1x448x128xf16>, tensor<1x1x448xf32>, tensor<1x1x448x128xf16>) -> (tensor<1x1x448x128xf16>, tensor<1x1x448x128xf16>, tensor<1x1x448x128xf16>)
  return %dq, %dk, %dv : tensor<1x1x448x128xf16>, tensor<1x1x448x128xf16>, tensor<1x1x448x128xf16>
}

// Rows and columns without a block, and the gradient of lse.
func.func @b64_d64(%q: tensor<1x3x448x64xbf16>, %k: tensor<1x3x448x64xbf16>, %v: tensor<1x3x448x64xbf16>, %out: tensor<1x3x448x64xbf16>, %lse: tensor<1x3x448xf32>, %dout: tensor<1x3x448x64xbf16>, %dlse: tensor<1x3x448xf32>) -> (tensor<1x3x448x64xbf16>, tensor<1x3x448x64xbf16>, tensor<1x3x448x64xbf16>) {
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout dlse(%dlse) layout(#c) {scale = 0.0625} : (tensor<1x3x448x64xbf16>, tensor<1x3x448x64xbf16>, tensor<1x3x448x64xbf16>, tensor<1x3x448x64xbf16>, tensor<1x3x448xf32>, tensor<1x3x448x64xbf16>, tensor<1x3x448xf32>) -> (tensor<1x3x448x64xbf16>, tensor<1x3x448x64xbf16>, tensor<1x3x448x64xbf16>)
  return %dq, %dk, %dv : tensor<1x3x448x64xbf16>, tensor<1x3x448x64xbf16>, tensor<1x3x448x64xbf16>
}

// Elements above the diagonal.
func.func @causal_b128(%q: tensor<1x2x512x128xbf16>, %k: tensor<1x2x512x128xbf16>, %v: tensor<1x2x512x128xbf16>, %dout: tensor<1x2x512x128xbf16>) -> (tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#causal) {causal, scale = 0.0625} : (tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>) -> (tensor<1x2x512x128xbf16>, tensor<1x2x512xf32>)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#causal) {causal, scale = 0.0625} : (tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>, tensor<1x2x512xf32>, tensor<1x2x512x128xbf16>) -> (tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>)
  return %dq, %dk, %dv : tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>
}

// Elements above the diagonal, in smaller blocks.
func.func @causal_b64(%q: tensor<1x1x320x64xf16>, %k: tensor<1x1x320x64xf16>, %v: tensor<1x1x320x64xf16>, %out: tensor<1x1x320x64xf16>, %lse: tensor<1x1x320xf32>, %dout: tensor<1x1x320x64xf16>) -> (tensor<1x1x320x64xf16>, tensor<1x1x320x64xf16>, tensor<1x1x320x64xf16>) {
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#causal64) {causal, scale = 0.0625} : (tensor<1x1x320x64xf16>, tensor<1x1x320x64xf16>, tensor<1x1x320x64xf16>, tensor<1x1x320x64xf16>, tensor<1x1x320xf32>, tensor<1x1x320x64xf16>) -> (tensor<1x1x320x64xf16>, tensor<1x1x320x64xf16>, tensor<1x1x320x64xf16>)
  return %dq, %dk, %dv : tensor<1x1x320x64xf16>, tensor<1x1x320x64xf16>, tensor<1x1x320x64xf16>
}

// More tiles than consumers, with more steps than the ring has stages.
func.func @many_tiles(%q: tensor<1x40x1024x64xbf16>, %k: tensor<1x40x1024x64xbf16>, %v: tensor<1x40x1024x64xbf16>, %out: tensor<1x40x1024x64xbf16>, %lse: tensor<1x40x1024xf32>, %dout: tensor<1x40x1024x64xbf16>) -> (tensor<1x40x1024x64xbf16>, tensor<1x40x1024x64xbf16>, tensor<1x40x1024x64xbf16>) {
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#long) {scale = 0.0625} : (tensor<1x40x1024x64xbf16>, tensor<1x40x1024x64xbf16>, tensor<1x40x1024x64xbf16>, tensor<1x40x1024x64xbf16>, tensor<1x40x1024xf32>, tensor<1x40x1024x64xbf16>) -> (tensor<1x40x1024x64xbf16>, tensor<1x40x1024x64xbf16>, tensor<1x40x1024x64xbf16>)
  return %dq, %dk, %dv : tensor<1x40x1024x64xbf16>, tensor<1x40x1024x64xbf16>, tensor<1x40x1024x64xbf16>
}

// Head dimensions that are no multiple of 64, and v narrower than k; more keys than queries.
func.func @narrow(%q: tensor<1x2x256x80xf16>, %k: tensor<1x2x512x80xf16>, %v: tensor<1x2x512x40xf16>, %out: tensor<1x2x256x40xf16>, %lse: tensor<1x2x256xf32>, %dout: tensor<1x2x256x40xf16>) -> (tensor<1x2x256x80xf16>, tensor<1x2x512x80xf16>, tensor<1x2x512x40xf16>) {
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#wide) {scale = 0.0625} : (tensor<1x2x256x80xf16>, tensor<1x2x512x80xf16>, tensor<1x2x512x40xf16>, tensor<1x2x256x40xf16>, tensor<1x2x256xf32>, tensor<1x2x256x40xf16>) -> (tensor<1x2x256x80xf16>, tensor<1x2x512x80xf16>, tensor<1x2x512x40xf16>)
  return %dq, %dk, %dv : tensor<1x2x256x80xf16>, tensor<1x2x512x80xf16>, tensor<1x2x512x40xf16>
}

// The result of attention and its gradient.
func.func @chain(%q: tensor<1x2x512x64xbf16>, %k: tensor<1x2x512x64xbf16>, %v: tensor<1x2x512x128xbf16>, %dout: tensor<1x2x512x128xbf16>, %dlse: tensor<1x2x512xf32>) -> (tensor<1x2x512x64xbf16>, tensor<1x2x512x64xbf16>, tensor<1x2x512x128xbf16>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#a) {scale = 0.125} : (tensor<1x2x512x64xbf16>, tensor<1x2x512x64xbf16>, tensor<1x2x512x128xbf16>) -> (tensor<1x2x512x128xbf16>, tensor<1x2x512xf32>)
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout dlse(%dlse) layout(#a) {scale = 0.125} : (tensor<1x2x512x64xbf16>, tensor<1x2x512x64xbf16>, tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>, tensor<1x2x512xf32>, tensor<1x2x512x128xbf16>, tensor<1x2x512xf32>) -> (tensor<1x2x512x64xbf16>, tensor<1x2x512x64xbf16>, tensor<1x2x512x128xbf16>)
  return %dq, %dk, %dv : tensor<1x2x512x64xbf16>, tensor<1x2x512x64xbf16>, tensor<1x2x512x128xbf16>
}

// NaN of row 100 of v reaches dq and dk of the queries that take it, and no others.
func.func @nan_above(%q: tensor<1x1x128x64xf16>, %k: tensor<1x1x128x64xf16>, %v: tensor<1x1x128x64xf16> {blocksparse.value = dense<[[-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [0x7E00], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0]]> : tensor<128x1xf16>}, %out: tensor<1x1x128x64xf16>, %lse: tensor<1x1x128xf32>, %dout: tensor<1x1x128x64xf16>) -> (tensor<1x1x128x64xf16>, tensor<1x1x128x64xf16>, tensor<1x1x128x64xf16>) {
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#one) {causal, scale = 0.0625} : (tensor<1x1x128x64xf16>, tensor<1x1x128x64xf16>, tensor<1x1x128x64xf16>, tensor<1x1x128x64xf16>, tensor<1x1x128xf32>, tensor<1x1x128x64xf16>) -> (tensor<1x1x128x64xf16>, tensor<1x1x128x64xf16>, tensor<1x1x128x64xf16>)
  return %dq, %dk, %dv : tensor<1x1x128x64xf16>, tensor<1x1x128x64xf16>, tensor<1x1x128x64xf16>
}

// NaN of row 20 of q reaches dk and dv of keys up to 20.
func.func @nan_query(%q: tensor<1x1x128x64xf16> {blocksparse.value = dense<[[-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [0x7E00], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0]]> : tensor<128x1xf16>}, %k: tensor<1x1x128x64xf16>, %v: tensor<1x1x128x64xf16>, %out: tensor<1x1x128x64xf16>, %lse: tensor<1x1x128xf32>, %dout: tensor<1x1x128x64xf16>) -> (tensor<1x1x128x64xf16>, tensor<1x1x128x64xf16>, tensor<1x1x128x64xf16>) {
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#one) {causal, scale = 0.0625} : (tensor<1x1x128x64xf16>, tensor<1x1x128x64xf16>, tensor<1x1x128x64xf16>, tensor<1x1x128x64xf16>, tensor<1x1x128xf32>, tensor<1x1x128x64xf16>) -> (tensor<1x1x128x64xf16>, tensor<1x1x128x64xf16>, tensor<1x1x128x64xf16>)
  return %dq, %dk, %dv : tensor<1x1x128x64xf16>, tensor<1x1x128x64xf16>, tensor<1x1x128x64xf16>
}

// The smallest blocks; strided operands are left to scalar kernels.
func.func @small(%q: tensor<1x1x128x24xf16>, %k: tensor<1x1x128x24xf16>, %v: tensor<1x1x128x16xf16>, %out: tensor<1x1x128x16xf16>, %lse: tensor<1x1x128xf32>, %dout: tensor<1x1x128x16xf16>, %dlse: tensor<1x1x128xf32>) -> (tensor<1x1x128x24xf16>, tensor<1x1x128x24xf16>, tensor<1x1x128x16xf16>) {
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout dlse(%dlse) layout(#small) {causal, scale = 0.0625} : (tensor<1x1x128x24xf16>, tensor<1x1x128x24xf16>, tensor<1x1x128x16xf16>, tensor<1x1x128x16xf16>, tensor<1x1x128xf32>, tensor<1x1x128x16xf16>, tensor<1x1x128xf32>) -> (tensor<1x1x128x24xf16>, tensor<1x1x128x24xf16>, tensor<1x1x128x16xf16>)
  return %dq, %dk, %dv : tensor<1x1x128x24xf16>, tensor<1x1x128x24xf16>, tensor<1x1x128x16xf16>
}
