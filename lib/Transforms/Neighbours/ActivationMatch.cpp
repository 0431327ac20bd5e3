// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Recognises activations. All smooth ones are one of two functions of a polynomial, times their
// input or not: the sigmoid S(y) = 1 / (1 + exp(-y)) = (1 + tanh(y / 2)) / 2, and the distribution
// function of the normal distribution, P(y) = (1 + erf(y / sqrt 2)) / 2 = erfc(-y / sqrt 2) / 2.

#include "blocksparse/Transforms/Neighbours/ActivationMatch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <array>
#include <cmath>

using namespace mlir;
using namespace mlir::blocksparse;

using Kind = ElementExpression::Kind;

template <typename... OpTys>
static bool is(Expression e) {
  return e->kind == Kind::Operation && isa<OpTys...>(e->op);
}

static bool isConstant(Expression e) { return e->kind == Kind::Constant; }
static bool isZero(Expression e) { return isConstant(e) && e->number == 0; }

namespace {

/// Holds c[0] + c[1] x + c[2] x^2 + c[3] x^3 with coefficients that are accurate to within
/// `spacing`, the coarsest of the constants that they were computed from.
struct Polynomial {
  std::array<double, 4> c{};
  double spacing = 0;

  bool isConstant() const { return c[1] == 0 && c[2] == 0 && c[3] == 0; }
  bool isOdd() const { return c[0] == 0 && c[2] == 0; }
};

/// Holds constant * product of `factors` / product of `divisors`.
struct Factors {
  double constant = 1, spacing = 0;
  SmallVector<Expression> factors, divisors;
};

} // namespace

/// Returns true if `value` is `expected`, but for the rounding of a few constants.
static bool isAbout(double value, double expected, double spacing) {
  return std::fabs(value - expected) <= 4 * spacing * std::fabs(expected);
}

static std::optional<Polynomial> multiply(const Polynomial &a, const Polynomial &b) {
  Polynomial result;
  result.spacing = std::max(a.spacing, b.spacing);
  for (unsigned i = 0; i < 4; ++i)
    for (unsigned j = 0; j < 4; ++j) {
      const double term = a.c[i] * b.c[j];
      if (i + j < 4)
        result.c[i + j] += term;
      else if (term != 0)
        return std::nullopt;
    }
  return result;
}

static Polynomial add(Polynomial a, const Polynomial &b, double sign) {
  for (unsigned i = 0; i < 4; ++i)
    a.c[i] += sign * b.c[i];
  a.spacing = std::max(a.spacing, b.spacing);
  return a;
}

/// Returns an expression as a polynomial of the expression `x`, if it is one.
static std::optional<Polynomial> getPolynomial(Expression e, Expression x) {
  Polynomial result;
  if (e == x) {
    result.c[1] = 1;
    return result;
  }
  if (isConstant(e)) {
    result.c[0] = e->number;
    result.spacing = e->spacing;
    return result;
  }
  if (!is<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::NegFOp, math::FmaOp,
          math::PowFOp>(e))
    return std::nullopt;
  SmallVector<Polynomial, 3> operands;
  for (Expression operand : e->operands) {
    std::optional<Polynomial> polynomial = getPolynomial(operand, x);
    if (!polynomial)
      return std::nullopt;
    operands.push_back(*polynomial);
  }
  if (is<arith::AddFOp, arith::SubFOp>(e))
    return add(operands[0], operands[1], is<arith::AddFOp>(e) ? 1 : -1);
  if (is<arith::MulFOp>(e))
    return multiply(operands[0], operands[1]);
  if (is<arith::NegFOp>(e))
    return add(Polynomial(), operands[0], -1);
  if (is<math::FmaOp>(e)) {
    std::optional<Polynomial> product = multiply(operands[0], operands[1]);
    return product ? std::optional(add(*product, operands[2], 1)) : std::nullopt;
  }
  if (!operands[1].isConstant())
    return std::nullopt;
  const double number = operands[1].c[0];
  if (is<arith::DivFOp>(e)) {
    Polynomial inverse;
    inverse.c[0] = 1 / number;
    inverse.spacing = operands[1].spacing;
    return number == 0 ? std::nullopt : multiply(operands[0], inverse);
  }
  if (number != 2 && number != 3)
    return std::nullopt;
  std::optional<Polynomial> power = multiply(operands[0], operands[0]);
  return number == 2 || !power ? power : multiply(*power, operands[0]);
}

