// Indices are checked once for each source, in front of the first operation that uses them.
// RUN: blocksparse-opt %s --pass-pipeline='builtin.module(func.func(blocksparse-check-indices,canonicalize))' --split-input-file | FileCheck %s
// The checks survive planning and bufferization, where they read memrefs.
// RUN: blocksparse-opt %s --pass-pipeline='builtin.module(func.func(blocksparse-check-indices),blocksparse-materialize-luts,blocksparse-bufferize-pipeline)' --split-input-file | FileCheck %s --check-prefix=BUFFERS

#bsr = #blocksparse.bsr<16x16, i64>
!s = tensor<64x96xf32, #bsr>

// Softmax gives its pattern to its result; a transpose and a product need no columns that differ.
// CHECK-LABEL: func.func @argument(
// CHECK-SAME: %[[S:[^:]*]]: tensor<64x96xf32, #bsr>
// CHECK: %[[COLS:.*]] = arith.constant 6 : index
// CHECK: %{{.*}}, %[[CROW:.*]], %[[COL:.*]] = blocksparse.disassemble %[[S]]
// CHECK-NEXT: blocksparse.check_pattern %[[CROW]], %[[COL]] cols(%[[COLS]]) {subject = "argument 1 of argument", unique} : tensor<5xi64>, tensor<?xi64>
// CHECK-NEXT: blocksparse.softmax
// CHECK-NOT: check_pattern
// CHECK: return
// BUFFERS-LABEL: func.func @argument(
// BUFFERS: blocksparse.check_pattern %{{.*}}, %{{.*}} cols(%{{.*}}) {subject = "argument 1 of argument", unique} : memref<5xi64, strided<[?], offset: ?>>, memref<?xi64, strided<[?], offset: ?>>
// BUFFERS: blocksparse.bsr_row_lut
func.func @argument(%b: tensor<96x8xf32>, %s: !s) -> tensor<64x8xf32> {
  %y, %lse = blocksparse.softmax %s : (!s) -> (!s, tensor<64xf32>)
  %0 = blocksparse.dsd %y, %b : (!s, tensor<96x8xf32>) -> tensor<64x8xf32>
  return %0 : tensor<64x8xf32>
}

// -----

#bsr = #blocksparse.bsr<16x16>
!s = tensor<64x96xf32, #bsr>

// Duplicates add up in a product. The size function looks at no index.
// CHECK-LABEL: func.func @assembled(
// CHECK: blocksparse.assemble indices(%[[CROW:.*]], %[[COL:.*]]) %
// CHECK-NEXT: blocksparse.check_pattern %[[CROW]], %[[COL]] cols(%{{.*}}) {subject = "blocksparse.assemble"} : tensor<5xi32>, tensor<?xi32>
// CHECK-NEXT: blocksparse.dsd
// BUFFERS-LABEL: func.func @assembled(
// BUFFERS: blocksparse.check_pattern
// BUFFERS: blocksparse.bsr_row_lut
// BUFFERS-LABEL: func.func @assembled_result_sizes(
// BUFFERS-NOT: check_pattern
// BUFFERS: return
func.func @assembled(%crow: tensor<5xi32>, %col: tensor<?xi32>, %v: tensor<?x16x16xf32>, %b: tensor<96x?xf32>) -> tensor<64x?xf32> {
  %s = blocksparse.assemble indices(%crow, %col) %v : (tensor<5xi32>, tensor<?xi32>, tensor<?x16x16xf32>) -> !s
  %0 = blocksparse.dsd %s, %b : (!s, tensor<96x?xf32>) -> tensor<64x?xf32>
  return %0 : tensor<64x?xf32>
}

// -----

#bsr = #blocksparse.bsr<16x16>
!s = tensor<64x?xf32, #bsr>

