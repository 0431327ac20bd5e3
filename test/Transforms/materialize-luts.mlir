// RUN: blocksparse-opt %s -blocksparse-materialize-luts -cse | FileCheck %s --implicit-check-not=#layout --implicit-check-not=blocksparse.dsd --implicit-check-not=blocksparse.dds --implicit-check-not=blocksparse.sdd --implicit-check-not=blocksparse.softmax --implicit-check-not=blocksparse.to_dense

#l = #blocksparse.layout<16x8, grid 2x3, mask "101/010">
#h = #blocksparse.layout<16x16, grid 2x2x3, mask "101/110/000/111">

// CHECK-LABEL: @dsd(
// CHECK-SAME: %[[V:.*]]: tensor<3x16x8xf32>, %[[B:.*]]: tensor<24x20xf32>, %[[BIAS:.*]]: tensor<20xf32>
// CHECK-DAG: %[[E:.*]] = arith.constant dense<{{\[\[}}0, 0], [2, 1], [1, 2]]> : tensor<3x2xi32>
// CHECK-DAG: %[[S:.*]] = arith.constant dense<{{\[\[}}0, 0, 0, 2, -1], [1, 0, 2, 1, -1]]> : tensor<2x5xi32>
// CHECK-DAG: %[[INIT:.*]] = tensor.empty() : tensor<32x20xf32>
// CHECK: %[[R:.*]] = blocksparse.planned_dsd %[[V]], %[[B]] segments(%[[S]]) entries(%[[E]]) bias(%[[BIAS]]) outs(%[[INIT]])
// CHECK-SAME: {activation = #blocksparse.activation<relu>, alpha = 2.000000e+00 : f64, block = array<i64: 16, 8>, lut_heads = 1 : i64}
// CHECK: return %[[R]] : tensor<32x20xf32>
func.func @dsd(%a: tensor<32x24xf32, #l>, %b: tensor<24x20xf32>, %bias: tensor<20xf32>)
    -> tensor<32x20xf32> {
  %0 = blocksparse.dsd %a, %b bias(%bias)
      {activation = #blocksparse.activation<relu>, alpha = 2.0}
      : (tensor<32x24xf32, #l>, tensor<24x20xf32>, tensor<20xf32>) -> tensor<32x20xf32>
  return %0 : tensor<32x20xf32>
}

// Tiles are block columns; the value indices are those of the layout.
// CHECK-LABEL: @dsd_transposed(
// CHECK-DAG: arith.constant dense<{{\[\[}}0, 0], [1, 2], [0, 1]]> : tensor<3x2xi32>
// CHECK-DAG: arith.constant dense<{{\[\[}}0, 0, 0, 1, -1], [1, 0, 1, 1, -1], [2, 0, 2, 1, -1]]> : tensor<3x5xi32>
// CHECK: planned_dsd {{.*}}transpose_b, transpose_out, transpose_values}
func.func @dsd_transposed(%a: tensor<32x24xf32, #l>, %b: tensor<20x32xf32>) -> tensor<20x24xf32> {
  %0 = blocksparse.dsd %a, %b {transpose_a, transpose_b, transpose_out}
      : (tensor<32x24xf32, #l>, tensor<20x32xf32>) -> tensor<20x24xf32>
  return %0 : tensor<20x24xf32>
}

// A @ S is the transpose of S^T @ A^T.
// CHECK-LABEL: @dds(
// CHECK-SAME: %[[A:.*]]: tensor<?x2x?x32xf32>, %[[V:.*]]: tensor<7x16x16xf32>
// CHECK-DAG: arith.constant dense<{{\[\[}}0, 0], [1, 2], [1, 3], [0, 1], [1, 4], [1, 5], [1, 6]]> : tensor<7x2xi32>
// CHECK-DAG: arith.constant dense<{{\[\[}}0, 0, 0, 2, -1], [1, 0, 2, 1, -1], [2, 0, 3, 1, -1], [0, 1, 4, 1, -1], [1, 1, 5, 1, -1], [2, 1, 6, 1, -1]]> : tensor<6x5xi32>
// CHECK-DAG: %[[BATCH:.*]] = tensor.dim %[[A]], %c0
// CHECK-DAG: %[[ROWS:.*]] = tensor.dim %[[A]], %c2
// CHECK-DAG: %[[INIT:.*]] = tensor.empty(%[[BATCH]], %[[ROWS]]) : tensor<?x2x?x48xf32>
// CHECK: planned_dsd %[[V]], %[[A]] {{.*}} outs(%[[INIT]]) {block = array<i64: 16, 16>, lut_heads = 2 : i64, transpose_b, transpose_out, transpose_values}
func.func @dds(%a: tensor<?x2x?x32xf32>, %b: tensor<2x32x48xf32, #h>) -> tensor<?x2x?x48xf32> {
  %0 = blocksparse.dds %a, %b
      : (tensor<?x2x?x32xf32>, tensor<2x32x48xf32, #h>) -> tensor<?x2x?x48xf32>
  return %0 : tensor<?x2x?x48xf32>
}

// CHECK-LABEL: @dds_transposed(
// CHECK-DAG: arith.constant dense<{{\[\[}}0, 0], [2, 1], [0, 2], [1, 3], [0, 4], [1, 5], [2, 6]]> : tensor<7x2xi32>
// CHECK: planned_dsd {{.*}} {block = array<i64: 16, 16>, lut_heads = 2 : i64} :
func.func @dds_transposed(%a: tensor<2x48x10xf32>, %b: tensor<2x32x48xf32, #h>)
    -> tensor<2x32x10xf32> {
  %0 = blocksparse.dds %a, %b {transpose_a, transpose_b, transpose_out}
      : (tensor<2x48x10xf32>, tensor<2x32x48xf32, #h>) -> tensor<2x32x10xf32>
  return %0 : tensor<2x32x10xf32>
}

// CHECK-LABEL: @addmm(
// CHECK: planned_dsd {{.*}} input(%{{.*}}) left_alpha(%{{.*}}) right_alpha(%{{.*}}) outs
// CHECK-SAME: alpha = 3.000000e+00 : f64, beta = 5.000000e-01 : f64
func.func @addmm(%a: tensor<32x24xf32, #l>, %b: tensor<24x20xf32>, %i: tensor<32x20xf32>,
                 %x: tensor<32xf32>, %y: tensor<20xf32>) -> tensor<32x20xf32> {
  %0 = blocksparse.bsr_addmm %a, %b input(%i) left_alpha(%x) right_alpha(%y)
      {alpha = 3.0, beta = 0.5}
      : (tensor<32x24xf32, #l>, tensor<24x20xf32>, tensor<32x20xf32>, tensor<32xf32>, tensor<20xf32>)
      -> tensor<32x20xf32>
  return %0 : tensor<32x20xf32>
}

// beta = 0: input is not an operand. alpha = 0: no entries and no factors, but a segment for
// each block row.
// CHECK-LABEL: @addmm_zeros(
// CHECK-DAG: %[[E:.*]] = arith.constant dense<> : tensor<0x2xi32>
// CHECK-DAG: %[[S:.*]] = arith.constant dense<{{\[\[}}0, 0, 0, 0, -1], [1, 0, 0, 0, -1]]> : tensor<2x5xi32>
// CHECK: planned_dsd %{{.*}}, %{{.*}} segments(%[[S]]) entries(%[[E]]) outs({{.*}}) {alpha = 0.000000e+00 : f64, block
func.func @addmm_zeros(%a: tensor<32x24xf32, #l>, %b: tensor<24x20xf32>, %i: tensor<32x20xf32>,
                       %x: tensor<32xf32>) -> tensor<32x20xf32> {
  %0 = blocksparse.bsr_addmm %a, %b input(%i) left_alpha(%x) {alpha = 0.0, beta = 0.0}
      : (tensor<32x24xf32, #l>, tensor<24x20xf32>, tensor<32x20xf32>, tensor<32xf32>)
      -> tensor<32x20xf32>
  return %0 : tensor<32x20xf32>
}

// Rows of the table by block column, a segment each.
// CHECK-LABEL: @sdd(
// CHECK-SAME: %[[A:.*]]: tensor<?x2x32x5xf32>, %[[B:.*]]: tensor<5x24xf32>
// CHECK-DAG: arith.constant dense<{{\[\[}}0, 0, 0, 0], [0, 1, 1, 2], [0, 0, 2, 1]]> : tensor<3x4xi32>
// CHECK-DAG: arith.constant dense<{{\[\[}}0, 1], [1, 1], [2, 1]]> : tensor<3x2xi32>
// CHECK-DAG: %[[BATCH:.*]] = tensor.dim %[[A]], %c0
// CHECK-DAG: %[[INIT:.*]] = tensor.empty(%[[BATCH]]) : tensor<?x6x16x8xf32>
// CHECK: planned_sdd %[[A]], %[[B]] lut(%{{.*}}) segments(%{{.*}}) outs(%[[INIT]]) {alpha = 2.000000e+00 : f64, block = array<i64: 16, 8>, lut_heads = 1 : i64}
func.func @sdd(%a: tensor<?x2x32x5xf32>, %b: tensor<5x24xf32>) -> tensor<?x2x32x24xf32, #l> {
  %0 = blocksparse.sdd %a, %b {alpha = 2.0}
      : (tensor<?x2x32x5xf32>, tensor<5x24xf32>) -> tensor<?x2x32x24xf32, #l>
  return %0 : tensor<?x2x32x24xf32, #l>
}

// (A @ B)^T = B^T @ A^T
// CHECK-LABEL: @sdd_transpose_out(
// CHECK-SAME: %[[A:.*]]: tensor<24x5xf32>, %[[B:.*]]: tensor<5x32xf32>
// CHECK: planned_sdd %[[B]], %[[A]] {{.*}}transpose_a, transpose_b}
func.func @sdd_transpose_out(%a: tensor<24x5xf32>, %b: tensor<5x32xf32>) -> tensor<32x24xf32, #l> {
  %0 = blocksparse.sdd %a, %b {transpose_out}
      : (tensor<24x5xf32>, tensor<5x32xf32>) -> tensor<32x24xf32, #l>
  return %0 : tensor<32x24xf32, #l>
}

// alpha = 0: an inner dimension of 0 in place of operands that must not be read.
// CHECK-LABEL: @sampled_addmm(
// CHECK-SAME: %[[V:.*]]: tensor<3x16x8xf32>
// CHECK-DAG: %[[A:.*]] = tensor.empty() : tensor<32x0xf32>
// CHECK-DAG: %[[B:.*]] = tensor.empty() : tensor<24x0xf32>
// CHECK: planned_sdd %[[A]], %[[B]] {{.*}} input(%[[V]]) {{.*}}beta = 2.000000e-01 : f64
func.func @sampled_addmm(%s: tensor<32x24xf32, #l>, %a: tensor<32x5xf32>, %b: tensor<24x5xf32>)
    -> tensor<32x24xf32, #l> {
  %0 = blocksparse.sampled_addmm %s, %a, %b {alpha = 0.0, beta = 0.2, transpose_b}
      : (tensor<32x24xf32, #l>, tensor<32x5xf32>, tensor<24x5xf32>) -> tensor<32x24xf32, #l>
  return %0 : tensor<32x24xf32, #l>
}

// CHECK-LABEL: @softmax(
// CHECK: %[[R:.*]]:2 = blocksparse.planned_softmax %{{.*}} segments(%{{.*}}) entries(%{{.*}}) attention_mask(%arg1) outs(
// CHECK-SAME: causal, lut_heads = 1 : i64, scale = 5.000000e-01 : f64, shape = array<i64: 30, 24>
// CHECK-SAME: -> (tensor<6x16x8xf16>, tensor<2x30xf32>)
// CHECK: planned_softmax_grad %[[R]]#0, %[[R]]#0 {{.*}} -> (tensor<6x16x8xf16>, tensor<30x24xf32>)
func.func @softmax(%x: tensor<2x30x24xf32, #l>, %m: tensor<30x24xf32>)
    -> (tensor<2x30x24xf16, #l>, tensor<2x30xf32>, tensor<30x24xf32>) {
  %y, %lse = blocksparse.softmax %x attention_mask(%m) {scale = 0.5, causal}
      : (tensor<2x30x24xf32, #l>, tensor<30x24xf32>) -> (tensor<2x30x24xf16, #l>, tensor<2x30xf32>)
  %dx, %drpe = blocksparse.softmax_grad %y, %y
      : (tensor<2x30x24xf16, #l>, tensor<2x30x24xf16, #l>)
      -> (tensor<2x30x24xf16, #l>, tensor<30x24xf32>)
  return %dx, %lse, %drpe : tensor<2x30x24xf16, #l>, tensor<2x30xf32>, tensor<30x24xf32>
}

// CHECK-LABEL: @conversions(
// CHECK-SAME: %[[D:.*]]: tensor<2x32x24xf32>
// CHECK-DAG: %[[LUT:.*]] = arith.constant dense<{{\[\[}}0, 0, 0, 0], [0, 0, 2, 1], [0, 1, 1, 2]]> : tensor<3x4xi32>
// CHECK-DAG: %[[V:.*]] = blocksparse.planned_from_dense %[[D]] lut(%[[LUT]]) outs(%{{.*}}) {block = array<i64: 16, 8>, lut_heads = 1 : i64} {{.*}} -> tensor<6x16x8xf32>
// CHECK-DAG: %[[P:.*]] = arith.constant dense<[0, 2, 1]> : tensor<3xi32>
// CHECK: blocksparse.planned_transpose %[[V]] permutation(%[[P]]) outs(%{{.*}}) {block = array<i64: 16, 8>, lut_heads = 1 : i64} {{.*}} -> tensor<6x8x16xf32>
// CHECK: blocksparse.planned_to_dense {{.*}} {block = array<i64: 8, 16>, lut_heads = 1 : i64} {{.*}} -> tensor<2x24x32xf32>
#lt = #blocksparse.layout<8x16, grid 3x2, mask "10/01/10">
func.func @conversions(%d: tensor<2x32x24xf32>) -> tensor<2x24x32xf32> {
  %0 = blocksparse.from_dense %d : (tensor<2x32x24xf32>) -> tensor<2x32x24xf32, #l>
  %1 = blocksparse.transpose %0 : (tensor<2x32x24xf32, #l>) -> tensor<2x24x32xf32, #lt>
  %2 = blocksparse.to_dense %1 : (tensor<2x24x32xf32, #lt>) -> tensor<2x24x32xf32>
  return %2 : tensor<2x24x32xf32>
}

// CHECK-LABEL: @matmul(
// CHECK-SAME: %[[A:.*]]: tensor<?x10x4x16xf16>, %[[B:.*]]: tensor<?x?x4x16xf16>
// CHECK-DAG: %[[BATCH:.*]] = tensor.dim %[[A]], %c0
// CHECK-DAG: %[[COLS:.*]] = tensor.dim %[[B]], %c1
// CHECK-DAG: tensor.empty(%[[BATCH]], %[[COLS]]) : tensor<?x4x10x?xf16>
// CHECK: planned_matmul %[[A]], %[[B]] outs(%{{.*}}) {form = #blocksparse.form<score>}
func.func @matmul(%a: tensor<?x10x4x16xf16>, %b: tensor<?x?x4x16xf16>) -> tensor<?x4x10x?xf16> {
  %0 = blocksparse.matmul %a, %b {form = #blocksparse.form<score>}
      : (tensor<?x10x4x16xf16>, tensor<?x?x4x16xf16>) -> tensor<?x4x10x?xf16>
  return %0 : tensor<?x4x10x?xf16>
}

// CHECK-LABEL: @scatter_mm(
// CHECK-SAME: %[[ACC:[^:]*]]: tensor<3x16x32xf32>, %{{.*}}: tensor<4xi32>
// CHECK: planned_scatter_mm %{{.*}}, %{{.*}} indices(%{{.*}}, %{{.*}}) outs(%[[ACC]])
func.func @scatter_mm(%p: tensor<5x16x16xf32>, %q: tensor<7x16x32xf32>, %acc: tensor<3x16x32xf32>,
                      %c: tensor<4xi32>, %pq: tensor<9x2xi32>) -> tensor<3x16x32xf32> {
  %0 = blocksparse.scatter_mm %p, %q into %acc indices(%c, %pq)
      : (tensor<5x16x16xf32>, tensor<7x16x32xf32>, tensor<3x16x32xf32>, tensor<4xi32>,
         tensor<9x2xi32>) -> tensor<3x16x32xf32>
  return %0 : tensor<3x16x32xf32>
}

// A sum needs no table; the batch of its values is open.
// CHECK-LABEL: @add(
// CHECK-SAME: %[[A:.*]]: tensor<?x6x16x8xf16>, %[[B:.*]]: tensor<?x6x16x8xf16>
// CHECK-NOT: dense<
// CHECK: %[[BATCH:.*]] = tensor.dim %[[A]], %c0
// CHECK: %[[INIT:.*]] = tensor.empty(%[[BATCH]]) : tensor<?x6x16x8xf16>
// CHECK: %[[SUM:.*]] = blocksparse.planned_add %[[A]], %[[B]] outs(%[[INIT]]) {alpha = 2.000000e+00 : f64}
// CHECK: return %[[SUM]]
func.func @add(%a: tensor<?x2x30x24xf16, #l>, %b: tensor<?x2x30x24xf16, #l>)
    -> tensor<?x2x30x24xf16, #l> {
  %0 = blocksparse.add %a, %b {alpha = 2.0}
      : (tensor<?x2x30x24xf16, #l>, tensor<?x2x30x24xf16, #l>) -> tensor<?x2x30x24xf16, #l>
  return %0 : tensor<?x2x30x24xf16, #l>
}
