// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Rows of a matrix whose neighbours are neighbours in memory, in the accumulation type.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_CONTIGUOUSROWS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_CONTIGUOUSROWS_H

#include "../OperandView.h"

namespace mlir::blocksparse {

/// Provides some rows of a matrix with an inner stride of 1 that the type knows, so that the
/// address of an element is that of its row and a constant: the matrix itself where it has such
/// rows of the accumulation type, else a copy of them.
class ContiguousRows {
public:
  /// Allocates the copy, of at most `rows` rows of `cols` elements of `type`. Emit once for each
  /// task, at a point where scratch may be allocated.
  ContiguousRows(ImplicitLocOpBuilder &b, int64_t rows, int64_t cols, Type type);
  /// Frees the copy.
  void release(ImplicitLocOpBuilder &b);

  /// Makes rows [first, first + count) of `matrix` those that are provided. `lanes` is the length
  /// of the vectors in which they are copied.
  void enter(ImplicitLocOpBuilder &b, const MatrixView &matrix, Value first, Value count,
             int64_t lanes);
  /// Returns the matrix in which the rows are, and the index of the first one in it.
  const MatrixView &matrix() const { return view; }
  Value first() const { return firstRow; }

private:
  /// Copies rows in vectors of `lanes` elements, which takes an inner stride of 1, or one by one if
  /// that is 0.
  void copyRows(ImplicitLocOpBuilder &b, const MatrixView &source, Value first, Value count,
                int64_t lanes);

  Value copy, firstRow;
  MatrixView view;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_CONTIGUOUSROWS_H
