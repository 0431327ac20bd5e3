// RUN: blocksparse-opt %s | FileCheck %s
// RUN: blocksparse-opt %s --mlir-print-op-generic | blocksparse-opt | FileCheck %s
// RUN: blocksparse-opt %s --emit-bytecode | blocksparse-opt | FileCheck %s

// CHECK-LABEL: func @tensors
// CHECK: blocksparse.planned_attention_grad %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} segments(%{{.*}}) entries(%{{.*}}) columns(%{{.*}}, %{{.*}}) outs(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {block = array<i64: 16, 16>, lut_heads = 4 : i64} : {{.*}} -> (tensor<2x4x32x8xf16>, tensor<2x4x32x8xf16>, tensor<2x4x32x16xf16>, tensor<2x4x2x32xf32>)
func.func @tensors(%q: tensor<2x4x32x8xf16>, %k: tensor<2x4x32x8xf16>, %v: tensor<2x4x32x16xf16>, %out: tensor<2x4x32x16xf16>, %lse: tensor<2x4x32xf32>, %dout: tensor<2x4x32x16xf16>, %s: tensor<2x5xi32>, %e: tensor<3x2xi32>, %cs: tensor<2x5xi32>, %ce: tensor<3x2xi32>, %dq: tensor<2x4x32x8xf16>, %dk: tensor<2x4x32x8xf16>, %dv: tensor<2x4x32x16xf16>, %u: tensor<2x4x2x32xf32>) -> tensor<2x4x32x8xf16> {
  %0:4 = blocksparse.planned_attention_grad %q, %k, %v, %out, %lse, %dout segments(%s) entries(%e) columns(%cs, %ce) outs(%dq, %dk, %dv, %u) {block = array<i64: 16, 16>, lut_heads = 4} : (tensor<2x4x32x8xf16>, tensor<2x4x32x8xf16>, tensor<2x4x32x16xf16>, tensor<2x4x32x16xf16>, tensor<2x4x32xf32>, tensor<2x4x32x16xf16>, tensor<2x5xi32>, tensor<3x2xi32>, tensor<2x5xi32>, tensor<3x2xi32>, tensor<2x4x32x8xf16>, tensor<2x4x32x8xf16>, tensor<2x4x32x16xf16>, tensor<2x4x2x32xf32>) -> (tensor<2x4x32x8xf16>, tensor<2x4x32x8xf16>, tensor<2x4x32x16xf16>, tensor<2x4x2x32xf32>)
  return %0#0 : tensor<2x4x32x8xf16>
}

// CHECK-LABEL: func @memrefs
// CHECK: blocksparse.planned_attention_grad {{.*}} columns(%{{.*}}, %{{.*}}) lists(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) dlse(%{{.*}}) outs({{.*}}) {block = array<i64: 16, 16>, causal, lut_heads = 1 : i64, scale = 5.000000e-01 : f64} : {{.*}} -> ()
func.func @memrefs(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x32x16xf16>, %out: memref<4x32x16xf16>, %lse: memref<4x32xf32>, %dout: memref<4x32x16xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %cs: memref<2x5xi32>, %ce: memref<3x2xi32>, %l0: memref<2x8xi32>, %l1: memref<3xi32>, %l2: memref<3x2xi32>, %l3: memref<2x8xi32>, %l4: memref<3xi32>, %l5: memref<3x2xi32>, %dlse: memref<4x32xf32>, %dq: memref<4x32x8xf16>, %dk: memref<4x32x8xf16>, %dv: memref<4x32x16xf16>, %u: memref<4x2x32xf32>) {
  blocksparse.planned_attention_grad %q, %k, %v, %out, %lse, %dout segments(%s) entries(%e) columns(%cs, %ce) lists(%l0, %l1, %l2, %l3, %l4, %l5) dlse(%dlse) outs(%dq, %dk, %dv, %u) {block = array<i64: 16, 16>, lut_heads = 1, causal, scale = 0.5} : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x16xf16>, memref<4x32x16xf16>, memref<4x32xf32>, memref<4x32x16xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<2x5xi32>, memref<3x2xi32>, memref<2x8xi32>, memref<3xi32>, memref<3x2xi32>, memref<2x8xi32>, memref<3xi32>, memref<3x2xi32>, memref<4x32xf32>, memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x16xf16>, memref<4x2x32xf32>) -> ()
  return
}

// CHECK-LABEL: func @masks
// CHECK: blocksparse.planned_attention_grad {{.*}} columns(%{{.*}}, %{{.*}}) rpe(%{{.*}}) key_padding_mask(%{{.*}}) key_lengths(%{{.*}}) segment_ids(%{{.*}}, %{{.*}}) dlse(%{{.*}}) outs({{.*}}) {block = array<i64: 16, 16>, causal_offset = 3 : i64, key_padding_mask_mode = #blocksparse.mask_mode<mul>, lut_heads = 1 : i64, soft_cap = 2.000000e+00 : f64, window = array<i64: 4, -1>}
func.func @masks(%q: memref<4x32x8xf16>, %k: memref<2x32x8xf16>, %v: memref<2x32x16xf16>, %out: memref<4x32x16xf16>, %lse: memref<4x32xf32>, %dout: memref<4x32x16xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %cs: memref<2x5xi32>, %ce: memref<3x2xi32>, %rpe: memref<4x1x32xf32>, %pad: memref<32xi8>, %n: memref<1xi32>, %ids: memref<32xi32>, %dlse: memref<4x32xf32>, %dq: memref<4x32x8xf16>, %dk: memref<2x32x8xf16>, %dv: memref<2x32x16xf16>, %u: memref<4x2x32xf32>) {
  blocksparse.planned_attention_grad %q, %k, %v, %out, %lse, %dout segments(%s) entries(%e) columns(%cs, %ce) rpe(%rpe) key_padding_mask(%pad) key_lengths(%n) segment_ids(%ids, %ids) dlse(%dlse) outs(%dq, %dk, %dv, %u) {block = array<i64: 16, 16>, lut_heads = 1, soft_cap = 2.0, causal_offset = 3, window = array<i64: 4, -1>, key_padding_mask_mode = #blocksparse.mask_mode<mul>} : (memref<4x32x8xf16>, memref<2x32x8xf16>, memref<2x32x16xf16>, memref<4x32x16xf16>, memref<4x32xf32>, memref<4x32x16xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<2x5xi32>, memref<3x2xi32>, memref<4x1x32xf32>, memref<32xi8>, memref<1xi32>, memref<32xi32>, memref<32xi32>, memref<4x32xf32>, memref<4x32x8xf16>, memref<2x32x8xf16>, memref<2x32x16xf16>, memref<4x2x32xf32>) -> ()
  return
}
