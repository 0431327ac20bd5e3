// RUN: blocksparse-opt %s -verify-diagnostics -split-input-file

func.func @c5_rank(%a: tensor<64xf32>, %b: tensor<64x32xf32>) {
  // expected-error @below {{expects a of rank 2 to 4, but got rank 1}}
  %0 = blocksparse.matmul %a, %b : (tensor<64xf32>, tensor<64x32xf32>) -> tensor<10x32xf32>
  return
}

// -----

func.func @c36_rank(%a: tensor<10x4x64xf16>, %b: tensor<2x12x4x64xf16>) {
  // expected-error @below {{expects operands of rank 4 in the form score, but got rank 3 and 4}}
  %0 = blocksparse.matmul %a, %b {form = #blocksparse.form<score>} : (tensor<10x4x64xf16>, tensor<2x12x4x64xf16>) -> tensor<2x4x10x12xf16>
  return
}

// -----

func.func @c7_inner(%a: tensor<10x64xf32>, %b: tensor<63x32xf32>) {
  // expected-error @below {{expects b to have 64 rows, the columns of a, but got 63}}
  %0 = blocksparse.matmul %a, %b : (tensor<10x64xf32>, tensor<63x32xf32>) -> tensor<10x32xf32>
  return
}

// -----

func.func @c7_score(%a: tensor<2x10x4x64xf16>, %b: tensor<2x12x4x63xf16>) {
  // expected-error @below {{expects b to have an inner size of 64, as a, but got 63}}
  %0 = blocksparse.matmul %a, %b {form = #blocksparse.form<score>} : (tensor<2x10x4x64xf16>, tensor<2x12x4x63xf16>) -> tensor<2x4x10x12xf16>
  return
}

// -----

func.func @c6_heads(%a: tensor<2x10x4x64xf16>, %b: tensor<2x12x3x64xf16>) {
  // expected-error @below {{expects leading dimensions that are equal or 1, but got 2x4 and 2x3}}
  %0 = blocksparse.matmul %a, %b {form = #blocksparse.form<score>} : (tensor<2x10x4x64xf16>, tensor<2x12x3x64xf16>) -> tensor<2x4x10x12xf16>
  return
}

// -----

func.func @c8_score(%a: tensor<2x10x4x64xf16>, %b: tensor<2x12x4x64xf16>) {
  // expected-error @below {{expects a result of shape 2x4x10x12, but got 2x4x12x10}}
  %0 = blocksparse.matmul %a, %b {form = #blocksparse.form<score>} : (tensor<2x10x4x64xf16>, tensor<2x12x4x64xf16>) -> tensor<2x4x12x10xf16>
  return
}

// -----

func.func @c8_context(%a: tensor<2x4x10x12xf16>, %b: tensor<2x12x4x64xf16>) {
  // expected-error @below {{expects a result of shape 2x10x4x64, but got 2x4x10x64}}
  %0 = blocksparse.matmul %a, %b {form = #blocksparse.form<context>} : (tensor<2x4x10x12xf16>, tensor<2x12x4x64xf16>) -> tensor<2x4x10x64xf16>
  return
}

// -----

func.func @c36_transpose(%a: tensor<2x10x4x64xf16>, %b: tensor<2x12x4x64xf16>) {
  // expected-error @below {{expects no transposes in the form score, but got transpose_b}}
  %0 = blocksparse.matmul %a, %b {form = #blocksparse.form<score>, transpose_b} : (tensor<2x10x4x64xf16>, tensor<2x12x4x64xf16>) -> tensor<2x4x10x12xf16>
  return
}

// -----

func.func @c10_type(%a: tensor<10x64xf32>, %b: tensor<64x32xf32>) {
  // expected-error @below {{expects a product of 'f32' to have element type 'f32', but got 'f64'}}
  %0 = blocksparse.matmul %a, %b : (tensor<10x64xf32>, tensor<64x32xf32>) -> tensor<10x32xf64>
  return
}

// -----

func.func @c13_bias(%a: tensor<10x64xf32>, %b: tensor<64x32xf32>, %c: tensor<10xf32>) {
  // expected-error @below {{expects bias of shape 32, but got 10}}
  %0 = blocksparse.matmul %a, %b bias(%c) : (tensor<10x64xf32>, tensor<64x32xf32>, tensor<10xf32>) -> tensor<10x32xf32>
  return
}
