// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_PLANNER_WORDTABLE_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_PLANNER_WORDTABLE_H

#include "../../OperandView.h"

namespace mlir::blocksparse::device {

/// Reads and writes a table or list of i32 in global memory that kernels of one call make.
/// Positions and values are i32.
class WordTable {
public:
  explicit WordTable(Value memref) : memref(memref) {}

  /// Returns the number of rows.
  Value rows(ImplicitLocOpBuilder &b) const;
  Value load(ImplicitLocOpBuilder &b, Value row, Value column) const;
  Value load(ImplicitLocOpBuilder &b, Value row, int64_t column) const {
    return load(b, row, i32Constant(b, column));
  }
  /// Returns element `position` of a list.
  Value load(ImplicitLocOpBuilder &b, Value position) const;
  void store(ImplicitLocOpBuilder &b, Value value, Value row, Value column) const;
  void store(ImplicitLocOpBuilder &b, Value value, Value row, int64_t column) const {
    store(b, value, row, i32Constant(b, column));
  }
  /// Writes element `position` of a list.
  void store(ImplicitLocOpBuilder &b, Value value, Value position) const;
  /// Writes the fields of row `row`; see makeRow.
  void storeRow(ImplicitLocOpBuilder &b, Value row, ArrayRef<Value> values) const;

private:
  Value memref;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_PLANNER_WORDTABLE_H