/// Collects the factors of an expression; of `e`, or of 1 / e.
static void collectFactors(Expression e, bool isDivisor, Factors &result) {
  if (isConstant(e)) {
    result.constant = isDivisor ? result.constant / e->number : result.constant * e->number;
    result.spacing = std::max(result.spacing, e->spacing);
  } else if (is<arith::NegFOp>(e)) {
    result.constant = -result.constant;
    collectFactors(e->operands[0], isDivisor, result);
  } else if (is<arith::MulFOp, arith::DivFOp>(e)) {
    collectFactors(e->operands[0], isDivisor, result);
    collectFactors(e->operands[1], is<arith::DivFOp>(e) != isDivisor, result);
  } else {
    (isDivisor ? result.divisors : result.factors).push_back(e);
  }
}

/// Returns the only operation of the given kinds in sums and multiples, or null.
static Expression findCall(Expression e) {
  if (is<math::ExpOp, math::TanhOp, math::ErfOp, math::ErfcOp>(e))
    return e;
  if (!is<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp, arith::DivFOp>(e))
    return nullptr;
  for (Expression operand : e->operands)
    if (Expression call = findCall(operand))
      return call;
  return nullptr;
}

namespace {

/// Describes a * S(factor * argument), or a * P(factor * argument).
struct Curve {
  bool isNormal = false;
  double a = 1, factor = 1, spacing = 0;
  Expression argument = nullptr;
};

} // namespace

/// Returns the curve that `e` is, or that 1 / e is.
static std::optional<Curve> matchCurve(Expression e, bool isInverse) {
  Expression call = findCall(e);
  std::optional<Polynomial> line = call ? getPolynomial(e, call) : std::nullopt;
  if (!line || line->c[2] != 0 || line->c[3] != 0 || line->c[1] == 0)
    return std::nullopt;
  const double offset = line->c[0], slope = line->c[1];
  Curve curve;
  curve.spacing = line->spacing;
  curve.argument = call->operands[0];
  const bool isBalanced = isAbout(slope, offset, line->spacing);
  const bool isMirrored = isAbout(-slope, offset, line->spacing);
  if (isInverse) {
    // 1 / (c + c exp(z)) = S(-z) / c
    curve.a = 1 / slope;
    curve.factor = -1;
    return isBalanced && is<math::ExpOp>(call) ? std::optional(curve) : std::nullopt;
  }
  if (is<math::ErfcOp>(call)) {
    curve.isNormal = true;
    curve.a = 2 * slope;
    curve.factor = -M_SQRT2;
    return offset == 0 ? std::optional(curve) : std::nullopt;
  }
  if (is<math::ExpOp>(call) || (!isBalanced && !isMirrored))
    return std::nullopt;
  curve.isNormal = is<math::ErfOp>(call);
  curve.a = 2 * offset;
  curve.factor = (isBalanced ? 1 : -1) * (curve.isNormal ? M_SQRT2 : 2);
  return curve;
}

