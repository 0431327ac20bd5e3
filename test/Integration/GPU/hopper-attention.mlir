// Attention of 16-bit floats in one kernel.
// TARGET: cuda:sm_90a
// REQUIRES: gpu || simulator
// RUN: %if gpu %{ blocksparse-run %s --all-functions --check --poison --repeat-check --device=cuda %}
// RUN: %if simulator %{ blocksparse-run %s --function=b128_d128,b128_d64,b64_d128,b64_d64,causal_b128,causal_b64,narrow,large_scores,dense,nan_above,nan_beside --check --poison --device=simulated --target=cuda:sm_90a --sim-seed=5 %}
// RUN: blocksparse-compile %s --target=cuda:sm_90a --stop-after=optimise | FileCheck %s --check-prefix=FUSED --implicit-check-not=blocksparse.softmax

// FUSED-COUNT-12: blocksparse.attention

#a = #blocksparse.layout<128x128, grid 4x4, mask "1011/0000/0111/1001">
#heads = #blocksparse.layout<128x128, grid 2x3x3, mask "101/010/111/000/110/001">
#b = #blocksparse.layout<64x64, grid 7x7, random(density = 0.5, seed = 3)>
#c = #blocksparse.layout<64x64, grid 7x7, mask "1000001/0000000/0110000/0000000/1000001/1111111/0110000">
#causal = #blocksparse.layout<128x128, grid 4x4, causal>
#causal64 = #blocksparse.layout<64x64, grid 5x5, causal>
#long = #blocksparse.layout<128x128, grid 8x8, random(density = 0.7, seed = 4)>
#dense = #blocksparse.layout<128x128, grid 4x4, dense>
#one = #blocksparse.layout<128x128, grid 1x1, dense>
#wide = #blocksparse.layout<64x128, grid 4x4, random(density = 0.6, seed = 5)>

// Two heads share a pattern; one block row is empty.
func.func @b128_d128(%q: tensor<1x2x512x128xbf16>, %k: tensor<1x2x512x128xbf16>, %v: tensor<1x2x512x128xbf16>) -> (tensor<1x2x512x128xbf16>, tensor<1x2x512xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#a) {scale = 0.125} : (tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>) -> (tensor<1x2x512x128xbf16>, tensor<1x2x512xf32>)
  return %out, %lse : tensor<1x2x512x128xbf16>, tensor<1x2x512xf32>
}

// A pattern for each head, and two batches.
func.func @b128_d64(%q: tensor<2x2x384x64xf16>, %k: tensor<2x2x384x64xf16>, %v: tensor<2x2x384x64xf16>) -> (tensor<2x2x384x64xf16>, tensor<2x2x384xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#heads) {scale = 0.125} : (tensor<2x2x384x64xf16>, tensor<2x2x384x64xf16>, tensor<2x2x384x64xf16>) -> (tensor<2x2x384x64xf16>, tensor<2x2x384xf32>)
  return %out, %lse : tensor<2x2x384x64xf16>, tensor<2x2x384xf32>
}

// Pairs of block rows; an odd number of blocks of keys, and of block rows.
func.func @b64_d128(%q: tensor<1x2x448x128xf16>, %k: tensor<1x2x448x128xf16>, %v: tensor<1x2x448x128xf16>) -> (tensor<1x2x448x128xf16>, tensor<1x2x448xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#b) {scale = 0.125} : (tensor<1x2x448x128xf16>, tensor<1x2x448x128xf16>, tensor<1x2x448x128xf16>) -> (tensor<1x2x448x128xf16>, tensor<1x2x448xf32>)
  return %out, %lse : tensor<1x2x448x128xf16>, tensor<1x2x448xf32>
}

// Rows without a block in pairs with others.
func.func @b64_d64(%q: tensor<1x3x448x64xbf16>, %k: tensor<1x3x448x64xbf16>, %v: tensor<1x3x448x64xbf16>) -> (tensor<1x3x448x64xbf16>, tensor<1x3x448xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#c) {scale = 0.125} : (tensor<1x3x448x64xbf16>, tensor<1x3x448x64xbf16>, tensor<1x3x448x64xbf16>) -> (tensor<1x3x448x64xbf16>, tensor<1x3x448xf32>)
  return %out, %lse : tensor<1x3x448x64xbf16>, tensor<1x3x448xf32>
}

// Elements above the diagonal.
func.func @causal_b128(%q: tensor<1x2x512x128xbf16>, %k: tensor<1x2x512x128xbf16>, %v: tensor<1x2x512x128xbf16>) -> (tensor<1x2x512x128xbf16>, tensor<1x2x512xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#causal) {causal, scale = 0.125} : (tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>, tensor<1x2x512x128xbf16>) -> (tensor<1x2x512x128xbf16>, tensor<1x2x512xf32>)
  return %out, %lse : tensor<1x2x512x128xbf16>, tensor<1x2x512xf32>
}

