// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AttentionViews.h"

#include "Device/DeviceMath.h"
#include "Device/Elements.h"
#include "Device/Loops.h"
#include "blocksparse/IR/SparseTensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <limits>

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

static int64_t countSharing(Value q, Value operand) {
  return countSharingHeads(cast<ShapedType>(q.getType()), cast<ShapedType>(operand.getType()));
}

static AttentionTerm::Kind kindOf(MaskMode mode) {
  return mode == MaskMode::Add ? AttentionTerm::AddMask : AttentionTerm::MulMask;
}

template <typename OpTy>
AttentionMasks::AttentionMasks(ImplicitLocOpBuilder &b, OpTy op, function_ref<Value(Value)> map,
                               bool transposed)
    : positions(b, op, map, transposed) {
  auto add = [&](AttentionTerm::Kind kind, const DenseView &view) {
    operands.push_back({kind, view, knownIndex(view.rows()) == 1});
  };
  if (Value rpe = map(op.getRpe()))
    add(AttentionTerm::Bias, DenseView::get(b, rpe));
  if (Value mask = map(op.getKeyPaddingMask()))
    add(kindOf(op.getKeyPaddingMaskMode()), getColumnVector(b, mask));
  if (Value mask = map(op.getAttentionMask()))
    add(kindOf(op.getAttentionMaskMode()), DenseView::get(b, mask));
}

template AttentionMasks::AttentionMasks(ImplicitLocOpBuilder &, PlannedAttentionOp,
                                        function_ref<Value(Value)>, bool);
template AttentionMasks::AttentionMasks(ImplicitLocOpBuilder &, PlannedAttentionGradOp,
                                        function_ref<Value(Value)>, bool);

SmallVector<AttentionTerm> AttentionMasks::getTerms(ImplicitLocOpBuilder &b, Value batch,
                                                    Value head) const {
  SmallVector<AttentionTerm> terms;
  for (const Operand &operand : operands)
    terms.push_back({operand.kind, operand.view.matrix(b, batch, head), operand.isOneRow});
  return terms;
}

template <typename OpTy>
AttentionViews::AttentionViews(ImplicitLocOpBuilder &b, OpTy op, function_ref<Value(Value)> map)
    : AttentionMasks(b, op, map), q(DenseView::get(b, map(op.getQ()))),
      k(DenseView::get(b, map(op.getK()))), v(DenseView::get(b, map(op.getV()))),
      out(DenseView::get(b, map(op.getOut()))),
      lse(DenseView::get(
          b, map(op.getLse()),
          DenseAxes::ofRowVectors(cast<MemRefType>(op.getLse().getType()).getRank()))),
      sharingKeys(countSharing(op.getQ(), op.getK())),
      sharingValues(countSharing(op.getQ(), op.getV())) {
  if constexpr (std::is_same_v<OpTy, PlannedAttentionOp>)
    sink = map(op.getSink());
}

template AttentionViews::AttentionViews(ImplicitLocOpBuilder &, PlannedAttentionOp,
                                        function_ref<Value(Value)>);
template AttentionViews::AttentionViews(ImplicitLocOpBuilder &, PlannedAttentionGradOp,
                                        function_ref<Value(Value)>);

/// Returns the head of keys or values that `sharing` heads of queries in a row share.
static Value sharedHead(ImplicitLocOpBuilder &b, Value head, int64_t sharing) {
  if (sharing == 1)
    return head;
  return b.createOrFold<arith::DivUIOp>(head, indexConstant(b, sharing));
}

MatrixView AttentionViews::getQueries(ImplicitLocOpBuilder &b, Value batch, Value head) const {
  return q.matrix(b, batch, head);
}

MatrixView AttentionViews::getKeys(ImplicitLocOpBuilder &b, Value batch, Value head) const {
  return k.matrix(b, batch, sharedHead(b, head, sharingKeys));
}

MatrixView AttentionViews::getValues(ImplicitLocOpBuilder &b, Value batch, Value head) const {
  return v.matrix(b, batch, sharedHead(b, head, sharingValues));
}

Value AttentionViews::getSink(ImplicitLocOpBuilder &b, Value head) const {
  if (!sink)
    return {};
  return memref::LoadOp::create(b, sink, ValueRange{head});
}

Value mlir::blocksparse::addTerms(ImplicitLocOpBuilder &b, ArrayRef<AttentionTerm> terms,
                                  Value score, Value row, Value col) {
  for (const AttentionTerm &term : terms) {
    if (term.kind == AttentionTerm::MulMask)
      continue;
    Value element = convertElement(b, term.matrix.load(b, row, col), score.getType());
    score = addNumbers(b, score, element);
  }
  return score;
}

/// Returns i1: an element of a mask of mode mul forbids. The comparison is in the type of the mask,
/// because a small value must not round to 0; targets cannot compare 8-bit floats.
static Value isZeroOfMask(ImplicitLocOpBuilder &b, Value element, Type accumulator) {
  Type type = element.getType();
  if (isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8)
    element = convertElement(b, element, accumulator);
  return isZero(b, element);
}

Value mlir::blocksparse::isAllowedByTerms(ImplicitLocOpBuilder &b, ArrayRef<AttentionTerm> terms,
                                          Type accumulator, Value row, Value col) {
  Value forbidden;
  for (const AttentionTerm &term : terms) {
    if (term.kind == AttentionTerm::Bias)
      continue;
    Value element = term.matrix.load(b, row, col), hit;
    if (term.kind == AttentionTerm::MulMask) {
      hit = isZeroOfMask(b, element, accumulator);
    } else {
      Value number = convertElement(b, element, accumulator);
      Value lowest = floatConstant(b, accumulator, -std::numeric_limits<double>::infinity());
      hit = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, number, lowest);
    }
    forbidden = forbidden ? arith::OrIOp::create(b, forbidden, hit).getResult() : hit;
  }
  if (!forbidden)
    return {};
  Value yes = arith::ConstantOp::create(b, b.getIntegerAttr(forbidden.getType(), 1));
  return arith::XOrIOp::create(b, forbidden, yes);
}
