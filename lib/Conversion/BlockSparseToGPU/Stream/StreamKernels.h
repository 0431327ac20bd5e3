// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The "cuda.stream" family: products with square blocks of 16 or 32 (f16 and bf16, f32 sums) by
// mma.sync on operands that the copy engine brings (sm_90). A thread block owns a group of block
// rows by a panel of columns and streams the union of their block columns through shared
// memory, so that rows of the dense operand are loaded once for the whole group. What a stage
// brings is decided at compile time: the `stream` records of blocksparse/Plan/Stages.h. Value
// blocks are copied in the order of the records, from values that were packed before.
//
// One warp starts the copies; every other warp owns whole block rows and adds in the order of
// the records: the result is bitwise equal from run to run.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_STREAM_STREAMKERNELS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_STREAM_STREAMKERNELS_H

#include "../KernelBuilder.h"
#include "blocksparse/IR/BlockSparseOps.h"

namespace mlir::blocksparse::device {

/// Whether the family has a kernel for the op on the chip of `kernels`.
bool hasStream(const KernelBuilder &kernels, PlannedDSDOp op);

/// Emits the launches of an op on memrefs that hasStream is true for. The host code runs `fallback`
/// where an operand's address or strides are no multiples of 16 bytes.
void emitStream(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedDSDOp op,
                function_ref<void(ImplicitLocOpBuilder &)> fallback);

/// Emits a kernel that writes the value blocks of an op with stages to `packed`, [n, b, b] with n
/// the places of the order times the batches and heads that have values of their own. The rows of a
/// packed block are those of op(V), swizzled like a SharedTile of b x b.
void emitPackValues(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedDSDOp op,
                    Value packed);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_STREAM_STREAMKERNELS_H
