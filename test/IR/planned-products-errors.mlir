// RUN: blocksparse-opt %s -verify-diagnostics -split-input-file

func.func @c34_count(%v: tensor<3x16x16xf32>, %d: tensor<32x20xf32>, %s: tensor<2x5xi32>, %e: tensor<3x2xi32>, %o: tensor<32x20xf32>) {
  // expected-error @below {{expects block of 2 sizes, but got 3}}
  %0 = blocksparse.planned_dsd %v, %d segments(%s) entries(%e) outs(%o) {block = array<i64: 16, 16, 16>, lut_heads = 1} : (tensor<3x16x16xf32>, tensor<32x20xf32>, tensor<2x5xi32>, tensor<3x2xi32>, tensor<32x20xf32>) -> tensor<32x20xf32>
  return
}

// -----

func.func @c34_positive(%v: tensor<3x16x16xf32>, %d: tensor<32x20xf32>, %s: tensor<2x5xi32>, %e: tensor<3x2xi32>, %o: tensor<32x20xf32>) {
  // expected-error @below {{expects a block of at least 1x1, but got 0x16}}
  %0 = blocksparse.planned_dsd %v, %d segments(%s) entries(%e) outs(%o) {block = array<i64: 0, 16>, lut_heads = 1} : (tensor<3x16x16xf32>, tensor<32x20xf32>, tensor<2x5xi32>, tensor<3x2xi32>, tensor<32x20xf32>) -> tensor<32x20xf32>
  return
}

// -----

func.func @values_rank(%v: tensor<16x16xf32>, %d: tensor<32x20xf32>, %s: tensor<2x5xi32>, %e: tensor<3x2xi32>, %o: tensor<32x20xf32>) {
  // expected-error @below {{operand #0 must be value blocks [S, bm, bn] or [B, S, bm, bn], but got 'tensor<16x16xf32>'}}
  %0 = blocksparse.planned_dsd %v, %d segments(%s) entries(%e) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (tensor<16x16xf32>, tensor<32x20xf32>, tensor<2x5xi32>, tensor<3x2xi32>, tensor<32x20xf32>) -> tensor<32x20xf32>
  return
}

// -----

func.func @c35_block(%v: tensor<3x16x8xf32>, %d: tensor<32x20xf32>, %s: tensor<2x5xi32>, %e: tensor<3x2xi32>, %o: tensor<32x20xf32>) {
  // expected-error @below {{expects values in blocks of 16x16, but got 16x8}}
  %0 = blocksparse.planned_dsd %v, %d segments(%s) entries(%e) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (tensor<3x16x8xf32>, tensor<32x20xf32>, tensor<2x5xi32>, tensor<3x2xi32>, tensor<32x20xf32>) -> tensor<32x20xf32>
  return
}

// -----

func.func @segments_columns(%v: tensor<3x16x16xf32>, %d: tensor<32x20xf32>, %s: tensor<2x4xi32>, %e: tensor<3x2xi32>, %o: tensor<32x20xf32>) {
  // expected-error @below {{operand #2 must be segments of a row LUT, i32 [s, 5] or [B, s, 5], but got 'tensor<2x4xi32>'}}
  %0 = blocksparse.planned_dsd %v, %d segments(%s) entries(%e) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (tensor<3x16x16xf32>, tensor<32x20xf32>, tensor<2x4xi32>, tensor<3x2xi32>, tensor<32x20xf32>) -> tensor<32x20xf32>
  return
}

// -----

func.func @entries_rank(%v: tensor<3x16x16xf32>, %d: tensor<32x20xf32>, %s: tensor<2x5xi32>, %e: tensor<6xi32>, %o: tensor<32x20xf32>) {
  // expected-error @below {{operand #3 must be entries of a row LUT, i32 [e, 2] or [B, e, 2], but got 'tensor<6xi32>'}}
  %0 = blocksparse.planned_dsd %v, %d segments(%s) entries(%e) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (tensor<3x16x16xf32>, tensor<32x20xf32>, tensor<2x5xi32>, tensor<6xi32>, tensor<32x20xf32>) -> tensor<32x20xf32>
  return
}

