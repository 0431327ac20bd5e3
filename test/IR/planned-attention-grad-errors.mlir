// RUN: blocksparse-opt %s -split-input-file -verify-diagnostics

func.func @c7_inner(%q: memref<4x32x8xf16>, %k: memref<4x32x16xf16>, %v: memref<4x32x16xf16>, %out: memref<4x32x16xf16>, %lse: memref<4x32xf32>, %dout: memref<4x32x16xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %cs: memref<2x5xi32>, %ce: memref<3x2xi32>, %dq: memref<4x32x8xf16>, %dk: memref<4x32x16xf16>, %dv: memref<4x32x16xf16>, %u: memref<4x2x32xf32>) {
  // expected-error @below {{expects k to have an inner size of 8, as q, but got 16}}
  blocksparse.planned_attention_grad %q, %k, %v, %out, %lse, %dout segments(%s) entries(%e) columns(%cs, %ce) outs(%dq, %dk, %dv, %u) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<4x32x8xf16>, memref<4x32x16xf16>, memref<4x32x16xf16>, memref<4x32x16xf16>, memref<4x32xf32>, memref<4x32x16xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<2x5xi32>, memref<3x2xi32>, memref<4x32x8xf16>, memref<4x32x16xf16>, memref<4x32x16xf16>, memref<4x2x32xf32>) -> ()
  return
}

// -----

func.func @c7_rows(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x48x16xf16>, %out: memref<4x32x16xf16>, %lse: memref<4x32xf32>, %dout: memref<4x32x16xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %cs: memref<2x5xi32>, %ce: memref<3x2xi32>, %dq: memref<4x32x8xf16>, %dk: memref<4x32x8xf16>, %dv: memref<4x48x16xf16>, %u: memref<4x2x32xf32>) {
  // expected-error @below {{expects v to have 32 rows, as k, but got 48}}
  blocksparse.planned_attention_grad %q, %k, %v, %out, %lse, %dout segments(%s) entries(%e) columns(%cs, %ce) outs(%dq, %dk, %dv, %u) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x48x16xf16>, memref<4x32x16xf16>, memref<4x32xf32>, memref<4x32x16xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<2x5xi32>, memref<3x2xi32>, memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x48x16xf16>, memref<4x2x32xf32>) -> ()
  return
}

// -----

func.func @c8_out(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x32x16xf16>, %out: memref<4x32x8xf16>, %lse: memref<4x32xf32>, %dout: memref<4x32x16xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %cs: memref<2x5xi32>, %ce: memref<3x2xi32>, %dq: memref<4x32x8xf16>, %dk: memref<4x32x8xf16>, %dv: memref<4x32x16xf16>, %u: memref<4x2x32xf32>) {
  // expected-error @below {{expects out of shape ?x32x16, but got 4x32x8}}
  blocksparse.planned_attention_grad %q, %k, %v, %out, %lse, %dout segments(%s) entries(%e) columns(%cs, %ce) outs(%dq, %dk, %dv, %u) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x16xf16>, memref<4x32x8xf16>, memref<4x32xf32>, memref<4x32x16xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<2x5xi32>, memref<3x2xi32>, memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x16xf16>, memref<4x2x32xf32>) -> ()
  return
}

// -----

func.func @c8_dout(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x32x16xf16>, %out: memref<4x32x16xf16>, %lse: memref<4x32xf32>, %dout: memref<4x48x16xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %cs: memref<2x5xi32>, %ce: memref<3x2xi32>, %dq: memref<4x32x8xf16>, %dk: memref<4x32x8xf16>, %dv: memref<4x32x16xf16>, %u: memref<4x2x32xf32>) {
  // expected-error @below {{expects dout of shape ?x32x16, but got 4x48x16}}
  blocksparse.planned_attention_grad %q, %k, %v, %out, %lse, %dout segments(%s) entries(%e) columns(%cs, %ce) outs(%dq, %dk, %dv, %u) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x16xf16>, memref<4x32x16xf16>, memref<4x32xf32>, memref<4x48x16xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<2x5xi32>, memref<3x2xi32>, memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x16xf16>, memref<4x2x32xf32>) -> ()
  return
}

