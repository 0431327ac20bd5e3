// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TRANSFORMS_NEIGHBOURS_LINALGPRODUCTS_H
#define BLOCKSPARSE_TRANSFORMS_NEIGHBOURS_LINALGPRODUCTS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <string>

namespace mlir::blocksparse {

/// Describes a linalg operation as a product of stacks of matrices, op(a) op(b), whose leading
/// dimensions are broadcast as those of blocksparse products are.
struct LinalgProduct {
  Value a, b;
  bool transposeA = false, transposeB = false;
  /// Holds what the product is added to; null if that is 0.
  Value added;
};

/// Returns the product that `op` computes on tensors, or a reason in `fault` why the operations of
/// blocksparse do not compute it. A result that linalg stores transposed is the product of the
/// transposes.
FailureOr<LinalgProduct> matchProduct(linalg::LinalgOp op, std::string &fault);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_TRANSFORMS_NEIGHBOURS_LINALGPRODUCTS_H
