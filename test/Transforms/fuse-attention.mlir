// RUN: blocksparse-opt %s -split-input-file -verify-diagnostics -blocksparse-fuse-attention | FileCheck %s
// Decomposed again, the three operations are those of the program.
// RUN: blocksparse-opt %s -split-input-file -blocksparse-fuse-attention -blocksparse-decompose-attention=target=cuda:sm_80 -o %t.round 2> /dev/null
// RUN: blocksparse-opt %s -split-input-file -o %t.plain
// RUN: diff %t.plain %t.round

#layout = #blocksparse.layout<16x16, grid 4x4, causal>
!p = tensor<2x64x64xf16, #layout>
!s = tensor<2x64x64xf32, #layout>

// CHECK-LABEL: @masked(
// CHECK-SAME: %[[Q:.*]]: tensor<2x64x8xf16>, %[[K:.*]]: tensor<2x64x8xf16>, %[[V:.*]]: tensor<2x64x10xf16>, %[[RPE:.*]]: tensor<64x64xf32>, %[[N:.*]]: tensor<1xi32>)
// CHECK-NEXT: %[[OUT:.*]], %[[LSE:.*]] = blocksparse.attention %[[Q]], %[[K]], %[[V]] rpe(%[[RPE]]) key_lengths(%[[N]]) layout(#{{.*}}) {causal, causal_offset = 2 : i64, scale = 1.250000e-01 : f64}
// CHECK-NEXT: return %[[OUT]], %[[LSE]]
func.func @masked(%q: tensor<2x64x8xf16>, %k: tensor<2x64x8xf16>, %v: tensor<2x64x10xf16>, %rpe: tensor<64x64xf32>, %n: tensor<1xi32>) -> (tensor<2x64x10xf16>, tensor<2x64xf32>) {
  %0 = blocksparse.sdd %q, %k {transpose_b} : (tensor<2x64x8xf16>, tensor<2x64x8xf16>) -> !s
  %y, %lse = blocksparse.softmax %0 rpe(%rpe) key_lengths(%n) {causal, causal_offset = 2, scale = 0.125} : (!s, tensor<64x64xf32>, tensor<1xi32>) -> (!p, tensor<2x64xf32>)
  %1 = blocksparse.dsd %y, %v {skip_zeros} : (!p, tensor<2x64x10xf16>) -> tensor<2x64x10xf16>
  return %1, %lse : tensor<2x64x10xf16>, tensor<2x64xf32>
}

// -----

// Scores of a narrow type stay narrow.
#layout = #blocksparse.layout<16x16, grid 4x4, causal>
!p = tensor<2x64x64xf16, #layout>

// CHECK-LABEL: @narrow(
// CHECK: blocksparse.attention %{{.*}} layout(#{{.*}}) {score_element = f16}
// CHECK-NOT: blocksparse.sdd
func.func @narrow(%q: tensor<2x64x8xf16>, %k: tensor<2x64x8xf16>, %v: tensor<2x64x10xf16>) -> (tensor<2x64x10xf32>, tensor<2x64xf32>) {
  %0 = blocksparse.sdd %q, %k {transpose_b} : (tensor<2x64x8xf16>, tensor<2x64x8xf16>) -> !p
  %y, %lse = blocksparse.softmax %0 : (!p) -> (!p, tensor<2x64xf32>)
  %1 = blocksparse.dsd %y, %v : (!p, tensor<2x64x10xf16>) -> tensor<2x64x10xf32>
  return %1, %lse : tensor<2x64x10xf32>, tensor<2x64xf32>
}

// -----

#layout = #blocksparse.layout<16x16, grid 4x4, causal>
!d = tensor<64x8xf32>
!s = tensor<64x64xf32, #layout>

// CHECK-LABEL: @declined(
// CHECK-NOT: blocksparse.attention
func.func @declined(%q: !d, %k: !d, %v: !d, %b: tensor<8xf32>, %l: tensor<64xf32>) -> (!s, !d, !d, !d, !d, !d, tensor<64xf32>) {
  %0 = blocksparse.sdd %q, %k {transpose_b} : (!d, !d) -> !s
  %p0 = blocksparse.softmax %0 {scale = 0.5} : (!s) -> !s
  // expected-remark @below {{not fused to attention: expects 1 use of the scores, but got 2}}
  %o0 = blocksparse.dsd %p0, %v : (!s, !d) -> !d
  %p1 = blocksparse.softmax %0 : (!s) -> !s
  // expected-remark @below {{not fused to attention: expects dsd without an epilogue, but got one}}
  %o1 = blocksparse.dsd %p1, %v bias(%b) : (!s, !d, tensor<8xf32>) -> !d

  %2 = blocksparse.sdd %q, %k {transpose_b} : (!d, !d) -> !s
  %p2 = blocksparse.softmax %2 {causal} : (!s) -> !s
  // expected-remark @below {{not fused to attention: expects dsd with skip_zeros, because a mask may forbid elements, but got none}}
  %o2 = blocksparse.dsd %p2, %v : (!s, !d) -> !d

  %3 = blocksparse.sdd %q, %k {transpose_b} : (!d, !d) -> !s
  %p3 = blocksparse.softmax %3 known_lse(%l) : (!s, tensor<64xf32>) -> !s
  // expected-remark @below {{not fused to attention: expects a softmax that normalises its rows, but got one with known_lse}}
  %o3 = blocksparse.dsd %p3, %v : (!s, !d) -> !d

  // A lse that is used before dsd.
  %4 = blocksparse.sdd %q, %k {transpose_b} : (!d, !d) -> !s
  %p4, %l4 = blocksparse.softmax %4 : (!s) -> (!s, tensor<64xf32>)
  %l5 = arith.negf %l4 : tensor<64xf32>
  // expected-remark @below {{not fused to attention: expects uses of lse after dsd, but got one before it in arith.negf}}
  %o4 = blocksparse.dsd %p4, %v : (!s, !d) -> !d
  return %p1, %o0, %o1, %o2, %o3, %o4, %l5 : !s, !d, !d, !d, !d, !d, tensor<64xf32>
}

