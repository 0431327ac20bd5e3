// RUN: blocksparse-opt %s -split-input-file -verify-diagnostics

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c62_alpha_type(%a: tensor<32x32xf16, #layout>, %b: tensor<32x8xf16>, %s: tensor<f64>) {
  // expected-error @below {{expects dynamic_alpha of element type 'f32', but got 'f64'}}
  %0 = blocksparse.dsd %a, %b alpha(%s) : (tensor<32x32xf16, #layout>, tensor<32x8xf16>, tensor<f64>) -> tensor<32x8xf16>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c62_both(%a: tensor<32x32xf32, #layout>, %b: tensor<8x32xf32>, %s: tensor<f32>) {
  // expected-error @below {{expects alpha as an attribute or as an operand, but got 5.000000e-01 and an operand}}
  %0 = blocksparse.dds %b, %a alpha(%s) {alpha = 0.5} : (tensor<8x32xf32>, tensor<32x32xf32, #layout>, tensor<f32>) -> tensor<8x32xf32>
  return
}

// -----

func.func @c62_matmul(%a: tensor<32x32xi8>, %s: tensor<f32>) {
  // expected-error @below {{expects dynamic_alpha of element type 'i32', but got 'f32'}}
  %0 = blocksparse.matmul %a, %a alpha(%s) : (tensor<32x32xi8>, tensor<32x32xi8>, tensor<f32>) -> tensor<32x32xi32>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c62_beta(%a: tensor<32x32xf32, #layout>, %b: tensor<32x8xf32>, %s: tensor<f32>) {
  // expected-error @below {{expects beta as an attribute or as an operand, but got 0.000000e+00 and an operand}}
  %0 = blocksparse.bsr_addmm %a, %b input(%b) beta(%s) {beta = 0.0} : (tensor<32x32xf32, #layout>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<f32>) -> tensor<32x8xf32>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c16_no_input(%a: tensor<32x32xf32, #layout>, %b: tensor<32x8xf32>, %s: tensor<f32>) {
  // expected-error @below {{expects an input when beta is not 0, but got none and beta 1.000000e+00}}
  %0 = blocksparse.bsr_addmm %a, %b beta(%s) : (tensor<32x32xf32, #layout>, tensor<32x8xf32>, tensor<f32>) -> tensor<32x8xf32>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c62_sampled(%a: tensor<32x32xf32, #layout>, %b: tensor<32x32xf32>, %s: tensor<f32>) {
  // expected-error @below {{expects beta as an attribute or as an operand, but got 2.000000e+00 and an operand}}
  %0 = blocksparse.sampled_addmm %a, %b, %b beta(%s) {beta = 2.0} : (tensor<32x32xf32, #layout>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c62_softmax(%x: tensor<32x32xf16, #layout>, %s: tensor<f32>) {
  // expected-error @below {{expects scale as an attribute or as an operand, but got 2.000000e+00 and an operand}}
  %0 = blocksparse.softmax %x scale(%s) {scale = 2.0} : (tensor<32x32xf16, #layout>, tensor<f32>) -> tensor<32x32xf16, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c62_softmax_grad(%x: tensor<32x32xf64, #layout>, %s: tensor<f32>) {
  // expected-error @below {{expects dynamic_scale of element type 'f64', but got 'f32'}}
  %0 = blocksparse.softmax_grad %x, %x scale(%s) : (tensor<32x32xf64, #layout>, tensor<32x32xf64, #layout>, tensor<f32>) -> tensor<32x32xf64, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c62_attention(%q: tensor<32x32xf32>, %s: tensor<f64>) {
  // expected-error @below {{expects dynamic_scale of element type 'f32', but got 'f64'}}
  %0, %l = blocksparse.attention %q, %q, %q scale(%s) layout(#layout) : (tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<f64>) -> (tensor<32x32xf32>, tensor<32xf32>)
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @type(%a: tensor<32x32xf32, #layout>, %b: tensor<32x8xf32>, %s: tensor<1xf32>) {
  // expected-error @below {{operand #2 must be tensor of rank 0 `dynamic_alpha` of f32, f64 or i32, but got 'tensor<1xf32>'}}
  %0 = blocksparse.dsd %a, %b alpha(%s) : (tensor<32x32xf32, #layout>, tensor<32x8xf32>, tensor<1xf32>) -> tensor<32x8xf32>
  return
}

// -----

func.func @c62_planned(%v: memref<3x16x16xf32>, %d: memref<32x20xf32>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %f: memref<f64>, %init: memref<32x20xf32>) {
  // expected-error @below {{expects dynamic_alpha of element type 'f32', but got 'f64'}}
  blocksparse.planned_dsd %v, %d segments(%s) entries(%e) alpha(%f) outs(%init) {block = array<i64: 16, 16>, lut_heads = 1 : i64} : (memref<3x16x16xf32>, memref<32x20xf32>, memref<2x5xi32>, memref<3x2xi32>, memref<f64>, memref<32x20xf32>) -> ()
  return
}

// -----

func.func @c62_planned_sdd(%a: memref<32x8xf32>, %b: memref<8x32xf32>, %lut: memref<3x4xi32>, %s: memref<2x2xi32>, %f: memref<f32>, %init: memref<3x16x16xf32>) {
  // expected-error @below {{expects alpha as an attribute or as an operand, but got 2.000000e+00 and an operand}}
  blocksparse.planned_sdd %a, %b lut(%lut) segments(%s) alpha(%f) outs(%init) {alpha = 2.0, block = array<i64: 16, 16>, lut_heads = 1 : i64} : (memref<32x8xf32>, memref<8x32xf32>, memref<3x4xi32>, memref<2x2xi32>, memref<f32>, memref<3x16x16xf32>) -> ()
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c62_sdd(%a: tensor<32x32xf32>, %s: tensor<f64>) {
  // expected-error @below {{expects dynamic_alpha of element type 'f32', but got 'f64'}}
  %0 = blocksparse.sdd %a, %a alpha(%s) : (tensor<32x32xf32>, tensor<32x32xf32>, tensor<f64>) -> tensor<32x32xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c62_sdd_twice(%a: tensor<32x32xf32>, %s: tensor<f32>) {
  // expected-error @below {{expects alpha as an attribute or as an operand, but got 5.000000e-01 and an operand}}
  %0 = blocksparse.sdd %a, %a alpha(%s) {alpha = 0.5} : (tensor<32x32xf32>, tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf32, #layout>
  return
}

// -----

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
func.func @c62_add(%a: tensor<32x32xf16, #layout>, %s: tensor<f64>) {
  // expected-error @below {{expects dynamic_beta of element type 'f32', but got 'f64'}}
  %0 = blocksparse.add %a, %a beta(%s) : (tensor<32x32xf16, #layout>, tensor<32x32xf16, #layout>, tensor<f64>) -> tensor<32x32xf16, #layout>
  return
}

// -----

func.func @c62_planned_add(%a: memref<3x16x16xf32>, %f: memref<f32>) {
  // expected-error @below {{expects alpha as an attribute or as an operand, but got 0.000000e+00 and an operand}}
  blocksparse.planned_add %a, %a alpha(%f) outs(%a) {alpha = 0.0} : (memref<3x16x16xf32>, memref<3x16x16xf32>, memref<f32>, memref<3x16x16xf32>) -> ()
  return
}
