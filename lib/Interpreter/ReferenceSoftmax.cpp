// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ReferenceOps.h"
#include "ReferenceRows.h"
#include "blocksparse/Execution/HostProgram.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/IR/SparseTensor.h"
#include "blocksparse/Reference/Attention.h"
#include "blocksparse/Reference/Matmul.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::HostTensor;
namespace ref = ::blocksparse::ref;

using Values = FailureOr<std::vector<ReferenceValue>>;

static std::optional<HostTensor> lookupOptional(Value value, ReferenceLookup lookup) {
  return value ? std::optional(lookup(value).tensor) : std::nullopt;
}

template <typename OpTy>
static ref::SoftmaxOptions makeOptions(OpTy op, ReferenceLookup lookup) {
  auto mode = [](MaskMode value) {
    return value == MaskMode::Add ? ref::MaskMode::add : ref::MaskMode::mul;
  };
  ref::SoftmaxOptions options;
  options.scale = op.getScale().convertToDouble();
  options.causal = op.getCausal();
  options.rpe = lookupOptional(op.getRpe(), lookup);
  options.keyPaddingMask = lookupOptional(op.getKeyPaddingMask(), lookup);
  options.keyPaddingMode = mode(op.getKeyPaddingMaskMode());
  options.attentionMask = lookupOptional(op.getAttentionMask(), lookup);
  options.attentionMode = mode(op.getAttentionMaskMode());
  return options;
}

static double getLargest(const HostTensor &tensor) {
  double largest = 0;
  ::blocksparse::forEachIndex(tensor.shape(), [&](std::span<const int64_t> index) {
    largest = std::fmax(largest, tensor.at(index));
  });
  return largest;
}

/// Returns the largest error of the operands that are added to the scores.
template <typename OpTy>
static double getBiasError(OpTy op, ReferenceLookup lookup) {
  double bias = 0;
  for (Value operand : {op.getRpe(), op.getKeyPaddingMask(), op.getAttentionMask()})
    if (operand && !lookup(operand).isExact())
      bias += getLargest(lookup(operand).getErrorBound());
  return bias;
}

/// Adds `error` (a reference result) to the error of result `index`.
static LogicalResult addError(Operation *op, unsigned index, const HostTensor &error,
                              ReferenceValue &value, const ReferenceValue *like = nullptr) {
  FailureOr<ReferenceValue> fitted =
      makeResult(op, op->getResult(index).getType(), error, std::nullopt, value.model, like);
  if (failed(fitted))
    return failure();
  value.addError(fitted->tensor);
  return success();
}

/// Makes the range of an inexact value no smaller than `range`.
static void widenRange(ReferenceValue &value, double range) {
  value.scale->range = std::fmax(value.getRange(), range);
}

static Values evaluateOp(SoftmaxOp op, ReferenceLookup lookup) {
  const ReferenceValue &x = lookup(op.getX());
  std::string error;
  ref::ErrorScale scale, lseScale;
  ref::ErrorModel model = getErrorModel(op.getX().getType());
  std::optional<ref::SoftmaxResult> result =
      ref::softmax(x.getSparse(), makeOptions(op, lookup), error, &scale, &lseScale);
  if (!result)
    return op.emitOpError() << error;
  FailureOr<ReferenceValue> y =
      makeResult(op, op.getY().getType(), result->values, scale, model, &x);
  if (failed(y))
    return failure();
  std::vector<ReferenceValue> results = {*y};
  if (op.getLse()) {
    FailureOr<ReferenceValue> lse =
        makeResult(op, op.getLse().getType(), result->lse, lseScale, model);
    if (failed(lse))
      return failure();
    results.push_back(*lse);
  }
  double bias = getBiasError(op, lookup);
  if (x.isExact() && bias == 0)
    return results;
  double factor = std::fabs(op.getScale().convertToDouble());
  HostTensor scores = mapTensor(x.getErrorBound(), [&](double e) { return factor * e; });
  std::optional<SoftmaxErrors> errors =
      boundSoftmax({result->values, *x.pattern, x.rows, x.cols}, scores, bias, error);
  if (!errors)
    return op.emitOpError() << error;
  if (failed(addError(op, 0, errors->values, results[0], &x)) ||
      (op.getLse() && failed(addError(op, 1, errors->lse, results[1]))))
    return failure();
  return results;
}

