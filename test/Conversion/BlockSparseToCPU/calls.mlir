// RUN: blocksparse-opt %s --convert-blocksparse-to-cpu | FileCheck %s --implicit-check-not=blocksparse.

func.func private @f(memref<?xf32, strided<[?], offset: ?>>, f32, memref<?xf32, strided<[?], offset: ?>>) -> i32

// CHECK-LABEL: func.func @call
// CHECK-SAME: (%[[X:.*]]: memref<8xf32>, %[[N:.*]]: f32, %[[OUT:.*]]: memref<?xf32, strided<[?], offset: ?>>)
// CHECK: %[[GIVEN:.*]] = memref.cast %[[X]]
// CHECK: %[[STATUS:.*]] = {{(func\.)?}}call @f(%[[GIVEN]], %[[N]], %[[OUT]])
// CHECK: %[[DONE:.*]] = arith.cmpi eq, %[[STATUS]], %{{.*}} : i32
// CHECK: cf.assert %[[DONE]], "expects the external function 'f' to return {1}, but got {0}"
func.func @call(%x: memref<8xf32>, %n: f32, %out: memref<?xf32, strided<[?], offset: ?>>) {
  blocksparse.planned_call @f(%x, %n) outs(%out) : (memref<8xf32>, f32, memref<?xf32, strided<[?], offset: ?>>) -> ()
  return
}
