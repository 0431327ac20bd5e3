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

func.func @c38_inits(%x: memref<3x16x16xf32>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %y: memref<3x16x16xf32>, %l: memref<30xf32>, %m: memref<30xf32>) {
  // expected-error @below {{expects 1 or 2 destinations, but got 3}}
  blocksparse.planned_softmax %x segments(%s) entries(%e) outs(%y, %l, %m) {block = array<i64: 16, 16>, lut_heads = 1, shape = array<i64: 30, 32>} : (memref<3x16x16xf32>, memref<2x5xi32>, memref<3x2xi32>, memref<3x16x16xf32>, memref<30xf32>, memref<30xf32>) -> ()
  return
}

// -----

func.func @c36_segments(%x: memref<3x16x16xf32>, %s: memref<2x2xi32>, %e: memref<3x2xi32>, %y: memref<3x16x16xf32>) {
  // expected-error @below {{expects segments to have 5 columns, but got 2}}
  blocksparse.planned_softmax %x segments(%s) entries(%e) outs(%y) {block = array<i64: 16, 16>, lut_heads = 1, shape = array<i64: 30, 32>} : (memref<3x16x16xf32>, memref<2x2xi32>, memref<3x2xi32>, memref<3x16x16xf32>) -> ()
  return
}

// -----

func.func @c8_y(%x: memref<3x16x16xf32>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %y: memref<4x16x16xf32>) {
  // expected-error @below {{expects init 0 of shape 3x16x16, but got 4x16x16}}
  blocksparse.planned_softmax %x segments(%s) entries(%e) outs(%y) {block = array<i64: 16, 16>, lut_heads = 1, shape = array<i64: 30, 32>} : (memref<3x16x16xf32>, memref<2x5xi32>, memref<3x2xi32>, memref<4x16x16xf32>) -> ()
  return
}

// -----

func.func @c21_x(%x: memref<3x16x16xi8>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %y: memref<3x16x16xf32>) {
  // expected-error @below {{expects x of a floating-point type, but got 'i8'}}
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

func.func @c26_rank(%x: memref<3x16x16xf32>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %y: memref<3x16x16xf32>, %l: memref<1x1x1x30xf32>) {
  // expected-error @below {{expects lse of rank 1 to 3, but got rank 4}}
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
