// Parallel loops of the host run in order: they put their launches on one stream.
// RUN: blocksparse-compile %s --start-after=bufferize --stop-after=lower --target=cuda:sm_80 | FileCheck %s --implicit-check-not=scf.forall --implicit-check-not=scf.parallel

// CHECK-LABEL: func.func @forall
// CHECK: scf.for
// CHECK: scf.for
// CHECK: gpu.launch_func
func.func @forall(%x: memref<4x6xf32>, %y: memref<4x6xf32>) {
  scf.forall (%i, %j) in (4, 6) {
    %from = memref.subview %x[%i, %j] [1, 1] [1, 1] : memref<4x6xf32> to memref<1x1xf32, strided<[6, 1], offset: ?>>
    %to = memref.subview %y[%i, %j] [1, 1] [1, 1] : memref<4x6xf32> to memref<1x1xf32, strided<[6, 1], offset: ?>>
    memref.copy %from, %to : memref<1x1xf32, strided<[6, 1], offset: ?>> to memref<1x1xf32, strided<[6, 1], offset: ?>>
  }
  return
}

// CHECK-LABEL: func.func @parallel
// CHECK: scf.for
// CHECK: gpu.launch_func
func.func @parallel(%x: memref<4x6xf32>, %y: memref<4x6xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    memref.copy %x, %y : memref<4x6xf32> to memref<4x6xf32>
    scf.reduce
  }
  return
}