// -----

func.func @entries_type(%v: tensor<3x16x16xf32>, %d: tensor<32x20xf32>, %s: tensor<2x5xi32>, %e: tensor<3x2xi64>, %o: tensor<32x20xf32>) {
  // expected-error @below {{operand #3 must be entries of a row LUT, i32 [e, 2] or [B, e, 2], but got 'tensor<3x2xi64>'}}
  %0 = blocksparse.planned_dsd %v, %d segments(%s) entries(%e) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (tensor<3x16x16xf32>, tensor<32x20xf32>, tensor<2x5xi32>, tensor<3x2xi64>, tensor<32x20xf32>) -> tensor<32x20xf32>
  return
}

// -----

func.func @combine_columns(%v: tensor<3x16x16xf32>, %d: tensor<32x20xf32>, %s: tensor<2x5xi32>, %e: tensor<3x2xi32>, %c: tensor<1x3xi32>, %o: tensor<32x20xf32>) {
  // expected-error @below {{operand #4 must be combine table, i32 [c, 4] or [B, c, 4], but got 'tensor<1x3xi32>'}}
  %0 = blocksparse.planned_dsd %v, %d segments(%s) entries(%e) combine(%c) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1, slots = 2} : (tensor<3x16x16xf32>, tensor<32x20xf32>, tensor<2x5xi32>, tensor<3x2xi32>, tensor<1x3xi32>, tensor<32x20xf32>) -> tensor<32x20xf32>
  return
}

// -----

func.func @c39_slots(%v: tensor<3x16x16xf32>, %d: tensor<32x20xf32>, %s: tensor<2x5xi32>, %e: tensor<3x2xi32>, %o: tensor<32x20xf32>) {
  // expected-error @below {{expects slots with a combine table alone, but got 2 slots without a table}}
  %0 = blocksparse.planned_dsd %v, %d segments(%s) entries(%e) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1, slots = 2} : (tensor<3x16x16xf32>, tensor<32x20xf32>, tensor<2x5xi32>, tensor<3x2xi32>, tensor<32x20xf32>) -> tensor<32x20xf32>
  return
}

// -----

func.func @c39_combine(%v: tensor<3x16x16xf32>, %d: tensor<32x20xf32>, %s: tensor<2x5xi32>, %e: tensor<3x2xi32>, %c: tensor<1x4xi32>, %o: tensor<32x20xf32>) {
  // expected-error @below {{expects slots with a combine table alone, but got 0 slots and a table}}
  %0 = blocksparse.planned_dsd %v, %d segments(%s) entries(%e) combine(%c) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (tensor<3x16x16xf32>, tensor<32x20xf32>, tensor<2x5xi32>, tensor<3x2xi32>, tensor<1x4xi32>, tensor<32x20xf32>) -> tensor<32x20xf32>
  return
}

// -----

func.func @c37_positive(%v: tensor<3x16x16xf32>, %d: tensor<32x20xf32>, %s: tensor<2x5xi32>, %e: tensor<3x2xi32>, %o: tensor<32x20xf32>) {
  // expected-error @below {{expects lut_heads to be at least 1, but got 0}}
  %0 = blocksparse.planned_dsd %v, %d segments(%s) entries(%e) outs(%o) {block = array<i64: 16, 16>, lut_heads = 0} : (tensor<3x16x16xf32>, tensor<32x20xf32>, tensor<2x5xi32>, tensor<3x2xi32>, tensor<32x20xf32>) -> tensor<32x20xf32>
  return
}

// -----

func.func @c37_heads(%v: tensor<3x16x16xf32>, %d: tensor<4x32x20xf32>, %s: tensor<2x5xi32>, %e: tensor<3x2xi32>, %o: tensor<4x32x20xf32>) {
  // expected-error @below {{expects lut_heads of 1 or 4, but got 2}}
  %0 = blocksparse.planned_dsd %v, %d segments(%s) entries(%e) outs(%o) {block = array<i64: 16, 16>, lut_heads = 2} : (tensor<3x16x16xf32>, tensor<4x32x20xf32>, tensor<2x5xi32>, tensor<3x2xi32>, tensor<4x32x20xf32>) -> tensor<4x32x20xf32>
  return
}

