// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Reference/AttentionParts.h"
#include "TestTensors.h"

#include <cmath>

using namespace blocksparse;
using namespace blocksparse::ref;
using namespace blocksparse::ref::test;

namespace {

AttentionResult run(const HostTensor &q, const HostTensor &k, const HostTensor &v, const Pattern &p,
                    const SoftmaxOptions &options) {
  std::string error;
  std::optional<AttentionResult> result = attention(q, k, v, p, options, error);
  EXPECT_TRUE(result) << error;
  return *result;
}

/// Returns the part without errors of its own.
AttentionPart exactPart(const AttentionResult &result) {
  return {result.out, result.lse, HostTensor::zeros(ElementType::f64, result.out.shape()),
          HostTensor::zeros(ElementType::f64, result.lse.shape())};
}

void expectClose(const HostTensor &got, const HostTensor &expected) {
  ASSERT_EQ(formatShape(got.shape()), formatShape(expected.shape()));
  forEachIndex(expected.shape(), [&](std::span<const int64_t> index) {
    if (expected.at(index) == -infinity)
      EXPECT_EQ(got.at(index), -infinity);
    else
      EXPECT_NEAR(got.at(index), expected.at(index), 1e-13) << formatShape(index);
  });
}

/// The parts of the keys are three, of which the second block row reaches one.
TEST(AttentionParts, MergeIsAttentionOverAllKeys) {
  Pattern whole = pattern({2, 3}, 2, 3, "111 010");
  const char *masks[] = {"1 0", "1 1", "1 0"};
  HostTensor q = uniform({4, 5}, 1), k = uniform({9, 5}, 2), v = uniform({9, 3}, 3);
  std::vector<AttentionPart> parts;
  for (int64_t part = 0; part < 3; ++part)
    parts.push_back(
        exactPart(run(q, k.slice(0, 3 * part, 3 * part + 3), v.slice(0, 3 * part, 3 * part + 3),
                      pattern({2, 3}, 2, 1, masks[part]), {})));
  std::string error;
  AttentionScales scales;
  AttentionResult errors;
  auto merged = attentionMerge(parts, error, &scales, &errors);
  ASSERT_TRUE(merged) << error;
  AttentionResult expected = run(q, k, v, whole, {});
  expectClose(merged->out, expected.out);
  expectClose(merged->lse, expected.lse);
  expectAll(errors.out, 0);
  forEachIndex(merged->out.shape(), [&](std::span<const int64_t> index) {
    EXPECT_GE(scales.out.magnitude.at(index), std::fabs(merged->out.at(index)) * (1 - 1e-12));
  });
  // An error of a part and of its lse reaches the rows that the part has.
  parts[0].outErrors.fill(0.125);
  parts[0].lseErrors.fill(0.5);
  ASSERT_TRUE(attentionMerge(parts, error, &scales, &errors));
  EXPECT_GT(errors.out.at({0, 0, 0, 0}), 0);
  EXPECT_EQ(errors.out.at({0, 0, 2, 0}), 0);
  EXPECT_FALSE(attentionMerge({}, error));
  EXPECT_EQ(error, "expects at least 1 part, but got 0");
}

TEST(AttentionParts, RowsWithoutAPartAreZero) {
  HostTensor lse = HostTensor::zeros(ElementType::f64, {1, 1, 4}), out = ones({1, 1, 4, 2});
  lse.fill(-infinity);
  AttentionPart none = exactPart({out, lse});
  std::string error;
  auto merged = attentionMerge(std::vector{none, none}, error);
  ASSERT_TRUE(merged) << error;
  expectAll(merged->out, 0);
  expectAll(merged->lse, -infinity);
}

/// A key of the score of the sink and the value 0 is the sink.
TEST(AttentionParts, SinkIsAKeyOfValueZero) {
  HostTensor q = uniform({4, 2}, 1), k = uniform({4, 2}, 2), v = uniform({4, 3}, 3);
  SoftmaxOptions options;
  options.sink = HostTensor::of(ElementType::f64, {1}, {0.75});
  AttentionResult result = run(q, k, v, pattern({2, 2}, 2, 2, "10 01"), options);
  AttentionPart plain = exactPart(run(q, k, v, pattern({2, 2}, 2, 2, "10 01"), {}));
  HostTensor lse = HostTensor::zeros(ElementType::f64, plain.lse.shape());
  lse.fill(0.75);
  AttentionPart sink = exactPart({HostTensor::zeros(ElementType::f64, plain.out.shape()), lse});
  std::string error;
  auto merged = attentionMerge(std::vector{plain, sink}, error);
  ASSERT_TRUE(merged) << error;
  expectClose(result.out, merged->out);
  expectClose(result.lse, merged->lse);
}

/// Holds attention with everything that a position, a sink and shared heads can do, and the loss
/// sum(weights * out) + sum(lseWeights * lse).
class PositionGradient : public testing::Test {
protected:
  Pattern p = pattern({2, 3}, 3, 2, "11 11 11  11 11 11  11 11 11  11 11 11");
  HostTensor q = uniform({2, 4, 5, 3}, 1);
  HostTensor k = uniform({2, 2, 6, 3}, 2);
  HostTensor v = uniform({2, 2, 6, 4}, 3);
  HostTensor weights = uniform({2, 4, 5, 4}, 4), lseWeights = uniform({2, 4, 5}, 5);
  SoftmaxOptions options;

