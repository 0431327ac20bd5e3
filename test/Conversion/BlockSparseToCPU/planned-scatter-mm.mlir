// RUN: blocksparse-opt %s -convert-blocksparse-to-cpu -canonicalize -cse | FileCheck %s --implicit-check-not=blocksparse.

// One task for each accumulator tile and panel; what was there is added once.
// CHECK-LABEL: func.func @tiles
// CHECK-SAME:    memref<6x32x64xf32>, %[[C:[^:]+]]: memref<4xi64>, %[[PQ:[^:]+]]: memref<9x2xi64>
// CHECK:         scf.forall (%[[R:.*]], %{{.*}}) in (3, 2)
// CHECK:           memref.load %[[C]][%[[R]]] : memref<4xi64>
// CHECK:           arith.index_cast %{{.*}} : i64 to index
// CHECK:           memref.load %[[PQ]]
// CHECK-COUNT-16:  vector.fma
// CHECK:           vector.load {{.*}}, vector<16xf32>
// CHECK:           arith.addf {{.*}} : vector<16xf32>
// CHECK:           vector.store
func.func @tiles(%p: memref<5x16x32xf32>, %q: memref<6x32x64xf32>, %c: memref<4xi64>,
                 %pq: memref<9x2xi64>, %o: memref<3x16x64xf32>) {
  blocksparse.planned_scatter_mm %p, %q indices(%c, %pq) outs(%o)
    : (memref<5x16x32xf32>, memref<6x32x64xf32>, memref<4xi64>, memref<9x2xi64>,
       memref<3x16x64xf32>) -> ()
  return
}

// Tiles share no element, so that all lists run in parallel.
// CHECK-LABEL: func.func @strided
// CHECK:         scf.forall (%[[LIST:.*]]) in (6)
// CHECK:           scf.for %[[I:.*]] = %[[LIST]] to %c6 step %c6
// CHECK:             memref.load %{{.*}}[%[[I]]] : memref<6xi32>
func.func @strided(%p: memref<5x16x32xf32>, %q: memref<64x64xf32>, %c: memref<7xi32>,
                   %r: memref<6xi32>, %po: memref<9xi32>, %qo: memref<9xi32>,
                   %o: memref<64x64xf32>) {
  blocksparse.planned_scatter_mm %p, %q indices(%c, %r, %po, %qo) outs(%o)
    {format = #blocksparse.scatter_format<bsr_strided_mm>, split_n = 2 : i64}
    : (memref<5x16x32xf32>, memref<64x64xf32>, memref<7xi32>, memref<6xi32>, memref<9xi32>,
       memref<9xi32>, memref<64x64xf32>) -> ()
  return
}
