// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The "cuda.mma" family: products on tensor cores by mma.sync, ldmatrix and cp.async (sm_80 and
// later). Factors are f16, bf16 or f8 with f32 accumulators, f32 that may be rounded to tf32, or i8
// with i32 accumulators. A CTA computes a tile of the result and adds in the order of the tables,
// so results are bitwise equal from run to run. Elements of padding are never read.
//
// cp.async moves 16 bytes. The family therefore requires at run time that the addresses and strides
// of both factors are multiples of 16 bytes and that their last axes are contiguous.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_MMA_MMAKERNELS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_MMA_MMAKERNELS_H

#include "../KernelBuilder.h"
#include "blocksparse/IR/BlockSparseOps.h"

namespace mlir::blocksparse::device {

/// Returns true if the schedule names a family of tensor-core kernels. The family "cuda.mma" also
/// serves operations whose schedule names a newer family that has no kernel for them, but not those
/// of "cuda.skinny", whose kernels accept all operands that it does.
bool asksForTensorCores(std::optional<ScheduleAttr> schedule);

/// Returns true if the schedule of a product asks for tensor cores and "cuda.mma" computes it on a
/// chip with `facts`, or if it names "cuda.fma" and that family computes it.
bool asksForMma(const ::blocksparse::GPUFacts &facts, Operation *op);

/// Return true if the families have a kernel for the operation on a chip with `facts`: see
/// asksForMma and blocksparse/Plan/KernelFamilies.h.
bool supportsMma(const ::blocksparse::GPUFacts &facts, PlannedDSDOp op);
bool supportsMma(const ::blocksparse::GPUFacts &facts, PlannedSDDOp op);
bool supportsMma(const ::blocksparse::GPUFacts &facts, PlannedMatmulOp op);

/// Emit host code that returns i1: true if both factors are aligned for cp.async.
Value fitsMma(ImplicitLocOpBuilder &host, const ::blocksparse::GPUFacts &facts, PlannedDSDOp op);
Value fitsMma(ImplicitLocOpBuilder &host, const ::blocksparse::GPUFacts &facts, PlannedSDDOp op);
Value fitsMma(ImplicitLocOpBuilder &host, const ::blocksparse::GPUFacts &facts, PlannedMatmulOp op);

/// Emit the kernels of an operation on memrefs and their launches. Require that supportsMma is
/// true.
void emitMma(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedDSDOp op);
void emitMma(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedSDDOp op);
void emitMma(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedMatmulOp op);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_MMA_MMAKERNELS_H
