// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The cost of aligned copies. TMA and cp.async need rows that begin at multiples of 16 bytes. The
// dense operands of a reduction whose rows do not, such as 4001 columns of f16, are copied to
// aligned rows before the product, and its result to its place afterwards.

#ifndef BLOCKSPARSE_PLAN_ALIGNEDCOPIES_H
#define BLOCKSPARSE_PLAN_ALIGNEDCOPIES_H

#include "blocksparse/Plan/KernelFamilies.h"

namespace blocksparse {

/// Returns true if rows of `cols` elements, one after another, begin at multiples of 16 bytes. Rows
/// of an unknown size are taken to be aligned: the program tests them when it runs.
bool hasAlignedRows(int64_t cols, std::optional<ElementType> type);

/// Describes what is copied so that the operands of a reduction are aligned.
struct AlignedCopies {
  /// Kernels that copy, and the bytes of the matrices that they copy.
  int64_t kernels = 0, bytes = 0;

  /// Returns what one product of `problem` copies. The result counts only if `storesByTMA`.
  static AlignedCopies get(const KernelProblem &problem, bool storesByTMA);

  /// Returns the seconds that `times` products take for their copies, which are made together.
  double estimateSeconds(int64_t times, const GPUFacts &gpu) const;
};

/// Returns true if a reduction of `operations` operations (a multiply-add is two), `times` products
/// of `problem` in all, is expected to end sooner by scalar kernels, which need no copies, than its
/// copies alone and another launch.
bool prefersScalarKernels(const KernelProblem &problem, int64_t times, double operations,
                          const GPUFacts &gpu);

} // namespace blocksparse

#endif // BLOCKSPARSE_PLAN_ALIGNEDCOPIES_H