// -----

func.func @c8_dq(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x32x16xf16>, %out: memref<4x32x16xf16>, %lse: memref<4x32xf32>, %dout: memref<4x32x16xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %cs: memref<2x5xi32>, %ce: memref<3x2xi32>, %dq: memref<4x32x16xf16>, %dk: memref<4x32x8xf16>, %dv: memref<4x32x16xf16>, %u: memref<4x2x32xf32>) {
  // expected-error @below {{expects dq of shape 4x32x8, but got 4x32x16}}
  blocksparse.planned_attention_grad %q, %k, %v, %out, %lse, %dout segments(%s) entries(%e) columns(%cs, %ce) outs(%dq, %dk, %dv, %u) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x16xf16>, memref<4x32x16xf16>, memref<4x32xf32>, memref<4x32x16xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<2x5xi32>, memref<3x2xi32>, memref<4x32x16xf16>, memref<4x32x8xf16>, memref<4x32x16xf16>, memref<4x2x32xf32>) -> ()
  return
}

// -----

func.func @c8_dv(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x32x16xf16>, %out: memref<4x32x16xf16>, %lse: memref<4x32xf32>, %dout: memref<4x32x16xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %cs: memref<2x5xi32>, %ce: memref<3x2xi32>, %dq: memref<4x32x8xf16>, %dk: memref<4x32x8xf16>, %dv: memref<4x32x8xf16>, %u: memref<4x2x32xf32>) {
  // expected-error @below {{expects dv of shape 4x32x16, but got 4x32x8}}
  blocksparse.planned_attention_grad %q, %k, %v, %out, %lse, %dout segments(%s) entries(%e) columns(%cs, %ce) outs(%dq, %dk, %dv, %u) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x16xf16>, memref<4x32x16xf16>, memref<4x32xf32>, memref<4x32x16xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<2x5xi32>, memref<3x2xi32>, memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x2x32xf32>) -> ()
  return
}

// -----

func.func @c9_dk(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x32x16xf16>, %out: memref<4x32x16xf16>, %lse: memref<4x32xf32>, %dout: memref<4x32x16xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %cs: memref<2x5xi32>, %ce: memref<3x2xi32>, %dq: memref<4x32x8xf16>, %dk: memref<4x32x8xf32>, %dv: memref<4x32x16xf16>, %u: memref<4x2x32xf32>) {
  // expected-error @below {{expects q and dk to have the same element type, but got 'f16' and 'f32'}}
  blocksparse.planned_attention_grad %q, %k, %v, %out, %lse, %dout segments(%s) entries(%e) columns(%cs, %ce) outs(%dq, %dk, %dv, %u) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x16xf16>, memref<4x32x16xf16>, memref<4x32xf32>, memref<4x32x16xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<2x5xi32>, memref<3x2xi32>, memref<4x32x8xf16>, memref<4x32x8xf32>, memref<4x32x16xf16>, memref<4x2x32xf32>) -> ()
  return
}

// -----

func.func @c26_lse(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x32x16xf16>, %out: memref<4x32x16xf16>, %lse: memref<4x48xf32>, %dout: memref<4x32x16xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %cs: memref<2x5xi32>, %ce: memref<3x2xi32>, %dq: memref<4x32x8xf16>, %dk: memref<4x32x8xf16>, %dv: memref<4x32x16xf16>, %u: memref<4x2x32xf32>) {
  // expected-error @below {{expects lse of shape 4x32, but got 4x48}}
  blocksparse.planned_attention_grad %q, %k, %v, %out, %lse, %dout segments(%s) entries(%e) columns(%cs, %ce) outs(%dq, %dk, %dv, %u) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x16xf16>, memref<4x32x16xf16>, memref<4x48xf32>, memref<4x32x16xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<2x5xi32>, memref<3x2xi32>, memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x16xf16>, memref<4x2x32xf32>) -> ()
  return
}

