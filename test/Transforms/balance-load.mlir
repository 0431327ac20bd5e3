// RUN: blocksparse-opt %s -blocksparse-balance-load -blocksparse-verify-plan -cse -canonicalize | FileCheck %s
// RUN: blocksparse-opt %s -blocksparse-balance-load="order=dealt workers=2" -blocksparse-verify-plan -cse -canonicalize | FileCheck %s --check-prefix=DEALT
// RUN: not blocksparse-opt %s -blocksparse-balance-load="order=shortest" 2>&1 | FileCheck %s --check-prefix=ORDER

// ORDER: expects order longest-first, dealt or kept, but got 'shortest'

// CHECK-LABEL: @longest_first(
// CHECK: dense<{{\[\[}}1, 0, 1, 3, -1], [2, 0, 4, 2, -1], [0, 0, 0, 1, -1], [3, 0, 6, 0, -1]]>
// DEALT-LABEL: @longest_first(
// DEALT: dense<{{\[\[}}1, 0, 1, 3, -1], [3, 0, 6, 0, -1], [2, 0, 4, 2, -1], [0, 0, 0, 1, -1]]>
func.func @longest_first(%v: tensor<6x16x16xf32>, %b: tensor<64x8xf32>, %init: tensor<64x8xf32>)
    -> tensor<64x8xf32> {
  %s = arith.constant dense<[[0, 0, 0, 1, -1], [1, 0, 1, 3, -1], [2, 0, 4, 2, -1], [3, 0, 6, 0, -1]]>
      : tensor<4x5xi32>
  %e = arith.constant dense<[[0, 0], [0, 1], [1, 2], [2, 3], [2, 4], [3, 5]]> : tensor<6x2xi32>
  %0 = blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%init)
      {block = array<i64: 16, 16>, lut_heads = 1 : i64}
      : (tensor<6x16x16xf32>, tensor<64x8xf32>, tensor<4x5xi32>, tensor<6x2xi32>, tensor<64x8xf32>)
      -> tensor<64x8xf32>
  return %0 : tensor<64x8xf32>
}

// A row of 5 in pieces of at most 2: three slots, added in order.
// CHECK-LABEL: @split(
// CHECK-DAG: %[[S:.*]] = arith.constant dense<{{\[\[}}0, 0, 1, 2, 1], [0, 0, 3, 2, 2], [0, 0, 0, 1, 0], [1, 0, 5, 1, -1]]> : tensor<4x5xi32>
// CHECK-DAG: %[[C:.*]] = arith.constant dense<{{\[\[}}0, 0, 0, 3]]> : tensor<1x4xi32>
// CHECK: planned_dsd {{.*}} segments(%[[S]]) {{.*}} combine(%[[C]]) {{.*}}slots = 3 : i64
func.func @split(%v: tensor<6x16x16xf32>, %b: tensor<80x8xf32>, %init: tensor<32x8xf32>)
    -> tensor<32x8xf32> {
  %s = arith.constant dense<[[0, 0, 0, 5, -1], [1, 0, 5, 1, -1]]> : tensor<2x5xi32>
  %e = arith.constant dense<[[0, 0], [1, 1], [2, 2], [3, 3], [4, 4], [0, 5]]> : tensor<6x2xi32>
  %0 = blocksparse.planned_dsd %v, %b segments(%s) entries(%e) outs(%init)
      {block = array<i64: 16, 16>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cpu.panel, split = 2>}
      : (tensor<6x16x16xf32>, tensor<80x8xf32>, tensor<2x5xi32>, tensor<6x2xi32>, tensor<32x8xf32>)
      -> tensor<32x8xf32>
  return %0 : tensor<32x8xf32>
}

// CHECK-LABEL: @sampled(
// CHECK-DAG: dense<{{\[\[}}1, 2], [0, 1]]> : tensor<2x2xi32>
// CHECK: planned_sdd
// CHECK-LABEL: @softmax(
// CHECK: dense<{{\[\[}}1, 0, 1, 2, -1], [0, 0, 0, 1, -1]]> : tensor<2x5xi32>
func.func @sampled(%a: tensor<48x4xf32>, %b: tensor<4x16xf32>, %init: tensor<3x16x16xf32>)
    -> tensor<3x16x16xf32> {
  %lut = arith.constant dense<[[0, 0, 0, 0], [0, 1, 0, 1], [0, 2, 0, 2]]> : tensor<3x4xi32>
  %s = arith.constant dense<[[0, 3]]> : tensor<1x2xi32>
  %0 = blocksparse.planned_sdd %a, %b lut(%lut) segments(%s) outs(%init)
      {block = array<i64: 16, 16>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cpu.panel, split = 2>}
      : (tensor<48x4xf32>, tensor<4x16xf32>, tensor<3x4xi32>, tensor<1x2xi32>, tensor<3x16x16xf32>)
      -> tensor<3x16x16xf32>
  return %0 : tensor<3x16x16xf32>
}

// A row of softmax is one piece, whatever the schedule says.
func.func @softmax(%x: tensor<3x16x16xf32>, %y: tensor<3x16x16xf32>) -> tensor<3x16x16xf32> {
  %s = arith.constant dense<[[0, 0, 0, 1, -1], [1, 0, 1, 2, -1]]> : tensor<2x5xi32>
  %e = arith.constant dense<[[0, 0], [0, 1], [1, 2]]> : tensor<3x2xi32>
  %0 = blocksparse.planned_softmax %x segments(%s) entries(%e) outs(%y)
      {block = array<i64: 16, 16>, shape = array<i64: 32, 32>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cpu.rows>}
      : (tensor<3x16x16xf32>, tensor<2x5xi32>, tensor<3x2xi32>, tensor<3x16x16xf32>)
      -> tensor<3x16x16xf32>
  return %0 : tensor<3x16x16xf32>
}
