// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Rules of softmax and attention.

#include "GradientRules.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::blocksparse;

/// Fails with an error if the gradient of a mask that is added to the scores is asked for.
template <typename OpTy>
static LogicalResult checkMasks(OpTy op, GradientBuilder &b) {
  std::pair<Value, StringRef> masks[] = {{op.getKeyPaddingMask(), "key_padding_mask"},
                                         {op.getAttentionMask(), "attention_mask"}};
  MaskMode modes[] = {op.getKeyPaddingMaskMode(), op.getAttentionMaskMode()};
  for (auto [mask, mode] : llvm::zip_equal(masks, modes))
    if (mask.first && mode == MaskMode::Add && b.isWanted(mask.first) &&
        !isa<BlockArgument>(mask.first))
      return op->emitError("expects ")
             << mask.second
             << " that is an argument of the function, whose gradient is 0, but got the result of "
             << mask.first.getDefiningOp()->getName();
  return success();
}

/// Fails with an error if the gradient of a scale that is an operand is asked for.
template <typename OpTy>
static LogicalResult checkScale(OpTy op, GradientBuilder &b) {
  if (!op.getDynamicScale() || !b.isWanted(op.getDynamicScale()))
    return success();
  return op->emitError("expects an operand scale without a gradient, such as one that "
                       "tensor.from_elements makes of a number, but got one that depends on a "
                       "tensor that the function is differentiated by");
}

static LogicalResult addRule(SoftmaxOp op, GradientBuilder &b) {
  if (op.getKnownLse())
    return op->emitError("expects a softmax that normalises its rows, to differentiate it, but got "
                         "one with known_lse");
  if (failed(checkMasks(op, b)) || failed(checkScale(op, b)))
    return failure();
  Value y = b.getPrimal(op.getY()), dy = b.getCotangent(op.getY());
  Value dlse = op.getLse() ? b.getCotangent(op.getLse()) : Value();
  // Where only lse is used, the cotangent of y is 0.
  if (!dy)
    dy = createZeros(b, y);
  bool wantsRpe = op.getRpe() && b.isWanted(op.getRpe());
  auto gradient = SoftmaxGradOp::create(
      b, op.getX().getType(), wantsRpe ? op.getRpe().getType() : Type(), y, dy, /*out=*/Value(),
      /*dout=*/Value(), dlse, op.getDynamicScale() ? b.getPrimal(op.getDynamicScale()) : Value(),
      op.getScale(), ScheduleAttr());
  if (b.isWanted(op.getX()))
    b.addCotangent(op.getX(), gradient.getDx());
  if (wantsRpe)
    b.addCotangent(op.getRpe(), gradient.getDrpe());
  return success();
}

static LogicalResult addRule(AttentionOp op, GradientBuilder &b) {
  if (failed(checkMasks(op, b)) || failed(checkScale(op, b)))
    return failure();
  auto primal = [&](Value value) { return value ? b.getPrimal(value) : Value(); };
  Value q = b.getPrimal(op.getQ()), k = b.getPrimal(op.getK()), v = b.getPrimal(op.getV());
  Value out = b.getPrimal(op.getOut()), lse = b.getPrimal(op.getLse());
  Value dout = b.getCotangent(op.getOut()), dlse = b.getCotangent(op.getLse());
  if (!dout)
    dout = createZeros(b, out);
  Type element = op.getQ().getType().getElementType();
  bool wantsRpe = op.getRpe() && b.isWanted(op.getRpe());
  auto gradient = AttentionGradOp::create(
      b, op.getQ().getType(), op.getK().getType(), op.getV().getType(),
      wantsRpe ? op.getRpe().getType() : Type(), q, k, v, out, lse, asElement(b, dout, element),
      primal(op.getRpe()), primal(op.getKeyPaddingMask()), primal(op.getAttentionMask()),
      primal(op.getKeyLengths()), primal(op.getQueryLengths()), primal(op.getQuerySegments()),
      primal(op.getKeySegments()), dlse, primal(op.getDynamicScale()), op.getLayout(),
      op.getScale(), op.getCausal(), op.getCausalOffset(), op.getWindowAttr(),
      op.getKeyPaddingMaskMode(), op.getAttentionMaskMode(), op.getSoftCapAttr(),
      op.getScoreElementAttr(), ScheduleAttr());
  std::pair<Value, Value> gradients[] = {
      {op.getQ(), gradient.getDq()}, {op.getK(), gradient.getDk()}, {op.getV(), gradient.getDv()}};
  for (auto [value, own] : gradients)
    if (b.isWanted(value))
      b.addCotangent(value, own);
  if (wantsRpe)
    b.addCotangent(op.getRpe(), gradient.getDrpe());
  if (op.getSink() && b.isWanted(op.getSink()))
    b.addCotangent(op.getSink(),
                   AttentionSinkGradOp::create(b, op.getSink().getType(), b.getPrimal(op.getSink()),
                                               out, lse, dout, dlse));
  return success();
}

std::optional<LogicalResult> mlir::blocksparse::addRowGradients(Operation *op, GradientBuilder &b) {
  using Result = std::optional<LogicalResult>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<SoftmaxOp, AttentionOp>([&](auto own) -> Result { return addRule(own, b); })
      .Default([](Operation *) -> Result { return std::nullopt; });
}
