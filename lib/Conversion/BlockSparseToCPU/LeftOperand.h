// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Access to the left operand of a register tile.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_LEFTOPERAND_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_LEFTOPERAND_H

#include "PanelKernel.h"

namespace mlir::blocksparse {

/// Provides the rows of the left operand that one tile multiplies: read in place, or from a
/// converted copy if their element type is not the accumulation type.
class LeftOperand {
public:
  /// Allocates the scratch for operands of element type `element`. Emit once for each task, at a
  /// point where scratch may be allocated.
  LeftOperand(ImplicitLocOpBuilder &b, const TileShape &tile, Type element);
  /// Frees the scratch.
  void release(ImplicitLocOpBuilder &b);

  /// Emits accumulators += source[row .. row + tile.rows, 0 .. depth) * panel[firstRow ..) and
  /// returns the new accumulators. Rows after `lastRow` are read as `lastRow`, because their
  /// accumulators belong to no result; a null `lastRow` means that all rows exist. `kStrided` tells
  /// that rows of `source`, not its reduction axis, are likely to be contiguous. `eachStep` is
  /// emitted in each step of the multiplication.
  SmallVector<Value> multiply(ImplicitLocOpBuilder &b, ValueRange accumulators,
                              const MatrixView &source, Value row, Value lastRow, Value depth,
                              Value panel, Value firstRow, bool kStrided,
                              EachStep eachStep = nullptr);

private:
  /// Number of columns of the copy: so many values of k are converted at a time.
  static constexpr int64_t run = 256;

  Value rowIndex(ImplicitLocOpBuilder &b, Value row, int64_t i, Value lastRow) const;
  SmallVector<Value> multiplyCopied(ImplicitLocOpBuilder &b, ValueRange accumulators,
                                    const MatrixView &source, ArrayRef<Value> rows, Value depth,
                                    Value panel, Value firstRow, bool kStrided, EachStep eachStep);
  void copyRun(ImplicitLocOpBuilder &b, const MatrixView &source, ArrayRef<Value> rows, Value from,
               Value count, bool kStrided);

  const TileShape &tile;
  /// Scratch [tile.rows, run]; null if no conversion is needed.
  Value copy;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_LEFTOPERAND_H
