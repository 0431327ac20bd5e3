// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_CONVERSION_BLOCKSPARSETOCPU_H
#define BLOCKSPARSE_CONVERSION_BLOCKSPARSETOCPU_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::blocksparse {

/// What the CPU kernels take from the target where an op has no schedule.
struct CPULoweringOptions {
  /// Width of a vector in bits; a multiple of 128.
  int64_t vectorBits = 512;
};

/// planned_dsd, planned_sdd, planned_matmul and planned_scatter_mm.
void populateMatmulToCPUPatterns(RewritePatternSet &patterns, const CPULoweringOptions &options);

/// planned_softmax and planned_softmax_grad, the conversions between sparse and dense, and
/// the look-up tables of dynamic patterns.
void populateSoftmaxToCPUPatterns(RewritePatternSet &patterns, const CPULoweringOptions &options);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_CONVERSION_BLOCKSPARSETOCPU_H
