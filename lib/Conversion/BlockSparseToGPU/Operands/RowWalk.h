// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_ROWWALK_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_ROWWALK_H

#include "../../OperandView.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::blocksparse::device {

/// Describes one element of a row of a sparse operand.
struct RowElement {
  /// Value block, counted from the first of the head, and the row and column in the block.
  Value valueBlock, blockRow, blockCol;
  /// Column of the matrix.
  Value col;
  /// i1: true if the element lies in the matrix, not in the padding.
  Value inside;
};

/// Walks the rows of elements that a row LUT describes, one row for each warp. Rows of edge tiles
/// below the matrix are rows too; all their elements are padding.
class RowWalk {
public:
  /// Holds the operands, of the kernel or of the host. `values` is any of the operands that are
  /// stored as value blocks.
  struct Operands {
    Value segments, entries, values;
    int64_t lutHeads;
    /// M and N.
    ArrayRef<int64_t> shape;
    /// H, if another operand knows it. Null: H follows from the number of value blocks, which is
    /// not possible for a pattern without any.
    Value heads = {};
  };
  RowWalk(ImplicitLocOpBuilder &b, const Operands &operands);

  /// Returns a view of sparse values that the tables index.
  ValuesView view(ImplicitLocOpBuilder &b, Value values) const;

  Value batches() const { return batchCount; }
  /// Returns the number of heads, whether one table serves all of them or lists them.
  Value totalHeads(ImplicitLocOpBuilder &b) const;
  const EntryView &getEntries() const { return entries; }
  const SegmentView &getSegments() const { return segments; }
  int64_t getBlockRows() const { return blockRows; }
  int64_t getBlockCols() const { return blockCols; }
  /// Returns N.
  int64_t getCols() const { return cols; }
  /// Returns the number of rows over all batches, heads and segments.
  Value items(ImplicitLocOpBuilder &b) const;

  /// Describes the row that a warp works on.
  struct Row {
    Value batch, head, segment, blockRow;
    /// Row of the matrix; at least M in padding.
    Value row;
    /// First entry and number of entries.
    Value first, count;
  };
  Row getRow(ImplicitLocOpBuilder &b, Value item) const;
  /// Returns row `item` of the rows from segment `first` on, in an order in which the rows of a
  /// segment, over all batches and heads, follow each other.
  Row getRowOfSegments(ImplicitLocOpBuilder &b, Value item, int64_t first) const;
  /// Returns the number of rows of a segment over all batches and heads.
  Value rowsPerSegment(ImplicitLocOpBuilder &b) const;
  /// Returns i1: true if the row lies in the matrix.
  Value isInside(ImplicitLocOpBuilder &b, const Row &row) const;

  /// Emits `body` for every 32nd element of the row from `lane` on, with one loop-carried value.
  Value fold(ImplicitLocOpBuilder &b, const Row &row, Value lane, Value initial,
             function_ref<Value(ImplicitLocOpBuilder &, const RowElement &, Value)> body) const;
  /// Emits `body` for every 32nd element of the row from `lane` on.
  void forEach(ImplicitLocOpBuilder &b, const Row &row, Value lane,
               function_ref<void(ImplicitLocOpBuilder &, const RowElement &)> body) const;

  /// Returns true if the tables are made at run time and may have spare entries (dense block -1).
  bool mayHaveSpareBlocks() const { return dynamic; }
  /// Returns the number of elements in the value blocks of all entries, over all batches and heads.
  Value valueItems(ImplicitLocOpBuilder &b) const;
  /// Writes 0 to element `item` of the value blocks if only a spare entry lists its block.
  void zeroSpare(ImplicitLocOpBuilder &b, Value item, const ValuesView &values) const;

private:
  Row getRow(ImplicitLocOpBuilder &b, Value batch, Value head, Value segment, Value blockRow) const;
  SmallVector<Value> valueExtents(ImplicitLocOpBuilder &b) const;
  SmallVector<Value> extents(ImplicitLocOpBuilder &b) const;
  RowElement getElement(ImplicitLocOpBuilder &b, const Row &row, Value number) const;

  SegmentView segments;
  EntryView entries;
  Value batchCount, headCount;
  int64_t lutHeads, rows, cols, blockRows, blockCols;
  bool dynamic;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_ROWWALK_H