// -----

func.func @c8_columns(%v: tensor<3x16x16xf32>, %d: tensor<32x20xf32>, %s: tensor<2x5xi32>, %e: tensor<3x2xi32>, %o: tensor<32x21xf32>) {
  // expected-error @below {{expects init of shape ?x20, but got 32x21}}
  %0 = blocksparse.planned_dsd %v, %d segments(%s) entries(%e) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (tensor<3x16x16xf32>, tensor<32x20xf32>, tensor<2x5xi32>, tensor<3x2xi32>, tensor<32x21xf32>) -> tensor<32x21xf32>
  return
}

// -----

func.func @c9_factors(%v: tensor<3x16x16xf32>, %d: tensor<32x20xf16>, %s: tensor<2x5xi32>, %e: tensor<3x2xi32>, %o: tensor<32x20xf32>) {
  // expected-error @below {{expects values and dense to have the same element type, but got 'f32' and 'f16'}}
  %0 = blocksparse.planned_dsd %v, %d segments(%s) entries(%e) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (tensor<3x16x16xf32>, tensor<32x20xf16>, tensor<2x5xi32>, tensor<3x2xi32>, tensor<32x20xf32>) -> tensor<32x20xf32>
  return
}

// -----

func.func @c10_type(%v: tensor<3x16x16xf32>, %d: tensor<32x20xf32>, %s: tensor<2x5xi32>, %e: tensor<3x2xi32>, %o: tensor<32x20xf16>) {
  // expected-error @below {{expects a product of 'f32' to have element type 'f32', but got 'f16'}}
  %0 = blocksparse.planned_dsd %v, %d segments(%s) entries(%e) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (tensor<3x16x16xf32>, tensor<32x20xf32>, tensor<2x5xi32>, tensor<3x2xi32>, tensor<32x20xf16>) -> tensor<32x20xf16>
  return
}

// -----

func.func @c13_bias(%v: tensor<3x16x16xf32>, %d: tensor<32x20xf32>, %s: tensor<2x5xi32>, %e: tensor<3x2xi32>, %c: tensor<32xf32>, %o: tensor<32x20xf32>) {
  // expected-error @below {{expects bias of shape 20, but got 32}}
  %0 = blocksparse.planned_dsd %v, %d segments(%s) entries(%e) bias(%c) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (tensor<3x16x16xf32>, tensor<32x20xf32>, tensor<2x5xi32>, tensor<3x2xi32>, tensor<32xf32>, tensor<32x20xf32>) -> tensor<32x20xf32>
  return
}

// -----

func.func @c16_input(%v: tensor<3x16x16xf32>, %d: tensor<32x20xf32>, %s: tensor<2x5xi32>, %e: tensor<3x2xi32>, %o: tensor<32x20xf32>) {
  // expected-error @below {{expects an input when beta is not 0, but got none and beta 5.000000e-01}}
  %0 = blocksparse.planned_dsd %v, %d segments(%s) entries(%e) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1, beta = 0.5} : (tensor<3x16x16xf32>, tensor<32x20xf32>, tensor<2x5xi32>, tensor<3x2xi32>, tensor<32x20xf32>) -> tensor<32x20xf32>
  return
}

// -----

func.func @results(%v: tensor<3x16x16xf32>, %d: tensor<32x20xf32>, %s: tensor<2x5xi32>, %e: tensor<3x2xi32>, %o: tensor<32x20xf32>) {
  // expected-error @below {{expected type of operand #4 ('tensor<32x20xf32>') to match type of corresponding result ('tensor<32x20xf64>')}}
  %0 = blocksparse.planned_dsd %v, %d segments(%s) entries(%e) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (tensor<3x16x16xf32>, tensor<32x20xf32>, tensor<2x5xi32>, tensor<3x2xi32>, tensor<32x20xf32>) -> tensor<32x20xf64>
  return
}

// -----

