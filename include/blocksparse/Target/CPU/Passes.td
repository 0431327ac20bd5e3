// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Passes that prepare loops and buffers for the code generator of a CPU.

#ifndef BLOCKSPARSE_TARGET_CPU_PASSES_TD
#define BLOCKSPARSE_TARGET_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def RejectCallsPass : Pass<"blocksparse-reject-calls", "::mlir::ModuleOp"> {
  let summary = "Rejects calls that are left after inlining.";
  let description = [{
    A recursive or indirect call is an error: functions write their results to memory that the caller
    provides, and only a caller outside the program can provide it. A call of a declared function
    stays; its declaration is an error if the function could not follow the rules of entry points.
  }];
}

def AddSizeFunctionsPass : Pass<"blocksparse-add-size-functions", "::mlir::ModuleOp"> {
  let summary = "Adds functions that compute the dynamic extents of results.";
  let description = [{
    The pass runs on planned ops on tensors. For a public function f with dynamic extents in its
    results it adds a function f_result_sizes that has the same arguments and returns these extents,
    in order, as tensor<count x i64>. The caller, which allocates the results, calls it first.
    Canonicalisation removes everything else from it, so it has no assertions in loops.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def LowerCopiesPass : Pass<"blocksparse-lower-copies", "::mlir::func::FuncOp"> {
  let summary = "Converts buffer copies to loops that need no library.";
  let description = [{
    Upstream lowers a `memref.copy` of strided buffers to a call of MLIR's C runner library, which a
    program compiled ahead of time does not have.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def ReturnStatusPass : Pass<"blocksparse-return-status", "::mlir::ModuleOp"> {
  let summary = "Makes entry points return a status in place of nothing.";
  let description = [{
    A public function without results returns an i32: 0, or 1 where an assertion (`cf.assert`) does
    not hold, the record of a check (`blocksparse.refuse`) has a fault, a parameter has another size
    than its type says, or there is no memory for a buffer that the function allocates outside of
    parallel loops. Then the function returns at once, and frees the buffers that it has; what its
    results hold is not specified. The text goes to `blocksparseRtRefuse` where the runtime is in the
    process, and else to the error stream. `{0}` and `{1}` in the message of an assertion stand for
    the left and the right value of the integer comparison that failed. The pass runs on
    unstructured control flow. An assertion inside of a parallel loop is an error.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect", "::mlir::memref::MemRefDialect"];
}

def SetLoopSchedulePass : Pass<"blocksparse-set-loop-schedule", "::mlir::ModuleOp"> {
  let summary = "Makes OpenMP threads take the next iteration when they are free.";
  let description = [{
    The plan orders segments longest first. Taking them one by one in this order is the greedy
    longest-processing-time schedule, whereas equal contiguous shares would assign all long segments
    to one thread. Results do not depend on which thread computes a tile.
  }];
}

def HoistScratchPass : Pass<"blocksparse-hoist-scratch", "::mlir::ModuleOp"> {
  let summary = "Allocates the scratch buffers of a parallel loop once for each thread.";
  let description = [{
    The pass moves every `memref.alloca` whose size is known before the loop out of the iteration,
    to the start of its `omp.parallel` region. The stack then does not grow with every iteration,
    and small buffers become registers. A stack buffer whose size an iteration computes is an error.
  }];
}

#endif // BLOCKSPARSE_TARGET_CPU_PASSES_TD
