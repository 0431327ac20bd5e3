// Attention stays one operation where a kernel computes it so, and its plan has work lists.
// RUN: blocksparse-opt %s -split-input-file -blocksparse-decompose-attention=target=cuda:sm_90a | FileCheck %s --check-prefix=HOPPER
// RUN: blocksparse-opt %s -split-input-file -blocksparse-decompose-attention=target=cuda:sm_80 | FileCheck %s --check-prefix=OTHER --implicit-check-not=blocksparse.attention
// RUN: blocksparse-opt %s -split-input-file -blocksparse-to-planned=target=cuda:sm_90a,workers=2 | FileCheck %s --check-prefix=PLAN

#l = #blocksparse.layout<64x64, grid 2x3, mask "011/100">

// HOPPER-LABEL: @fused(
// HOPPER: blocksparse.attention
// OTHER-LABEL: @fused(
// OTHER: blocksparse.softmax
// Two rows of 64 queries with keys of their own share a separate step.
// PLAN-LABEL: @fused(
// PLAN-DAG: %[[TILES:.*]] = arith.constant dense<{{\[\[}}0, 64, -1, 0, 1, 0, 0, 0], [0, 64, -1, 0, 1, 0, 1, 0]]> : tensor<2x8xi32>
// PLAN-DAG: %[[WORKERS:.*]] = arith.constant dense<[0, 1, 2]> : tensor<3xi32>
// PLAN-DAG: %[[STEPS:.*]] = arith.constant dense<{{\[\[}}64, 128, 0, -1, 3, 1, 0, 1]]> : tensor<1x8xi32>
// PLAN: blocksparse.planned_attention %{{.*}}, %{{.*}}, %{{.*}} segments(%{{.*}}) entries(%{{.*}}) lists(%[[TILES]], %[[WORKERS]], %[[STEPS]])
// PLAN-SAME: schedule = #blocksparse.schedule<cuda.attention>
func.func @fused(%q: tensor<2x128x64xbf16>, %k: tensor<2x192x64xbf16>, %v: tensor<2x192x64xbf16>) -> (tensor<2x128x64xbf16>, tensor<2x128xf32>) {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#l) {scale = 0.125} : (tensor<2x128x64xbf16>, tensor<2x192x64xbf16>, tensor<2x192x64xbf16>) -> (tensor<2x128x64xbf16>, tensor<2x128xf32>)
  return %out, %lse : tensor<2x128x64xbf16>, tensor<2x128xf32>
}

// -----

#l = #blocksparse.layout<64x64, grid 2x3, mask "011/100">

// HOPPER-LABEL: @scalar_schedule(
// HOPPER: blocksparse.softmax
func.func @scalar_schedule(%q: tensor<2x128x64xbf16>, %k: tensor<2x192x64xbf16>, %v: tensor<2x192x64xbf16>) -> tensor<2x128x64xbf16> {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#l) {scale = 0.125, schedule = #blocksparse.schedule<cuda.simt>} : (tensor<2x128x64xbf16>, tensor<2x192x64xbf16>, tensor<2x192x64xbf16>) -> (tensor<2x128x64xbf16>, tensor<2x128xf32>)
  return %out : tensor<2x128x64xbf16>
}

// -----

#l = #blocksparse.layout<64x64, grid 2x3, mask "011/100">

// HOPPER-LABEL: @mask(
// HOPPER: blocksparse.softmax
func.func @mask(%q: tensor<2x128x64xbf16>, %k: tensor<2x192x64xbf16>, %v: tensor<2x192x64xbf16>, %m: tensor<192xf32>) -> tensor<2x128x64xbf16> {
  %out, %lse = blocksparse.attention %q, %k, %v key_padding_mask(%m) layout(#l) {scale = 0.125} : (tensor<2x128x64xbf16>, tensor<2x192x64xbf16>, tensor<2x192x64xbf16>, tensor<192xf32>) -> (tensor<2x128x64xbf16>, tensor<2x128xf32>)
  return %out : tensor<2x128x64xbf16>
}

// -----

#l = #blocksparse.layout<64x64, grid 2x3, mask "011/100">

// HOPPER-LABEL: @wide(
// HOPPER: blocksparse.softmax
func.func @wide(%q: tensor<2x128x256xbf16>, %k: tensor<2x192x256xbf16>, %v: tensor<2x192x64xbf16>) -> tensor<2x128x64xbf16> {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#l) {scale = 0.125} : (tensor<2x128x256xbf16>, tensor<2x192x256xbf16>, tensor<2x192x64xbf16>) -> (tensor<2x128x64xbf16>, tensor<2x128xf32>)
  return %out : tensor<2x128x64xbf16>
}
