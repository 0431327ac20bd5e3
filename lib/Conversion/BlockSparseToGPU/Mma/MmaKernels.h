// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The "cuda.mma" family: products of f16, bf16 and f8, and of f32 that may be rounded to tf32, with
// f32 sums, and of i8 with i32 sums, on tensor cores by mma.sync, ldmatrix and cp.async. A thread
// block owns a tile of the result and adds in the order of the tables: the result is bitwise equal
// from run to run. Elements of padding are never read.
//
// cp.async moves 16 bytes. Where an operand's address or strides are no multiples of that, or its
// last axis is not contiguous, the host code launches the scalar kernel instead.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_MMA_MMAKERNELS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_MMA_MMAKERNELS_H

#include "../KernelBuilder.h"
#include "blocksparse/IR/BlockSparseOps.h"

namespace mlir::blocksparse::device {

/// Whether the family has a kernel for the op on the chip of `kernels`, sm_80 or later: its factors
/// are both f16, bf16 or i8, f32 with a precision other than ieee, or from sm_90 on f8, and its
/// blocks are multiples of 16 in both directions.
bool hasMma(const KernelBuilder &kernels, PlannedDSDOp op);
bool hasMma(const KernelBuilder &kernels, PlannedSDDOp op);
bool hasMma(const KernelBuilder &kernels, PlannedMatmulOp op);

/// Each emits the launches of one op on memrefs that hasMma is true for.
void emitMma(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedDSDOp op);
void emitMma(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedSDDOp op);
void emitMma(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedMatmulOp op);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_MMA_MMAKERNELS_H
