// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ElementConversion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;
using namespace mlir::blocksparse;

Type mlir::blocksparse::withElementType(Type like, Type element) {
  if (auto vector = dyn_cast<VectorType>(like))
    return vector.clone(element);
  return element;
}

static TypedAttr splatAttribute(Type type, Attribute element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return SplatElementsAttr::get(vector, element);
  return cast<TypedAttr>(element);
}

static Value integerConstant(ImplicitLocOpBuilder &b, Type type, int64_t value) {
  return arith::ConstantOp::create(
      b, splatAttribute(type, b.getIntegerAttr(getElementTypeOrSelf(type), value)));
}

Value mlir::blocksparse::splatConstant(ImplicitLocOpBuilder &b, Type type, double value) {
  Type element = getElementTypeOrSelf(type);
  if (isa<FloatType>(element))
    return arith::ConstantOp::create(b, splatAttribute(type, b.getFloatAttr(element, value)));
  unsigned width = element.getIntOrFloatBitWidth();
  // Two's complement of the integral value, for values of any magnitude.
  double modulus = std::ldexp(1.0, static_cast<int>(width));
  double wrapped = std::fmod(std::trunc(value), modulus);
  if (wrapped >= modulus / 2)
    wrapped -= modulus;
  if (wrapped < -modulus / 2)
    wrapped += modulus;
  return integerConstant(b, type, static_cast<int64_t>(wrapped));
}

namespace {

/// Emits integer arithmetic on the bit patterns of a scalar or a vector.
class Bits {
public:
  Bits(ImplicitLocOpBuilder &b, Type type) : b(b), type(type) {}

  Value constant(int64_t value) { return integerConstant(b, type, value); }
  Value andWith(Value v, int64_t mask) { return arith::AndIOp::create(b, v, constant(mask)); }
  Value add(Value lhs, Value rhs) { return arith::AddIOp::create(b, lhs, rhs); }
  Value shiftLeft(Value v, int64_t n) { return arith::ShLIOp::create(b, v, constant(n)); }
  Value shiftRight(Value v, int64_t n) { return arith::ShRUIOp::create(b, v, constant(n)); }
  Value bitOr(Value lhs, Value rhs) { return arith::OrIOp::create(b, lhs, rhs); }
  Value equal(Value lhs, int64_t rhs) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lhs, constant(rhs));
  }
  Value above(Value lhs, int64_t rhs) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ugt, lhs, constant(rhs));
  }
  Value below(Value lhs, int64_t rhs) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, lhs, constant(rhs));
  }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(b, condition, yes, no);
  }

private:
  ImplicitLocOpBuilder &b;
  Type type;
};

} // namespace

static Value bitcast(ImplicitLocOpBuilder &b, Value value, Type element) {
  return arith::BitcastOp::create(b, withElementType(value.getType(), element), value);
}

//===----------------------------------------------------------------------===//
// Widening to f32
//===----------------------------------------------------------------------===//

