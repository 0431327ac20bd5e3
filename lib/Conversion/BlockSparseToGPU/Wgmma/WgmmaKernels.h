// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The "cuda.wgmma" family: products of f16 and bf16 with f32 accumulators on Hopper's tensor cores,
// by persistent kernels with one producer and two consumer warpgroups (see WgmmaProduct.h). Sparse
// products walk the lists of blocksparse/Plan/Stages.h, which the compiler makes or the device
// (see ../Planner/PlannerKernels.h); shapes are static. One CTA accumulates each tile in the order
// of its records, so results are bitwise equal from run to run.
//
// "cuda.wgmma_transposed" is the same for products at small blocks whose factors a kernel writes
// transposed first (see TransposeDense.h).
//
// TMA requires at run time that addresses and strides are multiples of 16 bytes, and that value
// blocks have no gaps.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_WGMMA_WGMMAKERNELS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_WGMMA_WGMMAKERNELS_H

#include "../KernelBuilder.h"
#include "blocksparse/IR/BlockSparseOps.h"

namespace mlir::blocksparse::device {

/// Return true if the family has a kernel for the operation on a chip with `facts`.
bool supportsWgmma(const ::blocksparse::GPUFacts &facts, PlannedDSDOp op);
bool supportsWgmma(const ::blocksparse::GPUFacts &facts, PlannedSDDOp op);
bool supportsWgmma(const ::blocksparse::GPUFacts &facts, PlannedMatmulOp op);

/// Emit host code that returns i1: true if TMA can address all operands. Require that supportsWgmma
/// is true.
Value fitsWgmma(ImplicitLocOpBuilder &host, const ::blocksparse::GPUFacts &facts, PlannedDSDOp op);
Value fitsWgmma(ImplicitLocOpBuilder &host, const ::blocksparse::GPUFacts &facts, PlannedSDDOp op);
Value fitsWgmma(ImplicitLocOpBuilder &host, const ::blocksparse::GPUFacts &facts,
                PlannedMatmulOp op);

/// Emit the kernels of an operation on memrefs and their launches. Require that supportsWgmma is
/// true.
void emitWgmma(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedDSDOp op);
void emitWgmma(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedSDDOp op);
void emitWgmma(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedMatmulOp op);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_WGMMA_WGMMAKERNELS_H
