// RUN: blocksparse-opt %s --convert-blocksparse-to-gpu | FileCheck %s --implicit-check-not=blocksparse.

func.func private @f(memref<8xf32, strided<[?], offset: ?>>, i64, memref<8xf32, strided<[?], offset: ?>>) -> i32

// CHECK-LABEL: func.func @call
// CHECK: %[[STATUS:.*]] = {{(func\.)?}}call @f(
// CHECK: cf.assert
func.func @call(%x: memref<8xf32>, %n: i64, %out: memref<8xf32>) {
  blocksparse.planned_call @f(%x, %n) outs(%out) : (memref<8xf32>, i64, memref<8xf32>) -> ()
  return
}