static Values evaluateOp(SoftmaxGradOp op, ReferenceLookup lookup) {
  const ReferenceValue &y = lookup(op.getY()), &dy = lookup(op.getDy());
  double scale = op.getScale().convertToDouble();
  std::string error;
  ref::SoftmaxGradScales scales;
  ref::ErrorModel model = getErrorModel(op.getY().getType());
  std::optional<std::vector<int64_t>> rpeShape;
  if (op.getDrpe()) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(op.getDrpe().getType()).getShape();
    rpeShape.emplace(shape.begin(), shape.end());
    if (llvm::any_of(shape, ShapedType::isDynamic))
      return op.emitOpError("expects a static shape of drpe to be checked, but got ")
             << op.getDrpe().getType();
  }
  std::optional<ref::SoftmaxGradResult> result =
      ref::softmaxGrad(y.getSparse(), dy.tensor, scale, rpeShape, error, &scales);
  if (!result)
    return op.emitOpError() << error;
  FailureOr<ReferenceValue> dx =
      makeResult(op, op.getDx().getType(), result->dx, scales.dx, model, &y);
  if (failed(dx))
    return failure();
  std::vector<ReferenceValue> results = {*dx};
  if (op.getDrpe()) {
    FailureOr<ReferenceValue> drpe =
        makeResult(op, op.getDrpe().getType(), *result->drpe, scales.drpe, model);
    if (failed(drpe))
      return failure();
    results.push_back(*drpe);
  }
  if (y.isExact() && dy.isExact())
    return results;
  std::optional<HostTensor> change =
      boundSoftmaxGrad(y.getMagnitude().getSparse(), dy.getMagnitude().tensor,
                       y.getUpperMagnitude().tensor, dy.getUpperMagnitude().tensor, error);
  if (!change)
    return op.emitOpError() << error;
  HostTensor scaled = mapTensor(*change, [&](double e) { return std::fabs(scale) * e; });
  if (failed(addError(op, 0, scaled, results[0], &y)))
    return failure();
  if (op.getDrpe()) {
    std::optional<HostTensor> sums =
        reduceValues({*change, *y.pattern, y.rows, y.cols}, *rpeShape, error);
    if (!sums)
      return op.emitOpError() << error;
    results[1].addError(*sums);
  }
  // An element of dS is at most 2 y dy, also where the factors are 0 but for their errors.
  double range = 2 * y.getRange() * dy.getRange();
  widenRange(results[0], std::fabs(scale) * range);
  if (op.getDrpe())
    widenRange(results[1], range);
  return results;
}

/// Bounds the errors of out and lse that the errors of q, k, v and the bias cause; empty if there
/// are none.
static FailureOr<std::optional<std::pair<HostTensor, HostTensor>>>
propagateAttention(AttentionOp op, const ReferenceValue &like, ReferenceLookup lookup) {
  const ReferenceValue &q = lookup(op.getQ()), &k = lookup(op.getK()), &v = lookup(op.getV());
  double bias = getBiasError(op, lookup);
  std::optional<std::pair<HostTensor, HostTensor>> none;
  if (q.isExact() && k.isExact() && v.isExact() && bias == 0)
    return none;
  double scale = std::fabs(op.getScale().convertToDouble());
  ref::Transposes transposes{false, true, false};
  const ref::Pattern &pattern = *like.pattern;
  std::string error;
  auto low =
      ref::sdd(q.getMagnitude().tensor, k.getMagnitude().tensor, pattern, scale, transposes, error);
  auto high = ref::sdd(q.getUpperMagnitude().tensor, k.getUpperMagnitude().tensor, pattern, scale,
                       transposes, error);
  ref::SoftmaxOptions options = makeOptions(op, lookup);
  options.scale = 1;
  auto scores =
      ref::sdd(q.tensor, k.tensor, pattern, op.getScale().convertToDouble(), transposes, error);
  if (!low || !high || !scores)
    return op.emitOpError() << error;
  HostTensor scoreErrors = zipTensors(*high, *low, [](double h, double l) {
    double change = h - l + std::ldexp(h, -40);
    return std::isnan(change) ? 0 : change;
  });
  auto softmax = ref::softmax({*scores, pattern, like.rows, like.cols}, options, error);
  if (!softmax)
    return op.emitOpError() << error;
  ref::SparseTensor p{softmax->values, pattern, like.rows, like.cols};
  std::optional<SoftmaxErrors> errors = boundSoftmax(p, scoreErrors, bias, error);
  if (!errors)
    return op.emitOpError() << error;
  ref::SparseTensor upper = p;
  upper.values = zipTensors(p.values, errors->values, [](double x, double e) { return x + e; });
  auto outLow = ref::dsd(p, v.getMagnitude().tensor, {}, {}, error);
  auto outHigh = ref::dsd(upper, v.getUpperMagnitude().tensor, {}, {}, error);
  if (!outLow || !outHigh)
    return op.emitOpError() << error;
  HostTensor out = zipTensors(*outHigh, *outLow, [](double h, double l) {
    double change = h - l + std::ldexp(h, -40);
    return std::isnan(change) ? 0 : change;
  });
  return std::optional(std::pair(out, errors->lse));
}

