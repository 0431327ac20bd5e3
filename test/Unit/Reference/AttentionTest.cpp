// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Reference/Attention.h"
#include "TestTensors.h"

#include <cmath>

using namespace blocksparse;
using namespace blocksparse::ref;
using namespace blocksparse::ref::test;

namespace {

/// Returns a [rows, cols] tensor whose elements are the index of their row.
HostTensor rowNumbers(int64_t rows, int64_t cols) {
  return make(
      {rows, cols}, [](std::span<const int64_t> i) { return double(i[0]); }, ElementType::f32);
}

AttentionResult run(const HostTensor &q, const HostTensor &k, const HostTensor &v, const Pattern &p,
                    const SoftmaxOptions &options) {
  std::string error;
  std::optional<AttentionResult> result = attention(q, k, v, p, options, error);
  EXPECT_TRUE(result) << error;
  return *result;
}

TEST(Attention, C40RowBlockWithoutBlocks) {
  Pattern p = pattern({16, 16}, 2, 2, "10 00");
  HostTensor q = uniform({32, 8}, 1), k = uniform({32, 8}, 2), v = uniform({32, 8}, 3),
             dout = uniform({32, 8}, 4);
  AttentionResult result = run(q, k, v, p, {});
  expectAll(result.out.slice(2, 16, 32), 0);
  expectAll(result.lse.slice(2, 16, 32), -infinity);
  std::string error;
  auto gradients = attentionGrad(q, k, v, result, dout, p, {}, error);
  ASSERT_TRUE(gradients) << error;
  expectAll(gradients->dq.slice(0, 16, 32), 0);
  expectAll(gradients->dk.slice(0, 16, 32), 0);
  expectAll(gradients->dv.slice(0, 16, 32), 0);
  // NaN in the gradient of rows without weight must not change the result.
  dout.slice(0, 16, 32).fill(quietNaN);
  auto poisoned = attentionGrad(q, k, v, result, dout, p, {}, error);
  ASSERT_TRUE(poisoned) << error;
  EXPECT_TRUE(bitwiseEqual(gradients->dk, poisoned->dk));
  EXPECT_TRUE(bitwiseEqual(gradients->dv, poisoned->dv));
}

TEST(Attention, C51ElementMaskInsideABlock) {
  Pattern p = pattern({16, 16}, 1, 1, "1");
  SoftmaxOptions options;
  options.causal = true;
  HostTensor zero = HostTensor::zeros(ElementType::f32, {16, 4});
  AttentionResult result = run(zero, zero, rowNumbers(16, 4), p, options);
  for (int64_t i = 0; i < 16; ++i)
    EXPECT_NEAR(result.out.at({0, 0, i, 0}), i / 2.0, 1e-14);
}

TEST(Attention, C52PaddedKeysHaveNoWeight) {
  Pattern p = pattern({64, 64}, 1, 2, "11");
  AttentionResult result =
      run(HostTensor::zeros(ElementType::f32, {64, 4}), ones({65, 4}), ones({65, 4}), p, {});
  forEachIndex(result.out.shape(), [&](std::span<const int64_t> index) {
    EXPECT_NEAR(result.out.at(index), 1, 1e-14);
  });
  EXPECT_NEAR(result.lse.at({0, 0, 0}), std::log(65.0), 1e-14);
}

TEST(Attention, C60LayoutPerHead) {
  Pattern p = pattern({16, 16}, 4, 4, "1000 0100 0010 0001  1000 1100 1110 1111");
  HostTensor zero = HostTensor::zeros(ElementType::f32, {64, 8});
  AttentionResult result = run(zero, zero, rowNumbers(64, 8), p, {});
  for (int64_t i = 0; i < 64; ++i) {
    EXPECT_NEAR(result.out.at({0, 0, i, 0}), 7.5 + i / 16 * 16, 1e-12);
    EXPECT_NEAR(result.out.at({0, 1, i, 0}), 7.5 + i / 16 * 8, 1e-12);
  }
}

TEST(Attention, FullyMaskedRowsAreZero) {
  Pattern p = pattern({4, 4}, 1, 1, "1");
  SoftmaxOptions options;
  options.keyPaddingMask = HostTensor::zeros(ElementType::i8, {4});
  options.keyPaddingMode = MaskMode::mul;
  HostTensor x = uniform({4, 4}, 1);
  AttentionResult result = run(x, x, x, p, options);
  expectAll(result.out, 0);
  expectAll(result.lse, -infinity);
  std::string error;
  auto gradients = attentionGrad(x, x, x, result, x, p, options, error);
  ASSERT_TRUE(gradients) << error;
  expectAll(gradients->dq, 0);
  expectAll(gradients->dk, 0);
  expectAll(gradients->dv, 0);
}

/// What is forbidden is not used: NaN in key 5, which the padding mask forbids, and in query 2 and
/// key 3 beyond the diagonal.
TEST(Attention, NaNBehindAMaskIsNotUsed) {
  Pattern p = pattern({3, 2}, 2, 3, "111 111");
  SoftmaxOptions options;
  options.causal = true;
  options.keyPaddingMask = HostTensor::of(ElementType::f32, {6}, {1, 1, 1, 1, 1, 0});
  options.keyPaddingMode = MaskMode::mul;
  HostTensor q = uniform({6, 4}, 1), k = uniform({6, 4}, 2), v = uniform({6, 4}, 3),
             dout = uniform({6, 4}, 4);
  AttentionResult clean = run(q, k, v, p, options);
  std::string error;
  auto gradients = attentionGrad(q, k, v, clean, dout, p, options, error);
  ASSERT_TRUE(gradients) << error;
  for (HostTensor *tensor : {&k, &v})
    tensor->slice(0, 5, 6).fill(quietNaN);
  AttentionResult masked = run(q, k, v, p, options);
  EXPECT_TRUE(bitwiseEqual(clean.out, masked.out));
  EXPECT_TRUE(bitwiseEqual(clean.lse, masked.lse));
  auto same = attentionGrad(q, k, v, masked, dout, p, options, error);
  ASSERT_TRUE(same) << error;
  EXPECT_TRUE(bitwiseEqual(gradients->dq, same->dq));
  EXPECT_TRUE(bitwiseEqual(gradients->dk, same->dk));
  EXPECT_TRUE(bitwiseEqual(gradients->dv, same->dv));
  // Key 3 reaches the queries from 3 on, query 2 the keys up to 2.
  v.slice(0, 3, 4).fill(infinity);
  dout.slice(0, 2, 3).fill(quietNaN);
  masked = run(q, k, v, p, options);
  EXPECT_TRUE(
      bitwiseEqual(clean.out.slice(2, 0, 3).contiguous(), masked.out.slice(2, 0, 3).contiguous()));
  same = attentionGrad(q, k, v, masked, dout, p, options, error);
  ASSERT_TRUE(same) << error;
  EXPECT_TRUE(bitwiseEqual(gradients->dv.slice(0, 3, 6).contiguous(),
                           same->dv.slice(0, 3, 6).contiguous()));
}

/// The gradients of two parts of the keys, each with out and lse of all keys, are those of the
/// whole: dq is the sum of the shares, dk and dv are joined.
TEST(Attention, GradientsOfPartsOfTheKeys) {
  Pattern whole = pattern({2, 3}, 2, 2, "11 11"), part = pattern({2, 3}, 2, 1, "1 1");
  HostTensor q = uniform({4, 5}, 1), k = uniform({6, 5}, 2), v = uniform({6, 3}, 3),
             dout = uniform({4, 3}, 4);
  AttentionResult forward = run(q, k, v, whole, {});
  std::string error;
  auto gradients = attentionGrad(q, k, v, forward, dout, whole, {}, error);
  auto first = attentionGrad(q, k.slice(0, 0, 3), v.slice(0, 0, 3), forward, dout, part, {}, error);
  auto second =
      attentionGrad(q, k.slice(0, 3, 6), v.slice(0, 3, 6), forward, dout, part, {}, error);
  ASSERT_TRUE(gradients && first && second) << error;
  forEachIndex(q.shape(), [&](std::span<const int64_t> index) {
    EXPECT_NEAR(gradients->dq.at(index), first->dq.at(index) + second->dq.at(index), 1e-14);
  });
  forEachIndex(v.shape(), [&](std::span<const int64_t> index) {
    int64_t own[] = {index[0] % 3, index[1]};
    auto &from = index[0] < 3 ? first : second;
    EXPECT_NEAR(gradients->dv.at(index), from->dv.at(own), 1e-14);
  });
}

/// Checks attention with scale, rpe, both masks, causality, batches, heads, broadcast operands and
/// ragged extents, and the loss sum(weights * out).
class AttentionGradient : public testing::Test {
protected:
  Pattern p = pattern({2, 3}, 3, 2, "10 11 11  11 00 01");
  HostTensor q = uniform({2, 2, 5, 3}, 1); // [B, H, M, D]
  HostTensor k = uniform({2, 5, 3}, 2);    // shared by the batches
  HostTensor v = uniform({2, 1, 5, 4}, 3); // shared by the heads
  HostTensor weights = uniform({2, 2, 5, 4}, 4);
  SoftmaxOptions options;

