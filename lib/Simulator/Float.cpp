// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Floating-point arithmetic (PTX ISA, "Floating Point Instructions" and "Half Precision Floating
// Point Instructions"). Exact instructions round to nearest even as the host does. Approximate ones
// are computed in double precision and rounded, which is within their documented error.

#include "Float.h"

#include "Execute.h"
#include "FusedProducts.h"

using namespace blocksparse::sim;

namespace {

struct Add {
  static float apply(float a, float b) { return canonical(a + b); }
  static double apply(double a, double b) { return a + b; }
};
struct Sub {
  static float apply(float a, float b) { return canonical(a - b); }
  static double apply(double a, double b) { return a - b; }
};
struct Mul {
  static float apply(float a, float b) { return canonical(a * b); }
  static double apply(double a, double b) { return a * b; }
};
struct Div {
  static float apply(float a, float b) { return canonical(a / b); }
  static double apply(double a, double b) { return a / b; }
};
/// A NaN loses against a number; -0 is less than +0.
struct Min {
  template <typename T>
  static T apply(T a, T b) {
    T smaller = a < b || (a == b && std::signbit(a)) ? a : b;
    return std::isnan(a) ? b : std::isnan(b) ? a : smaller;
  }
};
struct Max {
  template <typename T>
  static T apply(T a, T b) {
    T larger = a > b || (a == b && !std::signbit(a)) ? a : b;
    return std::isnan(a) ? b : std::isnan(b) ? a : larger;
  }
};
/// Makes the result of `F` canonical, and a NaN where `propagates` and an operand is one.
template <typename F, bool propagates>
struct MinMaxFloat {
  static float apply(float a, float b) {
    if (propagates && (std::isnan(a) || std::isnan(b)))
      return std::bit_cast<float>(canonicalNaN);
    return canonical(F::apply(a, b));
  }
  static double apply(double a, double b) { return F::apply(a, b); }
};
struct NegateBits {
  static uint32_t apply(uint32_t a) { return a ^ 0x80000000u; }
  static uint64_t apply(uint64_t a) { return a ^ 0x8000000000000000u; }
  static uint16_t apply(uint16_t a) { return a ^ 0x8000u; }
};
struct AbsoluteBits {
  static uint32_t apply(uint32_t a) { return a & 0x7fffffffu; }
  static uint64_t apply(uint64_t a) { return a & 0x7fffffffffffffffu; }
  static uint16_t apply(uint16_t a) { return a & 0x7fffu; }
};
/// Flushes subnormal operands and results of an f32 instruction.
template <typename F>
struct Flushed {
  template <typename... A>
  static float apply(A... a) {
    return flush(F::apply(flush(a)...));
  }
};
/// Computes an instruction of 16 bits in f32. For add, sub and mul the second rounding changes
/// nothing, because 24 bits are at least 2 * 11 + 2.
template <typename F>
struct InHalf {
  template <typename... A>
  static uint16_t apply(A... a) {
    return floatToHalf(F::apply(halfToFloat(a)...));
  }
};
template <typename F>
struct InBf16 {
  template <typename... A>
  static uint16_t apply(A... a) {
    return floatToBf16(F::apply(bf16ToFloat(a)...));
  }
};
/// Returns a * b + c, in f32 rounded to odd: an inexact result gets an odd last bit, so that a
/// further rounding to 16 bits is that of the exact number. Requires operands of 16 bits, whose
/// product is exact in f64.
float fmaToOdd(double a, double b, double c) {
  const double product = a * b, sum = product + c;
  if (!std::isfinite(sum))
    return canonical(static_cast<float>(sum));
  // The error of the sum (Knuth's two-sum).
  const double part = sum - product;
  const double error = (product - (sum - part)) + (c - part);
  double odd = sum;
  if (error != 0 && std::bit_cast<uint64_t>(sum) % 2 == 0)
    odd = std::nextafter(sum, error > 0 ? HUGE_VAL : -HUGE_VAL);
  float rounded = static_cast<float>(odd);
  if (static_cast<double>(rounded) == odd)
    return rounded;
  if (std::fabs(static_cast<double>(rounded)) > std::fabs(odd))
    rounded = std::nextafter(rounded, 0.0f);
  return std::bit_cast<float>(std::bit_cast<uint32_t>(rounded) | 1);
}
struct HalfFma {
  static uint16_t apply(uint16_t a, uint16_t b, uint16_t c) {
    return floatToHalf(fmaToOdd(halfToFloat(a), halfToFloat(b), halfToFloat(c)));
  }
};
struct Bf16Fma {
  static uint16_t apply(uint16_t a, uint16_t b, uint16_t c) {
    return floatToBf16(fmaToOdd(bf16ToFloat(a), bf16ToFloat(b), bf16ToFloat(c)));
  }
};
struct Reciprocal {
  static float apply(float a) { return canonical(1.0f / a); }
  static double apply(double a) { return 1.0 / a; }
};
struct SquareRoot {
  static float apply(float a) { return canonical(std::sqrt(a)); }
  static double apply(double a) { return std::sqrt(a); }
};
struct ReciprocalRoot {
  static float apply(float a) {
    return canonical(static_cast<float>(1.0 / std::sqrt(static_cast<double>(a))));
  }
};
struct Exp2 {
  static float apply(float a) {
    return canonical(static_cast<float>(std::exp2(static_cast<double>(a))));
  }
};
struct Log2 {
  static float apply(float a) {
    return canonical(static_cast<float>(std::log2(static_cast<double>(a))));
  }
};
struct Tanh {
  static float apply(float a) {
    return canonical(static_cast<float>(std::tanh(static_cast<double>(a))));
  }
};

/// Computes fma of f32, with subnormals as zeros or not.
template <bool flushes>
void executeFma32(Warp &warp, const Op &op) {
  const float *sources[] = {warp.in<float>(op.a), warp.in<float>(op.b), warp.in<float>(op.c)};
  alignas(64) float flushed[3][laneCount], results[laneCount];
  for (unsigned i = 0; i < 3 && flushes; ++i) {
    for (unsigned lane = 0; lane < laneCount; ++lane)
      flushed[i][lane] = flush(sources[i][lane]);
    sources[i] = flushed[i];
  }
  fuseLanes(results, sources[0], sources[1], sources[2]);
  for (float &result : results)
    result = flushes ? flush(canonical(result)) : canonical(result);
  warp.store(op.d, results);
}

void executeFma64(Warp &warp, const Op &op) {
  alignas(64) double results[laneCount];
  fuseLanes(results, warp.in<double>(op.a), warp.in<double>(op.b), warp.in<double>(op.c));
  warp.store(op.d, results);
}

template <typename F>
bool decodeUnary(Decoder &decoder, Type type) {
  bool ftz = decoder.take("ftz");
  if (type.is(Type::Kind::Float, 32))
    decoder.op.run = ftz ? executeUnary<float, float, Flushed<F>> : executeUnary<float, float, F>;
  else
    return decoder.notModelled();
  return decodeSameWidth(decoder, 1, type.bits);
}

template <typename F>
bool decodeBinary(Decoder &decoder, Type type) {
  if (type.is(Type::Kind::Float, 32))
    decoder.op.run = decoder.take("ftz") ? executeBinary<float, float, float, Flushed<F>>
                                         : executeBinary<float, float, float, F>;
  else if (type.is(Type::Kind::Float, 64))
    decoder.op.run = executeBinary<double, double, double, F>;
  else if (type.is(Type::Kind::Float, 16))
    decoder.op.run = executeBinary<uint16_t, uint16_t, uint16_t, InHalf<F>>;
  else if (type.is(Type::Kind::BFloat, 16))
    decoder.op.run = executeBinary<uint16_t, uint16_t, uint16_t, InBf16<F>>;
  else
    return decoder.notModelled();
  return decodeSameWidth(decoder, 2, type.bits);
}

template <typename F>
bool decodeBits(Decoder &decoder, Type type) {
  if (decoder.take("ftz"))
    return decoder.notModelled();
  decoder.op.run = type.bits == 16   ? executeUnary<uint16_t, uint16_t, F>
                   : type.bits == 32 ? executeUnary<uint32_t, uint32_t, F>
                                     : executeUnary<uint64_t, uint64_t, F>;
  return type.packed ? decoder.notModelled() : decodeSameWidth(decoder, 1, type.bits);
}

template <typename F>
bool decodeApproximate(Decoder &decoder) {
  decoder.op.opClass = OpClass::Float;
  bool approximate = decoder.take("approx");
  std::optional<Type> type = decoder.takeType();
  return type && approximate ? decodeUnary<F>(decoder, *type) : decoder.notModelled();
}

/// Decodes rcp and sqrt, which have an exact and an approximate form. The approximate form is
/// computed exactly: its error is at most 1 ulp.
template <typename F>
bool decodeRounded(Decoder &decoder) {
  decoder.op.opClass = OpClass::Float;
  bool rounded = decoder.take("rn") || decoder.take("approx");
  std::optional<Type> type = decoder.takeType();
  if (!type || !rounded)
    return decoder.notModelled();
  if (type->is(Type::Kind::Float, 64)) {
    decoder.op.run = executeUnary<double, double, F>;
    return decodeSameWidth(decoder, 1, 64);
  }
  return decodeUnary<F>(decoder, *type);
}

bool decodeFma(Decoder &decoder) {
  std::optional<Type> type = decoder.takeType();
  decoder.op.opClass = OpClass::Float;
  if (!type || !decoder.take("rn"))
    return decoder.notModelled();
  if (type->is(Type::Kind::Float, 32))
    decoder.op.run = decoder.take("ftz") ? executeFma32<true> : executeFma32<false>;
  else if (type->is(Type::Kind::Float, 64))
    decoder.op.run = executeFma64;
  else if (type->is(Type::Kind::Float, 16))
    decoder.op.run = executeTernary<uint16_t, uint16_t, uint16_t, uint16_t, HalfFma>;
  else if (type->is(Type::Kind::BFloat, 16))
    decoder.op.run = executeTernary<uint16_t, uint16_t, uint16_t, uint16_t, Bf16Fma>;
  else
    return decoder.notModelled();
  return decodeSameWidth(decoder, 3, type->bits);
}

} // namespace

