// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_SOFTMAXOPERANDS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_SOFTMAXOPERANDS_H

#include "RowWalk.h"
#include "blocksparse/IR/BlockSparseOps.h"

namespace mlir::blocksparse::device {

/// A mask and how it acts.
struct SoftmaxMask {
  DenseView view;
  MaskMode mode;
};

/// The operands of a planned_softmax on either side of a launch.
struct SoftmaxOperands {
  SoftmaxOperands(ImplicitLocOpBuilder &b, PlannedSoftmaxOp op, const IRMapping &mapping);

  /// Those that a kernel reads or writes.
  static SmallVector<Value> list(PlannedSoftmaxOp op);

  std::optional<DenseView> lse;
  RowWalk walk;
  ValuesView x, y;
  std::optional<DenseView> rpe;
  SmallVector<SoftmaxMask, 2> masks;
};

/// The operands of a planned_softmax_grad but for drpe.
struct SoftmaxGradOperands {
  SoftmaxGradOperands(ImplicitLocOpBuilder &b, PlannedSoftmaxGradOp op, const IRMapping &mapping);

  static SmallVector<Value> list(PlannedSoftmaxGradOp op);

  RowWalk walk;
  ValuesView y, dy, dx;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_SOFTMAXOPERANDS_H
