// RUN: blocksparse-opt %s -verify-diagnostics -split-input-file

func.func @c45_type(%v: memref<3x16x16xf32>, %l: memref<3x4xi32>, %o: memref<32x30xf16>) {
  // expected-error @below {{expects init of the element type of values, 'f32', but got 'f16'}}
  blocksparse.planned_to_dense %v lut(%l) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<3x16x16xf32>, memref<3x4xi32>, memref<32x30xf16>) -> ()
  return
}

// -----

func.func @init_rank(%v: memref<3x16x16xf32>, %l: memref<3x4xi32>, %o: memref<32xf32>) {
  // expected-error @below {{operand #2 must be dense matrices of rank 2 to 4, but got 'memref<32xf32>'}}
  blocksparse.planned_to_dense %v lut(%l) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<3x16x16xf32>, memref<3x4xi32>, memref<32xf32>) -> ()
  return
}

// -----

func.func @lut_columns(%v: memref<3x16x16xf32>, %l: memref<3x5xi32>, %o: memref<32x30xf32>) {
  // expected-error @below {{operand #1 must be coordinate LUT, i32 [nnz, 4] or [B, nnz, 4], but got 'memref<3x5xi32>'}}
  blocksparse.planned_to_dense %v lut(%l) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<3x16x16xf32>, memref<3x5xi32>, memref<32x30xf32>) -> ()
  return
}

// -----

func.func @c37_heads(%v: memref<3x16x16xf32>, %l: memref<3x4xi32>, %o: memref<32x30xf32>) {
  // expected-error @below {{expects lut_heads of 1 or 1, but got 4}}
  blocksparse.planned_to_dense %v lut(%l) outs(%o) {block = array<i64: 16, 16>, lut_heads = 4} : (memref<3x16x16xf32>, memref<3x4xi32>, memref<32x30xf32>) -> ()
  return
}

// -----

func.func @init_blocks_rank(%v: memref<32x32xf32>, %l: memref<3x4xi32>, %o: memref<3x16xf32>) {
  // expected-error @below {{operand #2 must be value blocks [S, bm, bn] or [B, S, bm, bn], but got 'memref<3x16xf32>'}}
  blocksparse.planned_from_dense %v lut(%l) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<32x32xf32>, memref<3x4xi32>, memref<3x16xf32>) -> ()
  return
}

// -----

func.func @c35_flipped(%v: memref<3x16x16xf32>, %p: memref<3xi32>, %o: memref<3x8x16xf32>) {
  // expected-error @below {{expects init in blocks of 16x16, but got 8x16}}
  blocksparse.planned_transpose %v permutation(%p) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<3x16x16xf32>, memref<3xi32>, memref<3x8x16xf32>) -> ()
  return
}

// -----

func.func @permutation_rank(%v: memref<3x16x16xf32>, %p: memref<1x1x3xi32>, %o: memref<3x16x16xf32>) {
  // expected-error @below {{operand #1 must be permutation, i32 [nnz] or [B, nnz], but got 'memref<1x1x3xi32>'}}
  blocksparse.planned_transpose %v permutation(%p) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<3x16x16xf32>, memref<1x1x3xi32>, memref<3x16x16xf32>) -> ()
  return
}

// -----

func.func @permutation_element(%v: memref<3x16x16xf32>, %p: memref<3xi64>, %o: memref<3x16x16xf32>) {
  // expected-error @below {{operand #1 must be permutation, i32 [nnz] or [B, nnz], but got 'memref<3xi64>'}}
  blocksparse.planned_transpose %v permutation(%p) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<3x16x16xf32>, memref<3xi64>, memref<3x16x16xf32>) -> ()
  return
}

// -----

func.func @indices_element(%crow: memref<5xf32>, %col: memref<?xi32>, %i0: memref<4x5xi32>, %i1: memref<?x2xi32>) {
  // expected-error @below {{operand #0 must be indices, i32 or i64 [n] or [B, n], but got 'memref<5xf32>'}}
  blocksparse.bsr_row_lut %crow, %col outs(%i0, %i1) : (memref<5xf32>, memref<?xi32>, memref<4x5xi32>, memref<?x2xi32>) -> ()
  return
}

// -----

func.func @indices_rank(%crow: memref<1x1x5xi32>, %col: memref<?xi32>, %i0: memref<4x5xi32>, %i1: memref<?x2xi32>) {
  // expected-error @below {{operand #0 must be indices, i32 or i64 [n] or [B, n], but got 'memref<1x1x5xi32>'}}
  blocksparse.bsr_row_lut %crow, %col outs(%i0, %i1) : (memref<1x1x5xi32>, memref<?xi32>, memref<4x5xi32>, memref<?x2xi32>) -> ()
  return
}

// -----

func.func @c41_ranks(%crow: memref<5xi32>, %col: memref<1x?xi32>, %i0: memref<4x5xi32>, %i1: memref<?x2xi32>) {
  // expected-error @below {{expects col_indices of rank 1, as crow_indices, but got rank 2}}
  blocksparse.bsr_row_lut %crow, %col outs(%i0, %i1) : (memref<5xi32>, memref<1x?xi32>, memref<4x5xi32>, memref<?x2xi32>) -> ()
  return
}