  void SetUp() override {
    options.scale = 0.6;
    options.windowLeft = 3;
    options.windowRight = 2;
    options.causalOffset = 1;
    options.keyLengths = HostTensor::of(ElementType::i32, {2}, {6, 4});
    options.queryLengths = HostTensor::of(ElementType::i32, {2}, {4, 5});
    options.querySegments = HostTensor::of(ElementType::i32, {5}, {0, 0, 1, 1, 1});
    options.keySegments = HostTensor::of(ElementType::i32, {6}, {0, 0, 0, 1, 1, 1});
    options.softCap = 0.5;
    options.sink = uniform({4}, 6);
  }

  double loss() const {
    AttentionResult result = run(q, k, v, p, options);
    return dot(result.out, weights) + dot(result.lse, lseWeights);
  }

  void expectSlopes(const HostTensor &gradient, const HostTensor &tensor, const ErrorScale &scale,
                    const char *name) {
    test::expectSlopes(gradient, tensor, scale.magnitude, 1e-8, name, [&] { return loss(); });
  }
};

TEST_F(PositionGradient, AgreesWithFiniteDifferences) {
  std::string error;
  AttentionGradScales scales;
  AttentionResult forward = run(q, k, v, p, options);
  auto result = attentionGrad(q, k, v, forward, weights, p, options, error, &scales, lseWeights);
  ASSERT_TRUE(result) << error;
  expectSlopes(result->dq, q, scales.dq, "dq");
  expectSlopes(result->dk, k, scales.dk, "dk");
  expectSlopes(result->dv, v, scales.dv, "dv");
  ErrorScale sinkScale;
  auto dsink = attentionSinkGrad(*options.sink, forward, weights, lseWeights, error, &sinkScale);
  ASSERT_TRUE(dsink) << error;
  expectSlopes(*dsink, *options.sink, sinkScale, "dsink");
}

/// Each mask of the position is the i1 mask of elements that says the same.
TEST_F(PositionGradient, PositionsAreMasks) {
  HostTensor mask = make(
      {2, 1, 5, 6},
      [](std::span<const int64_t> at) {
        int64_t batch = at[0], row = at[2], col = at[3], diagonal = row + 1;
        bool allowed = col >= diagonal - 3 && col <= diagonal + 2 && col < (batch == 0 ? 6 : 4) &&
                       row < (batch == 0 ? 4 : 5) && (row < 2) == (col < 3);
        return allowed ? 1.0 : 0.0;
      },
      ElementType::i8);
  SoftmaxOptions plain;
  plain.scale = options.scale;
  plain.softCap = options.softCap;
  plain.sink = options.sink;
  plain.attentionMask = mask;
  plain.attentionMode = MaskMode::mul;
  AttentionResult expected = run(q, k, v, p, plain), result = run(q, k, v, p, options);
  EXPECT_TRUE(bitwiseEqual(result.out, expected.out));
  EXPECT_TRUE(bitwiseEqual(result.lse, expected.lse));
  // `causal` is a window without columns on the right.
  SoftmaxOptions causal, window;
  causal.causal = true;
  causal.causalOffset = window.causalOffset = 1;
  window.windowRight = 0;
  EXPECT_TRUE(bitwiseEqual(run(q, k, v, p, causal).out, run(q, k, v, p, window).out));
}

} // namespace
