// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SoftmaxOperands.h"

#include "../KernelBuilder.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

static std::optional<DenseView> getLogSumExp(ImplicitLocOpBuilder &b, PlannedSoftmaxOp op,
                                             const IRMapping &mapping) {
  if (op.getInits().size() < 2)
    return std::nullopt;
  Value operand = mapOperand(mapping, op.getInits()[1]);
  int64_t rank = cast<MemRefType>(operand.getType()).getRank();
  return DenseView::get(b, operand, DenseAxes::ofRowVectors(rank));
}

static RowWalk getWalk(ImplicitLocOpBuilder &b, PlannedSoftmaxOp op, const IRMapping &mapping,
                       const std::optional<DenseView> &lse) {
  return RowWalk(b, {mapOperand(mapping, op.getSegments()), mapOperand(mapping, op.getEntries()),
                     mapOperand(mapping, op.getInits().front()),
                     static_cast<int64_t>(op.getLutHeads()), op.getShape(),
                     lse ? lse->heads() : Value()});
}

SoftmaxOperands::SoftmaxOperands(ImplicitLocOpBuilder &b, PlannedSoftmaxOp op,
                                 const IRMapping &mapping)
    : lse(getLogSumExp(b, op, mapping)), walk(getWalk(b, op, mapping, lse)),
      x(walk.view(b, mapOperand(mapping, op.getX()))),
      y(walk.view(b, mapOperand(mapping, op.getInits().front()))) {
  if (Value operand = mapOperand(mapping, op.getRpe()))
    rpe = DenseView::get(b, operand);
  if (Value operand = mapOperand(mapping, op.getKeyPaddingMask())) {
    // The mask is [N] or [B, N].
    DenseAxes axes;
    axes.col = static_cast<int>(cast<MemRefType>(operand.getType()).getRank()) - 1;
    axes.batch = axes.col - 1;
    masks.push_back({DenseView::get(b, operand, axes), op.getKeyPaddingMaskMode()});
  }
  if (Value operand = mapOperand(mapping, op.getAttentionMask()))
    masks.push_back({DenseView::get(b, operand), op.getAttentionMaskMode()});
}

SmallVector<Value> SoftmaxOperands::list(PlannedSoftmaxOp op) {
  SmallVector<Value> operands =
      presentOperands({op.getX(), op.getSegments(), op.getEntries(), op.getRpe(),
                       op.getKeyPaddingMask(), op.getAttentionMask()});
  llvm::append_range(operands, op.getInits());
  return operands;
}

static RowWalk getWalk(ImplicitLocOpBuilder &b, PlannedSoftmaxGradOp op, const IRMapping &mapping) {
  return RowWalk(b, {mapOperand(mapping, op.getSegments()), mapOperand(mapping, op.getEntries()),
                     mapOperand(mapping, op.getY()), static_cast<int64_t>(op.getLutHeads()),
                     op.getShape()});
}

SoftmaxGradOperands::SoftmaxGradOperands(ImplicitLocOpBuilder &b, PlannedSoftmaxGradOp op,
                                         const IRMapping &mapping)
    : walk(getWalk(b, op, mapping)), y(walk.view(b, mapOperand(mapping, op.getY()))),
      dy(walk.view(b, mapOperand(mapping, op.getDy()))),
      dx(walk.view(b, mapOperand(mapping, op.getInits().front()))) {}

SmallVector<Value> SoftmaxGradOperands::list(PlannedSoftmaxGradOp op) {
  return {op.getY(), op.getDy(), op.getSegments(), op.getEntries(), op.getInits().front()};
}
