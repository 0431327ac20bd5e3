// RUN: blocksparse-opt %s --convert-blocksparse-to-cpu --canonicalize --cse \
// RUN: | FileCheck %s --implicit-check-not=blocksparse.

// One segment a block row; the arrays may have more room than blocks.

// CHECK-LABEL: func @row_lut
// CHECK-SAME: %[[CROW:[^:]*]]: memref<3xi64>, %[[COL:[^:]*]]: memref<?xi64>, %[[SEGMENTS:[^:]*]]: memref<2x5xi32>, %[[ENTRIES:[^:]*]]: memref<?x2xi32>
// CHECK: %[[ROOM:.*]] = memref.dim %[[COL]]
// CHECK: scf.for %[[ROW:.*]] = %c0 to %c2
// CHECK: memref.load %[[CROW]][%[[ROW]]]
// CHECK: memref.store %{{.*}}, %[[SEGMENTS]][%[[ROW]], %c4]
// CHECK: %[[LAST:.*]] = memref.load %[[CROW]][%c2]
// CHECK: %[[USED:.*]] = arith.index_cast %[[LAST]]
// CHECK: scf.for %[[BLOCK:.*]] = %c0 to %[[USED]]
// CHECK: memref.load %[[COL]][%[[BLOCK]]]
// CHECK: memref.store %{{.*}}, %[[ENTRIES]][%[[BLOCK]], %c1]
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[ROOM]]
func.func @row_lut(%crow: memref<3xi64>, %col: memref<?xi64>, %segments: memref<2x5xi32>, %entries: memref<?x2xi32>) {
  blocksparse.bsr_row_lut %crow, %col outs(%segments, %entries) : (memref<3xi64>, memref<?xi64>, memref<2x5xi32>, memref<?x2xi32>) -> ()
  return
}

// A counting sort: clear, count, add up, place, step back. Each batch has its own table.

// CHECK-LABEL: func @column_lut
// CHECK-SAME: %[[SEGMENTS:[^:]*]]: memref<4x6x5xi32>, %[[ENTRIES:[^:]*]]: memref<4x9x2xi32>
// CHECK: scf.forall (%[[B:.*]]) in (4)
// CHECK: scf.for %{{.*}} = %c0 to %c6
// CHECK: scf.for %{{.*}} = %c0 to %c2
// CHECK: scf.for
// CHECK: memref.store %{{.*}}, %[[SEGMENTS]][%[[B]], %{{.*}}, %c3]
// CHECK: scf.for %{{.*}} = %c0 to %c6 {{.*}} iter_args
// CHECK: memref.store %{{.*}}, %[[SEGMENTS]][%[[B]], %{{.*}}, %c2]
// CHECK: scf.for %[[ROW:.*]] = %c0 to %c2
// CHECK: %[[ROW32:.*]] = arith.index_cast %[[ROW]] : index to i32
// CHECK: memref.store %[[ROW32]], %[[ENTRIES]][%[[B]]
// CHECK: scf.for %{{.*}} = %c0 to %c6
func.func @column_lut(%crow: memref<4x3xi32>, %col: memref<4x9xi32>, %segments: memref<4x6x5xi32>, %entries: memref<4x9x2xi32>) {
  blocksparse.bsr_row_lut %crow, %col outs(%segments, %entries) {transpose} : (memref<4x3xi32>, memref<4x9xi32>, memref<4x6x5xi32>, memref<4x9x2xi32>) -> ()
  return
}

// What no row lists stands outside the tensor: row and column -1.

// CHECK-LABEL: func @coordinate_lut
// CHECK-SAME: %[[LUT:[^:]*]]: memref<9x4xi32>
// CHECK: %[[OUTSIDE:.*]] = arith.constant -1 : i32
// CHECK: memref.store %[[OUTSIDE]], %[[LUT]][%{{.*}}, %c1]
// CHECK: memref.store %[[OUTSIDE]], %[[LUT]][%{{.*}}, %c2]
func.func @coordinate_lut(%crow: memref<3xi32>, %col: memref<9xi32>, %lut: memref<9x4xi32>, %segments: memref<2x2xi32>) {
  blocksparse.bsr_coordinate_lut %crow, %col outs(%lut, %segments) : (memref<3xi32>, memref<9xi32>, memref<9x4xi32>, memref<2x2xi32>) -> ()
  return
}

// CHECK-LABEL: func @transpose_indices
// CHECK-SAME: %[[CROW:[^:]*]]: memref<3xi64>, %[[COL:[^:]*]]: memref<9xi64>, %[[OFFSETS:[^:]*]]: memref<7xi64>, %[[COLUMNS:[^:]*]]: memref<9xi64>, %[[PERMUTATION:[^:]*]]: memref<9xi32>
// CHECK: scf.for %[[ROW:.*]] = %c0 to %c2
// CHECK: scf.for %[[ROW2:.*]] = %c0 to %c2
// CHECK: memref.store %{{.*}}, %[[COLUMNS]]
// CHECK: memref.store %{{.*}}, %[[PERMUTATION]]
// CHECK: memref.store %{{.*}}, %[[OFFSETS]][%c0]
func.func @transpose_indices(%crow: memref<3xi64>, %col: memref<9xi64>, %offsets: memref<7xi64>, %columns: memref<9xi64>, %permutation: memref<9xi32>) {
  blocksparse.bsr_transpose_indices %crow, %col outs(%offsets, %columns, %permutation)
    : (memref<3xi64>, memref<9xi64>, memref<7xi64>, memref<9xi64>, memref<9xi32>) -> ()
  return
}
