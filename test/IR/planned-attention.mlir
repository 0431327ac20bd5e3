// RUN: blocksparse-opt %s | FileCheck %s
// RUN: blocksparse-opt %s --mlir-print-op-generic | blocksparse-opt | FileCheck %s
// RUN: blocksparse-opt %s --emit-bytecode | blocksparse-opt | FileCheck %s

// CHECK-LABEL: func @tensors
// CHECK: blocksparse.planned_attention %{{.*}}, %{{.*}}, %{{.*}} segments(%{{.*}}) entries(%{{.*}}) outs(%{{.*}}, %{{.*}}) {block = array<i64: 16, 16>, lut_heads = 4 : i64} : {{.*}} -> (tensor<2x4x32x8xf16>, tensor<2x4x32xf32>)
func.func @tensors(%q: tensor<2x4x32x16xf16>, %k: tensor<4x48x16xf16>, %v: tensor<2x1x48x8xf16>, %s: tensor<8x5xi32>, %e: tensor<9x2xi32>, %o: tensor<2x4x32x8xf16>, %l: tensor<2x4x32xf32>) -> (tensor<2x4x32x8xf16>, tensor<2x4x32xf32>) {
  %0:2 = blocksparse.planned_attention %q, %k, %v segments(%s) entries(%e) outs(%o, %l) {block = array<i64: 16, 16>, lut_heads = 4} : (tensor<2x4x32x16xf16>, tensor<4x48x16xf16>, tensor<2x1x48x8xf16>, tensor<8x5xi32>, tensor<9x2xi32>, tensor<2x4x32x8xf16>, tensor<2x4x32xf32>) -> (tensor<2x4x32x8xf16>, tensor<2x4x32xf32>)
  return %0#0, %0#1 : tensor<2x4x32x8xf16>, tensor<2x4x32xf32>
}

// CHECK-LABEL: func @memrefs
// CHECK: blocksparse.planned_attention %{{.*}}, %{{.*}}, %{{.*}} segments(%{{.*}}) entries(%{{.*}}) lists(%{{.*}}, %{{.*}}, %{{.*}}) outs(%{{.*}}, %{{.*}}) {block = array<i64: 16, 16>, causal, lut_heads = 1 : i64, scale = 5.000000e-01 : f64} : {{.*}} -> ()
func.func @memrefs(%q: memref<4x32x8xf16>, %k: memref<4x32x8xf16>, %v: memref<4x32x8xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %l0: memref<2x8xi32>, %l1: memref<3xi32>, %l2: memref<3x8xi32>, %o: memref<4x32x8xf16>, %l: memref<4x32xf32>) {
  blocksparse.planned_attention %q, %k, %v segments(%s) entries(%e) lists(%l0, %l1, %l2) outs(%o, %l) {block = array<i64: 16, 16>, lut_heads = 1, causal, scale = 0.5} : (memref<4x32x8xf16>, memref<4x32x8xf16>, memref<4x32x8xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<2x8xi32>, memref<3xi32>, memref<3x8xi32>, memref<4x32x8xf16>, memref<4x32xf32>) -> ()
  return
}

// Every mask and bias.
// CHECK-LABEL: func @masks
// CHECK: blocksparse.planned_attention %{{.*}}, %{{.*}}, %{{.*}} segments(%{{.*}}) entries(%{{.*}}) rpe(%{{.*}}) key_padding_mask(%{{.*}}) attention_mask(%{{.*}}) key_lengths(%{{.*}}) query_lengths(%{{.*}}) segment_ids(%{{.*}}, %{{.*}}) sink(%{{.*}}) outs(%{{.*}}, %{{.*}}) {attention_mask_mode = #blocksparse.mask_mode<mul>, block = array<i64: 16, 16>, causal, causal_offset = 3 : i64, lut_heads = 1 : i64, soft_cap = 2.000000e+01 : f64, window = array<i64: 4, -1>}
func.func @masks(%q: memref<4x32x8xf16>, %k: memref<2x32x8xf16>, %v: memref<1x32x8xf16>, %s: memref<2x5xi32>, %e: memref<3x2xi32>, %r: memref<4x1x32xf32>, %p: memref<32xf16>, %m: memref<32x32xi8>, %n: memref<1xi32>, %i: memref<32xi32>, %h: memref<4xf32>, %o: memref<4x32x8xf16>, %l: memref<4x32xf32>) {
  blocksparse.planned_attention %q, %k, %v segments(%s) entries(%e) rpe(%r) key_padding_mask(%p) attention_mask(%m) key_lengths(%n) query_lengths(%n) segment_ids(%i, %i) sink(%h) outs(%o, %l) {attention_mask_mode = #blocksparse.mask_mode<mul>, block = array<i64: 16, 16>, causal, causal_offset = 3, lut_heads = 1, soft_cap = 20.0, window = array<i64: 4, -1>} : (memref<4x32x8xf16>, memref<2x32x8xf16>, memref<1x32x8xf16>, memref<2x5xi32>, memref<3x2xi32>, memref<4x1x32xf32>, memref<32xf16>, memref<32x32xi8>, memref<1xi32>, memref<1xi32>, memref<32xi32>, memref<32xi32>, memref<4xf32>, memref<4x32x8xf16>, memref<4x32xf32>) -> ()
  return
}
