// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Reference/ScatterMM.h"
#include "TestTensors.h"

#include <cmath>
#include <random>

using namespace blocksparse;
using namespace blocksparse::ref;
using namespace blocksparse::ref::test;

namespace {

TEST(ScatterMM, C15OutputTilesOfAnyShape) {
  for (auto [m, n] : {std::pair{16, 64}, {16, 32}, {32, 16}, {32, 64}}) {
    std::string error;
    auto c = scatterMM(ones({1, m, 16}, ElementType::f16), ones({1, 16, n}, ElementType::f16),
                       HostTensor::zeros(ElementType::f16, {1, m, n}), indices({2}, {0, 1}),
                       indices({1, 2}, {0, 0}), error);
    ASSERT_TRUE(c) << error;
    EXPECT_EQ(formatShape(c->shape()), formatShape(std::vector<int64_t>{1, m, n}));
    expectAll(*c, 16);
  }
}

TEST(ScatterMM, C16AddsToTheAccumulators) {
  std::string error;
  HostTensor accumulators = filled(ElementType::f32, {2, 16, 16}, 5);
  ErrorScale scale;
  auto c = scatterMM(ones({1, 16, 16}), ones({1, 16, 16}), accumulators, indices({3}, {0, 1, 1}),
                     indices({1, 2}, {0, 0}), error, &scale);
  ASSERT_TRUE(c) << error;
  expectAll(c->select(0, 0), 21);
  expectAll(c->select(0, 1), 5);
  expectAll(accumulators, 5);
  expectAll(scale.magnitude.select(0, 0), 21);
  EXPECT_EQ(scale.terms, 16);
}

/// Checks the product of [[b0, 0], [b1, b2]] in 2 x 2 blocks and a 4 x 4 matrix (two batches), with
/// two column tiles, in both strided formats.
class Strided : public testing::Test {
protected:
  HostTensor blocks = uniform({3, 2, 2}, 1);
  HostTensor others = uniform({2, 4, 4}, 2);
  HostTensor accumulators = uniform({2, 4, 4}, 3);
  // Tiles are written in reverse order, because any order is valid.
  StridedIndices compressed{indices({3}, {0, 1, 3}),
                            indices({4}, {10, 8, 2, 0}),
                            {},
                            // row 0: (n=0) 0, (n=1) 2; row 1: 0, 8 then 2, 10
                            indices({6}, {0, 2, 0, 8, 2, 10}),
                            2};
  StridedIndices plain{indices({5}, {0, 2, 4, 5, 6}), indices({4}, {10, 8, 2, 0}),
                       indices({6}, {1, 2, 1, 2, 0, 0}), indices({6}, {2, 10, 0, 8, 2, 0}), 2};
  std::string error;

  double expected(int64_t b, int64_t i, int64_t j) const {
    double sum = accumulators.at({b, i, j});
    for (int64_t k = 0; k < 4; ++k) {
      int64_t block = i < 2 ? (k < 2 ? 0 : -1) : (k < 2 ? 1 : 2);
      if (block >= 0)
        sum += blocks.at({block, i % 2, k % 2}) * others.at({b, k, j});
    }
    return sum;
  }

