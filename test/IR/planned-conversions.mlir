// RUN: blocksparse-opt %s | FileCheck %s
// RUN: blocksparse-opt %s --mlir-print-op-generic | blocksparse-opt | FileCheck %s
// RUN: blocksparse-opt %s --emit-bytecode | blocksparse-opt | FileCheck %s

// CHECK-LABEL: func @to_dense
// CHECK: blocksparse.planned_to_dense %{{.*}} lut(%{{.*}}) outs(%{{.*}}) {block = array<i64: 16, 32>, lut_heads = 4 : i64}
func.func @to_dense(%v: tensor<2x9x16x32xi8>, %l: tensor<9x4xi32>, %o: tensor<2x4x30x?xi8>) -> tensor<2x4x30x?xi8> {
  %0 = blocksparse.planned_to_dense %v lut(%l) outs(%o) {block = array<i64: 16, 32>, lut_heads = 4} : (tensor<2x9x16x32xi8>, tensor<9x4xi32>, tensor<2x4x30x?xi8>) -> tensor<2x4x30x?xi8>
  return %0 : tensor<2x4x30x?xi8>
}

// CHECK-LABEL: func @from_dense
// CHECK: blocksparse.planned_from_dense %{{.*}} lut(%{{.*}}) outs(%{{.*}}) {block = array<i64: 16, 32>, lut_heads = 1 : i64, schedule = #blocksparse.schedule<cpu.blocks>} : {{.*}} -> ()
func.func @from_dense(%d: memref<30x70xf32>, %l: memref<3x4xi32>, %o: memref<3x16x32xf32>) {
  blocksparse.planned_from_dense %d lut(%l) outs(%o) {block = array<i64: 16, 32>, lut_heads = 1, schedule = #blocksparse.schedule<cpu.blocks>} : (memref<30x70xf32>, memref<3x4xi32>, memref<3x16x32xf32>) -> ()
  return
}

// CHECK-LABEL: func @transpose
// CHECK: blocksparse.planned_transpose %{{.*}} permutation(%{{.*}}) outs(%{{.*}}) {block = array<i64: 16, 32>, lut_heads = 1 : i64}
func.func @transpose(%v: tensor<2x?x16x32xf32>, %p: tensor<2x?xi32>, %o: tensor<2x?x32x16xf32>) -> tensor<2x?x32x16xf32> {
  %0 = blocksparse.planned_transpose %v permutation(%p) outs(%o) {block = array<i64: 16, 32>, lut_heads = 1} : (tensor<2x?x16x32xf32>, tensor<2x?xi32>, tensor<2x?x32x16xf32>) -> tensor<2x?x32x16xf32>
  return %0 : tensor<2x?x32x16xf32>
}

// CHECK-LABEL: func @add
// CHECK: blocksparse.planned_add %{{.*}}, %{{.*}} outs(%{{.*}}) {beta = -1.000000e+00 : f64} : {{.*}} -> tensor<2x?x16x32xf16>
// CHECK: blocksparse.planned_add %{{.*}}, %{{.*}} outs(%{{.*}}) : {{.*}} -> ()
func.func @add(%v: tensor<2x?x16x32xf16>, %m: memref<3x16x32xf8E4M3FN>) -> tensor<2x?x16x32xf16> {
  %0 = blocksparse.planned_add %v, %v outs(%v) {beta = -1.0} : (tensor<2x?x16x32xf16>, tensor<2x?x16x32xf16>, tensor<2x?x16x32xf16>) -> tensor<2x?x16x32xf16>
  blocksparse.planned_add %m, %m outs(%m) : (memref<3x16x32xf8E4M3FN>, memref<3x16x32xf8E4M3FN>, memref<3x16x32xf8E4M3FN>) -> ()
  return %0 : tensor<2x?x16x32xf16>
}

// CHECK-LABEL: func @tables
// CHECK: blocksparse.bsr_row_lut %{{.*}}, %{{.*}} outs(%{{.*}}, %{{.*}}) {transpose}
// CHECK: blocksparse.bsr_coordinate_lut %{{.*}}, %{{.*}} outs(%{{.*}}, %{{.*}})
// CHECK: blocksparse.bsr_transpose_indices %{{.*}}, %{{.*}} outs(%{{.*}}, %{{.*}}, %{{.*}})
func.func @tables(%crow: memref<2x5xi64>, %col: memref<2x?xi64>, %s: memref<2x4x5xi32>, %e: memref<2x?x2xi32>, %l: memref<2x?x4xi32>, %t: memref<2x4x2xi32>, %c: memref<2x9xi64>, %d: memref<2x?xi64>, %p: memref<2x?xi32>) {
  blocksparse.bsr_row_lut %crow, %col outs(%s, %e) {transpose} : (memref<2x5xi64>, memref<2x?xi64>, memref<2x4x5xi32>, memref<2x?x2xi32>) -> ()
  blocksparse.bsr_coordinate_lut %crow, %col outs(%l, %t) : (memref<2x5xi64>, memref<2x?xi64>, memref<2x?x4xi32>, memref<2x4x2xi32>) -> ()
  blocksparse.bsr_transpose_indices %crow, %col outs(%c, %d, %p) : (memref<2x5xi64>, memref<2x?xi64>, memref<2x9xi64>, memref<2x?xi64>, memref<2x?xi32>) -> ()
  return
}
