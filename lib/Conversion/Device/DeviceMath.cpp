// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "DeviceMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/TypeUtilities.h"

#include <limits>

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

Value mlir::blocksparse::device::floatConstant(ImplicitLocOpBuilder &b, Type type, double value) {
  TypedAttr attribute = b.getFloatAttr(getElementTypeOrSelf(type), value);
  if (auto vector = dyn_cast<VectorType>(type))
    attribute = DenseElementsAttr::get(vector, Attribute(attribute));
  return arith::ConstantOp::create(b, attribute);
}

Value mlir::blocksparse::device::fusedMultiplyAdd(ImplicitLocOpBuilder &b, Value x, Value y,
                                                  Value z) {
  return LLVM::FMAOp::create(b, x, y, z);
}

namespace {

/// Emits the arithmetic of one float type, f32 or f64, or of vectors of it.
class FloatMath {
public:
  FloatMath(ImplicitLocOpBuilder &b, Type type, Accuracy accuracy = Accuracy::Full)
      : b(b), type(type), wide(getElementTypeOrSelf(type).isF64()),
        approximate(accuracy == Accuracy::Rounded && type.isF32()),
        bitsType(wide ? b.getI64Type() : b.getI32Type()) {
    if (auto vector = dyn_cast<VectorType>(type))
      bitsType = vector.clone(bitsType);
  }

  ImplicitLocOpBuilder &builder() { return b; }
  bool isWide() const { return wide; }
  bool isApproximate() const { return approximate; }
  /// Returns the number of stored significand bits.
  int64_t significandBits() const { return wide ? 52 : 23; }
  int64_t exponentBias() const { return wide ? 1023 : 127; }

  Value constant(double value) { return floatConstant(b, type, value); }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, x, y); }
  /// Returns x / y. Requires that y is neither tiny nor huge if the accuracy is `Rounded`.
  Value div(Value x, Value y) {
    if (approximate)
      return mul(x, call("llvm.nvvm.rcp.approx.ftz.f", y));
    return arith::DivFOp::create(b, x, y);
  }
  /// Calls an intrinsic of one argument.
  Value call(StringRef name, Value x) {
    return LLVM::CallIntrinsicOp::create(b, type, b.getStringAttr(name), x).getResult(0);
  }
  Value fma(Value x, Value y, Value z) { return fusedMultiplyAdd(b, x, y, z); }
  Value negate(Value x) { return arith::NegFOp::create(b, x); }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, condition, x, y);
  }
  /// Returns i1: x < y. The result is false for NaN.
  Value less(Value x, Value y) { return arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, y); }
  Value less(Value x, double y) { return less(x, constant(y)); }
  Value greater(Value x, double y) { return less(constant(y), x); }

  Value bits(int64_t value) {
    TypedAttr attribute = b.getIntegerAttr(getElementTypeOrSelf(bitsType), value);
    if (auto vector = dyn_cast<VectorType>(bitsType))
      attribute = DenseElementsAttr::get(vector, Attribute(attribute));
    return arith::ConstantOp::create(b, attribute);
  }
  Value toBits(Value x) { return arith::BitcastOp::create(b, bitsType, x); }
  Value fromBits(Value x) { return arith::BitcastOp::create(b, type, x); }
  Value addBits(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value subBits(Value x, Value y) { return arith::SubIOp::create(b, x, y); }
  Value andBits(Value x, Value y) { return arith::AndIOp::create(b, x, y); }
  Value orBits(Value x, Value y) { return arith::OrIOp::create(b, x, y); }
  Value shiftLeft(Value x, int64_t n) { return arith::ShLIOp::create(b, x, bits(n)); }
  Value shiftRight(Value x, int64_t n) { return arith::ShRSIOp::create(b, x, bits(n)); }
  Value toFloat(Value integer) { return arith::SIToFPOp::create(b, type, integer); }

  Value signMask() { return bits(wide ? std::numeric_limits<int64_t>::min() : INT32_MIN); }
  Value magnitudeMask() { return bits(wide ? INT64_MAX : INT32_MAX); }
  Value abs(Value x) { return fromBits(andBits(toBits(x), magnitudeMask())); }
  /// Returns `magnitude`, which is not negative, with the sign of `sign`.
  Value withSignOf(Value magnitude, Value sign) {
    return fromBits(orBits(toBits(magnitude), andBits(toBits(sign), signMask())));
  }
  /// Returns 2^n for the integer n, which must be the exponent of a normal number.
  Value powerOfTwo(Value n) {
    return fromBits(shiftLeft(addBits(n, bits(exponentBias())), significandBits()));
  }

  /// Returns c[0] + x (c[1] + x (c[2] + ..)).
  Value polynomial(Value x, ArrayRef<double> coefficients) {
    Value sum = constant(coefficients.back());
    for (double coefficient : llvm::reverse(coefficients.drop_back()))
      sum = fma(sum, x, constant(coefficient));
    return sum;
  }

private:
  ImplicitLocOpBuilder &b;
  Type type;
  bool wide, approximate;
  Type bitsType;
};

