// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Sorts the rows of a table at run time, so that a task finds those it must process.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_SEGMENTORDER_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_SEGMENTORDER_H

#include "../OperandView.h"

namespace mlir::blocksparse {

/// Groups the rows of a table by a key. A stable counting sort runs before the parallel loop, in
/// O(rows + keys) for each batch of the table.
class SegmentOrder {
public:
  /// Sorts the rows of `table`. The key of a row is the sum of field * stride over `fields`, and is
  /// below `keys`. `batches` is the number of tables if the table is batched.
  template <typename Table>
  SegmentOrder(ImplicitLocOpBuilder &b, const TableView<Table> &table,
               ArrayRef<std::pair<typename Table::Field, Value>> fields, Value keys, Value batches)
      : batched(table.isBatched()) {
    sort(b, table, keys, batches, [&](ImplicitLocOpBuilder &b, Value batch, Value row) {
      Value key = indexConstant(b, 0);
      for (auto [field, stride] : fields)
        key = Int(b, key) + Int(b, table.field(b, batch, row, field)) * stride;
      return key;
    });
  }
  /// Frees the scratch.
  void release(ImplicitLocOpBuilder &b);

  /// begin and end return the range [begin, end) of the positions of the rows with key `key`.
  Value begin(ImplicitLocOpBuilder &b, Value batch, Value key) const;
  Value end(ImplicitLocOpBuilder &b, Value batch, Value key) const;
  /// Returns the index in the table of the row at a position.
  Value row(ImplicitLocOpBuilder &b, Value batch, Value position) const;

private:
  /// Emits the code that fills the two tables; `keyOf` returns the key of a row of a batch.
  void sort(ImplicitLocOpBuilder &b, const LutView &table, Value keys, Value batches,
            llvm::function_ref<Value(ImplicitLocOpBuilder &, Value batch, Value row)> keyOf);

  bool batched;
  /// Scratch of index type with shapes [tables, keys + 1] and [tables, rows].
  Value offsets, rowsInOrder;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_SEGMENTORDER_H
