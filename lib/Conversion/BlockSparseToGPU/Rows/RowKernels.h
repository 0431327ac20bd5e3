// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The family "cuda.rows" of softmax kernels that run at the speed of memory: each row is read once,
// in accesses of 16 bytes, and written once (RowTeams.h). Elements are f16, bf16 or f32, and the
// columns of a block are complete chunks of 16 bytes. Sums run in a fixed order, so results are
// bitwise equal from run to run.
//
// The kernels require at run time that the addresses and strides of their operands are multiples of
// 16 bytes and that their last axes are contiguous.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_ROWS_ROWKERNELS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_ROWS_ROWKERNELS_H

#include "../KernelBuilder.h"
#include "blocksparse/IR/BlockSparseOps.h"

namespace mlir::blocksparse::device {

/// Return true if the operation has no schedule or one of "cuda.rows", and the table of families
/// (Plan/KernelFamilies.h) says that these kernels compute it.
bool supportsRows(const ::blocksparse::GPUFacts &facts, PlannedSoftmaxOp op);
bool supportsRows(const ::blocksparse::GPUFacts &facts, PlannedSoftmaxGradOp op);

/// Emit host code that returns i1: true if the operands lie in memory as the kernel requires.
Value fitsRows(ImplicitLocOpBuilder &host, const ::blocksparse::GPUFacts &facts,
               PlannedSoftmaxOp op);
Value fitsRows(ImplicitLocOpBuilder &host, const ::blocksparse::GPUFacts &facts,
               PlannedSoftmaxGradOp op);

/// Emit the launch of the kernel. Require that supportsRows is true. The kernel writes every
/// element of the value blocks that the table lists; of a gradient it writes dx alone.
void emitRows(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedSoftmaxOp op);
void emitRows(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedSoftmaxGradOp op);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_ROWS_ROWKERNELS_H