/// Holds log 2 as the sum of the nearest number of the type and a remainder.
struct SplitLog2 {
  double high, low;
};

} // namespace

static SplitLog2 splitLog2(bool wide) {
  if (wide)
    return {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
  return {0x1.62e43p-1, -0x1.05c610ca86c39p-29};
}

/// Returns 1 / n!, 1 / (n + 1)!, .. (`count` values).
static SmallVector<double> inverseFactorials(int64_t n, int64_t count) {
  SmallVector<double> result;
  double factorial = 1;
  for (int64_t i = 2; i <= n; ++i)
    factorial *= static_cast<double>(i);
  for (int64_t i = 0; i < count; ++i) {
    result.push_back(1 / factorial);
    factorial *= static_cast<double>(n + i + 1);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Exponential and logarithm
//===----------------------------------------------------------------------===//

/// Returns e^x = 2^n e^r with n = round(x / log 2), |r| <= log(2) / 2. e^r is computed by its
/// Taylor series, whose remainder is below 0.35^8 / 8! = 6e-9 (f32) or 0.35^14 / 14! = 5e-18 (f64).
static Value emitExp(FloatMath &m, Value x) {
  if (m.isApproximate())
    return m.call("llvm.nvvm.ex2.approx.ftz", m.mul(x, m.constant(0x1.71547652b82fep+0)));
  bool wide = m.isWide();
  // Beyond these bounds the result is 0 or infinity. The clamping keeps n small enough to be split
  // below.
  Value upper = m.constant(wide ? 710 : 89), lower = m.constant(wide ? -746 : -104);
  x = m.select(m.less(upper, x), upper, x);
  x = m.select(m.less(x, lower), lower, x);
  // Adding 1.5 * 2^(significand bits) leaves round(x / log 2) in the low bits.
  Value shift = m.constant(wide ? 0x1.8p52 : 0x1.8p23);
  Value shifted = m.fma(x, m.constant(0x1.71547652b82fep+0), shift);
  Value n = m.subBits(m.toBits(shifted), m.toBits(shift));
  Value rounded = m.sub(shifted, shift);
  auto [high, low] = splitLog2(wide);
  Value r = m.fma(rounded, m.constant(-high), x);
  r = m.fma(rounded, m.constant(-low), r);
  Value power = m.polynomial(r, inverseFactorials(0, wide ? 14 : 8));
  // The scaling has two steps, because 2^n alone may not be a normal number.
  Value half = m.shiftRight(n, 1);
  power = m.mul(power, m.powerOfTwo(half));
  return m.mul(power, m.powerOfTwo(m.subBits(n, half)));
}

/// Returns log x = e log 2 + log f with f in [sqrt(1/2), sqrt(2)); log f = 2 atanh(s), s = (f - 1)
/// / (f + 1), |s| <= 0.172, by its Taylor series in s^2.
static Value emitLog(FloatMath &m, Value x) {
  bool wide = m.isWide();
  double scale = wide ? 0x1p54 : 0x1p25;
  double smallest = wide ? 0x1p-1022 : 0x1p-126;
  Value denormal = m.less(x, smallest);
  Value scaled = m.select(denormal, m.mul(x, m.constant(scale)), x);
  // Subtracting the bits of sqrt(1/2) moves the boundary between two exponents there.
  Value border = m.bits(wide ? 0x3fe6a09e667f3bcd : 0x3f3504f3);
  Value bits = m.toBits(scaled);
  Value exponent = m.shiftRight(m.subBits(bits, border), m.significandBits());
  Value f = m.fromBits(m.subBits(bits, m.shiftLeft(exponent, m.significandBits())));
  exponent = m.toFloat(exponent);
  exponent = m.select(denormal, m.sub(exponent, m.constant(wide ? 54 : 25)), exponent);

  Value one = m.constant(1);
  Value numerator = m.sub(f, one);
  Value s = m.div(numerator, m.add(f, one));
  Value square = m.mul(s, s);
  SmallVector<double> coefficients;
  for (int64_t k = 1, last = wide ? 11 : 5; k <= last; ++k)
    coefficients.push_back(2.0 / static_cast<double>(2 * k + 1));
  // 2 s = (f - 1) - s (f - 1) keeps the exact f - 1 as the leading term.
  Value rest =
      m.fma(m.mul(square, s), m.polynomial(square, coefficients), m.negate(m.mul(s, numerator)));
  auto [high, low] = splitLog2(wide);
  rest = m.fma(exponent, m.constant(low), rest);
  Value result = m.fma(exponent, m.constant(high), m.add(numerator, rest));

  constexpr double infinity = std::numeric_limits<double>::infinity();
  Value zero = m.constant(0);
  // Infinity and NaN pass through; x - x is 0 for every other number.
  Value finite = m.less(m.sub(x, x), one);
  result = m.select(finite, result, x);
  Value nan = m.constant(std::numeric_limits<double>::quiet_NaN());
  result = m.select(m.less(x, zero), nan, result);
  Value isZero = arith::CmpFOp::create(m.builder(), arith::CmpFPredicate::OEQ, x, zero);
  return m.select(isZero, m.constant(-infinity), result);
}

//===----------------------------------------------------------------------===//
// Square roots
//===----------------------------------------------------------------------===//

namespace {

/// Holds 1 / sqrt(scaled), where scaled is x times an even power of two that makes it normal.
struct ScaledRoot {
  Value scaled, inverse;
  /// Returns i1: x was scaled.
  Value isTiny;
};

} // namespace

/// Halving the exponent gives 1 / sqrt(x) within 3.5 percent, and each of Newton's iterations
/// squares 1.2 times the relative error: 3.3e-11 after three, 1.7e-21 after four.
static ScaledRoot emitInverseRoot(FloatMath &m, Value x) {
  const bool wide = m.isWide();
  Value isTiny = m.less(x, wide ? 0x1p-900 : 0x1p-100);
  Value scaled = m.select(isTiny, m.mul(x, m.constant(wide ? 0x1p128 : 0x1p64)), x);
  Value bits =
      m.subBits(m.bits(wide ? 0x5fe6eb50c7b537a9 : 0x5f3759df), m.shiftRight(m.toBits(scaled), 1));
  Value inverse = m.fromBits(bits), half = m.constant(0.5);
  Value negated = m.mul(scaled, m.constant(-0.5));
  for (int iteration = 0; iteration < (wide ? 4 : 3); ++iteration) {
    Value error = m.fma(m.mul(negated, inverse), inverse, half);
    inverse = m.fma(inverse, error, inverse);
  }
  return {scaled, inverse, isTiny};
}

/// Returns `root` where x is a positive number, NaN where it is negative or NaN, and else what
/// `atZero` and `atInfinity` say.
static Value selectRoot(FloatMath &m, Value x, Value root, Value atZero, Value atInfinity) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Value nan = m.constant(std::numeric_limits<double>::quiet_NaN());
  root = m.select(m.less(x, infinity), root, m.select(m.greater(x, 0), atInfinity, nan));
  root = m.select(m.less(x, 0.0), nan, root);
  Value isZero = arith::CmpFOp::create(m.builder(), arith::CmpFPredicate::OEQ, x, m.constant(0));
  return m.select(isZero, atZero, root);
}

//===----------------------------------------------------------------------===//
// tanh
//===----------------------------------------------------------------------===//

/// Returns tanh(x). Below 0.55: q / (q + 2) with q = e^2a - 1 by its Taylor series, a sum of
/// positive terms. Above: 1 - 2 / (e^2a + 1), where the difference is at least 1/2.
static Value emitTanh(FloatMath &m, Value x) {
  Value a = m.abs(x);
  Value twice = m.add(a, a);
  Value two = m.constant(2);
  Value series = m.polynomial(twice, inverseFactorials(1, m.isWide() ? 20 : 12));
  Value q = m.mul(twice, series);
  Value nearZero = m.div(q, m.add(q, two));
  Value one = m.constant(1);
  Value far = m.sub(one, m.div(two, m.add(emitExp(m, twice), one)));
  return m.withSignOf(m.select(m.less(a, 0.55), nearZero, far), x);
}

//===----------------------------------------------------------------------===//
// Error functions
//===----------------------------------------------------------------------===//

/// Returns erf(x) / x for |x| < 1 by its Taylor series, 2 / sqrt(pi) sum of (-x^2)^k / (k! (2k +
/// 1)).
static Value emitErfRatio(FloatMath &m, Value square) {
  SmallVector<double> coefficients;
  double term = 1.1283791670955125739; // 2 / sqrt(pi)
  for (int64_t k = 0, count = m.isWide() ? 20 : 11; k < count; ++k) {
    coefficients.push_back(term / static_cast<double>(2 * k + 1));
    term /= -static_cast<double>(k + 1);
  }
  return m.polynomial(square, coefficients);
}

/// Returns erfc(a) = e^(-a^2) P(t) / (a + 2), t = (a - 2) / (a + 2), for a >= 1. P is the Chebyshev
/// interpolant of the quotient on 1 <= a <= 11 (f32, relative error 5e-10) and 1 <= a <= 28 (f64,
/// 2e-17), computed with 60 digits; beyond, e^(-a^2) is 0.
static Value emitErfcTail(FloatMath &m, Value a) {
  static constexpr double narrow[] = {1.02158270498,    -0.687160686896,    0.279472151773,
                                      -0.0364421097717, -0.0215128785486,   0.00647938821622,
                                      0.00311804062474, -0.000874334796876, -0.000757871333645,
                                      0.000282968792391};
  static constexpr double wide[] = {
      1.0215827052420229771,       -0.68716068441381085565,     0.27947209255605357034,
      -0.036442231506811722286,    -0.021510661889401085841,    0.0064791850626438041535,
      0.0030906120611069247604,    -0.00083729589092710504726,  -0.0006630737822542382068,
      0.000034368610084238761388,  0.00014447875269936489037,   0.000034168789079111011677,
      -0.000021796014822003676115, -0.000016108314099280152824, -5.9866552089069789028e-7,
      2.7796120911727336482e-6,    1.5753703720826390565e-6,    2.8603766381117117268e-6,
      -4.1804699253816802064e-6,   1.5458953478722830645e-6,    -1.5782922535987713237e-7};
  // The clamping keeps t inside the interval of the fit, and a^2 finite.
  Value limit = m.constant(m.isWide() ? 28 : 11);
  a = m.select(m.less(limit, a), limit, a);
  Value two = m.constant(2);
  Value sum = m.add(a, two);
  Value t = m.div(m.sub(a, two), sum);
  Value p = m.polynomial(t, m.isWide() ? ArrayRef<double>(wide) : ArrayRef<double>(narrow));
  // The rounding error of a^2 changes the result by up to a^2 ulp: this corrects it.
  Value square = m.mul(a, a);
  Value error = m.fma(a, a, m.negate(square));
  Value power = emitExp(m, m.negate(square));
  power = m.fma(power, m.negate(error), power);
  return m.mul(power, m.div(p, sum));
}

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

Value mlir::blocksparse::device::deviceAbs(ImplicitLocOpBuilder &b, Value x) {
  return FloatMath(b, x.getType()).abs(x);
}

Value mlir::blocksparse::device::deviceExp(ImplicitLocOpBuilder &b, Value x) {
  FloatMath m(b, x.getType());
  return emitExp(m, x);
}

Value mlir::blocksparse::device::deviceLog(ImplicitLocOpBuilder &b, Value x) {
  FloatMath m(b, x.getType());
  return emitLog(m, x);
}

Value mlir::blocksparse::device::deviceSqrt(ImplicitLocOpBuilder &b, Value x) {
  FloatMath m(b, x.getType());
  auto [scaled, inverse, isTiny] = emitInverseRoot(m, x);
  Value root = m.mul(scaled, inverse);
  Value error = m.fma(m.negate(root), root, scaled);
  root = m.fma(error, m.mul(inverse, m.constant(0.5)), root);
  root = m.select(isTiny, m.mul(root, m.constant(m.isWide() ? 0x1p-64 : 0x1p-32)), root);
  return selectRoot(m, x, root, x, x);
}

Value mlir::blocksparse::device::deviceRsqrt(ImplicitLocOpBuilder &b, Value x) {
  FloatMath m(b, x.getType());
  ScaledRoot root = emitInverseRoot(m, x);
  Value factor = m.constant(m.isWide() ? 0x1p64 : 0x1p32);
  Value result = m.select(root.isTiny, m.mul(root.inverse, factor), root.inverse);
  // The bits of a 0 are its sign alone.
  Value atZero =
      m.fromBits(m.orBits(m.toBits(x), m.bits(m.isWide() ? 0x7ff0000000000000 : 0x7f800000)));
  return selectRoot(m, x, result, atZero, m.constant(0));
}

/// Returns the one of two numbers that `chosen` (i1) names, x if true; the other one if it is NaN.
static Value chooseNumber(FloatMath &m, Value chosen, Value x, Value y) {
  Value isNaN = arith::CmpFOp::create(m.builder(), arith::CmpFPredicate::UNO, y, y);
  return m.select(isNaN, x, m.select(chosen, x, y));
}

Value mlir::blocksparse::device::deviceMaxNumber(ImplicitLocOpBuilder &b, Value x, Value y) {
  FloatMath m(b, x.getType());
  return chooseNumber(m, m.less(y, x), x, y);
}

Value mlir::blocksparse::device::deviceMinNumber(ImplicitLocOpBuilder &b, Value x, Value y) {
  FloatMath m(b, x.getType());
  return chooseNumber(m, m.less(x, y), x, y);
}

Value mlir::blocksparse::device::deviceTanh(ImplicitLocOpBuilder &b, Value x) {
  FloatMath m(b, x.getType());
  return emitTanh(m, x);
}

Value mlir::blocksparse::device::deviceErf(ImplicitLocOpBuilder &b, Value x) {
  FloatMath m(b, x.getType());
  Value a = m.abs(x);
  Value nearZero = m.mul(a, emitErfRatio(m, m.mul(a, a)));
  Value far = m.sub(m.constant(1), emitErfcTail(m, a));
  return m.withSignOf(m.select(m.less(a, 1.0), nearZero, far), x);
}

Value mlir::blocksparse::device::deviceErfc(ImplicitLocOpBuilder &b, Value x) {
  return deviceErfc(b, x, Accuracy::Full);
}

Value mlir::blocksparse::device::deviceErfc(ImplicitLocOpBuilder &b, Value x, Accuracy accuracy) {
  FloatMath m(b, x.getType(), accuracy);
  Value a = m.abs(x);
  Value nearZero = m.fma(m.negate(x), emitErfRatio(m, m.mul(a, a)), m.constant(1));
  Value tail = emitErfcTail(m, a);
  Value far = m.select(m.less(x, 0.0), m.sub(m.constant(2), tail), tail);
  return m.select(m.less(a, 1.0), nearZero, far);
}

Value mlir::blocksparse::device::deviceSigmoid(ImplicitLocOpBuilder &b, Value x) {
  return deviceSigmoid(b, x, Accuracy::Full);
}

Value mlir::blocksparse::device::deviceSigmoid(ImplicitLocOpBuilder &b, Value x,
                                               Accuracy accuracy) {
  FloatMath m(b, x.getType(), accuracy);
  // e^-|x| never overflows; for x < 0 the quotient is e^x / (1 + e^x).
  Value power = emitExp(m, m.negate(m.abs(x)));
  Value inverse = m.div(m.constant(1), m.add(power, m.constant(1)));
  return m.select(m.less(x, 0.0), m.mul(power, inverse), inverse);
}
