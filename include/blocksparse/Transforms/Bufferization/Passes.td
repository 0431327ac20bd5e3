// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TRANSFORMS_BUFFERIZATION_PASSES_TD
#define BLOCKSPARSE_TRANSFORMS_BUFFERIZATION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ReuseInputsPass : Pass<"blocksparse-reuse-inputs"> {
  let summary = "Let row softmax and its gradient write into an input that dies";
  let description = [{
    Runs just before bufferization. Where planned_softmax (planned_softmax_grad) writes into a
    `tensor.empty` and its operand x (dy, else y) is the result of another planned operation,
    has the type of the destination and no other use, that operand becomes the destination.
    Bufferization then needs no second buffer. Operands that come from outside the function
    are left alone: nobody's argument is overwritten.
  }];
}

def ResultsToDestinationsPass : Pass<"blocksparse-results-to-destinations", "::mlir::ModuleOp"> {
  let summary = "Let functions write their tensor results into buffers of the caller";
  let description = [{
    Runs on tensors, before `eliminate-empty-tensors` and bufferization. Every tensor result
    of a function with a body that nothing in the module refers to becomes a memref argument, with
    any strides, after the others and in the order of the results. The operation that
    makes the result then writes straight into it. The buffers must not overlap each other or an
    argument. Tensor arguments become read-only (`bufferization.writable = false`):
    planned_scatter_mm on an argument works on a copy of it.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect"];
}

#endif // BLOCKSPARSE_TRANSFORMS_BUFFERIZATION_PASSES_TD
