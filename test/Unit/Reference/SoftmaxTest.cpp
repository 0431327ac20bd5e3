// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Reference/Softmax.h"
#include "TestTensors.h"

#include <cmath>

using namespace blocksparse;
using namespace blocksparse::ref;
using namespace blocksparse::ref::test;

namespace {

SparseTensor zeroScores(int64_t size, double value = 0) {
  return sparse(filled(ElementType::f32, {1, size, size}, value), pattern({size, size}, 1, 1, "1"));
}

SoftmaxResult run(const SparseTensor &x, const SoftmaxOptions &options) {
  std::string error;
  std::optional<SoftmaxResult> result = softmax(x, options, error);
  EXPECT_TRUE(result) << error;
  return *result;
}

HostTensor gradient(const SparseTensor &y, const HostTensor &dy, double scale = 1) {
  std::string error;
  auto result = softmaxGrad(y, dy, scale, std::nullopt, error);
  EXPECT_TRUE(result) << error;
  return result->dx;
}

TEST(Softmax, C39FullyMaskedRow) {
  SparseTensor x = zeroScores(16);
  for (MaskMode mode : {MaskMode::mul, MaskMode::add}) {
    double forbid = mode == MaskMode::mul ? 0 : -infinity;
    double keep = mode == MaskMode::mul ? 1 : 0;
    SoftmaxOptions options;
    options.keyPaddingMask = filled(ElementType::f32, {16}, forbid);
    options.keyPaddingMode = mode;
    SoftmaxResult result = run(x, options);
    expectAll(result.values, 0);
    expectAll(result.lse, -infinity);
    expectAll(
        gradient(sparse(result.values, x.pattern), filled(ElementType::f32, {1, 16, 16}, infinity)),
        0);

    options.keyPaddingMask->set({3}, keep);
    result = run(x, options);
    for (int64_t i = 0; i < 16; ++i)
      for (int64_t j = 0; j < 16; ++j)
        EXPECT_EQ(result.values.at({0, 0, i, j}), j == 3);
    expectAll(result.lse, 0);
  }
}

TEST(Softmax, C41MaximumIsTakenAfterTheMask) {
  SparseTensor x = sparse(HostTensor::of(ElementType::f32, {1, 1, 4}, {200, 0, 0, 0}),
                          pattern({1, 4}, 1, 1, "1"));
  SoftmaxOptions options;
  options.attentionMask = HostTensor::of(ElementType::f32, {1, 4}, {-65504, 0, 0, 0});
  SoftmaxResult result = run(x, options);
  EXPECT_EQ(result.values.at({0, 0, 0, 0}), 0);
  for (int64_t j = 1; j < 4; ++j)
    EXPECT_EQ(result.values.at({0, 0, 0, j}), 1.0 / 3);
}

TEST(Softmax, C45MasksKeepStridesAndBatches) {
  HostTensor upper =
      make({16, 16}, [](std::span<const int64_t> i) { return i[0] <= i[1] ? 1.0 : 0.0; });
  SoftmaxOptions options;
  options.attentionMask = upper.transpose(0, 1);
  options.attentionMode = MaskMode::mul;
  SparseTensor x = zeroScores(16);
  SoftmaxResult result = run(x, options);
  auto causal = [](int64_t i, int64_t j) { return j <= i ? 1.0 / (i + 1) : 0.0; };
  for (int64_t i = 0; i < 16; ++i)
    for (int64_t j = 0; j < 16; ++j)
      EXPECT_EQ(result.values.at({0, 0, i, j}), causal(i, j));

  options.attentionMask = make({2, 1, 16, 16}, [](std::span<const int64_t> i) {
    return i[0] == 0 ? 1.0 : double(i[3] <= i[2]);
  });
  result = run(x, options);
  for (int64_t i = 0; i < 16; ++i)
    for (int64_t j = 0; j < 16; ++j) {
      EXPECT_EQ(result.values.at({0, 0, i, j}), 1.0 / 16);
      EXPECT_EQ(result.values.at({1, 0, i, j}), causal(i, j));
    }
}

TEST(Softmax, C47GradientOfRelativePositions) {
  SparseTensor y =
      sparse(HostTensor::of(ElementType::f64, {1, 1, 2}, {.5, .5}), pattern({1, 2}, 1, 1, "1"));
  HostTensor dy = HostTensor::of(ElementType::f64, {1, 1, 2}, {1, 0});
  std::string error;
  auto result = softmaxGrad(y, dy, .5, std::vector<int64_t>{1, 2}, error);
  ASSERT_TRUE(result) << error;
  EXPECT_EQ(result->dx.at({0, 0, 0, 0}), .125);
  EXPECT_EQ(result->dx.at({0, 0, 0, 1}), -.125);
  EXPECT_EQ(result->drpe->at({0, 0}), .25);
  EXPECT_EQ(result->drpe->at({0, 1}), -.25);
}

TEST(Softmax, MaskBeatsNonFiniteScores) {
  for (double bias : {infinity, quietNaN}) {
    SparseTensor x = zeroScores(2);
    SoftmaxOptions options;
    options.causal = true;
    options.rpe = HostTensor::of(ElementType::f32, {2, 2}, {0, bias, 0, 0});
    SoftmaxResult result = run(x, options);
    EXPECT_EQ(result.values.at({0, 0, 0, 0}), 1);
    EXPECT_EQ(result.values.at({0, 0, 0, 1}), 0);
    EXPECT_EQ(result.values.at({0, 0, 1, 1}), 0.5);
    // If the element is allowed, its NaN reaches only its own row.
    options.causal = false;
    result = run(x, options);
    EXPECT_TRUE(std::isnan(result.values.at({0, 0, 0, 0})));
    EXPECT_EQ(result.values.at({0, 0, 1, 1}), 0.5);
  }
}

TEST(Softmax, MulMaskKeepsWithoutMultiplying) {
  SparseTensor x = zeroScores(2, 3);
  SoftmaxOptions options;
  options.scale = 2;
  options.attentionMask = HostTensor::of(ElementType::f32, {2, 2}, {5, quietNaN, -1, 0});
  options.attentionMode = MaskMode::mul;
  SoftmaxResult result = run(x, options);
  EXPECT_EQ(result.values.at({0, 0, 0, 0}), 0.5);
  EXPECT_EQ(result.values.at({0, 0, 0, 1}), 0.5);
  EXPECT_EQ(result.values.at({0, 0, 1, 0}), 1);
  EXPECT_NEAR(result.lse.at({0, 0, 0}), 6 + std::log(2.0), 1e-15);
  EXPECT_EQ(result.lse.at({0, 0, 1}), 6);
}

TEST(Softmax, OnlyStoredBlocksCountAndPaddingIsSkipped) {
  // The matrix is 3 x 5 in 2 x 2 blocks; block row 1 is empty.
  Pattern p = pattern({2, 2}, 2, 3, "101 000");
  HostTensor values = filled(ElementType::f32, {2, 2, 2}, 0);
  values.select(0, 1).slice(1, 1, 2).fill(quietNaN); // column 5: padding
  std::string error;
  ErrorScale scale, lseScale;
  auto result = softmax({values, p, 3, 5}, {}, error, &scale, &lseScale);
  ASSERT_TRUE(result) << error;
  for (int64_t i = 0; i < 2; ++i) {
    EXPECT_EQ(result->values.at({0, 0, i, 1}), 1.0 / 3);
    EXPECT_EQ(result->values.at({0, 1, i, 0}), 1.0 / 3);
    EXPECT_EQ(result->values.at({0, 1, i, 1}), 0);
  }
  EXPECT_NEAR(result->lse.at({0, 0, 1}), std::log(3.0), 1e-15);
  EXPECT_EQ(result->lse.at({0, 0, 2}), -infinity);
  EXPECT_EQ(scale.terms, 3);
  EXPECT_EQ(scale.magnitude.at({0, 0, 0, 0}), 1.0 / 3);
  EXPECT_NEAR(lseScale.magnitude.at({0, 0, 0}), 1 + std::log(3.0), 1e-15);
}

/// Returns the error scale of a softmax of one row, of which P is the result.
ErrorScale rowScale(const HostTensor &row, const SoftmaxOptions &options) {
  int64_t cols = row.numElements();
  std::string error;
  HostTensor values = *row.reshape({{1, 1, cols}}, error);
  ErrorScale scale, lseScale;
  auto result =
      softmax(sparse(values, pattern({1, cols}, 1, 1, "1")), options, error, &scale, &lseScale);
  EXPECT_TRUE(result) << error;
  return scale;
}

TEST(Softmax, ExactScoresAddNoError) {
  HostTensor large = HostTensor::of(ElementType::f32, {2}, {1e9, 1e9});
  SoftmaxOptions options;
  for (double scale : {1.0, -4.0, 0.125}) {
    options.scale = scale;
    EXPECT_EQ(rowScale(large, options).magnitude.at({0, 0, 0, 0}), 0.5) << scale;
  }
  // The distance to the maximum is rounded, whatever the scores are.
  HostTensor apart = HostTensor::of(ElementType::f32, {2}, {1e9, 1e9 - 64});
  EXPECT_LT(rowScale(apart, {}).magnitude.at({0, 0, 0, 1}), 20 * std::exp(-64.0));
  // An inexact factor moves the score by its roundoff.
  options.scale = 0.7;
  EXPECT_GT(rowScale(large, options).magnitude.at({0, 0, 0, 0}), 1e7);
  // So does a sum of two numbers, but not a sum with 0.
  options = {};
  options.rpe = HostTensor::of(ElementType::f32, {1, 2}, {0, 0});
  EXPECT_EQ(rowScale(large, options).magnitude.at({0, 0, 0, 0}), 0.5);
  options.rpe->set({0, 1}, 0.5);
  EXPECT_GT(rowScale(large, options).magnitude.at({0, 0, 0, 0}), 1e7);
}

TEST(Softmax, ElementsWithoutWeightAddNoError) {
  // The second element is kept out by a large number, and its score has a large error.
  HostTensor row = HostTensor::of(ElementType::f32, {2}, {1, 1});
  SoftmaxOptions options;
  options.keyPaddingMask = HostTensor::of(ElementType::f32, {2}, {0, -1e9});
  EXPECT_EQ(rowScale(row, options).magnitude.at({0, 0, 0, 0}), 1);
}

TEST(Softmax, LargeErrorsOfScoresMakeAnyProbability) {
  // The second score is larger by 1e30, less than a unit in the last place of the sums in f32.
  HostTensor row = HostTensor::of(ElementType::f32, {2}, {-3.4e38, -3.4e38});
  SoftmaxOptions options;
  options.rpe = HostTensor::of(ElementType::f32, {1, 2}, {-1, 1e30});
  ErrorScale scale = rowScale(row, options);
  const double unit = (scale.terms + 16) * unitRoundoff(ElementType::f32);
  EXPECT_GE(scale.magnitude.at({0, 0, 0, 0}) * unit, 1);
  EXPECT_GE(scale.magnitude.at({0, 0, 0, 1}) * unit, 1);
  // A difference that is much larger than its error leaves no doubt.
  options.rpe->set({0, 1}, 3e38);
  EXPECT_EQ(rowScale(row, options).magnitude.at({0, 0, 0, 0}), 0);
}

TEST(Softmax, ScoresThatOverflowAreInfinite) {
  HostTensor row = HostTensor::of(ElementType::f64, {1, 1, 2}, {-3e38, 0});
  SparseTensor x = sparse(row, pattern({1, 2}, 1, 1, "1"));
  SoftmaxOptions options;
  options.rpe = HostTensor::of(ElementType::f64, {1, 2}, {-3e38, -3e38});
  std::string error;
  auto result = softmax(x, options, error);
  ASSERT_TRUE(result) << error;
  EXPECT_EQ(result->lse.at({0, 0, 0}), -3e38);
  options.scale = -1;
  options.rpe->set({0, 0}, 3e38);
  EXPECT_TRUE(std::isnan(softmax(x, options, error)->lse.at({0, 0, 0})));
  options.accumulator = ElementType::f64;
  EXPECT_EQ(softmax(x, options, error)->lse.at({0, 0, 0}), 6e38);
}

TEST(Softmax, KnownLogSumExpAddsItsRounding) {
  HostTensor large = HostTensor::of(ElementType::f32, {2}, {1e9, 1e9 - 64});
  SoftmaxOptions options;
  options.knownLse = HostTensor::of(ElementType::f64, {1}, {1e9});
  EXPECT_EQ(rowScale(large, options).magnitude.at({0, 0, 0, 0}), 1);
  EXPECT_LT(rowScale(large, options).magnitude.at({0, 0, 0, 1}), 20 * std::exp(-64.0));
  // No number of f32 is within 0.25 of this one.
  options.knownLse->set({0}, 1e9 + 0.25);
  EXPECT_GT(rowScale(large, options).magnitude.at({0, 0, 0, 0}), 1e7);
}

/// Computes exp(score - lse) in float: the scale must cover its error, but not that of an lse that
/// is off by a few units.
TEST(Softmax, KnownLogSumExpScaleCoversFloatArithmetic) {
  constexpr int64_t cols = 64;
  HostTensor row = HostTensor::zeros(ElementType::f32, {1, 1, cols});
  for (int64_t j = 0; j < cols; ++j)
    row.set({0, 0, j}, std::sin(j * 1.7) * 20);
  // Larger and smaller results than 1.
  for (double lse : {3.1, 40.3, -2.7}) {
    SoftmaxOptions options;
    options.scale = 0.7;
    options.knownLse = HostTensor::of(ElementType::f64, {1}, {lse});
    std::string error;
    ErrorScale scale, lseScale;
    auto exact =
        softmax(sparse(row, pattern({1, cols}, 1, 1, "1")), options, error, &scale, &lseScale);
    ASSERT_TRUE(exact) << error;
    EXPECT_EQ(exact->lse.at({0, 0, 0}), lse);
    EXPECT_EQ(lseScale.magnitude.at({0, 0, 0}), 0);
    auto compare = [&](float known) {
      HostTensor computed = HostTensor::zeros(ElementType::f32, {1, 1, 1, cols});
      for (int64_t j = 0; j < cols; ++j)
        computed.set({0, 0, 0, j}, std::exp(0.7f * float(row.at({0, 0, j})) - known));
      ErrorModel model = ErrorModel::forOperands(ElementType::f32);
      return *compareToReference(computed, exact->values, scale, model, error);
    };
    EXPECT_TRUE(compare(lse).ok()) << compare(lse).describe();
    EXPECT_EQ(compare(lse).voids, 0);
    EXPECT_FALSE(compare(lse + 1e-4).ok());
  }
}

TEST(Softmax, RejectsDuplicatesAndShapes) {
  Pattern p = dynamicPattern(2, 1, 1, indices({2}, {0, 2}), indices({2}, {0, 0}));
  std::string error;
  EXPECT_FALSE(softmax(sparse(oneBlocks(p), p), {}, error));
  EXPECT_EQ(error, "expects each block column once in a block row, but got "
                   "column 0 twice in row 0");
  SoftmaxOptions options;
  options.attentionMask = ones({3, 3});
  EXPECT_FALSE(softmax(zeroScores(2), options, error));
  EXPECT_EQ(error, "attention mask expects a shape that broadcasts to "
                   "[1, 1, 2, 2], but got [3, 3]");
  options = {};
  options.keyPaddingMask = ones({1, 1, 2});
  EXPECT_FALSE(softmax(zeroScores(2), options, error));
  EXPECT_EQ(error, "expects a key padding mask of rank 1 or 2, but got "
                   "f32[1, 1, 2]");
}

/// Checks a random softmax problem with all operands, and the loss sum(weights * P).
class SoftmaxGradient : public testing::Test {
protected:
  Pattern p = pattern({2, 3}, 3, 2, "11 01 10 10 11 00");
  SparseTensor x{uniform({2, p.valueBlocks(), 2, 3}, 1), p, 5, 5};
  HostTensor weights = uniform({2, p.valueBlocks(), 2, 3}, 2);
  SoftmaxOptions options;

