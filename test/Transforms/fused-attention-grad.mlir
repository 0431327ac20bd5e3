// The gradient of attention stays one operation where kernels compute it so, and its plan has work lists.
// RUN: blocksparse-opt %s -split-input-file -blocksparse-decompose-attention=target=cuda:sm_90a -verify-diagnostics | FileCheck %s --check-prefix=HOPPER
// RUN: blocksparse-opt %s -split-input-file -blocksparse-decompose-attention=target=cuda:sm_80 2>/dev/null | FileCheck %s --check-prefix=OTHER --implicit-check-not=blocksparse.attention
// RUN: blocksparse-opt %s -split-input-file -blocksparse-decompose-attention=target=cpu 2>/dev/null | FileCheck %s --check-prefix=CPU
// RUN: blocksparse-opt %s -split-input-file -blocksparse-to-planned=target=cuda:sm_90a 2>/dev/null | FileCheck %s --check-prefix=PLAN

#l = #blocksparse.layout<64x64, grid 2x3, mask "011/100">

// HOPPER-LABEL: @fused(
// HOPPER: blocksparse.attention_grad
// OTHER-LABEL: @fused(
// OTHER: blocksparse.softmax
// Tiles of keys walk 64 queries each; those of queries walk their keys, and the longest comes first.
// PLAN-LABEL: @fused(
// PLAN-DAG: %[[KEYTILES:.*]] = arith.constant dense<{{\[\[}}0, 0, 1, 0, 0, 0, 0, 0], [64, 1, 1, 0, 0, 0, 0, 0], [128, 2, 1, 0, 0, 0, 0, 0]]> : tensor<3x8xi32>
// PLAN-DAG: %[[KEYSTEPS:.*]] = arith.constant dense<{{\[\[}}64, 0], [0, 0], [0, 0]]> : tensor<3x2xi32>
// PLAN-DAG: %[[QUERYTILES:.*]] = arith.constant dense<{{\[\[}}0, 0, 2, 0, 0, 0, 0, 0], [64, 2, 1, 0, 0, 0, 0, 0]]> : tensor<2x8xi32>
// PLAN-DAG: %[[QUERYSTEPS:.*]] = arith.constant dense<{{\[\[}}64, 0], [128, 0], [0, 0]]> : tensor<3x2xi32>
// PLAN: blocksparse.planned_attention_grad {{.*}} columns(%{{.*}}, %{{.*}}) lists(%[[KEYTILES]], %{{.*}}, %[[KEYSTEPS]], %[[QUERYTILES]], %{{.*}}, %[[QUERYSTEPS]]) outs(
// PLAN-SAME: schedule = #blocksparse.schedule<cuda.attention>
func.func @fused(%q: tensor<1x128x64xbf16>, %k: tensor<1x192x64xbf16>, %v: tensor<1x192x64xbf16>, %out: tensor<1x128x64xbf16>, %lse: tensor<1x128xf32>, %dout: tensor<1x128x64xbf16>) -> (tensor<1x128x64xbf16>, tensor<1x192x64xbf16>, tensor<1x192x64xbf16>) {
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#l) {scale = 0.125} : (tensor<1x128x64xbf16>, tensor<1x192x64xbf16>, tensor<1x192x64xbf16>, tensor<1x128x64xbf16>, tensor<1x128xf32>, tensor<1x128x64xbf16>) -> (tensor<1x128x64xbf16>, tensor<1x192x64xbf16>, tensor<1x192x64xbf16>)
  return %dq, %dk, %dv : tensor<1x128x64xbf16>, tensor<1x192x64xbf16>, tensor<1x192x64xbf16>
}

// -----

#l = #blocksparse.layout<64x64, grid 2x3, mask "011/100">

