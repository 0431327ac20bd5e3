// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Patterns of the pass convert-blocksparse-to-cpu, which lower planned ops to parallel loops.

#ifndef BLOCKSPARSE_CONVERSION_BLOCKSPARSETOCPU_H
#define BLOCKSPARSE_CONVERSION_BLOCKSPARSETOCPU_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::blocksparse {

/// Holds the properties of the target that CPU kernels use if an op has no schedule.
struct CPULoweringOptions {
  /// Width of a vector in bits; a multiple of 128.
  int64_t vectorBits = 512;
};

/// Adds the patterns that lower planned_dsd, planned_sdd, planned_matmul and planned_scatter_mm on
/// memrefs to loops. An op that cannot be lowered is an error at the op.
void populateMatmulToCPUPatterns(RewritePatternSet &patterns, const CPULoweringOptions &options);

/// Adds the patterns that lower planned_softmax and planned_softmax_grad, the conversions between
/// sparse and dense, and the ops that build the look-up tables of dynamic patterns, all on memrefs,
/// to loops.
void populateSoftmaxToCPUPatterns(RewritePatternSet &patterns, const CPULoweringOptions &options);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_CONVERSION_BLOCKSPARSETOCPU_H
