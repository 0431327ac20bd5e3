// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Copies the values of an operand if its blocks are not contiguous.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_CONTIGUOUSBLOCKS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_CONTIGUOUSBLOCKS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse {

/// Provides values whose blocks are contiguous by type. If the type of the given memref does not
/// say so, a test at run time selects either the memref itself or a copy.
class ContiguousBlocks {
public:
  /// Emits the test and the copy for the memref `values`.
  ContiguousBlocks(ImplicitLocOpBuilder &b, Value values);
  /// Returns the memref with contiguous blocks.
  Value memref() const { return contiguous; }
  /// Frees the copy if one was made.
  void release(ImplicitLocOpBuilder &b);

private:
  Value contiguous;
  /// i1 that is true if `contiguous` is a copy; null if no copy is ever made.
  Value copied;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_CONTIGUOUSBLOCKS_H
