// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TRANSFORMS_BUFFERIZATION_PASSES_TD
#define BLOCKSPARSE_TRANSFORMS_BUFFERIZATION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ReuseInputsPass : Pass<"blocksparse-reuse-inputs"> {
  let summary = "Makes row softmax and its gradient overwrite an input without further uses.";
  let description = [{
    The pass runs just before bufferization. If planned_softmax (planned_softmax_grad) writes to a
    `tensor.empty`, and its operand x (dy, else y) is the result of another planned operation, has
    the type of the destination and has no other use, then that operand becomes the destination.
    Bufferization then needs no second buffer. Operands from outside the function are not reused, so
    that no argument is overwritten.
  }];
}

def ResultsToDestinationsPass : Pass<"blocksparse-results-to-destinations", "::mlir::ModuleOp"> {
  let summary = "Makes functions write their tensor results to buffers of the caller.";
  let description = [{
    The pass runs on tensors, before `eliminate-empty-tensors` and bufferization. It converts
    functions that have a body and that nothing in the module refers to. Every tensor result becomes
    a memref argument with any strides, after the other arguments and in the order of the results,
    and the operation that produces the result writes directly to it. The buffers must not overlap
    each other or an argument. Tensor arguments become read-only (`bufferization.writable = false`),
    so planned_scatter_mm on an argument works on a copy of it.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect"];
}

#endif // BLOCKSPARSE_TRANSFORMS_BUFFERIZATION_PASSES_TD
