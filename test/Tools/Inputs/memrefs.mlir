func.func @twice(%x: memref<?xf32, strided<[?], offset: ?>>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32, strided<[?], offset: ?>>
  scf.forall (%i) in (%n) {
    %0 = memref.load %x[%i] : memref<?xf32, strided<[?], offset: ?>>
    %1 = arith.addf %0, %0 : f32
    memref.store %1, %x[%i] : memref<?xf32, strided<[?], offset: ?>>
  }
  return
}