// -----

func.func @c26_dlse(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x32x16xf16>, %out: memref<4x32x16xf16>, %lse: memref<4x32xf32>, %dout: memref<4x32x16xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %cs: memref<2x5xi32>, %ce: memref<3x2xi32>, %dlse: memref<4x48xf32>, %dq: memref<4x32x8xf16>, %dk: memref<4x32x8xf16>, %dv: memref<4x32x16xf16>, %u: memref<4x2x32xf32>) {
  // expected-error @below {{expects dlse of shape 4x32, but got 4x48}}
  blocksparse.planned_attention_grad %q, %k, %v, %out, %lse, %dout segments(%s) entries(%e) columns(%cs, %ce) dlse(%dlse) outs(%dq, %dk, %dv, %u) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x16xf16>, memref<4x32x16xf16>, memref<4x32xf32>, memref<4x32x16xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<2x5xi32>, memref<3x2xi32>, memref<4x48xf32>, memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x16xf16>, memref<4x2x32xf32>) -> ()
  return
}

// -----

func.func @c26_rows(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x32x16xf16>, %out: memref<4x32x16xf16>, %lse: memref<4x32xf32>, %dout: memref<4x32x16xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %cs: memref<2x5xi32>, %ce: memref<3x2xi32>, %dq: memref<4x32x8xf16>, %dk: memref<4x32x8xf16>, %dv: memref<4x32x16xf16>, %u: memref<4x3x32xf32>) {
  // expected-error @below {{expects rows of shape 4x2x32, but got 4x3x32}}
  blocksparse.planned_attention_grad %q, %k, %v, %out, %lse, %dout segments(%s) entries(%e) columns(%cs, %ce) outs(%dq, %dk, %dv, %u) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x16xf16>, memref<4x32x16xf16>, memref<4x32xf32>, memref<4x32x16xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<2x5xi32>, memref<3x2xi32>, memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x16xf16>, memref<4x3x32xf32>) -> ()
  return
}

// -----

func.func @c26_type(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x32x16xf16>, %out: memref<4x32x16xf16>, %lse: memref<4x32xf32>, %dout: memref<4x32x16xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %cs: memref<2x5xi32>, %ce: memref<3x2xi32>, %dq: memref<4x32x8xf16>, %dk: memref<4x32x8xf16>, %dv: memref<4x32x16xf16>, %u: memref<4x2x32xf64>) {
  // expected-error @below {{expects rows of element type 'f32', but got 'f64'}}
  blocksparse.planned_attention_grad %q, %k, %v, %out, %lse, %dout segments(%s) entries(%e) columns(%cs, %ce) outs(%dq, %dk, %dv, %u) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x16xf16>, memref<4x32x16xf16>, memref<4x32xf32>, memref<4x32x16xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<2x5xi32>, memref<3x2xi32>, memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x16xf16>, memref<4x2x32xf64>) -> ()
  return
}

// -----

func.func @c34_block(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x32x16xf16>, %out: memref<4x32x16xf16>, %lse: memref<4x32xf32>, %dout: memref<4x32x16xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %cs: memref<2x5xi32>, %ce: memref<3x2xi32>, %dq: memref<4x32x8xf16>, %dk: memref<4x32x8xf16>, %dv: memref<4x32x16xf16>, %u: memref<4x2x32xf32>) {
  // expected-error @below {{expects block of 2 sizes, but got 1}}
  blocksparse.planned_attention_grad %q, %k, %v, %out, %lse, %dout segments(%s) entries(%e) columns(%cs, %ce) outs(%dq, %dk, %dv, %u) {block = array<i64: 16>, lut_heads = 1} : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x16xf16>, memref<4x32x16xf16>, memref<4x32xf32>, memref<4x32x16xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<2x5xi32>, memref<3x2xi32>, memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x16xf16>, memref<4x2x32xf32>) -> ()
  return
}

