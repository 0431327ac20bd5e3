// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Support/ElementType.h"
#include "blocksparse/Support/RandomFill.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

using namespace blocksparse;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double quietNaN = std::numeric_limits<double>::quiet_NaN();

double decodeCode(ElementType type, uint32_t code) {
  unsigned char bytes[4];
  std::memcpy(bytes, &code, sizeof(bytes));
  return decodeElement(type, bytes);
}

uint32_t encodeCode(ElementType type, double value) {
  unsigned char bytes[8] = {};
  encodeElement(type, value, bytes);
  uint32_t code;
  std::memcpy(&code, bytes, sizeof(code));
  return code;
}

/// Describes a format by the numbers of its definition, independently of the library.
struct Definition {
  ElementType type;
  int bits, exponentBits, fractionBits, bias;
  bool ieee;
};

const Definition definitions[] = {{ElementType::f16, 16, 5, 10, 15, true},
                                  {ElementType::bf16, 16, 8, 7, 127, true},
                                  {ElementType::f8E4M3FN, 8, 4, 3, 7, false},
                                  {ElementType::f8E5M2, 8, 5, 2, 15, true}};

/// Returns the value of a code, summed bit by bit from the definition.
double definedValue(const Definition &format, uint32_t code) {
  uint32_t exponent = (code >> format.fractionBits) & ((1u << format.exponentBits) - 1);
  uint32_t fraction = code & ((1u << format.fractionBits) - 1);
  uint32_t highest = (1u << format.exponentBits) - 1;
  double sign = code >> (format.bits - 1) ? -1 : 1;
  if (format.ieee && exponent == highest)
    return fraction ? quietNaN : sign * infinity;
  if (!format.ieee && exponent == highest && fraction == (1u << format.fractionBits) - 1)
    return quietNaN;
  double value = exponent ? 1 : 0;
  for (int bit = 0; bit < format.fractionBits; ++bit)
    if (fraction & (1u << bit))
      value += std::pow(2.0, bit - format.fractionBits);
  return sign * value * std::pow(2.0, (exponent ? static_cast<int>(exponent) : 1) - format.bias);
}

TEST(ElementType, NamesRoundTrip) {
  for (ElementType type : allElementTypes)
    EXPECT_EQ(parseElementType(elementName(type)), type);
  EXPECT_EQ(parseElementType("f8e4m3fn"), std::nullopt);
  EXPECT_EQ(parseElementType(""), std::nullopt);
}

TEST(ElementType, Facts) {
  EXPECT_EQ(elementSize(ElementType::bf16), 2);
  EXPECT_EQ(elementSize(ElementType::f8E5M2), 1);
  EXPECT_EQ(elementSize(ElementType::i64), 8);
  EXPECT_EQ(unitRoundoff(ElementType::f32), std::ldexp(1.0, -24));
  EXPECT_EQ(unitRoundoff(ElementType::i32), 0);
  EXPECT_EQ(largestFinite(ElementType::f16), 65504);
  EXPECT_EQ(largestFinite(ElementType::f8E4M3FN), 448);
  EXPECT_EQ(largestFinite(ElementType::f8E5M2), 57344);
  EXPECT_EQ(smallestPositive(ElementType::f16), std::ldexp(1.0, -24));
  EXPECT_EQ(smallestPositive(ElementType::f8E4M3FN), std::ldexp(1.0, -9));
}

TEST(ElementType, EveryCodeDecodesByDefinitionAndEncodesBack) {
  for (const Definition &format : definitions)
    for (uint32_t code = 0; code < (1u << format.bits); ++code) {
      double defined = definedValue(format, code);
      double value = decodeCode(format.type, code);
      if (std::isnan(defined)) {
        ASSERT_TRUE(std::isnan(value)) << elementName(format.type) << code;
        ASSERT_TRUE(std::isnan(roundToType(format.type, value)));
        continue;
      }
      ASSERT_EQ(value, defined) << elementName(format.type) << " " << code;
      ASSERT_EQ(encodeCode(format.type, value), code) << elementName(format.type) << " " << code;
    }
}