  void SetUp() override {
    options.scale = 0.6;
    options.causal = true;
    options.rpe = uniform({2, 1, 5, 5}, 5); // [B, 1, M, N]
    options.attentionMask = uniform({5, 5}, 6);
    options.attentionMask->set({3, 2}, -infinity);
    options.keyPaddingMask =
        HostTensor::of(ElementType::f32, {2, 5}, {1, 1, 1, 1, 1, 0, 1, 1, 1, 1});
    options.keyPaddingMode = MaskMode::mul;
  }

  double loss() const { return dot(run(q, k, v, p, options).out, weights); }

  void expectSlopes(const HostTensor &gradient, const HostTensor &tensor, const ErrorScale &scale,
                    const char *name) {
    test::expectSlopes(gradient, tensor, scale.magnitude, 1e-9, name, [&] { return loss(); });
  }
};

TEST_F(AttentionGradient, AgreesWithFiniteDifferences) {
  std::string error;
  AttentionGradScales scales;
  AttentionResult forward = run(q, k, v, p, options);
  auto result = attentionGrad(q, k, v, forward, weights, p, options, error, &scales);
  ASSERT_TRUE(result) << error;
  expectSlopes(result->dq, q, scales.dq, "dq");
  expectSlopes(result->dk, k, scales.dk, "dk");
  expectSlopes(result->dv, v, scales.dv, "dv");
  ASSERT_TRUE(result->drpe);
  expectSlopes(*result->drpe, *options.rpe, scales.drpe, "drpe");
}

/// Computes attention in float, element by element: the scales must cover its error, but not be so
/// wide that a missing column passes.
TEST_F(AttentionGradient, ForwardScalesCoverFloatArithmetic) {
  std::string error;
  AttentionScales scales;
  options = {};
  options.scale = 3;
  auto exact = attention(q, k, v, p, options, error, &scales);
  ASSERT_TRUE(exact) << error;
  HostTensor computed = HostTensor::zeros(ElementType::f32, {2, 2, 5, 4});
  HostTensor lossy = computed.clone();
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t h = 0; h < 2; ++h)
      for (int64_t i = 0; i < 5; ++i) {
        std::vector<int64_t> columns;
        for (const Pattern::Entry &entry : p.row(b, h, i / 2))
          for (int64_t j = entry.col * 3; j < std::min<int64_t>(5, entry.col * 3 + 3); ++j)
            columns.push_back(j);
        for (HostTensor *target : {&computed, &lossy}) {
          float sum = 0, out[4] = {};
          for (int64_t j : columns) {
            float score = 0;
            for (int64_t d = 0; d < 3; ++d)
              score += float(q.at({b, h, i, d})) * float(k.at({h, j, d}));
            float weight = std::exp(3 * score);
            sum += weight;
            for (int64_t d = 0; d < 4; ++d)
              out[d] += weight * float(v.at({b, 0, j, d}));
          }
          for (int64_t d = 0; d < 4 && !columns.empty(); ++d)
            target->set({b, h, i, d}, out[d] / sum);
          if (!columns.empty())
            columns.pop_back();
        }
      }
  ErrorModel model = ErrorModel::forOperands(ElementType::f32);
  // The inputs were f64 and were rounded to f32.
  model.operandRoundoff = unitRoundoff(ElementType::f32);
  auto good = compareToReference(computed, exact->out, scales.out, model, error);
  ASSERT_TRUE(good) << error;
  EXPECT_TRUE(good->ok()) << good->describe();
  auto bad = compareToReference(lossy, exact->out, scales.out, model, error);
  EXPECT_GT(bad->worstRatio, 1000) << bad->describe();
}

TEST(Attention, RejectsShapesThatDoNotFit) {
  Pattern p = pattern({4, 4}, 1, 1, "1");
  std::string error;
  EXPECT_FALSE(attention(ones({4, 3}), ones({4, 2}), ones({4, 2}), p, {}, error));
  EXPECT_EQ(error, "expects an inner size of 3, but got 2");
  EXPECT_FALSE(attention(ones({4, 3}), ones({4, 3}), ones({5, 2}), p, {}, error));
  EXPECT_EQ(error, "expects an inner size of 4, but got 5");
  AttentionResult forward{ones({4, 3}), ones({4})};
  EXPECT_FALSE(
      attentionGrad(ones({4, 3}), ones({4, 3}), ones({4, 2}), forward, ones({4, 3}), p, {}, error));
  EXPECT_EQ(error, "expects an inner size of 3, but got 2");
  forward.out = ones({4, 2});
  EXPECT_FALSE(
      attentionGrad(ones({4, 3}), ones({4, 3}), ones({4, 2}), forward, ones({4, 3}), p, {}, error));
  EXPECT_EQ(error, "expects columns of out of 2, but got 3");
}

} // namespace
