// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The families "cuda.simt", "cuda.rows" and "cuda.blocks": scalar kernels that are right for every
// block shape, stride, element type and transpose. A thread owns an element of the result (a warp,
// a row of a softmax), adds in the order of the tables, and touches no other thread's results: the
// result is bitwise equal from run to run.
//
// Softmax and its gradient run through RowKernels.h where types and memory allow it.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_SIMT_SIMTKERNELS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_SIMT_SIMTKERNELS_H

#include "../KernelBuilder.h"
#include "blocksparse/IR/BlockSparseOps.h"

namespace mlir::blocksparse::device {

/// Each emits the launches of one op on memrefs at the builder's insertion point. The op
/// itself is left in place.
void emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedDSDOp op);
void emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedSDDOp op);
void emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedMatmulOp op);
void emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedScatterMMOp op);
void emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedSoftmaxOp op);
void emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedSoftmaxGradOp op);
void emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedToDenseOp op);
void emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedFromDenseOp op);
void emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedTransposeOp op);
void emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels, BsrRowLutOp op);
void emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels, BsrCoordinateLutOp op);
void emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels, BsrTransposeIndicesOp op);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_SIMT_SIMTKERNELS_H
