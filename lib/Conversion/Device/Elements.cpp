// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Elements.h"

#include "DeviceMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

//===----------------------------------------------------------------------===//
// f8. A code is sign, exponent, significand, as in f16: E5M2 is the upper byte of an f16, and
// E4M3FN with its magnitude shifted by 7 is an f16 that is 2^8 too small (the biases are 7 and 15).
//===----------------------------------------------------------------------===//

namespace {

/// Describes an 8-bit format: it stores `bits` significand bits, and codes from `special` on are
/// not finite.
struct F8Format {
  int64_t bits, bias, special;
  bool hasInfinity;
};

} // namespace

static bool isF8(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }

static F8Format getF8Format(Type type) {
  return isa<Float8E5M2Type>(type) ? F8Format{2, 15, 0x7c, true} : F8Format{3, 7, 0x7f, false};
}

static Value i16(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIntOp::create(b, b.getI16Type(), value);
}

static Value i32(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIntOp::create(b, b.getI32Type(), value);
}

/// Converts f8 to f32. The result is exact.
static Value decodeF8(ImplicitLocOpBuilder &b, Value element) {
  bool e5m2 = isa<Float8E5M2Type>(element.getType());
  Value byte = arith::BitcastOp::create(b, b.getI8Type(), element);
  Value code = arith::ExtUIOp::create(b, b.getI16Type(), byte);
  if (e5m2) {
    Value half = arith::ShLIOp::create(b, code, i16(b, 8));
    half = arith::BitcastOp::create(b, b.getF16Type(), half);
    return arith::ExtFOp::create(b, b.getF32Type(), half);
  }
  Value magnitude = arith::AndIOp::create(b, code, i16(b, 0x7f));
  Value sign = arith::ShLIOp::create(b, arith::AndIOp::create(b, code, i16(b, 0x80)), i16(b, 8));
  Value half = arith::OrIOp::create(b, sign, arith::ShLIOp::create(b, magnitude, i16(b, 7)));
  half = arith::BitcastOp::create(b, b.getF16Type(), half);
  Value number = arith::ExtFOp::create(b, b.getF32Type(), half);
  number = arith::MulFOp::create(b, number, floatConstant(b, b.getF32Type(), 256));
  Value nan = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, magnitude, i16(b, 0x7f));
  Value nanNumber = floatConstant(b, b.getF32Type(), std::numeric_limits<double>::quiet_NaN());
  return arith::SelectOp::create(b, nan, nanNumber, number);
}

/// Converts f32 to f8, rounding to nearest even.
static Value encodeF8(ImplicitLocOpBuilder &b, Value number, Type type) {
  F8Format format = getF8Format(type);
  Type f32 = b.getF32Type();
  Value all = arith::BitcastOp::create(b, b.getI32Type(), number);
  Value magnitude = arith::AndIOp::create(b, all, i32(b, 0x7fffffff));
  // Normal numbers: round the f32 significand to `bits` bits, then exchange the biases.
  int64_t dropped = 23 - format.bits;
  Value odd =
      arith::AndIOp::create(b, arith::ShRUIOp::create(b, magnitude, i32(b, dropped)), i32(b, 1));
  Value rounded = arith::AddIOp::create(b, magnitude, i32(b, (1 << (dropped - 1)) - 1));
  rounded = arith::ShRUIOp::create(b, arith::AddIOp::create(b, rounded, odd), i32(b, dropped));
  Value normal = arith::SubIOp::create(b, rounded, i32(b, (127 - format.bias) << format.bits));
  Value tooLarge =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, normal, i32(b, format.special));
  normal = arith::SelectOp::create(b, tooLarge, i32(b, format.special), normal);
  // For denormal numbers, adding 2^23 times the smallest denormal leaves the rounded multiple in
  // the low bits.
  Value absolute = arith::BitcastOp::create(b, f32, magnitude);
  double smallestNormal = std::ldexp(1.0, static_cast<int>(1 - format.bias));
  double unit = std::ldexp(smallestNormal, -static_cast<int>(format.bits));
  double shift = std::ldexp(unit, 23);
  Value shifted = arith::AddFOp::create(b, absolute, floatConstant(b, f32, shift));
  Value denormal =
      arith::SubIOp::create(b, arith::BitcastOp::create(b, b.getI32Type(), shifted),
                            i32(b, llvm::bit_cast<int32_t>(static_cast<float>(shift))));
  Value isDenormal = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, absolute,
                                           floatConstant(b, f32, smallestNormal));
  Value code = arith::SelectOp::create(b, isDenormal, denormal, normal);
  Value isNan = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, number, number);
  code = arith::SelectOp::create(b, isNan, i32(b, 0x7f), code);
  Value sign = arith::AndIOp::create(b, arith::ShRUIOp::create(b, all, i32(b, 24)), i32(b, 0x80));
  Value byte = arith::TruncIOp::create(b, b.getI8Type(), arith::OrIOp::create(b, code, sign));
  return arith::BitcastOp::create(b, type, byte);
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

