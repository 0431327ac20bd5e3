// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// These tests build patterns on grids whose area, or whose number of blocks, is too large to visit.

#include "blocksparse/Layout/CounterRandom.h"
#include "blocksparse/Layout/Patterns.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace blocksparse;

namespace {

using Parameters = std::vector<std::pair<std::string, PatternValue>>;

constexpr BlockShape block16 = {16, 16};
constexpr int64_t maxBlocks = BlockLayout::maxBlocks;

BlockLayout build(const std::string &name, const Parameters &parameters, BlockGrid grid) {
  std::string error;
  auto layout = buildPattern({name, parameters}, block16, grid, error);
  EXPECT_TRUE(layout.has_value()) << name << ": " << error;
  return layout.value_or(BlockLayout());
}

std::string errorFor(const std::string &name, const Parameters &parameters, BlockGrid grid) {
  std::string error;
  EXPECT_FALSE(buildPattern({name, parameters}, block16, grid, error));
  return error;
}

std::string tooManyBlocks(int64_t count) {
  return "expects at most 134217728 stored blocks, but got at least " + std::to_string(count);
}

// No call of this test may allocate the memory, or take the time, that its error is about.
TEST(PatternSizes, TooManyBlocksAreAnError) {
  EXPECT_EQ(errorFor("dense", {}, {1, 2, maxBlocks}), tooManyBlocks(2 * maxBlocks));
  EXPECT_EQ(errorFor("dense", {}, {32768, 2, 4095}), tooManyBlocks(268369920));
  EXPECT_EQ(errorFor("dense", {}, {1, 100000, 100000}), tooManyBlocks(134300000));
  EXPECT_EQ(errorFor("checkerboard", {}, {1, 3, maxBlocks}), tooManyBlocks(3 * maxBlocks / 2));
  EXPECT_EQ(errorFor("random_balanced", {{"density", 0.5}}, {1, maxBlocks, 4}),
            tooManyBlocks(2 * maxBlocks));
}

TEST(PatternSizes, TooLargeGridsAreAnError) {
  const std::string rows = "expects heads x block rows of at most 134217728, but got ";
  const std::string cols = "expects heads x block cols of at most 134217728, but got ";
  EXPECT_EQ(errorFor("diagonal", {}, {1, 2147483647, 2147483647}), rows + "1 x 2147483647");
  EXPECT_EQ(errorFor("random", {{"density", 0.0}}, {1, 2147483647, 2147483647}),
            rows + "1 x 2147483647");
  EXPECT_EQ(errorFor("dense", {}, {1, 1, 2147483647}), cols + "1 x 2147483647");
  EXPECT_EQ(errorFor("dense", {}, {1048576, 17592186044415, 1}), rows + "1048576 x 17592186044415");
  EXPECT_EQ(errorFor("causal", {}, {2, 1, maxBlocks / 2 + 1}), cols + "2 x 67108865");
}

// Each grid has so many positions that a loop over them would not end within the time of a test.
TEST(PatternSizes, TimeIsLinearInBlocks) {
  const int64_t n = 1000000;
  EXPECT_EQ(build("diagonal", {}, {1, n, n}).nnz(), n);
  EXPECT_EQ(build("local_window", {}, {1, n, n}).nnz(), 3 * n - 2);
  EXPECT_EQ(build("random", {{"density", 0.0}}, {1, n, n}).nnz(), 0);
  EXPECT_EQ(build("random", {{"density", 1e-300}}, {1, n, n}).nnz(), 0);
  EXPECT_EQ(build("random_balanced", {{"density", 2e-6}}, {1, n, n}).nnz(), 2 * n);
  EXPECT_EQ(build("longformer", {}, {1, n, n}).nnz(), 5 * n - 6);
  EXPECT_EQ(build("local_sliding_window", {}, {1, n, maxBlocks}).nnz(), 2 * n - 1);
  const Parameters unidirectional = {
      {"stride", int64_t{1}}, {"num_local_blocks", int64_t{1}}, {"attention", "unidirectional"}};
  EXPECT_EQ(build("strided", unidirectional, {1, 100, maxBlocks}).nnz(), 5050);
  const Parameters windows = {{"local_window_blocks", std::vector<int64_t>{1, 2}},
                              {"global_block_indices", std::vector<int64_t>(1000, 7)}};
  EXPECT_EQ(build("variable", windows, {1, n + 1, n + 1}).nnz(), 3 * (n + 1) - 2 - 1);
}

TEST(PatternSizes, SparseRandomGridsHaveTheirDensity) {
  // The number of blocks is a sum of independent draws; 6 standard deviations are allowed.
  for (auto [n, density] :
       {std::pair<int64_t, double>{20000, 1e-3}, {100000, 1e-5}, {9000, 0.12}}) {
    const BlockLayout layout =
        build("random", {{"density", density}, {"seed", int64_t{3}}}, {1, n, n});
    const double expected = density * double(n) * double(n);
    EXPECT_NEAR(double(layout.nnz()), expected, 6 * std::sqrt(expected)) << n;
    // Columns have no preferred place: the mean is that of the uniform distribution.
    double sum = 0;
    for (int32_t col : layout.colIndices())
      sum += col;
    EXPECT_NEAR(sum / double(layout.nnz()), double(n - 1) / 2,
                6 * double(n) / std::sqrt(12 * expected));
  }
}

TEST(PatternSizes, SparseRandomGridsFollowTheGeometricDistribution) {
  const double density = 0.1;
  const BlockLayout layout = build("random", {{"density", density}}, {1, 8193, 8193});
  std::vector<int64_t> gaps(40, 0);
  int64_t total = 0;
  for (int64_t row = 0; row < 8193; ++row) {
    int32_t next = 0;
    for (int32_t col : layout.row(0, row)) {
      if (col - next < 40)
        ++gaps[col - next];
      ++total;
      next = col + 1;
    }
  }
  for (int64_t gap = 0; gap < 40; ++gap) {
    const double expected = double(total) * density * std::pow(1 - density, double(gap));
    // Gaps that the end of a row cuts off are missing: fewer than one for each row.
    EXPECT_NEAR(double(gaps[gap]), expected, 6 * std::sqrt(expected) + 8193 * density) << gap;
  }
}

// Seeds keep their layouts: a grid of 2^26 positions draws for each position, a larger one does
// not.
TEST(PatternSizes, RandomDrawsEachPositionUpToItsLimit) {
  const auto threshold = static_cast<uint64_t>(std::ldexp(0.001, 53));
  const auto drawn = [&](const BlockLayout &layout, int64_t row) {
    std::vector<int32_t> cols;
    for (int64_t col = 0; col < layout.grid().cols; ++col)
      if (CounterRandom(0, 0, row).draw(col) >> 11 < threshold)
        cols.push_back(static_cast<int32_t>(col));
    auto stored = layout.row(0, row);
    return std::vector<int32_t>(stored.begin(), stored.end()) == cols;
  };
  const BlockLayout small = build("random", {{"density", 0.001}}, {1, 8192, 8192});
  const BlockLayout large = build("random", {{"density", 0.001}}, {1, 8192, 8193});
  EXPECT_TRUE(drawn(small, 0) && drawn(small, 4095) && drawn(small, 8191));
  EXPECT_FALSE(drawn(large, 0));
  // The layouts of large grids are pinned as well.
  const std::span<const int32_t> first = large.row(0, 0);
  EXPECT_EQ(std::vector<int32_t>(first.begin(), first.begin() + 3),
            (std::vector<int32_t>{2182, 2973, 5575}));
}

} // namespace