// -----

func.func @c37_heads(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x32x16xf16>, %out: memref<4x32x16xf16>, %lse: memref<4x32xf32>, %dout: memref<4x32x16xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %cs: memref<2x5xi32>, %ce: memref<3x2xi32>, %dq: memref<4x32x8xf16>, %dk: memref<4x32x8xf16>, %dv: memref<4x32x16xf16>, %u: memref<4x2x32xf32>) {
  // expected-error @below {{expects lut_heads of 1 or 4, but got 3}}
  blocksparse.planned_attention_grad %q, %k, %v, %out, %lse, %dout segments(%s) entries(%e) columns(%cs, %ce) outs(%dq, %dk, %dv, %u) {block = array<i64: 16, 16>, lut_heads = 3} : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x16xf16>, memref<4x32x16xf16>, memref<4x32xf32>, memref<4x32x16xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<2x5xi32>, memref<3x2xi32>, memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x16xf16>, memref<4x2x32xf32>) -> ()
  return
}

// -----

func.func @c49_count(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x32x16xf16>, %out: memref<4x32x16xf16>, %lse: memref<4x32xf32>, %dout: memref<4x32x16xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %cs: memref<2x5xi32>, %ce: memref<3x2xi32>, %l0: memref<2x8xi32>, %l1: memref<3xi32>, %dq: memref<4x32x8xf16>, %dk: memref<4x32x8xf16>, %dv: memref<4x32x16xf16>, %u: memref<4x2x32xf32>) {
  // expected-error @below {{expects 0 or 3 or 6 tables of lists, but got 2}}
  blocksparse.planned_attention_grad %q, %k, %v, %out, %lse, %dout segments(%s) entries(%e) columns(%cs, %ce) lists(%l0, %l1) outs(%dq, %dk, %dv, %u) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x16xf16>, memref<4x32x16xf16>, memref<4x32xf32>, memref<4x32x16xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<2x5xi32>, memref<3x2xi32>, memref<2x8xi32>, memref<3xi32>, memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x16xf16>, memref<4x2x32xf32>) -> ()
  return
}

// -----

func.func @c49_ordered_columns(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x32x16xf16>, %out: memref<4x32x16xf16>, %lse: memref<4x32xf32>, %dout: memref<4x32x16xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %cs: memref<2x5xi32>, %ce: memref<3x2xi32>, %l0: memref<2x8xi32>, %l1: memref<3xi32>, %l2: memref<3x2xi32>, %dq: memref<4x32x8xf16>, %dk: memref<4x32x8xf16>, %dv: memref<4x32x16xf16>, %u: memref<4x2x32xf32>) {
  // expected-error @below {{expects steps of lists to have 4 columns, but got 2}}
  blocksparse.planned_attention_grad %q, %k, %v, %out, %lse, %dout segments(%s) entries(%e) columns(%cs, %ce) lists(%l0, %l1, %l2) outs(%dq, %dk, %dv, %u) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x16xf16>, memref<4x32x16xf16>, memref<4x32xf32>, memref<4x32x16xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<2x5xi32>, memref<3x2xi32>, memref<2x8xi32>, memref<3xi32>, memref<3x2xi32>, memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x16xf16>, memref<4x2x32xf32>) -> ()
  return
}

// -----

