// Attention stays one operation where a kernel computes it so, and its plan has work lists.
// RUN: blocksparse-opt %s -split-input-file -blocksparse-decompose-attention=target=cuda:sm_90a | FileCheck %s --check-prefix=HOPPER
// RUN: blocksparse-opt %s -split-input-file -blocksparse-decompose-attention=target=cuda:sm_80 | FileCheck %s --check-prefix=OTHER --implicit-check-not=blocksparse.attention
// RUN: blocksparse-opt %s -split-input-file -blocksparse-decompose-attention=target=cpu | FileCheck %s --check-prefix=CPU
// RUN: blocksparse-opt %s -split-input-file -blocksparse-to-planned=target=cuda:sm_90a,workers=2 | FileCheck %s --check-prefix=PLAN

#l = #blocksparse.layout<64x64, grid 2x3, mask "011/100">

// HOPPER-LABEL: @fused(
// HOPPER: blocksparse.attention
// OTHER-LABEL: @fused(
// OTHER: blocksparse.softmax
// CPU-LABEL: @fused(
// CPU: blocksparse.attention
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

#l = #blocksparse.layout<16x16, grid 4x6, mask "100000/101000/000100/000001">

// Four block rows of 16 are one tile of 64 queries, whose joined step has four slices of 16 keys; each of the four
// warps takes those of its rows.
// HOPPER-LABEL: @small_blocks(
// HOPPER: blocksparse.attention
// OTHER-LABEL: @small_blocks(
// OTHER: blocksparse.softmax
// PLAN-LABEL: @small_blocks(
// PLAN-DAG: %[[TILES:.*]] = arith.constant dense<{{\[\[}}0, -1, -1, 0, 1, 0, 0, 0]]> : tensor<1x8xi32>
// PLAN-DAG: %[[WORKERS:.*]] = arith.constant dense<[0, 1]> : tensor<2xi32>
// PLAN-DAG: %[[STEPS:.*]] = arith.constant dense<{{\[\[}}0, -1, 0, -1, 1, 0, 0, 0]]> : tensor<1x8xi32>
// PLAN-DAG: %[[SLICES:.*]] = arith.constant dense<{{\[\[}}0, 32, 48, 80, 0, 0, 0, 0, 0, 32, 48, 80, 0, 0, 0, 0, 134480641, 0, 0, 0]]> : tensor<1x20xi32>
// PLAN: blocksparse.planned_attention %{{.*}} lists(%[[TILES]], %[[WORKERS]], %[[STEPS]], %[[SLICES]])
// PLAN-SAME: schedule = #blocksparse.schedule<cuda.attention>
func.func @small_blocks(%q: tensor<1x64x64xbf16>, %k: tensor<1x96x64xbf16>, %v: tensor<1x96x64xbf16>) -> tensor<1x64x64xbf16> {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#l) {scale = 0.125} : (tensor<1x64x64xbf16>, tensor<1x96x64xbf16>, tensor<1x96x64xbf16>) -> (tensor<1x64x64xbf16>, tensor<1x64xf32>)
  return %out : tensor<1x64x64xbf16>
}

// -----

#l = #blocksparse.layout<64x64, grid 1x8, mask "11111111">

// With one tile for two workers, two warpgroups share the keys of the tile.
// PLAN-LABEL: @split(
// PLAN-DAG: arith.constant dense<{{\[\[}}0, 0, -1, 0, 2, 0, 0, 1]]> : tensor<1x8xi32>
// PLAN-DAG: arith.constant dense<{{\[\[}}0, 64, 256, 320, 3, 3, 0, 1], [128, 192, 384, 448, 3, 3, 0, 1]]> : tensor<2x8xi32>
func.func @split(%q: tensor<1x64x64xbf16>, %k: tensor<1x512x64xbf16>, %v: tensor<1x512x64xbf16>) -> tensor<1x64x64xbf16> {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#l) {scale = 0.125} : (tensor<1x64x64xbf16>, tensor<1x512x64xbf16>, tensor<1x512x64xbf16>) -> (tensor<1x64x64xbf16>, tensor<1x64xf32>)
  return %out : tensor<1x64x64xbf16>
}

// -----

#l = #blocksparse.layout<64x64, grid 2x3, mask "011/100">

