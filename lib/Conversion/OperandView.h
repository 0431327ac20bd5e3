// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Views of the memref operands of planned ops, shared by the CPU and GPU backends: a dense operand
// is a set of matrices selected by (batch, head), values are an array of blocks, and a look-up
// table is an array of rows whose fields load as index. Building a view emits operations at the
// insertion point of the builder; sizes and strides that the types know become constants.

#ifndef BLOCKSPARSE_LIB_CONVERSION_OPERANDVIEW_H
#define BLOCKSPARSE_LIB_CONVERSION_OPERANDVIEW_H

#include "Device/Arith.h"
#include "blocksparse/Plan/Tables.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse {

/// Returns the extent of axis `axis` of `memref` (index), a constant if the type knows it.
Value memrefDim(ImplicitLocOpBuilder &b, Value memref, int64_t axis);
/// Returns the bytes of an element of `memref`, whose elements have whole bytes.
int64_t getElementBytes(Value memref);

/// Loads an integer element of any width and returns it as index, sign-extended.
Value loadIndex(ImplicitLocOpBuilder &b, Value memref, ValueRange indices);

/// Describes a matrix: a rank-2 memref indexed by (row, column), with any strides.
struct MatrixView {
  Value memref;
  Value rows, cols;
  /// True if the column axis is broadcast: every column reads the same element.
  bool broadcastsColumns = false;

  Type elementType() const { return cast<MemRefType>(memref.getType()).getElementType(); }
  /// load returns element (row, col), and store writes it. Bounds are not checked.
  Value load(ImplicitLocOpBuilder &b, Value row, Value col) const;
  void store(ImplicitLocOpBuilder &b, Value element, Value row, Value col) const;
  /// Returns i1: true if neighbours along a row are neighbours in memory. Constant if the type
  /// decides it.
  Value hasUnitStride(ImplicitLocOpBuilder &b) const;
  /// Returns the same matrix with an inner stride of 1 in its type, as vector.load and vector.store
  /// require. Use it only in code that runs if hasUnitStride is true.
  MatrixView withUnitStride(ImplicitLocOpBuilder &b) const;
  /// Returns the submatrix of `rows` x `cols` elements that starts at (row, col). Bounds are not
  /// checked.
  MatrixView window(ImplicitLocOpBuilder &b, Value row, Value col, Value rows, Value cols) const;
};

/// Names the axis of a memref that plays each role; -1 means that no axis does, so that every index
/// of that role reads the same element.
struct DenseAxes {
  int batch = -1, head = -1, row = -1, col = -1;

  /// Returns the roles in an operand of rank 2 to 4 whose last two axes are (row, column), or
  /// (column, row) if `transposed`, preceded by batch and head as far as the rank has them.
  static DenseAxes ofMatrices(int64_t rank, bool transposed = false);
  /// Returns the roles in `memref`, as the overload above does for its rank.
  static DenseAxes ofMatrices(Value memref, bool transposed = false) {
    return ofMatrices(cast<MemRefType>(memref.getType()).getRank(), transposed);
  }
  /// Returns the roles in [B, R, H, C], the axis order of the dense operands of the score and
  /// context products.
  static DenseAxes ofInterleavedHeads() { return {0, 2, 1, 3}; }
  /// Returns the roles in an operand of rank `rank` that broadcasts, by numpy's rules, to an
  /// operand of rank 4 with the roles of this object.
  DenseAxes alignedTo(int64_t rank) const;
  /// Returns the roles in an operand whose last axis is the row (ofRowVectors) or the column
  /// (ofColumnVectors), preceded by batch and head.
  static DenseAxes ofRowVectors(int64_t rank);
  static DenseAxes ofColumnVectors(int64_t rank);
};

/// Represents a memref of rank 1 to 4 as [B, H, R, C]. An axis that is missing or has static size 1
/// is broadcast: its index is ignored. A dynamic axis is never broadcast.
class DenseView {
public:
  /// Returns the view of `memref` whose axes have the roles `axes`.
  static DenseView get(ImplicitLocOpBuilder &b, Value memref, DenseAxes axes);
  /// Returns the view of a memref of rank 2 to 4 with the axes [.., R, C], or [.., C, R] if
  /// `transposed`.
  static DenseView get(ImplicitLocOpBuilder &b, Value memref, bool transposed = false);

  Type elementType() const { return cast<MemRefType>(memref.getType()).getElementType(); }
  /// Return the extents of the axes (index); 1 for an axis that is missing.
  Value batches() const { return size(axes.batch); }
  Value heads() const { return size(axes.head); }
  Value rows() const { return size(axes.row); }
  Value cols() const { return size(axes.col); }