// The function repeats the test with pairs of block rows.
func.func @causal_b64(%q: tensor<1x1x320x64xf16>, %k: tensor<1x1x320x64xf16>, %v: tensor<1x1x320x64xf16>) -> (tensor<1x1x320x64xf16>, tensor<1x1x320xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#causal64) {causal, scale = 0.125} : (tensor<1x1x320x64xf16>, tensor<1x1x320x64xf16>, tensor<1x1x320x64xf16>) -> (tensor<1x1x320x64xf16>, tensor<1x1x320xf32>)
  return %out, %lse : tensor<1x1x320x64xf16>, tensor<1x1x320xf32>
}

// More tiles than CTAs, with more stages than the ring has.
func.func @many_tiles(%q: tensor<1x40x1024x64xbf16>, %k: tensor<1x40x1024x64xbf16>, %v: tensor<1x40x1024x64xbf16>) -> (tensor<1x40x1024x64xbf16>, tensor<1x40x1024xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#long) {scale = 0.125} : (tensor<1x40x1024x64xbf16>, tensor<1x40x1024x64xbf16>, tensor<1x40x1024x64xbf16>) -> (tensor<1x40x1024x64xbf16>, tensor<1x40x1024xf32>)
  return %out, %lse : tensor<1x40x1024x64xbf16>, tensor<1x40x1024xf32>
}

// Head dimensions that are no multiple of 64, and v narrower than k; more keys than queries.
func.func @narrow(%q: tensor<1x2x256x80xf16>, %k: tensor<1x2x512x80xf16>, %v: tensor<1x2x512x40xf16>) -> (tensor<1x2x256x40xf16>, tensor<1x2x256xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#wide) {scale = 0.125} : (tensor<1x2x256x80xf16>, tensor<1x2x512x80xf16>, tensor<1x2x512x40xf16>) -> (tensor<1x2x256x40xf16>, tensor<1x2x256xf32>)
  return %out, %lse : tensor<1x2x256x40xf16>, tensor<1x2x256xf32>
}

// Scores so large that the sums are scaled anew at many steps.
func.func @large_scores(%q: tensor<1x1x512x128xbf16>, %k: tensor<1x1x512x128xbf16>, %v: tensor<1x1x512x128xbf16>) -> (tensor<1x1x512x128xbf16>, tensor<1x1x512xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#a) {scale = 4.0} : (tensor<1x1x512x128xbf16>, tensor<1x1x512x128xbf16>, tensor<1x1x512x128xbf16>) -> (tensor<1x1x512x128xbf16>, tensor<1x1x512xf32>)
  return %out, %lse : tensor<1x1x512x128xbf16>, tensor<1x1x512xf32>
}

// Every block is stored.
func.func @dense(%q: tensor<1x2x512x64xbf16>, %k: tensor<1x2x512x64xbf16>, %v: tensor<1x2x512x64xbf16>) -> (tensor<1x2x512x64xbf16>, tensor<1x2x512xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#dense) {scale = 0.125} : (tensor<1x2x512x64xbf16>, tensor<1x2x512x64xbf16>, tensor<1x2x512x64xbf16>) -> (tensor<1x2x512x64xbf16>, tensor<1x2x512xf32>)
  return %out, %lse : tensor<1x2x512x64xbf16>, tensor<1x2x512xf32>
}

// Rows above 100 do not use NaN of row 100 of v.
func.func @nan_above(%q: tensor<1x1x128x64xf16>, %k: tensor<1x1x128x64xf16>, %v: tensor<1x1x128x64xf16> {blocksparse.value = dense<[[-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [0x7E00], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0]]> : tensor<128x1xf16>}) -> (tensor<1x1x128x64xf16>, tensor<1x1x128xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#one) {causal, scale = 0.125} : (tensor<1x1x128x64xf16>, tensor<1x1x128x64xf16>, tensor<1x1x128x64xf16>) -> (tensor<1x1x128x64xf16>, tensor<1x1x128xf32>)
  return %out, %lse : tensor<1x1x128x64xf16>, tensor<1x1x128xf32>
}

// Rows whose pair takes the block of NaN do not use it.
func.func @nan_beside(%q: tensor<1x1x448x64xbf16>, %k: tensor<1x1x448x64xbf16>, %v: tensor<1x1x448x64xbf16> {blocksparse.value = dense<[[-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [0x7FC0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0], [-1.0], [0.0], [1.0], [2.0]]> : tensor<448x1xbf16>}) -> (tensor<1x1x448x64xbf16>, tensor<1x1x448xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#c) {scale = 0.125} : (tensor<1x1x448x64xbf16>, tensor<1x1x448x64xbf16>, tensor<1x1x448x64xbf16>) -> (tensor<1x1x448x64xbf16>, tensor<1x1x448xf32>)
  return %out, %lse : tensor<1x1x448x64xbf16>, tensor<1x1x448xf32>
}
