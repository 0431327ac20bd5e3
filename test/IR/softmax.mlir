// RUN: blocksparse-opt %s | FileCheck %s
// RUN: blocksparse-opt %s --mlir-print-op-generic | blocksparse-opt | FileCheck %s
// RUN: blocksparse-opt %s --emit-bytecode | blocksparse-opt | FileCheck %s

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
#bsr = #blocksparse.bsr<16x16>

// CHECK-LABEL: func @plain
// CHECK: blocksparse.softmax %{{.*}} : (tensor<32x32xf32, #[[L:.*]]>) -> tensor<32x32xf32, #[[L]]>
func.func @plain(%x: tensor<32x32xf32, #layout>) -> tensor<32x32xf32, #layout> {
  %y = blocksparse.softmax %x : (tensor<32x32xf32, #layout>) -> tensor<32x32xf32, #layout>
  return %y : tensor<32x32xf32, #layout>
}

// CHECK-LABEL: func @everything
// CHECK: blocksparse.softmax %{{.*}} rpe(%{{.*}}) key_padding_mask(%{{.*}}) attention_mask(%{{.*}}) {attention_mask_mode = #blocksparse.mask_mode<mul>, causal, key_padding_mask_mode = #blocksparse.mask_mode<mul>, scale = 1.250000e-01 : f64}
func.func @everything(%x: tensor<2x4x32x32xf16, #layout>, %rpe: tensor<4x32x32xf16>, %pad: tensor<2x32xi8>, %mask: tensor<1x32x1xf32>) -> (tensor<2x4x32x32xf16, #layout>, tensor<2x4x32xf32>) {
  %y, %lse = blocksparse.softmax %x rpe(%rpe) key_padding_mask(%pad) attention_mask(%mask) {attention_mask_mode = #blocksparse.mask_mode<mul>, causal, key_padding_mask_mode = #blocksparse.mask_mode<mul>, scale = 0.125} : (tensor<2x4x32x32xf16, #layout>, tensor<4x32x32xf16>, tensor<2x32xi8>, tensor<1x32x1xf32>) -> (tensor<2x4x32x32xf16, #layout>, tensor<2x4x32xf32>)
  return %y, %lse : tensor<2x4x32x32xf16, #layout>, tensor<2x4x32xf32>
}

// The scores may be wider than the result; sizes may be unknown.
// CHECK-LABEL: func @dynamic
// CHECK: blocksparse.softmax
func.func @dynamic(%x: tensor<?x?x?x?xf32, #bsr>, %pad: tensor<?xf32>) -> (tensor<?x?x?x?xf16, #bsr>, tensor<?x?x?xf32>) {
  %y, %lse = blocksparse.softmax %x key_padding_mask(%pad) : (tensor<?x?x?x?xf32, #bsr>, tensor<?xf32>) -> (tensor<?x?x?x?xf16, #bsr>, tensor<?x?x?xf32>)
  return %y, %lse : tensor<?x?x?x?xf16, #bsr>, tensor<?x?x?xf32>
}

// CHECK-LABEL: func @known_lse
// CHECK: blocksparse.softmax %{{.*}} attention_mask(%{{.*}}) known_lse(%{{.*}}) {causal} : (tensor<4x32x32xf32, #{{.*}}>, tensor<32x32xf32>, tensor<4x32xf32>) -> tensor<4x32x32xf16, #{{.*}}>
func.func @known_lse(%x: tensor<4x32x32xf32, #layout>, %mask: tensor<32x32xf32>, %lse: tensor<4x32xf32>) -> tensor<4x32x32xf16, #layout> {
  %y = blocksparse.softmax %x attention_mask(%mask) known_lse(%lse) {causal} : (tensor<4x32x32xf32, #layout>, tensor<32x32xf32>, tensor<4x32xf32>) -> tensor<4x32x32xf16, #layout>
  return %y : tensor<4x32x32xf16, #layout>
}

// Masks of the position cost no tensor of M x N.
// CHECK-LABEL: func @positions
// CHECK: blocksparse.softmax %{{.*}} known_lse(%{{.*}}) key_lengths(%{{.*}}) query_lengths(%{{.*}}) segment_ids(%{{.*}}, %{{.*}}) {causal, causal_offset = 16 : i64, window = array<i64: 64, -1>}
func.func @positions(%x: tensor<2x4x32x32xf16, #layout>, %known: tensor<2x4x32xf32>, %n: tensor<2xi32>, %m: tensor<1xi32>, %q: tensor<2x32xi32>, %k: tensor<32xi32>) -> tensor<2x4x32x32xf16, #layout> {
  %y = blocksparse.softmax %x known_lse(%known) key_lengths(%n) query_lengths(%m) segment_ids(%q, %k) {causal, causal_offset = 16, window = array<i64: 64, -1>} : (tensor<2x4x32x32xf16, #layout>, tensor<2x4x32xf32>, tensor<2xi32>, tensor<1xi32>, tensor<2x32xi32>, tensor<32xi32>) -> tensor<2x4x32x32xf16, #layout>
  return %y : tensor<2x4x32x32xf16, #layout>
}
