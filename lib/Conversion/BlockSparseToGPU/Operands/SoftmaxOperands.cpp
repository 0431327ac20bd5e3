// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SoftmaxOperands.h"

#include "../../Device/DeviceMath.h"
#include "../../Device/Elements.h"
#include "../../Device/Loops.h"
#include "../KernelBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

/// Returns the view of a log-sum-exp, an operand on the host; none if it is null.
static std::optional<DenseView> getLogSumExp(ImplicitLocOpBuilder &b, Value lse,
                                             const IRMapping &mapping) {
  if (!lse)
    return std::nullopt;
  int64_t rank = cast<MemRefType>(lse.getType()).getRank();
  return DenseView::get(b, mapOperand(mapping, lse), DenseAxes::ofRowVectors(rank));
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
    : lse(getLogSumExp(b, op.getInits().size() < 2 ? Value() : op.getInits()[1], mapping)),
      knownLse(getLogSumExp(b, op.getKnownLse(), mapping)),
      walk(getWalk(b, op, mapping, lse ? lse : knownLse)),
      x(walk.view(b, mapOperand(mapping, op.getX()))),
      y(walk.view(b, mapOperand(mapping, op.getInits().front()))),
      positions(b, op, [&](Value operand) { return mapOperand(mapping, operand); }),
      dynamicScale(mapOperand(mapping, op.getDynamicScale())) {
  if (Value operand = mapOperand(mapping, op.getRpe()))
    rpe = DenseView::get(b, operand);
  if (Value operand = mapOperand(mapping, op.getKeyPaddingMask()))
    masks.push_back({getColumnVector(b, operand), op.getKeyPaddingMaskMode()});
  if (Value operand = mapOperand(mapping, op.getAttentionMask()))
    masks.push_back({DenseView::get(b, operand), op.getAttentionMaskMode()});
}

SmallVector<Value> SoftmaxOperands::list(PlannedSoftmaxOp op) {
  SmallVector<Value> operands = presentOperands(
      {op.getX(), op.getSegments(), op.getEntries(), op.getRpe(), op.getKeyPaddingMask(),
       op.getAttentionMask(), op.getKnownLse(), op.getKeyLengths(), op.getQueryLengths(),
       op.getQuerySegments(), op.getKeySegments(), op.getDynamicScale()});
  llvm::append_range(operands, op.getInits());
  return operands;
}

SoftmaxOperands::KnownRow SoftmaxOperands::emitKnownRow(ImplicitLocOpBuilder &b,
                                                        const RowWalk::Row &row, Value inside,
                                                        Type type) const {
  Value known = emitChoice(
      b, inside,
      [&](ImplicitLocOpBuilder &b) {
        MatrixView matrix = knownLse->matrix(b, row.batch, row.head);
        return convertElement(b, matrix.load(b, row.row, indexConstant(b, 0)), type);
      },
      [&](ImplicitLocOpBuilder &b) { return zeroElement(b, type); });
  constexpr double infinity = std::numeric_limits<double>::infinity();
  // A row whose lse is -infinity allows nothing: with a shift of infinity every power is 0.
  Value empty =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, known, floatConstant(b, type, -infinity));
  return {known, arith::SelectOp::create(b, empty, floatConstant(b, type, infinity), known)};
}

void SoftmaxOperands::storeLogSumExp(ImplicitLocOpBuilder &b, const RowWalk::Row &row,
                                     Value isWriter, Value result) const {
  emitIf(b, isWriter, [&](ImplicitLocOpBuilder &b) {
    lse->matrix(b, row.batch, row.head)
        .store(b, convertElement(b, result, lse->elementType()), row.row, indexConstant(b, 0));
  });
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
      dx(walk.view(b, mapOperand(mapping, op.getInits().front()))),
      dlse(getLogSumExp(b, op.getDlse(), mapping)),
      dynamicScale(mapOperand(mapping, op.getDynamicScale())) {
  if (!op.getOut())
    return;
  out = DenseView::get(b, mapOperand(mapping, op.getOut()));
  dout = DenseView::get(b, mapOperand(mapping, op.getDout()));
}

SmallVector<Value> SoftmaxGradOperands::list(PlannedSoftmaxGradOp op) {
  return presentOperands({op.getY(), op.getDy(), op.getSegments(), op.getEntries(), op.getOut(),
                          op.getDout(), op.getDlse(), op.getDynamicScale(), op.getInits().front()});
}

Value SoftmaxGradOperands::subtractLogSumExp(ImplicitLocOpBuilder &b, const RowWalk::Row &row,
                                             Value inside, Value dot) const {
  if (!dlse)
    return dot;
  return emitChoice(
      b, inside,
      [&](ImplicitLocOpBuilder &b) -> Value {
        Value loaded = dlse->matrix(b, row.batch, row.head).load(b, row.row, indexConstant(b, 0));
        return subNumbers(b, dot, convertElement(b, loaded, dot.getType()));
      },
      [&](ImplicitLocOpBuilder &) { return dot; });
}

Value SoftmaxGradOperands::emitPartOfDot(ImplicitLocOpBuilder &b, const RowWalk::Row &row,
                                         Value lane, Value lanes, Type type) const {
  MatrixView left = out->matrix(b, row.batch, row.head);
  MatrixView right = dout->matrix(b, row.batch, row.head);
  auto load = [&](ImplicitLocOpBuilder &b, const MatrixView &matrix, Value col) {
    return convertElement(b, matrix.load(b, row.row, col), type);
  };
  return emitFold(b, lane, left.cols, lanes, zeroElement(b, type),
                  [&](ImplicitLocOpBuilder &b, Value col, Value sum) {
                    return fusedMultiplyAdd(b, load(b, left, col), load(b, right, col), sum);
                  });
}
