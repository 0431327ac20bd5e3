// RUN: blocksparse-opt %s -verify-diagnostics -split-input-file

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c7_inner(%a: tensor<64x7xf32>, %b: tensor<8x96xf32>) {
  // expected-error @below {{expects b to have 7 rows, the columns of a, but got 8}}
  %0 = blocksparse.sdd %a, %b : (tensor<64x7xf32>, tensor<8x96xf32>) -> tensor<64x96xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c8_result(%a: tensor<63x7xf32>, %b: tensor<7x96xf32>) {
  // expected-error @below {{expects a result of shape 63x96, but got 64x96}}
  %0 = blocksparse.sdd %a, %b : (tensor<63x7xf32>, tensor<7x96xf32>) -> tensor<64x96xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c8_transposed(%a: tensor<64x7xf32>, %b: tensor<7x96xf32>) {
  // expected-error @below {{expects a result of shape 96x64, but got 64x96}}
  %0 = blocksparse.sdd %a, %b {transpose_out} : (tensor<64x7xf32>, tensor<7x96xf32>) -> tensor<64x96xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c6_heads(%a: tensor<3x64x7xf32>, %b: tensor<7x96xf32>) {
  // expected-error @below {{expects a result of shape 3x64x96, but got 2x64x96}}
  %0 = blocksparse.sdd %a, %b : (tensor<3x64x7xf32>, tensor<7x96xf32>) -> tensor<2x64x96xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c6_rank(%a: tensor<3x64x7xf32>, %b: tensor<7x96xf32>) {
  // expected-error @below {{expects a result of shape 3x64x96, but got 64x96}}
  %0 = blocksparse.sdd %a, %b : (tensor<3x64x7xf32>, tensor<7x96xf32>) -> tensor<64x96xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c9_factors(%a: tensor<64x7xf32>, %b: tensor<7x96xbf16>) {
  // expected-error @below {{expects a and b to have the same element type, but got 'f32' and 'bf16'}}
  %0 = blocksparse.sdd %a, %b : (tensor<64x7xf32>, tensor<7x96xbf16>) -> tensor<64x96xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c10_type(%a: tensor<64x7xi8>, %b: tensor<7x96xi8>) {
  // expected-error @below {{expects a product of 'i8' to have element type 'i32', but got 'f32'}}
  %0 = blocksparse.sdd %a, %b : (tensor<64x7xi8>, tensor<7x96xi8>) -> tensor<64x96xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c11_precision(%a: tensor<64x7xf64>, %b: tensor<7x96xf64>) {
  // expected-error @below {{expects precision ieee for factors of 'f64', but got tf32x3}}
  %0 = blocksparse.sdd %a, %b {precision = #blocksparse.precision<tf32x3>} : (tensor<64x7xf64>, tensor<7x96xf64>) -> tensor<64x96xf64, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
#bsr = #blocksparse.bsr<16x16>
#other = #blocksparse.bsr<16x32>
func.func @c12_no_pattern(%a: tensor<64x7xf32>, %b: tensor<7x96xf32>) {
  // expected-error @below {{expects a pattern operand for a result of dynamic pattern, but got none}}
  %0 = blocksparse.sdd %a, %b : (tensor<64x7xf32>, tensor<7x96xf32>) -> tensor<64x96xf32, #bsr>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
#bsr = #blocksparse.bsr<16x16>
#other = #blocksparse.bsr<16x32>
func.func @c12_pattern(%a: tensor<64x7xf32>, %b: tensor<7x96xf32>, %p: tensor<64x96xf32, #bsr>) {
  // expected-error @below {{expects no pattern operand for a result of static layout, but got one of type 'tensor<64x96xf32, #blocksparse.bsr<16x16>>'}}
  %0 = blocksparse.sdd %a, %b pattern(%p) : (tensor<64x7xf32>, tensor<7x96xf32>, tensor<64x96xf32, #bsr>) -> tensor<64x96xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
#bsr = #blocksparse.bsr<16x16>
#other = #blocksparse.bsr<16x32>
func.func @c12_other_pattern(%a: tensor<64x7xf32>, %b: tensor<7x96xf32>, %p: tensor<64x96xf32, #other>) {
  // expected-error @below {{expects a pattern of the result's type 'tensor<64x96xf32, #blocksparse.bsr<16x16>>', but got 'tensor<64x96xf32, #blocksparse.bsr<16x32>>'}}
  %0 = blocksparse.sdd %a, %b pattern(%p) : (tensor<64x7xf32>, tensor<7x96xf32>, tensor<64x96xf32, #other>) -> tensor<64x96xf32, #bsr>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c17_alpha(%a: tensor<64x7xi8>, %b: tensor<7x96xi8>) {
  // expected-error @below {{expects an integral alpha with factors of 'i8', but got 1.500000e+00}}
  %0 = blocksparse.sdd %a, %b {alpha = 1.5} : (tensor<64x7xi8>, tensor<7x96xi8>) -> tensor<64x96xi32, #layout>
  return
}
