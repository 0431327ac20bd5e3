// RUN: blocksparse-opt %s --convert-blocksparse-to-cpu=check-indices --canonicalize | FileCheck %s
// RUN: blocksparse-opt %s --convert-blocksparse-to-cpu | FileCheck %s --check-prefix=OFF --implicit-check-not=cf.assert

// OFF-LABEL: func @softmax

// CHECK-LABEL: func @softmax
// CHECK: cf.assert %{{.*}}, "expects crow_indices to start at 0, but got {0}"
// CHECK: scf.for
// CHECK: cf.assert %{{.*}}, "expects crow_indices that never decrease, but got {0} and then {1}"
// CHECK: cf.assert %{{.*}}, "expects crow_indices to end within the {1} value blocks, but got {0}"
// CHECK: %[[MARKS:.*]] = memref.alloc() : memref<2xindex>
// CHECK: cf.assert %{{.*}}, "expects col_indices from 0 to below {1}, the number of block columns, but got {0}"
// CHECK: memref.load %[[MARKS]]
// CHECK: cf.assert %{{.*}}, "expects no column twice in a block row"
// CHECK: memref.dealloc %[[MARKS]]
// CHECK: scf.forall
func.func @softmax(%crow: memref<3xi32>, %col: memref<3xi32>, %x: memref<3x16x16xf32>) {
  %segments = memref.alloc() : memref<2x5xi32>
  %entries = memref.alloc() : memref<3x2xi32>
  blocksparse.bsr_row_lut %crow, %col outs(%segments, %entries) : (memref<3xi32>, memref<3xi32>, memref<2x5xi32>, memref<3x2xi32>) -> ()
  blocksparse.planned_softmax %x segments(%segments) entries(%entries) outs(%x)
    {block = array<i64: 16, 16>, shape = array<i64: 32, 32>, lut_heads = 1 : i64}
    : (memref<3x16x16xf32>, memref<2x5xi32>, memref<3x2xi32>, memref<3x16x16xf32>) -> ()
  memref.dealloc %segments : memref<2x5xi32>
  memref.dealloc %entries : memref<3x2xi32>
  return
}

// A product sums duplicates: columns in range are enough. The transposing sort checks before it counts.

// CHECK-LABEL: func @product
// CHECK: "expects crow_indices to end within the {1} value blocks, but got {0}"
// CHECK: "expects col_indices from 0 to below {1}, the number of block columns, but got {0}"
// CHECK-NOT: twice
// CHECK-LABEL: func @constant
func.func @product(%crow: memref<3xi32>, %col: memref<3xi32>, %values: memref<3x16x16xf32>, %b: memref<32x8xf32>, %out: memref<32x8xf32>) {
  %segments = memref.alloc() : memref<2x5xi32>
  %entries = memref.alloc() : memref<3x2xi32>
  blocksparse.bsr_row_lut %crow, %col outs(%segments, %entries) {transpose} : (memref<3xi32>, memref<3xi32>, memref<2x5xi32>, memref<3x2xi32>) -> ()
  blocksparse.planned_dsd %values, %b segments(%segments) entries(%entries) outs(%out)
    {block = array<i64: 16, 16>, lut_heads = 1 : i64, transpose_values}
    : (memref<3x16x16xf32>, memref<32x8xf32>, memref<2x5xi32>, memref<3x2xi32>, memref<32x8xf32>) -> ()
  memref.dealloc %segments : memref<2x5xi32>
  memref.dealloc %entries : memref<3x2xi32>
  return
}

// CHECK-NOT: cf.assert
memref.global "private" constant @lut : memref<1x4xi32> = dense<0>
func.func @constant(%dense: memref<16x16xf32>, %out: memref<1x16x16xf32>) {
  %lut = memref.get_global @lut : memref<1x4xi32>
  blocksparse.planned_from_dense %dense lut(%lut) outs(%out) {block = array<i64: 16, 16>, lut_heads = 1 : i64}
    : (memref<16x16xf32>, memref<1x4xi32>, memref<1x16x16xf32>) -> ()
  return
}