// HOPPER-LABEL: @mask(
// HOPPER: blocksparse.attention_grad
func.func @mask(%q: tensor<1x128x64xbf16>, %k: tensor<1x192x64xbf16>, %v: tensor<1x192x64xbf16>, %out: tensor<1x128x64xbf16>, %lse: tensor<1x128xf32>, %dout: tensor<1x128x64xbf16>, %x: tensor<192xf32>) -> (tensor<1x128x64xbf16>, tensor<1x192x64xbf16>, tensor<1x192x64xbf16>) {
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout key_padding_mask(%x) layout(#l) {scale = 0.125} : (tensor<1x128x64xbf16>, tensor<1x192x64xbf16>, tensor<1x192x64xbf16>, tensor<1x128x64xbf16>, tensor<1x128xf32>, tensor<1x128x64xbf16>, tensor<192xf32>) -> (tensor<1x128x64xbf16>, tensor<1x192x64xbf16>, tensor<1x192x64xbf16>)
  return %dq, %dk, %dv : tensor<1x128x64xbf16>, tensor<1x192x64xbf16>, tensor<1x192x64xbf16>
}

// -----

#l = #blocksparse.layout<64x64, grid 2x3, mask "011/100">

// HOPPER-LABEL: @negative(
// HOPPER: blocksparse.softmax_grad
func.func @negative(%q: tensor<1x128x64xbf16>, %k: tensor<1x192x64xbf16>, %v: tensor<1x192x64xbf16>, %out: tensor<1x128x64xbf16>, %lse: tensor<1x128xf32>, %dout: tensor<1x128x64xbf16>) -> (tensor<1x128x64xbf16>, tensor<1x192x64xbf16>, tensor<1x192x64xbf16>) {
  // expected-remark @below {{is computed by several kernels: expects a finite scale above 0, but got another one}}
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#l) {scale = -0.125} : (tensor<1x128x64xbf16>, tensor<1x192x64xbf16>, tensor<1x192x64xbf16>, tensor<1x128x64xbf16>, tensor<1x128xf32>, tensor<1x128x64xbf16>) -> (tensor<1x128x64xbf16>, tensor<1x192x64xbf16>, tensor<1x192x64xbf16>)
  return %dq, %dk, %dv : tensor<1x128x64xbf16>, tensor<1x192x64xbf16>, tensor<1x192x64xbf16>
}

// -----

#l = #blocksparse.layout<64x64, grid 2x3, mask "011/100">

// HOPPER-LABEL: @capped(
// HOPPER: blocksparse.attention_grad
func.func @capped(%q: tensor<1x128x64xbf16>, %k: tensor<1x192x64xbf16>, %v: tensor<1x192x64xbf16>, %out: tensor<1x128x64xbf16>, %lse: tensor<1x128xf32>, %dout: tensor<1x128x64xbf16>) -> (tensor<1x128x64xbf16>, tensor<1x192x64xbf16>, tensor<1x192x64xbf16>) {
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#l) {scale = 0.125, soft_cap = 2.0} : (tensor<1x128x64xbf16>, tensor<1x192x64xbf16>, tensor<1x192x64xbf16>, tensor<1x128x64xbf16>, tensor<1x128xf32>, tensor<1x128x64xbf16>) -> (tensor<1x128x64xbf16>, tensor<1x192x64xbf16>, tensor<1x192x64xbf16>)
  return %dq, %dk, %dv : tensor<1x128x64xbf16>, tensor<1x192x64xbf16>, tensor<1x192x64xbf16>
}

// -----

#l = #blocksparse.layout<64x64, grid 2x3, mask "011/100">

// HOPPER-LABEL: @with_dlse(
// HOPPER: blocksparse.attention_grad
func.func @with_dlse(%q: tensor<1x128x64xbf16>, %k: tensor<1x192x64xbf16>, %v: tensor<1x192x64xbf16>, %out: tensor<1x128x64xbf16>, %lse: tensor<1x128xf32>, %dout: tensor<1x128x64xbf16>, %x: tensor<1x128xf32>) -> (tensor<1x128x64xbf16>, tensor<1x192x64xbf16>, tensor<1x192x64xbf16>) {
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout dlse(%x) layout(#l) {scale = 0.125} : (tensor<1x128x64xbf16>, tensor<1x192x64xbf16>, tensor<1x192x64xbf16>, tensor<1x128x64xbf16>, tensor<1x128xf32>, tensor<1x128x64xbf16>, tensor<1x128xf32>) -> (tensor<1x128x64xbf16>, tensor<1x192x64xbf16>, tensor<1x192x64xbf16>)
  return %dq, %dk, %dv : tensor<1x128x64xbf16>, tensor<1x192x64xbf16>, tensor<1x192x64xbf16>
}

// -----

#l = #blocksparse.layout<64x128, grid 2x2, dense>

// In one kernel, both tiles of keys begin with queries to which the other has not added, and then wait for their turn.
// PLAN-LABEL: @one_kernel(
// PLAN-DAG: %[[TILES:.*]] = arith.constant dense<{{\[\[}}0, 64, 0, 2, 0, 0, 0, 0], [128, 192, 2, 2, 0, 0, 0, 0]]> : tensor<2x8xi32>
// PLAN-DAG: %[[STEPS:.*]] = arith.constant dense<{{\[\[}}0, 0, 0, 0], [64, 0, 1, 0], [64, 0, 0, 0], [0, 0, 1, 0]]> : tensor<4x4xi32>
// PLAN: blocksparse.planned_attention_grad {{.*}} lists(%[[TILES]], %{{.*}}, %[[STEPS]]) outs(
// PLAN-SAME: schedule = #blocksparse.schedule<cuda.attention, kernels = 1>
func.func @one_kernel(%q: tensor<1x128x128xbf16>, %k: tensor<1x256x128xbf16>, %v: tensor<1x256x128xbf16>, %out: tensor<1x128x128xbf16>, %lse: tensor<1x128xf32>, %dout: tensor<1x128x128xbf16>) -> (tensor<1x128x128xbf16>, tensor<1x256x128xbf16>, tensor<1x256x128xbf16>) {
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#l) {scale = 0.125, schedule = #blocksparse.schedule<cuda.attention, kernels = 1>} : (tensor<1x128x128xbf16>, tensor<1x256x128xbf16>, tensor<1x256x128xbf16>, tensor<1x128x128xbf16>, tensor<1x128xf32>, tensor<1x128x128xbf16>) -> (tensor<1x128x128xbf16>, tensor<1x256x128xbf16>, tensor<1x256x128xbf16>)
  return %dq, %dk, %dv : tensor<1x128x128xbf16>, tensor<1x256x128xbf16>, tensor<1x256x128xbf16>
}

// -----

#l = #blocksparse.layout<64x64, grid 2x3, mask "011/100">

// HOPPER-LABEL: @windowed(
// HOPPER: blocksparse.attention_grad
// CPU-LABEL: @windowed(
// CPU: blocksparse.attention_grad
func.func @windowed(%q: tensor<1x128x64xbf16>, %k: tensor<1x192x64xbf16>, %v: tensor<1x192x64xbf16>, %out: tensor<1x128x64xbf16>, %lse: tensor<1x128xf32>, %dout: tensor<1x128x64xbf16>) -> (tensor<1x128x64xbf16>, tensor<1x192x64xbf16>, tensor<1x192x64xbf16>) {
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#l) {window = array<i64: 5, -1>} : (tensor<1x128x64xbf16>, tensor<1x192x64xbf16>, tensor<1x192x64xbf16>, tensor<1x128x64xbf16>, tensor<1x128xf32>, tensor<1x128x64xbf16>) -> (tensor<1x128x64xbf16>, tensor<1x192x64xbf16>, tensor<1x192x64xbf16>)
  return %dq, %dk, %dv : tensor<1x128x64xbf16>, tensor<1x192x64xbf16>, tensor<1x192x64xbf16>
}

// -----

#l = #blocksparse.layout<64x64, grid 2x3, mask "011/100">

// HOPPER-LABEL: @shared(
// HOPPER: blocksparse.attention_grad
// CPU-LABEL: @shared(
// CPU: blocksparse.attention_grad
// Tiles of keys walk the queries of two heads, those of the second 128 rows behind those of the first.
// PLAN-LABEL: @shared(
// PLAN-DAG: %[[TILES:.*]] = arith.constant dense<{{\[\[}}0, 0, 2, 0, 0, 0, 0, 0], [0, 0, 2, 0, 1, 0, 0, 0], [64, 2, 0, 0, 0, 0, 0, 0], [128, 2, 0, 0, 0, 0, 0, 0], [64, 2, 0, 0, 1, 0, 0, 0], [128, 2, 0, 0, 1, 0, 0, 0]]> : tensor<6x8xi32>
// PLAN-DAG: %[[STEPS:.*]] = arith.constant dense<{{\[\[}}64, 0], [192, 0]]> : tensor<2x2xi32>
// PLAN: blocksparse.planned_attention_grad {{.*}} lists(%[[TILES]], %{{.*}}, %[[STEPS]], %
func.func @shared(%q: tensor<4x128x64xbf16>, %k: tensor<2x192x64xbf16>, %v: tensor<2x192x64xbf16>, %out: tensor<4x128x64xbf16>, %lse: tensor<4x128xf32>, %dout: tensor<4x128x64xbf16>) -> (tensor<4x128x64xbf16>, tensor<2x192x64xbf16>, tensor<2x192x64xbf16>) {
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#l) {causal} : (tensor<4x128x64xbf16>, tensor<2x192x64xbf16>, tensor<2x192x64xbf16>, tensor<4x128x64xbf16>, tensor<4x128xf32>, tensor<4x128x64xbf16>) -> (tensor<4x128x64xbf16>, tensor<2x192x64xbf16>, tensor<2x192x64xbf16>)
  return %dq, %dk, %dv : tensor<4x128x64xbf16>, tensor<2x192x64xbf16>, tensor<2x192x64xbf16>
}

// -----

#l = #blocksparse.layout<64x64, grid 2x3, mask "011/100">

// HOPPER-LABEL: @with_drpe(
// HOPPER: blocksparse.softmax_grad
// CPU-LABEL: @with_drpe(
// CPU: blocksparse.softmax_grad
func.func @with_drpe(%q: tensor<1x128x64xbf16>, %k: tensor<1x192x64xbf16>, %v: tensor<1x192x64xbf16>, %out: tensor<1x128x64xbf16>, %lse: tensor<1x128xf32>, %dout: tensor<1x128x64xbf16>, %x: tensor<1x192xf32>) -> (tensor<1x128x64xbf16>, tensor<1x192x64xbf16>, tensor<1x192x64xbf16>, tensor<1x192xf32>) {
  // expected-remark @below {{is computed by several kernels: expects attention without what several operations compute, but got drpe}}
  %dq, %dk, %dv, %drpe = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout rpe(%x) layout(#l) {causal} : (tensor<1x128x64xbf16>, tensor<1x192x64xbf16>, tensor<1x192x64xbf16>, tensor<1x128x64xbf16>, tensor<1x128xf32>, tensor<1x128x64xbf16>, tensor<1x192xf32>) -> (tensor<1x128x64xbf16>, tensor<1x192x64xbf16>, tensor<1x192x64xbf16>, tensor<1x192xf32>)
  return %dq, %dk, %dv, %drpe : tensor<1x128x64xbf16>, tensor<1x192x64xbf16>, tensor<1x192x64xbf16>, tensor<1x192xf32>
}