func.func @no_result(%v: tensor<3x16x16xf32>, %d: tensor<32x20xf32>, %s: tensor<2x5xi32>, %e: tensor<3x2xi32>, %o: tensor<32x20xf32>) {
  // expected-error @below {{expected the number of tensor results (0) to be equal to the number of output tensors (1)}}
  blocksparse.planned_dsd %v, %d segments(%s) entries(%e) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (tensor<3x16x16xf32>, tensor<32x20xf32>, tensor<2x5xi32>, tensor<3x2xi32>, tensor<32x20xf32>) -> ()
  return
}

// -----

func.func @lut_columns(%a: tensor<32x8xf32>, %b: tensor<8x32xf32>, %l: tensor<3x5xi32>, %s: tensor<2x2xi32>, %o: tensor<3x16x16xf32>) {
  // expected-error @below {{operand #2 must be coordinate LUT, i32 [nnz, 4] or [B, nnz, 4], but got 'tensor<3x5xi32>'}}
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (tensor<32x8xf32>, tensor<8x32xf32>, tensor<3x5xi32>, tensor<2x2xi32>, tensor<3x16x16xf32>) -> tensor<3x16x16xf32>
  return
}

// -----

func.func @sdd_segments_columns(%a: tensor<32x8xf32>, %b: tensor<8x32xf32>, %l: tensor<3x4xi32>, %s: tensor<3x5xi32>, %o: tensor<3x16x16xf32>) {
  // expected-error @below {{operand #3 must be segments of a coordinate LUT, i32 [s, 2] or [B, s, 2], but got 'tensor<3x5xi32>'}}
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (tensor<32x8xf32>, tensor<8x32xf32>, tensor<3x4xi32>, tensor<3x5xi32>, tensor<3x16x16xf32>) -> tensor<3x16x16xf32>
  return
}

// -----

func.func @c35_init(%a: tensor<32x8xf32>, %b: tensor<8x32xf32>, %l: tensor<3x4xi32>, %s: tensor<2x2xi32>, %o: tensor<3x8x16xf32>) {
  // expected-error @below {{expects init in blocks of 16x16, but got 8x16}}
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (tensor<32x8xf32>, tensor<8x32xf32>, tensor<3x4xi32>, tensor<2x2xi32>, tensor<3x8x16xf32>) -> tensor<3x8x16xf32>
  return
}

// -----

func.func @c37_sdd(%a: tensor<32x8xf32>, %b: tensor<8x32xf32>, %l: tensor<3x4xi32>, %s: tensor<2x2xi32>, %o: tensor<3x16x16xf32>) {
  // expected-error @below {{expects lut_heads to be at least 1, but got -1}}
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) outs(%o) {block = array<i64: 16, 16>, lut_heads = -1} : (tensor<32x8xf32>, tensor<8x32xf32>, tensor<3x4xi32>, tensor<2x2xi32>, tensor<3x16x16xf32>) -> tensor<3x16x16xf32>
  return
}

// -----

func.func @c7_inner(%a: tensor<32x8xf32>, %b: tensor<9x32xf32>, %l: tensor<3x4xi32>, %s: tensor<2x2xi32>, %o: tensor<3x16x16xf32>) {
  // expected-error @below {{expects b to have 8 rows, the columns of a, but got 9}}
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (tensor<32x8xf32>, tensor<9x32xf32>, tensor<3x4xi32>, tensor<2x2xi32>, tensor<3x16x16xf32>) -> tensor<3x16x16xf32>
  return
}

// -----

func.func @c16_sdd(%a: tensor<32x8xf32>, %b: tensor<8x32xf32>, %l: tensor<3x4xi32>, %s: tensor<2x2xi32>, %o: tensor<3x16x16xf32>) {
  // expected-error @below {{expects an input when beta is not 0, but got none and beta 1.000000e+00}}
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1, beta = 1.0} : (tensor<32x8xf32>, tensor<8x32xf32>, tensor<3x4xi32>, tensor<2x2xi32>, tensor<3x16x16xf32>) -> tensor<3x16x16xf32>
  return
}

// -----

