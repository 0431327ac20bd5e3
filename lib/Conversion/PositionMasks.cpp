// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PositionMasks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;
using namespace mlir::blocksparse;

DenseView mlir::blocksparse::getColumnVector(ImplicitLocOpBuilder &b, Value vector) {
  DenseAxes axes;
  axes.col = static_cast<int>(cast<MemRefType>(vector.getType()).getRank()) - 1;
  axes.batch = axes.col - 1;
  return DenseView::get(b, vector, axes);
}

/// Returns the view of one number for each row, [M], [1, M] or [B, M].
static DenseView getRowVector(ImplicitLocOpBuilder &b, Value vector) {
  DenseAxes axes;
  axes.row = static_cast<int>(cast<MemRefType>(vector.getType()).getRank()) - 1;
  axes.batch = axes.row - 1;
  return DenseView::get(b, vector, axes);
}

void PositionMasks::transposeBounds() {
  // A key at most `right` beyond the diagonal is a query at most `right` before it.
  if (causal)
    right = 0;
  causal = false;
  offset = -offset;
  std::swap(left, right);
  std::swap(keyLengths, queryLengths);
}

void PositionMasks::viewSegments(ImplicitLocOpBuilder &b, Value ofRows, Value ofColumns) {
  querySegments = getRowVector(b, ofRows);
  keySegments = getColumnVector(b, ofColumns);
}

/// Returns the length of a batch.
static Value loadLength(ImplicitLocOpBuilder &b, Value lengths, Value batch) {
  bool shared = cast<MemRefType>(lengths.getType()).getDimSize(0) == 1;
  return loadIndex(b, lengths, shared ? indexConstant(b, 0) : batch);
}

PositionMasks::Columns PositionMasks::getColumns(ImplicitLocOpBuilder &b, Value batch,
                                                 Value row) const {
  Columns columns;
  auto limit = [&](Value end) { columns.end = columns.end ? indexMin(b, columns.end, end) : end; };
  if (causal || right == 0)
    limit(Int(b, row) + (offset + 1));
  else if (right > 0)
    limit(Int(b, row) + (offset + right + 1));
  if (left >= 0)
    columns.first = Int(b, row) + (offset - left);
  if (keyLengths)
    limit(loadLength(b, keyLengths, batch));
  if (!queryLengths)
    return columns;
  // A row beyond the length ends before its first column. Without another bound, the largest index
  // stands for all columns.
  Value inside =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, row, loadLength(b, queryLengths, batch));
  Value all = columns.end ? columns.end : indexConstant(b, std::numeric_limits<int32_t>::max());
  columns.end = arith::SelectOp::create(b, inside, all, indexConstant(b, 0));
  return columns;
}

Value PositionMasks::getSegment(ImplicitLocOpBuilder &b, Value batch, Value row) const {
  if (!querySegments)
    return {};
  return querySegments->matrix(b, batch, Value()).load(b, row, indexConstant(b, 0));
}
