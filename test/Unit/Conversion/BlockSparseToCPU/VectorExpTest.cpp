// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tests the exponential of the CPU kernels: compiles it for the host and compares it with libm.

#include "Conversion/BlockSparseToCPU/VectorExp.h"
#include "../ElementMap.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::blocksparse;

/// Returns the distance of `got` from `exact` in ulp of the nearest f32.
static double ulps(float got, double exact) {
  auto nearest = static_cast<float>(exact);
  if (got == nearest)
    return 0;
  constexpr int fractionBits = 23, leastExponent = -149;
  int unit = std::max(std::ilogb(nearest) - fractionBits, leastExponent);
  return std::abs(got - exact) / std::ldexp(1.0, unit);
}

TEST(VectorExp, IsWithinTwoUnitsOfTheLastPlace) {
  ElementMap exp(f32, f32, emitExp);
  ASSERT_TRUE(exp.isReady());
  // The range includes subnormal results, which begin at -87.3.
  std::vector<float> arguments;
  for (int i = 0; i <= 2000000; ++i)
    arguments.push_back(-104.0f + 192.7f * i / 2000000);
  for (int exponent = -149; exponent < 7; ++exponent)
    for (float sign : {-1.0f, 1.0f})
      if (std::ldexp(sign, exponent) < 88)
        arguments.push_back(std::ldexp(sign, exponent));
  std::vector<float> results = exp.operator()<float>(arguments);
  for (size_t i = 0; i < arguments.size(); ++i)
    ASSERT_LE(ulps(results[i], std::exp(double(arguments[i]))), 2) << "exp " << arguments[i];
}

TEST(VectorExp, SaturatesAndKeepsNaN) {
  ElementMap exp(f32, f32, emitExp);
  ASSERT_TRUE(exp.isReady());
  constexpr float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> results = exp.operator()<float>(
      std::vector<float>{-infinity, -1e30f, -104, 0, 88.73f, 1e30f, infinity, std::nanf("")});
  EXPECT_EQ(results[0], 0);
  EXPECT_EQ(results[1], 0);
  EXPECT_EQ(results[2], 0);
  EXPECT_EQ(results[3], 1);
  EXPECT_EQ(results[4], infinity);
  EXPECT_EQ(results[5], infinity);
  EXPECT_EQ(results[6], infinity);
  EXPECT_TRUE(std::isnan(results[7]));
}

TEST(VectorExp, IsTheLibrarysForF64) {
  ElementMap exp(f64, f64, emitExp);
  ASSERT_TRUE(exp.isReady());
  std::vector<double> arguments;
  for (int i = 0; i <= 10000; ++i)
    arguments.push_back(-750.0 + 0.146 * i);
  std::vector<double> results = exp.operator()<double>(arguments);
  for (size_t i = 0; i < arguments.size(); ++i)
    ASSERT_EQ(results[i], std::exp(arguments[i])) << "exp " << arguments[i];
}