// -----

#layout = #blocksparse.layout<16x16, grid 4x4, causal>
!d = tensor<64x8xf32>
!s = tensor<64x64xf32, #layout>

// CHECK-LABEL: @other_forms(
// CHECK-NOT: blocksparse.attention
func.func @other_forms(%q: !d, %k: tensor<8x64xf32>, %v: !d, %w: tensor<3x64x8xf32>) -> (!d, tensor<3x64x8xf32>, !s, !d) {
  %0 = blocksparse.sdd %q, %k : (!d, tensor<8x64xf32>) -> !s
  %p0 = blocksparse.softmax %0 : (!s) -> !s
  // expected-remark @below {{not fused to attention: expects sdd with transpose_b alone, but got other transposes}}
  %o0 = blocksparse.dsd %p0, %v : (!s, !d) -> !d

  %1 = blocksparse.sdd %q, %v {transpose_b} : (!d, !d) -> !s
  %p1 = blocksparse.softmax %1 : (!s) -> !s
  // expected-remark @below {{not fused to attention: expects a result with the batches and heads of the scores, but got a broadcast of them}}
  %o1 = blocksparse.dsd %p1, %w : (!s, tensor<3x64x8xf32>) -> tensor<3x64x8xf32>

  %2 = blocksparse.sdd %q, %v {transpose_b, precision = #blocksparse.precision<tf32>} : (!d, !d) -> !s
  %p2 = blocksparse.softmax %2 : (!s) -> !s
  // expected-remark @below {{not fused to attention: expects precision ieee, but got tf32}}
  %o2 = blocksparse.dsd %p2, %v : (!s, !d) -> !d
  return %o0, %o1, %p2, %o2 : !d, tensor<3x64x8xf32>, !s, !d
}

// -----

// A scale that is known when the program runs.
#layout = #blocksparse.layout<16x16, grid 4x4, causal>
!p = tensor<2x64x64xf16, #layout>
!s = tensor<2x64x64xf32, #layout>

// CHECK-LABEL: @dynamic_scale(
// CHECK: blocksparse.attention %{{.*}} scale(%{{.*}}) layout(
// CHECK-NOT: blocksparse.sdd
func.func @dynamic_scale(%q: tensor<2x64x8xf16>, %k: tensor<2x64x8xf16>, %v: tensor<2x64x10xf16>, %f: tensor<f32>) -> (tensor<2x64x10xf16>, tensor<2x64xf32>) {
  %0 = blocksparse.sdd %q, %k {transpose_b} : (tensor<2x64x8xf16>, tensor<2x64x8xf16>) -> !s
  %y, %lse = blocksparse.softmax %0 scale(%f) : (!s, tensor<f32>) -> (!p, tensor<2x64xf32>)
  %1 = blocksparse.dsd %y, %v : (!p, tensor<2x64x10xf16>) -> tensor<2x64x10xf16>
  return %1, %lse : tensor<2x64x10xf16>, tensor<2x64xf32>
}

// -----

#layout = #blocksparse.layout<16x16, grid 4x4, causal>
!p = tensor<2x64x64xf16, #layout>
!s = tensor<2x64x64xf32, #layout>

// CHECK-LABEL: @two_factors(
// CHECK: blocksparse.sdd
func.func @two_factors(%q: tensor<2x64x8xf16>, %k: tensor<2x64x8xf16>, %v: tensor<2x64x10xf16>, %f: tensor<f32>) -> tensor<2x64x10xf16> {
  %0 = blocksparse.sdd %q, %k {alpha = 0.5, transpose_b} : (tensor<2x64x8xf16>, tensor<2x64x8xf16>) -> !s
  %y = blocksparse.softmax %0 scale(%f) : (!s, tensor<f32>) -> !p
  // expected-remark @below {{not fused to attention: expects sdd with alpha 1 where scale is an operand, but got 0.5}}
  %1 = blocksparse.dsd %y, %v : (!p, tensor<2x64x10xf16>) -> tensor<2x64x10xf16>
  return %1 : tensor<2x64x10xf16>
}
