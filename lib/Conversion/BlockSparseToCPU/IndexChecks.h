// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_INDEXCHECKS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_INDEXCHECKS_H

namespace mlir {
class Operation;
} // namespace mlir

namespace mlir::blocksparse {

/// Inserts run-time assertions into `root`, whose planned ops are on memrefs: before each table
/// builder, that crow_indices start at 0, never decrease and end within the room for blocks;
/// before the first use of columns as offsets, that they are columns of the tensor; before
/// softmax, its gradient, from_dense and an sdd with an input, that no block row has a column
/// twice. O(nnz + block columns) for each. Constant tables were verified when they were made.
void insertIndexChecks(Operation *root);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_INDEXCHECKS_H
