// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Declares the pattern sets that populateSoftmaxToCPUPatterns consists of.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_SOFTMAXPATTERNS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_SOFTMAXPATTERNS_H

#include "blocksparse/Conversion/BlockSparseToCPU.h"

namespace mlir::blocksparse {

/// Adds the pattern that lowers planned_softmax.
void populateSoftmaxPatterns(RewritePatternSet &patterns, const CPULoweringOptions &options);
/// Adds the pattern that lowers planned_softmax_grad.
void populateSoftmaxGradPatterns(RewritePatternSet &patterns, const CPULoweringOptions &options);

/// Adds the patterns that lower planned_from_dense, planned_to_dense and planned_transpose.
void populateConversionPatterns(RewritePatternSet &patterns, const CPULoweringOptions &options);
/// Adds the patterns that lower bsr_row_lut, bsr_coordinate_lut and bsr_transpose_indices.
void populateBsrLutPatterns(RewritePatternSet &patterns);

/// Fails the match of `op`, with a reason, if an operand is not a memref.
LogicalResult checkLowerable(Operation *op, PatternRewriter &rewriter);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_SOFTMAXPATTERNS_H
