// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_SIMULATOR_FLOAT8_H
#define BLOCKSPARSE_LIB_SIMULATOR_FLOAT8_H

#include "Float.h"

namespace blocksparse::sim {

/// Converts e4m3 (bias 7, no infinity, NaN where all magnitude bits are set) exactly.
inline float e4m3ToFloat(uint8_t code) {
  uint32_t sign = static_cast<uint32_t>(code & 0x80) << 24;
  uint32_t magnitude = code & 0x7f;
  if (magnitude == 0x7f)
    return std::bit_cast<float>(canonicalNaN);
  // The bias becomes 127 by the factor 2^120; a subnormal code becomes normal.
  float scaled = std::bit_cast<float>(magnitude << 20) * 0x1p120f;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(scaled) | sign);
}

/// Converts e5m2 exactly: it is the upper byte of an f16.
inline float e5m2ToFloat(uint8_t code) { return halfToFloat(static_cast<uint16_t>(code << 8)); }

/// Returns the code of `value` rounded to nearest even, with values beyond the largest finite one
/// saturated (`.satfinite`), and NaN to 0x7f. `fractionBits` and `bias` give the format; `largest`
/// is its largest finite code.
inline uint8_t floatToFloat8(float value, int fractionBits, int bias, uint8_t largest) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint8_t sign = static_cast<uint8_t>(bits >> 24 & 0x80);
  if (std::isnan(value))
    return 0x7f;
  float magnitude = std::fabs(value);
  int exponent = 0;
  std::frexp(magnitude, &exponent); // magnitude is in [2^(exponent - 1), 2^exponent)
  int smallest = 1 - bias;
  int scale = (exponent - 1 < smallest ? smallest : exponent - 1) - fractionBits;
  // Multiples of 2^scale; nearbyint rounds to nearest even.
  if (std::isinf(magnitude))
    return sign | largest;
  if (magnitude == 0)
    return sign;
  uint32_t steps = static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, -scale)));
  uint32_t code = exponent - 1 < smallest
                      ? steps
                      : steps + (static_cast<uint32_t>(exponent - 1 + bias - 1) << fractionBits);
  return sign | static_cast<uint8_t>(code > largest ? largest : code);
}

inline uint8_t floatToE4m3(float value) { return floatToFloat8(value, 3, 7, 0x7e); }
inline uint8_t floatToE5m2(float value) { return floatToFloat8(value, 2, 15, 0x7b); }

} // namespace blocksparse::sim

#endif // BLOCKSPARSE_LIB_SIMULATOR_FLOAT8_H
