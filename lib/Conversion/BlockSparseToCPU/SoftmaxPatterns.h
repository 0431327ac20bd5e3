// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Declares the pattern sets that populateSoftmaxToCPUPatterns consists of.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_SOFTMAXPATTERNS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_SOFTMAXPATTERNS_H

#include "blocksparse/Conversion/BlockSparseToCPU.h"

namespace mlir::blocksparse {

void populateSoftmaxPatterns(RewritePatternSet &patterns, const CPULoweringOptions &options);
void populateSoftmaxGradPatterns(RewritePatternSet &patterns, const CPULoweringOptions &options);

void populateConversionPatterns(RewritePatternSet &patterns, const CPULoweringOptions &options);
void populateBsrLutPatterns(RewritePatternSet &patterns);

/// Fails the match of `op`, with a reason, if an operand is not a memref.
LogicalResult checkLowerable(Operation *op, PatternRewriter &rewriter);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_SOFTMAXPATTERNS_H