func.func @c8_input(%a: tensor<32x8xf32>, %b: tensor<8x32xf32>, %l: tensor<3x4xi32>, %s: tensor<2x2xi32>, %i: tensor<4x16x16xf32>, %o: tensor<3x16x16xf32>) {
  // expected-error @below {{expects input of shape 3x16x16, but got 4x16x16}}
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) input(%i) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1, beta = 1.0} : (tensor<32x8xf32>, tensor<8x32xf32>, tensor<3x4xi32>, tensor<2x2xi32>, tensor<4x16x16xf32>, tensor<3x16x16xf32>) -> tensor<3x16x16xf32>
  return
}

// -----

func.func @c45_input(%a: tensor<32x8xf32>, %b: tensor<8x32xf32>, %l: tensor<3x4xi32>, %s: tensor<2x2xi32>, %i: tensor<3x16x16xf16>, %o: tensor<3x16x16xf32>) {
  // expected-error @below {{expects input of the element type of init, 'f32', but got 'f16'}}
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) input(%i) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1, beta = 1.0} : (tensor<32x8xf32>, tensor<8x32xf32>, tensor<3x4xi32>, tensor<2x2xi32>, tensor<3x16x16xf16>, tensor<3x16x16xf32>) -> tensor<3x16x16xf32>
  return
}

// -----

func.func @c38_count(%a: tensor<32x8xf32>, %b: tensor<8x32xf32>, %l: tensor<3x4xi32>, %s: tensor<2x2xi32>, %t: tensor<1x24xi32>, %o: tensor<3x16x16xf32>) {
  // expected-error @below {{expects 0 or 3 tables of work lists, but got 1}}
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) tiles(%t) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (tensor<32x8xf32>, tensor<8x32xf32>, tensor<3x4xi32>, tensor<2x2xi32>, tensor<1x24xi32>, tensor<3x16x16xf32>) -> tensor<3x16x16xf32>
  return
}

// -----

func.func @c38_columns(%a: tensor<32x8xf32>, %b: tensor<8x32xf32>, %l: tensor<3x4xi32>, %s: tensor<2x2xi32>, %t: tensor<1x8xi32>, %w: tensor<2xi32>, %p: tensor<1x128xi32>, %o: tensor<3x16x16xf32>) {
  // expected-error @below {{expects tiles of work lists to have 24 columns, but got 8}}
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) tiles(%t, %w, %p) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (tensor<32x8xf32>, tensor<8x32xf32>, tensor<3x4xi32>, tensor<2x2xi32>, tensor<1x8xi32>, tensor<2xi32>, tensor<1x128xi32>, tensor<3x16x16xf32>) -> tensor<3x16x16xf32>
  return
}

// -----

func.func @c38_large(%a: tensor<64x8xf32>, %b: tensor<8x64xf32>, %l: tensor<1x4xi32>, %s: tensor<1x2xi32>, %t: tensor<1x24xi32>, %w: tensor<2xi32>, %p: tensor<1x8xi32>, %o: tensor<1x64x64xf32>) {
  // expected-error @below {{expects 0 or 2 tables of work lists, but got 3}}
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) tiles(%t, %w, %p) outs(%o) {block = array<i64: 64, 64>, lut_heads = 1} : (tensor<64x8xf32>, tensor<8x64xf32>, tensor<1x4xi32>, tensor<1x2xi32>, tensor<1x24xi32>, tensor<2xi32>, tensor<1x8xi32>, tensor<1x64x64xf32>) -> tensor<1x64x64xf32>
  return
}

// -----

func.func @c38_places(%a: tensor<32x8xf32>, %b: tensor<8x32xf32>, %l: tensor<3x4xi32>, %s: tensor<2x2xi32>, %t: tensor<1x24xi32>, %w: tensor<2xi32>, %p: tensor<128xi32>, %o: tensor<3x16x16xf32>) {
  // expected-error @below {{expects places of work lists of rank 2, but got rank 1}}
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) tiles(%t, %w, %p) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (tensor<32x8xf32>, tensor<8x32xf32>, tensor<3x4xi32>, tensor<2x2xi32>, tensor<1x24xi32>, tensor<2xi32>, tensor<128xi32>, tensor<3x16x16xf32>) -> tensor<3x16x16xf32>
  return
}

