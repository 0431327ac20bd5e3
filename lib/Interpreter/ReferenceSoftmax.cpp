// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ReferenceOps.h"
#include "ReferenceRows.h"
#include "blocksparse/Execution/HostProgram.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/IR/SparseTensor.h"
#include "blocksparse/Reference/AttentionParts.h"
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

/// Returns the factor of the scores: an attribute or, where there is one, an operand; the attribute
/// is then 1.
template <typename OpTy>
static double getScale(OpTy op, ReferenceLookup lookup) {
  Value operand = op.getDynamicScale();
  return operand ? lookup(operand).tensor.at({}) : op.getScale().convertToDouble();
}

/// Returns a bound of the error of that factor.
template <typename OpTy>
static double getScaleError(OpTy op, ReferenceLookup lookup) {
  Value operand = op.getDynamicScale();
  return operand && !lookup(operand).isExact() ? lookup(operand).getErrorBound().at({}) : 0;
}

template <typename OpTy>
static ref::SoftmaxOptions makeOptions(OpTy op, ReferenceLookup lookup) {
  auto mode = [](MaskMode value) {
    return value == MaskMode::Add ? ref::MaskMode::add : ref::MaskMode::mul;
  };
  ref::SoftmaxOptions options;
  options.scale = getScale(op, lookup);
  Type element = cast<RankedTensorType>(op->getOperand(0).getType()).getElementType();
  options.accumulator =
      element.isF64() ? ::blocksparse::ElementType::f64 : ::blocksparse::ElementType::f32;
  options.causal = op.getCausal();
  options.rpe = lookupOptional(op.getRpe(), lookup);
  options.keyPaddingMask = lookupOptional(op.getKeyPaddingMask(), lookup);
  options.keyPaddingMode = mode(op.getKeyPaddingMaskMode());
  options.attentionMask = lookupOptional(op.getAttentionMask(), lookup);
  options.attentionMode = mode(op.getAttentionMaskMode());
  options.causalOffset = static_cast<int64_t>(op.getCausalOffset());
  if (std::optional<ArrayRef<int64_t>> window = op.getWindow()) {
    options.windowLeft = (*window)[0];
    options.windowRight = (*window)[1];
  }
  options.keyLengths = lookupOptional(op.getKeyLengths(), lookup);
  options.queryLengths = lookupOptional(op.getQueryLengths(), lookup);
  options.querySegments = lookupOptional(op.getQuerySegments(), lookup);
  options.keySegments = lookupOptional(op.getKeySegments(), lookup);
  if constexpr (!std::is_same_v<OpTy, SoftmaxOp>)
    if (std::optional<APFloat> cap = op.getSoftCap())
      options.softCap = cap->convertToDouble();
  if constexpr (std::is_same_v<OpTy, AttentionOp>)
    options.sink = lookupOptional(op.getSink(), lookup);
  return options;
}

static double getLargest(const HostTensor &tensor) {
  double largest = 0;
  ::blocksparse::forEachIndex(tensor.shape(), [&](std::span<const int64_t> index) {
    largest = std::fmax(largest, tensor.at(index));
  });
  return largest;
}

/// Returns the errors of the finite elements, and 0 for others: an infinite one, of a mask or of an
/// lse, is exact.
static HostTensor getFiniteErrors(const ReferenceValue &value) {
  return zipTensors(value.getErrorBound(), value.tensor,
                    [](double e, double x) { return std::isfinite(x) ? e : 0; });
}

static double getLargestError(const ReferenceValue &value) {
  return getLargest(getFiniteErrors(value));
}

/// Returns the largest error of the operands that are added to the scores, `knownLse` (may be null)
/// included.
template <typename OpTy>
static double getBiasError(OpTy op, Value knownLse, ReferenceLookup lookup) {
  double bias = 0;
  SmallVector<Value> operands{op.getRpe(), op.getKeyPaddingMask(), op.getAttentionMask(), knownLse};
  if constexpr (std::is_same_v<OpTy, AttentionOp>)
    operands.push_back(op.getSink());
  for (Value operand : operands)
    if (operand && !lookup(operand).isExact())
      bias += getLargestError(lookup(operand));
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
  ref::SoftmaxOptions options = makeOptions(op, lookup);
  options.knownLse = lookupOptional(op.getKnownLse(), lookup);
  std::optional<ref::SoftmaxResult> result =
      ref::softmax(x.getSparse(), options, error, &scale, &lseScale);
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
  double bias = getBiasError(op, op.getKnownLse(), lookup);
  double factor = std::fabs(options.scale), factorError = getScaleError(op, lookup);
  if (x.isExact() && bias == 0 && factorError == 0)
    return results;
  HostTensor scores = zipTensors(x.getErrorBound(), x.tensor, [&](double e, double own) {
    double change = factorError * (std::fabs(own) + e);
    return factor * e + (std::isfinite(change) ? change : 0);
  });
  std::optional<SoftmaxErrors> errors =
      boundSoftmax({result->values, *x.pattern, x.rows, x.cols}, scores, bias,
                   options.knownLse.has_value(), error);
  if (!errors)
    return op.emitOpError() << error;
  // A known log-sum-exp is passed on with its own error.
  HostTensor lseErrors = op.getKnownLse() ? getFiniteErrors(lookup(op.getKnownLse())) : errors->lse;
  if (failed(addError(op, 0, errors->values, results[0], &x)) ||
      (op.getLse() && failed(addError(op, 1, lseErrors, results[1]))))
    return failure();
  return results;
}