/// Returns the activation of a curve times constant * x.
static std::optional<ActivationMatch> matchGate(const Curve &curve, double constant, double spacing,
                                                Expression x) {
  std::optional<Polynomial> inner = getPolynomial(curve.argument, x);
  if (!inner || !inner->isOdd())
    return std::nullopt;
  spacing = std::max({spacing, curve.spacing, inner->spacing});
  // The curve's argument in terms of the activation's input, constant * a * x.
  double factor = constant * curve.a;
  if (factor == 0)
    return std::nullopt;
  if (isAbout(factor, 1, spacing))
    factor = 1;
  const double linear = curve.factor * inner->c[1] / factor;
  const double cubic = curve.factor * inner->c[3] / (factor * factor * factor);
  ActivationMatch match{ActivationKind::None, 0, factor, x};
  constexpr double tanhSlope = 2 * 0.79788456080286535588;
  if (curve.isNormal) {
    if (cubic == 0 && isAbout(linear, 1, spacing))
      match.kind = ActivationKind::GeluErf;
  } else if (cubic == 0 && isAbout(linear, 1, spacing)) {
    match.kind = ActivationKind::Silu;
  } else if (cubic == 0 && isAbout(linear, 1.702, spacing)) {
    match.kind = ActivationKind::GeluQuick;
  } else if (isAbout(linear, tanhSlope, spacing) && isAbout(cubic, tanhSlope * 0.044715, spacing)) {
    match.kind = ActivationKind::GeluTanh;
  }
  return match.kind == ActivationKind::None ? std::nullopt : std::optional(match);
}

/// Returns the activation of a curve alone: a sigmoid.
static std::optional<ActivationMatch> matchSigmoid(const Curve &curve, double constant,
                                                   double spacing) {
  spacing = std::max(spacing, curve.spacing);
  if (curve.isNormal || !isAbout(constant * curve.a, 1, spacing))
    return std::nullopt;
  Expression argument = curve.argument;
  if (is<arith::SubFOp>(argument) && isZero(argument->operands[0])) {
    ActivationMatch match{ActivationKind::Sigmoid, 0, -curve.factor, argument->operands[1]};
    return match;
  }
  Factors factors;
  collectFactors(argument, /*isDivisor=*/false, factors);
  if (factors.factors.size() != 1 || !factors.divisors.empty())
    return std::nullopt;
  return ActivationMatch{ActivationKind::Sigmoid, 0, curve.factor * factors.constant,
                         factors.factors.front()};
}

