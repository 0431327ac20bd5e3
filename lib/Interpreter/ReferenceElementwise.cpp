// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Evaluates operations of the arith and math dialects on tensors, element by element, with a bound
// of the error of each element.

#include "ReferenceElementwise.h"
#include "blocksparse/Execution/HostProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <functional>
#include <limits>

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::ElementType;
using ::blocksparse::HostTensor;
namespace ref = ::blocksparse::ref;

namespace {

/// Describes an element: a floating-point number and the bound of its error, or an integer. The
/// compiled element may be anything if `any` is true.
struct Number {
  double x = 0, error = 0;
  int64_t n = 0;
  bool any = false;
};

using Numbers = ArrayRef<Number>;
using Rule = std::function<Number(Numbers)>;
using Function = std::function<double(ArrayRef<double>)>;

/// Says what errors of its operands do to the result of a function. Monotone: the result for
/// erroneous operands is between those at the ends of their intervals. Contracting: errors are
/// not amplified. Jumping: an error may change the result to anything.
enum class Stability { Monotone, Contracting, Jumping };

} // namespace

/// Returns the largest difference of f at the corners of the operands' intervals from `center`.
static double getCornerError(const Function &function, Numbers operands, double center) {
  double worst = 0;
  SmallVector<double> at(operands.size());
  for (unsigned corner = 0; corner < 1u << operands.size(); ++corner) {
    for (auto [i, operand] : llvm::enumerate(operands))
      at[i] = operand.x + (corner >> i & 1 ? operand.error : -operand.error);
    double change = std::fabs(function(at) - center);
    if (std::isnan(change))
      return std::numeric_limits<double>::infinity();
    worst = std::max(worst, change);
  }
  return worst;
}

/// Returns the rule of a function whose result is rounded to within `roundoff` of its magnitude.
static Rule makeRule(Function function, double roundoff,
                     Stability stability = Stability::Monotone) {
  return [=](Numbers operands) {
    SmallVector<double> at;
    Number result;
    double most = 0;
    for (const Number &operand : operands) {
      at.push_back(operand.x);
      most += operand.error;
      result.any |= operand.any;
    }
    result.x = function(at);
    if (most > 0 && std::isfinite(result.x)) {
      if (stability == Stability::Monotone)
        result.error = getCornerError(function, operands, result.x);
      else if (stability == Stability::Contracting)
        result.error = most;
      else
        result.any = true;
    }
    result.any |= !std::isfinite(result.error);
    if (std::isfinite(result.x))
      result.error += roundoff * std::fabs(result.x);
    return result;
  };
}

static Rule makeIntegerRule(std::function<int64_t(ArrayRef<int64_t>)> function, unsigned width) {
  return [=](Numbers operands) {
    SmallVector<int64_t> at;
    Number result;
    for (const Number &operand : operands) {
      at.push_back(operand.n);
      result.any |= operand.any;
    }
    // The result wraps; i1 is 0 or 1.
    const uint64_t bits = static_cast<uint64_t>(function(at));
    const unsigned unused = 64 - width;
    result.n = width == 1 ? static_cast<int64_t>(bits & 1)
                          : static_cast<int64_t>(bits << unused) >> unused;
    return result;
  };
}

//===----------------------------------------------------------------------===//
// Rules of operations
//===----------------------------------------------------------------------===//

static double maximum(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? a + b : std::max(a, b);
}
static double minimum(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? a + b : std::min(a, b);
}

static Rule getCompareRule(arith::CmpFOp op) {
  return [predicate = op.getPredicate()](Numbers operands) {
    const Number &a = operands[0], &b = operands[1];
    Number result;
    result.n = arith::applyCmpPredicate(predicate, APFloat(a.x), APFloat(b.x));
    const double error = a.error + b.error;
    result.any = a.any || b.any || (error > 0 && std::fabs(a.x - b.x) <= error);
    return result;
  };
}

static Rule getSelectRule() {
  return [](Numbers operands) {
    Number result = operands[operands[0].n ? 1 : 2];
    result.any |= operands[0].any;
    return result;
  };
}

/// Returns the rule of a division, whose error is unbounded if the divisor may be 0.
static Rule getDivisionRule(double roundoff) {
  Rule divide = makeRule([](ArrayRef<double> v) { return v[0] / v[1]; }, roundoff);
  return [=](Numbers operands) {
    Number result = divide(operands);
    result.any |= operands[1].error > 0 && std::fabs(operands[1].x) <= operands[1].error;
    return result;
  };
}

