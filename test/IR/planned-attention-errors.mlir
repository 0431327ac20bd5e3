// RUN: blocksparse-opt %s -verify-diagnostics -split-input-file

func.func @c7_k(%q: memref<4x32x8xf16>, %k: memref<4x32x16xf16>, %v: memref<4x32x8xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %o: memref<4x32x8xf16>, %l: memref<4x32xf32>) {
  // expected-error @below {{expects k to have an inner size of 8, as q, but got 16}}
  blocksparse.planned_attention %q, %k, %v segments(%s) entries(%e) outs(%o, %l) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<4x32x8xf16>, memref<4x32x16xf16>, memref<4x32x8xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<4x32x8xf16>, memref<4x32xf32>) -> ()
  return
}

// -----

func.func @c7_v(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x48x8xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %o: memref<4x32x8xf16>, %l: memref<4x32xf32>) {
  // expected-error @below {{expects v to have 32 rows, as k, but got 48}}
  blocksparse.planned_attention %q, %k, %v segments(%s) entries(%e) outs(%o, %l) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x48x8xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<4x32x8xf16>, memref<4x32xf32>) -> ()
  return
}

// -----

func.func @c8_out(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x32x8xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %o: memref<4x32x16xf16>, %l: memref<4x32xf32>) {
  // expected-error @below {{expects out of shape ?x32x8, but got 4x32x16}}
  blocksparse.planned_attention %q, %k, %v segments(%s) entries(%e) outs(%o, %l) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x8xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<4x32x16xf16>, memref<4x32xf32>) -> ()
  return
}

// -----

func.func @c9_k(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf32>, %v: memref<4x32x8xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %o: memref<4x32x8xf16>, %l: memref<4x32xf32>) {
  // expected-error @below {{expects q and k to have the same element type, but got 'f16' and 'f32'}}
  blocksparse.planned_attention %q, %k, %v segments(%s) entries(%e) outs(%o, %l) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<4x32x8xf16>, memref<4x32x8xf32>, memref<4x32x8xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<4x32x8xf16>, memref<4x32xf32>) -> ()
  return
}

// -----

func.func @c9_v(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x32x8xf32>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %o: memref<4x32x8xf16>, %l: memref<4x32xf32>) {
  // expected-error @below {{expects q and v to have the same element type, but got 'f16' and 'f32'}}
  blocksparse.planned_attention %q, %k, %v segments(%s) entries(%e) outs(%o, %l) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x8xf32>, memref<2x5xi32>, memref<3x2xi32>, memref<4x32x8xf16>, memref<4x32xf32>) -> ()
  return
}

// -----

func.func @c10_out(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x32x8xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %o: memref<4x32x8xf64>, %l: memref<4x32xf32>) {
  // expected-error @below {{expects a product of 'f16' to have element type 'f16' or 'f32', but got 'f64'}}
  blocksparse.planned_attention %q, %k, %v segments(%s) entries(%e) outs(%o, %l) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x8xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<4x32x8xf64>, memref<4x32xf32>) -> ()
  return
}

// -----

func.func @c26_shape(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x32x8xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %o: memref<4x32x8xf16>, %l: memref<4x16xf32>) {
  // expected-error @below {{expects lse of shape 4x32, but got 4x16}}
  blocksparse.planned_attention %q, %k, %v segments(%s) entries(%e) outs(%o, %l) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x8xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<4x32x8xf16>, memref<4x16xf32>) -> ()
  return
}

// -----

func.func @c26_element(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x32x8xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %o: memref<4x32x8xf16>, %l: memref<4x32xf64>) {
  // expected-error @below {{expects lse of element type 'f32', but got 'f64'}}
  blocksparse.planned_attention %q, %k, %v segments(%s) entries(%e) outs(%o, %l) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x8xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<4x32x8xf16>, memref<4x32xf64>) -> ()
  return
}

// -----

func.func @c34_block(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x32x8xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %o: memref<4x32x8xf16>, %l: memref<4x32xf32>) {
  // expected-error @below {{expects block of 2 sizes, but got 1}}
  blocksparse.planned_attention %q, %k, %v segments(%s) entries(%e) outs(%o, %l) {block = array<i64: 16>, lut_heads = 1} : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x8xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<4x32x8xf16>, memref<4x32xf32>) -> ()
  return
}

// -----

func.func @c37_heads(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x32x8xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %o: memref<4x32x8xf16>, %l: memref<4x32xf32>) {
  // expected-error @below {{expects lut_heads of 1 or 4, but got 3}}
  blocksparse.planned_attention %q, %k, %v segments(%s) entries(%e) outs(%o, %l) {block = array<i64: 16, 16>, lut_heads = 3} : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x8xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<4x32x8xf16>, memref<4x32xf32>) -> ()
  return
}

// -----

func.func @c49_count(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x32x8xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %l0: memref<2x8xi32>, %l1: memref<3xi32>, %o: memref<4x32x8xf16>, %l: memref<4x32xf32>) {
  // expected-error @below {{expects 0 or 3 tables of lists, but got 2}}
  blocksparse.planned_attention %q, %k, %v segments(%s) entries(%e) lists(%l0, %l1) outs(%o, %l) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x8xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<2x8xi32>, memref<3xi32>, memref<4x32x8xf16>, memref<4x32xf32>) -> ()
  return
}

// -----

