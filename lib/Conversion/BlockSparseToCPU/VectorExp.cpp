// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "VectorExp.h"

#include "ElementConversion.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::blocksparse;

/// Emits 2^n for i32 n in [-126, 127].
static Value powerOfTwo(ImplicitLocOpBuilder &b, Value n) {
  Type word = n.getType();
  Value biased = arith::AddIOp::create(b, n, splatConstant(b, word, 127));
  Value bits = arith::ShLIOp::create(b, biased, splatConstant(b, word, 23));
  return arith::BitcastOp::create(b, withElementType(word, b.getF32Type()), bits);
}

/// Emits exp(x) = 2^n e^r with n = round(x / ln 2) and r = x - n ln 2.
static Value emitExpF32(ImplicitLocOpBuilder &b, Value x) {
  Type type = x.getType(), word = withElementType(type, b.getI32Type());
  auto contract = arith::FastMathFlagsAttr::get(b.getContext(), arith::FastMathFlags::contract);
  auto constant = [&](double value) { return splatConstant(b, type, value); };
  auto mul = [&](Value l, Value r) -> Value { return arith::MulFOp::create(b, l, r, contract); };
  auto add = [&](Value l, Value r) -> Value { return arith::AddFOp::create(b, l, r, contract); };
  // NaN is not clamped, because its comparison is false.
  auto clamp = [&](arith::CmpFPredicate beyond, double bound) {
    Value out = arith::CmpFOp::create(b, beyond, x, constant(bound));
    x = arith::SelectOp::create(b, out, constant(bound), x);
  };
  clamp(arith::CmpFPredicate::OLT, -104);
  clamp(arith::CmpFPredicate::OGT, 89);

  // Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits.
  Value shifter = constant(12582912.0);
  Value shifted = add(mul(x, constant(1.4426950408889634)), shifter);
  Value nearest = arith::SubFOp::create(b, shifted, shifter);
  Value n = arith::SubIOp::create(b, arith::BitcastOp::create(b, word, shifted),
                                  splatConstant(b, word, 0x4b400000));

  // ln 2 is split in two parts, the first of 9 bits so that n times it is exact.
  Value r = add(x, mul(nearest, constant(-0.693359375)));
  r = add(r, mul(nearest, constant(2.1219444005469057e-4)));

  // (e^r - 1 - r) / r^2 on |r| <= ln 2 / 2: minimax polynomial of degree 4, with an error of 3.1e-9
  // of e^r.
  Value q = constant(0.0013814538556303462);
  for (double coefficient :
       {0.008368745122565057, 0.041668390822669536, 0.16666520398990015, 0.4999999343190604})
    q = add(mul(q, r), constant(coefficient));
  Value e = add(add(mul(mul(r, r), q), r), constant(1.0));

  // The power of two is applied as two factors, because n reaches -150 and 128.
  Value half = arith::ShRSIOp::create(b, n, splatConstant(b, word, 1));
  Value rest = arith::SubIOp::create(b, n, half);
  e = arith::MulFOp::create(b, e, powerOfTwo(b, half));
  return arith::MulFOp::create(b, e, powerOfTwo(b, rest));
}

Value mlir::blocksparse::emitExp(ImplicitLocOpBuilder &b, Value x) {
  if (getElementTypeOrSelf(x.getType()).isF64())
    return math::ExpOp::create(b, x);
  return emitExpF32(b, x);
}
