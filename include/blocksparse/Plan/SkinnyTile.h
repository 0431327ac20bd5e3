// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The tiles of "cuda.skinny". A product of few columns reads every stored value once and does
// little with it, so its time is that of reading the values: as long as enough loads are in flight.
// A CTA computes some rows of one block row. Its warps share the reduction, step by step, and each
// warp issues all loads of `unroll` steps before it multiplies.

#ifndef BLOCKSPARSE_PLAN_SKINNYTILE_H
#define BLOCKSPARSE_PLAN_SKINNYTILE_H

#include "blocksparse/Plan/KernelFamilies.h"

namespace blocksparse {

/// Values of k that a warp multiplies in one step: four lanes share a row, 16 bytes each.
inline constexpr int64_t skinnyStepDepth = 32;

/// Describes a product of few columns.
struct SkinnyProblem {
  /// Block of op(S).
  BlockShape block{0, 0};
  /// Columns of the result.
  int64_t cols = 0;
  /// Block rows of all heads and batches, and blocks of one on average; 0 if they are not known.
  int64_t blockRows = 0;
  double blocksPerRow = 0;
};

/// Returns the columns of the tile, a power of two from 8 up, for a result of `cols` columns.
int64_t fitSkinnyCols(int64_t cols);

/// Returns the parameters for a problem on a GPU: those that are set in `given` and the usual
/// values of the others. A tile has 32 rows of a block, or 16 if taller ones would leave SMs idle;
/// it has as many warps as SMs have room for, but not more than there is work for.
SkinnyParams chooseSkinny(const SkinnyProblem &problem, const SkinnyParams &given,
                          int64_t multiprocessors);

/// Returns the dynamic shared memory of a CTA in bytes: the f32 accumulators of all warps.
int64_t getSkinnySharedBytes(const SkinnyParams &params);

/// Returns true if kernels of "cuda.skinny" are expected to be faster than all others: values of a
/// tile of 32 rows are then at least as many bytes as the part of the dense factor that it
/// multiplies them by, which comes from the L2 cache. A few long rows are left to families that can
/// split them among CTAs, and many rows with more than 16 columns to those with taller tiles. The
/// limits are measured: docs/Developer/LabNotes/few-columns.md.
bool prefersSkinny(const SkinnyProblem &problem, int64_t multiprocessors);

} // namespace blocksparse

#endif // BLOCKSPARSE_PLAN_SKINNYTILE_H