  /// Returns the matrix of (batch, head). Either index may be null if the view has no such axis.
  MatrixView matrix(ImplicitLocOpBuilder &b, Value batch, Value head) const;
  /// Returns true if the column axis is missing or has static size 1.
  bool broadcastsColumns() const;
  /// Returns i1: true if neighbours along a row are neighbours in memory in every matrix of the
  /// view. False if columns are broadcast.
  Value hasUnitStride(ImplicitLocOpBuilder &b) const;

private:
  Value size(int axis) const { return axis < 0 ? one : sizes[axis]; }

  Value memref, base, offset, one;
  DenseAxes axes;
  SmallVector<Value, 4> sizes;
  /// Strides in elements; 0 for a broadcast axis.
  SmallVector<Value, 4> strides;
};

/// Represents values [S, bm, bn] or [B, S, bm, bn] as an array of blocks. bm and bn must be static.
class ValuesView {
public:
  /// Returns the view of the values `memref`. `lutHeads` is the attribute of the op, `lutBlocks`
  /// the number of blocks that its table lists, and `heads` the number of heads that the op
  /// iterates over. If one table serves all heads and the values store more blocks than the table
  /// lists, the blocks of head h start at h * lutBlocks.
  static ValuesView get(ImplicitLocOpBuilder &b, Value memref, int64_t lutHeads, Value lutBlocks,
                        Value heads);

  Type elementType() const { return cast<MemRefType>(memref.getType()).getElementType(); }
  int64_t blockRows() const { return rows; }
  int64_t blockCols() const { return cols; }
  /// Returns the number S of stored blocks of one batch (index).
  Value storedBlocks() const { return count; }

  /// Returns the index of the first block of `head`: the value block v of a table is block(batch,
  /// headBase + v).
  Value headBase(ImplicitLocOpBuilder &b, Value head) const;
  /// Returns the block with index `index` of `batch` (ignored if there is one batch) as a matrix
  /// [bm, bn], or [bn, bm] if `transposed`.
  MatrixView block(ImplicitLocOpBuilder &b, Value batch, Value index,
                   bool transposed = false) const;
  /// Returns i1: true if the elements of every block are contiguous in row-major order.
  Value hasContiguousBlocks(ImplicitLocOpBuilder &b) const;

private:
  Value memref, base, offset, count, headStride;
  int64_t rows = 0, cols = 0;
  /// Strides in elements; batchStride is null if there is no batch axis.
  Value batchStride, blockStride, rowStride, colStride;
};

using ::blocksparse::CombineTable;
using ::blocksparse::CoordinateSegmentTable;
using ::blocksparse::CoordinateTable;
using ::blocksparse::EntryTable;
using ::blocksparse::SegmentTable;

/// Represents a look-up table [n, w], or [B, n, w] with one table for each batch.
class LutView {
public:
  LutView() = default;
  /// Creates the view of a table of rank 2 or 3.
  LutView(ImplicitLocOpBuilder &b, Value memref);

  bool isBatched() const { return batched; }
  /// Returns the number of rows of one table (index).
  Value rows() const { return count; }

protected:
  /// Loads element (row, column) of the table of `batch`, which is ignored unless the view is
  /// batched.
  Value load(ImplicitLocOpBuilder &b, Value batch, Value row, int64_t column) const;

private:
  Value memref, count;
  bool batched = false;
};

/// Reads a look-up table by the names that `Table` of blocksparse/Plan/Tables.h gives its fields.
template <typename Table>
class TableView : public LutView {
public:
  static TableView get(ImplicitLocOpBuilder &b, Value memref) { return TableView(b, memref); }

  TableView() = default;

  /// Loads a field of row `row` of the table of `batch`, which is ignored unless the view is
  /// batched. The result is of type index.
  Value field(ImplicitLocOpBuilder &b, Value batch, Value row, typename Table::Field field) const {
    return load(b, batch, row, field);
  }

private:
  using LutView::LutView;
};

/// Holds the values of the fields of a row of `Table`, in their order.
template <typename Table>
using RowValues = std::array<Value, Table::columns>;

/// Returns the values of a row from named fields. Each field of the table must be named once.
template <typename Table>
RowValues<Table> makeRow(const std::pair<typename Table::Field, Value> (&fields)[Table::columns]) {
  RowValues<Table> row;
  for (const auto &[field, value] : fields)
    row[field] = value;
  return row;
}

using SegmentView = TableView<SegmentTable>;
using EntryView = TableView<EntryTable>;
using CombineView = TableView<CombineTable>;
using CoordinateView = TableView<CoordinateTable>;

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_OPERANDVIEW_H