// -----

func.func @c8_matmul(%a: memref<10x64xf32>, %b: memref<64x32xf32>, %o: memref<10x31xf32>) {
  // expected-error @below {{expects a result of shape 10x32, but got 10x31}}
  blocksparse.planned_matmul %a, %b outs(%o) : (memref<10x64xf32>, memref<64x32xf32>, memref<10x31xf32>) -> ()
  return
}

// -----

func.func @c19_scatter_mm(%b: memref<5x16x8xf32>, %o: memref<7x9x32xf32>, %c: memref<4xi32>, %p: memref<?x2xi32>, %x: memref<3x16x32xf32>) {
  // expected-error @below {{expects others of shape ?x8x?, but got 7x9x32}}
  blocksparse.planned_scatter_mm %b, %o indices(%c, %p) outs(%x) : (memref<5x16x8xf32>, memref<7x9x32xf32>, memref<4xi32>, memref<?x2xi32>, memref<3x16x32xf32>) -> ()
  return
}

// -----

func.func @c42_count(%v: tensor<3x16x16xf16>, %d: tensor<32x64xf16>, %s: tensor<2x5xi32>, %e: tensor<3x2xi32>, %t: tensor<1x8xi32>, %o: tensor<32x64xf16>) {
  // expected-error @below {{expects 0 or 5 tables of stages, but got 1}}
  %0 = blocksparse.planned_dsd %v, %d segments(%s) entries(%e) stages(%t) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (tensor<3x16x16xf16>, tensor<32x64xf16>, tensor<2x5xi32>, tensor<3x2xi32>, tensor<1x8xi32>, tensor<32x64xf16>) -> tensor<32x64xf16>
  return
}

// -----

func.func @c42_rank(%v: tensor<3x16x16xf16>, %d: tensor<32x64xf16>, %s: tensor<2x5xi32>, %e: tensor<3x2xi32>, %t0: tensor<1x8xi32>, %t1: tensor<2x1xi32>, %t2: tensor<2x12xi32>, %t3: tensor<1x2xi32>, %t4: tensor<3xi32>, %o: tensor<32x64xf16>) {
  // expected-error @below {{expects workers of stages of rank 1, but got rank 2}}
  %0 = blocksparse.planned_dsd %v, %d segments(%s) entries(%e) stages(%t0, %t1, %t2, %t3, %t4) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (tensor<3x16x16xf16>, tensor<32x64xf16>, tensor<2x5xi32>, tensor<3x2xi32>, tensor<1x8xi32>, tensor<2x1xi32>, tensor<2x12xi32>, tensor<1x2xi32>, tensor<3xi32>, tensor<32x64xf16>) -> tensor<32x64xf16>
  return
}

// -----

func.func @stages_element(%v: tensor<3x16x16xf16>, %d: tensor<32x64xf16>, %s: tensor<2x5xi32>, %e: tensor<3x2xi32>, %t0: tensor<1x8xi32>, %t1: tensor<2xi32>, %t2: tensor<2x12xi64>, %t3: tensor<1x2xi32>, %t4: tensor<3xi32>, %o: tensor<32x64xf16>) {
  // expected-error @below {{operand #6 must be variadic of i32 list or table without a batch, but got 'tensor<2x12xi64>'}}
  %0 = blocksparse.planned_dsd %v, %d segments(%s) entries(%e) stages(%t0, %t1, %t2, %t3, %t4) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (tensor<3x16x16xf16>, tensor<32x64xf16>, tensor<2x5xi32>, tensor<3x2xi32>, tensor<1x8xi32>, tensor<2xi32>, tensor<2x12xi64>, tensor<1x2xi32>, tensor<3xi32>, tensor<32x64xf16>) -> tensor<32x64xf16>
  return
}

// -----