static std::optional<ActivationMatch> matchSmooth(Expression e) {
  Factors all;
  collectFactors(e, /*isDivisor=*/false, all);
  if (all.divisors.size() > 1 || all.factors.size() + all.divisors.size() > 2)
    return std::nullopt;
  auto match = [&](std::optional<Curve> curve, Expression x) -> std::optional<ActivationMatch> {
    if (!curve)
      return std::nullopt;
    return x ? matchGate(*curve, all.constant, all.spacing, x)
             : matchSigmoid(*curve, all.constant, all.spacing);
  };
  if (all.divisors.size() == 1)
    return match(matchCurve(all.divisors[0], /*isInverse=*/true),
                 all.factors.empty() ? nullptr : all.factors[0]);
  if (all.factors.size() == 1)
    return match(matchCurve(all.factors[0], /*isInverse=*/false), nullptr);
  for (unsigned i = 0; i < all.factors.size(); ++i)
    if (auto found = match(matchCurve(all.factors[i], /*isInverse=*/false), all.factors[1 - i]))
      return found;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// relu and leaky_relu
//===----------------------------------------------------------------------===//

namespace {

/// Describes a choice between two values by the sign of `x`.
struct Choice {
  Expression x = nullptr, positive = nullptr, negative = nullptr;
  /// Is true if NaN takes the positive side, or does not occur.
  bool nanIsPositive = true;
};

} // namespace

static std::optional<Choice> getFloatChoice(arith::CmpFPredicate predicate, Expression yes,
                                            Expression no, bool isSwapped) {
  using P = arith::CmpFPredicate;
  const bool isLess = llvm::is_contained({P::OLT, P::OLE, P::ULT, P::ULE}, predicate);
  const bool isGreater = llvm::is_contained({P::OGT, P::OGE, P::UGT, P::UGE}, predicate);
  const bool isOrdered = llvm::is_contained({P::OLT, P::OLE, P::OGT, P::OGE}, predicate);
  if (!isLess && !isGreater)
    return std::nullopt;
  const bool yesIsNegative = isLess != isSwapped;
  Choice choice;
  choice.positive = yesIsNegative ? no : yes;
  choice.negative = yesIsNegative ? yes : no;
  choice.nanIsPositive = (isOrdered ? no : yes) == choice.positive;
  return choice;
}

static std::optional<Choice> getIntegerChoice(arith::CmpIPredicate predicate, Expression yes,
                                              Expression no, bool isSwapped) {
  using P = arith::CmpIPredicate;
  const bool isLess = predicate == P::slt || predicate == P::sle;
  if (!isLess && predicate != P::sgt && predicate != P::sge)
    return std::nullopt;
  const bool yesIsNegative = isLess != isSwapped;
  Choice choice;
  choice.positive = yesIsNegative ? no : yes;
  choice.negative = yesIsNegative ? yes : no;
  return choice;
}

/// Returns the choice that a select of a comparison with 0 makes.
static std::optional<Choice> getChoice(Expression e) {
  if (!is<arith::SelectOp>(e) || !is<arith::CmpFOp, arith::CmpIOp>(e->operands[0]))
    return std::nullopt;
  Expression compare = e->operands[0];
  const bool isSwapped = isZero(compare->operands[0]);
  if (!isSwapped && !isZero(compare->operands[1]))
    return std::nullopt;
  std::optional<Choice> choice;
  if (auto floats = dyn_cast<arith::CmpFOp>(compare->op)) {
    choice = getFloatChoice(floats.getPredicate(), e->operands[1], e->operands[2], isSwapped);
    if (choice && bitEnumContainsAll(floats.getFastmath(), arith::FastMathFlags::nnan))
      choice->nanIsPositive = true;
  } else {
    choice = getIntegerChoice(cast<arith::CmpIOp>(compare->op).getPredicate(), e->operands[1],
                              e->operands[2], isSwapped);
  }
  if (choice)
    choice->x = compare->operands[isSwapped ? 1 : 0];
  return choice;
}

/// Returns the factor of `e` if it is a multiple of `x`.
static std::optional<double> getMultiple(Expression e, Expression x) {
  std::optional<Polynomial> line = getPolynomial(e, x);
  if (!line || !line->isOdd() || line->c[3] != 0)
    return std::nullopt;
  return line->c[1];
}

static std::optional<ActivationMatch> matchMaximum(Expression e, std::string &fault) {
  for (unsigned i = 0; i < 2; ++i) {
    Expression x = e->operands[i], other = e->operands[1 - i];
    if (isZero(other) && x->usesProduct) {
      auto floats = dyn_cast<arith::MaxNumFOp>(e->op);
      if (floats && !bitEnumContainsAll(floats.getFastmath(), arith::FastMathFlags::nnan)) {
        fault = "expects a maximum that keeps NaN, as relu does, but got arith.maxnumf";
        return std::nullopt;
      }
      return ActivationMatch{ActivationKind::Relu, 0, 1, x};
    }
    if (std::optional<double> slope = getMultiple(other, x);
        slope && *slope > 0 && *slope < 1 && is<arith::MaximumFOp>(e))
      return ActivationMatch{ActivationKind::LeakyRelu, *slope, 1, x};
  }
  return std::nullopt;
}

static std::optional<ActivationMatch> matchChoice(const Choice &choice, std::string &fault) {
  if (choice.positive != choice.x)
    return std::nullopt;
  if (isZero(choice.negative)) {
    if (!choice.nanIsPositive) {
      fault = "expects a comparison that keeps NaN, as relu does, but got one that makes it 0";
      return std::nullopt;
    }
    return ActivationMatch{ActivationKind::Relu, 0, 1, choice.x};
  }
  if (std::optional<double> slope = getMultiple(choice.negative, choice.x))
    return ActivationMatch{ActivationKind::LeakyRelu, *slope, 1, choice.x};
  return std::nullopt;
}

std::optional<ActivationMatch> mlir::blocksparse::matchActivation(Expression expression,
                                                                  std::string &fault) {
  if (is<arith::MaximumFOp, arith::MaxNumFOp, arith::MaxSIOp>(expression))
    return matchMaximum(expression, fault);
  if (std::optional<Choice> choice = getChoice(expression))
    return matchChoice(*choice, fault);
  return matchSmooth(expression);
}
