// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_SOFTMAXOPERANDS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_SOFTMAXOPERANDS_H

#include "../../PositionMasks.h"
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

  /// Holds what a row whose log-sum-exp is an operand starts with, both in the type of the sums.
  struct KnownRow {
    Value lse;
    /// Is subtracted from the scores. It is infinity in a row that allows nothing, so that each
    /// power is 0.
    Value shift;
  };

  /// Reads the known log-sum-exp of `row`, 0 if the row is not `inside` the matrix, as `type`.
  KnownRow emitKnownRow(ImplicitLocOpBuilder &b, const RowWalk::Row &row, Value inside,
                        Type type) const;

  /// Writes the log-sum-exp `result` of `row` if the i1 `isWriter` is true.
  void storeLogSumExp(ImplicitLocOpBuilder &b, const RowWalk::Row &row, Value isWriter,
                      Value result) const;

  std::optional<DenseView> lse, knownLse;
  RowWalk walk;
  ValuesView x, y;
  std::optional<DenseView> rpe;
  SmallVector<SoftmaxMask, 2> masks;
  PositionMasks positions;
  /// A memref of rank 0 that holds a factor of the scores; null if there is none.
  Value dynamicScale;
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
  /// Returns the sum `dot` of a row less the gradient of its log-sum-exp, if there is one, in the
  /// float type of `dot`. A row that is not `inside` the matrix has none.
  Value subtractLogSumExp(ImplicitLocOpBuilder &b, const RowWalk::Row &row, Value inside,
                          Value dot) const;

  /// Both are there or neither.
  std::optional<DenseView> out, dout;
  std::optional<DenseView> dlse;
  /// A memref of rank 0 that holds a factor of the scores; null if there is none.
  Value dynamicScale;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_SOFTMAXOPERANDS_H
