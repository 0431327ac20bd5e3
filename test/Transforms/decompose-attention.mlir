// RUN: blocksparse-opt %s -blocksparse-decompose-attention=target=cuda:sm_80 | FileCheck %s --implicit-check-not=blocksparse.attention

#causal = #blocksparse.layout<16x16, grid 4x4, causal>

// Scores in the accumulation type, probabilities in that of q.
// CHECK-LABEL: @forward(
// CHECK-SAME: %[[Q:.*]]: tensor<?x2x64x8xf16>, %[[K:.*]]: tensor<?x2x64x8xf16>, %[[V:.*]]: tensor<?x2x64x10xf16>, %[[PAD:.*]]: tensor<?x64xf16>)
// CHECK: %[[S:.*]] = blocksparse.sdd %[[Q]], %[[K]] {transpose_b} : {{.*}} -> tensor<?x2x64x64xf32, #layout>
// CHECK: %[[P:.*]], %[[LSE:.*]] = blocksparse.softmax %[[S]] key_padding_mask(%[[PAD]])
// CHECK-SAME: {causal, key_padding_mask_mode = #blocksparse.mask_mode<mul>, scale = 1.250000e-01 : f64}
// CHECK-SAME: -> (tensor<?x2x64x64xf16, #layout>, tensor<?x2x64xf32>)
// Masks forbid stored elements, whose products must not be used.
// CHECK: %[[OUT:.*]] = blocksparse.dsd %[[P]], %[[V]] {skip_zeros} :
// CHECK: return %[[OUT]], %[[LSE]]
func.func @forward(%q: tensor<?x2x64x8xf16>, %k: tensor<?x2x64x8xf16>, %v: tensor<?x2x64x10xf16>,
                   %pad: tensor<?x64xf16>) -> (tensor<?x2x64x10xf16>, tensor<?x2x64xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v key_padding_mask(%pad) layout(#causal)
      {causal, scale = 0.125, key_padding_mask_mode = #blocksparse.mask_mode<mul>}
      : (tensor<?x2x64x8xf16>, tensor<?x2x64x8xf16>, tensor<?x2x64x10xf16>, tensor<?x64xf16>)
      -> (tensor<?x2x64x10xf16>, tensor<?x2x64xf32>)
  return %out, %lse : tensor<?x2x64x10xf16>, tensor<?x2x64xf32>
}

// CHECK-LABEL: @backward(
// CHECK-SAME: %[[Q:[^:]*]]: tensor<2x64x8xf32>, %[[K:[^:]*]]: tensor<2x64x8xf32>, %[[V:[^:]*]]: tensor<2x64x8xf32>,
// CHECK-SAME: %[[OUT:[^:]*]]: tensor<2x64x8xf32>, %[[LSE:[^:]*]]: tensor<2x64xf32>, %[[DOUT:[^:]*]]: tensor<2x64x8xf32>, %[[RPE:[^:]*]]: tensor<1x64x64xf32>)
// CHECK: %[[S:.*]] = blocksparse.sdd %[[Q]], %[[K]] {transpose_b}
// CHECK: %[[P:.*]] = blocksparse.softmax %[[S]] rpe(%[[RPE]]) known_lse(%[[LSE]]) {scale = 5.000000e-01 : f64}
// CHECK: %[[DV:.*]] = blocksparse.dsd %[[P]], %[[DOUT]] {transpose_a}
// CHECK: %[[DP:.*]] = blocksparse.sdd %[[DOUT]], %[[V]] {transpose_b}
// CHECK: %[[DS:.*]], %[[DRPE:.*]] = blocksparse.softmax_grad %[[P]], %[[DP]] attention(%[[OUT]], %[[DOUT]]) {scale = 5.000000e-01 : f64}
// CHECK: %[[DQ:.*]] = blocksparse.dsd %[[DS]], %[[K]] :
// CHECK: %[[DK:.*]] = blocksparse.dsd %[[DS]], %[[Q]] {transpose_a}
// CHECK: return %[[DQ]], %[[DK]], %[[DV]], %[[DRPE]]
func.func @backward(%q: tensor<2x64x8xf32>, %k: tensor<2x64x8xf32>, %v: tensor<2x64x8xf32>,
                    %out: tensor<2x64x8xf32>, %lse: tensor<2x64xf32>, %dout: tensor<2x64x8xf32>,
                    %rpe: tensor<1x64x64xf32>)
    -> (tensor<2x64x8xf32>, tensor<2x64x8xf32>, tensor<2x64x8xf32>, tensor<1x64x64xf32>) {
  %dq, %dk, %dv, %drpe = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout rpe(%rpe)
      layout(#causal) {scale = 0.5}
      : (tensor<2x64x8xf32>, tensor<2x64x8xf32>, tensor<2x64x8xf32>, tensor<2x64x8xf32>,
         tensor<2x64xf32>, tensor<2x64x8xf32>, tensor<1x64x64xf32>)
      -> (tensor<2x64x8xf32>, tensor<2x64x8xf32>, tensor<2x64x8xf32>, tensor<1x64x64xf32>)
  return %dq, %dk, %dv, %drpe
      : tensor<2x64x8xf32>, tensor<2x64x8xf32>, tensor<2x64x8xf32>, tensor<1x64x64xf32>
}

// Keys shared by all heads, values by all: their gradients are summed.
// CHECK-LABEL: @broadcast(
// CHECK: %[[DV4:.*]] = blocksparse.dsd {{.*}} -> tensor<3x2x64x10xf16>
// CHECK: %[[DV2:.*]] = tensor.collapse_shape %[[DV4]] {{\[\[}}0, 1], [2, 3]] : tensor<3x2x64x10xf16> into tensor<6x640xf16>
// CHECK: %[[ONES:.*]] = arith.constant dense<1.000000e+00> : tensor<1x6xf16>
// CHECK: %[[SUM:.*]] = blocksparse.matmul %[[ONES]], %[[DV2]] : {{.*}} -> tensor<1x640xf16>
// CHECK: %[[FLAT:.*]] = tensor.collapse_shape %[[SUM]]
// CHECK: %[[DV:.*]] = tensor.expand_shape %[[FLAT]] {{\[\[}}0, 1]] output_shape [64, 10]
// CHECK: blocksparse.dsd {{.*}} -> tensor<3x2x64x8xf16>
// CHECK: %[[DK4:.*]] = blocksparse.dsd {{.*}} {transpose_a} : {{.*}} -> tensor<3x2x64x8xf16>
// CHECK: tensor.collapse_shape %[[DK4]] {{\[\[}}0], [1], [2, 3]] : tensor<3x2x64x8xf16> into tensor<3x2x512xf16>
// CHECK: blocksparse.matmul {{.*}} -> tensor<3x1x512xf16>
// CHECK: %[[DK:.*]] = tensor.expand_shape {{.*}} output_shape [3, 1, 64, 8]
// CHECK: return %{{.*}}, %[[DK]], %[[DV]]
func.func @broadcast(%q: tensor<3x2x64x8xf16>, %k: tensor<3x1x64x8xf16>, %v: tensor<64x10xf16>,
                     %out: tensor<3x2x64x10xf16>, %lse: tensor<3x2x64xf32>)
    -> (tensor<3x2x64x8xf16>, tensor<3x1x64x8xf16>, tensor<64x10xf16>) {
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %out layout(#causal)
      : (tensor<3x2x64x8xf16>, tensor<3x1x64x8xf16>, tensor<64x10xf16>, tensor<3x2x64x10xf16>,
         tensor<3x2x64xf32>, tensor<3x2x64x10xf16>)
      -> (tensor<3x2x64x8xf16>, tensor<3x1x64x8xf16>, tensor<64x10xf16>)
  return %dq, %dk, %dv : tensor<3x2x64x8xf16>, tensor<3x1x64x8xf16>, tensor<64x10xf16>
}

// Keys without heads under queries of rank 4 with one batch: the sum over the heads goes to rank 2.

#layout = #blocksparse.layout<16x16, grid 2x1, mask "1/1">
// CHECK-LABEL: @sum_over_heads_to_rank_2
// CHECK: tensor.collapse_shape %{{.*}} {{\[}}[0, 1, 2]] : tensor<1x1x256xf32> into tensor<256xf32>
// CHECK: tensor.expand_shape %{{.*}} {{\[}}[0, 1]] {{.*}} : tensor<256xf32> into tensor<16x16xf32>
func.func @sum_over_heads_to_rank_2(%q: tensor<1x2x32x16xf32>, %k: tensor<16x16xf32>, %o: tensor<1x2x32x16xf32>, %lse: tensor<1x2x32xf32>)
    -> (tensor<1x2x32x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) {
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %k, %o, %lse, %o layout(#layout)
      : (tensor<1x2x32x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<1x2x32x16xf32>, tensor<1x2x32xf32>, tensor<1x2x32x16xf32>)
      -> (tensor<1x2x32x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>)
  return %dq, %dk, %dv : tensor<1x2x32x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
}

// Two heads of queries share a head of keys: keys are copied for each, and gradients summed over both.
// CHECK-LABEL: @shared_heads(
// CHECK: %[[K5:.*]] = linalg.broadcast ins(%{{.*}} : tensor<3x2x64x8xf16>) outs(%{{.*}} : tensor<3x2x2x64x8xf16>) dimensions = [2]
// CHECK: %[[K:.*]] = tensor.collapse_shape %[[K5]] {{\[\[}}0], [1, 2], [3], [4]] : tensor<3x2x2x64x8xf16> into tensor<3x4x64x8xf16>
// CHECK: %[[S:.*]] = blocksparse.sdd %{{.*}}, %[[K]] {transpose_b} : {{.*}} -> tensor<3x4x64x64xf16, #layout>
// CHECK: blocksparse.softmax %[[S]] known_lse(%{{.*}}) key_lengths(%{{.*}}) {window = array<i64: 8, 0>}
// CHECK: blocksparse.softmax_grad %{{.*}}, %{{.*}} attention(%{{.*}}, %{{.*}}) dlse(%{{.*}}) :
// CHECK: %[[DK:.*]] = blocksparse.dsd %{{.*}} {skip_zeros, transpose_a} : {{.*}} -> tensor<3x4x64x8xf16>
// CHECK: %[[SPLIT:.*]] = tensor.expand_shape %[[DK]] {{.*}} : tensor<3x4x64x8xf16> into tensor<3x2x2x64x8xf16>
// CHECK: %[[STACK:.*]] = tensor.collapse_shape %[[SPLIT]] {{\[\[}}0, 1], [2], [3, 4]] : tensor<3x2x2x64x8xf16> into tensor<6x2x512xf16>
// CHECK: blocksparse.matmul %{{.*}}, %[[STACK]] : (tensor<1x2xf16>, tensor<6x2x512xf16>) -> tensor<6x1x512xf16>
func.func @shared_heads(%q: tensor<3x4x64x8xf16>, %k: tensor<3x2x64x8xf16>, %v: tensor<3x4x64x10xf16>,
                        %out: tensor<3x4x64x10xf16>, %lse: tensor<3x4x64xf32>, %n: tensor<3xi32>)
    -> (tensor<3x4x64x8xf16>, tensor<3x2x64x8xf16>, tensor<3x4x64x10xf16>) {
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %out key_lengths(%n) dlse(%lse)
      layout(#causal) {score_element = f16, window = array<i64: 8, 0>}
      : (tensor<3x4x64x8xf16>, tensor<3x2x64x8xf16>, tensor<3x4x64x10xf16>, tensor<3x4x64x10xf16>,
         tensor<3x4x64xf32>, tensor<3x4x64x10xf16>, tensor<3xi32>, tensor<3x4x64xf32>)
      -> (tensor<3x4x64x8xf16>, tensor<3x2x64x8xf16>, tensor<3x4x64x10xf16>)
  return %dq, %dk, %dv : tensor<3x4x64x8xf16>, tensor<3x2x64x8xf16>, tensor<3x4x64x10xf16>
}

// A soft cap of 20: the scores are 20 * tanh(q k^T / 40). A sink is a part of the merge.
// CHECK-LABEL: @cap_and_sink(
// CHECK: %[[X:.*]] = blocksparse.sdd %{{.*}} {alpha = 2.500000e-02 : f64, transpose_b}
// CHECK: %[[T:.*]] = math.tanh %[[X]]
// CHECK: %[[P:.*]], %[[LSE:.*]] = blocksparse.softmax %[[T]] {scale = 2.000000e+01 : f64}
// CHECK: %[[OUT:.*]] = blocksparse.dsd %[[P]], %{{.*}} -> tensor<4x64x8xf32>
// CHECK: linalg.generic {{.*}} ins(%[[LSE]], %{{.*}} : tensor<4x64xf32>, tensor<4xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[OUT]], %[[LSE]], %{{.*}} : tensor<4x64x8xf32>, tensor<4x64xf32>, tensor<4x64xf32>) outs(%{{.*}} : tensor<4x64x8xf16>)
func.func @cap_and_sink(%q: tensor<4x64x8xf16>, %sink: tensor<4xf32>) -> (tensor<4x64x8xf16>, tensor<4x64xf32>) {
  %out, %lse = blocksparse.attention %q, %q, %q sink(%sink) layout(#causal) {scale = 0.5, soft_cap = 20.0}
      : (tensor<4x64x8xf16>, tensor<4x64x8xf16>, tensor<4x64x8xf16>, tensor<4xf32>)
      -> (tensor<4x64x8xf16>, tensor<4x64xf32>)
  return %out, %lse : tensor<4x64x8xf16>, tensor<4x64xf32>
}

// The gradient of a capped score is that of tanh, 1 - t^2, and 0 where nothing is used.
// CHECK-LABEL: @cap_gradient(
// CHECK: %[[T2:.*]] = math.tanh
// CHECK: %[[DX:.*]] = blocksparse.softmax_grad {{.*}} {scale = 5.000000e-01 : f64} : {{.*}} -> tensor<4x64x64xf32, #layout>
// CHECK: %[[G:.*]] = linalg.generic {{.*}} ins(%[[T2]] : tensor<4x64x64xf32, #layout>) outs(%[[DX]] : tensor<4x64x64xf32, #layout>)
// CHECK: %[[DS:.*]] = arith.truncf %[[G]]
// CHECK: blocksparse.dsd %[[DS]]
func.func @cap_gradient(%q: tensor<4x64x8xf16>, %lse: tensor<4x64xf32>) -> tensor<4x64x8xf16> {
  %dq, %dk, %dv = blocksparse.attention_grad %q, %q, %q, %q, %lse, %q layout(#causal) {scale = 0.5, soft_cap = 20.0}
      : (tensor<4x64x8xf16>, tensor<4x64x8xf16>, tensor<4x64x8xf16>, tensor<4x64x8xf16>, tensor<4x64xf32>, tensor<4x64x8xf16>)
      -> (tensor<4x64x8xf16>, tensor<4x64x8xf16>, tensor<4x64x8xf16>)
  return %dq : tensor<4x64x8xf16>
}
