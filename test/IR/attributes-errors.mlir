// RUN: blocksparse-opt %s -split-input-file -verify-diagnostics

// Nothing that an option is written in is ignored: attributes that no one reads are errors.

func.func @misspelt_flag(%q: tensor<16x4xf32>, %lse: tensor<16xf32>) {
  // expected-error @+1 {{'blocksparse.attention' op expects an attribute of this operation (attention_mask_mode, causal, causal_offset, key_padding_mask_mode, layout, scale, schedule, score_element, soft_cap, window), of which 'causal' is the nearest, but got 'casual'}}
  %0, %1 = blocksparse.attention %q, %q, %q layout(#blocksparse.layout<16x16, grid 1x1, dense>) {casual} : (tensor<16x4xf32>, tensor<16x4xf32>, tensor<16x4xf32>) -> (tensor<16x4xf32>, tensor<16xf32>)
  return
}

// -----

func.func @misspelt_number(%x: tensor<16x16xf32, #blocksparse.layout<16x16, grid 1x1, dense>>) {
  // expected-error @+1 {{of which 'scale' is the nearest, but got 'sacle'}}
  %0 = blocksparse.softmax %x {sacle = 0.5} : (tensor<16x16xf32, #blocksparse.layout<16x16, grid 1x1, dense>>) -> tensor<16x16xf32, #blocksparse.layout<16x16, grid 1x1, dense>>
  return
}

// -----

func.func @flag_of_another_operation(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{of which 'transpose_a' is the nearest, but got 'transpose_out'}}
  %0 = blocksparse.matmul %a, %a {transpose_out} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @number_of_another_operation(%a: tensor<4x4xf32>) {
  // expected-error-re @+1 {{expects an attribute of this operation ({{.*}}), of which '{{.*}}' is the nearest, but got 'beta'}}
  %0 = blocksparse.matmul %a, %a {beta = 1.0} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @no_attributes(%x: tensor<16x16xf32, #blocksparse.layout<16x16, grid 1x1, dense>>) {
  // expected-error @+1 {{'blocksparse.disassemble' op expects no attribute of this operation, but got 'alpha'}}
  %0 = blocksparse.disassemble %x {alpha = 1.0} : (tensor<16x16xf32, #blocksparse.layout<16x16, grid 1x1, dense>>) -> tensor<1x16x16xf32>
  return
}

// -----

// The generic form is no way around it.
func.func @generic(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{but got 'beta'}}
  %0 = "blocksparse.matmul"(%a, %a) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>}> {beta = 1.0} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @planned(%a: tensor<?x4x4xf32>, %init: tensor<8x8xf32>, %lut: tensor<?x4xi32>) {
  // expected-error-re @+1 {{'blocksparse.planned_to_dense' op expects an attribute of this operation ({{.*}}), of which 'block' is the nearest, but got 'blocks'}}
  %0 = "blocksparse.planned_to_dense"(%a, %lut, %init) <{block = array<i64: 4, 4>, lut_heads = 1 : i64}> {blocks = 1 : i64} : (tensor<?x4x4xf32>, tensor<?x4xi32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

// Attributes of another dialect are its own affair.
func.func @other_dialect(%a: tensor<4x4xf32>) {
  %0 = blocksparse.matmul %a, %a {test.note = "kept"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @prefix(%a: tensor<4x4xf32>) {
  // expected-error-re @+1 {{expects an attribute of an operation (blocksparse.host, {{.*}}), of which '{{.*}}' is the nearest, but got 'blocksparse.alpha'}}
  %0 = blocksparse.matmul %a, %a {blocksparse.alpha = 2.0} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

// expected-error @+1 {{expects an attribute of argument 1 (blocksparse.fill, blocksparse.value, blocksparse.shape, blocksparse.crow, blocksparse.col), of which 'blocksparse.fill' is the nearest, but got 'blocksparse.fil'}}
func.func private @argument(tensor<4xf32> {blocksparse.fill = "ones"}, tensor<4xf32> {blocksparse.fil = "ones"})

// -----

// expected-error-re @+1 {{expects an attribute of argument 0 ({{.*}}), of which '{{.*}}' is the nearest, but got 'blocksparse.expect'}}
func.func private @argument_of_a_result(tensor<4xf32> {blocksparse.expect = dense<1.0> : tensor<f32>})

// -----

// expected-error @+1 {{expects an attribute of result 0 (blocksparse.expect, blocksparse.expect_argument), of which 'blocksparse.expect' is the nearest, but got 'blocksparse.expected'}}
func.func private @result() -> (tensor<4xf32> {blocksparse.expected = dense<1.0> : tensor<f32>})

// -----

// expected-error @+1 {{but got 'blocksparse.chekc'}}
func.func private @function() attributes {blocksparse.chekc}

// -----

// expected-error @+1 {{expects blocksparse.fill to be a string, but got 1.000000e+00 : f32}}
func.func private @kind(tensor<4xf32> {blocksparse.fill = 1.0 : f32})

// -----

// expected-error @+1 {{expects blocksparse.shape to be array<i64: ...>, but got [4]}}
func.func private @kind_of_shape(tensor<?xf32> {blocksparse.shape = [4]})

// -----

// expected-error @+1 {{expects blocksparse.expect to be dense elements, but got 1.000000e+00 : f32}}
func.func private @kind_of_expect() -> (tensor<4xf32> {blocksparse.expect = 1.0 : f32})

// -----

// The generic form has the attributes of the operation in `<{...}>`, where MLIR would ignore others.
func.func @properties(%a: tensor<?x4x4xf32>, %lut: tensor<?x4xi32>, %init: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{'blocksparse.planned_to_dense' op expects an attribute of this operation (block, lut_heads, schedule), of which 'block' is the nearest, but got 'blocks'}}
  %0 = "blocksparse.planned_to_dense"(%a, %lut, %init) <{block = array<i64: 4, 4>, blocks = 1 : i64, lut_heads = 1 : i64}> : (tensor<?x4x4xf32>, tensor<?x4xi32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func @scale_beyond_f32(%x: tensor<16x16xf16, #blocksparse.layout<16x16, grid 1x1, dense>>) {
  // expected-error @+1 {{'blocksparse.softmax' op expects scale to be a finite number of f32, but got 1.000000e+300}}
  %0 = blocksparse.softmax %x {scale = 1.0e300} : (tensor<16x16xf16, #blocksparse.layout<16x16, grid 1x1, dense>>) -> tensor<16x16xf16, #blocksparse.layout<16x16, grid 1x1, dense>>
  return
}

// -----

func.func @alpha_below_f32(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{'blocksparse.matmul' op expects alpha to be a finite number of f32, but got 1.000000e-60}}
  %0 = blocksparse.matmul %a, %a {alpha = 1.0e-60} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @infinite_beta(%s: tensor<4x4xf64, #blocksparse.layout<4x4, grid 1x1, dense>>, %d: tensor<4x4xf64>) {
  // expected-error @+1 {{'blocksparse.bsr_addmm' op expects beta to be a finite number of f64, but got INF}}
  %0 = blocksparse.bsr_addmm %s, %d input(%d) {beta = 0x7FF0000000000000 : f64} : (tensor<4x4xf64, #blocksparse.layout<4x4, grid 1x1, dense>>, tensor<4x4xf64>, tensor<4x4xf64>) -> tensor<4x4xf64>
  return
}

// -----

// Factors that the accumulation type can represent are accepted, subnormal numbers and 0 included.
func.func @factors(%a: tensor<4x4xf64>, %b: tensor<4x4xf32>) {
  %0 = blocksparse.matmul %a, %a {alpha = 1.0e300} : (tensor<4x4xf64>, tensor<4x4xf64>) -> tensor<4x4xf64>
  %1 = blocksparse.matmul %b, %b {alpha = 1.0e-40} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = blocksparse.matmul %b, %b {alpha = -0.0} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}
