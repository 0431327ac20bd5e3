// RUN: blocksparse-opt %s -verify-diagnostics -split-input-file

#big = #blocksparse.layout<16x16, grid 1x1, csr dense_resource<nowhere> : tensor<3xi32>>
func.func @c4_missing_resource(%a: tensor<16x16xf32, #big>, %b: tensor<16x4xf32>) {
  // expected-error @below {{expects resource 'nowhere' to be defined, but got none in the layout of a}}
  %0 = blocksparse.dsd %a, %b : (tensor<16x16xf32, #big>, tensor<16x4xf32>) -> tensor<16x4xf32>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c5_rank(%a: tensor<64x96xf32, #layout>, %b: tensor<96xf32>) {
  // expected-error @below {{expects b of rank 2 to 4, but got rank 1}}
  %0 = blocksparse.dsd %a, %b : (tensor<64x96xf32, #layout>, tensor<96xf32>) -> tensor<64x20xf32>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c5_rank_five(%a: tensor<64x96xf32, #layout>, %b: tensor<1x1x1x96x20xf32>) {
  // expected-error @below {{expects b of rank 2 to 4, but got rank 5}}
  %0 = blocksparse.dsd %a, %b : (tensor<64x96xf32, #layout>, tensor<1x1x1x96x20xf32>) -> tensor<64x20xf32>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c6_heads(%a: tensor<3x64x96xf32, #layout>, %b: tensor<2x96x20xf32>) {
  // expected-error @below {{expects leading dimensions that are equal or 1, but got 3 and 2}}
  %0 = blocksparse.dsd %a, %b : (tensor<3x64x96xf32, #layout>, tensor<2x96x20xf32>) -> tensor<3x64x20xf32>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c6_batch(%a: tensor<3x2x64x96xf32, #layout>, %b: tensor<4x2x96x20xf32>) {
  // expected-error @below {{expects leading dimensions that are equal or 1, but got 3x2 and 4x2}}
  %0 = blocksparse.dsd %a, %b : (tensor<3x2x64x96xf32, #layout>, tensor<4x2x96x20xf32>) -> tensor<3x2x64x20xf32>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c7_inner(%a: tensor<64x96xf32, #layout>, %b: tensor<95x20xf32>) {
  // expected-error @below {{expects b to have 96 rows, the columns of a, but got 95}}
  %0 = blocksparse.dsd %a, %b : (tensor<64x96xf32, #layout>, tensor<95x20xf32>) -> tensor<64x20xf32>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c7_inner_transposed(%a: tensor<64x96xf32, #layout>, %b: tensor<96x20xf32>) {
  // expected-error @below {{expects b to have 64 rows, the columns of a, but got 96}}
  %0 = blocksparse.dsd %a, %b {transpose_a} : (tensor<64x96xf32, #layout>, tensor<96x20xf32>) -> tensor<96x20xf32>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c8_result(%a: tensor<64x96xf32, #layout>, %b: tensor<96x20xf32>) {
  // expected-error @below {{expects a result of shape 64x20, but got 20x64}}
  %0 = blocksparse.dsd %a, %b : (tensor<64x96xf32, #layout>, tensor<96x20xf32>) -> tensor<20x64xf32>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c8_result_transposed(%a: tensor<64x96xf32, #layout>, %b: tensor<96x20xf32>) {
  // expected-error @below {{expects a result of shape 20x64, but got 64x20}}
  %0 = blocksparse.dsd %a, %b {transpose_out} : (tensor<64x96xf32, #layout>, tensor<96x20xf32>) -> tensor<64x20xf32>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c8_result_rank(%a: tensor<64x96xf32, #layout>, %b: tensor<2x96x20xf32>) {
  // expected-error @below {{expects a result of shape 2x64x20, but got 64x20}}
  %0 = blocksparse.dsd %a, %b : (tensor<64x96xf32, #layout>, tensor<2x96x20xf32>) -> tensor<64x20xf32>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c9_factors(%a: tensor<64x96xf32, #layout>, %b: tensor<96x20xf16>) {
  // expected-error @below {{expects a and b to have the same element type, but got 'f32' and 'f16'}}
  %0 = blocksparse.dsd %a, %b : (tensor<64x96xf32, #layout>, tensor<96x20xf16>) -> tensor<64x20xf32>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c9_integer(%a: tensor<64x96xi32, #layout>, %b: tensor<96x20xi32>) {
  // expected-error @below {{expects factors of a floating-point type or i8, but got 'i32'}}
  %0 = blocksparse.dsd %a, %b : (tensor<64x96xi32, #layout>, tensor<96x20xi32>) -> tensor<64x20xi32>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c10_i8(%a: tensor<64x96xi8, #layout>, %b: tensor<96x20xi8>) {
  // expected-error @below {{expects a product of 'i8' to have element type 'i32', but got 'i8'}}
  %0 = blocksparse.dsd %a, %b : (tensor<64x96xi8, #layout>, tensor<96x20xi8>) -> tensor<64x20xi8>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c10_narrowed(%a: tensor<64x96xf32, #layout>, %b: tensor<96x20xf32>) {
  // expected-error @below {{expects a product of 'f32' to have element type 'f32', but got 'f16'}}
  %0 = blocksparse.dsd %a, %b : (tensor<64x96xf32, #layout>, tensor<96x20xf32>) -> tensor<64x20xf16>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c10_half(%a: tensor<64x96xf16, #layout>, %b: tensor<96x20xf16>) {
  // expected-error @below {{expects a product of 'f16' to have element type 'f16' or 'f32', but got 'bf16'}}
  %0 = blocksparse.dsd %a, %b : (tensor<64x96xf16, #layout>, tensor<96x20xf16>) -> tensor<64x20xbf16>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c11_precision(%a: tensor<64x96xf16, #layout>, %b: tensor<96x20xf16>) {
  // expected-error @below {{expects precision ieee for factors of 'f16', but got tf32}}
  %0 = blocksparse.dsd %a, %b {precision = #blocksparse.precision<tf32>} : (tensor<64x96xf16, #layout>, tensor<96x20xf16>) -> tensor<64x20xf32>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c13_bias(%a: tensor<64x96xf32, #layout>, %b: tensor<96x20xf32>, %c: tensor<64xf32>) {
  // expected-error @below {{expects bias of shape 20, but got 64}}
  %0 = blocksparse.dsd %a, %b bias(%c) : (tensor<64x96xf32, #layout>, tensor<96x20xf32>, tensor<64xf32>) -> tensor<64x20xf32>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c13_bias_rank(%a: tensor<64x96xf32, #layout>, %b: tensor<96x20xf32>, %c: tensor<1x20xf32>) {
  // expected-error @below {{expects bias of shape 20, but got 1x20}}
  %0 = blocksparse.dsd %a, %b bias(%c) : (tensor<64x96xf32, #layout>, tensor<96x20xf32>, tensor<1x20xf32>) -> tensor<64x20xf32>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c13_bias_transposed(%a: tensor<64x96xf32, #layout>, %b: tensor<96x20xf32>, %c: tensor<20xf32>) {
  // expected-error @below {{expects bias of shape 64, but got 20}}
  %0 = blocksparse.dsd %a, %b bias(%c) {transpose_out} : (tensor<64x96xf32, #layout>, tensor<96x20xf32>, tensor<20xf32>) -> tensor<20x64xf32>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c13_bias_type(%a: tensor<64x96xf32, #layout>, %b: tensor<96x20xf32>, %c: tensor<20xf16>) {
  // expected-error @below {{expects bias of element type 'f32', but got 'f16'}}
  %0 = blocksparse.dsd %a, %b bias(%c) : (tensor<64x96xf32, #layout>, tensor<96x20xf32>, tensor<20xf16>) -> tensor<64x20xf32>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c14_residual(%a: tensor<64x96xf32, #layout>, %b: tensor<96x20xf32>, %c: tensor<2x64x20xf32>) {
  // expected-error @below {{expects residual to broadcast to 64x20, but got 2x64x20}}
  %0 = blocksparse.dsd %a, %b residual(%c) : (tensor<64x96xf32, #layout>, tensor<96x20xf32>, tensor<2x64x20xf32>) -> tensor<64x20xf32>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c14_residual_rank(%a: tensor<64x96xf32, #layout>, %b: tensor<96x20xf32>, %c: tensor<20xf32>) {
  // expected-error @below {{expects residual to broadcast to 64x20, but got 20}}
  %0 = blocksparse.dsd %a, %b residual(%c) : (tensor<64x96xf32, #layout>, tensor<96x20xf32>, tensor<20xf32>) -> tensor<64x20xf32>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c17_alpha(%a: tensor<64x96xi8, #layout>, %b: tensor<96x20xi8>) {
  // expected-error @below {{expects an integral alpha with factors of 'i8', but got 5.000000e-01}}
  %0 = blocksparse.dsd %a, %b {alpha = 0.5} : (tensor<64x96xi8, #layout>, tensor<96x20xi8>) -> tensor<64x20xi32>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c44_activation(%a: tensor<64x96xi8, #layout>, %b: tensor<96x20xi8>) {
  // expected-error @below {{expects activation none or relu with factors of 'i8', but got silu}}
  %0 = blocksparse.dsd %a, %b {activation = #blocksparse.activation<silu>} : (tensor<64x96xi8, #layout>, tensor<96x20xi8>) -> tensor<64x20xi32>
  return
}

// -----

func.func @dense_operand(%a: tensor<64x96xf32>, %b: tensor<96x20xf32>) {
  // expected-error @below {{operand #0 must be block-sparse tensor `a` of f16, bf16, f32, f64, i8, i32, f8E4M3FN or f8E5M2, but got}}
  %0 = blocksparse.dsd %a, %b : (tensor<64x96xf32>, tensor<96x20xf32>) -> tensor<64x20xf32>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
#square = #blocksparse.layout<32x32, grid 3x3, dense>
func.func @sparse_b(%a: tensor<64x96xf32, #layout>, %b: tensor<96x96xf32, #square>) {
  // expected-error @below {{operand #1 must be dense tensor `b` of f16, bf16, f32, f64, i8, i32, f8E4M3FN or f8E5M2, but got}}
  %0 = blocksparse.dsd %a, %b : (tensor<64x96xf32, #layout>, tensor<96x96xf32, #square>) -> tensor<64x96xf32>
  return
}