static Value widenToF32(ImplicitLocOpBuilder &b, Value value) {
  Type source = getElementTypeOrSelf(value.getType());
  Type word = withElementType(value.getType(), b.getI32Type());
  Type f32 = b.getF32Type();
  Bits bits(b, word);
  if (isa<BFloat16Type>(source)) {
    Value raw = arith::ExtUIOp::create(b, word, bitcast(b, value, b.getI16Type()));
    return bitcast(b, bits.shiftLeft(raw, 16), f32);
  }
  if (isa<Float8E5M2Type>(source)) {
    // An f8E5M2 is the upper byte of an f16.
    Type half = withElementType(value.getType(), b.getI16Type());
    Value raw = arith::ExtUIOp::create(b, half, bitcast(b, value, b.getI8Type()));
    Value f16 = bitcast(b, Bits(b, half).shiftLeft(raw, 8), b.getF16Type());
    return arith::ExtFOp::create(b, withElementType(value.getType(), f32), f16);
  }
  if (isa<Float8E4M3FNType>(source)) {
    // Exponent and mantissa are shifted to their position in an f32. The biases 7 and 127 differ by
    // a factor of 2^120, and multiplying by it is exact for subnormals too. Only s.1111.111 is NaN.
    Value raw = arith::ExtUIOp::create(b, word, bitcast(b, value, b.getI8Type()));
    Value magnitude = bits.andWith(raw, 0x7f);
    Value scaled =
        arith::MulFOp::create(b, bitcast(b, bits.shiftLeft(magnitude, 20), f32),
                              splatConstant(b, withElementType(word, f32), std::ldexp(1.0, 120)));
    Value sign = bits.shiftLeft(bits.andWith(raw, 0x80), 24);
    Value result = bits.bitOr(bitcast(b, scaled, b.getI32Type()), sign);
    result = bits.select(bits.equal(magnitude, 0x7f), bits.constant(0x7fc00000), result);
    return bitcast(b, result, f32);
  }
  if (source.isF32())
    return value;
  return arith::ExtFOp::create(b, withElementType(value.getType(), f32), value);
}

//===----------------------------------------------------------------------===//
// Narrowing from f32
//===----------------------------------------------------------------------===//

/// Drops the low `drop` bits of `raw`, rounding to nearest, ties to even.
static Value roundBits(Bits &bits, Value raw, int64_t drop) {
  Value odd = bits.andWith(bits.shiftRight(raw, drop), 1);
  Value bias = bits.add(odd, bits.constant((int64_t(1) << (drop - 1)) - 1));
  return bits.shiftRight(bits.add(raw, bias), drop);
}

static Value narrowToBF16(ImplicitLocOpBuilder &b, Value value) {
  Type word = withElementType(value.getType(), b.getI32Type());
  Bits bits(b, word);
  Value raw = bitcast(b, value, b.getI32Type());
  Value rounded = roundBits(bits, raw, 16);
  Value isNan = bits.above(bits.andWith(raw, 0x7fffffff), 0x7f800000);
  rounded = bits.select(isNan, bits.bitOr(bits.shiftRight(raw, 16), bits.constant(0x40)), rounded);
  Value half = arith::TruncIOp::create(b, withElementType(word, b.getI16Type()), rounded);
  return bitcast(b, half, b.getBF16Type());
}

namespace {

/// Describes an 8-bit format with subnormals.
struct SmallFormat {
  int64_t mantissa;
  int64_t bias;
  /// Bits of the f32 that is the smallest normal number of the format.
  int64_t smallestNormal;
  /// Code of the largest magnitude that is neither NaN nor infinity.
  int64_t largest;
  /// Codes, without the sign, of a magnitude that is too large and of NaN.
  int64_t overflow, nan;
};

} // namespace

static Value narrowToF8(ImplicitLocOpBuilder &b, Value value, Type element,
                        const SmallFormat &format) {
  Type word = withElementType(value.getType(), b.getI32Type());
  Bits bits(b, word);
  Value raw = bitcast(b, value, b.getI32Type());
  Value magnitude = bits.andWith(raw, 0x7fffffff);
  // Normal results: rebias the exponent, then drop the surplus bits of the mantissa. A carry out of
  // the mantissa increments the exponent, as it must.
  int64_t drop = 23 - format.mantissa;
  Value rebiased = bits.add(magnitude, bits.constant(-((127 - format.bias) << 23)));
  Value normal = roundBits(bits, rebiased, drop);
  // Subnormal results: adding a number whose last bit has the value of the smallest subnormal of
  // the format makes the adder round at that bit.
  int64_t shift = 127 - format.bias - format.mantissa + 1 + 23;
  Value magic = bits.constant(shift << 23);
  Value sum = arith::AddFOp::create(b, bitcast(b, magnitude, b.getF32Type()),
                                    bitcast(b, magic, b.getF32Type()));
  Value subnormal = arith::SubIOp::create(b, bitcast(b, sum, b.getI32Type()), magic).getResult();
  Value code = bits.select(bits.below(magnitude, format.smallestNormal), subnormal, normal);
  code = bits.select(bits.above(code, format.largest), bits.constant(format.overflow), code);
  code = bits.select(bits.above(magnitude, 0x7f800000), bits.constant(format.nan), code);
  code = bits.bitOr(code, bits.andWith(bits.shiftRight(raw, 24), 0x80));
  Value byte = arith::TruncIOp::create(b, withElementType(word, b.getI8Type()), code);
  return bitcast(b, byte, element);
}

