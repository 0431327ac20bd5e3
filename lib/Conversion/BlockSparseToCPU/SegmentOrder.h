// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_SEGMENTORDER_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_SEGMENTORDER_H

#include "../OperandView.h"

namespace mlir::blocksparse {

/// The rows of a table grouped by a key, by a stable counting sort that runs ahead of the
/// parallel loop: O(rows + keys) for each batch of the table.
class SegmentOrder {
public:
  /// The key of a row is the sum of field * stride over `fields`, below `keys`. `batches` is
  /// the number of tables when the table is batched.
  SegmentOrder(ImplicitLocOpBuilder &b, const LutView &table,
               ArrayRef<std::pair<int64_t, Value>> fields, Value keys, Value batches);
  void release(ImplicitLocOpBuilder &b);

  /// Positions [begin, end) belong to `key`.
  Value begin(ImplicitLocOpBuilder &b, Value batch, Value key) const;
  Value end(ImplicitLocOpBuilder &b, Value batch, Value key) const;
  /// The table's row at a position.
  Value row(ImplicitLocOpBuilder &b, Value batch, Value position) const;

private:
  bool batched;
  /// [tables, keys + 1] and [tables, rows], of index type.
  Value offsets, rowsInOrder;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_SEGMENTORDER_H
