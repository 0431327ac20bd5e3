// RUN: blocksparse-opt %s -verify-diagnostics -split-input-file

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c5_rank(%q: tensor<4x32x8xf32>, %k: tensor<4x32x8xf32>, %v: tensor<8xf32>) {
  // expected-error @below {{expects v of rank 2 to 4, but got rank 1}}
  %0:2 = blocksparse.attention %q, %k, %v layout(#layout) : (tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<8xf32>) -> (tensor<4x32x8xf32>, tensor<4x32xf32>)
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c7_inner(%q: tensor<4x32x8xf32>, %k: tensor<4x32x7xf32>, %v: tensor<4x32x8xf32>) {
  // expected-error @below {{expects k to have 8 rows, the columns of q, but got 7}}
  %0:2 = blocksparse.attention %q, %k, %v layout(#layout) : (tensor<4x32x8xf32>, tensor<4x32x7xf32>, tensor<4x32x8xf32>) -> (tensor<4x32x8xf32>, tensor<4x32xf32>)
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c7_values(%q: tensor<4x32x8xf32>, %k: tensor<4x32x8xf32>, %v: tensor<4x31x8xf32>) {
  // expected-error @below {{expects v to have 32 rows, as k, but got 31}}
  %0:2 = blocksparse.attention %q, %k, %v layout(#layout) : (tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x31x8xf32>) -> (tensor<4x32x8xf32>, tensor<4x32xf32>)
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c6_batches(%q: tensor<2x4x32x8xf32>, %k: tensor<4x32x8xf32>, %v: tensor<3x4x32x8xf32>) {
  // expected-error @below {{expects leading dimensions that are equal or 1, but got 2x4 and 3x4}}
  %0:2 = blocksparse.attention %q, %k, %v layout(#layout) : (tensor<2x4x32x8xf32>, tensor<4x32x8xf32>, tensor<3x4x32x8xf32>) -> (tensor<2x4x32x8xf32>, tensor<2x4x32xf32>)
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2x2, dense>
func.func @c3_layout_heads(%q: tensor<4x32x8xf32>, %k: tensor<4x32x8xf32>, %v: tensor<4x32x8xf32>) {
  // expected-error @below {{expects leading dimensions that are equal or 1, but got 4 and 2}}
  %0:2 = blocksparse.attention %q, %k, %v layout(#layout) : (tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32x8xf32>) -> (tensor<4x32x8xf32>, tensor<4x32xf32>)
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 3x2, dense>
func.func @c28_grid(%q: tensor<4x32x8xf32>, %k: tensor<4x32x8xf32>, %v: tensor<4x32x8xf32>) {
  // expected-error @below {{expects a grid of 2x2 blocks to cover 32x32, but got 3x2}}
  %0:2 = blocksparse.attention %q, %k, %v layout(#layout) : (tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32x8xf32>) -> (tensor<4x32x8xf32>, tensor<4x32xf32>)
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c28_static(%q: tensor<4x?x8xf32>, %k: tensor<4x32x8xf32>, %v: tensor<4x32x8xf32>) {
  // expected-error @below {{expects static rows of q and k with a static layout, but got a dynamic size}}
  %0:2 = blocksparse.attention %q, %k, %v layout(#layout) : (tensor<4x?x8xf32>, tensor<4x32x8xf32>, tensor<4x32x8xf32>) -> (tensor<4x32x8xf32>, tensor<4x32xf32>)
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c9_values(%q: tensor<4x32x8xf32>, %k: tensor<4x32x8xf32>, %v: tensor<4x32x8xf16>) {
  // expected-error @below {{expects q and v to have the same element type, but got 'f32' and 'f16'}}
  %0:2 = blocksparse.attention %q, %k, %v layout(#layout) : (tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32x8xf16>) -> (tensor<4x32x8xf32>, tensor<4x32xf32>)
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c21_integer(%q: tensor<4x32x8xi8>, %k: tensor<4x32x8xi8>, %v: tensor<4x32x8xi8>) {
  // expected-error @below {{expects q of a floating-point type, but got 'i8'}}
  %0:2 = blocksparse.attention %q, %k, %v layout(#layout) : (tensor<4x32x8xi8>, tensor<4x32x8xi8>, tensor<4x32x8xi8>) -> (tensor<4x32x8xi32>, tensor<4x32xf32>)
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c8_out(%q: tensor<4x32x8xf32>, %k: tensor<4x32x8xf32>, %v: tensor<4x32x8xf32>) {
  // expected-error @below {{expects out of shape 4x32x8, but got 4x32x7}}
  %0:2 = blocksparse.attention %q, %k, %v layout(#layout) : (tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32x8xf32>) -> (tensor<4x32x7xf32>, tensor<4x32xf32>)
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c10_out(%q: tensor<4x32x8xf32>, %k: tensor<4x32x8xf32>, %v: tensor<4x32x8xf32>) {
  // expected-error @below {{expects a product of 'f32' to have element type 'f32', but got 'f16'}}
  %0:2 = blocksparse.attention %q, %k, %v layout(#layout) : (tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32x8xf32>) -> (tensor<4x32x8xf16>, tensor<4x32xf32>)
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c26_lse(%q: tensor<4x32x8xf32>, %k: tensor<4x32x8xf32>, %v: tensor<4x32x8xf32>) {
  // expected-error @below {{expects lse of shape 4x32, but got 32}}
  %0:2 = blocksparse.attention %q, %k, %v layout(#layout) : (tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32x8xf32>) -> (tensor<4x32x8xf32>, tensor<32xf32>)
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c22_rpe(%q: tensor<4x32x8xf32>, %k: tensor<4x32x8xf32>, %v: tensor<4x32x8xf32>, %r: tensor<32x8xf32>) {
  // expected-error @below {{expects rpe to broadcast to 4x32x32, but got 32x8}}
  %0:2 = blocksparse.attention %q, %k, %v rpe(%r) layout(#layout) : (tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<32x8xf32>) -> (tensor<4x32x8xf32>, tensor<4x32xf32>)
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, csr dense_resource<nowhere> : tensor<4xi32>>
func.func @c4_resource(%q: tensor<4x32x8xf32>, %k: tensor<4x32x8xf32>, %v: tensor<4x32x8xf32>) {
  // expected-error @below {{expects resource 'nowhere' to be defined, but got none in the layout of the scores}}
  %0:2 = blocksparse.attention %q, %k, %v layout(#layout) : (tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32x8xf32>) -> (tensor<4x32x8xf32>, tensor<4x32xf32>)
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c53_keys(%q: tensor<4x32x8xf32>, %k: tensor<3x32x8xf32>, %v: tensor<4x32x8xf32>) {
  // expected-error @below {{expects heads of q that are a multiple of the 3 heads of k, but got 4}}
  %o, %l = blocksparse.attention %q, %k, %v layout(#layout) : (tensor<4x32x8xf32>, tensor<3x32x8xf32>, tensor<4x32x8xf32>) -> (tensor<4x32x8xf32>, tensor<4x32xf32>)
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c53_values(%q: tensor<4x32x8xf32>, %k: tensor<4x32x8xf32>, %v: tensor<3x32x8xf32>) {
  // expected-error @below {{expects heads of q that are a multiple of the 3 heads of v, but got 4}}
  %o, %l = blocksparse.attention %q, %k, %v layout(#layout) : (tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<3x32x8xf32>) -> (tensor<4x32x8xf32>, tensor<4x32xf32>)
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c54_zero(%q: tensor<4x32x8xf32>, %k: tensor<4x32x8xf32>, %v: tensor<4x32x8xf32>) {
  // expected-error @below {{expects a finite soft_cap above 0, but got 0}}
  %o, %l = blocksparse.attention %q, %k, %v layout(#layout) {soft_cap = 0.0} : (tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32x8xf32>) -> (tensor<4x32x8xf32>, tensor<4x32xf32>)
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c54_infinite(%q: tensor<4x32x8xf32>, %k: tensor<4x32x8xf32>, %v: tensor<4x32x8xf32>) {
  // expected-error @below {{expects a finite soft_cap above 0, but got INF}}
  %o, %l = blocksparse.attention %q, %k, %v layout(#layout) {soft_cap = 0x7FF0000000000000 : f64} : (tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32x8xf32>) -> (tensor<4x32x8xf32>, tensor<4x32xf32>)
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c55_element(%q: tensor<4x32x8xf32>, %k: tensor<4x32x8xf32>, %v: tensor<4x32x8xf32>) {
  // expected-error @below {{expects score_element 'f32', but got 'f16'}}
  %o, %l = blocksparse.attention %q, %k, %v layout(#layout) {score_element = f16} : (tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32x8xf32>) -> (tensor<4x32x8xf32>, tensor<4x32xf32>)
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c56_heads(%q: tensor<4x32x8xf32>, %k: tensor<4x32x8xf32>, %v: tensor<4x32x8xf32>, %s: tensor<3xf32>) {
  // expected-error @below {{expects sink of shape 4, but got 3}}
  %o, %l = blocksparse.attention %q, %k, %v sink(%s) layout(#layout) : (tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<3xf32>) -> (tensor<4x32x8xf32>, tensor<4x32xf32>)
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c56_type(%q: tensor<4x32x8xf32>, %k: tensor<4x32x8xf32>, %v: tensor<4x32x8xf32>, %s: tensor<4xf16>) {
  // expected-error @below {{expects sink of element type 'f32', but got 'f16'}}
  %o, %l = blocksparse.attention %q, %k, %v sink(%s) layout(#layout) : (tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4xf16>) -> (tensor<4x32x8xf32>, tensor<4x32xf32>)
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c58_offset(%q: tensor<4x32x8xf32>, %k: tensor<4x32x8xf32>, %v: tensor<4x32x8xf32>) {
  // expected-error @below {{expects causal or window with causal_offset -1, but got neither}}
  %o, %l = blocksparse.attention %q, %k, %v layout(#layout) {causal_offset = -1} : (tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32x8xf32>) -> (tensor<4x32x8xf32>, tensor<4x32xf32>)
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c51_batches(%q: tensor<4x32x8xf32>, %k: tensor<4x32x8xf32>, %v: tensor<4x32x8xf32>, %s: tensor<4xi32>) {
  // expected-error @below {{expects key_lengths of shape 1 or 1, but got 4}}
  %o, %l = blocksparse.attention %q, %k, %v key_lengths(%s) layout(#layout) : (tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4xi32>) -> (tensor<4x32x8xf32>, tensor<4x32xf32>)
  return
}