static Values evaluateOp(SoftmaxGradOp op, ReferenceLookup lookup) {
  const ReferenceValue &y = lookup(op.getY()), &dy = lookup(op.getDy());
  double scale = getScale(op, lookup);
  if (getScaleError(op, lookup) != 0)
    return op.emitOpError("expects a scale that is an argument of the function, whose error need "
                          "not be carried through the gradient, to be checked, but got the result "
                          "of ")
           << op.getDynamicScale().getDefiningOp()->getName();
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
  std::optional<ref::RowDots> dots;
  if (op.getOut()) {
    for (Value operand : {op.getOut(), op.getDout()})
      if (!lookup(operand).isExact())
        return op.emitOpError("expects out and dout that are arguments of the function, whose "
                              "errors need not be carried through the gradient, to be checked, but "
                              "got the result of ")
               << operand.getDefiningOp()->getName();
    dots = ref::rowDots(lookup(op.getOut()).tensor, lookup(op.getDout()).tensor, error);
    if (!dots)
      return op.emitOpError() << error;
  }
  std::optional<HostTensor> dlse = lookupOptional(op.getDlse(), lookup);
  if (dlse && !lookup(op.getDlse()).isExact())
    return op.emitOpError("expects dlse that is an argument of the function, whose errors need not "
                          "be carried through the gradient, to be checked, but got the result of ")
           << op.getDlse().getDefiningOp()->getName();
  std::optional<ref::SoftmaxGradResult> result = ref::softmaxGrad(
      y.getSparse(), dy.tensor, scale, rpeShape, error, &scales, dots ? &*dots : nullptr, dlse);
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
  std::optional<HostTensor> change = boundSoftmaxGrad(
      y.getMagnitude().getSparse(), dy.getMagnitude().tensor, y.getUpperMagnitude().tensor,
      dy.getUpperMagnitude().tensor, dots ? &*dots : nullptr, dlse, error);
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
  // An element of dS is at most 2 y dy, or y (dy + the largest sum), also where the factors are 0
  // but for their errors.
  double sum = dots ? ref::largestMagnitude(dots->sums) : dy.getRange();
  if (dlse)
    sum += ref::largestMagnitude(dlse->cast(::blocksparse::ElementType::f64));
  double range = y.getRange() * (dy.getRange() + sum);
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
  double bias = getBiasError(op, /*knownLse=*/Value(), lookup);
  std::optional<std::pair<HostTensor, HostTensor>> none;
  double scaleError = getScaleError(op, lookup);
  if (q.isExact() && k.isExact() && v.isExact() && bias == 0 && scaleError == 0)
    return none;
  double scale = std::fabs(getScale(op, lookup));
  ref::Transposes transposes{false, true, false};
  const ref::Pattern &pattern = *like.pattern;
  std::string error;
  // k and v with the heads of q.
  auto repeat = [&](const HostTensor &shared) {
    return ref::repeatHeads(shared, ref::countGroups(q.tensor, shared));
  };
  auto low = ref::sdd(q.getMagnitude().tensor, repeat(k.getMagnitude().tensor), pattern, scale,
                      transposes, error);
  auto high = ref::sdd(q.getUpperMagnitude().tensor, repeat(k.getUpperMagnitude().tensor), pattern,
                       scale + scaleError, transposes, error);
  ref::SoftmaxOptions options = makeOptions(op, lookup);
  options.scale = 1;
  auto scores =
      ref::sdd(q.tensor, repeat(k.tensor), pattern, getScale(op, lookup), transposes, error);
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
  std::optional<SoftmaxErrors> errors =
      boundSoftmax(p, scoreErrors, bias, /*knownLse=*/false, error);
  if (!errors)
    return op.emitOpError() << error;
  ref::SparseTensor upper = p;
  upper.values = zipTensors(p.values, errors->values, [](double x, double e) { return x + e; });
  bool skip = options.mayForbid();
  auto outLow = ref::dsd(p, repeat(v.getMagnitude().tensor), {}, {}, error, nullptr, skip);
  auto outHigh =
      ref::dsd(upper, repeat(v.getUpperMagnitude().tensor), {}, {}, error, nullptr, skip);
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

namespace {

/// Holds bounds of the errors of the gradients.
struct GradientErrors {
  HostTensor dq, dk, dv;
  std::optional<HostTensor> drpe;
};

} // namespace

/// Bounds the errors of the gradients that the errors of out and lse cause; empty if there are
/// none. An error e of lse changes P by a factor of up to exp(e), and the error of the sum of out *
/// dout of a row enters dS with the factor P.
static FailureOr<std::optional<GradientErrors>>
propagateForward(AttentionGradOp op, const ReferenceValue &like, ReferenceLookup lookup) {
  const ReferenceValue &out = lookup(op.getOut()), &lse = lookup(op.getLse());
  if (out.isExact() && lse.isExact())
    return std::optional<GradientErrors>();
  const ref::Pattern &pattern = *like.pattern;
  std::string error;
  auto fail = [&] { return op.emitOpError() << error; };
  HostTensor q = lookup(op.getQ()).getMagnitude().tensor,
             dout = lookup(op.getDout()).getMagnitude().tensor;
  // k and v with the heads of q.
  auto repeat = [&](const HostTensor &shared) {
    return ref::repeatHeads(shared, ref::countGroups(q, shared));
  };
  HostTensor k = repeat(lookup(op.getK()).getMagnitude().tensor);
  ref::Transposes transposes{false, true, false};
  auto scores = ref::sdd(lookup(op.getQ()).tensor, repeat(lookup(op.getK()).tensor), pattern, 1,
                         transposes, error);
  auto dp = ref::sdd(dout, repeat(lookup(op.getV()).getMagnitude().tensor), pattern, 1, transposes,
                     error);
  std::optional<HostTensor> dlse = lookupOptional(op.getDlse(), lookup);
  if (!scores || !dp)
    return fail();
  ref::SoftmaxOptions options = makeOptions(op, lookup);
  options.knownLse = lse.tensor;
  auto softmax = ref::softmax({*scores, pattern, like.rows, like.cols}, options, error);
  auto sizes = ref::rowDots(out.getUpperMagnitude().tensor, dout, error);
  auto changes = ref::rowDots(out.getErrorBound(), dout, error);
  if (!softmax || !sizes || !changes)
    return fail();
  // The gradient of softmax bounds P (|dP| + sum) in its scale, for both sums.
  double lseError = std::fmin(std::expm1(getLargestError(lse)), 1e300);
  ref::SparseTensor p{softmax->values, pattern, like.rows, like.cols};
  std::optional<std::vector<int64_t>> rpeShape;
  if (op.getDrpe())
    rpeShape.emplace(lookup(op.getRpe()).tensor.shape().begin(),
                     lookup(op.getRpe()).tensor.shape().end());
  double scale = getScale(op, lookup);
  ref::SoftmaxGradScales whole, change;
  HostTensor none = mapTensor(*dp, [](double) { return 0; });
  if (!ref::softmaxGrad(p, *dp, scale, rpeShape, error, &whole, &*sizes, dlse) ||
      !ref::softmaxGrad(p, none, scale, rpeShape, error, &change, &*changes))
    return fail();
  auto combine = [&](const HostTensor &w, const HostTensor &c) {
    return zipTensors(w, c, [&](double w, double c) {
      double sum = lseError * w + (1 + lseError) * c;
      return std::isnan(sum) ? 0 : sum;
    });
  };
  ref::SparseTensor ds{combine(whole.dx.magnitude, change.dx.magnitude), pattern, like.rows,
                       like.cols};
  p.values = mapTensor(p.values, [&](double x) { return std::isnan(x) ? 0 : lseError * x; });
  bool skip = options.mayForbid();
  auto dq = ref::dsd(ds, k, {}, {}, error, nullptr, skip);
  auto dk = ref::dsd(ds, q, {.a = true}, {}, error, nullptr, skip);
  auto dv = ref::dsd(p, dout, {.a = true}, {}, error, nullptr, skip);
  if (!dq || !dk || !dv)
    return fail();
  auto fit = [&](const HostTensor &full, Value operand) {
    const HostTensor &like = lookup(operand).tensor;
    return ref::sumToOperand(full, like, ref::countGroups(q, like));
  };
  GradientErrors errors{fit(*dq, op.getQ()), fit(*dk, op.getK()), fit(*dv, op.getV()), {}};
  if (op.getDrpe())
    errors.drpe = combine(whole.drpe.magnitude, change.drpe.magnitude);
  return std::optional(errors);
}

static Values evaluateOp(AttentionGradOp op, ReferenceLookup lookup) {
  Value exact[] = {op.getQ(),    op.getK(),    op.getV(),
                   op.getDout(), op.getDlse(), op.getDynamicScale()};
  for (Value operand : exact)
    if (operand && !lookup(operand).isExact())
      return op.emitOpError(
                 "expects q, k, v, dout, dlse and scale that are arguments of the function, whose "
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
  std::optional<ref::AttentionGradResult> result = ref::attentionGrad(
      q.tensor, k.tensor, v.tensor, {lookup(op.getOut()).tensor, lookup(op.getLse()).tensor},
      lookup(op.getDout()).tensor, *scores->pattern, makeOptions(op, lookup), error, &scales,
      lookupOptional(op.getDlse(), lookup));
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
  auto errors = propagateForward(op, *scores, lookup);
  if (failed(errors))
    return failure();
  if (*errors && (failed(addError(op, 0, (*errors)->dq, results[0])) ||
                  failed(addError(op, 1, (*errors)->dk, results[1])) ||
                  failed(addError(op, 2, (*errors)->dv, results[2])) ||
                  (op.getDrpe() && failed(addError(op, 3, *(*errors)->drpe, results[3])))))
    return failure();
  return results;
}

static Values evaluateOp(AttentionMergeOp op, ReferenceLookup lookup) {
  std::vector<ref::AttentionPart> parts;
  double range = 0;
  for (auto [out, lse] : llvm::zip_equal(op.getParts(), op.getLses())) {
    const ReferenceValue &part = lookup(out), &rows = lookup(lse);
    parts.push_back({part.tensor, rows.tensor, part.getErrorBound(), getFiniteErrors(rows)});
    range = std::fmax(range, part.getRange());
  }
  std::string error;
  ref::AttentionScales scales;
  ref::AttentionResult errors;
  std::optional<ref::AttentionResult> result = ref::attentionMerge(parts, error, &scales, &errors);
  if (!result)
    return op.emitOpError() << error;
  ref::ErrorModel model = getErrorModel(op.getOut().getType());
  FailureOr<ReferenceValue> out =
      makeResult(op, op.getOut().getType(), result->out, scales.out, model);
  FailureOr<ReferenceValue> lse =
      makeResult(op, op.getLse().getType(), result->lse, scales.lse, model);
  if (failed(out) || failed(lse))
    return failure();
  out->addError(errors.out);
  lse->addError(errors.lse);
  // A row of out is an average of rows of the parts.
  widenRange(*out, range);
  return std::vector<ReferenceValue>{*out, *lse};
}

static Values evaluateOp(AttentionSinkGradOp op, ReferenceLookup lookup) {
  Value operands[] = {op.getSink(), op.getOut(), op.getLse(), op.getDout(), op.getDlse()};
  for (Value operand : operands)
    if (operand && !lookup(operand).isExact())
      return op.emitOpError("expects operands that are arguments of the function, whose errors "
                            "need not be carried through the gradient, to be checked, but got the "
                            "result of ")
             << operand.getDefiningOp()->getName();
  std::string error;
  ref::ErrorScale scale;
  std::optional<HostTensor> result = ref::attentionSinkGrad(
      lookup(op.getSink()).tensor, {lookup(op.getOut()).tensor, lookup(op.getLse()).tensor},
      lookup(op.getDout()).tensor, lookupOptional(op.getDlse(), lookup), error, &scale);
  if (!result)
    return op.emitOpError() << error;
  FailureOr<ReferenceValue> dsink =
      makeResult(op, op.getDsink().getType(), *result, scale, getErrorModel(op.getOut().getType()));
  if (failed(dsink))
    return failure();
  return std::vector<ReferenceValue>{*dsink};
}

std::optional<Values> mlir::blocksparse::evaluateSoftmax(Operation *op, ReferenceLookup lookup) {
  using Result = std::optional<Values>;
  return TypeSwitch<Operation *, Result>(op)
      .Case<SoftmaxOp, SoftmaxGradOp, AttentionOp, AttentionGradOp, AttentionMergeOp,
            AttentionSinkGradOp>(
          [&](auto softmax) -> Result { return evaluateOp(softmax, lookup); })
      .Default([](Operation *) -> Result { return std::nullopt; });
}
