// What an assertion says when it fails: both sides of its comparison, as they stand in the message.
// RUN: blocksparse-opt %s --pass-pipeline='builtin.module(blocksparse-report-assertions)' | FileCheck %s

// CHECK-DAG: llvm.mlir.global internal constant @[[BOTH:.*]]("expects %lld rows, but got %lld (100%%)\0A\00")
// CHECK-DAG: llvm.mlir.global internal constant @[[NONE:.*]]("expects ? rows, but got ?\0A\00")

// CHECK-LABEL: func.func @compared(
// CHECK-SAME: %[[GOT:.*]]: index, %[[EXPECTED:.*]]: index
// CHECK: scf.if
// CHECK-DAG: %[[LEFT:.*]] = arith.index_cast %[[GOT]] : index to i64
// CHECK-DAG: %[[RIGHT:.*]] = arith.index_cast %[[EXPECTED]] : index to i64
// CHECK-DAG: %[[TEXT:.*]] = llvm.mlir.addressof @[[BOTH]]
// CHECK: llvm.call @dprintf(%{{.*}}, %[[TEXT]], %[[RIGHT]], %[[LEFT]])
// CHECK-NEXT: llvm.call @abort()
// CHECK-NOT: cf.assert
func.func @compared(%got: index, %expected: index) {
  %equal = arith.cmpi eq, %got, %expected : index
  cf.assert %equal, "expects {1} rows, but got {0} (100%)"
  return
}

// Of a condition that is no comparison there are no numbers.
// CHECK-LABEL: func.func @given(
// CHECK: scf.if
// CHECK: %[[TEXT:.*]] = llvm.mlir.addressof @[[NONE]]
// CHECK: llvm.call @dprintf(%{{.*}}, %[[TEXT]]) vararg
func.func @given(%holds: i1) {
  cf.assert %holds, "expects {1} rows, but got {0}"
  return
}
