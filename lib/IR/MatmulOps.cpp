// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::blocksparse;

LogicalResult SDDOp::verify() { return success(); }
LogicalResult DSDOp::verify() { return success(); }
LogicalResult DDSOp::verify() { return success(); }
LogicalResult BsrAddmmOp::verify() { return success(); }
LogicalResult SampledAddmmOp::verify() { return success(); }
LogicalResult ScatterMMOp::verify() { return success(); }
LogicalResult MatmulOp::verify() { return success(); }
void SDDOp::getCanonicalizationPatterns(RewritePatternSet &, MLIRContext *) {}
void DSDOp::getCanonicalizationPatterns(RewritePatternSet &, MLIRContext *) {}
void DDSOp::getCanonicalizationPatterns(RewritePatternSet &, MLIRContext *) {}
void BsrAddmmOp::getCanonicalizationPatterns(RewritePatternSet &, MLIRContext *) {}
void MatmulOp::getCanonicalizationPatterns(RewritePatternSet &, MLIRContext *) {}