func.func @c49_columns(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x32x16xf16>, %out: memref<4x32x16xf16>, %lse: memref<4x32xf32>, %dout: memref<4x32x16xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %cs: memref<2x5xi32>, %ce: memref<3x2xi32>, %l0: memref<2x8xi32>, %l1: memref<3xi32>, %l2: memref<3x8xi32>, %l3: memref<2x8xi32>, %l4: memref<3xi32>, %l5: memref<3x2xi32>, %dq: memref<4x32x8xf16>, %dk: memref<4x32x8xf16>, %dv: memref<4x32x16xf16>, %u: memref<4x2x32xf32>) {
  // expected-error @below {{expects steps of keys of lists to have 2 columns, but got 8}}
  blocksparse.planned_attention_grad %q, %k, %v, %out, %lse, %dout segments(%s) entries(%e) columns(%cs, %ce) lists(%l0, %l1, %l2, %l3, %l4, %l5) outs(%dq, %dk, %dv, %u) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x16xf16>, memref<4x32x16xf16>, memref<4x32xf32>, memref<4x32x16xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<2x5xi32>, memref<3x2xi32>, memref<2x8xi32>, memref<3xi32>, memref<3x8xi32>, memref<2x8xi32>, memref<3xi32>, memref<3x2xi32>, memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x16xf16>, memref<4x2x32xf32>) -> ()
  return
}

// -----

func.func @c53(%q: memref<4x32x8xf16>, %k: memref<3x32x8xf16>, %v: memref<3x32x16xf16>, %out: memref<4x32x16xf16>, %lse: memref<4x32xf32>, %dout: memref<4x32x16xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %cs: memref<2x5xi32>, %ce: memref<3x2xi32>, %dq: memref<4x32x8xf16>, %dk: memref<3x32x8xf16>, %dv: memref<3x32x16xf16>, %u: memref<4x2x32xf32>) {
  // expected-error @below {{expects heads of q that are a multiple of the 3 heads of k, but got 4}}
  blocksparse.planned_attention_grad %q, %k, %v, %out, %lse, %dout segments(%s) entries(%e) columns(%cs, %ce) outs(%dq, %dk, %dv, %u) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<4x32x8xf16>, memref<3x32x8xf16>, memref<3x32x16xf16>, memref<4x32x16xf16>, memref<4x32xf32>, memref<4x32x16xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<2x5xi32>, memref<3x2xi32>, memref<4x32x8xf16>, memref<3x32x8xf16>, memref<3x32x16xf16>, memref<4x2x32xf32>) -> ()
  return
}

// -----

func.func @c63_heads(%q: memref<4x32x8xf16>, %k: memref<2x32x8xf16>, %v: memref<4x32x16xf16>, %out: memref<4x32x16xf16>, %lse: memref<4x32xf32>, %dout: memref<4x32x16xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %cs: memref<2x5xi32>, %ce: memref<3x2xi32>, %dq: memref<4x32x8xf16>, %dk: memref<2x32x8xf16>, %dv: memref<4x32x16xf16>, %u: memref<4x2x32xf32>) {
  // expected-error @below {{expects v to have the 2 heads of k, but got 4}}
  blocksparse.planned_attention_grad %q, %k, %v, %out, %lse, %dout segments(%s) entries(%e) columns(%cs, %ce) outs(%dq, %dk, %dv, %u) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<4x32x8xf16>, memref<2x32x8xf16>, memref<4x32x16xf16>, memref<4x32x16xf16>, memref<4x32xf32>, memref<4x32x16xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<2x5xi32>, memref<3x2xi32>, memref<4x32x8xf16>, memref<2x32x8xf16>, memref<4x32x16xf16>, memref<4x2x32xf32>) -> ()
  return
}

// -----

