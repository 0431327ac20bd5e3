// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Support/ElementType.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

using namespace blocksparse;

static_assert(std::endian::native == std::endian::little,
              "elements are stored in little-endian order");

namespace {

/// Describes a binary floating-point format of at most 16 bits. Its bits from the top are the sign,
/// `exponentBits` and `fractionBits`. A normal number is 2^(exponent - bias) * (1 + fraction /
/// 2^fractionBits).
struct SmallFloat {
  int exponentBits;
  int fractionBits;
  int bias;
  /// True if the highest exponent is reserved for infinity and NaN, as in IEEE 754. The "FN"
  /// formats have no infinity and reserve a single code, all ones, for NaN.
  bool ieee;

  uint32_t exponentMask() const { return (1u << exponentBits) - 1; }
  uint32_t fractionMask() const { return (1u << fractionBits) - 1; }
  uint32_t signBit() const { return 1u << (exponentBits + fractionBits); }
  /// Returns the magnitude code of the largest finite number.
  uint32_t largestCode() const {
    uint32_t allOnes = signBit() - 1;
    return ieee ? allOnes - (fractionMask() + 1) : allOnes - 1;
  }
  uint32_t infinityCode() const { return exponentMask() << fractionBits; }
  /// Returns the code of a quiet NaN.
  uint32_t nanCode() const {
    return ieee ? infinityCode() | (1u << (fractionBits - 1)) : signBit() - 1;
  }
  /// Returns the exponent of the last place of subnormal numbers.
  int smallestExponent() const { return 1 - bias - fractionBits; }
};

constexpr SmallFloat f16Format{5, 10, 15, true};
constexpr SmallFloat bf16Format{8, 7, 127, true};
constexpr SmallFloat f8E4M3FNFormat{4, 3, 7, false};
constexpr SmallFloat f8E5M2Format{5, 2, 15, true};

double decodeSmall(const SmallFloat &format, uint32_t code) {
  bool negative = code & format.signBit();
  uint32_t magnitude = code & (format.signBit() - 1);
  uint32_t exponent = magnitude >> format.fractionBits;
  uint32_t fraction = magnitude & format.fractionMask();
  double value;
  if (magnitude > format.largestCode())
    value = format.ieee && fraction == 0 ? std::numeric_limits<double>::infinity()
                                         : std::numeric_limits<double>::quiet_NaN();
  else if (exponent == 0)
    value = std::ldexp(fraction, format.smallestExponent());
  else
    value = std::ldexp(fraction + format.fractionMask() + 1,
                       static_cast<int>(exponent) - 1 + format.smallestExponent());
  return negative ? -value : value;
}

uint32_t encodeSmall(const SmallFloat &format, double value) {
  uint32_t sign = std::signbit(value) ? format.signBit() : 0;
  if (std::isnan(value))
    return sign | format.nanCode();
  uint32_t overflow = sign | (format.ieee ? format.infinityCode() : format.nanCode());
  double magnitude = std::fabs(value);
  if (std::isinf(magnitude))
    return overflow;
  if (magnitude == 0)
    return sign;

  // `unit` is the exponent of the last place kept: that of the number itself, or that of the
  // subnormals if the number is smaller than them.
  int unit = std::max(std::ilogb(magnitude) - format.fractionBits, format.smallestExponent());
  // This is exact: scaling by a power of two leaves at most fractionBits + 1 integer bits. (A
  // subnormal double is far below half of the smallest number of any format, so it rounds to zero.)
  double scaled = std::ldexp(magnitude, -unit);
  double whole = std::floor(scaled);
  double rest = scaled - whole;
  uint32_t digits = static_cast<uint32_t>(whole);
  if (rest > 0.5 || (rest == 0.5 && (digits & 1)))
    ++digits;
  // `digits` includes the hidden bit of a normal number, so adding it to (biased exponent - 1) <<
  // fractionBits also moves a carry into the exponent.
  int64_t code =
      (static_cast<int64_t>(unit - format.smallestExponent()) << format.fractionBits) + digits;
  if (code > format.largestCode())
    return overflow;
  return sign | static_cast<uint32_t>(code);
}

/// Rounds to the nearest integer, ties to even, independently of the dynamic rounding mode, and
/// saturates to T. NaN becomes 0.
template <typename T>
T encodeInteger(double value) {
  if (std::isnan(value))
    return 0;
  double whole = std::floor(value);
  double rest = value - whole;
  if (rest > 0.5 || (rest == 0.5 && std::fmod(whole, 2.0) != 0))
    whole += 1;
  // The upper limit 2^(n-1) is exact in double; the maximum of T need not be.
  double limit = std::ldexp(1.0, std::numeric_limits<T>::digits);
  if (whole >= limit)
    return std::numeric_limits<T>::max();
  if (whole < -limit)
    return std::numeric_limits<T>::min();
  return static_cast<T>(whole);
}

template <typename T>
T load(const void *bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

template <typename T>
void store(T value, void *bytes) {
  std::memcpy(bytes, &value, sizeof(T));
}

/// Lists the properties of an element type; significantBits is 0 for integers.
struct TypeFacts {
  std::string_view name;
  int size;
  int significantBits;
  int smallestExponent;
};

const TypeFacts &facts(ElementType type) {
  static constexpr TypeFacts table[] = {
      {"f16", 2, 11, -24},   {"bf16", 2, 8, -133},   {"f32", 4, 24, -149},
      {"f64", 8, 53, -1074}, {"i8", 1, 0, 0},        {"i32", 4, 0, 0},
      {"i64", 8, 0, 0},      {"f8E4M3FN", 1, 4, -9}, {"f8E5M2", 1, 3, -16}};
  return table[static_cast<int>(type)];
}

} // namespace

int64_t blocksparse::elementSize(ElementType type) { return facts(type).size; }

std::string_view blocksparse::elementName(ElementType type) { return facts(type).name; }

std::optional<ElementType> blocksparse::parseElementType(std::string_view name) {
  for (ElementType type : allElementTypes)
    if (elementName(type) == name)
      return type;
  return std::nullopt;
}

bool blocksparse::isFloatType(ElementType type) { return facts(type).significantBits != 0; }

double blocksparse::unitRoundoff(ElementType type) {
  return isFloatType(type) ? std::ldexp(1.0, -facts(type).significantBits) : 0;
}

double blocksparse::smallestPositive(ElementType type) {
  return isFloatType(type) ? std::ldexp(1.0, facts(type).smallestExponent) : 0;
}

double blocksparse::largestFinite(ElementType type) {
  switch (type) {
  case ElementType::f16:
    return decodeSmall(f16Format, f16Format.largestCode());
  case ElementType::bf16:
    return decodeSmall(bf16Format, bf16Format.largestCode());
  case ElementType::f32:
    return std::numeric_limits<float>::max();
  case ElementType::f64:
    return std::numeric_limits<double>::max();
  case ElementType::i8:
    return std::numeric_limits<int8_t>::max();
  case ElementType::i32:
    return std::numeric_limits<int32_t>::max();
  case ElementType::i64:
    return static_cast<double>(std::numeric_limits<int64_t>::max());
  case ElementType::f8E4M3FN:
    return decodeSmall(f8E4M3FNFormat, f8E4M3FNFormat.largestCode());
  case ElementType::f8E5M2:
    return decodeSmall(f8E5M2Format, f8E5M2Format.largestCode());
  }
  return 0;
}

double blocksparse::decodeElement(ElementType type, const void *bytes) {
  switch (type) {
  case ElementType::f16:
    return decodeSmall(f16Format, load<uint16_t>(bytes));
  case ElementType::bf16:
    return decodeSmall(bf16Format, load<uint16_t>(bytes));
  case ElementType::f32:
    return load<float>(bytes);
  case ElementType::f64:
    return load<double>(bytes);
  case ElementType::i8:
    return load<int8_t>(bytes);
  case ElementType::i32:
    return load<int32_t>(bytes);
  case ElementType::i64:
    return static_cast<double>(load<int64_t>(bytes));
  case ElementType::f8E4M3FN:
    return decodeSmall(f8E4M3FNFormat, load<uint8_t>(bytes));
  case ElementType::f8E5M2:
    return decodeSmall(f8E5M2Format, load<uint8_t>(bytes));
  }
  return 0;
}

void blocksparse::encodeElement(ElementType type, double value, void *bytes) {
  switch (type) {
  case ElementType::f16:
    return store(static_cast<uint16_t>(encodeSmall(f16Format, value)), bytes);
  case ElementType::bf16:
    return store(static_cast<uint16_t>(encodeSmall(bf16Format, value)), bytes);
  case ElementType::f32:
    return store(static_cast<float>(value), bytes);
  case ElementType::f64:
    return store(value, bytes);
  case ElementType::i8:
    return store(encodeInteger<int8_t>(value), bytes);
  case ElementType::i32:
    return store(encodeInteger<int32_t>(value), bytes);
  case ElementType::i64:
    return store(encodeInteger<int64_t>(value), bytes);
  case ElementType::f8E4M3FN:
    return store(static_cast<uint8_t>(encodeSmall(f8E4M3FNFormat, value)), bytes);
  case ElementType::f8E5M2:
    return store(static_cast<uint8_t>(encodeSmall(f8E5M2Format, value)), bytes);
  }
}

double blocksparse::roundToType(ElementType type, double value) {
  unsigned char bytes[8];
  encodeElement(type, value, bytes);
  return decodeElement(type, bytes);
}
