// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_CONVERSION_LOOPVIEW_H
#define BLOCKSPARSE_LIB_CONVERSION_LOOPVIEW_H

#include "OperandView.h"
#include "mlir/IR/AffineMap.h"

namespace mlir::blocksparse {

/// Represents a memref that a nest of loops reads or writes at some of its indices, each at most
/// once. A loop whose index is not used reads the same elements again.
class LoopView {
public:
  /// Returns the view of `memref` at `map`, a projected permutation of the indices of the loops.
  static LoopView get(ImplicitLocOpBuilder &b, Value memref, AffineMap map);

  /// Returns the `length` elements along the last loop as a matrix of one row, for the indices
  /// `outer` of the other loops. Without loops it is the only element.
  MatrixView row(ImplicitLocOpBuilder &b, ValueRange outer, Value length) const;
  /// Returns i1: true if neighbours along the last loop are neighbours in memory or the same.
  Value hasUnitStride(ImplicitLocOpBuilder &b) const;

private:
  Value base, offset;
  /// Stride of each loop in elements; the constant 0 for one whose index is not used.
  SmallVector<Value, 4> strides;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_LOOPVIEW_H
