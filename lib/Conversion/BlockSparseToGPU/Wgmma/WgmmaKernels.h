// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The "cuda.wgmma" family: products of f16 and bf16 with f32 sums on Hopper's tensor cores, by
// persistent kernels with a copying and two multiplying warpgroups (see WgmmaProduct.h). Sparse
// products walk the compile-time lists of blocksparse/Plan/Stages.h: patterns and shapes are
// static. Every tile is summed by one thread block in the order of its records: the result is
// bitwise equal from run to run.
//
// "cuda.wgmma_transposed" is the same for products at small blocks whose factors a kernel writes
// transposed first (see TransposeDense.h).
//
// The copy engine wants addresses and strides that are multiples of 16 bytes, and values
// without gaps. Where an operand is otherwise, the host code runs the fallback that it is given.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_WGMMA_WGMMAKERNELS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_WGMMA_WGMMAKERNELS_H

#include "../KernelBuilder.h"
#include "blocksparse/IR/BlockSparseOps.h"

namespace mlir::blocksparse::device {

using Fallback = function_ref<void(ImplicitLocOpBuilder &)>;

/// Whether the family has a kernel for the op on the chip of `kernels`.
bool hasWgmma(const KernelBuilder &kernels, PlannedDSDOp op);
bool hasWgmma(const KernelBuilder &kernels, PlannedSDDOp op);
bool hasWgmma(const KernelBuilder &kernels, PlannedMatmulOp op);

/// Each emits the launches of one op on memrefs that hasWgmma is true for.
void emitWgmma(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedDSDOp op,
               Fallback fallback);
void emitWgmma(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedSDDOp op,
               Fallback fallback);
void emitWgmma(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedMatmulOp op,
               Fallback fallback);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_WGMMA_WGMMAKERNELS_H
