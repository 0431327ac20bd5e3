// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `cvt` (PTX ISA, "Data Movement and Conversion Instructions").

#include "Execute.h"
#include "Float8.h"

#include <limits>

using namespace blocksparse::sim;

namespace {

using Run = void (*)(Warp &, const Op &);

/// Converts between integers: cuts the value to the source type's width, which aux[0] gives as 64
/// minus the width, and then to the destination's (aux[2]), with or without sign (aux[1], aux[3]).
template <typename R, typename A>
void convertInteger(Warp &warp, const Op &op) {
  const A *a = warp.in<A>(op.a);
  auto cut = [](uint64_t value, uint32_t shift, uint32_t isSigned) {
    value <<= shift;
    return isSigned ? static_cast<uint64_t>(static_cast<int64_t>(value) >> shift) : value >> shift;
  };
  alignas(64) R results[laneCount];
  for (unsigned lane = 0; lane < laneCount; ++lane)
    results[lane] = static_cast<R>(cut(cut(a[lane], op.aux[0], op.aux[1]), op.aux[2], op.aux[3]));
  warp.store(op.d, results);
}

template <typename R>
Run pickInteger(unsigned bits) {
  return bits == 16   ? convertInteger<R, uint16_t>
         : bits == 32 ? convertInteger<R, uint32_t>
                      : convertInteger<R, uint64_t>;
}

struct HalfToFloat {
  static float apply(uint16_t a) { return canonical(halfToFloat(a)); }
};
struct Bf16ToFloat {
  static float apply(uint16_t a) { return canonical(bf16ToFloat(a)); }
};
struct FloatToHalf {
  static uint16_t apply(float a) { return floatToHalf(a); }
};
struct FloatToBf16 {
  static uint16_t apply(float a) { return floatToBf16(a); }
};
struct FloatToTf32 {
  static float apply(float a) { return roundToTf32(a); }
};
/// The first source goes to the upper half.
struct FloatsToHalf2 {
  static uint32_t apply(float a, float b) {
    return static_cast<uint32_t>(floatToHalf(a)) << 16 | floatToHalf(b);
  }
};
struct FloatsToBf162 {
  static uint32_t apply(float a, float b) {
    return static_cast<uint32_t>(floatToBf16(a)) << 16 | floatToBf16(b);
  }
};
struct FloatsToE4m32 {
  static uint16_t apply(float a, float b) {
    return static_cast<uint16_t>(floatToE4m3(a) << 8 | floatToE4m3(b));
  }
};
struct FloatsToE5m22 {
  static uint16_t apply(float a, float b) {
    return static_cast<uint16_t>(floatToE5m2(a) << 8 | floatToE5m2(b));
  }
};
struct E4m32ToHalf2 {
  static uint32_t apply(uint16_t a) {
    return static_cast<uint32_t>(floatToHalf(e4m3ToFloat(a >> 8))) << 16 |
           floatToHalf(e4m3ToFloat(a & 255));
  }
};
struct E5m22ToHalf2 {
  static uint32_t apply(uint16_t a) {
    return static_cast<uint32_t>(floatToHalf(e5m2ToFloat(a >> 8))) << 16 |
           floatToHalf(e5m2ToFloat(a & 255));
  }
};
template <typename R>
struct IntegerToFloat {
  template <typename A>
  static R apply(A a) {
    return static_cast<R>(a);
  }
};
struct DoubleToFloat {
  static float apply(double a) { return canonical(static_cast<float>(a)); }
};
struct FloatToDouble {
  static double apply(float a) { return a; }
};

double roundToInteger(double value, uint32_t mode) {
  switch (mode) {
  case 0:
    return std::nearbyint(value);
  case 1:
    return std::trunc(value);
  case 2:
    return std::floor(value);
  default:
    return std::ceil(value);
  }
}

/// Converts to an integer by the mode in aux[0] (0 rni, 1 rzi, 2 rmi, 3 rpi). Values out of range
/// saturate; a NaN becomes 0.
template <typename R, typename A>
void convertToInteger(Warp &warp, const Op &op) {
  const A *a = warp.in<A>(op.a);
  alignas(64) R results[laneCount];
  constexpr R lowest = std::numeric_limits<R>::min(), highest = std::numeric_limits<R>::max();
  for (unsigned lane = 0; lane < laneCount; ++lane) {
    double value = roundToInteger(a[lane], op.aux[0]);
    results[lane] = std::isnan(value)                       ? R(0)
                    : value <= static_cast<double>(lowest)  ? lowest
                    : value >= static_cast<double>(highest) ? highest
                                                            : static_cast<R>(value);
  }
  warp.store(op.d, results);
}

template <typename A>
Run pickToInteger(Type to) {
  if (to.bits == 32)
    return to.isSigned() ? convertToInteger<int32_t, A> : convertToInteger<uint32_t, A>;
  if (to.bits == 64)
    return to.isSigned() ? convertToInteger<int64_t, A> : convertToInteger<uint64_t, A>;
  return nullptr;
}

template <typename R>
Run pickFromInteger(Type from) {
  if (from.bits == 16)
    return from.isSigned() ? executeUnary<R, int16_t, IntegerToFloat<R>>
                           : executeUnary<R, uint16_t, IntegerToFloat<R>>;
  if (from.bits == 32)
    return from.isSigned() ? executeUnary<R, int32_t, IntegerToFloat<R>>
                           : executeUnary<R, uint32_t, IntegerToFloat<R>>;
  if (from.bits == 64)
    return from.isSigned() ? executeUnary<R, int64_t, IntegerToFloat<R>>
                           : executeUnary<R, uint64_t, IntegerToFloat<R>>;
  return nullptr;
}

bool isInteger(Type type) {
  return type.kind == Type::Kind::Signed || type.kind == Type::Kind::Unsigned;
}

/// Registers may be wider than the types of an integer conversion.
bool decodeInteger(Decoder &decoder, Type to, Type from) {
  Op &op = decoder.op;
  unsigned toBits = decoder.in.operands[0].bits;
  unsigned fromBits = decoder.in.operands[1].kind == Operand::Kind::Register
                          ? decoder.in.operands[1].bits
                          : from.bits;
  if (toBits < 16 || fromBits < 16 || toBits < to.bits || fromBits < from.bits)
    return decoder.expected("registers at least as wide as the types");
  op.opClass = OpClass::Integer;
  op.run = toBits == 16   ? pickInteger<uint16_t>(fromBits)
           : toBits == 32 ? pickInteger<uint32_t>(fromBits)
                          : pickInteger<uint64_t>(fromBits);
  op.aux[0] = 64 - from.bits;
  op.aux[1] = from.isSigned();
  op.aux[2] = 64 - to.bits;
  op.aux[3] = to.isSigned();
  return decoder.target(0, toBits, op.d) && decoder.source(1, fromBits, op.a);
}

/// Returns the function for a conversion to nearest even ("rn") or an exact one between formats.
Run pickFormat(Type to, Type from, bool nearest, bool satfinite) {
  using Kind = Type::Kind;
  bool fromFloat = from.is(Kind::Float, 32);
  if (satfinite) {
    if (fromFloat && nearest && to.kind == Kind::E4M3)
      return executeBinary<uint16_t, float, float, FloatsToE4m32>;
    if (fromFloat && nearest && to.kind == Kind::E5M2)
      return executeBinary<uint16_t, float, float, FloatsToE5m22>;
    return nullptr;
  }
  if (to.is(Kind::Float, 32)) {
    if (from.is(Kind::Float, 16) && !nearest)
      return executeUnary<float, uint16_t, HalfToFloat>;
    if (from.is(Kind::BFloat, 16) && !nearest)
      return executeUnary<float, uint16_t, Bf16ToFloat>;
    if (from.is(Kind::Float, 64) && nearest)
      return executeUnary<float, double, DoubleToFloat>;
    return isInteger(from) && nearest ? pickFromInteger<float>(from) : nullptr;
  }
  if (to.is(Kind::Float, 64)) {
    if (fromFloat && !nearest)
      return executeUnary<double, float, FloatToDouble>;
    return isInteger(from) && nearest ? pickFromInteger<double>(from) : nullptr;
  }
  if (!nearest)
    return nullptr;
  if (to.packed && to.kind == Kind::Float && from.kind == Kind::E4M3)
    return executeUnary<uint32_t, uint16_t, E4m32ToHalf2>;
  if (to.packed && to.kind == Kind::Float && from.kind == Kind::E5M2)
    return executeUnary<uint32_t, uint16_t, E5m22ToHalf2>;
  if (!fromFloat)
    return nullptr;
  if (to.is(Kind::Float, 16))
    return executeUnary<uint16_t, float, FloatToHalf>;
  if (to.is(Kind::BFloat, 16))
    return executeUnary<uint16_t, float, FloatToBf16>;
  if (to.packed && to.kind == Kind::Float)
    return executeBinary<uint32_t, float, float, FloatsToHalf2>;
  if (to.packed && to.kind == Kind::BFloat)
    return executeBinary<uint32_t, float, float, FloatsToBf162>;
  return nullptr;
}

bool decodeConvert(Decoder &decoder) {
  std::optional<Type> to = decoder.takeType();
  std::optional<Type> from = decoder.takeType();
  size_t count = decoder.in.operands.size();
  if (!to || !from || count < 2 || count > 3)
    return decoder.notModelled();
  if (isInteger(*to) && isInteger(*from))
    return decodeInteger(decoder, *to, *from);
  Op &op = decoder.op;
  op.opClass = OpClass::Float;
  if (isInteger(*to)) {
    static constexpr std::string_view modes[] = {"rni", "rzi", "rmi", "rpi"};
    bool found = false;
    for (uint32_t mode = 0; mode < 4 && !found; ++mode)
      if ((found = decoder.take(modes[mode])))
        op.aux[0] = mode;
    if (found && from->is(Type::Kind::Float, 32))
      op.run = pickToInteger<float>(*to);
    else if (found && from->is(Type::Kind::Float, 64))
      op.run = pickToInteger<double>(*to);
  } else if (to->kind == Type::Kind::TFloat) {
    op.run = decoder.take("rna") ? executeUnary<float, float, FloatToTf32> : nullptr;
  } else {
    bool nearest = decoder.take("rn");
    op.run = pickFormat(*to, *from, nearest, decoder.take("satfinite"));
  }
  bool two = to->packed && !from->packed;
  if (!op.run || count != (two ? 3u : 2u))
    return decoder.notModelled();
  return decoder.target(0, to->bits, op.d) && decoder.source(1, from->bits, op.a) &&
         (!two || decoder.source(2, from->bits, op.b));
}

} // namespace

void blocksparse::sim::addConvertInstructions(DecodeTable &table) { table["cvt"] = decodeConvert; }