func.func @c42_columns(%v: tensor<3x16x16xf16>, %d: tensor<32x64xf16>, %s: tensor<2x5xi32>, %e: tensor<3x2xi32>, %t0: tensor<1x4xi32>, %t1: tensor<2xi32>, %t2: tensor<2x12xi32>, %t3: tensor<1x2xi32>, %t4: tensor<3xi32>, %o: tensor<32x64xf16>) {
  // expected-error @below {{expects tiles of stages to have 8 columns, but got 4}}
  %0 = blocksparse.planned_dsd %v, %d segments(%s) entries(%e) stages(%t0, %t1, %t2, %t3, %t4) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (tensor<3x16x16xf16>, tensor<32x64xf16>, tensor<2x5xi32>, tensor<3x2xi32>, tensor<1x4xi32>, tensor<2xi32>, tensor<2x12xi32>, tensor<1x2xi32>, tensor<3xi32>, tensor<32x64xf16>) -> tensor<32x64xf16>
  return
}

// -----

func.func @c43_shape(%v: tensor<3x16x16xf16>, %d: tensor<32x64xf16>, %s: tensor<2x5xi32>, %e: tensor<3x2xi32>, %t0: tensor<1x8xi32>, %t1: tensor<2xi32>, %t2: tensor<2x12xi32>, %t3: tensor<1x2xi32>, %t4: tensor<3xi32>, %p: tensor<4x16x16xf16>, %o: tensor<32x64xf16>) {
  // expected-error @below {{expects packed of shape 3x16x16, but got 4x16x16}}
  %0 = blocksparse.planned_dsd %v, %d segments(%s) entries(%e) stages(%t0, %t1, %t2, %t3, %t4) packed(%p) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (tensor<3x16x16xf16>, tensor<32x64xf16>, tensor<2x5xi32>, tensor<3x2xi32>, tensor<1x8xi32>, tensor<2xi32>, tensor<2x12xi32>, tensor<1x2xi32>, tensor<3xi32>, tensor<4x16x16xf16>, tensor<32x64xf16>) -> tensor<32x64xf16>
  return
}

// -----

func.func @c43_element(%v: tensor<3x16x16xf16>, %d: tensor<32x64xf16>, %s: tensor<2x5xi32>, %e: tensor<3x2xi32>, %t0: tensor<1x8xi32>, %t1: tensor<2xi32>, %t2: tensor<2x12xi32>, %t3: tensor<1x2xi32>, %t4: tensor<3xi32>, %p: tensor<3x16x16xbf16>, %o: tensor<32x64xf16>) {
  // expected-error @below {{expects packed of the element type of values, 'f16', but got 'bf16'}}
  %0 = blocksparse.planned_dsd %v, %d segments(%s) entries(%e) stages(%t0, %t1, %t2, %t3, %t4) packed(%p) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (tensor<3x16x16xf16>, tensor<32x64xf16>, tensor<2x5xi32>, tensor<3x2xi32>, tensor<1x8xi32>, tensor<2xi32>, tensor<2x12xi32>, tensor<1x2xi32>, tensor<3xi32>, tensor<3x16x16xbf16>, tensor<32x64xf16>) -> tensor<32x64xf16>
  return
}

// -----

func.func @c43_without_stages(%v: tensor<3x16x16xf16>, %d: tensor<32x64xf16>, %s: tensor<2x5xi32>, %e: tensor<3x2xi32>, %p: tensor<3x16x16xf16>, %o: tensor<32x64xf16>) {
  // expected-error @below {{expects stages with packed values, but got none}}
  %0 = blocksparse.planned_dsd %v, %d segments(%s) entries(%e) packed(%p) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (tensor<3x16x16xf16>, tensor<32x64xf16>, tensor<2x5xi32>, tensor<3x2xi32>, tensor<3x16x16xf16>, tensor<32x64xf16>) -> tensor<32x64xf16>
  return
}

// -----

func.func @c8_columns_transposed(%v: tensor<3x16x16xf32>, %d: tensor<20x32xf32>, %s: tensor<2x5xi32>, %e: tensor<3x2xi32>, %o: tensor<21x32xf32>) {
  // expected-error @below {{expects init of shape 20x?, but got 21x32}}
  %0 = blocksparse.planned_dsd %v, %d segments(%s) entries(%e) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1, transpose_b, transpose_out} : (tensor<3x16x16xf32>, tensor<20x32xf32>, tensor<2x5xi32>, tensor<3x2xi32>, tensor<21x32xf32>) -> tensor<21x32xf32>
  return
}

