// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The indices of a run-time pattern, and the tables that are made of them.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_INDEXARRAY_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_INDEXARRAY_H

#include "VectorAccess.h"

namespace mlir::blocksparse {

/// A memref of integers whose leading axis, if it has one more than the rest, is the batch.
class IndexArray {
public:
  /// `rank` counts the axes without the batch.
  IndexArray(Value memref, int64_t rank);

  Value size(ImplicitLocOpBuilder &b, int64_t axis) const;
  Value load(ImplicitLocOpBuilder &b, Value batch, ValueRange at) const;
  void store(ImplicitLocOpBuilder &b, Value value, Value batch, ValueRange at) const;
  void increment(ImplicitLocOpBuilder &b, Value batch, ValueRange at) const;
  /// Stores a row of a table.
  void storeRow(ImplicitLocOpBuilder &b, ArrayRef<Value> fields, Value batch, Value row) const;

private:
  SmallVector<Value> position(Value batch, ValueRange at) const;

  Value memref;
  bool batched;
};

/// crow_indices and col_indices.
struct RuntimePattern {
  RuntimePattern(ImplicitLocOpBuilder &b, Value crowIndices, Value colIndices);

  /// Number of stored blocks.
  Value used(ImplicitLocOpBuilder &b, Value batch) const;
  /// Calls `body` for every stored block in order.
  void
  forEachBlock(ImplicitLocOpBuilder &b, Value batch,
               llvm::function_ref<void(ImplicitLocOpBuilder &, Value row, Value col, Value index)>
                   body) const;

  IndexArray crow, col;
  /// Number of block rows, and of blocks that the arrays have room for.
  Value rows, room;
  Value batches;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_INDEXARRAY_H