func.func @c49_rank(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x32x8xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %l0: memref<2x8xi32>, %l1: memref<3x1xi32>, %l2: memref<3x8xi32>, %o: memref<4x32x8xf16>, %l: memref<4x32xf32>) {
  // expected-error @below {{expects workers of lists of rank 1, but got rank 2}}
  blocksparse.planned_attention %q, %k, %v segments(%s) entries(%e) lists(%l0, %l1, %l2) outs(%o, %l) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x8xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<2x8xi32>, memref<3x1xi32>, memref<3x8xi32>, memref<4x32x8xf16>, memref<4x32xf32>) -> ()
  return
}

// -----

func.func @c49_columns(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x32x8xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %l0: memref<2x8xi32>, %l1: memref<3xi32>, %l2: memref<3x5xi32>, %o: memref<4x32x8xf16>, %l: memref<4x32xf32>) {
  // expected-error @below {{expects steps of lists to have 8 columns, but got 5}}
  blocksparse.planned_attention %q, %k, %v segments(%s) entries(%e) lists(%l0, %l1, %l2) outs(%o, %l) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x8xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<2x8xi32>, memref<3xi32>, memref<3x5xi32>, memref<4x32x8xf16>, memref<4x32xf32>) -> ()
  return
}

// -----

func.func @c49_slices(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x32x8xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %l0: memref<2x8xi32>, %l1: memref<3xi32>, %l2: memref<3x8xi32>, %l3: memref<3x8xi32>, %o: memref<4x32x8xf16>, %l: memref<4x32xf32>) {
  // expected-error @below {{expects slices of lists to have 20 columns, but got 8}}
  blocksparse.planned_attention %q, %k, %v segments(%s) entries(%e) lists(%l0, %l1, %l2, %l3) outs(%o, %l) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x8xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<2x8xi32>, memref<3xi32>, memref<3x8xi32>, memref<3x8xi32>, memref<4x32x8xf16>, memref<4x32xf32>) -> ()
  return
}

// -----

func.func @c23_padding(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x32x8xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %x: memref<31xf16>, %o: memref<4x32x8xf16>, %l: memref<4x32xf32>) {
  // expected-error @below {{expects key_padding_mask of shape 32 or ?x32, but got 31}}
  blocksparse.planned_attention %q, %k, %v segments(%s) entries(%e) key_padding_mask(%x) outs(%o, %l) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x8xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<31xf16>, memref<4x32x8xf16>, memref<4x32xf32>) -> ()
  return
}

// -----

func.func @c22_rpe(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x32x8xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %x: memref<32x30xf16>, %o: memref<4x32x8xf16>, %l: memref<4x32xf32>) {
  // expected-error @below {{expects rpe to broadcast to ?x?x32x32, but got 32x30}}
  blocksparse.planned_attention %q, %k, %v segments(%s) entries(%e) rpe(%x) outs(%o, %l) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x8xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<32x30xf16>, memref<4x32x8xf16>, memref<4x32xf32>) -> ()
  return
}

// -----

func.func @c56_sink(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x32x8xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %x: memref<4xf16>, %o: memref<4x32x8xf16>, %l: memref<4x32xf32>) {
  // expected-error @below {{expects sink of element type 'f32', but got 'f16'}}
  blocksparse.planned_attention %q, %k, %v segments(%s) entries(%e) sink(%x) outs(%o, %l) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x8xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<4xf16>, memref<4x32x8xf16>, memref<4x32xf32>) -> ()
  return
}

// -----

func.func @c53_heads(%q: memref<4x32x8xf16>, %k: memref<3x32x8xf16>, %v: memref<4x32x8xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %o: memref<4x32x8xf16>, %l: memref<4x32xf32>) {
  // expected-error @below {{expects heads of q that are a multiple of the 3 heads of k, but got 4}}
  blocksparse.planned_attention %q, %k, %v segments(%s) entries(%e) outs(%o, %l) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<4x32x8xf16>, memref<3x32x8xf16>, memref<4x32x8xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<4x32x8xf16>, memref<4x32xf32>) -> ()
  return
}

// -----

func.func @c54_cap(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x32x8xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %o: memref<4x32x8xf16>, %l: memref<4x32xf32>) {
  // expected-error @below {{expects a finite soft_cap above 0, but got -1}}
  blocksparse.planned_attention %q, %k, %v segments(%s) entries(%e) outs(%o, %l) {block = array<i64: 16, 16>, lut_heads = 1, soft_cap = -1.0} : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x8xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<4x32x8xf16>, memref<4x32xf32>) -> ()
  return
}

// -----

func.func @c50_window(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x32x8xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %o: memref<4x32x8xf16>, %l: memref<4x32xf32>) {
  // expected-error @below {{expects window of 2 sizes, but got 1}}
  blocksparse.planned_attention %q, %k, %v segments(%s) entries(%e) outs(%o, %l) {block = array<i64: 16, 16>, lut_heads = 1, window = array<i64: 1>} : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x8xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<4x32x8xf16>, memref<4x32xf32>) -> ()
  return
}

// -----

func.func @c58_offset(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x32x8xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %o: memref<4x32x8xf16>, %l: memref<4x32xf32>) {
  // expected-error @below {{expects causal or window with causal_offset 3, but got neither}}
  blocksparse.planned_attention %q, %k, %v segments(%s) entries(%e) outs(%o, %l) {block = array<i64: 16, 16>, lut_heads = 1, causal_offset = 3} : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x8xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<4x32x8xf16>, memref<4x32xf32>) -> ()
  return
}
