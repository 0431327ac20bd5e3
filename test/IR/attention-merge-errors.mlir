// RUN: blocksparse-opt %s -verify-diagnostics -split-input-file

func.func @c57_none() {
  // expected-error @below {{expects at least 1 part, but got 0}}
  %o, %l = "blocksparse.attention_merge"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> (tensor<4x32x8xf32>, tensor<4x32xf32>)
  return
}

// -----

func.func @c57_count(%a: tensor<4x32x8xf32>, %b: tensor<4x32xf32>) {
  // expected-error @below {{expects as many lses as parts, 1, but got 2}}
  %o, %l = blocksparse.attention_merge %a lses(%b, %b) : (tensor<4x32x8xf32>, tensor<4x32xf32>, tensor<4x32xf32>) -> (tensor<4x32x8xf32>, tensor<4x32xf32>)
  return
}

// -----

func.func @c8_part(%a: tensor<4x32x8xf32>, %c: tensor<4x32x7xf32>, %b: tensor<4x32xf32>) {
  // expected-error @below {{expects a part of shape 4x32x8, but got 4x32x7}}
  %o, %l = blocksparse.attention_merge %a, %c lses(%b, %b) : (tensor<4x32x8xf32>, tensor<4x32x7xf32>, tensor<4x32xf32>, tensor<4x32xf32>) -> (tensor<4x32x8xf32>, tensor<4x32xf32>)
  return
}

// -----

func.func @c21_part(%a: tensor<4x32x8xi8>, %b: tensor<4x32xf32>) {
  // expected-error @below {{expects a part of a floating-point type, but got 'i8'}}
  %o, %l = blocksparse.attention_merge %a lses(%b) : (tensor<4x32x8xi8>, tensor<4x32xf32>) -> (tensor<4x32x8xf32>, tensor<4x32xf32>)
  return
}

// -----

func.func @c26_lses(%a: tensor<4x32x8xf32>, %b: tensor<4x31xf32>) {
  // expected-error @below {{expects lses of shape 4x32, but got 4x31}}
  %o, %l = blocksparse.attention_merge %a lses(%b) : (tensor<4x32x8xf32>, tensor<4x31xf32>) -> (tensor<4x32x8xf32>, tensor<4x32xf32>)
  return
}

// -----

func.func @c5_rank(%a: tensor<8xf32>, %b: tensor<f32>) {
  // expected-error @below {{expects out of rank 2 to 4, but got rank 1}}
  %o, %l = blocksparse.attention_merge %a lses(%b) : (tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<f32>)
  return
}
