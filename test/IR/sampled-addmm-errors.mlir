// RUN: blocksparse-opt %s -verify-diagnostics -split-input-file

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c7_inner(%s: tensor<64x96xf32, #layout>, %a: tensor<64x7xf32>, %b: tensor<8x96xf32>) {
  // expected-error @below {{expects b to have 7 rows, the columns of a, but got 8}}
  %0 = blocksparse.sampled_addmm %s, %a, %b : (tensor<64x96xf32, #layout>, tensor<64x7xf32>, tensor<8x96xf32>) -> tensor<64x96xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c8_shape(%s: tensor<64x96xf32, #layout>, %a: tensor<64x7xf32>, %b: tensor<7x95xf32>) {
  // expected-error @below {{expects a result of shape 64x95, but got 64x96}}
  %0 = blocksparse.sampled_addmm %s, %a, %b : (tensor<64x96xf32, #layout>, tensor<64x7xf32>, tensor<7x95xf32>) -> tensor<64x96xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c10_type(%s: tensor<64x96xf32, #layout>, %a: tensor<64x7xf64>, %b: tensor<7x96xf64>) {
  // expected-error @below {{expects a product of 'f64' to have element type 'f64', but got 'f32'}}
  %0 = blocksparse.sampled_addmm %s, %a, %b : (tensor<64x96xf32, #layout>, tensor<64x7xf64>, tensor<7x96xf64>) -> tensor<64x96xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c17_beta(%s: tensor<64x96xi32, #layout>, %a: tensor<64x7xi8>, %b: tensor<7x96xi8>) {
  // expected-error @below {{expects an integral beta with factors of 'i8', but got 5.000000e-01}}
  %0 = blocksparse.sampled_addmm %s, %a, %b {beta = 0.5} : (tensor<64x96xi32, #layout>, tensor<64x7xi8>, tensor<7x96xi8>) -> tensor<64x96xi32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
#dense = #blocksparse.layout<16x32, grid 4x3, dense>
func.func @result_pattern(%s: tensor<64x96xf32, #layout>, %a: tensor<64x7xf32>, %b: tensor<7x96xf32>) {
  // expected-error @below {{failed to verify that all of {sparse, result} have same type}}
  %0 = blocksparse.sampled_addmm %s, %a, %b : (tensor<64x96xf32, #layout>, tensor<64x7xf32>, tensor<7x96xf32>) -> tensor<64x96xf32, #dense>
  return
}
