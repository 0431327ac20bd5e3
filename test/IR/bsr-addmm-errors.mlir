// RUN: blocksparse-opt %s -verify-diagnostics -split-input-file

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c7_inner(%a: tensor<64x96xf32, #layout>, %b: tensor<64x20xf32>) {
  // expected-error @below {{expects dense to have 96 rows, the columns of sparse, but got 64}}
  %0 = blocksparse.bsr_addmm %a, %b {beta = 0.0} : (tensor<64x96xf32, #layout>, tensor<64x20xf32>) -> tensor<64x20xf32>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c9_factors(%a: tensor<64x96xf32, #layout>, %b: tensor<96x20xf64>) {
  // expected-error @below {{expects sparse and dense to have the same element type, but got 'f32' and 'f64'}}
  %0 = blocksparse.bsr_addmm %a, %b {beta = 0.0} : (tensor<64x96xf32, #layout>, tensor<96x20xf64>) -> tensor<64x20xf32>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c14_input(%a: tensor<64x96xf32, #layout>, %b: tensor<96x20xf32>, %c: tensor<20x64xf32>) {
  // expected-error @below {{expects input to broadcast to 64x20, but got 20x64}}
  %0 = blocksparse.bsr_addmm %a, %b input(%c) : (tensor<64x96xf32, #layout>, tensor<96x20xf32>, tensor<20x64xf32>) -> tensor<64x20xf32>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c15_left_alpha(%a: tensor<64x96xf32, #layout>, %b: tensor<96x20xf32>, %c: tensor<20xf32>) {
  // expected-error @below {{expects left_alpha of shape 64, but got 20}}
  %0 = blocksparse.bsr_addmm %a, %b left_alpha(%c) {beta = 0.0} : (tensor<64x96xf32, #layout>, tensor<96x20xf32>, tensor<20xf32>) -> tensor<64x20xf32>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c15_right_alpha(%a: tensor<64x96xf32, #layout>, %b: tensor<96x20xf32>, %c: tensor<64xf32>) {
  // expected-error @below {{expects right_alpha of shape 20, but got 64}}
  %0 = blocksparse.bsr_addmm %a, %b right_alpha(%c) {beta = 0.0} : (tensor<64x96xf32, #layout>, tensor<96x20xf32>, tensor<64xf32>) -> tensor<64x20xf32>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c15_rank(%a: tensor<64x96xf32, #layout>, %b: tensor<96x20xf32>, %c: tensor<f32>) {
  // expected-error @below {{expects left_alpha of shape 64, but got }}
  %0 = blocksparse.bsr_addmm %a, %b left_alpha(%c) {beta = 0.0} : (tensor<64x96xf32, #layout>, tensor<96x20xf32>, tensor<f32>) -> tensor<64x20xf32>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c16_default_beta(%a: tensor<64x96xf32, #layout>, %b: tensor<96x20xf32>) {
  // expected-error @below {{expects an input when beta is not 0, but got none and beta 1}}
  %0 = blocksparse.bsr_addmm %a, %b : (tensor<64x96xf32, #layout>, tensor<96x20xf32>) -> tensor<64x20xf32>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c16_beta(%a: tensor<64x96xf32, #layout>, %b: tensor<96x20xf32>) {
  // expected-error @below {{expects an input when beta is not 0, but got none and beta 2.500000e-01}}
  %0 = blocksparse.bsr_addmm %a, %b {beta = 0.25} : (tensor<64x96xf32, #layout>, tensor<96x20xf32>) -> tensor<64x20xf32>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c17_beta(%a: tensor<64x96xi8, #layout>, %b: tensor<96x20xi8>, %c: tensor<64x20xi32>) {
  // expected-error @below {{expects an integral beta with factors of 'i8', but got 5.000000e-01}}
  %0 = blocksparse.bsr_addmm %a, %b input(%c) {beta = 0.5} : (tensor<64x96xi8, #layout>, tensor<96x20xi8>, tensor<64x20xi32>) -> tensor<64x20xi32>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c15_left_alpha_type(%a: tensor<64x96xf32, #layout>, %b: tensor<96x20xf32>, %c: tensor<64xf64>) {
  // expected-error @below {{expects left_alpha of element type 'f32', but got 'f64'}}
  %0 = blocksparse.bsr_addmm %a, %b left_alpha(%c) {beta = 0.0} : (tensor<64x96xf32, #layout>, tensor<96x20xf32>, tensor<64xf64>) -> tensor<64x20xf32>
  return
}

// -----

#layout = #blocksparse.layout<16x32, grid 4x3, mask "100/110/011/101">
func.func @c14_input_type(%a: tensor<64x96xf16, #layout>, %b: tensor<96x20xf16>, %c: tensor<64x20xbf16>) {
  // expected-error @below {{expects input of element type 'f16' or 'f32', but got 'bf16'}}
  %0 = blocksparse.bsr_addmm %a, %b input(%c) : (tensor<64x96xf16, #layout>, tensor<96x20xf16>, tensor<64x20xbf16>) -> tensor<64x20xf16>
  return
}
