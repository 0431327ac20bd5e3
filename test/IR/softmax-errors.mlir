// RUN: blocksparse-opt %s -verify-diagnostics -split-input-file

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c21_integer(%x: tensor<32x32xi32, #layout>) {
  // expected-error @below {{expects x of a floating-point type, but got 'i32'}}
  %0 = blocksparse.softmax %x : (tensor<32x32xi32, #layout>) -> tensor<32x32xi32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
#other = #blocksparse.layout<16x16, grid 2x2, dense>
func.func @c27_pattern(%x: tensor<2x4x32x32xf32, #layout>) {
  // expected-error @below {{expects y of the shape and pattern of x, 'tensor<2x4x32x32xf32, #blocksparse.layout<16x16, grid 2x2, mask "10/11">>', but got 'tensor<2x4x32x32xf32, #blocksparse.layout<16x16, grid 2x2, dense>>'}}
  %0 = blocksparse.softmax %x : (tensor<2x4x32x32xf32, #layout>) -> tensor<2x4x32x32xf32, #other>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c27_shape(%x: tensor<2x4x32x32xf32, #layout>) {
  // expected-error @below {{expects y of the shape and pattern of x, 'tensor<2x4x32x32xf32, #blocksparse.layout<16x16, grid 2x2, mask "10/11">>', but got 'tensor<4x32x32xf32, #blocksparse.layout<16x16, grid 2x2, mask "10/11">>'}}
  %0 = blocksparse.softmax %x : (tensor<2x4x32x32xf32, #layout>) -> tensor<4x32x32xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c22_rpe(%x: tensor<2x4x32x32xf32, #layout>, %r: tensor<3x32x32xf32>) {
  // expected-error @below {{expects rpe to broadcast to 2x4x32x32, but got 3x32x32}}
  %0 = blocksparse.softmax %x rpe(%r) : (tensor<2x4x32x32xf32, #layout>, tensor<3x32x32xf32>) -> tensor<2x4x32x32xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c22_rpe_type(%x: tensor<2x4x32x32xf32, #layout>, %r: tensor<4x32x32xi8>) {
  // expected-error @below {{expects rpe of a floating-point type, but got 'i8'}}
  %0 = blocksparse.softmax %x rpe(%r) : (tensor<2x4x32x32xf32, #layout>, tensor<4x32x32xi8>) -> tensor<2x4x32x32xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c23_key_padding_mask(%x: tensor<2x4x32x32xf32, #layout>, %r: tensor<31xf32>) {
  // expected-error @below {{expects key_padding_mask of shape 32 or 2x32, but got 31}}
  %0 = blocksparse.softmax %x key_padding_mask(%r) : (tensor<2x4x32x32xf32, #layout>, tensor<31xf32>) -> tensor<2x4x32x32xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c23_batch(%x: tensor<2x4x32x32xf32, #layout>, %r: tensor<3x32xf32>) {
  // expected-error @below {{expects key_padding_mask of shape 32 or 2x32, but got 3x32}}
  %0 = blocksparse.softmax %x key_padding_mask(%r) : (tensor<2x4x32x32xf32, #layout>, tensor<3x32xf32>) -> tensor<2x4x32x32xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c24_attention_mask(%x: tensor<2x4x32x32xf32, #layout>, %r: tensor<32x31xf32>) {
  // expected-error @below {{expects attention_mask to broadcast to 2x4x32x32, but got 32x31}}
  %0 = blocksparse.softmax %x attention_mask(%r) : (tensor<2x4x32x32xf32, #layout>, tensor<32x31xf32>) -> tensor<2x4x32x32xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c25_additive(%x: tensor<2x4x32x32xf32, #layout>, %r: tensor<32x32xi8>) {
  // expected-error @below {{expects attention_mask of a floating-point type in the mode add, or the mode mul, but got 'i8'}}
  %0 = blocksparse.softmax %x attention_mask(%r) : (tensor<2x4x32x32xf32, #layout>, tensor<32x32xi8>) -> tensor<2x4x32x32xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c25_additive_padding(%x: tensor<2x4x32x32xf32, #layout>, %r: tensor<32xi32>) {
  // expected-error @below {{expects key_padding_mask of a floating-point type in the mode add, or the mode mul, but got 'i32'}}
  %0 = blocksparse.softmax %x key_padding_mask(%r) : (tensor<2x4x32x32xf32, #layout>, tensor<32xi32>) -> tensor<2x4x32x32xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c26_shape(%x: tensor<2x4x32x32xf32, #layout>) {
  // expected-error @below {{expects lse of shape 2x4x32, but got 2x4x32x32}}
  %0:2 = blocksparse.softmax %x : (tensor<2x4x32x32xf32, #layout>) -> (tensor<2x4x32x32xf32, #layout>, tensor<2x4x32x32xf32>)
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c26_type(%x: tensor<4x32x32xf16, #layout>) {
  // expected-error @below {{expects lse of element type 'f32', but got 'f16'}}
  %0:2 = blocksparse.softmax %x : (tensor<4x32x32xf16, #layout>) -> (tensor<4x32x32xf16, #layout>, tensor<4x32xf16>)
  return
}

// -----

// A boolean mask has no meaning as a summand.
#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c25_boolean(%x: tensor<32x32xf32, #layout>, %m: tensor<32x32xi1>) {
  // expected-error @below {{expects attention_mask of a floating-point type in the mode add, or the mode mul, but got 'i1'}}
  %0 = blocksparse.softmax %x attention_mask(%m) : (tensor<32x32xf32, #layout>, tensor<32x32xi1>) -> tensor<32x32xf32, #layout>
  return
}

// -----

// The error about an element type names the operand and the types that it may have.
#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @mask_of_i64(%x: tensor<32x32xf32, #layout>, %m: tensor<32xi64>) {
  // expected-error @below {{operand #1 must be dense tensor `key_padding_mask` of i1, f16, bf16, f32, f64, i8, i32, f8E4M3FN or f8E5M2, but got 'tensor<32xi64>'}}
  %0 = blocksparse.softmax %x key_padding_mask(%m) {key_padding_mask_mode = #blocksparse.mask_mode<mul>} : (tensor<32x32xf32, #layout>, tensor<32xi64>) -> tensor<32x32xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @rpe_of_i1(%x: tensor<32x32xf32, #layout>, %rpe: tensor<32x32xi1>) {
  // expected-error @below {{operand #1 must be dense tensor `rpe` of f16, bf16, f32, f64, i8, i32, f8E4M3FN or f8E5M2, but got 'tensor<32x32xi1>'}}
  %0 = blocksparse.softmax %x rpe(%rpe) : (tensor<32x32xf32, #layout>, tensor<32x32xi1>) -> tensor<32x32xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c26_known_shape(%x: tensor<4x32x32xf16, #layout>, %lse: tensor<32xf32>) {
  // expected-error @below {{expects known_lse of shape 4x32, but got 32}}
  %0 = blocksparse.softmax %x known_lse(%lse) : (tensor<4x32x32xf16, #layout>, tensor<32xf32>) -> tensor<4x32x32xf16, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c26_known_type(%x: tensor<4x32x32xf16, #layout>, %lse: tensor<4x32xf16>) {
  // expected-error @below {{expects known_lse of element type 'f32', but got 'f16'}}
  %0 = blocksparse.softmax %x known_lse(%lse) : (tensor<4x32x32xf16, #layout>, tensor<4x32xf16>) -> tensor<4x32x32xf16, #layout>
  return
}

// -----

// A mode without its mask would be ignored.
#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c25_mode_alone(%x: tensor<32x32xf32, #layout>) {
  // expected-error @below {{expects key_padding_mask for its mode mul, but got none}}
  %0 = blocksparse.softmax %x {key_padding_mask_mode = #blocksparse.mask_mode<mul>} : (tensor<32x32xf32, #layout>) -> tensor<32x32xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c25_attention_mode_alone(%q: tensor<32x8xf32>, %m: tensor<32xf32>) {
  // expected-error @below {{expects attention_mask for its mode mul, but got none}}
  %0, %1 = blocksparse.attention %q, %q, %q key_padding_mask(%m) layout(#layout) {attention_mask_mode = #blocksparse.mask_mode<mul>} : (tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32xf32>) -> (tensor<32x8xf32>, tensor<32xf32>)
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c58_offset(%x: tensor<2x4x32x32xf32, #layout>) {
  // expected-error @below {{expects causal or window with causal_offset 3, but got neither}}
  %0 = blocksparse.softmax %x {causal_offset = 3} : (tensor<2x4x32x32xf32, #layout>) -> tensor<2x4x32x32xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c50_count(%x: tensor<2x4x32x32xf32, #layout>) {
  // expected-error @below {{expects window of 2 sizes, but got 1}}
  %0 = blocksparse.softmax %x {window = array<i64: 3>} : (tensor<2x4x32x32xf32, #layout>) -> tensor<2x4x32x32xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c50_size(%x: tensor<2x4x32x32xf32, #layout>) {
  // expected-error @below {{expects sizes of window from -1 to 2147483647, but got -2}}
  %0 = blocksparse.softmax %x {window = array<i64: 3, -2>} : (tensor<2x4x32x32xf32, #layout>) -> tensor<2x4x32x32xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c51_batches(%x: tensor<2x4x32x32xf32, #layout>, %l: tensor<3xi32>) {
  // expected-error @below {{expects key_lengths of shape 1 or 2, but got 3}}
  %0 = blocksparse.softmax %x key_lengths(%l) : (tensor<2x4x32x32xf32, #layout>, tensor<3xi32>) -> tensor<2x4x32x32xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c51_rank(%x: tensor<2x4x32x32xf32, #layout>, %l: tensor<2x1xi32>) {
  // expected-error @below {{expects query_lengths of shape 1 or 2, but got 2x1}}
  %0 = blocksparse.softmax %x query_lengths(%l) : (tensor<2x4x32x32xf32, #layout>, tensor<2x1xi32>) -> tensor<2x4x32x32xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c52_rows(%x: tensor<2x4x32x32xf32, #layout>, %q: tensor<31xi32>, %k: tensor<32xi32>) {
  // expected-error @below {{expects query_segments of shape 32 or 2x32, but got 31}}
  %0 = blocksparse.softmax %x segment_ids(%q, %k) : (tensor<2x4x32x32xf32, #layout>, tensor<31xi32>, tensor<32xi32>) -> tensor<2x4x32x32xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c52_columns(%x: tensor<2x4x32x32xf32, #layout>, %q: tensor<2x32xi32>, %k: tensor<3x32xi32>) {
  // expected-error @below {{expects key_segments of shape 32 or 2x32, but got 3x32}}
  %0 = blocksparse.softmax %x segment_ids(%q, %k) : (tensor<2x4x32x32xf32, #layout>, tensor<2x32xi32>, tensor<3x32xi32>) -> tensor<2x4x32x32xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c52_alone(%x: tensor<2x4x32x32xf32, #layout>, %q: tensor<32xi32>) {
  // expected-error @below {{expects query_segments and key_segments together, but got query_segments alone}}
  %0 = "blocksparse.softmax"(%x, %q) <{operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 1, 0, 0>}> : (tensor<2x4x32x32xf32, #layout>, tensor<32xi32>) -> tensor<2x4x32x32xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c58_large(%x: tensor<2x4x32x32xf32, #layout>) {
  // expected-error @below {{expects causal_offset from -2147483648 to 2147483647, but got 2147483648}}
  %0 = blocksparse.softmax %x {causal, causal_offset = 2147483648} : (tensor<2x4x32x32xf32, #layout>) -> tensor<2x4x32x32xf32, #layout>
  return
}
