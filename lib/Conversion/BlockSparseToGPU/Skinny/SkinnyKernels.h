// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The "cuda.skinny" family: products whose dense factor has at most 64 columns (f16 and bf16, f32
// accumulators) by mma.sync (sm_80 and later). Such a product reads each stored value once, so its
// kernel does nothing but keep many loads in flight: a lane loads 16 bytes of a row of a block from
// global memory straight into the registers of its fragments, and so it does with the dense factor.
// No value passes through shared memory.
//
// mma.sync adds over k in any order, as long as both factors have the same one. In a step of 32
// values of k, lane 4g + q has values 8q .. 8q + 7 of rows g and g + 8: these are words 2i and
// 2i + 1 of the fragments of multiplication i (see Kit/MmaFragments.h), which then has the values
// 8q
// + 4i .. 8q + 4i + 3 of all four q. Columns are permuted in the same way: lane group g has columns
// g T .. g T + T - 1 for T fragments of columns, which are neighbours in memory.
//
// The warps of a CTA take the steps of a tile in turn. At the end their accumulators are added in
// shared memory in the order of the warps, so results are bitwise equal from run to run.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_SKINNY_SKINNYKERNELS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_SKINNY_SKINNYKERNELS_H

#include "../KernelBuilder.h"
#include "blocksparse/IR/BlockSparseOps.h"

namespace mlir::blocksparse::device {

/// Return true if the family has a kernel for the operation on a chip with `facts`: one that loads
/// vectors of the dense factor, or one that loads single elements of it.
bool supportsSkinny(const ::blocksparse::GPUFacts &facts, PlannedDSDOp op);
bool supportsSkinnyElements(const ::blocksparse::GPUFacts &facts, PlannedDSDOp op);

/// Emit host code that returns i1: true if values, and for the first kernel also the dense factor,
/// are aligned for loads of whole vectors. Require that the kernel is supported.
Value fitsSkinny(ImplicitLocOpBuilder &host, const ::blocksparse::GPUFacts &facts, PlannedDSDOp op);
Value fitsSkinnyElements(ImplicitLocOpBuilder &host, const ::blocksparse::GPUFacts &facts,
                         PlannedDSDOp op);

/// Emit a kernel of an operation on memrefs and its launch. Require that it is supported.
void emitSkinny(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedDSDOp op);
void emitSkinnyElements(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedDSDOp op);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_SKINNY_SKINNYKERNELS_H
