// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::blocksparse;

LogicalResult ToDenseOp::verify() { return success(); }
LogicalResult FromDenseOp::verify() { return success(); }
LogicalResult TransposeOp::verify() { return success(); }
LogicalResult AssembleOp::verify() { return success(); }
LogicalResult DisassembleOp::verify() { return success(); }
OpFoldResult TransposeOp::fold(FoldAdaptor) { return {}; }
void DisassembleOp::getCanonicalizationPatterns(RewritePatternSet &, MLIRContext *) {}
