// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TRANSFORMS_BUFFERIZATION_PASSES_TD
#define BLOCKSPARSE_TRANSFORMS_BUFFERIZATION_PASSES_TD

include "mlir/Pass/PassBase.td"

def StructureControlFlowPass : Pass<"blocksparse-structure-control-flow", "::mlir::ModuleOp"> {
  let summary = "Rewrites functions of several blocks with loops and conditions of scf.";
  let description = [{
    Branches of the cf dialect become scf.if, scf.index_switch and scf.while, so that every function
    has one block, as later passes require. A block that ends with any other branch is an error.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::ub::UBDialect"];
}

def SaturateF8Pass : Pass<"blocksparse-saturate-f8", "::mlir::func::FuncOp"> {
  let summary = "Saturates f8 results of functions that ask for it.";
  let description = [{
    In a function with the attribute `blocksparse.f8_overflow = "saturate"`, a planned product with
    a result of f8E4M3FN or f8E5M2 writes f32 instead, and an elementwise loop clamps the numbers to
    the range of the type and rounds them. Softmax gradients and accumulations in f8 have no such
    form and are an error. The value "special", and no attribute, leave results that are too large
    NaN (f8E4M3FN) or infinity (f8E5M2).
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ResolveLoopSizesPass : Pass<"blocksparse-resolve-loop-sizes"> {
  let summary = "Computes sizes of what loops carry from what they start with.";
  let description = [{
    A `tensor.dim` of a result of scf.for or scf.while, or of a tensor that it carries, becomes one
    of the tensor that the loop starts with, if the extent is provably the same in each iteration.
    The functions that compute the sizes of results then need no loop.
  }];
}

def CarryInPlacePass : Pass<"blocksparse-carry-in-place"> {
  let summary = "Makes loops overwrite the tensors that they carry.";
  let description = [{
    The pass runs just before bufferization. At the end of each iteration of scf.for and scf.while,
    the tensors that the next one starts with are copied into those of this one, so that the loop
    carries no buffers and frees none. Open extents must be provably equal. Loops that carry other
    tensors of open shape allocate a buffer in each iteration.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def ElementwiseToLinalgPass : Pass<"blocksparse-elementwise-to-linalg"> {
  let summary = "Converts elementwise operations on tensors to linalg.generic.";
  let description = [{
    The pass runs before bufferization, which has no buffers for operations such as `arith.addf` and
    `math.exp` on tensors. Each becomes a `linalg.generic` that writes to a `tensor.empty`; a
    constant whose elements are all equal becomes a scalar of its body. An operation on tensors that
    bufferization does not know is an error.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ReuseInputsPass : Pass<"blocksparse-reuse-inputs"> {
  let summary = "Makes row softmax and its gradient overwrite an input without further uses.";
  let description = [{
    The pass runs just before bufferization. If planned_softmax (planned_softmax_grad) writes to a
    `tensor.empty`, and its operand x (dy, else y) is the result of another planned operation, has
    the type of the destination and has no other use, then that operand becomes the destination.
    Bufferization then needs no second buffer. Operands from outside the function are not reused, so
    that no argument is overwritten. The same holds for an elementwise `linalg.generic` with one
    result.
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

    Before anything is written, the function asserts that the buffers have the open sizes of the
    results. A size that follows from more than the sizes of the arguments is compared where the
    program has computed it.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect"];
}

#endif // BLOCKSPARSE_TRANSFORMS_BUFFERIZATION_PASSES_TD
