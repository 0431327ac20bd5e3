// Passes of MLIR take open sizes of products from those of their factors.
// RUN: blocksparse-opt %s --resolve-ranked-shaped-type-result-dims --cse | FileCheck %s

#layout = #blocksparse.layout<16x16, grid 2x3, mask "101/011">
#bsr = #blocksparse.bsr<16x16>

// CHECK-LABEL: func.func @dsd(
// CHECK-SAME: %[[W:.*]]: tensor<32x48xf32, #{{.*}}>, %[[X:.*]]: tensor<?x?x48xf32>)
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[BATCH:.*]] = tensor.dim %[[X]], %[[C0]]
// CHECK-DAG: %[[COLS:.*]] = tensor.dim %[[X]], %[[C1]]
// CHECK: return %[[BATCH]], %[[COLS]]
func.func @dsd(%w: tensor<32x48xf32, #layout>, %x: tensor<?x?x48xf32>) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = blocksparse.dsd %w, %x {transpose_b, transpose_out} : (tensor<32x48xf32, #layout>, tensor<?x?x48xf32>) -> tensor<?x?x32xf32>
  %batch = tensor.dim %y, %c0 : tensor<?x?x32xf32>
  %cols = tensor.dim %y, %c1 : tensor<?x?x32xf32>
  return %batch, %cols : index, index
}

// CHECK-LABEL: func.func @dds(
// CHECK-SAME: %[[X:.*]]: tensor<?x32xf32>
// CHECK: %[[ROWS:.*]] = tensor.dim %[[X]], %{{.*}}
// CHECK: return %[[ROWS]]
func.func @dds(%x: tensor<?x32xf32>, %w: tensor<32x48xf32, #layout>) -> index {
  %c0 = arith.constant 0 : index
  %y = blocksparse.dds %x, %w : (tensor<?x32xf32>, tensor<32x48xf32, #layout>) -> tensor<?x48xf32>
  %rows = tensor.dim %y, %c0 : tensor<?x48xf32>
  return %rows : index
}

// A batch that one factor broadcasts is that of the other.
// CHECK-LABEL: func.func @matmul(
// CHECK-SAME: %[[A:.*]]: tensor<1x?x8xf32>, %[[B:.*]]: tensor<?x8x4xf32>)
// CHECK-DAG: %[[BATCH:.*]] = tensor.dim %[[B]], %c0
// CHECK-DAG: %[[ROWS:.*]] = tensor.dim %[[A]], %c1
// CHECK: return %[[BATCH]], %[[ROWS]]
func.func @matmul(%a: tensor<1x?x8xf32>, %b: tensor<?x8x4xf32>) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = blocksparse.matmul %a, %b : (tensor<1x?x8xf32>, tensor<?x8x4xf32>) -> tensor<?x?x4xf32>
  %batch = tensor.dim %y, %c0 : tensor<?x?x4xf32>
  %rows = tensor.dim %y, %c1 : tensor<?x?x4xf32>
  return %batch, %rows : index, index
}

// The rows of a run-time pattern follow from its indices alone.
// CHECK-LABEL: func.func @addmm(
// CHECK: %[[Y:.*]] = blocksparse.bsr_addmm
// CHECK: tensor.dim %[[Y]]
func.func @addmm(%s: tensor<?x48xf32, #bsr>, %x: tensor<48x4xf32>) -> index {
  %c0 = arith.constant 0 : index
  %y = blocksparse.bsr_addmm %s, %x {beta = 0.0} : (tensor<?x48xf32, #bsr>, tensor<48x4xf32>) -> tensor<?x4xf32>
  %rows = tensor.dim %y, %c0 : tensor<?x4xf32>
  return %rows : index
}
