// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// This file tells which operations use the indices of run-time patterns, and where the indices come
// from.

#ifndef BLOCKSPARSE_TRANSFORMS_INDEXUSES_H
#define BLOCKSPARSE_TRANSFORMS_INDEXUSES_H

#include "mlir/IR/Operation.h"

#include <optional>

namespace mlir::blocksparse {

/// Describes the use of the indices of a sparse operand with a dynamic pattern.
struct IndexUse {
  Value sparse;
  /// True if the operation gives no meaning to a column that occurs twice in a block row.
  bool unique;
};

/// Returns the use that `op`, an operation on sparse tensors, makes of run-time indices; empty if
/// it makes none.
std::optional<IndexUse> getIndexUse(Operation *op);

/// Returns the value from which `sparse` has its indices, through operations that hand the pattern
/// of an operand to their result. A transpose hands it over transposed: if the indices of its
/// source are valid and unique, so are those of its result.
Value getIndexSource(Value sparse);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_TRANSFORMS_INDEXUSES_H
