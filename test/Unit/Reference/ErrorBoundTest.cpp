// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TestTensors.h"
#include "blocksparse/Reference/Matmul.h"

#include <cmath>

using namespace blocksparse;
using namespace blocksparse::ref;
using namespace blocksparse::ref::test;

namespace {

ErrorReport compare(const HostTensor &result, const HostTensor &reference,
                    const ErrorScale &scale = {}, const ErrorModel &model = {}) {
  std::string error;
  auto report = compareToReference(result, reference, scale, model, error);
  EXPECT_TRUE(report) << error;
  return *report;
}

TEST(ErrorBound, Gamma) {
  EXPECT_EQ(gamma(0, 0.1), 0);
  EXPECT_NEAR(gamma(2, 0.25), 1, 1e-15);
  EXPECT_EQ(gamma(4, 0.25), infinity);
}

TEST(ErrorBound, ModelsFollowTheOperands) {
  EXPECT_EQ(ErrorModel::forOperands(ElementType::f16).accumulateRoundoff, std::ldexp(1.0, -24));
  EXPECT_EQ(ErrorModel::forOperands(ElementType::f64).accumulateRoundoff, std::ldexp(1.0, -53));
  EXPECT_EQ(ErrorModel::forOperands(ElementType::i8).accumulateRoundoff, 0);
}

// C24: the bound grows with K and the operands; a fixed tolerance would not.
TEST(ErrorBound, C24CoversEveryOrderOfFloatSums) {
  constexpr int64_t inner = 2000;
  HostTensor a = uniform({4, inner}, 1, ElementType::f32);
  HostTensor b = uniform({inner, 5}, 2, ElementType::f32);
  std::string error;
  ErrorScale scale;
  auto exact = matmul(a, b, MatmulForm::linear, {}, {}, error, &scale);
  ASSERT_TRUE(exact) << error;
  EXPECT_EQ(scale.terms, inner);
  HostTensor computed = HostTensor::zeros(ElementType::f32, {4, 5});
  forEachIndex(computed.shape(), [&](std::span<const int64_t> index) {
    float sum = 0;
    for (int64_t k = 0; k < inner; ++k)
      sum += float(a.at({index[0], k})) * float(b.at({k, index[1]}));
    computed.set(index, sum);
  });
  ErrorModel model = ErrorModel::forOperands(ElementType::f32);
  ErrorReport report = compare(computed, *exact, scale, model);
  EXPECT_TRUE(report.ok()) << report.describe();
  EXPECT_GT(report.worstRatio, 0);
  EXPECT_EQ(report.count, 20);

  // The bound must detect one missing product.
  computed.set({2, 3}, computed.at({2, 3}) + a.at({2, 7}) * b.at({7, 3}));
  report = compare(computed, *exact, scale, model);
  EXPECT_EQ(report.failures, 1);
  EXPECT_EQ(report.worstIndex, (std::vector<int64_t>{0, 0, 2, 3}));

  // tf32 operands need a wider bound, and have one.
  computed.set({2, 3}, exact->at({0, 0, 2, 3}) + std::ldexp(scale.magnitude.at({0, 0, 2, 3}), -11));
  EXPECT_FALSE(compare(computed, *exact, scale, model).ok());
  model.operandRoundoff = std::ldexp(1.0, -11);
  EXPECT_TRUE(compare(computed, *exact, scale, model).ok());
}

TEST(ErrorBound, RoundingOfTheResultAlone) {
  HostTensor exact = uniform({1000}, 1);
  for (ElementType type : {ElementType::f16, ElementType::bf16, ElementType::f32, ElementType::f64,
                           ElementType::f8E4M3FN, ElementType::f8E5M2}) {
    ErrorReport report = compare(exact.cast(type), exact);
    EXPECT_TRUE(report.ok()) << elementName(type) << report.describe();
    HostTensor off = exact.cast(type);
    off.set({17}, exact.at({17}) * (1 + 2.1 * unitRoundoff(type)));
    EXPECT_FALSE(compare(off, exact).ok() && type != ElementType::f64) << elementName(type);
  }
}

TEST(ErrorBound, NaNMustAgree) {
  HostTensor exact = HostTensor::of(ElementType::f64, {3}, {quietNaN, 1, 2});
  HostTensor same = HostTensor::of(ElementType::f32, {3}, {quietNaN, 1, 2});
  EXPECT_TRUE(compare(same, exact).ok());
  HostTensor other = HostTensor::of(ElementType::f32, {3}, {0, 1, quietNaN});
  ErrorReport report = compare(other, exact);
  EXPECT_EQ(report.nanMismatches, 2);
  EXPECT_EQ(report.failures, 2);
  EXPECT_EQ(report.worstRatio, infinity);
}

TEST(ErrorBound, NaNInBothIsCounted) {
  HostTensor exact = HostTensor::of(ElementType::f64, {3}, {quietNaN, 1, quietNaN});
  ErrorReport report = compare(HostTensor::of(ElementType::f32, {3}, {quietNaN, 1, 2}), exact);
  EXPECT_EQ(report.nanMatches, 1);
  EXPECT_EQ(report.nanMismatches, 1);
}

// A bound above the range of the result passes anything, and says so.
TEST(ErrorBound, VoidsAreInconclusive) {
  HostTensor exact = HostTensor::of(ElementType::f64, {2}, {0.0625, 0.0625});
  HostTensor wrong = HostTensor::of(ElementType::f32, {2}, {0.9, 0.0625});
  ErrorModel model = ErrorModel::forOperands(ElementType::f32);
  ErrorScale scale{HostTensor::of(ElementType::f64, {2}, {1e9, 0.1}), 1, 0.0625};
  ErrorReport report = compare(wrong, exact, scale, model);
  EXPECT_TRUE(report.ok());
  EXPECT_TRUE(report.inconclusive());
  EXPECT_EQ(report.voids, 1);
  EXPECT_EQ(report.range, 0.0625);
  EXPECT_EQ(report.describe().substr(0, 12), "inconclusive");
  // A failure elsewhere is one.
  wrong.set({1}, 0.07);
  report = compare(wrong, exact, scale, model);
  EXPECT_FALSE(report.ok());
  EXPECT_FALSE(report.inconclusive());
}

// Sums that cancel have their magnitude as range: a result of 0 is compared.
TEST(ErrorBound, CancellationIsNoVoid) {
  HostTensor a = HostTensor::of(ElementType::f32, {1, 2}, {3, -3});
  std::string error;
  ErrorScale scale;
  auto exact = matmul(a, ones({2, 1}), MatmulForm::linear, {}, {}, error, &scale);
  ASSERT_TRUE(exact) << error;
  ErrorModel model = ErrorModel::forOperands(ElementType::f32);
  EXPECT_FALSE(
      compare(HostTensor::zeros(ElementType::f32, {1, 1}), *exact, scale, model).inconclusive());
  EXPECT_FALSE(compare(HostTensor::of(ElementType::f32, {1, 1}, {1}), *exact, scale, model).ok());
}

TEST(ErrorBound, Infinities) {
  HostTensor exact = HostTensor::of(ElementType::f64, {3}, {infinity, 70000, -65519});
  EXPECT_TRUE(
      compare(HostTensor::of(ElementType::f16, {3}, {infinity, infinity, -65504}), exact).ok());
  EXPECT_EQ(
      compare(HostTensor::of(ElementType::f16, {3}, {-infinity, 65504, infinity}), exact).failures,
      3);
  // Within the bound of the overflow threshold both infinity and a finite number are correct.
  ErrorScale scale{filled(ElementType::f64, {1}, 70000), 1000};
  ErrorModel model = ErrorModel::forOperands(ElementType::f16);
  EXPECT_TRUE(compare(HostTensor::of(ElementType::f16, {1}, {infinity}),
                      HostTensor::of(ElementType::f64, {1}, {65519}), scale, model)
                  .ok());
  EXPECT_FALSE(compare(HostTensor::of(ElementType::f16, {1}, {infinity}),
                       HostTensor::of(ElementType::f64, {1}, {60000}), scale, model)
                   .ok());
}

TEST(ErrorBound, IntegersMustBeEqual) {
  HostTensor exact = HostTensor::of(ElementType::i32, {2}, {1032256, -5});
  EXPECT_TRUE(compare(exact, exact).ok());
  HostTensor off = HostTensor::of(ElementType::i32, {2}, {1032256, -4});
  ErrorScale wide{filled(ElementType::f64, {2}, 1e9), 100};
  ErrorReport report = compare(off, exact, wide);
  EXPECT_EQ(report.failures, 1);
  EXPECT_EQ(report.worstIndex, (std::vector<int64_t>{1}));
}

TEST(ErrorBound, ZerosThatMustBeExact) {
  HostTensor exact = HostTensor::zeros(ElementType::f64, {2});
  HostTensor result = HostTensor::of(ElementType::f32, {2}, {0, 1e-30});
  EXPECT_EQ(compare(result, exact).failures, 1);
  EXPECT_TRUE(compare(exact, exact).ok());
}

TEST(ErrorBound, ShapesAgreeUpToUnitExtents) {
  HostTensor exact = uniform({1, 1, 2, 3}, 1);
  HostTensor result = exact.cast(ElementType::f32).select(0, 0).select(0, 0);
  EXPECT_TRUE(compare(result, exact).ok());
  EXPECT_TRUE(compare(result.transpose(0, 1).clone().transpose(0, 1), exact).ok());
  std::string error;
  EXPECT_FALSE(compareToReference(result.transpose(0, 1), exact, {}, {}, error));
  EXPECT_EQ(error, "expects a result of shape [1, 1, 2, 3], but got [3, 2]");
  EXPECT_TRUE(compare(HostTensor::zeros(ElementType::f32, {0, 3}),
                      HostTensor::zeros(ElementType::f64, {1, 0, 3}))
                  .ok());
}

TEST(ErrorBound, DescribesTheWorstElement) {
  HostTensor exact = HostTensor::of(ElementType::f64, {2}, {1, 2});
  HostTensor result = HostTensor::of(ElementType::f16, {2}, {1, 3});
  EXPECT_EQ(compare(result, exact).describe(),
            "failed, 2 elements, 1 above the bound, 0 NaN mismatches, worst "
            "error/bound 1.02e+03 at [1]: got 3, expected 2, bound 0.000977");
}

/// Checks that every activation in float stays within the scale of its epilogue.
TEST(ErrorBound, EpilogueScalesCoverFloatArithmetic) {
  for (const char *name :
       {"none", "relu", "leaky_relu", "gelu_erf", "gelu_tanh", "gelu_quick", "sigmoid", "silu"}) {
    Epilogue e;
    e.activation = *parseActivation(name);
    e.alpha = 3;
    e.beta = -0.7f;
    e.input = uniform({8, 8}, 3, ElementType::f32);
    e.bias = uniform({8}, 4, ElementType::f32);
    e.residual = uniform({8, 8}, 5, ElementType::f32);
    HostTensor a = uniform({8, 40}, 1, ElementType::f32);
    HostTensor b = uniform({40, 8}, 2, ElementType::f32);
    std::string error;
    ErrorScale scale;
    auto exact = matmul(a, b, MatmulForm::linear, {}, e, error, &scale);
    ASSERT_TRUE(exact) << error;
    HostTensor computed = HostTensor::zeros(ElementType::f32, {8, 8});
    forEachIndex(computed.shape(), [&](std::span<const int64_t> index) {
      float sum = 0;
      for (int64_t k = 0; k < 40; ++k)
        sum += float(a.at({index[0], k})) * float(b.at({k, index[1]}));
      float t = 3 * sum + float(e.beta) * float(e.input->at(index));
      t += float(e.bias->at({index[1]}));
      float active = float(activate(e.activation, t, e.slope));
      computed.set(index, active + float(e.residual->at(index)));
    });
    ErrorReport report =
        compare(computed, *exact, scale, ErrorModel::forOperands(ElementType::f32));
    EXPECT_TRUE(report.ok()) << name << ": " << report.describe();
  }
}

} // namespace
