// RUN: blocksparse-opt %s -blocksparse-generate-gradients=functions=mlp,attention,recomputed,quotient -canonicalize -cse | FileCheck %s

#layout = #blocksparse.layout<16x16, grid 2x4, mask "1010/0111">
!w = tensor<32x64xf32, #layout>

// A pruned linear layer with relu: the product is computed again for the slope of relu, nothing is
// saved, and the gradient of the weights is computed at their blocks.
// CHECK-LABEL: func.func @mlp(
// CHECK-LABEL: func.func @mlp_forward(
// CHECK: return %{{.*}} : tensor<32x10xf32>
// CHECK-LABEL: func.func @mlp_backward(
// CHECK-SAME: %[[W:[^:]*]]: tensor<32x64xf32, #{{.*}}>, %[[X:[^:]*]]: tensor<64x10xf32>, %[[B:[^:]*]]: tensor<10xf32>, %{{[^:]*}}: tensor<32x10xf32>, %[[DY:[^:]*]]: tensor<32x10xf32>)
// CHECK: %[[T:.*]] = blocksparse.dsd %[[W]], %[[X]] bias(%[[B]]) : {{.*}} -> tensor<32x10xf32>
// CHECK: %[[G:.*]] = linalg.generic {{.*}} ins(%[[DY]], %[[T]] :
// CHECK: %[[DB:.*]] = linalg.generic {{.*}} iterator_types = ["reduction", "parallel"]} ins(%[[G]] :
// CHECK: %[[DX:.*]] = blocksparse.dsd %[[W]], %[[G]] {transpose_a}
// CHECK: %[[DW:.*]] = blocksparse.sdd %[[G]], %[[X]] {transpose_b}
// CHECK: return %[[DW]], %[[DX]], %[[DB]]
func.func @mlp(%w: !w, %x: tensor<64x10xf32>, %b: tensor<10xf32>) -> tensor<32x10xf32> {
  %y = blocksparse.dsd %w, %x bias(%b) {activation = #blocksparse.activation<relu>} : (!w, tensor<64x10xf32>, tensor<10xf32>) -> tensor<32x10xf32>
  return %y : tensor<32x10xf32>
}

// Attention needs its results, and passes on the cotangent of lse.
// CHECK-LABEL: func.func @attention_forward(
// CHECK: %[[O:.*]], %[[L:.*]] = blocksparse.attention
// CHECK: return %[[O]], %[[L]] :
// CHECK-LABEL: func.func @attention_backward(
// CHECK-SAME: %[[Q:.*]]: tensor<4x32x8xf32>, %[[K:.*]]: tensor<2x64x8xf32>, %[[S:.*]]: tensor<4xf32>, %[[OUT:.*]]: tensor<4x32x8xf32>, %[[LSE:.*]]: tensor<4x32xf32>, %[[DO:.*]]: tensor<4x32x8xf32>, %[[DL:.*]]: tensor<4x32xf32>)
// CHECK: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = blocksparse.attention_grad %[[Q]], %[[K]], %[[K]], %[[OUT]], %[[LSE]], %[[DO]] dlse(%[[DL]]) layout(#{{.*}}) {causal, causal_offset = 32 : i64}
// CHECK: %[[SUM:.*]] = arith.addf %[[DK]], %[[DV]]
// CHECK: %[[DS:.*]] = blocksparse.attention_sink_grad %[[S]], %[[OUT]], %[[LSE]], %[[DO]] dlse(%[[DL]])
// CHECK: return %[[DQ]], %[[SUM]], %[[DS]]
func.func @attention(%q: tensor<4x32x8xf32>, %k: tensor<2x64x8xf32>, %s: tensor<4xf32>) -> (tensor<4x32x8xf32>, tensor<4x32xf32>) {
  %o, %l = blocksparse.attention %q, %k, %k sink(%s) layout(#layout) {causal, causal_offset = 32} : (tensor<4x32x8xf32>, tensor<2x64x8xf32>, tensor<2x64x8xf32>, tensor<4xf32>) -> (tensor<4x32x8xf32>, tensor<4x32xf32>)
  return %o, %l : tensor<4x32x8xf32>, tensor<4x32xf32>
}

// Scores of f32 are saved for nothing: the softmax in f16 is smaller. What arith makes of arguments is
// computed again.
// CHECK-LABEL: func.func @recomputed_forward(
// CHECK: %[[P:.*]] = blocksparse.softmax
// CHECK: return %{{.*}}, %[[P]] : tensor<32x8xf16>, tensor<32x64xf16, #{{.*}}>
// CHECK-LABEL: func.func @recomputed_backward(
// CHECK-SAME: %[[Q:.*]]: tensor<32x8xf16>, %[[K:.*]]: tensor<64x8xf16>, %{{.*}}: tensor<32x8xf16>, %[[SAVED:.*]]: tensor<32x64xf16, #{{.*}}>, %[[DO:.*]]: tensor<32x8xf16>)
// CHECK: %[[V:.*]] = arith.mulf %[[K]], %[[K]]
// CHECK: blocksparse.sdd %[[DO]], %[[V]] {transpose_b}
func.func @recomputed(%q: tensor<32x8xf16>, %k: tensor<64x8xf16>) -> tensor<32x8xf16> {
  %v = arith.mulf %k, %k : tensor<64x8xf16>
  %s = blocksparse.sdd %q, %k {transpose_b} : (tensor<32x8xf16>, tensor<64x8xf16>) -> tensor<32x64xf32, #layout>
  %p = blocksparse.softmax %s : (tensor<32x64xf32, #layout>) -> tensor<32x64xf16, #layout>
  %o = blocksparse.dsd %p, %v : (tensor<32x64xf16, #layout>, tensor<64x8xf16>) -> tensor<32x8xf16>
  return %o : tensor<32x8xf16>
}

// The gradient of a divisor is computed from the quotient.
// CHECK-LABEL: func.func @quotient_backward(
// CHECK-SAME: %[[A:[^:]*]]: tensor<8xf32>, %[[B:[^:]*]]: tensor<8xf32>, %[[Q:[^:]*]]: tensor<8xf32>, %[[DQ:[^:]*]]: tensor<8xf32>)
// CHECK: %[[DA:.*]] = arith.divf %[[DQ]], %[[B]]
// CHECK: %[[P:.*]] = arith.mulf %[[DA]], %[[Q]]
// CHECK: %[[DB:.*]] = arith.negf %[[P]]
// CHECK: return %[[DA]], %[[DB]]
func.func @quotient(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %q = arith.divf %a, %b : tensor<8xf32>
  return %q : tensor<8xf32>
}