static Rule getArithFloatRule(Operation *op, double u) {
  using Values = ArrayRef<double>;
  return llvm::TypeSwitch<Operation *, Rule>(op)
      .Case([&](arith::AddFOp) { return makeRule([](Values v) { return v[0] + v[1]; }, u); })
      .Case([&](arith::SubFOp) { return makeRule([](Values v) { return v[0] - v[1]; }, u); })
      .Case([&](arith::MulFOp) { return makeRule([](Values v) { return v[0] * v[1]; }, u); })
      .Case([&](arith::DivFOp) { return getDivisionRule(u); })
      .Case([&](arith::NegFOp) { return makeRule([](Values v) { return -v[0]; }, 0); })
      .Case([&](arith::MaximumFOp) {
        return makeRule([](Values v) { return maximum(v[0], v[1]); }, 0);
      })
      .Case([&](arith::MinimumFOp) {
        return makeRule([](Values v) { return minimum(v[0], v[1]); }, 0);
      })
      .Case([&](arith::MaxNumFOp) {
        return makeRule([](Values v) { return std::fmax(v[0], v[1]); }, 0);
      })
      .Case([&](arith::MinNumFOp) {
        return makeRule([](Values v) { return std::fmin(v[0], v[1]); }, 0);
      })
      .Case([&](arith::RemFOp) {
        return makeRule([](Values v) { return std::fmod(v[0], v[1]); }, 0, Stability::Jumping);
      })
      .Case<arith::ExtFOp>([&](auto) { return makeRule([](Values v) { return v[0]; }, 0); })
      .Default([](Operation *) { return Rule(); });
}

static Rule getMathRule(Operation *op, double u) {
  using Values = ArrayRef<double>;
  // Libraries and kernels compute elementary functions to within 8 ulp.
  const double function = 16 * u;
  auto unary = [&](double (*f)(double), Stability stability = Stability::Monotone) {
    return makeRule([f](Values v) { return f(v[0]); }, function, stability);
  };
  auto exact = [&](double (*f)(double), Stability stability = Stability::Monotone) {
    return makeRule([f](Values v) { return f(v[0]); }, 0, stability);
  };
  return llvm::TypeSwitch<Operation *, Rule>(op)
      .Case([&](math::AbsFOp) { return exact(std::fabs, Stability::Contracting); })
      .Case([&](math::CeilOp) { return exact(std::ceil); })
      .Case([&](math::FloorOp) { return exact(std::floor); })
      .Case([&](math::TruncOp) { return exact(std::trunc); })
      .Case([&](math::RoundOp) { return exact(std::round); })
      .Case([&](math::RoundEvenOp) { return exact(std::nearbyint); })
      .Case([&](math::CopySignOp) {
        return makeRule([](Values v) { return std::copysign(v[0], v[1]); }, 0);
      })
      .Case([&](math::FmaOp) { return makeRule([](Values v) { return v[0] * v[1] + v[2]; }, u); })
      .Case([&](math::SqrtOp) { return unary(std::sqrt); })
      .Case([&](math::RsqrtOp) {
        return makeRule([](Values v) { return 1 / std::sqrt(v[0]); }, function);
      })
      .Case([&](math::CbrtOp) { return unary(std::cbrt); })
      .Case([&](math::ExpOp) { return unary(std::exp); })
      .Case([&](math::Exp2Op) { return unary(std::exp2); })
      .Case([&](math::ExpM1Op) { return unary(std::expm1); })
      .Case([&](math::LogOp) { return unary(std::log); })
      .Case([&](math::Log2Op) { return unary(std::log2); })
      .Case([&](math::Log10Op) { return unary(std::log10); })
      .Case([&](math::Log1pOp) { return unary(std::log1p); })
      .Case([&](math::TanhOp) { return unary(std::tanh); })
      .Case([&](math::ErfOp) { return unary(std::erf); })
      .Case([&](math::ErfcOp) { return unary(std::erfc); })
      .Case([&](math::AtanOp) { return unary(std::atan); })
      .Case([&](math::SinOp) { return unary(std::sin, Stability::Contracting); })
      .Case([&](math::CosOp) { return unary(std::cos, Stability::Contracting); })
      .Case([&](math::SinhOp) { return unary(std::sinh); })
      .Case([&](math::AsinhOp) { return unary(std::asinh); })
      .Case([&](math::PowFOp) {
        return makeRule([](Values v) { return std::pow(v[0], v[1]); }, 16 * function);
      })
      .Default([](Operation *) { return Rule(); });
}

/// Returns the bits of an unsigned integer of the element type of `value`.
static uint64_t getMask(Value value) {
  const unsigned width = getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
  return width == 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1;
}