/// Returns the pattern of the scores: the layout, with the heads of lse, and its M rows and N
/// columns.
template <typename OpTy>
static FailureOr<ReferenceValue> makeScores(OpTy op, const ReferenceValue &q,
                                            const ReferenceValue &k) {
  auto rankedQ = cast<RankedTensorType>(op.getQ().getType());
  auto lse = cast<RankedTensorType>(op.getLse().getType());
  SmallVector<int64_t> shape(lse.getShape());
  shape.push_back(k.tensor.dim(k.tensor.rank() - 2));
  shape[shape.size() - 2] = q.tensor.dim(q.tensor.rank() - 2);
  auto layout = cast<Attribute>(op.getLayout());
  return makePattern(op, RankedTensorType::get(shape, rankedQ.getElementType(), layout), nullptr);
}

/// Returns the error model of attention. The probabilities (and their gradient) are stored in the
/// element type of q.
template <typename OpTy>
static ref::ErrorModel getAttentionModel(OpTy op) {
  ref::ErrorModel model = getErrorModel(op.getQ().getType());
  double unit = ::blocksparse::unitRoundoff(
      *getHostElementType(cast<RankedTensorType>(op.getQ().getType()).getElementType()));
  if (unit > model.accumulateRoundoff)
    model.operandRoundoff = unit;
  return model;
}

/// Returns the smallest normal number of the element type of q.
template <typename OpTy>
static double getSmallestNormal(OpTy op) {
  auto type = *getHostElementType(cast<RankedTensorType>(op.getQ().getType()).getElementType());
  return ::blocksparse::smallestPositive(type) / (2 * ::blocksparse::unitRoundoff(type));
}

static Values evaluateOp(AttentionOp op, ReferenceLookup lookup) {
  const ReferenceValue &q = lookup(op.getQ()), &k = lookup(op.getK()), &v = lookup(op.getV());
  FailureOr<ReferenceValue> scores = makeScores(op, q, k);
  if (failed(scores))
    return failure();
  std::string error;
  ref::AttentionScales scales;
  scales.smallestNormal = getSmallestNormal(op);
  std::optional<ref::AttentionResult> result = ref::attention(
      q.tensor, k.tensor, v.tensor, *scores->pattern, makeOptions(op, lookup), error, &scales);
  if (!result)
    return op.emitOpError() << error;
  FailureOr<ReferenceValue> out =
      makeResult(op, op.getOut().getType(), result->out, scales.out, getAttentionModel(op));
  FailureOr<ReferenceValue> lse = makeResult(op, op.getLse().getType(), result->lse, scales.lse,
                                             getErrorModel(op.getQ().getType()));
  if (failed(out) || failed(lse))
    return failure();
  std::vector<ReferenceValue> results = {*out, *lse};
  auto errors = propagateAttention(op, *scores, lookup);
  if (failed(errors))
    return failure();
  if (*errors && (failed(addError(op, 0, (*errors)->first, results[0])) ||
                  failed(addError(op, 1, (*errors)->second, results[1]))))
    return failure();
  // A row of out is an average of rows of v.
  widenRange(results[0], v.getRange());
  return results;
}

static Values evaluateOp(AttentionGradOp op, ReferenceLookup lookup) {
  for (Value operand : {op.getQ(), op.getK(), op.getV(), op.getDout()})
    if (!lookup(operand).isExact())
      return op.emitOpError("expects q, k, v and dout that are arguments of the function, whose "
                            "errors need not be carried through the gradient, to be checked, but "
                            "got the result of ")
             << operand.getDefiningOp()->getName();
  const ReferenceValue &q = lookup(op.getQ()), &k = lookup(op.getK()), &v = lookup(op.getV());
  FailureOr<ReferenceValue> scores = makeScores(op, q, k);
  if (failed(scores))
    return failure();
  std::string error;
  ref::AttentionGradScales scales;
  scales.smallestNormal = getSmallestNormal(op);
  std::optional<ref::AttentionGradResult> result =
      ref::attentionGrad(q.tensor, k.tensor, v.tensor, lookup(op.getDout()).tensor,
                         *scores->pattern, makeOptions(op, lookup), error, &scales);
  if (!result)
    return op.emitOpError() << error;
  std::vector<ReferenceValue> results;
  auto append = [&](const HostTensor &tensor, const ref::ErrorScale &scale) {
    FailureOr<ReferenceValue> value = makeResult(op, op->getResult(results.size()).getType(),
                                                 tensor, scale, getAttentionModel(op));
    if (succeeded(value))
      results.push_back(*value);
    return LogicalResult(value);
  };
  if (failed(append(result->dq, scales.dq)) || failed(append(result->dk, scales.dk)) ||
      failed(append(result->dv, scales.dv)) ||
      (op.getDrpe() && failed(append(*result->drpe, scales.drpe))))
    return failure();
  return results;
}

std::optional<Values> mlir::blocksparse::evaluateSoftmax(Operation *op, ReferenceLookup lookup) {
  using Result = std::optional<Values>;
  return TypeSwitch<Operation *, Result>(op)
      .Case<SoftmaxOp, SoftmaxGradOp, AttentionOp, AttentionGradOp>(
          [&](auto softmax) -> Result { return evaluateOp(softmax, lookup); })
      .Default([](Operation *) -> Result { return std::nullopt; });
}
