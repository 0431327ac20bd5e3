// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tests the builders of device mathematics: compiles them for the host and compares them with libm.

#include "Conversion/Device/DeviceMath.h"
#include "../ElementMap.h"
#include "Conversion/Device/Elements.h"

#include "blocksparse/Support/ElementType.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <vector>

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::ElementType;

namespace {

using Unary = Value (*)(ImplicitLocOpBuilder &, Value);
using Exact = long double (*)(long double);

long double sigmoidl(long double x) { return 1 / (1 + std::exp(-x)); }

long double rsqrtl(long double x) { return 1 / std::sqrt(x); }

struct Function {
  const char *name;
  Unary emit;
  Exact exact;
  double low, high;
  double ulps;
};

const Function functions[] = {
    {"exp", device::deviceExp, std::exp, -745, 709, 2},
    {"log", device::deviceLog, std::log, 0, 1e4, 3},
    {"sqrt", device::deviceSqrt, std::sqrt, 0, 1e4, 1},
    {"rsqrt", device::deviceRsqrt, rsqrtl, 0, 1e4, 2},
    {"tanh", device::deviceTanh, std::tanh, -20, 20, 4},
    {"erf", device::deviceErf, std::erf, -7, 7, 4},
    {"erfc", device::deviceErfc, std::erfc, -7, 26, 8},
    {"sigmoid", device::deviceSigmoid, sigmoidl, -700, 700, 4},
};

/// Returns a grid over the interval, powers of two of both signs inside it, and numbers around 1.
template <typename T>
std::vector<T> getArguments(double low, double high) {
  std::vector<T> result;
  for (int i = 0; i <= 200000; ++i)
    result.push_back(static_cast<T>(low + (high - low) * i / 200000));
  for (int exponent = -1070; exponent < 12; ++exponent)
    for (double factor : {1.0, 1.2, 1.37, 1.5, 1.93, -1.0, -1.37, -1.7})
      if (double x = std::ldexp(factor, exponent); x >= low && x <= high)
        result.push_back(static_cast<T>(x));
  for (int i = -1000; i <= 1000; ++i)
    if (double x = 1 + i * 1e-4; x >= low && x <= high)
      result.push_back(static_cast<T>(x));
  return result;
}

/// Returns |got - exact| in ulp of `exact`; for subnormal results in ulp of the smallest normal
/// number.
template <typename T>
double ulpError(T got, long double exact) {
  using Limits = std::numeric_limits<T>;
  if (std::abs(exact) > static_cast<long double>(Limits::max()))
    return std::isinf(got) || std::abs(got) == Limits::max() ? 0 : 1e30;
  long double size = std::max(std::abs(exact), static_cast<long double>(Limits::min()));
  int exponent = std::ilogb(size);
  long double unit = std::ldexp(1.0L, exponent - (Limits::digits - 1));
  return static_cast<double>(std::abs(static_cast<long double>(got) - exact) / unit);
}

template <typename T>
void checkAccuracy(const Function &function, Type (*type)(Builder &)) {
  ElementMap map(type, type, function.emit);
  ASSERT_TRUE(map.isReady());
  std::vector<T> arguments = getArguments<T>(function.low, function.high);
  std::vector<T> results = map.operator()<T>(arguments);
  double worst = 0;
  T where = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    long double exact = function.exact(static_cast<long double>(arguments[i]));
    double error = ulpError(results[i], exact);
    if (!(error <= worst)) {
      worst = error;
      where = arguments[i];
    }
  }
  EXPECT_LE(worst, function.ulps) << function.name << " at " << where;
}

} // namespace

TEST(DeviceMath, IsAccurateInF32) {
  for (const Function &function : functions)
    checkAccuracy<float>(function, f32);
}

TEST(DeviceMath, IsAccurateInF64) {
  for (const Function &function : functions)
    checkAccuracy<double>(function, f64);
}

