// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Run-time checks of the indices of dynamic patterns.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_INDEXCHECKS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_INDEXCHECKS_H

namespace mlir {
class Operation;
} // namespace mlir

namespace mlir::blocksparse {

/// Inserts run-time assertions on the index arrays of run-time patterns into `root`, whose planned
/// ops must be on memrefs. Each costs O(nnz + block columns). Constant tables are not checked
/// again: they were verified when they were built.
/// - Before each op that builds a table: crow_indices start at 0, never decrease, and end within
///   the room for blocks.
/// - Before the first op that uses columns as offsets: each is a block column of the tensor.
/// - Before softmax, its gradient, from_dense, and an sdd with an input: no block row lists a
///   column twice.
void insertIndexChecks(Operation *root);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_INDEXCHECKS_H
