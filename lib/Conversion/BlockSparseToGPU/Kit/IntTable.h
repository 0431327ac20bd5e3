// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_INTTABLE_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_INTTABLE_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse::device {

/// A constant table of i32, [n] or [n, w], that a kernel only reads, by loads of 16 bytes where a
/// row has a multiple of 4 numbers. Its memory begins at a multiple of 16 bytes.
class IntTable {
public:
  static IntTable get(ImplicitLocOpBuilder &b, Value memref);

  int64_t rows() const { return count; }
  int64_t width() const { return cols; }
  /// Numbers `first` to `first + number - 1` of row `row` (i32).
  SmallVector<Value> read(ImplicitLocOpBuilder &b, Value row, int64_t first, int64_t number) const;
  /// Number `place` (i32) of the table, counted over all its rows.
  Value readAt(ImplicitLocOpBuilder &b, Value place) const;
  /// !llvm.ptr<1> to a row.
  Value at(ImplicitLocOpBuilder &b, Value row) const;

private:
  Value base;
  int64_t count = 0, cols = 1;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_INTTABLE_H
