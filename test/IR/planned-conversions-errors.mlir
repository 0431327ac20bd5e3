// RUN: blocksparse-opt %s -verify-diagnostics -split-input-file

func.func @c30_type(%v: memref<3x16x16xf32>, %l: memref<3x4xi32>, %o: memref<32x30xf16>) {
  // expected-error @below {{expects init of the element type of values, 'f32', but got 'f16'}}
  blocksparse.planned_to_dense %v lut(%l) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<3x16x16xf32>, memref<3x4xi32>, memref<32x30xf16>) -> ()
  return
}

// -----

func.func @c5_rank(%v: memref<3x16x16xf32>, %l: memref<3x4xi32>, %o: memref<32xf32>) {
  // expected-error @below {{expects init of rank 2 to 4, but got rank 1}}
  blocksparse.planned_to_dense %v lut(%l) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<3x16x16xf32>, memref<3x4xi32>, memref<32xf32>) -> ()
  return
}

// -----

func.func @c36_lut(%v: memref<3x16x16xf32>, %l: memref<3x5xi32>, %o: memref<32x30xf32>) {
  // expected-error @below {{expects lut to have 4 columns, but got 5}}
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

func.func @c35_from_dense(%v: memref<32x32xf32>, %l: memref<3x4xi32>, %o: memref<3x16xf32>) {
  // expected-error @below {{expects init of rank 3 or 4, but got rank 2}}
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

func.func @c36_permutation(%v: memref<3x16x16xf32>, %p: memref<1x1x3xi32>, %o: memref<3x16x16xf32>) {
  // expected-error @below {{expects permutation of rank 1 or 2, but got rank 3}}
  blocksparse.planned_transpose %v permutation(%p) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<3x16x16xf32>, memref<1x1x3xi32>, memref<3x16x16xf32>) -> ()
  return
}

// -----

func.func @c36_permutation_type(%v: memref<3x16x16xf32>, %p: memref<3xi64>, %o: memref<3x16x16xf32>) {
  // expected-error @below {{expects permutation of i32, but got 'i64'}}
  blocksparse.planned_transpose %v permutation(%p) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<3x16x16xf32>, memref<3xi64>, memref<3x16x16xf32>) -> ()
  return
}

// -----

func.func @c41_type(%crow: memref<5xf32>, %col: memref<?xi32>, %i0: memref<4x5xi32>, %i1: memref<?x2xi32>) {
  // expected-error @below {{expects crow_indices of i32 or i64, but got 'f32'}}
  blocksparse.bsr_row_lut %crow, %col outs(%i0, %i1) : (memref<5xf32>, memref<?xi32>, memref<4x5xi32>, memref<?x2xi32>) -> ()
  return
}

// -----

func.func @c41_rank(%crow: memref<1x1x5xi32>, %col: memref<?xi32>, %i0: memref<4x5xi32>, %i1: memref<?x2xi32>) {
  // expected-error @below {{expects crow_indices of rank 1 or 2, but got rank 3}}
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

func.func @c30_width(%crow: memref<5xi32>, %col: memref<?xi64>, %i0: memref<4x5xi32>, %i1: memref<?x2xi32>) {
  // expected-error @below {{expects col_indices of the element type of crow_indices, 'i32', but got 'i64'}}
  blocksparse.bsr_row_lut %crow, %col outs(%i0, %i1) : (memref<5xi32>, memref<?xi64>, memref<4x5xi32>, memref<?x2xi32>) -> ()
  return
}

// -----

func.func @c38_inits(%crow: memref<5xi32>, %col: memref<?xi32>, %i0: memref<4x5xi32>) {
  // expected-error @below {{expects 2 destinations, but got 1}}
  blocksparse.bsr_row_lut %crow, %col outs(%i0) : (memref<5xi32>, memref<?xi32>, memref<4x5xi32>) -> ()
  return
}

// -----

func.func @c36_entries(%crow: memref<5xi32>, %col: memref<?xi32>, %i0: memref<4x5xi32>, %i1: memref<?x4xi32>) {
  // expected-error @below {{expects entries to have 2 columns, but got 4}}
  blocksparse.bsr_row_lut %crow, %col outs(%i0, %i1) : (memref<5xi32>, memref<?xi32>, memref<4x5xi32>, memref<?x4xi32>) -> ()
  return
}

// -----

func.func @c36_coordinates(%crow: memref<5xi32>, %col: memref<?xi32>, %i0: memref<?x2xi32>, %i1: memref<4x2xi32>) {
  // expected-error @below {{expects lut to have 4 columns, but got 2}}
  blocksparse.bsr_coordinate_lut %crow, %col outs(%i0, %i1) : (memref<5xi32>, memref<?xi32>, memref<?x2xi32>, memref<4x2xi32>) -> ()
  return
}

// -----

func.func @c38_transpose(%crow: memref<5xi32>, %col: memref<?xi32>, %i0: memref<5xi32>, %i1: memref<?xi32>) {
  // expected-error @below {{expects 3 destinations, but got 2}}
  blocksparse.bsr_transpose_indices %crow, %col outs(%i0, %i1) : (memref<5xi32>, memref<?xi32>, memref<5xi32>, memref<?xi32>) -> ()
  return
}

// -----

func.func @c30_transpose(%crow: memref<5xi32>, %col: memref<?xi32>, %i0: memref<5xi64>, %i1: memref<?xi64>, %i2: memref<?xi32>) {
  // expected-error @below {{expects init 0 of the element type of crow_indices, 'i32', but got 'i64'}}
  blocksparse.bsr_transpose_indices %crow, %col outs(%i0, %i1, %i2) : (memref<5xi32>, memref<?xi32>, memref<5xi64>, memref<?xi64>, memref<?xi32>) -> ()
  return
}