// -----

func.func @c41_width(%crow: memref<5xi32>, %col: memref<?xi64>, %i0: memref<4x5xi32>, %i1: memref<?x2xi32>) {
  // expected-error @below {{expects col_indices of the element type of crow_indices, 'i32', but got 'i64'}}
  blocksparse.bsr_row_lut %crow, %col outs(%i0, %i1) : (memref<5xi32>, memref<?xi64>, memref<4x5xi32>, memref<?x2xi32>) -> ()
  return
}

// -----

func.func @one_destination(%crow: memref<5xi32>, %col: memref<?xi32>, %i0: memref<4x5xi32>) {
  // expected-error @below {{expected 4 operands, but found 3}}
  "blocksparse.bsr_row_lut"(%crow, %col, %i0) : (memref<5xi32>, memref<?xi32>, memref<4x5xi32>) -> ()
  return
}

// -----

func.func @entries_columns(%crow: memref<5xi32>, %col: memref<?xi32>, %i0: memref<4x5xi32>, %i1: memref<?x4xi32>) {
  // expected-error @below {{operand #3 must be entries of a row LUT, i32 [e, 2] or [B, e, 2], but got 'memref<?x4xi32>'}}
  blocksparse.bsr_row_lut %crow, %col outs(%i0, %i1) : (memref<5xi32>, memref<?xi32>, memref<4x5xi32>, memref<?x4xi32>) -> ()
  return
}

// -----

func.func @coordinates_columns(%crow: memref<5xi32>, %col: memref<?xi32>, %i0: memref<?x2xi32>, %i1: memref<4x2xi32>) {
  // expected-error @below {{operand #2 must be coordinate LUT, i32 [nnz, 4] or [B, nnz, 4], but got 'memref<?x2xi32>'}}
  blocksparse.bsr_coordinate_lut %crow, %col outs(%i0, %i1) : (memref<5xi32>, memref<?xi32>, memref<?x2xi32>, memref<4x2xi32>) -> ()
  return
}

// -----

func.func @two_destinations(%crow: memref<5xi32>, %col: memref<?xi32>, %i0: memref<5xi32>, %i1: memref<?xi32>) {
  // expected-error @below {{expected 5 operands, but found 4}}
  "blocksparse.bsr_transpose_indices"(%crow, %col, %i0, %i1) : (memref<5xi32>, memref<?xi32>, memref<5xi32>, memref<?xi32>) -> ()
  return
}

// -----

func.func @c45_transpose(%crow: memref<5xi32>, %col: memref<?xi32>, %i0: memref<5xi64>, %i1: memref<?xi64>, %i2: memref<?xi32>) {
  // expected-error @below {{expects transposed_crow_indices of the element type of crow_indices, 'i32', but got 'i64'}}
  blocksparse.bsr_transpose_indices %crow, %col outs(%i0, %i1, %i2) : (memref<5xi32>, memref<?xi32>, memref<5xi64>, memref<?xi64>, memref<?xi32>) -> ()
  return
}

// -----

func.func @c46_memref_and_tensor(%crow: tensor<5xi32>, %col: tensor<?xi32>, %i0: memref<4x5xi32>, %i1: tensor<?x2xi32>) {
  // expected-error @below {{expects destinations that are all tensors or all memrefs, but got 'memref<4x5xi32>' and 'tensor<?x2xi32>'}}
  %0 = blocksparse.bsr_row_lut %crow, %col outs(%i0, %i1) : (tensor<5xi32>, tensor<?xi32>, memref<4x5xi32>, tensor<?x2xi32>) -> tensor<?x2xi32>
  return
}

// -----

func.func @c8_add(%a: memref<3x16x16xf32>, %b: memref<2x16x16xf32>, %o: memref<3x16x16xf32>) {
  // expected-error @below {{expects b of shape 3x16x16, but got 2x16x16}}
  blocksparse.planned_add %a, %b outs(%o) : (memref<3x16x16xf32>, memref<2x16x16xf32>, memref<3x16x16xf32>) -> ()
  return
}

// -----

func.func @c45_add(%a: memref<3x16x16xf32>, %o: memref<3x16x16xf16>) {
  // expected-error @below {{expects init of the element type of a, 'f32', but got 'f16'}}
  blocksparse.planned_add %a, %a outs(%o) : (memref<3x16x16xf32>, memref<3x16x16xf32>, memref<3x16x16xf16>) -> ()
  return
}

// -----

func.func @add_integers(%a: memref<3x16x16xi8>) {
  // expected-error @below {{operand #0 must be floating-point value blocks [S, bm, bn] or [B, S, bm, bn], but got 'memref<3x16x16xi8>'}}
  blocksparse.planned_add %a, %a outs(%a) : (memref<3x16x16xi8>, memref<3x16x16xi8>, memref<3x16x16xi8>) -> ()
  return
}
