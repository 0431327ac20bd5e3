// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Accessors for the index arrays of a run-time pattern and for the tables that are built from them.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_INDEXARRAY_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_INDEXARRAY_H

#include "VectorAccess.h"

namespace mlir::blocksparse {

/// Represents an integer memref whose leading axis is the batch if the memref has one axis more
/// than `rank`.
class IndexArray {
public:
  /// Wraps `memref`, whose rank without a batch axis is `rank` (in axes).
  IndexArray(Value memref, int64_t rank);

  /// Returns the extent of an axis, counted without the batch.
  Value size(ImplicitLocOpBuilder &b, int64_t axis) const;
  /// Loads the element at `at` of `batch` (ignored if there is no batch axis), as index.
  Value load(ImplicitLocOpBuilder &b, Value batch, ValueRange at) const;
  /// Stores the index `value`, converted to the element type.
  void store(ImplicitLocOpBuilder &b, Value value, Value batch, ValueRange at) const;
  /// Adds 1 to an element.
  void increment(ImplicitLocOpBuilder &b, Value batch, ValueRange at) const;
  /// Stores a row of a table, whose fields are `fields`; see makeRow.
  void storeRow(ImplicitLocOpBuilder &b, ArrayRef<Value> fields, Value batch, Value row) const;

private:
  SmallVector<Value> position(Value batch, ValueRange at) const;

  Value memref;
  bool batched;
};

/// Holds crow_indices and col_indices of a run-time pattern.
struct RuntimePattern {
  /// Wraps the index arrays of a pattern, [R + 1] and [S] or with a leading batch axis.
  RuntimePattern(ImplicitLocOpBuilder &b, Value crowIndices, Value colIndices);

  /// Returns the number of stored blocks of `batch` (index).
  Value used(ImplicitLocOpBuilder &b, Value batch) const;
  /// Emits loops that call `body` for each stored block, in the order of the pattern.
  void
  forEachBlock(ImplicitLocOpBuilder &b, Value batch,
               llvm::function_ref<void(ImplicitLocOpBuilder &, Value row, Value col, Value index)>
                   body) const;

  IndexArray crow, col;
  /// Number of block rows, and number of blocks that col_indices has room for.
  Value rows, room;
  Value batches;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_INDEXARRAY_H
