// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_MATMULAXES_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_MATMULAXES_H

#include "../../OperandView.h"
#include "blocksparse/IR/BlockSparseOps.h"

namespace mlir::blocksparse::device {

/// Holds which axes of the operands of a dense product have which role: a is seen as [B, H, M, K],
/// b as [B, H, K, N] and the result as [B, H, M, N].
struct MatmulAxes {
  DenseAxes a, b, out;

  static MatmulAxes get(PlannedMatmulOp op);
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_MATMULAXES_H
