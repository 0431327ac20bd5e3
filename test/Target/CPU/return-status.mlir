// Entry points return a status, and leave where an assertion or a check fails, with the message.
// RUN: blocksparse-opt %s --pass-pipeline='builtin.module(blocksparse-return-status)' --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-DAG: llvm.mlir.global internal constant @[[BOTH:.*]]("expects %lld rows, but got %lld (100%%)\00")
// CHECK-DAG: llvm.mlir.global internal constant @[[NONE:.*]]("expects ? rows, but got ?\00")
// The runtime may not be there.
// CHECK-DAG: llvm.func extern_weak @blocksparseRtRefuse(!llvm.ptr) -> i32
// CHECK-DAG: llvm.func @dprintf(i32, !llvm.ptr, ...) -> i32

// CHECK-LABEL: func.func @compared(
// CHECK-SAME: %[[GOT:.*]]: index, %[[EXPECTED:.*]]: index) -> i32
// CHECK: %[[SIZE:.*]] = llvm.mlir.constant(1024
// CHECK: %[[TEXT:.*]] = llvm.alloca %[[SIZE]] x i8
// CHECK: %[[EQUAL:.*]] = arith.cmpi eq
// CHECK: cf.cond_br %[[EQUAL]], ^[[REST:bb[0-9]+]], ^[[REFUSE:bb[0-9]+]]
// CHECK: ^[[REST]]:
// CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK: return %[[ZERO]] : i32
// CHECK: ^[[REFUSE]]:
// CHECK-DAG: %[[LEFT:.*]] = arith.index_cast %[[GOT]] : index to i64
// CHECK-DAG: %[[RIGHT:.*]] = arith.index_cast %[[EXPECTED]] : index to i64
// CHECK-DAG: %[[FORMAT:.*]] = llvm.mlir.addressof @[[BOTH]]
// CHECK: llvm.call @snprintf(%[[TEXT]], %{{.*}}, %[[FORMAT]], %[[RIGHT]], %[[LEFT]])
// CHECK: llvm.call @blocksparse.refuse(%[[TEXT]])
// CHECK: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK: return %[[ONE]] : i32
// CHECK-NOT: cf.assert
func.func @compared(%got: index, %expected: index) {
  %equal = arith.cmpi eq, %got, %expected : index
  cf.assert %equal, "expects {1} rows, but got {0} (100%)"
  return
}

// Of a condition that is no comparison there are no numbers.
// CHECK-LABEL: func.func @given(
// CHECK: %[[FORMAT:.*]] = llvm.mlir.addressof @[[NONE]]
// CHECK: llvm.call @snprintf(%{{.*}}, %{{.*}}, %[[FORMAT]]) vararg
func.func @given(%holds: i1) {
  cf.assert %holds, "expects {1} rows, but got {0}"
  return
}

// What the function holds is freed: neither what is freed already, nor what is not yet there. A buffer
// for which there is no memory ends the call, too; it is null, which may be freed.
// CHECK-LABEL: func.func @buffers(
// CHECK: %[[FREED:.*]] = memref.alloc() : memref<1xf32>
// CHECK: memref.extract_aligned_pointer_as_index %[[FREED]]
// CHECK: cf.cond_br
// CHECK: memref.dealloc %[[FREED]]
// CHECK: %[[HELD:.*]] = memref.alloc() : memref<2xf32>
// CHECK-COUNT-2: cf.cond_br
// CHECK: %[[LATER:.*]] = memref.alloc() : memref<3xf32>
// CHECK: cf.cond_br
// CHECK: memref.dealloc %[[HELD]]
// CHECK: memref.dealloc %[[LATER]]
// CHECK: llvm.call @blocksparse.refuse(
// CHECK-NEXT: memref.dealloc %[[FREED]]
// CHECK-NEXT: arith.constant 1
// CHECK: llvm.call @blocksparse.refuse(
// CHECK-NEXT: memref.dealloc %[[HELD]]
// CHECK-NEXT: arith.constant 1
// CHECK: llvm.call @blocksparse.refuse(
// CHECK-NEXT: memref.dealloc %[[HELD]]
// CHECK-NEXT: arith.constant 1
// CHECK: llvm.call @blocksparse.refuse(
// CHECK-NEXT: memref.dealloc %[[HELD]]
// CHECK-NEXT: memref.dealloc %[[LATER]]
// CHECK-NEXT: arith.constant 1
// CHECK-NEXT: return
func.func @buffers(%holds: i1) {
  %freed = memref.alloc() : memref<1xf32>
  memref.dealloc %freed : memref<1xf32>
  %held = memref.alloc() : memref<2xf32>
  cf.assert %holds, "expects the truth"
  %later = memref.alloc() : memref<3xf32>
  memref.dealloc %held : memref<2xf32>
  memref.dealloc %later : memref<3xf32>
  return
}

