// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Activation.h"

#include "ElementConversion.h"
#include "VectorExp.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::blocksparse;

namespace {

/// Emits floating-point arithmetic on values of one type, with literal operands.
class Floats {
public:
  Floats(ImplicitLocOpBuilder &b, Type type) : b(b), type(type) {}

  Value constant(double value) { return splatConstant(b, type, value); }
  Value add(Value lhs, Value rhs) { return arith::AddFOp::create(b, lhs, rhs); }
  Value sub(Value lhs, Value rhs) { return arith::SubFOp::create(b, lhs, rhs); }
  Value mul(Value lhs, Value rhs) { return arith::MulFOp::create(b, lhs, rhs); }
  Value div(Value lhs, Value rhs) { return arith::DivFOp::create(b, lhs, rhs); }
  Value fma(Value x, Value y, Value z) { return math::FmaOp::create(b, x, y, z); }
  Value less(Value lhs, double rhs) {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, lhs, constant(rhs));
  }
  Value equal(Value lhs, double rhs) {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, lhs, constant(rhs));
  }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(b, condition, yes, no);
  }
  /// Returns coefficients[0] + coefficients[1] x + ...
  Value polynomial(Value x, ArrayRef<double> coefficients) {
    Value sum = constant(coefficients.back());
    for (double coefficient : llvm::reverse(coefficients.drop_back()))
      sum = fma(sum, x, constant(coefficient));
    return sum;
  }

private:
  ImplicitLocOpBuilder &b;
  Type type;
};

} // namespace

/// Emits 1 / (1 + exp(-x)).
static Value emitSigmoid(ImplicitLocOpBuilder &b, Value x) {
  Floats f(b, x.getType());
  Value e = emitExp(b, arith::NegFOp::create(b, x));
  return f.div(f.constant(1), f.add(f.constant(1), e));
}

/// Emits x * factor, but 0 if the factor is 0: -infinity times 0 would be NaN.
static Value gate(ImplicitLocOpBuilder &b, Value x, Value factor) {
  Floats f(b, x.getType());
  return f.select(f.equal(factor, 0), f.constant(0), f.mul(x, factor));
}

/// Emits erfc(t) in f32 for t >= 0 as exp(-t^2) u p(u) with u = 1 / (1 + 0.3 t). The coefficients
/// are a least-squares fit of exp(t^2) erfc(t) on [0, 11] with a relative error of 2.2e-8.
static Value emitErfcF32(ImplicitLocOpBuilder &b, Value t) {
  Floats f(b, t.getType());
  Value u = f.div(f.constant(1), f.fma(t, f.constant(0.3), f.constant(1)));
  Value p = f.polynomial(u, {0.1691824254151926, 0.17080427646964685, 0.14773911624773658,
                             0.2171580245092012, -0.09967024154311806, 0.5547212751242885,
                             -0.5182041843152593, 0.48835184135876036, -0.13008255511623926});
  Value minusSquare = arith::NegFOp::create(b, f.mul(t, t));
  return f.mul(f.mul(u, p), emitExp(b, minusSquare));
}

/// Emits x / 2 * erfc(-x / sqrt 2).
static Value emitGeluErf(ImplicitLocOpBuilder &b, Value x) {
  Floats f(b, x.getType());
  constexpr double sqrtHalf = 0.70710678118654752440;
  Value half = f.mul(x, f.constant(0.5));
  Value t = f.mul(x, f.constant(sqrtHalf));
  if (getElementTypeOrSelf(x.getType()).isF64()) {
    // 1 + erf(t) would cancel for t < 0.
    Value factor = math::ErfcOp::create(b, arith::NegFOp::create(b, t));
    return gate(b, half, factor);
  }
  Value tail = emitErfcF32(b, math::AbsFOp::create(b, t));
  Value factor = f.select(f.less(x, 0), tail, f.sub(f.constant(2), tail));
  return gate(b, half, factor);
}

/// Emits x * sigmoid(2 sqrt(2 / pi) (x + 0.044715 x^3)), which equals x / 2 * (1 + tanh(..)).
static Value emitGeluTanh(ImplicitLocOpBuilder &b, Value x) {
  Floats f(b, x.getType());
  constexpr double slope = 1.59576912160573071176;
  Value square = f.mul(x, x);
  Value inner = f.fma(square, f.constant(slope * 0.044715), f.constant(slope));
  return gate(b, x, emitSigmoid(b, f.mul(x, inner)));
}

static Value emitRelu(ImplicitLocOpBuilder &b, Value x) {
  Value zero = splatConstant(b, x.getType(), 0);
  if (getElementTypeOrSelf(x.getType()).isInteger())
    return arith::MaxSIOp::create(b, x, zero);
  // A comparison with NaN is false, so NaN is kept.
  Value negative = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, zero);
  return arith::SelectOp::create(b, negative, zero, x);
}

Value mlir::blocksparse::emitActivation(ImplicitLocOpBuilder &b, ActivationAttr activation,
                                        Value x) {
  if (!activation)
    return x;
  Floats f(b, x.getType());
  switch (activation.getKind()) {
  case ActivationKind::None:
    return x;
  case ActivationKind::Relu:
    return emitRelu(b, x);
  case ActivationKind::LeakyRelu:
    return f.select(f.less(x, 0), f.mul(x, f.constant(activation.getSlope().convertToDouble())), x);
  case ActivationKind::GeluErf:
    return emitGeluErf(b, x);
  case ActivationKind::GeluTanh:
    return emitGeluTanh(b, x);
  case ActivationKind::GeluQuick:
    return gate(b, x, emitSigmoid(b, f.mul(x, f.constant(1.702))));
  case ActivationKind::Sigmoid:
    return emitSigmoid(b, x);
  case ActivationKind::Silu:
    return gate(b, x, emitSigmoid(b, x));
  }
  return x;
}
