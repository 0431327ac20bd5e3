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
func.func @c6_heads(%q: tensor<4x32x8xf32>, %k: tensor<4x32x8xf32>, %v: tensor<3x32x8xf32>) {
  // expected-error @below {{expects leading dimensions that are equal or 1, but got 4 and 3}}
  %0:2 = blocksparse.attention %q, %k, %v layout(#layout) : (tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<3x32x8xf32>) -> (tensor<4x32x8xf32>, tensor<4x32xf32>)
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