// CHECK-LABEL: func.func @checked(
// CHECK: %[[RECORD:.*]] = memref.cast %{{.*}} to memref<7xi64>
// CHECK: %[[CODE:.*]] = memref.load %[[RECORD]]
// CHECK: cf.cond_br
// CHECK: llvm.call @blocksparse.refuse_indices(
// CHECK: return
// CHECK-NOT: blocksparse.refuse %
func.func @checked(%record: memref<7xi64>) {
  blocksparse.refuse %record {subject = "argument 0 of f"} : memref<7xi64>
  return
}

// The sizes that a type knows are compared with those of the descriptor, before anything else.
// CHECK-LABEL: func.func @sizes(
// CHECK-SAME: %[[X:.*]]: memref<?x?xf32, strided<[?, 1], offset: ?>>, %[[OPEN:.*]]: memref<?xf32>, %[[NUMBER:.*]]: memref<f32>) -> i32
// CHECK: %[[ONE:.*]] = arith.constant 1 : index
// CHECK: %[[OWN:.*]] = memref.dim %[[X]], %[[ONE]]
// CHECK: %[[FOUR:.*]] = arith.constant 4 : index
// CHECK: %[[EQUAL:.*]] = arith.cmpi eq, %[[OWN]], %[[FOUR]]
// CHECK: cf.cond_br %[[EQUAL]]
// CHECK: %[[CAST:.*]] = memref.cast %[[X]] : memref<?x?xf32, strided<[?, 1], offset: ?>> to memref<?x4xf32, strided<[?, 1], offset: ?>>
// CHECK: memref.load %[[CAST]]
func.func @sizes(%x: memref<?x4xf32, strided<[?, 1], offset: ?>>, %open: memref<?xf32>, %number: memref<f32>) {
  %c0 = arith.constant 0 : index
  %0 = memref.load %x[%c0, %c0] : memref<?x4xf32, strided<[?, 1], offset: ?>>
  memref.store %0, %number[] : memref<f32>
  return
}

// Callers pass what the function takes now.
// CHECK-LABEL: func.func private @caller(
// CHECK: %[[X:.*]] = memref.cast %{{.*}} to memref<?x?xf32, strided<[?, 1], offset: ?>>
// CHECK-NEXT: call @sizes(%[[X]], %{{.*}}, %{{.*}})
func.func private @caller(%x: memref<?x4xf32, strided<[?, 1], offset: ?>>, %open: memref<?xf32>, %number: memref<f32>) {
  call @sizes(%x, %open, %number) : (memref<?x4xf32, strided<[?, 1], offset: ?>>, memref<?xf32>, memref<f32>) -> ()
  return
}

// CHECK-LABEL: func.func @plain() -> i32
func.func @plain() {
  return
}

// CHECK-LABEL: func.func private @inside()
// CHECK-NEXT: call @plain() : () -> i32
func.func private @inside() {
  call @plain() : () -> ()
  return
}

// -----

func.func private @hidden(%holds: i1) {
  // expected-error @+1 {{expects to be in a public function without results, outside of parallel loops, but got it in func.func}}
  cf.assert %holds, "expects the truth"
  return
}
