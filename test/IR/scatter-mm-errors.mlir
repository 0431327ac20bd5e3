// RUN: blocksparse-opt %s -verify-diagnostics -split-input-file

func.func @blocks_rank(%b: tensor<16x8xf32>, %o: tensor<7x8x32xf32>, %acc: tensor<3x16x32xf32>, %i0: tensor<4xi32>, %i1: tensor<?x2xi32>) {
  // expected-error @below {{operand #0 must be dense tensor of rank 3 `blocks` of f16, bf16, f32, f64, i8, i32, f8E4M3FN or f8E5M2, but got}}
  %0 = blocksparse.scatter_mm %b, %o into %acc indices(%i0, %i1) : (tensor<16x8xf32>, tensor<7x8x32xf32>, tensor<3x16x32xf32>, tensor<4xi32>, tensor<?x2xi32>) -> tensor<3x16x32xf32>
  return
}

// -----

func.func @c18_count(%b: tensor<5x16x8xf32>, %o: tensor<7x8x32xf32>, %acc: tensor<3x16x32xf32>, %i0: tensor<4xi32>, %i1: tensor<?x2xi32>, %i2: tensor<4xi32>) {
  // expected-error @below {{expects 2 index tensors in the format scatter_mm, but got 3}}
  %0 = blocksparse.scatter_mm %b, %o into %acc indices(%i0, %i1, %i2) : (tensor<5x16x8xf32>, tensor<7x8x32xf32>, tensor<3x16x32xf32>, tensor<4xi32>, tensor<?x2xi32>, tensor<4xi32>) -> tensor<3x16x32xf32>
  return
}

// -----

func.func @c18_rank(%b: tensor<5x16x8xf32>, %o: tensor<7x8x32xf32>, %acc: tensor<3x16x32xf32>, %i0: tensor<4xi32>, %i1: tensor<?xi32>) {
  // expected-error @below {{expects index tensor 1 of rank 2 in the format scatter_mm, but got rank 1}}
  %0 = blocksparse.scatter_mm %b, %o into %acc indices(%i0, %i1) : (tensor<5x16x8xf32>, tensor<7x8x32xf32>, tensor<3x16x32xf32>, tensor<4xi32>, tensor<?xi32>) -> tensor<3x16x32xf32>
  return
}

// -----

func.func @c18_columns(%b: tensor<5x16x8xf32>, %o: tensor<7x8x32xf32>, %acc: tensor<3x16x32xf32>, %i0: tensor<4xi32>, %i1: tensor<?x3xi32>) {
  // expected-error @below {{expects index tensor 1 to have 2 columns, but got 3}}
  %0 = blocksparse.scatter_mm %b, %o into %acc indices(%i0, %i1) : (tensor<5x16x8xf32>, tensor<7x8x32xf32>, tensor<3x16x32xf32>, tensor<4xi32>, tensor<?x3xi32>) -> tensor<3x16x32xf32>
  return
}

// -----

func.func @c18_width(%b: tensor<5x16x8xf32>, %o: tensor<7x8x32xf32>, %acc: tensor<3x16x32xf32>, %i0: tensor<4xi32>, %i1: tensor<?x2xi64>) {
  // expected-error @below {{expects index tensors of one type, but got 'i32' and 'i64'}}
  %0 = blocksparse.scatter_mm %b, %o into %acc indices(%i0, %i1) : (tensor<5x16x8xf32>, tensor<7x8x32xf32>, tensor<3x16x32xf32>, tensor<4xi32>, tensor<?x2xi64>) -> tensor<3x16x32xf32>
  return
}

// -----

