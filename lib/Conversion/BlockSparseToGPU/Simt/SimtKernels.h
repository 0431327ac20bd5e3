// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The families "cuda.simt" and "cuda.blocks": scalar kernels that are correct for every block
// shape, stride, element type and transpose. A thread computes one element of the result (a warp
// computes one row of a softmax), adds in the order of the tables, and writes no other thread's
// results, so results are bitwise equal from run to run.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_SIMT_SIMTKERNELS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_SIMT_SIMTKERNELS_H

#include "../KernelBuilder.h"
#include "blocksparse/IR/BlockSparseOps.h"

namespace mlir::blocksparse::device {

/// Emit the kernels of an operation on memrefs and their launches. The operation stays in place. Of
/// a softmax or its gradient they write the value blocks that the table lists; of a gradient they
/// write dx alone.
void emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedDSDOp op);
void emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedSDDOp op);
void emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedMatmulOp op);
void emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedScatterMMOp op);
void emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedSoftmaxOp op);
void emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedSoftmaxGradOp op);
void emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedAttentionOp op);
void emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedAttentionGradOp op);
void emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedToDenseOp op);
void emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedFromDenseOp op);
void emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedTransposeOp op);
void emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedAddOp op);
void emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedCallOp op);
void emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels, BsrRowLutOp op);
void emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels, BsrCoordinateLutOp op);
void emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels, BsrTransposeIndicesOp op);
void emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels, CheckPatternOp op);
void emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels, CheckScatterIndicesOp op);

/// Returns true if products of elements 0 must add nothing to the result of the operation, which
/// kernels that multiply whole blocks do not heed.
bool needsZeroRepair(PlannedDSDOp op);
/// Emits the kernel that corrects such a result: a product of 0 with NaN or infinity has made its
/// elements NaN, so each NaN is computed again without the products of 0. The result must not
/// share memory with an operand.
void emitSimtZeroRepair(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedDSDOp op);

/// Emits the kernels that write drpe; emits nothing if the operation has no drpe. Must run before
/// dx is written, because dx may share the buffer of y or dy.
void emitSimtRpeGradient(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                         PlannedSoftmaxGradOp op);

/// Emit the kernel that writes 0 to the value blocks that only spare entries of a run-time table
/// list; emit nothing if the table is a constant, which has no spare entries.
void emitSimtSpareBlocks(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedSoftmaxOp op);
void emitSimtSpareBlocks(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                         PlannedSoftmaxGradOp op);

/// Emits the kernel that writes the shifts and the sums of the rows, before the gradients.
void emitSimtAttentionGradRows(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                               PlannedAttentionGradOp op);
/// Emits the kernels that compute NaN elements of the gradients again, without what is forbidden: a
/// product of the weight 0 of a forbidden element with NaN or infinity has made some of them NaN.
void emitSimtAttentionGradRepair(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                                 PlannedAttentionGradOp op);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_SIMT_SIMTKERNELS_H
