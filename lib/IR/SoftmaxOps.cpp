// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::blocksparse;

LogicalResult SoftmaxOp::verify() { return success(); }
LogicalResult SoftmaxGradOp::verify() { return success(); }
LogicalResult AttentionOp::verify() { return success(); }
LogicalResult AttentionGradOp::verify() { return success(); }
