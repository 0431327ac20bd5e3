// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SoftmaxPatterns.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mlir::blocksparse;

LogicalResult mlir::blocksparse::checkLowerable(Operation *op, PatternRewriter &rewriter) {
  for (Type type : op->getOperandTypes())
    if (!isa<MemRefType>(type))
      return rewriter.notifyMatchFailure(
          op, [&](Diagnostic &reason) { reason << "expects memref operands, but got " << type; });
  return success();
}

void mlir::blocksparse::populateSoftmaxToCPUPatterns(RewritePatternSet &patterns,
                                                     const CPULoweringOptions &options) {
  populateSoftmaxPatterns(patterns, options);
  populateSoftmaxGradPatterns(patterns, options);
  populateConversionPatterns(patterns, options);
  populateBsrLutPatterns(patterns);
}
