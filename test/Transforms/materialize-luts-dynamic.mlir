// RUN: blocksparse-opt %s -blocksparse-materialize-luts -cse -canonicalize | FileCheck %s --implicit-check-not=#bsr

#b = #blocksparse.bsr<16x16>
#wide = #blocksparse.bsr<16x8, i64>

// CHECK-LABEL: @dsd(
// CHECK-SAME: %[[CROW:.*]]: tensor<?xi32>, %[[COL:.*]]: tensor<?xi32>, %[[V:.*]]: tensor<?x16x16xf32>, %[[B:.*]]: tensor<80x?xf32>
// CHECK: %[[OFFSETS:.*]] = tensor.dim %[[CROW]], %c0
// CHECK: %[[ROWS:.*]] = arith.subi %[[OFFSETS]], %c1
// CHECK: %[[M:.*]] = arith.muli %[[ROWS]], %c16
// CHECK: %[[N:.*]] = tensor.dim %[[B]], %c1
// CHECK: %[[INIT:.*]] = tensor.empty(%[[M]], %[[N]]) : tensor<?x?xf32>
// CHECK: %[[S:.*]] = tensor.empty(%[[ROWS]]) : tensor<?x5xi32>
// CHECK: %[[NNZ:.*]] = tensor.dim %[[COL]], %c0
// CHECK: %[[E:.*]] = tensor.empty(%[[NNZ]]) : tensor<?x2xi32>
// CHECK: %[[LUT:.*]]:2 = blocksparse.bsr_row_lut %[[CROW]], %[[COL]] outs(%[[S]], %[[E]])
// CHECK: planned_dsd %[[V]], %[[B]] segments(%[[LUT]]#0) entries(%[[LUT]]#1) outs(%[[INIT]]) {block = array<i64: 16, 16>, lut_heads = 1 : i64}
func.func @dsd(%a: tensor<?x80xf32, #b>, %b: tensor<80x?xf32>) -> tensor<?x?xf32> {
  %0 = blocksparse.dsd %a, %b : (tensor<?x80xf32, #b>, tensor<80x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// A pattern for each batch has tables for each batch.
// CHECK-LABEL: @dds_batched(
// CHECK-SAME: %[[CROW:.*]]: tensor<?x3xi64>, %[[COL:.*]]: tensor<?x?xi64>, %[[V:.*]]: tensor<?x?x16x8xf32>
// CHECK: blocksparse.bsr_row_lut %[[CROW]], %[[COL]] outs({{.*}}) {transpose} : {{.*}} -> (tensor<?x4x5xi32>, tensor<?x?x2xi32>)
// CHECK: planned_dsd %[[V]], {{.*}}transpose_b, transpose_out, transpose_values} {{.*}} -> tensor<?x2x7x32xf32>
func.func @dds_batched(%s: tensor<?x2x32x32xf32, #wide>, %a: tensor<7x32xf32>)
    -> tensor<?x2x7x32xf32> {
  %0 = blocksparse.dds %a, %s
      : (tensor<7x32xf32>, tensor<?x2x32x32xf32, #wide>) -> tensor<?x2x7x32xf32>
  return %0 : tensor<?x2x7x32xf32>
}

// The result has the indices of the pattern.
// CHECK-LABEL: @sdd(
// CHECK-SAME: %[[CROW:.*]]: tensor<3xi32>, %[[COL:.*]]: tensor<?xi32>, %[[V:.*]]: tensor<?x16x16xf32>
// CHECK: %[[LUT:.*]]:2 = blocksparse.bsr_coordinate_lut %[[CROW]], %[[COL]] outs({{.*}}) : {{.*}} -> (tensor<?x4xi32>, tensor<2x2xi32>)
// CHECK: %[[R:.*]] = blocksparse.planned_sdd {{.*}} lut(%[[LUT]]#0) segments(%[[LUT]]#1)
// CHECK: return %[[CROW]], %[[COL]], %[[R]]
func.func @sdd(%p: tensor<32x48xf32, #b>, %a: tensor<32x4xf32>, %b: tensor<4x48xf32>)
    -> tensor<32x48xf32, #b> {
  %0 = blocksparse.sdd %a, %b pattern(%p)
      : (tensor<32x4xf32>, tensor<4x48xf32>, tensor<32x48xf32, #b>) -> tensor<32x48xf32, #b>
  return %0 : tensor<32x48xf32, #b>
}

// CHECK-LABEL: @transpose(
// CHECK: %[[I:.*]]:3 = blocksparse.bsr_transpose_indices {{.*}} -> (tensor<4xi32>, tensor<?xi32>, tensor<?xi32>)
// CHECK: %[[R:.*]] = blocksparse.planned_transpose %{{.*}} permutation(%[[I]]#2)
// CHECK: return %[[I]]#0, %[[I]]#1, %[[R]]
func.func @transpose(%a: tensor<2x32x48xf32, #b>) -> tensor<2x48x32xf32, #b> {
  %0 = blocksparse.transpose %a : (tensor<2x32x48xf32, #b>) -> tensor<2x48x32xf32, #b>
  return %0 : tensor<2x48x32xf32, #b>
}

// Taking apart what was assembled leaves nothing but casts.
// CHECK-LABEL: @assemble(
// CHECK-SAME: %[[CROW:.*]]: tensor<3xi32>, %[[COL:.*]]: tensor<7xi32>, %[[V:.*]]: tensor<?x16x16xf32>
// CHECK: %[[C:.*]] = tensor.cast %[[COL]] : tensor<7xi32> to tensor<?xi32>
// CHECK: return %[[V]], %[[CROW]], %[[C]]
func.func @assemble(%crow: tensor<3xi32>, %col: tensor<7xi32>, %v: tensor<?x16x16xf32>)
    -> (tensor<?x16x16xf32>, tensor<3xi32>, tensor<?xi32>) {
  %0 = blocksparse.assemble indices(%crow, %col) %v
      : (tensor<3xi32>, tensor<7xi32>, tensor<?x16x16xf32>) -> tensor<32x48xf32, #b>
  %1:3 = blocksparse.disassemble %0
      : (tensor<32x48xf32, #b>) -> (tensor<?x16x16xf32>, tensor<3xi32>, tensor<?xi32>)
  return %1#0, %1#1, %1#2 : tensor<?x16x16xf32>, tensor<3xi32>, tensor<?xi32>
}

// alpha = 0 with a number of rows that is known: constant segments without entries.
// CHECK-LABEL: @alpha_zero(
// CHECK-DAG: arith.constant dense<> : tensor<0x2xi32>
// CHECK-DAG: arith.constant dense<{{\[\[}}0, 0, 0, 0, -1], [1, 0, 0, 0, -1]]> : tensor<2x5xi32>
// CHECK-NOT: bsr_row_lut
// CHECK: planned_dsd
func.func @alpha_zero(%a: tensor<32x48xf32, #b>, %b: tensor<48x4xf32>, %i: tensor<32x4xf32>)
    -> tensor<32x4xf32> {
  %0 = blocksparse.bsr_addmm %a, %b input(%i) {alpha = 0.0}
      : (tensor<32x48xf32, #b>, tensor<48x4xf32>, tensor<32x4xf32>) -> tensor<32x4xf32>
  return %0 : tensor<32x4xf32>
}

// crow_indices tell whole blocks; an operand of the epilogue tells the rows.
// CHECK-LABEL: @rows_of_input(
// CHECK-SAME: %[[I:[^:]*]]: tensor<?x1xf32>
// CHECK: %[[M:.*]] = tensor.dim %[[I]], %c0
// CHECK: tensor.empty(%[[M]]) : tensor<?x4xf32>
func.func @rows_of_input(%a: tensor<?x48xf32, #b>, %b: tensor<48x4xf32>, %i: tensor<?x1xf32>)
    -> tensor<?x4xf32> {
  %0 = blocksparse.bsr_addmm %a, %b input(%i)
      : (tensor<?x48xf32, #b>, tensor<48x4xf32>, tensor<?x1xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// A sum takes the indices of its first term, and needs no table.
// CHECK-LABEL: @add(
// CHECK-SAME: %[[CROW:.*]]: tensor<?xi32>, %[[COL:.*]]: tensor<?xi32>, %[[V:.*]]: tensor<?x16x16xf32>, %{{.*}}: tensor<?xi32>, %{{.*}}: tensor<?xi32>, %[[W:.*]]: tensor<?x16x16xf32>
// CHECK-NOT: _lut
// CHECK: %[[SUM:.*]] = blocksparse.planned_add %[[V]], %[[W]]
// CHECK: return %[[CROW]], %[[COL]], %[[SUM]]
func.func @add(%a: tensor<?x80xf32, #b>, %b: tensor<?x80xf32, #b>) -> tensor<?x80xf32, #b> {
  %0 = blocksparse.add %a, %b
      : (tensor<?x80xf32, #b>, tensor<?x80xf32, #b>) -> tensor<?x80xf32, #b>
  return %0 : tensor<?x80xf32, #b>
}
