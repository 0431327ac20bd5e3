// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Evaluates operations of the arith and math dialects on one element, with a bound of its error.

#include "ScalarRules.h"
#include "blocksparse/Execution/HostProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::ElementType;

namespace {

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
static ScalarRule makeRule(Function function, double roundoff,
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

static ScalarRule makeIntegerRule(std::function<int64_t(ArrayRef<int64_t>)> function,
                                  unsigned width) {
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

static ScalarRule getCompareRule(arith::CmpFOp op) {
  return [predicate = op.getPredicate()](Numbers operands) {
    const Number &a = operands[0], &b = operands[1];
    Number result;
    result.n = arith::applyCmpPredicate(predicate, APFloat(a.x), APFloat(b.x));
    const double error = a.error + b.error;
    result.any = a.any || b.any || (error > 0 && std::fabs(a.x - b.x) <= error);
    return result;
  };
}

static ScalarRule getSelectRule() {
  return [](Numbers operands) {
    Number result = operands[operands[0].n ? 1 : 2];
    result.any |= operands[0].any;
    return result;
  };
}

/// Returns the rule of a division, whose error is unbounded if the divisor may be 0.
static ScalarRule getDivisionRule(double roundoff) {
  ScalarRule divide = makeRule([](ArrayRef<double> v) { return v[0] / v[1]; }, roundoff);
  return [=](Numbers operands) {
    Number result = divide(operands);
    result.any |= operands[1].error > 0 && std::fabs(operands[1].x) <= operands[1].error;
    return result;
  };
}

static ScalarRule getArithFloatRule(Operation *op, double u) {
  using Values = ArrayRef<double>;
  return llvm::TypeSwitch<Operation *, ScalarRule>(op)
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
      .Default([](Operation *) { return ScalarRule(); });
}

static ScalarRule getMathRule(Operation *op, double u) {
  using Values = ArrayRef<double>;
  // Libraries and kernels compute elementary functions to within 8 ulp.
  const double function = 16 * u;
  auto unary = [&](double (*f)(double), Stability stability = Stability::Monotone) {
    return makeRule([f](Values v) { return f(v[0]); }, function, stability);
  };
  auto exact = [&](double (*f)(double), Stability stability = Stability::Monotone) {
    return makeRule([f](Values v) { return f(v[0]); }, 0, stability);
  };
  return llvm::TypeSwitch<Operation *, ScalarRule>(op)
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
      .Default([](Operation *) { return ScalarRule(); });
}

/// Returns the bits of an unsigned integer of the element type of `value`.
static uint64_t getMask(Value value) {
  const unsigned width = getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
  return width == 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1;
}

static ScalarRule getIntegerRule(Operation *op, unsigned width) {
  using Values = ArrayRef<int64_t>;
  auto rule = [&](int64_t (*f)(Values)) { return makeIntegerRule(f, width); };
  return llvm::TypeSwitch<Operation *, ScalarRule>(op)
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
      .Case<arith::TruncIOp, arith::IndexCastOp>(
          [&](auto) { return rule([](Values v) { return v[0]; }); })
      .Case([&](arith::ExtSIOp op) {
        const bool isBit = getElementTypeOrSelf(op.getIn().getType()).isInteger(1);
        return isBit ? rule([](Values v) { return -v[0]; }) : rule([](Values v) { return v[0]; });
      })
      .Case([&](arith::ExtUIOp op) {
        const uint64_t mask = getMask(op.getIn());
        return makeIntegerRule([mask](Values v) { return int64_t(uint64_t(v[0]) & mask); }, width);
      })
      .Default([](Operation *) { return ScalarRule(); });
}

static ScalarRule getIntegerCompareRule(arith::CmpIOp op) {
  auto predicate = op.getPredicate();
  return makeIntegerRule(
      [predicate](ArrayRef<int64_t> v) -> int64_t {
        return arith::applyCmpPredicate(predicate, APInt(64, v[0], /*isSigned=*/true),
                                        APInt(64, v[1], /*isSigned=*/true));
      },
      1);
}

/// Returns the rule of a conversion between integers and numbers.
static ScalarRule getCastRule(Operation *op) {
  return llvm::TypeSwitch<Operation *, ScalarRule>(op)
      .Case([](arith::SIToFPOp op) -> ScalarRule {
        const int64_t sign = getElementTypeOrSelf(op.getIn().getType()).isInteger(1) ? -1 : 1;
        return [sign](Numbers operands) {
          Number result;
          result.x = static_cast<double>(sign * operands[0].n);
          result.any = operands[0].any;
          return result;
        };
      })
      .Case([](arith::UIToFPOp op) -> ScalarRule {
        return [mask = getMask(op.getIn())](Numbers operands) {
          Number result;
          result.x = static_cast<double>(static_cast<uint64_t>(operands[0].n) & mask);
          result.any = operands[0].any;
          return result;
        };
      })
      .Case([](arith::FPToSIOp) -> ScalarRule {
        return [](Numbers operands) {
          const Number &from = operands[0];
          Number result;
          const double low = std::trunc(from.x - from.error),
                       high = std::trunc(from.x + from.error);
          // The conversion of a number out of range is undefined.
          result.any = from.any || !(low == high) || !(std::fabs(from.x) < 0x1p62);
          result.n = result.any ? 0 : static_cast<int64_t>(from.x);
          return result;
        };
      })
      .Default([](Operation *) { return ScalarRule(); });
}

/// Returns the rule of rounding to a narrower type. What is known exactly is rounded exactly.
static ScalarRule getNarrowingRule(ElementType type) {
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

ScalarRule mlir::blocksparse::getScalarRule(Operation *op) {
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return getCompareRule(compare);
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return getIntegerCompareRule(compare);
  if (isa<arith::SelectOp>(op))
    return getSelectRule();
  std::optional<ElementType> type = getHostElementType(element);
  if (isa<FloatType>(element) && !type)
    return ScalarRule();
  if (isa<arith::TruncFOp>(op))
    return getNarrowingRule(*type);
  if (ScalarRule rule = getCastRule(op))
    return rule;
  if (element.isIntOrIndex())
    return getIntegerRule(op, element.isIndex() ? 64 : element.getIntOrFloatBitWidth());
  const double u =
      ::blocksparse::unitRoundoff(element.isF64() ? ElementType::f64 : ElementType::f32);
  ScalarRule rule = getArithFloatRule(op, u);
  return rule ? rule : getMathRule(op, u);
}

bool mlir::blocksparse::isExactOperation(Operation *op) {
  return isa<arith::SelectOp, arith::ExtFOp, arith::NegFOp, arith::MaximumFOp, arith::MinimumFOp,
             arith::MaxNumFOp, arith::MinNumFOp, arith::TruncFOp, math::AbsFOp>(op);
}

void mlir::blocksparse::overflow(Number &number, ElementType type) {
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
