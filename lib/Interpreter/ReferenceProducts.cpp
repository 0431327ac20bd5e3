// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ReferenceOps.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/Reference/Matmul.h"
#include "blocksparse/Reference/ScatterMM.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::HostTensor;
namespace ref = ::blocksparse::ref;

namespace {

/// Selects how a product is evaluated: unchanged, or on magnitudes, with |alpha|, |beta| and
/// without activation, which makes it monotone in every operand.
enum class Mode { Plain, Magnitude };

using Evaluation = std::optional<HostTensor>;

/// Returns a factor as the evaluation in `mode` uses it: its magnitude, but in the plain one.
double factor(const APFloat &value, Value operand, ReferenceLookup lookup, Mode mode) {
  double number = getFactor(value, operand, lookup);
  return mode == Mode::Plain ? number : std::fabs(number);
}

ref::Activation toReference(ActivationAttr attribute) {
  if (!attribute)
    return ref::Activation::none;
  return *ref::parseActivation(stringifyActivationKind(attribute.getKind()));
}

/// Returns the largest factor by which an activation can enlarge an error. GELU in all its forms
/// and SiLU have slopes below 1.13 (at x about 1.4 and 2.4); the others at most 1 or the slope of
/// leaky_relu.
double getLipschitz(ActivationAttr attribute) {
  if (!attribute)
    return 1;
  double slope = attribute.getKind() == ActivationKind::LeakyRelu
                     ? std::fabs(attribute.getSlope().convertToDouble())
                     : 1.13;
  return std::fmax(1, slope);
}

std::optional<HostTensor> lookupOptional(Value value, ReferenceLookup lookup) {
  return value ? std::optional(lookup(value).tensor) : std::nullopt;
}

/// Returns the epilogue of dsd, dds and matmul.
template <typename OpTy>
ref::Epilogue makeEpilogue(OpTy op, ReferenceLookup lookup, Mode mode) {
  ref::Epilogue epilogue;
  epilogue.alpha = factor(op.getAlpha(), op.getDynamicAlpha(), lookup, mode);
  epilogue.bias = lookupOptional(op.getBias(), lookup);
  epilogue.residual = lookupOptional(op.getResidual(), lookup);
  if (mode == Mode::Plain)
    epilogue.activation = toReference(op.getActivationAttr());
  if (op.getActivationAttr())
    epilogue.slope = op.getActivationAttr().getSlope().convertToDouble();
  return epilogue;
}

Evaluation evaluate(SDDOp op, const ref::Pattern &pattern, ReferenceLookup lookup, Mode mode,
                    std::string &error, ref::ErrorScale *scale) {
  return ref::sdd(lookup(op.getA()).tensor, lookup(op.getB()).tensor, pattern,
                  factor(op.getAlpha(), op.getDynamicAlpha(), lookup, mode),
                  {op.getTransposeA(), op.getTransposeB(), op.getTransposeOut()}, error, scale);
}

Evaluation evaluate(DSDOp op, ReferenceLookup lookup, Mode mode, std::string &error,
                    ref::ErrorScale *scale) {
  return ref::dsd(lookup(op.getA()).getSparse(), lookup(op.getB()).tensor,
                  {op.getTransposeA(), op.getTransposeB(), op.getTransposeOut()},
                  makeEpilogue(op, lookup, mode), error, scale, op.getSkipZeros());
}

Evaluation evaluate(DDSOp op, ReferenceLookup lookup, Mode mode, std::string &error,
                    ref::ErrorScale *scale) {
  return ref::dds(lookup(op.getA()).tensor, lookup(op.getB()).getSparse(),
                  {op.getTransposeA(), op.getTransposeB(), op.getTransposeOut()},
                  makeEpilogue(op, lookup, mode), error, scale);
}

Evaluation evaluate(BsrAddmmOp op, ReferenceLookup lookup, Mode mode, std::string &error,
                    ref::ErrorScale *scale) {
  ref::Epilogue epilogue = makeEpilogue(op, lookup, mode);
  epilogue.beta = op.getInput() ? factor(op.getBeta(), op.getDynamicBeta(), lookup, mode) : 0;
  epilogue.input = lookupOptional(op.getInput(), lookup);
  epilogue.leftAlpha = lookupOptional(op.getLeftAlpha(), lookup);
  epilogue.rightAlpha = lookupOptional(op.getRightAlpha(), lookup);
  return ref::bsrAddmm(lookup(op.getSparse()).getSparse(), lookup(op.getDense()).tensor, epilogue,
                       error, scale);
}

Evaluation evaluate(SampledAddmmOp op, ReferenceLookup lookup, Mode mode, std::string &error,
                    ref::ErrorScale *scale) {
  return ref::sampledAddmm(lookup(op.getSparse()).getSparse(), lookup(op.getA()).tensor,
                           lookup(op.getB()).tensor,
                           factor(op.getAlpha(), op.getDynamicAlpha(), lookup, mode),
                           factor(op.getBeta(), op.getDynamicBeta(), lookup, mode),
                           {op.getTransposeA(), op.getTransposeB(), false}, error, scale);
}

Evaluation evaluate(MatmulOp op, ReferenceLookup lookup, Mode mode, std::string &error,
                    ref::ErrorScale *scale) {
  static constexpr ref::MatmulForm forms[] = {ref::MatmulForm::linear, ref::MatmulForm::score,
                                              ref::MatmulForm::context};
  return ref::matmul(lookup(op.getA()).tensor, lookup(op.getB()).tensor,
                     forms[static_cast<int>(op.getForm())],
                     {op.getTransposeA(), op.getTransposeB(), false},
                     makeEpilogue(op, lookup, mode), error, scale);
}

Evaluation evaluate(ScatterMMOp op, ReferenceLookup lookup, Mode, std::string &error,
                    ref::ErrorScale *scale) {
  const HostTensor &blocks = lookup(op.getBlocks()).tensor;
  const HostTensor &others = lookup(op.getOthers()).tensor;
  const HostTensor &accumulators = lookup(op.getAccumulators()).tensor;
  SmallVector<HostTensor> indices;
  for (Value index : op.getIndices())
    indices.push_back(lookup(index).tensor);
  if (op.getFormat() == ScatterFormat::ScatterMM)
    return ref::scatterMM(blocks, others, accumulators, indices[0], indices[1], error, scale);
  ref::StridedIndices strided;
  strided.cIndices = indices[0];
  strided.rOffsets = indices[1];
  strided.splitN = op.getSplitN();
  if (op.getFormat() == ScatterFormat::BsrStridedMM) {
    strided.pOffsets = indices[2];
    strided.qOffsets = indices[3];
    return ref::bsrStridedMM(blocks, others, accumulators, strided, error, scale);
  }
  strided.qOffsets = indices[2];
  return ref::bsrStridedMMCompressed(blocks, others, accumulators, strided, error, scale);
}

using Evaluator =
    llvm::function_ref<Evaluation(ReferenceLookup, Mode, std::string &, ref::ErrorScale *)>;

/// Bounds the change of a product that the errors of its operands can cause: F(|x| + d) - F(|x|).
/// Empty if every operand is exact.
std::optional<HostTensor> propagate(Operation *op, ReferenceLookup lookup, double lipschitz,
                                    Evaluator evaluator, std::string &error) {
  llvm::DenseMap<Value, ReferenceValue> lower, upper;
  bool exact = true;
  for (Value operand : op->getOperands()) {
    const ReferenceValue &value = lookup(operand);
    exact &= value.isExact();
    lower.try_emplace(operand, value.getMagnitude());
    upper.try_emplace(operand, value.getUpperMagnitude());
  }
  if (exact)
    return std::nullopt;
  auto in = [](llvm::DenseMap<Value, ReferenceValue> &map) {
    return [&map](Value value) -> const ReferenceValue & { return map.find(value)->second; };
  };
  Evaluation low = evaluator(in(lower), Mode::Magnitude, error, nullptr);
  Evaluation high = evaluator(in(upper), Mode::Magnitude, error, nullptr);
  if (!low || !high)
    return std::nullopt;
  // The operands of the subtraction are f64 sums with a relative error of at most 2^-40, for any
  // length that fits in memory.
  return zipTensors(*high, *low, [&](double h, double l) {
    double change = lipschitz * (h - l + std::ldexp(h, -40));
    return std::isnan(change) ? 0 : change;
  });
}

/// Returns the largest result of a product whose operands have their largest absolute values
/// everywhere.
double evaluateRange(Operation *op, ReferenceLookup lookup, Evaluator evaluator) {
  llvm::DenseMap<Value, ReferenceValue> ranges;
  for (Value operand : op->getOperands()) {
    ReferenceValue value = lookup(operand).getMagnitude();
    if (!value.isExact())
      value.tensor = mapTensor(value.tensor, [&](double) { return value.getRange(); });
    ranges.try_emplace(operand, std::move(value));
  }
  std::string error;
  Evaluation result =
      evaluator([&](Value value) -> const ReferenceValue & { return ranges.find(value)->second; },
                Mode::Magnitude, error, nullptr);
  return result ? ref::largestMagnitude(*result) : 0;
}

/// Evaluates an op with one result and completes its value. `factor` is one of the factors of the
/// product.
FailureOr<std::vector<ReferenceValue>> finish(Operation *op, Value factor, Precision precision,
                                              ActivationAttr activation, ReferenceLookup lookup,
                                              Evaluator evaluator,
                                              const ReferenceValue *like = nullptr) {
  std::string error;
  ref::ErrorScale scale;
  Evaluation tensor = evaluator(lookup, Mode::Plain, error, &scale);
  if (!tensor)
    return op->emitOpError() << error;
  ref::ErrorModel model = getErrorModel(factor.getType());
  if (precision == Precision::TF32)
    model.operandRoundoff = std::ldexp(1.0, -11);
  FailureOr<ReferenceValue> value =
      makeResult(op, op->getResult(0).getType(), *tensor, scale, model, like);
  std::optional<HostTensor> change =
      propagate(op, lookup, getLipschitz(activation), evaluator, error);
  if (failed(value) || !error.empty())
    return op->emitOpError() << error;
  if (change) {
    FailureOr<ReferenceValue> fitted =
        makeResult(op, op->getResult(0).getType(), *change, std::nullopt, model, like);
    if (failed(fitted))
      return failure();
    value->addError(fitted->tensor);
    // Operands that are 0 but for their errors say nothing about the range of the result.
    if (value->scale && ref::largestMagnitude(fitted->tensor) > value->getRange())
      value->scale->range = std::fmax(value->getRange(), evaluateRange(op, lookup, evaluator));
  }
  return std::vector<ReferenceValue>{std::move(*value)};
}

template <typename OpTy>
FailureOr<std::vector<ReferenceValue>> evaluateDense(OpTy op, Value factor,
                                                     ReferenceLookup lookup) {
  return finish(op, factor, op.getPrecision(), op.getActivationAttr(), lookup,
                [&](ReferenceLookup values, Mode mode, std::string &error, ref::ErrorScale *scale) {
                  return evaluate(op, values, mode, error, scale);
                });
}

FailureOr<std::vector<ReferenceValue>> evaluateOp(SDDOp op, ReferenceLookup lookup) {
  const ReferenceValue *like = op.getPattern() ? &lookup(op.getPattern()) : nullptr;
  FailureOr<ReferenceValue> pattern = makePattern(op, op.getType(), like);
  if (failed(pattern))
    return failure();
  return finish(
      op, op.getA(), op.getPrecision(), ActivationAttr(), lookup,
      [&](ReferenceLookup values, Mode mode, std::string &error, ref::ErrorScale *scale) {
        return evaluate(op, *pattern->pattern, values, mode, error, scale);
      },
      like);
}

FailureOr<std::vector<ReferenceValue>> evaluateOp(SampledAddmmOp op, ReferenceLookup lookup) {
  FailureOr<std::vector<ReferenceValue>> results = finish(
      op, op.getA(), op.getPrecision(), ActivationAttr(), lookup,
      [&](ReferenceLookup values, Mode mode, std::string &error, ref::ErrorScale *scale) {
        return evaluate(op, values, mode, error, scale);
      },
      &lookup(op.getSparse()));
  // The op may be folded to its sparse operand, with any padding.
  if (succeeded(results) && op.getAlpha().isZero() && op.getBeta().isExactlyValue(1.0) &&
      !op.getDynamicBeta())
    results->front().markUnspecified(/*padding=*/true);
  return results;
}

FailureOr<std::vector<ReferenceValue>> evaluateOp(ScatterMMOp op, ReferenceLookup lookup) {
  return finish(op, op.getBlocks(), op.getPrecision(), ActivationAttr(), lookup,
                [&](ReferenceLookup values, Mode mode, std::string &error, ref::ErrorScale *scale) {
                  return evaluate(op, values, mode, error, scale);
                });
}

} // namespace

std::optional<FailureOr<std::vector<ReferenceValue>>>
mlir::blocksparse::evaluateProduct(Operation *op, ReferenceLookup lookup) {
  using Result = std::optional<FailureOr<std::vector<ReferenceValue>>>;
  return TypeSwitch<Operation *, Result>(op)
      .Case<SDDOp, SampledAddmmOp, ScatterMMOp>(
          [&](auto product) -> Result { return evaluateOp(product, lookup); })
      .Case<DSDOp, DDSOp, MatmulOp>(
          [&](auto product) -> Result { return evaluateDense(product, product.getA(), lookup); })
      .Case<BsrAddmmOp>([&](BsrAddmmOp product) -> Result {
        return evaluateDense(product, product.getSparse(), lookup);
      })
      .Default([](Operation *) -> Result { return std::nullopt; });
}