bool blocksparse::sim::decodeFloatArithmetic(Decoder &decoder, Type type) {
  decoder.op.opClass = OpClass::Float;
  std::string_view opcode = decoder.in.words[0];
  using Kind = Type::Kind;
  if (type.packed || (type.kind != Kind::Float && type.kind != Kind::BFloat))
    return decoder.notModelled();
  if (opcode == "neg")
    return decodeBits<NegateBits>(decoder, type);
  if (opcode == "abs")
    return decodeBits<AbsoluteBits>(decoder, type);
  if (opcode == "min" || opcode == "max") {
    if (type.bits == 16)
      return decoder.notModelled();
    bool isMin = opcode == "min";
    if (decoder.take("NaN"))
      return isMin ? decodeBinary<MinMaxFloat<Min, true>>(decoder, type)
                   : decodeBinary<MinMaxFloat<Max, true>>(decoder, type);
    return isMin ? decodeBinary<MinMaxFloat<Min, false>>(decoder, type)
                 : decodeBinary<MinMaxFloat<Max, false>>(decoder, type);
  }
  // Without a rounding modifier add, sub and mul round to nearest even, too.
  bool rounded = decoder.take("rn");
  if (opcode == "add")
    return decodeBinary<Add>(decoder, type);
  if (opcode == "sub")
    return decodeBinary<Sub>(decoder, type);
  if (opcode == "mul")
    return decodeBinary<Mul>(decoder, type);
  if (opcode == "div" && type.bits >= 32 && (rounded || decoder.take("full")))
    return decodeBinary<Div>(decoder, type);
  return decoder.notModelled();
}

void blocksparse::sim::addFloatInstructions(DecodeTable &table) {
  table["fma"] = decodeFma;
  table["rcp"] = decodeRounded<Reciprocal>;
  table["sqrt"] = decodeRounded<SquareRoot>;
  table["rsqrt"] = decodeApproximate<ReciprocalRoot>;
  table["ex2"] = decodeApproximate<Exp2>;
  table["lg2"] = decodeApproximate<Log2>;
  table["tanh"] = decodeApproximate<Tanh>;
}