func.func @c63_tables(%q: memref<4x32x8xf16>, %k: memref<2x32x8xf16>, %v: memref<2x32x16xf16>, %out: memref<4x32x16xf16>, %lse: memref<4x32xf32>, %dout: memref<4x32x16xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %cs: memref<2x5xi32>, %ce: memref<3x2xi32>, %dq: memref<4x32x8xf16>, %dk: memref<2x32x8xf16>, %dv: memref<2x32x16xf16>, %u: memref<4x2x32xf32>) {
  // expected-error @below {{expects tables of 1 head beside shared heads, but got 4}}
  blocksparse.planned_attention_grad %q, %k, %v, %out, %lse, %dout segments(%s) entries(%e) columns(%cs, %ce) outs(%dq, %dk, %dv, %u) {block = array<i64: 16, 16>, lut_heads = 4} : (memref<4x32x8xf16>, memref<2x32x8xf16>, memref<2x32x16xf16>, memref<4x32x16xf16>, memref<4x32xf32>, memref<4x32x16xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<2x5xi32>, memref<3x2xi32>, memref<4x32x8xf16>, memref<2x32x8xf16>, memref<2x32x16xf16>, memref<4x2x32xf32>) -> ()
  return
}

// -----

func.func @c22(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x32x16xf16>, %out: memref<4x32x16xf16>, %lse: memref<4x32xf32>, %dout: memref<4x32x16xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %cs: memref<2x5xi32>, %ce: memref<3x2xi32>, %dq: memref<4x32x8xf16>, %dk: memref<4x32x8xf16>, %dv: memref<4x32x16xf16>, %u: memref<4x2x32xf32>, %x: memref<4x32x48xf32>) {
  // expected-error @below {{expects rpe to broadcast to ?x?x32x32, but got 4x32x48}}
  blocksparse.planned_attention_grad %q, %k, %v, %out, %lse, %dout segments(%s) entries(%e) columns(%cs, %ce) rpe(%x) outs(%dq, %dk, %dv, %u) {block = array<i64: 16, 16>, lut_heads = 1} : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x16xf16>, memref<4x32x16xf16>, memref<4x32xf32>, memref<4x32x16xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<2x5xi32>, memref<3x2xi32>, memref<4x32x48xf32>, memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x16xf16>, memref<4x2x32xf32>) -> ()
  return
}

// -----

func.func @c54(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x32x16xf16>, %out: memref<4x32x16xf16>, %lse: memref<4x32xf32>, %dout: memref<4x32x16xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %cs: memref<2x5xi32>, %ce: memref<3x2xi32>, %dq: memref<4x32x8xf16>, %dk: memref<4x32x8xf16>, %dv: memref<4x32x16xf16>, %u: memref<4x2x32xf32>) {
  // expected-error @below {{expects a finite soft_cap above 0, but got 0.000000e+00}}
  blocksparse.planned_attention_grad %q, %k, %v, %out, %lse, %dout segments(%s) entries(%e) columns(%cs, %ce) outs(%dq, %dk, %dv, %u) {block = array<i64: 16, 16>, lut_heads = 1, soft_cap = 0.0} : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x16xf16>, memref<4x32x16xf16>, memref<4x32xf32>, memref<4x32x16xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<2x5xi32>, memref<3x2xi32>, memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x16xf16>, memref<4x2x32xf32>) -> ()
  return
}

// -----

func.func @c58(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x32x16xf16>, %out: memref<4x32x16xf16>, %lse: memref<4x32xf32>, %dout: memref<4x32x16xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %cs: memref<2x5xi32>, %ce: memref<3x2xi32>, %dq: memref<4x32x8xf16>, %dk: memref<4x32x8xf16>, %dv: memref<4x32x16xf16>, %u: memref<4x2x32xf32>) {
  // expected-error @below {{expects causal or window with causal_offset 3, but got neither}}
  blocksparse.planned_attention_grad %q, %k, %v, %out, %lse, %dout segments(%s) entries(%e) columns(%cs, %ce) outs(%dq, %dk, %dv, %u) {block = array<i64: 16, 16>, lut_heads = 1, causal_offset = 3} : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x16xf16>, memref<4x32x16xf16>, memref<4x32xf32>, memref<4x32x16xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<2x5xi32>, memref<3x2xi32>, memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x16xf16>, memref<4x2x32xf32>) -> ()
  return
}
