// RUN: blocksparse-opt %s -verify-diagnostics -split-input-file

func.func @c40_count(%x: memref<3x16x16xf32>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %y: memref<3x16x16xf32>) {
  // expected-error @below {{expects shape of 2 sizes, but got 1}}
  blocksparse.planned_softmax %x segments(%s) entries(%e) outs(%y) {block = array<i64: 16, 16>, lut_heads = 1, shape = array<i64: 30>} : (memref<3x16x16xf32>, memref<2x5xi32>, memref<3x2xi32>, memref<3x16x16xf32>) -> ()
  return
}

// -----

func.func @c40_negative(%x: memref<3x16x16xf32>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %y: memref<3x16x16xf32>) {
  // expected-error @below {{expects shape without a negative size, but got -1x32}}
  blocksparse.planned_softmax %x segments(%s) entries(%e) outs(%y) {block = array<i64: 16, 16>, lut_heads = 1, shape = array<i64: -1, 32>} : (memref<3x16x16xf32>, memref<2x5xi32>, memref<3x2xi32>, memref<3x16x16xf32>) -> ()
  return
}

// -----

func.func @three_destinations(%x: memref<3x16x16xf32>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %y: memref<3x16x16xf32>, %l: memref<30xf32>, %m: memref<30xf32>) {
  // expected-error @below {{expected ')'}}
  blocksparse.planned_softmax %x segments(%s) entries(%e) outs(%y, %l, %m) {block = array<i64: 16, 16>, lut_heads = 1, shape = array<i64: 30, 32>} : (memref<3x16x16xf32>, memref<2x5xi32>, memref<3x2xi32>, memref<3x16x16xf32>, memref<30xf32>, memref<30xf32>) -> ()
  return
}

// -----

func.func @segments_columns(%x: memref<3x16x16xf32>, %s: memref<2x2xi32>, %e: memref<3x2xi32>, %y: memref<3x16x16xf32>) {
  // expected-error @below {{operand #1 must be segments of a row LUT, i32 [s, 5] or [B, s, 5], but got 'memref<2x2xi32>'}}
  blocksparse.planned_softmax %x segments(%s) entries(%e) outs(%y) {block = array<i64: 16, 16>, lut_heads = 1, shape = array<i64: 30, 32>} : (memref<3x16x16xf32>, memref<2x2xi32>, memref<3x2xi32>, memref<3x16x16xf32>) -> ()
  return
}

// -----

func.func @c8_y(%x: memref<3x16x16xf32>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %y: memref<4x16x16xf32>) {
  // expected-error @below {{expects y of shape 3x16x16, but got 4x16x16}}
  blocksparse.planned_softmax %x segments(%s) entries(%e) outs(%y) {block = array<i64: 16, 16>, lut_heads = 1, shape = array<i64: 30, 32>} : (memref<3x16x16xf32>, memref<2x5xi32>, memref<3x2xi32>, memref<4x16x16xf32>) -> ()
  return
}

// -----

func.func @x_element(%x: memref<3x16x16xi8>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %y: memref<3x16x16xf32>) {
  // expected-error @below {{operand #0 must be floating-point value blocks [S, bm, bn] or [B, S, bm, bn], but got 'memref<3x16x16xi8>'}}
  blocksparse.planned_softmax %x segments(%s) entries(%e) outs(%y) {block = array<i64: 16, 16>, lut_heads = 1, shape = array<i64: 30, 32>} : (memref<3x16x16xi8>, memref<2x5xi32>, memref<3x2xi32>, memref<3x16x16xf32>) -> ()
  return
}

// -----

func.func @c26_rows(%x: memref<3x16x16xf32>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %y: memref<3x16x16xf32>, %l: memref<32xf32>) {
  // expected-error @below {{expects lse of shape 30, but got 32}}
  blocksparse.planned_softmax %x segments(%s) entries(%e) outs(%y, %l) {block = array<i64: 16, 16>, lut_heads = 1, shape = array<i64: 30, 32>} : (memref<3x16x16xf32>, memref<2x5xi32>, memref<3x2xi32>, memref<3x16x16xf32>, memref<32xf32>) -> ()
  return
}

// -----

func.func @lse_rank(%x: memref<3x16x16xf32>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %y: memref<3x16x16xf32>, %l: memref<1x1x1x30xf32>) {
  // expected-error @below {{operand #4 must be log-sum-exp [M], [H, M] or [B, H, M] of f32 or f64, but got 'memref<1x1x1x30xf32>'}}
  blocksparse.planned_softmax %x segments(%s) entries(%e) outs(%y, %l) {block = array<i64: 16, 16>, lut_heads = 1, shape = array<i64: 30, 32>} : (memref<3x16x16xf32>, memref<2x5xi32>, memref<3x2xi32>, memref<3x16x16xf32>, memref<1x1x1x30xf32>) -> ()
  return
}

// -----

func.func @c26_type(%x: memref<3x16x16xf32>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %y: memref<3x16x16xf32>, %l: memref<30xf64>) {
  // expected-error @below {{expects lse of element type 'f32', but got 'f64'}}
  blocksparse.planned_softmax %x segments(%s) entries(%e) outs(%y, %l) {block = array<i64: 16, 16>, lut_heads = 1, shape = array<i64: 30, 32>} : (memref<3x16x16xf32>, memref<2x5xi32>, memref<3x2xi32>, memref<3x16x16xf32>, memref<30xf64>) -> ()
  return
}

// -----

func.func @c22_rpe(%x: memref<3x16x16xf32>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %r: memref<30x31xf32>, %y: memref<3x16x16xf32>) {
  // expected-error @below {{expects rpe to broadcast to ?x?x30x32, but got 30x31}}
  blocksparse.planned_softmax %x segments(%s) entries(%e) rpe(%r) outs(%y) {block = array<i64: 16, 16>, lut_heads = 1, shape = array<i64: 30, 32>} : (memref<3x16x16xf32>, memref<2x5xi32>, memref<3x2xi32>, memref<30x31xf32>, memref<3x16x16xf32>) -> ()
  return
}

