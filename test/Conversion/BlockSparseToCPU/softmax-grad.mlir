// RUN: blocksparse-opt %s --convert-blocksparse-to-cpu --canonicalize --cse --split-input-file \
// RUN: | FileCheck %s --implicit-check-not=blocksparse.

// Two passes over a row. Where y is 0 dy doesn't count.

memref.global "private" constant @segments : memref<2x5xi32> = dense<[[0, 0, 0, 1, -1], [1, 0, 1, 1, -1]]>
memref.global "private" constant @entries : memref<2x2xi32> = dense<[[0, 0], [1, 1]]>

// CHECK-LABEL: func @input_alone
// CHECK: scf.forall
// CHECK: scf.for
// CHECK: %[[SUMS:.*]] = scf.for
// CHECK: %[[PRODUCT:.*]] = arith.mulf
// CHECK: %[[WEIGHTLESS:.*]] = arith.cmpf oeq
// CHECK: %[[TERM:.*]] = arith.select %[[WEIGHTLESS]], %{{.*}}, %[[PRODUCT]]
// CHECK: arith.addf %{{.*}}, %[[TERM]]
// CHECK: %[[DOT:.*]] = vector.reduction <add>, %[[SUMS]]
// CHECK: vector.broadcast %[[DOT]]
// CHECK: scf.for
// CHECK: arith.subf
// CHECK: vector.store
// CHECK-NOT: memref.alloc
func.func @input_alone(%y: memref<2x16x16xf32>, %dy: memref<2x16x16xf32>) {
  %segments = memref.get_global @segments : memref<2x5xi32>
  %entries = memref.get_global @entries : memref<2x2xi32>
  blocksparse.planned_softmax_grad %y, %dy segments(%segments) entries(%entries) outs(%dy)
    {block = array<i64: 16, 16>, shape = array<i64: 32, 32>, lut_heads = 1 : i64, scale = 0.5 : f64}
    : (memref<2x16x16xf32>, memref<2x16x16xf32>, memref<2x5xi32>, memref<2x2xi32>, memref<2x16x16xf32>) -> ()
  return
}

// -----

// drpe summed over the batches (its first extent is 1) for f16: sums in f32, the row sums of
// y * dy and the segment of each block row in scratch, dx last because it may overwrite dy.

// CHECK-LABEL: func @bias
// CHECK: %[[DOTS:.*]] = memref.alloc() : memref<3x2x32xf32>
// CHECK: scf.forall {{.*}} in (3, 2, 2)
// CHECK: memref.store %{{.*}}, %[[DOTS]]
// CHECK: %[[SUMS:.*]] = memref.alloc() : memref<1x2x32x32xf32>
// CHECK: %[[INDEX:.*]] = memref.alloc() : memref<1x1x2xindex>
// CHECK: scf.forall (%[[HEAD:.*]], %{{.*}}) in (2, 2)
// CHECK: scf.for %[[BATCH:.*]] = %c0 to %c3 step
// CHECK: memref.load %[[INDEX]]
// CHECK: memref.load %[[DOTS]][%[[BATCH]]
// CHECK: arith.truncf {{.*}} to vector<16xf16>
// CHECK: memref.dealloc %[[INDEX]]
// CHECK: scf.forall {{.*}} in (3, 2, 2)
// CHECK: memref.load %[[DOTS]]
// CHECK: vector.store
// CHECK: memref.dealloc %[[SUMS]]
// CHECK: memref.dealloc %[[DOTS]]
memref.global "private" constant @segments : memref<2x5xi32> = dense<[[0, 0, 0, 1, -1], [1, 0, 1, 1, -1]]>
memref.global "private" constant @entries : memref<2x2xi32> = dense<[[0, 0], [1, 1]]>
func.func @bias(%y: memref<3x4x16x16xf16>, %dy: memref<3x4x16x16xf16>, %drpe: memref<1x2x32x32xf16>) {
  %segments = memref.get_global @segments : memref<2x5xi32>
  %entries = memref.get_global @entries : memref<2x2xi32>
  blocksparse.planned_softmax_grad %y, %dy segments(%segments) entries(%entries) outs(%dy, %drpe)
    {block = array<i64: 16, 16>, shape = array<i64: 32, 32>, lut_heads = 1 : i64}
    : (memref<3x4x16x16xf16>, memref<3x4x16x16xf16>, memref<2x5xi32>, memref<2x2xi32>, memref<3x4x16x16xf16>, memref<1x2x32x32xf16>) -> ()
  return
}
