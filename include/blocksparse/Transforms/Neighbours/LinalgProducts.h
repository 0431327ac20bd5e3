// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TRANSFORMS_NEIGHBOURS_LINALGPRODUCTS_H
#define BLOCKSPARSE_TRANSFORMS_NEIGHBOURS_LINALGPRODUCTS_H

#include "blocksparse/IR/BlockSparseDialect.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

#include <string>

namespace mlir::blocksparse {

/// Describes a linalg operation as a product of stacks of matrices, op(a) op(b), whose leading
/// dimensions are broadcast as those of blocksparse products are.
struct LinalgProduct {
  Value a, b;
  bool transposeA = false, transposeB = false;
  /// Holds the order in which the factors' dimensions must be stored first; empty if they are.
  SmallVector<int64_t> orderA, orderB;
  MatmulForm form = MatmulForm::Linear;
  /// Holds what the product is added to; null if that is 0.
  Value added;
};

/// Returns the product that `op` computes on tensors, or a reason in `fault` why the operations of
/// blocksparse do not compute it. A result that linalg stores transposed is the product of the
/// transposes. Dense products of rank 4 may have the forms `score` and `context`.
FailureOr<LinalgProduct> matchProduct(linalg::LinalgOp op, std::string &fault);

/// Returns the loops of an operation that may be one loop, as lists of two or more: they have one
/// kind, and every tensor is indexed by none of them or by all, in this order.
SmallVector<ReassociationIndices> getJointLoops(linalg::LinalgOp op);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_TRANSFORMS_NEIGHBOURS_LINALGPRODUCTS_H
