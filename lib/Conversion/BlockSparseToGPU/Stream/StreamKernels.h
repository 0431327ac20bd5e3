// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The "cuda.stream" family: products with square blocks of 16 or 32, or with blocks of any shape
// that are planned as such (f16 and bf16, f32 accumulators), by mma.sync or wgmma on operands that
// TMA loads (sm_90). A CTA computes a row group of block rows by a column tile and streams the
// union of their block columns through shared memory, so that each row of the dense operand is
// loaded once for the complete row group. The planner decides what a stage contains: see the
// `stream` records of blocksparse/Plan/Stages.h. Value blocks are loaded in the order of the
// records, from values that were packed before.
//
// One producer warp issues the loads. Each consumer warp computes complete block rows and adds in
// the order of the records, so results are bitwise equal from run to run.
//
// TMA requires at run time that the addresses and strides of the operands are multiples of 16
// bytes.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_STREAM_STREAMKERNELS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_STREAM_STREAMKERNELS_H

#include "../KernelBuilder.h"
#include "blocksparse/IR/BlockSparseOps.h"

namespace mlir::blocksparse::device {

/// Returns true if the family has a kernel for the operation on a chip with `facts`.
bool supportsStream(const ::blocksparse::GPUFacts &facts, PlannedDSDOp op);

/// Emits host code that returns i1: true if TMA can address all operands. Requires that
/// supportsStream is true.
Value fitsStream(ImplicitLocOpBuilder &host, const ::blocksparse::GPUFacts &facts, PlannedDSDOp op);

/// Emits the kernels of an operation on memrefs and their launches. Requires that supportsStream is
/// true.
void emitStream(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedDSDOp op);

/// Emits host code that returns i1: true if the kernel of emitPackValues can read the values.
Value canPackValues(ImplicitLocOpBuilder &host, PlannedDSDOp op);

/// Emits a kernel that writes the value blocks of an operation with stages to `packed`, [n, b, b].
/// n is the number of blocks in the order of the stages times the batches and heads that have
/// values of their own. The rows of a packed block are those of op(V), swizzled like a SharedTile
/// of b x b. Planned blocks are gathered by the table of granules, with zeros where it has none.
void emitPackValues(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedDSDOp op,
                    Value packed);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_STREAM_STREAMKERNELS_H
