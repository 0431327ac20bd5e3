// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Softmax and its gradient at the speed of memory, within the family "cuda.rows": each row is
// read once, in accesses of 16 bytes, and written once (RowTeams.h). For f16, bf16 and f32 whose
// blocks have whole chunks of columns. Sums run in a fixed order: the result is bitwise equal
// from run to run.
//
// Where an operand's address or strides are no multiples of 16 bytes, or its last axis is not
// contiguous, the host code launches the scalar kernel instead.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_ROWS_ROWKERNELS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_ROWS_ROWKERNELS_H

#include "../KernelBuilder.h"
#include "blocksparse/IR/BlockSparseOps.h"

namespace mlir::blocksparse::device {

/// Whether there is such a kernel for the op.
bool hasRowKernel(PlannedSoftmaxOp op);
bool hasRowKernel(PlannedSoftmaxGradOp op);

/// On the host, i1: the operands lie in memory as the kernel wants them.
Value fitsRowKernel(ImplicitLocOpBuilder &host, PlannedSoftmaxOp op);
Value fitsRowKernel(ImplicitLocOpBuilder &host, PlannedSoftmaxGradOp op);

/// Each emits the launch for an op that hasRowKernel is true for. Writes every element of the value
/// blocks that the table lists; of a gradient dx alone.
void emitRowKernel(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedSoftmaxOp op);
void emitRowKernel(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedSoftmaxGradOp op);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_ROWS_ROWKERNELS_H
