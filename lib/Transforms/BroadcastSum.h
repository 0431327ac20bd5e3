// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Gradients of operands that an operation has broadcast. Each sum is a product with a row of ones,
// so that it is accumulated like every product.

#ifndef BLOCKSPARSE_LIB_TRANSFORMS_BROADCASTSUM_H
#define BLOCKSPARSE_LIB_TRANSFORMS_BROADCASTSUM_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::blocksparse {

/// Sums `full` [.., R, C] to the type `result` of the gradient of `operand`, which has the sizes of
/// the result: over the leading dimensions that `operand` lacks or has with extent 1. `full` has up
/// to two leading dimensions.
Value sumToOperand(OpBuilder &builder, Location loc, Value full, RankedTensorType result,
                   Value operand);

/// Sums `full` [.., H, R, C] over each `groups` heads that follow each other.
Value sumGroups(OpBuilder &builder, Location loc, Value full, int64_t groups);

/// Returns a row of ones, one for each row of `like` [.., R, C], of its element type.
Value createOnes(OpBuilder &builder, Location loc, Value like);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_TRANSFORMS_BROADCASTSUM_H