/// Checks the rounding of every midpoint between neighbours and of the doubles next to it, by
/// search in the sorted list of all finite values.
TEST(ElementType, RoundsToNearestEvenBetweenAllNeighbours) {
  for (const Definition &format : definitions) {
    uint32_t codes = 1u << (format.bits - 1);
    for (uint32_t code = 0; code + 1 < codes; ++code) {
      double low = definedValue(format, code);
      double high = definedValue(format, code + 1);
      if (!std::isfinite(low))
        break;
      bool last = !std::isfinite(high);
      if (last) // where the next number would be, if the format had one
        high = low + (low - definedValue(format, code - 1));
      double middle = low + (high - low) / 2;
      uint32_t even = code & 1 ? code + 1 : code;
      double below = std::nextafter(middle, 0);
      double above = std::nextafter(middle, infinity);
      ASSERT_EQ(encodeCode(format.type, below), code);
      ASSERT_EQ(encodeCode(format.type, middle), even);
      ASSERT_EQ(encodeCode(format.type, above), code + 1);
      uint32_t sign = codes;
      ASSERT_EQ(encodeCode(format.type, -below), sign | code);
      ASSERT_EQ(encodeCode(format.type, -middle), sign | even);
      ASSERT_EQ(encodeCode(format.type, -above), sign | (code + 1));
    }
  }
}

TEST(ElementType, RandomDoublesFindTheNearestValue) {
  for (const Definition &format : definitions) {
    std::vector<double> values;
    for (uint32_t code = 0; code < (1u << format.bits); ++code)
      if (double value = definedValue(format, code); std::isfinite(value))
        values.push_back(value);
    std::sort(values.begin(), values.end());
    for (uint64_t i = 0; i < 20000; ++i) {
      int exponent = static_cast<int>(randomBits(1, i) % (2 * format.bias)) - format.bias;
      double value = std::ldexp(randomUniform(2, i), exponent);
      double rounded = roundToType(format.type, value);
      auto above = std::lower_bound(values.begin(), values.end(), value);
      ASSERT_NE(above, values.end());
      double nearest = std::fabs(*above - value);
      if (above != values.begin())
        nearest = std::min(nearest, std::fabs(*(above - 1) - value));
      ASSERT_EQ(std::fabs(rounded - value), nearest);
    }
  }
}

TEST(ElementType, SpecialValues) {
  EXPECT_EQ(roundToType(ElementType::f16, 1e6), infinity);
  EXPECT_EQ(roundToType(ElementType::bf16, -1e39), -infinity);
  EXPECT_EQ(roundToType(ElementType::f8E5M2, infinity), infinity);
  // 464 is the tie between 448 and 480, which E4M3FN lacks.
  EXPECT_EQ(roundToType(ElementType::f8E4M3FN, 464), 448);
  EXPECT_TRUE(std::isnan(roundToType(ElementType::f8E4M3FN, 465)));
  EXPECT_TRUE(std::isnan(roundToType(ElementType::f8E4M3FN, -infinity)));
  for (ElementType type : allElementTypes)
    if (isFloatType(type)) {
      EXPECT_TRUE(std::isnan(roundToType(type, quietNaN)));
      EXPECT_TRUE(std::signbit(roundToType(type, -0.0)));
      EXPECT_TRUE(std::signbit(roundToType(type, -1e-320)));
    }
}

TEST(ElementType, IntegersRoundToEvenAndSaturate) {
  EXPECT_EQ(roundToType(ElementType::i8, 2.5), 2);
  EXPECT_EQ(roundToType(ElementType::i8, 3.5), 4);
  EXPECT_EQ(roundToType(ElementType::i8, -2.5), -2);
  EXPECT_EQ(roundToType(ElementType::i8, -3.5), -4);
  EXPECT_EQ(roundToType(ElementType::i8, 127.6), 127);
  EXPECT_EQ(roundToType(ElementType::i8, -1000), -128);
  EXPECT_EQ(roundToType(ElementType::i32, 1e300), 2147483647);
  EXPECT_EQ(roundToType(ElementType::i32, quietNaN), 0);
  EXPECT_EQ(roundToType(ElementType::i64, -infinity), -std::ldexp(1.0, 63));
}

} // namespace