  void SetUp() override {
    options.scale = 0.7;
    options.rpe = uniform({2, 1, 5}, 3); // [H, 1, N]: broadcast over rows
    options.attentionMask = make(
        {5, 5}, [](std::span<const int64_t> i) { return (i[0] * 7 + i[1] * 3) % 5 ? 1.0 : 0.0; });
    options.attentionMode = MaskMode::mul;
    options.keyPaddingMask = uniform({2, 5}, 4);
  }

  double loss() const { return dot(run(x, options).values, weights); }

  /// Returns d loss / d tensor[index] by central differences.
  double slope(const HostTensor &tensor, std::span<const int64_t> index) {
    return centralDifference(tensor, index, [&] { return loss(); });
  }
};

TEST_F(SoftmaxGradient, AgreesWithFiniteDifferences) {
  SparseTensor y = x;
  y.values = run(x, options).values;
  std::string error;
  SoftmaxGradScales scales;
  auto result =
      softmaxGrad(y, weights, options.scale, std::vector<int64_t>{2, 1, 5}, error, &scales);
  ASSERT_TRUE(result) << error;
  forEachIndex(x.values.shape(), [&](std::span<const int64_t> index) {
    ASSERT_NEAR(result->dx.at(index), slope(x.values, index), 1e-9);
    ASSERT_GE(scales.dx.magnitude.at(index), std::fabs(result->dx.at(index)));
  });
  forEachIndex(options.rpe->shape(), [&](std::span<const int64_t> index) {
    ASSERT_NEAR(result->drpe->at(index), slope(*options.rpe, index), 1e-9);
  });
}

TEST_F(SoftmaxGradient, RpeShapeMustBroadcast) {
  std::string error;
  EXPECT_FALSE(softmaxGrad(x, weights, 1, std::vector<int64_t>{4, 5}, error));
  EXPECT_EQ(error, "expects a shape that broadcasts to [2, 2, 5, 5], but got "
                   "[4, 5]");
}

} // namespace