static Rule getIntegerRule(Operation *op, unsigned width) {
  using Values = ArrayRef<int64_t>;
  auto rule = [&](int64_t (*f)(Values)) { return makeIntegerRule(f, width); };
  return llvm::TypeSwitch<Operation *, Rule>(op)
      .Case([&](arith::AddIOp) {
        return rule([](Values v) { return int64_t(uint64_t(v[0]) + uint64_t(v[1])); });
      })
      .Case([&](arith::SubIOp) {
        return rule([](Values v) { return int64_t(uint64_t(v[0]) - uint64_t(v[1])); });
      })
      .Case([&](arith::MulIOp) {
        return rule([](Values v) { return int64_t(uint64_t(v[0]) * uint64_t(v[1])); });
      })
      .Case([&](arith::AndIOp) { return rule([](Values v) { return v[0] & v[1]; }); })
      .Case([&](arith::OrIOp) { return rule([](Values v) { return v[0] | v[1]; }); })
      .Case([&](arith::XOrIOp) { return rule([](Values v) { return v[0] ^ v[1]; }); })
      .Case([&](arith::MaxSIOp) { return rule([](Values v) { return std::max(v[0], v[1]); }); })
      .Case([&](arith::MinSIOp) { return rule([](Values v) { return std::min(v[0], v[1]); }); })
      .Case<arith::TruncIOp>([&](auto) { return rule([](Values v) { return v[0]; }); })
      .Case([&](arith::ExtSIOp op) {
        const bool isBit = getElementTypeOrSelf(op.getIn().getType()).isInteger(1);
        return isBit ? rule([](Values v) { return -v[0]; }) : rule([](Values v) { return v[0]; });
      })
      .Case([&](arith::ExtUIOp op) {
        const uint64_t mask = getMask(op.getIn());
        return makeIntegerRule([mask](Values v) { return int64_t(uint64_t(v[0]) & mask); }, width);
      })
      .Default([](Operation *) { return Rule(); });
}

static Rule getIntegerCompareRule(arith::CmpIOp op) {
  auto predicate = op.getPredicate();
  return makeIntegerRule(
      [predicate](ArrayRef<int64_t> v) -> int64_t {
        return arith::applyCmpPredicate(predicate, APInt(64, v[0], /*isSigned=*/true),
                                        APInt(64, v[1], /*isSigned=*/true));
      },
      1);
}

/// Returns the rule of a conversion between integers and numbers.
static Rule getCastRule(Operation *op) {
  return llvm::TypeSwitch<Operation *, Rule>(op)
      .Case([](arith::SIToFPOp op) -> Rule {
        const int64_t sign = getElementTypeOrSelf(op.getIn().getType()).isInteger(1) ? -1 : 1;
        return [sign](Numbers operands) {
          Number result;
          result.x = static_cast<double>(sign * operands[0].n);
          result.any = operands[0].any;
          return result;
        };
      })
      .Case([](arith::UIToFPOp op) -> Rule {
        return [mask = getMask(op.getIn())](Numbers operands) {
          Number result;
          result.x = static_cast<double>(static_cast<uint64_t>(operands[0].n) & mask);
          result.any = operands[0].any;
          return result;
        };
      })
      .Case([](arith::FPToSIOp) -> Rule {
        return [](Numbers operands) {
          const Number &from = operands[0];
          Number result;
          const double low = std::trunc(from.x - from.error),
                       high = std::trunc(from.x + from.error);
          // What is out of range is undefined.
          result.any = from.any || !(low == high) || !(std::fabs(from.x) < 0x1p62);
          result.n = result.any ? 0 : static_cast<int64_t>(from.x);
          return result;
        };
      })
      .Default([](Operation *) { return Rule(); });
}

/// Returns the rule of rounding to a narrower type. What is known exactly is rounded exactly.
static Rule getNarrowingRule(ElementType type) {
  return [type](Numbers operands) {
    Number result = operands[0];
    const double rounded = ::blocksparse::roundToType(type, result.x);
    if (result.error == 0 || !std::isfinite(rounded))
      result.x = rounded;
    else
      result.error += ::blocksparse::unitRoundoff(type) * std::fabs(result.x);
    return result;
  };
}

