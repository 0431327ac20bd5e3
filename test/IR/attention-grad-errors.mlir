// RUN: blocksparse-opt %s -verify-diagnostics -split-input-file

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c8_out(%q: tensor<4x32x8xf32>, %k: tensor<4x32x8xf32>, %v: tensor<4x32x8xf32>, %o: tensor<4x32x7xf32>, %l: tensor<4x32xf32>, %d: tensor<4x32x8xf32>) {
  // expected-error @below {{expects out of shape 4x32x8, but got 4x32x7}}
  %0:3 = blocksparse.attention_grad %q, %k, %v, %o, %l, %d layout(#layout) : (tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32x7xf32>, tensor<4x32xf32>, tensor<4x32x8xf32>) -> (tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32x8xf32>)
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c8_dout(%q: tensor<4x32x8xf32>, %k: tensor<4x32x8xf32>, %v: tensor<4x32x8xf32>, %o: tensor<4x32x8xf32>, %l: tensor<4x32xf32>, %d: tensor<32x8xf32>) {
  // expected-error @below {{expects dout of shape 4x32x8, but got 32x8}}
  %0:3 = blocksparse.attention_grad %q, %k, %v, %o, %l, %d layout(#layout) : (tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32xf32>, tensor<32x8xf32>) -> (tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32x8xf32>)
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c26_lse(%q: tensor<4x32x8xf32>, %k: tensor<4x32x8xf32>, %v: tensor<4x32x8xf32>, %o: tensor<4x32x8xf32>, %l: tensor<4x32xf64>, %d: tensor<4x32x8xf32>) {
  // expected-error @below {{expects lse of element type 'f32', but got 'f64'}}
  %0:3 = blocksparse.attention_grad %q, %k, %v, %o, %l, %d layout(#layout) : (tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32xf64>, tensor<4x32x8xf32>) -> (tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32x8xf32>)
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c29_dk(%q: tensor<4x32x8xf32>, %k: tensor<4x32x8xf32>, %v: tensor<4x32x8xf32>, %o: tensor<4x32x8xf32>, %l: tensor<4x32xf32>, %d: tensor<4x32x8xf32>) {
  // expected-error @below {{expects dk of shape 4x32x8, but got 32x8}}
  %0:3 = blocksparse.attention_grad %q, %k, %v, %o, %l, %d layout(#layout) : (tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32xf32>, tensor<4x32x8xf32>) -> (tensor<4x32x8xf32>, tensor<32x8xf32>, tensor<4x32x8xf32>)
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c10_dv(%q: tensor<4x32x8xf32>, %k: tensor<4x32x8xf32>, %v: tensor<4x32x8xf32>, %o: tensor<4x32x8xf32>, %l: tensor<4x32xf32>, %d: tensor<4x32x8xf32>) {
  // expected-error @below {{expects a product of 'f32' to have element type 'f32', but got 'f16'}}
  %0:3 = blocksparse.attention_grad %q, %k, %v, %o, %l, %d layout(#layout) : (tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32xf32>, tensor<4x32x8xf32>) -> (tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32x8xf16>)
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c29_no_rpe(%q: tensor<4x32x8xf32>, %k: tensor<4x32x8xf32>, %v: tensor<4x32x8xf32>, %o: tensor<4x32x8xf32>, %l: tensor<4x32xf32>, %d: tensor<4x32x8xf32>) {
  // expected-error @below {{expects rpe where drpe is asked for, but got none}}
  %0:4 = blocksparse.attention_grad %q, %k, %v, %o, %l, %d layout(#layout) : (tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32xf32>, tensor<4x32x8xf32>) -> (tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<32x32xf32>)
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c29_drpe(%q: tensor<4x32x8xf32>, %k: tensor<4x32x8xf32>, %v: tensor<4x32x8xf32>, %o: tensor<4x32x8xf32>, %l: tensor<4x32xf32>, %d: tensor<4x32x8xf32>, %r: tensor<32x32xf32>) {
  // expected-error @below {{expects drpe of shape 32x32, but got 1x32}}
  %0:4 = blocksparse.attention_grad %q, %k, %v, %o, %l, %d rpe(%r) layout(#layout) : (tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32xf32>, tensor<4x32x8xf32>, tensor<32x32xf32>) -> (tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<1x32xf32>)
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c7_inner(%q: tensor<4x32x8xf32>, %k: tensor<4x32x7xf32>, %v: tensor<4x32x8xf32>, %o: tensor<4x32x8xf32>, %l: tensor<4x32xf32>, %d: tensor<4x32x8xf32>) {
  // expected-error @below {{expects k to have 8 rows, the columns of q, but got 7}}
  %0:3 = blocksparse.attention_grad %q, %k, %v, %o, %l, %d layout(#layout) : (tensor<4x32x8xf32>, tensor<4x32x7xf32>, tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32xf32>, tensor<4x32x8xf32>) -> (tensor<4x32x8xf32>, tensor<4x32x8xf32>, tensor<4x32x8xf32>)
  return
}

// -----

func.func @c9_dout(%q: tensor<4x32x8xf16>, %k: tensor<4x32x8xf16>, %v: tensor<4x32x8xf16>, %o: tensor<4x32x8xf32>, %l: tensor<4x32xf32>, %d: tensor<4x32x8xf32>) {
  // expected-error @below {{expects q and dout to have the same element type, but got 'f16' and 'f32'}}
  blocksparse.attention_grad %q, %k, %v, %o, %l, %d layout(#blocksparse.layout<16x16, grid 2x2, mask "10/11">)
    : (tensor<4x32x8xf16>, tensor<4x32x8xf16>, tensor<4x32x8xf16>, tensor<4x32x8xf32>, tensor<4x32xf32>, tensor<4x32x8xf32>) -> (tensor<4x32x8xf16>, tensor<4x32x8xf16>, tensor<4x32x8xf16>)
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c9_dout(%q: tensor<4x32x8xf16>, %k: tensor<4x32x8xf16>, %v: tensor<4x32x8xf16>, %o: tensor<4x32x8xf16>, %l: tensor<4x32xf32>, %d: tensor<4x32x8xf32>) {
  // expected-error @below {{expects q and dout to have the same element type, but got 'f16' and 'f32'}}
  %0:3 = blocksparse.attention_grad %q, %k, %v, %o, %l, %d layout(#layout) : (tensor<4x32x8xf16>, tensor<4x32x8xf16>, tensor<4x32x8xf16>, tensor<4x32x8xf16>, tensor<4x32xf32>, tensor<4x32x8xf32>) -> (tensor<4x32x8xf16>, tensor<4x32x8xf16>, tensor<4x32x8xf16>)
  return
}