// Where N is open, each operation compares with what it multiplies: 100 rows are 7 blocks.
// CHECK-LABEL: func.func @open(
// CHECK: %[[COLS:.*]] = arith.constant 7 : index
// CHECK: blocksparse.check_pattern %{{.*}}, %{{.*}} cols(%[[COLS]]) {subject = "blocksparse.dsd"}
// CHECK-NEXT: blocksparse.dsd
// BUFFERS-LABEL: func.func @open(
// BUFFERS: blocksparse.check_pattern
func.func @open(%s: !s, %b: tensor<100x8xf32>) -> tensor<64x8xf32> {
  %0 = blocksparse.dsd %s, %b : (!s, tensor<100x8xf32>) -> tensor<64x8xf32>
  return %0 : tensor<64x8xf32>
}

// -----

#bsr = #blocksparse.bsr<16x16>
!s = tensor<64x96xf32, #bsr>

// A pattern that nothing looks into is not checked, and neither is a static one.
// CHECK-LABEL: func.func @passed(
// CHECK-NOT: check_pattern
// CHECK: return
// BUFFERS-LABEL: func.func @passed(
func.func @passed(%s: !s, %d: tensor<16x16xf32>) -> (!s, tensor<16x16xf32, #blocksparse.layout<16x16, grid 1x1, dense>>) {
  %0 = blocksparse.from_dense %d : (tensor<16x16xf32>) -> tensor<16x16xf32, #blocksparse.layout<16x16, grid 1x1, dense>>
  return %s, %0 : !s, tensor<16x16xf32, #blocksparse.layout<16x16, grid 1x1, dense>>
}

// -----

#bsr = #blocksparse.bsr<16x16>
!s = tensor<64x96xf32, #bsr>

// The use in a loop is checked once, in front of the loop.
// CHECK-LABEL: func.func @loop(
// CHECK: blocksparse.check_pattern
// CHECK: scf.for
// CHECK-NOT: check_pattern
// CHECK: return
// BUFFERS-LABEL: func.func @loop(
// BUFFERS: blocksparse.check_pattern
// BUFFERS: scf.for
func.func @loop(%s: !s, %b: tensor<96x96xf32>, %init: tensor<64x96xf32>, %n: index) -> tensor<64x96xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %zero to %n step %one iter_args(%x = %init) -> tensor<64x96xf32> {
    %0 = blocksparse.dsd %s, %b residual(%x) : (!s, tensor<96x96xf32>, tensor<64x96xf32>) -> tensor<64x96xf32>
    scf.yield %0 : tensor<64x96xf32>
  }
  return %r : tensor<64x96xf32>
}

// -----

// CHECK-LABEL: func.func @scatter(
// CHECK-DAG: %[[FIVE:.*]] = arith.constant 5 : index
// CHECK-DAG: %[[SEVEN:.*]] = arith.constant 7 : index
// CHECK-DAG: %[[MS:.*]] = arith.constant 16 : index
// CHECK-DAG: %[[NS:.*]] = arith.constant 32 : index
// CHECK: blocksparse.check_scatter_indices indices(%{{.*}}, %{{.*}}) blocks(%[[FIVE]], %[[MS]], %[[MS]]) others(%[[SEVEN]]) accumulators(%[[MS]], %[[NS]]) {subject = "blocksparse.scatter_mm"} : tensor<4xi64>, tensor<?x2xi64>
// CHECK-NEXT: blocksparse.scatter_mm
// BUFFERS-LABEL: func.func @scatter(
// BUFFERS: blocksparse.check_scatter_indices
// BUFFERS: blocksparse.planned_scatter_mm
func.func @scatter(%blocks: tensor<5x16x16xf32>, %others: tensor<7x16x32xf32>, %acc: tensor<3x16x32xf32>, %c: tensor<4xi64>, %pq: tensor<?x2xi64>) -> tensor<3x16x32xf32> {
  %0 = blocksparse.scatter_mm %blocks, %others into %acc indices(%c, %pq) : (tensor<5x16x16xf32>, tensor<7x16x32xf32>, tensor<3x16x32xf32>, tensor<4xi64>, tensor<?x2xi64>) -> tensor<3x16x32xf32>
  return %0 : tensor<3x16x32xf32>
}