func.func @c18_no_offset(%b: tensor<5x16x8xf32>, %o: tensor<7x8x32xf32>, %acc: tensor<3x16x32xf32>, %i0: tensor<0xi32>, %i1: tensor<?x2xi32>) {
  // expected-error @below {{expects index tensor 0 of at least 1 offset, but got 0}}
  %0 = blocksparse.scatter_mm %b, %o into %acc indices(%i0, %i1) : (tensor<5x16x8xf32>, tensor<7x8x32xf32>, tensor<3x16x32xf32>, tensor<0xi32>, tensor<?x2xi32>) -> tensor<3x16x32xf32>
  return
}

// -----

func.func @c19_inner(%b: tensor<5x16x8xf32>, %o: tensor<7x9x32xf32>, %acc: tensor<3x16x32xf32>, %i0: tensor<4xi32>, %i1: tensor<?x2xi32>) {
  // expected-error @below {{expects others of shape ?x8x?, but got 7x9x32}}
  %0 = blocksparse.scatter_mm %b, %o into %acc indices(%i0, %i1) : (tensor<5x16x8xf32>, tensor<7x9x32xf32>, tensor<3x16x32xf32>, tensor<4xi32>, tensor<?x2xi32>) -> tensor<3x16x32xf32>
  return
}

// -----

func.func @c19_reductions(%b: tensor<5x16x8xf32>, %o: tensor<7x8x32xf32>, %acc: tensor<3x16x32xf32>, %i0: tensor<5xi32>, %i1: tensor<?x2xi32>) {
  // expected-error @below {{expects accumulators of shape 4x16x32, but got 3x16x32}}
  %0 = blocksparse.scatter_mm %b, %o into %acc indices(%i0, %i1) : (tensor<5x16x8xf32>, tensor<7x8x32xf32>, tensor<3x16x32xf32>, tensor<5xi32>, tensor<?x2xi32>) -> tensor<3x16x32xf32>
  return
}

// -----

func.func @c20_split(%b: tensor<5x16x8xf32>, %o: tensor<7x8x32xf32>, %acc: tensor<3x16x32xf32>, %i0: tensor<4xi32>, %i1: tensor<?x2xi32>) {
  // expected-error @below {{expects split_n 1 in the format scatter_mm, but got 2}}
  %0 = blocksparse.scatter_mm %b, %o into %acc indices(%i0, %i1) {split_n = 2} : (tensor<5x16x8xf32>, tensor<7x8x32xf32>, tensor<3x16x32xf32>, tensor<4xi32>, tensor<?x2xi32>) -> tensor<3x16x32xf32>
  return
}

// -----

func.func @c9_factors(%b: tensor<5x16x8xf32>, %o: tensor<7x8x32xf16>, %acc: tensor<3x16x32xf32>, %i0: tensor<4xi32>, %i1: tensor<?x2xi32>) {
  // expected-error @below {{expects blocks and others to have the same element type, but got 'f32' and 'f16'}}
  %0 = blocksparse.scatter_mm %b, %o into %acc indices(%i0, %i1) : (tensor<5x16x8xf32>, tensor<7x8x32xf16>, tensor<3x16x32xf32>, tensor<4xi32>, tensor<?x2xi32>) -> tensor<3x16x32xf32>
  return
}

// -----

func.func @c10_type(%b: tensor<5x16x8xi8>, %o: tensor<7x8x32xi8>, %acc: tensor<3x16x32xi8>, %i0: tensor<4xi32>, %i1: tensor<?x2xi32>) {
  // expected-error @below {{expects a product of 'i8' to have element type 'i32', but got 'i8'}}
  %0 = blocksparse.scatter_mm %b, %o into %acc indices(%i0, %i1) : (tensor<5x16x8xi8>, tensor<7x8x32xi8>, tensor<3x16x32xi8>, tensor<4xi32>, tensor<?x2xi32>) -> tensor<3x16x32xi8>
  return
}

// -----

