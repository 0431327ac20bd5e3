// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_SIMULATOR_FLOAT_H
#define BLOCKSPARSE_LIB_SIMULATOR_FLOAT_H

#include "Decode.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace blocksparse::sim {

/// Decodes add, sub, mul, fma, div, min, max, neg and abs of a floating-point type that was taken.
bool decodeFloatArithmetic(Decoder &decoder, Type type);

/// The quiet NaN that f32 instructions give, whatever NaN they got.
inline constexpr uint32_t canonicalNaN = 0x7fffffff;

/// Returns `value` with any NaN replaced by the canonical one.
inline float canonical(float value) {
  return std::isnan(value) ? std::bit_cast<float>(canonicalNaN) : value;
}

inline float bf16ToFloat(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

/// Converts f16 exactly; a NaN keeps its payload.
inline float halfToFloat(uint16_t bits) {
  uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  uint32_t magnitude = bits & 0x7fff;
  if (magnitude >= 0x7c00) // infinity or NaN
    return std::bit_cast<float>(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
  // The exponent's bias is 15 instead of 127. The product is exact and makes a subnormal normal.
  float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(scaled) | sign);
}

/// Returns `value` rounded to f16, to nearest even. Any NaN becomes 0x7fff.
inline uint16_t floatToHalf(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t sign = bits >> 16 & 0x8000;
  uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return 0x7fff;
  if (magnitude >= 0x477ff000) // 65520 and above round to infinity
    return static_cast<uint16_t>(sign | 0x7c00);
  if (magnitude < 0x38800000) { // below 2^-14: a multiple of 2^-24
    // The addition of 1/2, whose last bit is 2^-24, rounds there and leaves the multiple in the low
    // bits.
    float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000));
  }
  uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1) - 0x38000000;
  return static_cast<uint16_t>(sign | rounded >> 13);
}

/// Returns `value` rounded to bf16, to nearest even. Any NaN becomes 0x7fff.
inline uint16_t floatToBf16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return 0x7fff;
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// Returns `value` rounded to tf32 (10 bits of fraction), to nearest, ties away from zero; the low
/// 13 bits are 0. Any NaN becomes the canonical one.
inline float roundToTf32(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return std::bit_cast<float>(canonicalNaN);
  if (magnitude == 0x7f800000)
    return value;
  return std::bit_cast<float>((bits + 0x1000) & 0xffffe000);
}

/// Returns a subnormal as a zero of its sign (`.ftz`).
inline float flush(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  return (bits & 0x7f800000) == 0 ? std::bit_cast<float>(bits & 0x80000000) : value;
}

} // namespace blocksparse::sim

#endif // BLOCKSPARSE_LIB_SIMULATOR_FLOAT_H
