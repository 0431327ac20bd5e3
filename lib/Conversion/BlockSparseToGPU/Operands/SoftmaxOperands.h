// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_SOFTMAXOPERANDS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_SOFTMAXOPERANDS_H

#include "RowWalk.h"
#include "blocksparse/IR/BlockSparseOps.h"

namespace mlir::blocksparse::device {

/// Describes a mask and how it acts.
struct SoftmaxMask {
  DenseView view;
  MaskMode mode;
};

/// Holds views of the operands of a planned_softmax, on the host or in a kernel.
struct SoftmaxOperands {
  SoftmaxOperands(ImplicitLocOpBuilder &b, PlannedSoftmaxOp op, const IRMapping &mapping);

  /// Returns the operands that a kernel reads or writes, as they are on the host.
  static SmallVector<Value> list(PlannedSoftmaxOp op);

  std::optional<DenseView> lse, knownLse;
  RowWalk walk;
  ValuesView x, y;
  std::optional<DenseView> rpe;
  SmallVector<SoftmaxMask, 2> masks;
};

/// Holds views of the operands of a planned_softmax_grad except drpe, on the host or in a kernel.
struct SoftmaxGradOperands {
  SoftmaxGradOperands(ImplicitLocOpBuilder &b, PlannedSoftmaxGradOp op, const IRMapping &mapping);

  /// Returns the operands that the kernel of dx reads or writes, as they are on the host.
  static SmallVector<Value> list(PlannedSoftmaxGradOp op);

  /// Returns the sum, over every `lanes`-th element from `lane` on, of out * dout in a row of the
  /// matrix, in the float type `type`. Requires that the operation has out and dout.
  Value emitPartOfDot(ImplicitLocOpBuilder &b, const RowWalk::Row &row, Value lane, Value lanes,
                      Type type) const;

  RowWalk walk;
  ValuesView y, dy, dx;
  /// Both are there or neither.
  std::optional<DenseView> out, dout;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_SOFTMAXOPERANDS_H
