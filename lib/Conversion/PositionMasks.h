// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The masks of softmax and attention that are functions of the position, for both backends:
// `causal`, the window and the lengths allow a range of the columns of each row, and segments are
// compared.

#ifndef BLOCKSPARSE_LIB_CONVERSION_POSITIONMASKS_H
#define BLOCKSPARSE_LIB_CONVERSION_POSITIONMASKS_H

#include "OperandView.h"
#include "blocksparse/IR/BlockSparseOps.h"

namespace mlir::blocksparse {

class PositionMasks {
public:
  PositionMasks() = default;
  /// Creates the masks of `op`, a planned operation. `map` returns the value that an operand has
  /// where code is emitted, and null for null. If `transposed` is set, the masks are those of the
  /// transpose of the matrix: a row is then a key, and the columns that it allows are queries.
  template <typename OpTy>
  PositionMasks(ImplicitLocOpBuilder &b, OpTy op, llvm::function_ref<Value(Value)> map,
                bool transposed = false)
      : causal(op.getCausal()), offset(static_cast<int64_t>(op.getCausalOffset())),
        keyLengths(map(op.getKeyLengths())), queryLengths(map(op.getQueryLengths())) {
    if (std::optional<ArrayRef<int64_t>> window = op.getWindow()) {
      left = (*window)[0];
      right = (*window)[1];
    }
    Value querySegments = op.getQuerySegments(), keySegments = op.getKeySegments();
    if (transposed) {
      transposeBounds();
      std::swap(querySegments, keySegments);
    }
    if (querySegments)
      viewSegments(b, map(querySegments), map(keySegments));
  }

  /// Holds the range [first, end) of the columns that a row allows, each of type index and of any
  /// sign. Null is no bound.
  struct Columns {
    Value first, end;
  };
  /// Returns the columns of row `row` of the matrix.
  Columns getColumns(ImplicitLocOpBuilder &b, Value batch, Value row) const;

  /// Returns the segment (i32) of a row; null if there are no segments.
  Value getSegment(ImplicitLocOpBuilder &b, Value batch, Value row) const;
  /// Returns the segments of the columns as one row of a matrix.
  const std::optional<DenseView> &getKeySegments() const { return keySegments; }

  /// Returns true if columns or segments of a row are read from memory.
  bool readsMemory() const { return keyLengths || queryLengths || keySegments; }

  /// Returns true if getColumns may return a bound.
  bool boundsColumns() const {
    return causal || left >= 0 || right >= 0 || keyLengths || queryLengths;
  }

private:
  void transposeBounds();
  void viewSegments(ImplicitLocOpBuilder &b, Value ofRows, Value ofColumns);

  bool causal = false;
  int64_t offset = 0, left = -1, right = -1;
  Value keyLengths, queryLengths;
  std::optional<DenseView> querySegments, keySegments;
};

/// Returns the view of one number for each column, [N], [1, N] or [B, N].
DenseView getColumnVector(ImplicitLocOpBuilder &b, Value vector);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_POSITIONMASKS_H