Value mlir::blocksparse::device::zeroElement(ImplicitLocOpBuilder &b, Type type) {
  return arith::ConstantOp::create(b, b.getZeroAttr(type));
}

Value mlir::blocksparse::device::numberConstant(ImplicitLocOpBuilder &b, Type type, double value) {
  if (isa<FloatType>(type))
    return floatConstant(b, type, value);
  return arith::ConstantIntOp::create(b, type, static_cast<int64_t>(value));
}

static Value convertFloat(ImplicitLocOpBuilder &b, Value element, Type type) {
  unsigned from = element.getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
  if (from < to)
    return arith::ExtFOp::create(b, type, element);
  if (from > to)
    return arith::TruncFOp::create(b, type, element);
  // f16 and bf16.
  Value wide = arith::ExtFOp::create(b, b.getF32Type(), element);
  return arith::TruncFOp::create(b, type, wide);
}

static Value convertInteger(ImplicitLocOpBuilder &b, Value element, Type type) {
  unsigned from = element.getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
  if (from < to)
    return arith::ExtSIOp::create(b, type, element);
  return arith::TruncIOp::create(b, type, element);
}

Value mlir::blocksparse::device::convertElement(ImplicitLocOpBuilder &b, Value element, Type type) {
  Type from = element.getType();
  if (from == type)
    return element;
  if (isF8(from))
    return convertElement(b, decodeF8(b, element), type);
  if (isF8(type))
    return encodeF8(b, convertElement(b, element, b.getF32Type()), type);
  bool fromFloat = isa<FloatType>(from), toFloat = isa<FloatType>(type);
  if (fromFloat && toFloat)
    return convertFloat(b, element, type);
  if (!fromFloat && !toFloat)
    return convertInteger(b, element, type);
  if (toFloat)
    return arith::SIToFPOp::create(b, type, element);
  return arith::FPToSIOp::create(b, type, element);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

static bool isFloat(Value x) { return isa<FloatType>(x.getType()); }

Value mlir::blocksparse::device::addNumbers(ImplicitLocOpBuilder &b, Value x, Value y) {
  if (isFloat(x))
    return arith::AddFOp::create(b, x, y);
  return arith::AddIOp::create(b, x, y);
}

Value mlir::blocksparse::device::subNumbers(ImplicitLocOpBuilder &b, Value x, Value y) {
  if (isFloat(x))
    return arith::SubFOp::create(b, x, y);
  return arith::SubIOp::create(b, x, y);
}

Value mlir::blocksparse::device::mulNumbers(ImplicitLocOpBuilder &b, Value x, Value y) {
  if (isFloat(x))
    return arith::MulFOp::create(b, x, y);
  return arith::MulIOp::create(b, x, y);
}

Value mlir::blocksparse::device::multiplyAdd(ImplicitLocOpBuilder &b, Value x, Value y, Value z) {
  if (isFloat(x))
    return fusedMultiplyAdd(b, x, y, z);
  return arith::AddIOp::create(b, arith::MulIOp::create(b, x, y), z);
}

Value mlir::blocksparse::device::isZero(ImplicitLocOpBuilder &b, Value x) {
  Value zero = zeroElement(b, x.getType());
  if (isFloat(x))
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, x, zero);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, zero);
}

Value mlir::blocksparse::device::maxNumbers(ImplicitLocOpBuilder &b, Value x, Value y) {
  Value larger = arith::CmpFOp::create(b, arith::CmpFPredicate::UGT, y, x);
  Value ordered = arith::CmpFOp::create(b, arith::CmpFPredicate::ORD, x, x);
  return arith::SelectOp::create(b, arith::AndIOp::create(b, larger, ordered), y, x);
}