static Rule getRule(Operation *op) {
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return getCompareRule(compare);
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return getIntegerCompareRule(compare);
  if (isa<arith::SelectOp>(op))
    return getSelectRule();
  if (isa<arith::TruncFOp>(op))
    return getNarrowingRule(*getHostElementType(element));
  if (Rule rule = getCastRule(op))
    return rule;
  if (element.isInteger())
    return getIntegerRule(op, element.getIntOrFloatBitWidth());
  const double u =
      ::blocksparse::unitRoundoff(element.isF64() ? ElementType::f64 : ElementType::f32);
  Rule rule = getArithFloatRule(op, u);
  return rule ? rule : getMathRule(op, u);
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

namespace {

/// Reads the elements of an operand in row-major order.
class Operand {
public:
  explicit Operand(const ReferenceValue &value)
      : isFloat(::blocksparse::isFloatType(value.tensor.type())),
        tensor(value.tensor.cast(isFloat ? ElementType::f64 : ElementType::i64)) {
    if (!value.isExact())
      errors = value.getErrorBound();
    if (value.unspecified)
      marks = value.unspecified->contiguous();
  }

  int64_t size() const { return tensor.numElements(); }
  bool isExact() const { return !errors; }
  Number get(int64_t i) const {
    Number number;
    // A tensor of one element stands for all.
    i = size() == 1 ? 0 : i;
    if (isFloat)
      number.x = tensor.dataAs<double>()[i];
    else
      number.n = tensor.dataAs<int64_t>()[i];
    number.error = errors ? errors->dataAs<double>()[i] : 0;
    number.any = marks && marks->dataAs<int8_t>()[i];
    return number;
  }

private:
  bool isFloat;
  HostTensor tensor;
  std::optional<HostTensor> errors, marks;
};

} // namespace

/// Gives a number that is too large for its type the value that it has in the compiled program.
static void overflow(Number &number, ElementType type) {
  const double largest = ::blocksparse::largestFinite(type), magnitude = std::fabs(number.x);
  if (!std::isfinite(number.x) || magnitude + number.error <= largest)
    return;
  const double rounded = ::blocksparse::roundToType(type, number.x);
  if (std::isfinite(rounded) || magnitude - number.error <= largest) {
    number.any |= number.error > 0;
    return;
  }
  number.x = rounded;
  number.error = 0;
}

bool mlir::blocksparse::isElementwiseOnTensors(Operation *op) {
  return OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() == 1 &&
         isa<RankedTensorType>(op->getResult(0).getType());
}

FailureOr<ReferenceValue> mlir::blocksparse::evaluateElementwise(Operation *op,
                                                                 ReferenceLookup lookup) {
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  std::optional<ElementType> type = getHostElementType(element);
  const bool isFloat = isa<FloatType>(element);
  if (!(isFloat ? type.has_value() : element.isInteger() && element.getIntOrFloatBitWidth() <= 64))
    return op->emitOpError("expects element types that the reference knows, but got ") << element;
  Rule rule = getRule(op);
  if (!rule)
    return op->emitOpError("expects an operation that the reference knows, but got ")
           << op->getName();
  std::vector<Operand> operands;
  const ReferenceValue *shape = nullptr;
  bool isExact =
      isa<arith::SelectOp, arith::ExtFOp, arith::NegFOp, arith::MaximumFOp, arith::MinimumFOp,
          arith::MaxNumFOp, arith::MinNumFOp, arith::TruncFOp, math::AbsFOp>(op);
  for (Value operand : op->getOperands()) {
    const ReferenceValue &value = lookup(operand);
    if (isa<RankedTensorType>(operand.getType()))
      shape = &value;
    operands.emplace_back(value);
    isExact &= operands.back().isExact();
  }
  ReferenceValue result;
  result.type = type.value_or(ElementType::i64);
  result.model = ref::ErrorModel::forOperands(result.type);
  result.tensor =
      HostTensor::zeros(isFloat ? ElementType::f64 : ElementType::i64, shape->tensor.shape());
  HostTensor errors = HostTensor::zeros(ElementType::f64, shape->tensor.shape());
  HostTensor marks = HostTensor::zeros(ElementType::i8, shape->tensor.shape());
  bool isMarked = false;
  SmallVector<Number> at(operands.size());
  for (int64_t i = 0, size = result.tensor.numElements(); i < size; ++i) {
    for (auto [number, operand] : llvm::zip_equal(at, operands))
      number = operand.get(i);
    Number number = rule(at);
    if (isFloat)
      overflow(number, result.type);
    if (isFloat)
      result.tensor.dataAs<double>()[i] = number.x;
    else
      result.tensor.dataAs<int64_t>()[i] = number.n;
    errors.dataAs<double>()[i] = number.any ? 0 : number.error;
    marks.dataAs<int8_t>()[i] = number.any;
    isMarked |= number.any;
  }
  if (isMarked)
    result.unspecified = marks;
  if (isFloat && !isExact) {
    result.scale.emplace();
    result.scale->magnitude = HostTensor::zeros(ElementType::f64, shape->tensor.shape());
    result.scale->terms = 1;
    result.addError(errors);
    // A result that is 0 but for its error has the range of what it is computed from.
    double range = ref::largestMagnitude(result.tensor);
    if (range == 0)
      for (Value operand : op->getOperands())
        range = std::fmax(range, lookup(operand).getRange());
    result.scale->range = range;
  }
  return result;
}
