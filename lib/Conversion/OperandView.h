// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How the kernels of both backends see the memref operands of planned ops: dense operands as
// matrices selected by (batch, head), values as blocks, look-up tables as rows of index values.

#ifndef BLOCKSPARSE_LIB_CONVERSION_OPERANDVIEW_H
#define BLOCKSPARSE_LIB_CONVERSION_OPERANDVIEW_H

#include "Device/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse {

/// memref.dim, a constant where the type knows it.
Value memrefDim(ImplicitLocOpBuilder &b, Value memref, int64_t axis);

/// Loads an integer element of any width as index (signed).
Value loadIndex(ImplicitLocOpBuilder &b, Value memref, ValueRange indices);

/// A matrix: a rank-2 memref in the logical order (row, column), whatever its strides.
struct MatrixView {
  Value memref;
  Value rows, cols;
  /// Every column is the same: the axis is broadcast.
  bool broadcastsColumns = false;

  Type elementType() const { return cast<MemRefType>(memref.getType()).getElementType(); }
  Value load(ImplicitLocOpBuilder &b, Value row, Value col) const;
  void store(ImplicitLocOpBuilder &b, Value element, Value row, Value col) const;
  /// i1: neighbours along a row are neighbours in memory; a constant where the type says so.
  Value hasUnitStride(ImplicitLocOpBuilder &b) const;
  /// The same memref with the inner stride typed as 1, as vector.load and vector.store want
  /// it. Only for code that runs where hasUnitStride is true.
  MatrixView withUnitStride(ImplicitLocOpBuilder &b) const;
  /// The part of `rows` x `cols` that starts at (row, col); no bounds are checked.
  MatrixView window(ImplicitLocOpBuilder &b, Value row, Value col, Value rows, Value cols) const;
};

/// Which axis of a memref plays which role; -1: none does, every index reads the same element.
struct DenseAxes {
  int batch = -1, head = -1, row = -1, col = -1;

  /// The last two axes are (row, column), what stands before them head and batch.
  static DenseAxes ofMatrices(int64_t rank, bool transposed = false);
  /// The same for the rank of `memref`.
  static DenseAxes ofMatrices(Value memref, bool transposed = false) {
    return ofMatrices(cast<MemRefType>(memref.getType()).getRank(), transposed);
  }
  /// [B, R, H, C], the order of the score and context products.
  static DenseAxes ofInterleavedHeads() { return {0, 2, 1, 3}; }
  /// The roles of the axes of an operand of `rank` that broadcasts to the rank 4 of this one.
  DenseAxes alignedTo(int64_t rank) const;
  /// The last axis is the row (or the column), what stands before it head and batch.
  static DenseAxes ofRowVectors(int64_t rank);
  static DenseAxes ofColumnVectors(int64_t rank);
};

/// A memref of rank 1..4 seen as [B, H, R, C]. An axis that is missing or of static size 1 is
/// broadcast: its index is ignored. A dynamic axis is never broadcast.
class DenseView {
public:
  static DenseView get(ImplicitLocOpBuilder &b, Value memref, DenseAxes axes);
  /// Rank 2..4, [.., R, C], or [.., C, R] when `transposed`.
  static DenseView get(ImplicitLocOpBuilder &b, Value memref, bool transposed = false);

  Type elementType() const { return cast<MemRefType>(memref.getType()).getElementType(); }
  Value batches() const { return size(axes.batch); }
  Value heads() const { return size(axes.head); }
  Value rows() const { return size(axes.row); }
  Value cols() const { return size(axes.col); }

  /// The matrix of (batch, head); either may be null where the axis is missing.
  MatrixView matrix(ImplicitLocOpBuilder &b, Value batch, Value head) const;
  /// Whether the column axis is missing or of static size 1.
  bool broadcastsColumns() const;
  /// i1: as MatrixView::hasUnitStride, for all the matrices; false where columns are broadcast.
  Value hasUnitStride(ImplicitLocOpBuilder &b) const;

private:
  Value size(int axis) const { return axis < 0 ? one : sizes[axis]; }

  Value memref, base, offset, one;
  DenseAxes axes;
  SmallVector<Value, 4> sizes;
  /// 0 for broadcast axes.
  SmallVector<Value, 4> strides;
};

/// Values [S, bm, bn] or [B, S, bm, bn]; bm and bn are static.
class ValuesView {
public:
  /// `lutHeads` is the op's attribute, `lutBlocks` the number of blocks that its table lists
  /// and `heads` the number of heads that the op runs over. Where one table serves all heads,
  /// head h of a tensor with more values than the table lists has its blocks at h * lutBlocks.
  static ValuesView get(ImplicitLocOpBuilder &b, Value memref, int64_t lutHeads, Value lutBlocks,
                        Value heads);

  Type elementType() const { return cast<MemRefType>(memref.getType()).getElementType(); }
  int64_t blockRows() const { return rows; }
  int64_t blockCols() const { return cols; }
  Value storedBlocks() const { return count; }

  /// Where the blocks of `head` begin: a table's value block v is block(batch, base + v).
  Value headBase(ImplicitLocOpBuilder &b, Value head) const;
  /// Block number `index` of `batch` (ignored where there is one batch), [bm, bn], or
  /// [bn, bm] when `transposed`.
  MatrixView block(ImplicitLocOpBuilder &b, Value batch, Value index,
                   bool transposed = false) const;
  /// i1: the elements of every block are contiguous and in row-major order.
  Value hasContiguousBlocks(ImplicitLocOpBuilder &b) const;

private:
  Value memref, base, offset, count, headStride;
  int64_t rows = 0, cols = 0;
  /// Batch (null: none), block, row, column.
  Value batchStride, blockStride, rowStride, colStride;
};

/// A look-up table [n, w] or, with one table per batch, [B, n, w].
class LutView {
public:
  static LutView get(ImplicitLocOpBuilder &b, Value memref);

  bool isBatched() const { return batched; }
  /// Number of rows.
  Value rows() const { return count; }
  /// Element (row, field) of the table of `batch` (ignored unless batched).
  Value field(ImplicitLocOpBuilder &b, Value batch, Value row, int64_t field) const;

private:
  Value memref, count;
  bool batched = false;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_OPERANDVIEW_H
