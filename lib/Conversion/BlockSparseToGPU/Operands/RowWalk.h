// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_ROWWALK_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_ROWWALK_H

#include "../../OperandView.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::blocksparse::device {

/// One element of a row of a sparse operand.
struct RowElement {
  /// Value block, counted from the head's first, and the place in it.
  Value valueBlock, blockRow, blockCol;
  /// Column of the matrix.
  Value col;
  /// i1: the element lies in the matrix, not in the padding.
  Value inside;
};

/// The rows of elements that a row LUT describes, each the work of one warp. Rows of
/// edge tiles below the matrix are rows too; all their elements are padding.
class RowWalk {
public:
  /// Operands as the kernel (or the host) sees them. `values` is any of the operands that are
  /// stored as value blocks.
  struct Operands {
    Value segments, entries, values;
    int64_t lutHeads;
    /// M and N.
    ArrayRef<int64_t> shape;
    /// H, where another operand tells; else it follows from the number of value blocks, which
    /// fails for a pattern without any.
    Value heads = {};
  };
  RowWalk(ImplicitLocOpBuilder &b, const Operands &operands);

  /// Sparse values that the tables index.
  ValuesView view(ImplicitLocOpBuilder &b, Value values) const;

  Value batches() const { return batchCount; }
  /// Number of heads, whether one table serves them all or they stand in it.
  Value totalHeads(ImplicitLocOpBuilder &b) const;
  const EntryView &getEntries() const { return entries; }
  const SegmentView &getSegments() const { return segments; }
  int64_t getBlockRows() const { return blockRows; }
  int64_t getBlockCols() const { return blockCols; }
  /// N.
  int64_t getCols() const { return cols; }
  /// Rows over all batches, heads and segments.
  Value items(ImplicitLocOpBuilder &b) const;

  /// The row that a warp works on.
  struct Row {
    Value batch, head, segment, blockRow;
    /// Row of the matrix; not below M in padding.
    Value row;
    /// First entry and number of entries.
    Value first, count;
  };
  Row getRow(ImplicitLocOpBuilder &b, Value item) const;
  /// The same rows from segment `first` on in another order: those of a segment stand together.
  Row getRowOfSegments(ImplicitLocOpBuilder &b, Value item, int64_t first) const;
  /// Rows of a segment over all batches and heads.
  Value rowsPerSegment(ImplicitLocOpBuilder &b) const;
  /// i1: the row lies in the matrix.
  Value isInside(ImplicitLocOpBuilder &b, const Row &row) const;

  /// Visits every 32nd element of the row from `lane` on, carrying a value.
  Value fold(ImplicitLocOpBuilder &b, const Row &row, Value lane, Value initial,
             function_ref<Value(ImplicitLocOpBuilder &, const RowElement &, Value)> body) const;
  /// The same without a value.
  void forEach(ImplicitLocOpBuilder &b, const Row &row, Value lane,
               function_ref<void(ImplicitLocOpBuilder &, const RowElement &)> body) const;

  /// Whether the tables are made at run time and may have spare entries (dense block -1).
  bool mayHaveSpareBlocks() const { return dynamic; }
  /// Elements of the value blocks of all entries, for each batch and head.
  Value valueItems(ImplicitLocOpBuilder &b) const;
  /// Writes 0 to an element of a value block that only a spare entry lists.
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