// -----

func.func @c23_key_padding_mask(%x: memref<3x16x16xf32>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %r: memref<31xf32>, %y: memref<3x16x16xf32>) {
  // expected-error @below {{expects key_padding_mask of shape 32 or ?x32, but got 31}}
  blocksparse.planned_softmax %x segments(%s) entries(%e) key_padding_mask(%r) outs(%y) {block = array<i64: 16, 16>, lut_heads = 1, shape = array<i64: 30, 32>} : (memref<3x16x16xf32>, memref<2x5xi32>, memref<3x2xi32>, memref<31xf32>, memref<3x16x16xf32>) -> ()
  return
}

// -----

func.func @c8_dy(%x: memref<3x16x16xf32>, %dy: memref<2x16x16xf32>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %dx: memref<3x16x16xf32>) {
  // expected-error @below {{expects dy of shape 3x16x16, but got 2x16x16}}
  blocksparse.planned_softmax_grad %x, %dy segments(%s) entries(%e) outs(%dx) {block = array<i64: 16, 16>, lut_heads = 1, shape = array<i64: 30, 32>} : (memref<3x16x16xf32>, memref<2x16x16xf32>, memref<2x5xi32>, memref<3x2xi32>, memref<3x16x16xf32>) -> ()
  return
}

// -----

func.func @c22_drpe(%x: memref<3x16x16xf32>, %dy: memref<3x16x16xf32>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %dx: memref<3x16x16xf32>, %dr: memref<32x32xf32>) {
  // expected-error @below {{expects drpe to broadcast to ?x?x30x32, but got 32x32}}
  blocksparse.planned_softmax_grad %x, %dy segments(%s) entries(%e) outs(%dx, %dr) {block = array<i64: 16, 16>, lut_heads = 1, shape = array<i64: 30, 32>} : (memref<3x16x16xf32>, memref<3x16x16xf32>, memref<2x5xi32>, memref<3x2xi32>, memref<3x16x16xf32>, memref<32x32xf32>) -> ()
  return
}

// -----

func.func @drpe_element(%x: memref<3x16x16xf32>, %dy: memref<3x16x16xf32>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %dx: memref<3x16x16xf32>, %dr: memref<30x32xi32>) {
  // expected-error @below {{operand #5 must be floating-point dense matrices of rank 2 to 4, but got 'memref<30x32xi32>'}}
  blocksparse.planned_softmax_grad %x, %dy segments(%s) entries(%e) outs(%dx, %dr) {block = array<i64: 16, 16>, lut_heads = 1, shape = array<i64: 30, 32>} : (memref<3x16x16xf32>, memref<3x16x16xf32>, memref<2x5xi32>, memref<3x2xi32>, memref<3x16x16xf32>, memref<30x32xi32>) -> ()
  return
}

// -----

func.func @mask_rank(%x: memref<3x16x16xf32>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %k: memref<1x1x32xf32>, %y: memref<3x16x16xf32>) {
  // expected-error @below {{operand #3 must be mask of columns [N] or [B, N], but got 'memref<1x1x32xf32>'}}
  blocksparse.planned_softmax %x segments(%s) entries(%e) key_padding_mask(%k) outs(%y) {block = array<i64: 16, 16>, lut_heads = 1, shape = array<i64: 30, 32>} : (memref<3x16x16xf32>, memref<2x5xi32>, memref<3x2xi32>, memref<1x1x32xf32>, memref<3x16x16xf32>) -> ()
  return
}

// -----

func.func @c26_known(%x: memref<3x16x16xf32>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %l: memref<4x32xf32>, %y: memref<3x16x16xf32>) {
  // expected-error @below {{expects known_lse of shape ?x30, but got 4x32}}
  blocksparse.planned_softmax %x segments(%s) entries(%e) known_lse(%l) outs(%y) {block = array<i64: 16, 16>, lut_heads = 1, shape = array<i64: 30, 32>} : (memref<3x16x16xf32>, memref<2x5xi32>, memref<3x2xi32>, memref<4x32xf32>, memref<3x16x16xf32>) -> ()
  return
}

// -----

func.func @c8_dout(%y: memref<3x16x16xf32>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %o: memref<30x8xf32>, %do: memref<30x6xf32>, %dx: memref<3x16x16xf32>) {
  // expected-error @below {{expects dout of shape 30x8, but got 30x6}}
  blocksparse.planned_softmax_grad %y, %y segments(%s) entries(%e) attention(%o, %do) outs(%dx) {block = array<i64: 16, 16>, lut_heads = 1, shape = array<i64: 30, 32>} : (memref<3x16x16xf32>, memref<3x16x16xf32>, memref<2x5xi32>, memref<3x2xi32>, memref<30x8xf32>, memref<30x6xf32>, memref<3x16x16xf32>) -> ()
  return
}

// -----

func.func @c47_dout(%y: memref<3x16x16xf32>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %do: memref<30x6xf32>, %dx: memref<3x16x16xf32>) {
  // expected-error @below {{expects out and dout together, but got dout alone}}
  "blocksparse.planned_softmax_grad"(%y, %y, %s, %e, %do, %dx) <{block = array<i64: 16, 16>, lut_heads = 1 : i64, shape = array<i64: 30, 32>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 1, 0, 0, 1, 0>}> : (memref<3x16x16xf32>, memref<3x16x16xf32>, memref<2x5xi32>, memref<3x2xi32>, memref<30x6xf32>, memref<3x16x16xf32>) -> ()
  return
}
