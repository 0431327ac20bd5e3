// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_PLANNER_ROWSOURCE_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_PLANNER_ROWSOURCE_H

#include "WordTable.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::blocksparse::device {

/// Reads the block rows of op(S) of a run-time pattern: from the row LUT of a product, or from the
/// indices that the row LUT would be made of. Positions and values are i32.
class RowSource {
public:
  /// Tells where rows come from: from segments and entries, from indices whose rows they are, or
  /// from indices whose columns they are, which have no entries that follow each other.
  enum class Kind : uint8_t { Tables, Rows, Columns };

  /// Describes an entry: a block row of the dense factor, and a value block.
  struct Entry {
    Value panel, value;
  };

  /// Returns the rows of the row LUT `segments` and `entries`.
  static RowSource ofTables(Value segments, Value entries) {
    return {Kind::Tables, segments, entries};
  }
  /// Returns the rows, or with `transpose` the columns, of the indices.
  static RowSource ofIndices(Value crow, Value col, bool transpose) {
    return {transpose ? Kind::Columns : Kind::Rows, crow, col};
  }

  Kind getKind() const { return kind; }
  /// Returns the memrefs that are read.
  SmallVector<Value> operands() const { return {offsets, blocks}; }
  /// Returns the same rows in a kernel.
  RowSource mapped(const IRMapping &mapping) const {
    return {kind, mapping.lookup(offsets), mapping.lookup(blocks)};
  }

  /// Returns the number of entries that there is room for.
  Value capacity(ImplicitLocOpBuilder &b) const;
  /// Return the block row that row `row` stands for, its first entry and their number, which is 0
  /// if they do not lie within the capacity. Columns have neither of the latter.
  Value tile(ImplicitLocOpBuilder &b, Value row) const;
  Value first(ImplicitLocOpBuilder &b, Value row) const;
  Value count(ImplicitLocOpBuilder &b, Value row) const;
  /// Returns an entry of a row.
  Entry entry(ImplicitLocOpBuilder &b, Value position) const;

  /// For rows that are columns of the indices, these return the number of stored blocks (at most
  /// the capacity), the column of a block, and its block row, which is found by a search in about
  /// as many steps as the number of rows has bits.
  Value stored(ImplicitLocOpBuilder &b) const;
  Value column(ImplicitLocOpBuilder &b, Value block) const;
  Value rowOf(ImplicitLocOpBuilder &b, Value block) const;

private:
  RowSource(Kind kind, Value offsets, Value blocks)
      : kind(kind), offsets(offsets), blocks(blocks) {}

  Value load(ImplicitLocOpBuilder &b, Value list, Value position) const;

  Kind kind;
  /// The segments and the entries, or crow_indices and col_indices.
  Value offsets, blocks;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_PLANNER_ROWSOURCE_H