// HOPPER-LABEL: @scalar_schedule(
// HOPPER: blocksparse.softmax
// CPU-LABEL: @scalar_schedule(
// CPU: blocksparse.softmax
func.func @scalar_schedule(%q: tensor<2x128x64xbf16>, %k: tensor<2x192x64xbf16>, %v: tensor<2x192x64xbf16>) -> tensor<2x128x64xbf16> {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#l) {scale = 0.125, schedule = #blocksparse.schedule<cuda.simt>} : (tensor<2x128x64xbf16>, tensor<2x192x64xbf16>, tensor<2x192x64xbf16>) -> (tensor<2x128x64xbf16>, tensor<2x128xf32>)
  return %out : tensor<2x128x64xbf16>
}

// -----

#l = #blocksparse.layout<64x64, grid 2x3, mask "011/100">

// Every mask, bias and attribute is an operand of the planned form. A mask of keys marks every half; a
// window leaves out those that are outside of it.
// HOPPER-LABEL: @masks(
// HOPPER: blocksparse.attention
// CPU-LABEL: @masks(
// CPU: blocksparse.attention
// PLAN-LABEL: @masks(
// PLAN-DAG: arith.constant dense<{{\[\[}}0, 64, 0, 64, 6, 5, 0, 0]]> : tensor<1x8xi32>
// PLAN: blocksparse.planned_attention %{{.*}} lists({{.*}}) rpe(%{{.*}}) key_padding_mask(%{{.*}}) key_lengths(%{{.*}}) sink(%{{.*}}) outs({{.*}}) {{.*}}causal_offset = 10 : i64, {{.*}}soft_cap = 2.000000e+01 : f64, window = array<i64: -1, 40>
func.func @masks(%q: tensor<2x128x64xbf16>, %k: tensor<2x192x64xbf16>, %v: tensor<1x192x64xbf16>, %r: tensor<1x192xf32>, %m: tensor<192xf32>, %n: tensor<1xi32>, %s: tensor<2xf32>) -> tensor<2x128x64xbf16> {
  %out, %lse = blocksparse.attention %q, %k, %v rpe(%r) key_padding_mask(%m) key_lengths(%n) sink(%s) layout(#l) {causal_offset = 10 : i64, scale = 0.125, soft_cap = 20.0, window = array<i64: -1, 40>} : (tensor<2x128x64xbf16>, tensor<2x192x64xbf16>, tensor<1x192x64xbf16>, tensor<1x192xf32>, tensor<192xf32>, tensor<1xi32>, tensor<2xf32>) -> (tensor<2x128x64xbf16>, tensor<2x128xf32>)
  return %out : tensor<2x128x64xbf16>
}

// -----

#l = #blocksparse.layout<64x64, grid 2x3, mask "011/100">

// HOPPER-LABEL: @wide(
// HOPPER: blocksparse.softmax
// CPU-LABEL: @wide(
// CPU: blocksparse.attention
func.func @wide(%q: tensor<2x128x256xbf16>, %k: tensor<2x192x256xbf16>, %v: tensor<2x192x64xbf16>) -> tensor<2x128x64xbf16> {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#l) {scale = 0.125} : (tensor<2x128x256xbf16>, tensor<2x192x256xbf16>, tensor<2x192x64xbf16>) -> (tensor<2x128x64xbf16>, tensor<2x128xf32>)
  return %out : tensor<2x128x64xbf16>
}

// -----

#l = #blocksparse.layout<64x64, grid 2x3, mask "011/100">

// The planned form has static shapes.
// CPU-LABEL: @dynamic(
// CPU: blocksparse.softmax
func.func @dynamic(%q: tensor<?x2x128x64xbf16>, %k: tensor<?x2x192x64xbf16>, %v: tensor<?x2x192x64xbf16>) -> tensor<?x2x128x64xbf16> {
  %out, %lse = blocksparse.attention %q, %k, %v layout(#l) : (tensor<?x2x128x64xbf16>, tensor<?x2x192x64xbf16>, tensor<?x2x192x64xbf16>) -> (tensor<?x2x128x64xbf16>, tensor<?x2x128xf32>)
  return %out : tensor<?x2x128x64xbf16>
}
