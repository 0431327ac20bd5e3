// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_LEFTOPERAND_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_LEFTOPERAND_H

#include "PanelKernel.h"

namespace mlir::blocksparse {

/// The rows of a left operand that meet one tile, read where they are or, when their element
/// type is not the accumulation type, from a converted copy.
class LeftOperand {
public:
  /// For operands of `element`. Call where scratch may be allocated: once for each task.
  LeftOperand(ImplicitLocOpBuilder &b, const TileShape &tile, Type element);
  /// Frees the scratch.
  void release(ImplicitLocOpBuilder &b);

  /// sums += source[row .. row + tile.rows, 0 .. depth) * panel[firstRow ..). Rows from
  /// `lastRow` on are read as `lastRow`: what they add belongs to no result. `kStrided` says
  /// that rows, not the reduction axis, are likely contiguous. `eachStep` goes along with the
  /// multiplication.
  SmallVector<Value> multiply(ImplicitLocOpBuilder &b, ValueRange sums, const MatrixView &source,
                              Value row, Value lastRow, Value depth, Value panel, Value firstRow,
                              bool kStrided, EachStep eachStep = nullptr);

private:
  /// Columns of the copy: how much of the reduction axis is converted at a time.
  static constexpr int64_t run = 256;

  Value rowIndex(ImplicitLocOpBuilder &b, Value row, int64_t i, Value lastRow) const;
  SmallVector<Value> multiplyCopied(ImplicitLocOpBuilder &b, ValueRange sums,
                                    const MatrixView &source, ArrayRef<Value> rows, Value depth,
                                    Value panel, Value firstRow, bool kStrided, EachStep eachStep);
  void copyRun(ImplicitLocOpBuilder &b, const MatrixView &source, ArrayRef<Value> rows, Value from,
               Value count, bool kStrided);

  const TileShape &tile;
  /// [tile.rows, run] or null.
  Value copy;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_LEFTOPERAND_H