template <typename T>
static void checkSpecialValues(Type (*type)(Builder &)) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  const T nan = std::numeric_limits<T>::quiet_NaN();
  std::vector<T> arguments = {infinity, -infinity, nan, T(0), -T(0), T(-1)};
  struct Expected {
    Unary emit;
    std::vector<T> results;
  };
  const Expected table[] = {
      {device::deviceExp, {infinity, 0, nan, 1, 1, std::exp(T(-1))}},
      {device::deviceLog, {infinity, nan, nan, -infinity, -infinity, nan}},
      {device::deviceSqrt, {infinity, nan, nan, 0, 0, nan}},
      {device::deviceRsqrt, {0, nan, nan, infinity, -infinity, nan}},
      {device::deviceTanh, {1, -1, nan, 0, 0, std::tanh(T(-1))}},
      {device::deviceErf, {1, -1, nan, 0, 0, std::erf(T(-1))}},
      {device::deviceErfc, {0, 2, nan, 1, 1, std::erfc(T(-1))}},
      {device::deviceSigmoid, {1, 0, nan, T(0.5), T(0.5), 1 / (1 + std::exp(T(1)))}},
      {device::deviceAbs, {infinity, infinity, nan, 0, 0, 1}},
  };
  for (const Expected &row : table) {
    ElementMap map(type, type, row.emit);
    ASSERT_TRUE(map.isReady());
    std::vector<T> results = map.template operator()<T>(arguments);
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (std::isnan(row.results[i]))
        EXPECT_TRUE(std::isnan(results[i])) << arguments[i];
      else
        EXPECT_NEAR(results[i] == row.results[i] ? 0 : results[i] - row.results[i], 0, 1e-6)
            << arguments[i];
    }
  }
}

TEST(DeviceMath, HandlesSpecialValues) {
  checkSpecialValues<float>(f32);
  checkSpecialValues<double>(f64);
}

//===----------------------------------------------------------------------===//
// f8
//===----------------------------------------------------------------------===//

static void checkDecoding(ElementType element, Type (*type)(Builder &)) {
  ElementMap map(type, f32, [](ImplicitLocOpBuilder &b, Value x) {
    return device::convertElement(b, x, b.getF32Type());
  });
  ASSERT_TRUE(map.isReady());
  std::vector<uint8_t> codes(256);
  for (int i = 0; i < 256; ++i)
    codes[i] = static_cast<uint8_t>(i);
  std::vector<float> numbers = map.operator()<float>(codes);
  for (int i = 0; i < 256; ++i) {
    double expected = ::blocksparse::decodeElement(element, &codes[i]);
    if (std::isnan(expected))
      EXPECT_TRUE(std::isnan(numbers[i])) << i;
    else
      EXPECT_EQ(numbers[i], expected) << i;
  }
}

static void checkEncoding(ElementType element, Type (*type)(Builder &)) {
  ElementMap map(f32, type, [type](ImplicitLocOpBuilder &b, Value x) {
    return device::convertElement(b, x, type(b));
  });
  ASSERT_TRUE(map.isReady());
  std::vector<float> numbers = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1e30f, 448, 464, 465, -480};
  for (int exponent = -20; exponent < 18; ++exponent)
    for (int i = 0; i < 128; ++i)
      for (float sign : {1.0f, -1.0f})
        numbers.push_back(sign * std::ldexp(1.0f + static_cast<float>(i) / 128, exponent));
  std::vector<uint8_t> codes = map.operator()<uint8_t>(numbers);
  for (size_t i = 0; i < numbers.size(); ++i) {
    uint8_t expected = 0;
    ::blocksparse::encodeElement(element, numbers[i], &expected);
    double got = ::blocksparse::decodeElement(element, &codes[i]);
    if (std::isnan(::blocksparse::decodeElement(element, &expected)))
      EXPECT_TRUE(std::isnan(got)) << numbers[i];
    else
      EXPECT_EQ(codes[i], expected) << numbers[i];
  }
}

static Type e4m3(Builder &b) { return Float8E4M3FNType::get(b.getContext()); }
static Type e5m2(Builder &b) { return Float8E5M2Type::get(b.getContext()); }

TEST(Elements, ConvertF8LikeTheHost) {
  checkDecoding(ElementType::f8E4M3FN, e4m3);
  checkDecoding(ElementType::f8E5M2, e5m2);
  checkEncoding(ElementType::f8E4M3FN, e4m3);
  checkEncoding(ElementType::f8E5M2, e5m2);
}
