// Tiles of factors that are transposed first are those of a K-major A and a K-major B, whichever is
// MN-major.
// RUN: blocksparse-opt %s -blocksparse-build-stages=target=cuda:sm_90a,workers=2 | FileCheck %s

// The product that has nothing to transpose comes first, for comparison.
// CHECK-LABEL: @transposed(
// CHECK-DAG: %[[T:.*]] = arith.constant dense<{{\[\[}}131072, -1, -1, -1, -1, -1, -1, -1, 196608, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 2, 0, 2], [-65535, -1, -1, -1, -1, -1, -1, -1, -65534, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 1, 1, 0, 1]]> : tensor<2x24xi32>
// CHECK-DAG: %[[P:.*]] = arith.constant dense<{{\[\[}}0, 1, 3, 4, -1, {{[-1, ]*}}], [2, -1, {{[-1, ]*}}]]> : tensor<2x32xi32>
// CHECK: planned_sdd %arg0, %arg1 {{.*}} tiles(%[[T]], %{{.*}}, %[[P]]) outs(
// CHECK: %[[T1:.*]] = arith.constant dense<{{\[\[}}131072, -1, -1, -1, -1, -1, -1, -1, 196608, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 2, 0, 2], [-65535, -1, -1, -1, -1, -1, -1, -1, -65534, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 1, 1, 0, 1]]> : tensor<2x24xi32>
// CHECK: %[[P1:.*]] = arith.constant dense<{{\[\[}}0, 1, 3, 4, -1, {{[-1, ]*}}], [2, -1, {{[-1, ]*}}]]> : tensor<2x32xi32>
// CHECK: planned_sdd %arg0, %arg3 {{.*}} tiles(%[[T1]], %{{.*}}, %[[P1]]) outs(
// CHECK: %[[T2:.*]] = arith.constant dense<{{\[\[}}131072, -1, -1, -1, -1, -1, -1, -1, 196608, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 2, 0, 2], [-65535, -1, -1, -1, -1, -1, -1, -1, -65534, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 1, 1, 0, 1]]> : tensor<2x24xi32>
// CHECK: planned_sdd %arg2, %arg3 {{.*}} tiles(%[[T2]], %{{.*}}, %{{.*}}) outs(
func.func @transposed(%a: tensor<128x40xf16>, %b: tensor<96x40xf16>, %at: tensor<40x128xf16>,
                  %bt: tensor<40x96xf16>, %init: tensor<5x32x32xf16>)
    -> (tensor<5x32x32xf16>, tensor<5x32x32xf16>, tensor<5x32x32xf16>) {
  %l = arith.constant dense<[[0, 0, 0, 0], [0, 0, 2, 1], [0, 2, 1, 2], [0, 3, 0, 3], [0, 3, 2, 4]]>
      : tensor<5x4xi32>
  %s = arith.constant dense<[[0, 5]]> : tensor<1x2xi32>
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) outs(%init)
      {block = array<i64: 32, 32>, lut_heads = 1 : i64, transpose_b,
       schedule = #blocksparse.schedule<cuda.wgmma, gather = true>}
      : (tensor<128x40xf16>, tensor<96x40xf16>, tensor<5x4xi32>, tensor<1x2xi32>,
         tensor<5x32x32xf16>) -> tensor<5x32x32xf16>
  %1 = blocksparse.planned_sdd %a, %bt lut(%l) segments(%s) outs(%init)
      {block = array<i64: 32, 32>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>}
      : (tensor<128x40xf16>, tensor<40x96xf16>, tensor<5x4xi32>, tensor<1x2xi32>,
         tensor<5x32x32xf16>) -> tensor<5x32x32xf16>
  %2 = blocksparse.planned_sdd %at, %bt lut(%l) segments(%s) outs(%init)
      {block = array<i64: 32, 32>, lut_heads = 1 : i64, transpose_a,
       schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>}
      : (tensor<40x128xf16>, tensor<40x96xf16>, tensor<5x4xi32>, tensor<1x2xi32>,
         tensor<5x32x32xf16>) -> tensor<5x32x32xf16>
  return %0, %1, %2 : tensor<5x32x32xf16>, tensor<5x32x32xf16>, tensor<5x32x32xf16>
}

// No factor is MN-major; blocks of 64 are gathered as they lie; a block sticks out.
// CHECK-LABEL: @not_transposed(
// CHECK-NOT: tiles(
func.func @not_transposed(%a: tensor<128x40xf16>, %b: tensor<96x40xf16>, %c: tensor<40x128xf16>,
                      %d: tensor<40x80xf16>, %init: tensor<1x32x32xf16>, %init64: tensor<1x64x64xf16>)
    -> (tensor<1x32x32xf16>, tensor<1x64x64xf16>, tensor<1x32x32xf16>) {
  %l = arith.constant dense<[[0, 0, 0, 0]]> : tensor<1x4xi32>
  %s = arith.constant dense<[[0, 1]]> : tensor<1x2xi32>
  %0 = blocksparse.planned_sdd %a, %b lut(%l) segments(%s) outs(%init)
      {block = array<i64: 32, 32>, lut_heads = 1 : i64, transpose_b,
       schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>}
      : (tensor<128x40xf16>, tensor<96x40xf16>, tensor<1x4xi32>, tensor<1x2xi32>,
         tensor<1x32x32xf16>) -> tensor<1x32x32xf16>
  %1 = blocksparse.planned_sdd %a, %c lut(%l) segments(%s) outs(%init64)
      {block = array<i64: 64, 64>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>}
      : (tensor<128x40xf16>, tensor<40x128xf16>, tensor<1x4xi32>, tensor<1x2xi32>,
         tensor<1x64x64xf16>) -> tensor<1x64x64xf16>
  %2 = blocksparse.planned_sdd %a, %d lut(%l) segments(%s) outs(%init)
      {block = array<i64: 32, 32>, lut_heads = 1 : i64,
       schedule = #blocksparse.schedule<cuda.wgmma_transposed, gather = true>}
      : (tensor<128x40xf16>, tensor<40x80xf16>, tensor<1x4xi32>, tensor<1x2xi32>,
         tensor<1x32x32xf16>) -> tensor<1x32x32xf16>
  return %0, %1, %2 : tensor<1x32x32xf16>, tensor<1x64x64xf16>, tensor<1x32x32xf16>
}