// -----

func.func @lut_element(%a: memref<32x8xf32>, %b: memref<8x32xf32>, %l: memref<3x4xf16>, %s: memref<2x2xi32>, %o: memref<3x16x16xf32>) {
  // expected-error @below {{operand #2 must be coordinate LUT, i32 [nnz, 4] or [B, nnz, 4], but got 'memref<3x4xf16>'}}
  blocksparse.planned_sdd %a, %b lut(%l) segments(%s) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<32x8xf32>, memref<8x32xf32>, memref<3x4xf16>, memref<2x2xi32>, memref<3x16x16xf32>) -> ()
  return
}

// -----

func.func @dense_rank(%v: tensor<3x16x16xf32>, %d: tensor<32xf32>, %s: tensor<2x5xi32>, %e: tensor<3x2xi32>, %o: tensor<32x20xf32>) {
  // expected-error @below {{operand #1 must be dense matrices of rank 2 to 4, but got 'tensor<32xf32>'}}
  %0 = blocksparse.planned_dsd %v, %d segments(%s) entries(%e) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (tensor<3x16x16xf32>, tensor<32xf32>, tensor<2x5xi32>, tensor<3x2xi32>, tensor<32x20xf32>) -> tensor<32x20xf32>
  return
}

// -----

func.func @bias_rank(%a: memref<10x64xf32>, %b: memref<64x32xf32>, %c: memref<1x32xf32>, %o: memref<10x32xf32>) {
  // expected-error @below {{operand #2 must be dense vector, but got 'memref<1x32xf32>'}}
  blocksparse.planned_matmul %a, %b bias(%c) outs(%o) : (memref<10x64xf32>, memref<64x32xf32>, memref<1x32xf32>, memref<10x32xf32>) -> ()
  return
}

// -----

func.func @scatter_blocks_rank(%b: memref<16x8xf32>, %o: memref<7x8x32xf32>, %c: memref<4xi32>, %p: memref<?x2xi32>, %x: memref<3x16x32xf32>) {
  // expected-error @below {{operand #0 must be tiles [P, Ms, Ks], but got 'memref<16x8xf32>'}}
  blocksparse.planned_scatter_mm %b, %o indices(%c, %p) outs(%x) : (memref<16x8xf32>, memref<7x8x32xf32>, memref<4xi32>, memref<?x2xi32>, memref<3x16x32xf32>) -> ()
  return
}

// -----

func.func @scatter_indices_element(%b: memref<5x16x8xf32>, %o: memref<7x8x32xf32>, %c: memref<4xf32>, %p: memref<?x2xi32>, %x: memref<3x16x32xf32>) {
  // expected-error @below {{operand #2 must be variadic of indices of scatter_mm, i32 or i64 of rank 1 or 2, but got 'memref<4xf32>'}}
  blocksparse.planned_scatter_mm %b, %o indices(%c, %p) outs(%x) : (memref<5x16x8xf32>, memref<7x8x32xf32>, memref<4xf32>, memref<?x2xi32>, memref<3x16x32xf32>) -> ()
  return
}

// -----

func.func @c38_rank(%a: tensor<32x8xf32>, %b: tensor<8x32xf32>, %l: tensor<3x4xi32>, %s: tensor<2x2xi32>, %t: tensor<24xi32>, %w: tensor<2xi32>, %p: tensor<1x8xi32>, %o: tensor<3x16x16xf32>) {
  // expected-error @below {{expects tiles of work lists of rank 2, but got rank 1}}
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) tiles(%t, %w, %p) outs(%o) {block = array<i64: 16, 16>, lut_heads = 1} : (tensor<32x8xf32>, tensor<8x32xf32>, tensor<3x4xi32>, tensor<2x2xi32>, tensor<24xi32>, tensor<2xi32>, tensor<1x8xi32>, tensor<3x16x16xf32>) -> tensor<3x16x16xf32>
  return
}
