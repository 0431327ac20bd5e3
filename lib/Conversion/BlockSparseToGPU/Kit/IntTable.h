// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_INTTABLE_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_INTTABLE_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse::device {

/// Reads a table of i32, [n] or [n, w], that no kernel writes: the tables of the plan. Loads are
/// invariant (ld.global.nc), and 16 bytes wide if rows are a multiple of 4 fields long. Requires
/// that the memory begins at a multiple of 16 bytes.
class IntTable {
public:
  /// Returns a reader of `memref`. Requires a static number of fields in a row.
  static IntTable get(ImplicitLocOpBuilder &b, Value memref);

  /// Return the number of rows and the number of i32 fields of a row.
  int64_t rows() const { return count; }
  int64_t width() const { return cols; }
  /// Returns the fields [first, first + number) of row `row` (i32), each as i32.
  SmallVector<Value> read(ImplicitLocOpBuilder &b, Value row, int64_t first, int64_t number) const;
  /// Returns the i32 at position `index` (i32) of the table in row-major order.
  Value readAt(ImplicitLocOpBuilder &b, Value index) const;
  /// Returns the address (!llvm.ptr<1>) of row `row` (i32).
  Value at(ImplicitLocOpBuilder &b, Value row) const;

private:
  Value base;
  int64_t count = 0, cols = 1;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_INTTABLE_H