func.func @c18_strided_count(%b: tensor<5x16x8xf32>, %o: tensor<64x32xf32>, %acc: tensor<48x32xf32>, %i0: tensor<4xi32>, %i1: tensor<4xi32>, %i2: tensor<4xi32>) {
  // expected-error @below {{expects 4 index tensors in the format bsr_strided_mm, but got 3}}
  %0 = blocksparse.scatter_mm %b, %o into %acc indices(%i0, %i1, %i2) {format = #blocksparse.scatter_format<bsr_strided_mm>} : (tensor<5x16x8xf32>, tensor<64x32xf32>, tensor<48x32xf32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<48x32xf32>
  return
}

// -----

func.func @c18_strided_offsets(%b: tensor<5x16x8xf32>, %o: tensor<64x32xf32>, %acc: tensor<48x32xf32>, %i0: tensor<4xi32>, %i1: tensor<4xi32>, %i2: tensor<4xi32>, %i3: tensor<4xi32>) {
  // expected-error @below {{expects r_offsets of shape 3, but got 4}}
  %0 = blocksparse.scatter_mm %b, %o into %acc indices(%i0, %i1, %i2, %i3) {format = #blocksparse.scatter_format<bsr_strided_mm>} : (tensor<5x16x8xf32>, tensor<64x32xf32>, tensor<48x32xf32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<48x32xf32>
  return
}

// -----

func.func @c20_divides(%b: tensor<5x16x8xf32>, %o: tensor<64x32xf32>, %acc: tensor<48x32xf32>, %i0: tensor<?xi32>, %i1: tensor<?xi32>, %i2: tensor<?xi32>, %i3: tensor<?xi32>) {
  // expected-error @below {{expects split_n to divide 32 columns, but got 3}}
  %0 = blocksparse.scatter_mm %b, %o into %acc indices(%i0, %i1, %i2, %i3) {format = #blocksparse.scatter_format<bsr_strided_mm>, split_n = 3} : (tensor<5x16x8xf32>, tensor<64x32xf32>, tensor<48x32xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<48x32xf32>
  return
}

// -----

func.func @c20_zero(%b: tensor<5x16x8xf32>, %o: tensor<64x32xf32>, %acc: tensor<48x32xf32>, %i0: tensor<?xi32>, %i1: tensor<?xi32>, %i2: tensor<?xi32>, %i3: tensor<?xi32>) {
  // expected-error @below {{expects split_n to be at least 1, but got 0}}
  %0 = blocksparse.scatter_mm %b, %o into %acc indices(%i0, %i1, %i2, %i3) {format = #blocksparse.scatter_format<bsr_strided_mm>, split_n = 0} : (tensor<5x16x8xf32>, tensor<64x32xf32>, tensor<48x32xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<48x32xf32>
  return
}

// -----

func.func @c19_strided(%b: tensor<5x16x8xf32>, %o: tensor<64x32xf32>, %acc: tensor<48x31xf32>, %i0: tensor<?xi32>, %i1: tensor<?xi32>, %i2: tensor<?xi32>, %i3: tensor<?xi32>) {
  // expected-error @below {{expects accumulators of shape ?x32, but got 48x31}}
  %0 = blocksparse.scatter_mm %b, %o into %acc indices(%i0, %i1, %i2, %i3) {format = #blocksparse.scatter_format<bsr_strided_mm>} : (tensor<5x16x8xf32>, tensor<64x32xf32>, tensor<48x31xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<48x31xf32>
  return
}

// -----

func.func @c5_others(%b: tensor<5x16x8xf32>, %o: tensor<64xf32>, %acc: tensor<48x32xf32>, %i0: tensor<?xi32>, %i1: tensor<?xi32>, %i2: tensor<?xi32>, %i3: tensor<?xi32>) {
  // expected-error @below {{expects others of rank 2 to 4, but got rank 1}}
  %0 = blocksparse.scatter_mm %b, %o into %acc indices(%i0, %i1, %i2, %i3) {format = #blocksparse.scatter_format<bsr_strided_mm>} : (tensor<5x16x8xf32>, tensor<64xf32>, tensor<48x32xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<48x32xf32>
  return
}
