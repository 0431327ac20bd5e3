// RUN: blocksparse-opt %s -convert-blocksparse-to-cpu -canonicalize -cse | FileCheck %s --implicit-check-not=blocksparse.

// Blocks are put in the order of their columns; a panel is packed when the column changes.
// CHECK-LABEL: func.func @blocks
// CHECK-SAME:    %[[A:[^:]+]]: memref<256x64xf32>, %[[B:[^:]+]]: memref<64x256xf32>, %[[LUT:[^:]+]]: memref<40x4xi32>
// CHECK:         memref.load %[[LUT]]
// CHECK:         scf.forall (%{{.*}}) in (5)
// CHECK:           scf.for {{.*}} iter_args(%[[LAST:.*]] = %c-1) -> (index)
// CHECK:             %[[KEY:.*]] = arith.addi
// CHECK:             %[[CHANGED:.*]] = arith.cmpi ne, %[[KEY]], %[[LAST]] : index
// CHECK:             scf.if %[[CHANGED]] {
// CHECK:               vector.load {{.*}} : memref<64x256xf32{{.*}}>, vector<16xf32>
// CHECK:             scf.for {{.*}} iter_args
// CHECK:               memref.load {{.*}} : memref<256x64xf32
// CHECK-COUNT-16:      vector.fma
// CHECK:             vector.store {{.*}}strided<[32, 1], offset: ?>>, vector<16xf32>
// The grid covers 256 x 256: there is no padding to write.
// CHECK-NOT:         memref.store %cst{{.*}}memref<32x32xf32
// CHECK:             scf.yield %[[KEY]] : index
func.func @blocks(%a: memref<256x64xf32>, %b: memref<64x256xf32>, %l: memref<40x4xi32>,
                  %s: memref<1x2xi32>, %o: memref<40x32x32xf32>) {
  blocksparse.planned_sdd %a, %b lut(%l) segments(%s) outs(%o)
    {block = array<i64: 32, 32>, lut_heads = 1 : i64}
    : (memref<256x64xf32>, memref<64x256xf32>, memref<40x4xi32>, memref<1x2xi32>,
       memref<40x32x32xf32>) -> ()
  return
}

// Rows past M are read as the last one, and elements outside M x N are written as 0.
// CHECK-LABEL: func.func @edge
// CHECK:         arith.minsi %{{.*}}, %c49 : index
// CHECK:         memref.store %cst{{.*}} : memref<16x16xf32
func.func @edge(%a: memref<50x64xf32>, %b: memref<64x70xf32>, %l: memref<20x4xi32>,
                %s: memref<1x2xi32>, %o: memref<20x16x16xf32>) {
  blocksparse.planned_sdd %a, %b lut(%l) segments(%s) outs(%o)
    {block = array<i64: 16, 16>, lut_heads = 1 : i64}
    : (memref<50x64xf32>, memref<64x70xf32>, memref<20x4xi32>, memref<1x2xi32>,
       memref<20x16x16xf32>) -> ()
  return
}

// alpha = 0: beta * input, without a product.
// CHECK-LABEL: func.func @scaled_input
// CHECK-NOT:     vector.fma
// CHECK-NOT:     memref<64x64xf32, strided
// CHECK:         %[[TWO:.*]] = arith.mulf %{{.*}}, %cst{{.*}} : vector<16xf32>
// CHECK-NOT:     vector.fma
// CHECK:         return
func.func @scaled_input(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %l: memref<20x4xi32>,
                        %s: memref<1x2xi32>, %i: memref<20x16x16xf32>, %o: memref<20x16x16xf32>) {
  blocksparse.planned_sdd %a, %b lut(%l) segments(%s) input(%i) outs(%o)
    {block = array<i64: 16, 16>, lut_heads = 1 : i64, alpha = 0.0 : f64, beta = 2.0 : f64}
    : (memref<64x64xf32>, memref<64x64xf32>, memref<20x4xi32>, memref<1x2xi32>,
       memref<20x16x16xf32>, memref<20x16x16xf32>) -> ()
  return
}