static Value narrowFromF32(ImplicitLocOpBuilder &b, Value value, Type element) {
  if (isa<BFloat16Type>(element))
    return narrowToBF16(b, value);
  if (isa<Float8E5M2Type>(element))
    return narrowToF8(b, value, element, {2, 15, (127 - 14) << 23, 0x7b, 0x7c, 0x7e});
  if (isa<Float8E4M3FNType>(element))
    return narrowToF8(b, value, element, {3, 7, (127 - 6) << 23, 0x7e, 0x7f, 0x7f});
  return arith::TruncFOp::create(b, withElementType(value.getType(), element), value);
}

/// Converts f64 to f32 by rounding to odd, so that a second rounding to a narrower type is correct:
/// an inexact result gets its last bit set.
static Value roundToOddF32(ImplicitLocOpBuilder &b, Value value) {
  Type f32 = withElementType(value.getType(), b.getF32Type());
  Type word = withElementType(value.getType(), b.getI32Type());
  Bits bits(b, word);
  Value nearest = arith::TruncFOp::create(b, f32, value);
  Value back = arith::ExtFOp::create(b, value.getType(), nearest);
  Value raw = bitcast(b, nearest, b.getI32Type());
  // If rounding increased the magnitude, step back towards zero; then set the last bit.
  auto magnitude = [&](Value v, Type integer, int64_t mask) {
    Bits wide(b, withElementType(v.getType(), integer));
    return wide.andWith(bitcast(b, v, integer), mask);
  };
  Type i64 = b.getI64Type();
  Value grew =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ugt, magnitude(back, i64, 0x7fffffffffffffff),
                            magnitude(value, i64, 0x7fffffffffffffff));
  Value truncated = bits.select(grew, bits.add(raw, bits.constant(-1)), raw);
  Value inexact = arith::CmpFOp::create(b, arith::CmpFPredicate::ONE, back, value);
  Value odd = bits.bitOr(truncated, bits.constant(1));
  return bitcast(b, bits.select(inexact, odd, raw), b.getF32Type());
}

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

static Value convertInteger(ImplicitLocOpBuilder &b, Value value, Type element) {
  Type source = getElementTypeOrSelf(value.getType());
  Type target = withElementType(value.getType(), element);
  if (isa<FloatType>(element)) {
    if (element.isF64() || element.isF32())
      return arith::SIToFPOp::create(b, target, value);
    Value wide =
        arith::SIToFPOp::create(b, withElementType(value.getType(), b.getF32Type()), value);
    return narrowFromF32(b, wide, element);
  }
  if (element.getIntOrFloatBitWidth() > source.getIntOrFloatBitWidth())
    return arith::ExtSIOp::create(b, target, value);
  return arith::TruncIOp::create(b, target, value);
}

Value mlir::blocksparse::convertElements(ImplicitLocOpBuilder &b, Value value, Type element) {
  Type source = getElementTypeOrSelf(value.getType());
  if (source == element)
    return value;
  if (source.isInteger())
    return convertInteger(b, value, element);
  if (source.isF64())
    return element.isF32()
               ? arith::TruncFOp::create(b, withElementType(value.getType(), element), value)
                     .getResult()
               : narrowFromF32(b, roundToOddF32(b, value), element);
  Value wide = widenToF32(b, value);
  if (element.isF64())
    return arith::ExtFOp::create(b, withElementType(value.getType(), element), wide);
  return element.isF32() ? wide : narrowFromF32(b, wide, element);
}
