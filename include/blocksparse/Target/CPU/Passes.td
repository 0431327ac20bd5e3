// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Passes that prepare loops and buffers for the code generator of a CPU.

#ifndef BLOCKSPARSE_TARGET_CPU_PASSES_TD
#define BLOCKSPARSE_TARGET_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def RejectCallsPass : Pass<"blocksparse-reject-calls", "::mlir::ModuleOp"> {
  let summary = "Rejects the calls that inlining left.";
  let description = [{
    A recursive call, or one of a function without a body, is an error: functions write their
    results into memory of the caller, and only a caller outside the program provides it.
  }];
}

def AddSizeFunctionsPass : Pass<"blocksparse-add-size-functions", "::mlir::ModuleOp"> {
  let summary = "Adds functions that compute the sizes of results of dynamic shape.";
  let description = [{
    Runs on planned ops on tensors. A public function f with dynamic extents in its results
    gets a function f_result_sizes that takes the same arguments and returns these extents, in
    order, as tensor<count x i64>: the caller, which allocates the results, asks it first.
    Nothing else is left in it once it is canonicalised.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def LowerCopiesPass : Pass<"blocksparse-lower-copies", "::mlir::func::FuncOp"> {
  let summary = "Turns buffer copies into loops that need no library.";
  let description = [{
    `memref.copy` of strided buffers becomes a call into MLIR's own C runner library,
    which a program compiled ahead of time does not have.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def ReportAssertionsPass : Pass<"blocksparse-report-assertions", "::mlir::ModuleOp"> {
  let summary = "Lets a failed assertion write its message to the standard error stream.";
  let description = [{
    Upstream prints the message of a `cf.assert` through the buffered standard output and then
    aborts, which loses it whenever the output is not a terminal. Here it is written to file
    descriptor 2 before the abort. `{0}` and `{1}` in a message stand for the left and the right
    side of the integer comparison that failed. Runs on structured control flow.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect"];
}

def SetLoopSchedulePass : Pass<"blocksparse-set-loop-schedule", "::mlir::ModuleOp"> {
  let summary = "Lets OpenMP threads take the next iteration when they are free.";
  let description = [{
    The plan orders segments longest first; handing them out one by one in this order is the
    greedy longest-processing-time schedule, while equal contiguous shares would put all
    long segments on one thread. Which thread computes a tile changes no result.
  }];
}

def HoistScratchPass : Pass<"blocksparse-hoist-scratch", "::mlir::ModuleOp"> {
  let summary = "Allocates the scratch buffers of a parallel loop once for each thread.";
  let description = [{
    Moves every `memref.alloca` whose size is known in front of the loop out of the iteration, to
    the start of its `omp.parallel` region: the stack does not grow by the iteration, and small
    buffers become registers. Fails on a stack buffer whose size an iteration computes.
  }];
}

#endif // BLOCKSPARSE_TARGET_CPU_PASSES_TD
