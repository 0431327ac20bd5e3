// RUN: blocksparse-opt %s | FileCheck %s
// RUN: blocksparse-opt %s --mlir-print-op-generic | blocksparse-opt | FileCheck %s
// RUN: blocksparse-opt %s --emit-bytecode | blocksparse-opt | FileCheck %s

#layout = #blocksparse.layout<16x32, grid 2x2, mask "10/11">
#heads = #blocksparse.layout<16x32, grid 4x2x2, fixed(num_local_blocks = 2)>

// CHECK-LABEL: func @plain
// CHECK: blocksparse.attention %{{.*}}, %{{.*}}, %{{.*}} layout(#{{.*}}) : (tensor<30x8xf32>, tensor<50x8xf32>, tensor<50x5xf32>) -> (tensor<30x5xf32>, tensor<30xf32>)
func.func @plain(%q: tensor<30x8xf32>, %k: tensor<50x8xf32>, %v: tensor<50x5xf32>) -> (tensor<30x5xf32>, tensor<30xf32>) {
  %o, %l = blocksparse.attention %q, %k, %v layout(#layout) : (tensor<30x8xf32>, tensor<50x8xf32>, tensor<50x5xf32>) -> (tensor<30x5xf32>, tensor<30xf32>)
  return %o, %l : tensor<30x5xf32>, tensor<30xf32>
}

// Keys and values that the heads of a group share; a batch of unknown size.
// CHECK-LABEL: func @everything
// CHECK: blocksparse.attention %{{.*}}, %{{.*}}, %{{.*}} rpe(%{{.*}}) key_padding_mask(%{{.*}}) attention_mask(%{{.*}}) layout(#{{.*}}) {attention_mask_mode = #blocksparse.mask_mode<mul>, causal, scale = 1.250000e-01 : f64}
func.func @everything(%q: tensor<?x4x32x8xf16>, %k: tensor<?x1x64x8xf16>, %v: tensor<?x1x64x8xf16>, %rpe: tensor<4x32x64xf32>, %pad: tensor<?x64xf32>, %mask: tensor<32x64xi8>) -> (tensor<?x4x32x8xf16>, tensor<?x4x32xf32>) {
  %o, %l = blocksparse.attention %q, %k, %v rpe(%rpe) key_padding_mask(%pad) attention_mask(%mask) layout(#heads) {attention_mask_mode = #blocksparse.mask_mode<mul>, causal, scale = 0.125} : (tensor<?x4x32x8xf16>, tensor<?x1x64x8xf16>, tensor<?x1x64x8xf16>, tensor<4x32x64xf32>, tensor<?x64xf32>, tensor<32x64xi8>) -> (tensor<?x4x32x8xf16>, tensor<?x4x32xf32>)
  return %o, %l : tensor<?x4x32x8xf16>, tensor<?x4x32xf32>
}

// A layout per head makes heads of operands that have none.
// CHECK-LABEL: func @heads
// CHECK: blocksparse.attention
func.func @heads(%q: tensor<32x8xf32>, %k: tensor<64x8xf32>, %v: tensor<64x8xf32>) -> (tensor<4x32x8xf32>, tensor<4x32xf32>) {
  %o, %l = blocksparse.attention %q, %k, %v layout(#heads) : (tensor<32x8xf32>, tensor<64x8xf32>, tensor<64x8xf32>) -> (tensor<4x32x8xf32>, tensor<4x32xf32>)
  return %o, %l : tensor<4x32x8xf32>, tensor<4x32xf32>
}

// Two heads of queries for each head of keys, masks of the position, a soft cap and a sink.
// CHECK-LABEL: func @positions
// CHECK: blocksparse.attention %{{.*}}, %{{.*}}, %{{.*}} key_lengths(%{{.*}}) query_lengths(%{{.*}}) segment_ids(%{{.*}}, %{{.*}}) sink(%{{.*}}) layout(#{{.*}}) {causal, causal_offset = 32 : i64, score_element = f16, soft_cap = 3.000000e+01 : f64, window = array<i64: 16, 0>}
func.func @positions(%q: tensor<2x4x32x8xf16>, %k: tensor<2x2x64x8xf16>, %n: tensor<2xi32>, %s: tensor<32xi32>, %t: tensor<64xi32>, %sink: tensor<4xf32>) -> (tensor<2x4x32x8xf16>, tensor<2x4x32xf32>) {
  %o, %l = blocksparse.attention %q, %k, %k key_lengths(%n) query_lengths(%n) segment_ids(%s, %t) sink(%sink) layout(#heads) {causal, causal_offset = 32, score_element = f16, soft_cap = 30.0, window = array<i64: 16, 0>} : (tensor<2x4x32x8xf16>, tensor<2x2x64x8xf16>, tensor<2x2x64x8xf16>, tensor<2xi32>, tensor<2xi32>, tensor<32xi32>, tensor<64xi32>, tensor<4xf32>) -> (tensor<2x4x32x8xf16>, tensor<2x4x32xf32>)
  return %o, %l : tensor<2x4x32x8xf16>, tensor<2x4x32xf32>
}

// CHECK-LABEL: func @merge
// CHECK: blocksparse.attention_merge %{{.*}}, %{{.*}}, %{{.*}} lses(%{{.*}}, %{{.*}}, %{{.*}}) : (tensor<4x32x8xf16>, tensor<4x32x8xf32>, tensor<4x32x8xf16>, tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>) -> (tensor<4x32x8xf16>, tensor<4x32xf32>)
func.func @merge(%a: tensor<4x32x8xf16>, %b: tensor<4x32x8xf32>, %l: tensor<4x32xf32>) -> (tensor<4x32x8xf16>, tensor<4x32xf32>) {
  %o, %m = blocksparse.attention_merge %a, %b, %a lses(%l, %l, %l) : (tensor<4x32x8xf16>, tensor<4x32x8xf32>, tensor<4x32x8xf16>, tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>) -> (tensor<4x32x8xf16>, tensor<4x32xf32>)
  return %o, %m : tensor<4x32x8xf16>, tensor<4x32xf32>
}