  void check(const std::optional<HostTensor> &c) {
    ASSERT_TRUE(c) << error;
    for (int64_t b = 0; b < 2; ++b)
      for (int64_t i = 0; i < 4; ++i)
        for (int64_t j = 0; j < 4; ++j)
          ASSERT_NEAR(c->at({b, i, j}), expected(b, i, j), 1e-14);
  }
};

TEST_F(Strided, PlainFormat) { check(bsrStridedMM(blocks, others, accumulators, plain, error)); }

TEST_F(Strided, CompressedFormat) {
  check(bsrStridedMMCompressed(blocks, others, accumulators, compressed, error));
}

TEST_F(Strided, MagnitudesBoundTheResult) {
  ErrorScale scale;
  auto c = bsrStridedMM(blocks, others, accumulators, plain, error, &scale);
  forEachIndex(c->shape(), [&](std::span<const int64_t> index) {
    EXPECT_GE(scale.magnitude.at(index), std::fabs(c->at(index)));
  });
}

TEST_F(Strided, RejectsWhatDoesNotFit) {
  StridedIndices wrong = plain;
  wrong.splitN = 3;
  EXPECT_FALSE(bsrStridedMM(blocks, others, accumulators, wrong, error));
  EXPECT_EQ(error, "expects a split that divides 4 columns, but got 3");
  wrong = plain;
  wrong.rOffsets = indices({4}, {10, 8, 3, 0});
  EXPECT_FALSE(bsrStridedMM(blocks, others, accumulators, wrong, error));
  EXPECT_EQ(error, "expects r_offsets of whole 2 x 2 tiles, but got row 0, "
                   "column 3");
  wrong = plain;
  wrong.pOffsets = indices({6}, {1, 2, 1, 3, 0, 0});
  EXPECT_FALSE(bsrStridedMM(blocks, others, accumulators, wrong, error));
  EXPECT_EQ(error, "expects p_offsets in [0, 3), but got 3");
  wrong = plain;
  wrong.rOffsets = indices({4}, {10, 8, 0, 1});
  EXPECT_FALSE(bsrStridedMM(blocks, others, accumulators, wrong, error));
  EXPECT_EQ(error, "expects r_offsets of tiles that do not overlap, as with position 2, but got 1 "
                   "at position 3");
  wrong = compressed;
  wrong.rOffsets = indices({4}, {10, 5, 2, 0});
  EXPECT_FALSE(bsrStridedMMCompressed(blocks, others, accumulators, wrong, error));
  EXPECT_EQ(error, "expects r_offsets of tiles that do not overlap, as with position 0, but got 5 "
                   "at position 1");
  wrong = compressed;
  wrong.qOffsets = indices({5}, {0, 2, 0, 8, 2});
  EXPECT_FALSE(bsrStridedMMCompressed(blocks, others, accumulators, wrong, error));
  EXPECT_EQ(error, "expects places in q_offsets in [0, 5), but got 5");
}

TEST_F(Strided, TakesTilesOffTheGridThatDoNotOverlap) {
  // Two tiles of 2 x 2 at (1, 0) and (0, 2) of 4 x 4 elements.
  StridedIndices shifted{indices({3}, {0, 1, 1}), indices({2}, {4, 2}), indices({1}, {0}),
                         indices({1}, {0}), 2};
  auto c = bsrStridedMM(blocks, others, accumulators, shifted, error);
  ASSERT_TRUE(c) << error;
  EXPECT_EQ(c->at({0, 0, 0}), accumulators.at({0, 0, 0}));
  EXPECT_NE(c->at({0, 1, 0}), accumulators.at({0, 1, 0}));
}

/// Draws tiles at random and compares each pair.
TEST(ScatterMM, FindsTheFirstOverlap) {
  std::mt19937 random(5);
  auto below = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
  int overlaps = 0;
  for (int round = 0; round < 2000; ++round) {
    const int64_t height = 1 + below(3), split = 1 + below(3), width = 1 + below(3);
    const int64_t rows = height + below(9), cols = split * width, count = 1 + below(4);
    std::vector<int64_t> offsets;
    for (int64_t i = 0; i < count; ++i)
      offsets.push_back(below(rows - height + 1) * cols + below(cols - width + 1));
    std::string expected, error;
    for (int64_t i = 0; i < count && expected.empty(); ++i)
      for (int64_t j = 0; j < i && expected.empty(); ++j)
        if (std::abs(offsets[i] / cols - offsets[j] / cols) < height &&
            std::abs(offsets[i] % cols - offsets[j] % cols) < width)
          expected = "as with position " + std::to_string(j) + ", but got " +
                     std::to_string(offsets[i]) + " at position " + std::to_string(i);
    overlaps += !expected.empty();
    HostTensor starts = HostTensor::zeros(ElementType::i64, {count});
    for (int64_t i = 0; i < count; ++i)
      starts.set({i}, static_cast<double>(offsets[i]));
    StridedIndices strided{HostTensor::zeros(ElementType::i64, {count + 1}), starts,
                           HostTensor::zeros(ElementType::i64, {0}),
                           HostTensor::zeros(ElementType::i64, {0}), split};
    bool valid =
        checkStridedMM(ones({1, height, 1}), ones({1, cols}), ones({rows, cols}), strided, error);
    EXPECT_EQ(valid, expected.empty()) << error;
    EXPECT_NE(error.find(expected), std::string::npos) << error << " instead of " << expected;
  }
  EXPECT_GT(overlaps, 200);
  EXPECT_LT(overlaps, 1800);
}

TEST(ScatterMM, RejectsIndicesOutOfRange) {
  HostTensor tile = ones({1, 2, 2});
  std::string error;
  EXPECT_FALSE(scatterMM(tile, tile, tile, indices({2}, {0, 1}), indices({1, 2}, {0, 1}), error));
  EXPECT_EQ(error, "expects tile indices q in [0, 1), but got 1");
  EXPECT_FALSE(scatterMM(tile, tile, tile, indices({2}, {0, 2}), indices({1, 2}, {0, 0}), error));
  EXPECT_EQ(error, "expects c_offsets in [0, 1], but got 2");
  // The check alone reads no element.
  HostTensor shape =
      *HostTensor::wrap(ElementType::i8, nullptr, {{1, 2, 2}}, {{0, 0, 0}}, nullptr, error);
  EXPECT_TRUE(
      checkScatterMM(shape, shape, shape, indices({2}, {0, 1}), indices({1, 2}, {0, 0}), error));
  EXPECT_FALSE(
      checkScatterMM(shape, shape, shape, indices({2}, {0, 1}), indices({1, 2}, {-1, 0}), error));
  EXPECT_EQ(error, "expects block indices p in [0, 1), but got -1");
}

TEST(ScatterMM, Int8WrapsToInt32) {
  HostTensor block = filled(ElementType::i8, {1, 1, 2}, -128);
  HostTensor other = filled(ElementType::i8, {1, 2, 1}, -128);
  HostTensor high = filled(ElementType::i32, {1, 1, 1}, 2147483647);
  std::string error;
  auto c = scatterMM(block, other, high, indices({2}, {0, 1}), indices({1, 2}, {0, 0}), error);
  ASSERT_TRUE(c) << error;
  EXPECT_EQ(c->type(), ElementType::i32);
  EXPECT_EQ(c->at({0, 0, 0}), -2147483648.0 + 32767);
}

} // namespace
