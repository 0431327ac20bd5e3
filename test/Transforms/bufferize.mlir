// RUN: blocksparse-opt %s --split-input-file --blocksparse-results-to-destinations \
// RUN:   --blocksparse-reuse-inputs --eliminate-empty-tensors \
// RUN:   --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=fully-dynamic-layout-map" \
// RUN:   --buffer-deallocation-pipeline --canonicalize \
// RUN: | FileCheck %s --implicit-check-not=memref.copy --implicit-check-not=memref.alloc

// Sampled product, softmax and product share one scratch buffer: softmax works in place. The
// result goes straight into the caller's buffer, whatever its strides.

// CHECK-LABEL: func @attention_chain
// CHECK-SAME: %[[Q:[^:]*]]: memref<1x2x64x32xf32, strided<[?, ?, ?, ?], offset: ?>>
// CHECK-SAME: %[[OUT:[^:]*]]: memref<1x2x64x32xf32, strided<[?, ?, ?, ?], offset: ?>>)
// CHECK-DAG: %[[SDD:.*]] = memref.get_global @{{.*}} : memref<4x4xi32>
// CHECK: %[[S:.*]] = memref.alloc() {{.*}} : memref<1x8x16x16xf32>
// CHECK: blocksparse.planned_sdd %[[Q]]
// CHECK-SAME: outs(%[[S]])
// CHECK: blocksparse.planned_softmax %[[S]]
// CHECK-SAME: outs(%[[S]])
// CHECK: blocksparse.planned_dsd %[[S]]
// CHECK-SAME: outs(%[[OUT]])
// CHECK: memref.dealloc %[[S]]
func.func @attention_chain(%q: tensor<1x2x64x32xf32>, %k: tensor<1x2x64x32xf32>,
                           %v: tensor<1x2x64x32xf32>) -> tensor<1x2x64x32xf32> {
  %lut = arith.constant dense<[[0, 0, 0, 0], [0, 1, 1, 1], [0, 2, 2, 2], [0, 3, 3, 3]]> : tensor<4x4xi32>
  %runs = arith.constant dense<[[0, 4]]> : tensor<1x2xi32>
  %segments = arith.constant dense<[[0, 0, 0, 1, -1], [1, 0, 1, 1, -1], [2, 0, 2, 1, -1], [3, 0, 3, 1, -1]]> : tensor<4x5xi32>
  %entries = arith.constant dense<[[0, 0], [1, 1], [2, 2], [3, 3]]> : tensor<4x2xi32>
  %e0 = tensor.empty() : tensor<1x8x16x16xf32>
  %s = blocksparse.planned_sdd %q, %k lut(%lut) segments(%runs) outs(%e0) {block = array<i64: 16, 16>, lut_heads = 1 : i64, transpose_b}
    : (tensor<1x2x64x32xf32>, tensor<1x2x64x32xf32>, tensor<4x4xi32>, tensor<1x2xi32>, tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32>
  %e1 = tensor.empty() : tensor<1x8x16x16xf32>
  %p = blocksparse.planned_softmax %s segments(%segments) entries(%entries) outs(%e1) {block = array<i64: 16, 16>, shape = array<i64: 64, 64>, lut_heads = 1 : i64}
    : (tensor<1x8x16x16xf32>, tensor<4x5xi32>, tensor<4x2xi32>, tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32>
  %e2 = tensor.empty() : tensor<1x2x64x32xf32>
  %o = blocksparse.planned_dsd %p, %v segments(%segments) entries(%entries) outs(%e2) {block = array<i64: 16, 16>, lut_heads = 1 : i64}
    : (tensor<1x8x16x16xf32>, tensor<1x2x64x32xf32>, tensor<4x5xi32>, tensor<4x2xi32>, tensor<1x2x64x32xf32>) -> tensor<1x2x64x32xf32>
  return %o : tensor<1x2x64x32xf32>
}

// -----

// x is used after softmax: it keeps its own buffer.

// CHECK-LABEL: func @input_stays_intact
// CHECK: %[[X:.*]] = memref.alloc()
// CHECK: blocksparse.planned_from_dense
// CHECK-SAME: outs(%[[X]])
// CHECK: %[[Y:.*]] = memref.alloc()
// CHECK: blocksparse.planned_softmax %[[X]]
// CHECK-SAME: outs(%[[Y]])
// CHECK: blocksparse.planned_to_dense %[[X]]
func.func @input_stays_intact(%dense: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
  %lut = arith.constant dense<0> : tensor<1x4xi32>
  %segments = arith.constant dense<[[0, 0, 0, 1, -1]]> : tensor<1x5xi32>
  %entries = arith.constant dense<0> : tensor<1x2xi32>
  %e0 = tensor.empty() : tensor<1x16x16xf32>
  %x = blocksparse.planned_from_dense %dense lut(%lut) outs(%e0) {block = array<i64: 16, 16>, lut_heads = 1 : i64}
    : (tensor<16x16xf32>, tensor<1x4xi32>, tensor<1x16x16xf32>) -> tensor<1x16x16xf32>
  %e1 = tensor.empty() : tensor<1x16x16xf32>
  %y = blocksparse.planned_softmax %x segments(%segments) entries(%entries) outs(%e1) {block = array<i64: 16, 16>, shape = array<i64: 16, 16>, lut_heads = 1 : i64}
    : (tensor<1x16x16xf32>, tensor<1x5xi32>, tensor<1x2xi32>, tensor<1x16x16xf32>) -> tensor<1x16x16xf32>
  %e2 = tensor.empty() : tensor<16x16xf32>
  %xd = blocksparse.planned_to_dense %x lut(%lut) outs(%e2) {block = array<i64: 16, 16>, lut_heads = 1 : i64}
    : (tensor<1x16x16xf32>, tensor<1x4xi32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %e3 = tensor.empty() : tensor<16x16xf32>
  %yd = blocksparse.planned_to_dense %y lut(%lut) outs(%e3) {block = array<i64: 16, 16>, lut_heads = 1 : i64}
    : (tensor<1x16x16xf32>, tensor<1x4xi32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  return %xd, %yd : tensor<16x16xf32>, tensor<16x16xf32>
}

// -----

// An argument is never the destination, even when it dies.

// CHECK-LABEL: func @argument_stays_intact
// CHECK-SAME: %[[X:[^:]*]]: memref
// CHECK-SAME: %[[Y:[^:]*]]: memref<1x16x16xf32
// CHECK: blocksparse.planned_softmax %[[X]]
// CHECK-SAME: outs(%[[Y]])
func.func @argument_stays_intact(%x: tensor<1x16x16xf32>) -> tensor<1x16x16xf32> {
  %segments = arith.constant dense<[[0, 0, 0, 1, -1]]> : tensor<1x5xi32>
  %entries = arith.constant dense<0> : tensor<1x2xi32>
  %e1 = tensor.empty() : tensor<1x16x16xf32>
  %y = blocksparse.planned_softmax %x segments(%segments) entries(%entries) outs(%e1) {block = array<i64: 16, 16>, shape = array<i64: 16, 16>, lut_heads = 1 : i64}
    : (tensor<1x16x16xf32>, tensor<1x5xi32>, tensor<1x2xi32>, tensor<1x16x16xf32>) -> tensor<1x16x16xf32>
  return %y : tensor<1x16x16xf32>
}

// -----

// The gradient goes into dy, tables of a run-time pattern into their own buffers.

// CHECK-LABEL: func @gradient
// CHECK: memref.alloc() {{.*}} : memref<2x5xi32>
// CHECK: memref.alloc({{.*}}) {{.*}} : memref<?x2xi32>
// CHECK: blocksparse.bsr_row_lut
// CHECK: memref.alloc({{.*}}) {{.*}} : memref<?x4xi32>
// CHECK: memref.alloc() {{.*}} : memref<2x2xi32>
// CHECK: blocksparse.bsr_coordinate_lut
// CHECK: %[[DY:.*]] = memref.alloc({{.*}}) {{.*}} : memref<?x16x16xf32>
// CHECK: blocksparse.planned_sdd
// CHECK-SAME: outs(%[[DY]])
// CHECK: blocksparse.planned_softmax_grad %{{.*}}, %[[DY]]
// CHECK-SAME: outs(%[[DY]])
func.func @gradient(%crow: tensor<3xi32>, %col: tensor<?xi32>, %y: tensor<?x16x16xf32>,
                    %a: tensor<32x8xf32>, %b: tensor<8x32xf32>, %v: tensor<32x8xf32>) -> tensor<32x8xf32> {
  %c0 = arith.constant 0 : index
  %nnz = tensor.dim %col, %c0 : tensor<?xi32>
  %s0 = tensor.empty() : tensor<2x5xi32>
  %s1 = tensor.empty(%nnz) : tensor<?x2xi32>
  %segments, %entries = "blocksparse.bsr_row_lut"(%crow, %col, %s0, %s1)
    : (tensor<3xi32>, tensor<?xi32>, tensor<2x5xi32>, tensor<?x2xi32>) -> (tensor<2x5xi32>, tensor<?x2xi32>)
  %s2 = tensor.empty(%nnz) : tensor<?x4xi32>
  %s3 = tensor.empty() : tensor<2x2xi32>
  %lut, %runs = "blocksparse.bsr_coordinate_lut"(%crow, %col, %s2, %s3)
    : (tensor<3xi32>, tensor<?xi32>, tensor<?x4xi32>, tensor<2x2xi32>) -> (tensor<?x4xi32>, tensor<2x2xi32>)
  %e0 = tensor.empty(%nnz) : tensor<?x16x16xf32>
  %dy = blocksparse.planned_sdd %a, %b lut(%lut) segments(%runs) outs(%e0) {block = array<i64: 16, 16>, lut_heads = 1 : i64}
    : (tensor<32x8xf32>, tensor<8x32xf32>, tensor<?x4xi32>, tensor<2x2xi32>, tensor<?x16x16xf32>) -> tensor<?x16x16xf32>
  %e1 = tensor.empty(%nnz) : tensor<?x16x16xf32>
  %dx = blocksparse.planned_softmax_grad %y, %dy segments(%segments) entries(%entries) outs(%e1) {block = array<i64: 16, 16>, shape = array<i64: 32, 32>, lut_heads = 1 : i64}
    : (tensor<?x16x16xf32>, tensor<?x16x16xf32>, tensor<2x5xi32>, tensor<?x2xi32>, tensor<?x16x16xf32>) -> tensor<?x16x16xf32>
  %e2 = tensor.empty() : tensor<32x8xf32>
  %o = blocksparse.planned_dsd %dx, %v segments(%segments) entries(%entries) outs(%e2) {block = array<i64: 16, 16>, lut_heads = 1 : i64}
    : (tensor<?x16x16xf32>, tensor<32x8xf32>, tensor<2x5xi32>, tensor<?x2xi32>, tensor<32x8xf32>) -> tensor<32x8xf32>
  return %o : tensor<32x8xf32>
}

// -----

// scatter_mm adds to its accumulators. The caller's stay as they are: one copy, into the result.

// CHECK-LABEL: func @accumulators
// CHECK-SAME: %[[ACC:[^:,]*]]: memref<2x16x16xf32, strided<[?, ?, ?], offset: ?>>, %[[OUT:[^:,]*]]: memref
// CHECK: memref.copy %[[ACC]], %[[OUT]]
// CHECK: blocksparse.planned_scatter_mm
// CHECK-SAME: outs(%[[OUT]])
func.func @accumulators(%blocks: tensor<1x16x16xf32>, %others: tensor<1x16x16xf32>,
    %offsets: tensor<3xi32>, %pairs: tensor<1x2xi32>, %acc: tensor<2x16x16xf32>) -> tensor<2x16x16xf32> {
  %r = blocksparse.planned_scatter_mm %blocks, %others indices(%offsets, %pairs) outs(%acc)
    : (tensor<1x16x16xf32>, tensor<1x16x16xf32>, tensor<3xi32>, tensor<1x2xi32>, tensor<2x16x16xf32>) -> tensor<2x16x16xf32>
  return %r : tensor<2x16x16xf32>
}
