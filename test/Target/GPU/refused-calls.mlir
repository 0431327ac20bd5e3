// Assertions of a program for a GPU end the call; where a size is computed, the call that follows tells.
// RUN: blocksparse-opt %s --pass-pipeline='builtin.module(convert-gpu-launch-to-runtime)' | FileCheck %s --implicit-check-not=cf.assert

// CHECK-DAG: llvm.mlir.global internal constant @[[BOTH:.*]]("expects {1} rows, but got {0}\00")
// CHECK-DAG: llvm.mlir.global internal constant @[[NONE:.*]]("expects ? rows, but got ?\00")

// CHECK-LABEL: func.func @compared(
// CHECK-SAME: %[[GOT:[^:]*]]: index, %[[EXPECTED:[^:]*]]: index
// CHECK: llvm.call @blocksparseRtCallBegin(%[[CALL:[^,]*]],
// CHECK: scf.if
// CHECK-DAG: %[[LEFT:.*]] = arith.index_cast %[[GOT]] : index to i64
// CHECK-DAG: %[[RIGHT:.*]] = arith.index_cast %[[EXPECTED]] : index to i64
// CHECK-DAG: %[[TEXT:.*]] = llvm.mlir.addressof @[[BOTH]]
// CHECK: llvm.call @blocksparseRtCallRefuse(%[[CALL]], %[[TEXT]], %[[LEFT]], %[[RIGHT]])
// CHECK: llvm.call @blocksparseRtCallEnd(%[[CALL]])
func.func @compared(%got: index, %expected: index) {
  %equal = arith.cmpi eq, %got, %expected : index
  cf.assert %equal, "expects {1} rows, but got {0}"
  return
}

// CHECK-LABEL: func.func @given(
// CHECK: %[[TEXT:.*]] = llvm.mlir.addressof @[[NONE]]
// CHECK: llvm.call @blocksparseRtCallRefuse(%{{.*}}, %[[TEXT]],
func.func @given(%holds: i1) {
  cf.assert %holds, "expects {1} rows, but got {0}"
  return
}

// CHECK-LABEL: func.func @given_result_sizes(
// CHECK-NOT: Refuse
// CHECK: return
func.func @given_result_sizes(%holds: i1) attributes {blocksparse.host} {
  cf.assert %holds, "expects {1} rows, but got {0}"
  return
}

// The record of a check is in device memory: the runtime reads it.
// CHECK-LABEL: func.func @checked(
// CHECK: llvm.call @blocksparseRtCallBegin(%[[CALL:[^,]*]],
// CHECK: %[[SUBJECT:.*]] = llvm.mlir.addressof @blocksparse.subject.{{[0-9A-F]+}}
// CHECK: llvm.call @blocksparseRtCallRecord(%[[CALL]], %{{.*}}, %[[SUBJECT]])
// CHECK: llvm.call @blocksparseRtCallEnd(%[[CALL]])
func.func @checked(%record: memref<7xi64>) {
  blocksparse.refuse %record {subject = "argument 0 of f"} : memref<7xi64>
  return
}
