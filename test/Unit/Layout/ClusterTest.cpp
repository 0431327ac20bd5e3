// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Layout/Cluster.h"

#include "DenseMask.h"
#include "blocksparse/Layout/Patterns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

using namespace blocksparse;
using namespace blocksparse::test;

namespace {

BlockLayout layoutOf(const DenseMask &mask) {
  std::string error;
  auto layout = BlockLayout::fromMask({16, 16}, mask.grid, mask.bytes, error);
  EXPECT_TRUE(layout.has_value()) << error;
  return layout.value_or(BlockLayout());
}

RowClusters cluster(const BlockLayout &layout, int64_t head, int64_t size) {
  std::string error;
  auto result = clusterRows(layout, head, size, error);
  EXPECT_TRUE(result.has_value()) << error;
  return result.value_or(RowClusters());
}

RowClusters consecutive(const BlockLayout &layout, int64_t head, int64_t size) {
  std::string error;
  return consecutiveRows(layout, head, size, error).value_or(RowClusters());
}

/// Computes the order by the documented rule, with sets.
std::vector<int32_t> greedyOrder(const BlockLayout &layout, int64_t head, int64_t groupSize) {
  std::vector<int32_t> order;
  std::set<int32_t> left;
  for (int32_t row = 0; row < layout.grid().rows; ++row)
    left.insert(row);
  while (!left.empty()) {
    std::set<int32_t> columns;
    for (int64_t member = 0; member < groupSize && !left.empty(); ++member) {
      int32_t best = *left.begin();
      std::pair<int64_t, int64_t> bestKey{-1, 0};
      for (int32_t row : left) {
        const auto cols = layout.row(head, row);
        const int64_t shared = std::count_if(cols.begin(), cols.end(),
                                             [&](int32_t col) { return columns.count(col) != 0; });
        // Rows that share no column are appended in order, whatever their length.
        const std::pair<int64_t, int64_t> key{shared,
                                              shared == 0 ? 0 : shared - int64_t(cols.size())};
        if (key > bestKey)
          bestKey = key, best = row;
      }
      left.erase(best);
      order.push_back(best);
      columns.insert(layout.row(head, best).begin(), layout.row(head, best).end());
    }
  }
  return order;
}

void expectValid(const BlockLayout &layout, int64_t head, const RowClusters &clusters) {
  std::vector<int32_t> sorted = clusters.rows, all(layout.grid().rows);
  std::sort(sorted.begin(), sorted.end());
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(sorted, all);
  const int64_t numRows = layout.grid().rows, size = clusters.groupSize;
  ASSERT_EQ(clusters.numGroups(), (numRows + size - 1) / size);
  for (int64_t g = 0; g < clusters.numGroups(); ++g) {
    std::set<int32_t> columns;
    for (int64_t i = g * size; i < std::min((g + 1) * size, numRows); ++i) {
      const auto row = layout.row(head, clusters.rows[i]);
      columns.insert(row.begin(), row.end());
    }
    EXPECT_EQ(std::vector<int32_t>(clusters.columns.begin() + clusters.columnOffsets[g],
                                   clusters.columns.begin() + clusters.columnOffsets[g + 1]),
              std::vector<int32_t>(columns.begin(), columns.end()));
  }
}

TEST(ClusterTest, FollowsTheGreedyRule) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    const BlockGrid grid = {2, 1 + int64_t(seed), 1 + int64_t(seed * 7 % 23)};
    const BlockLayout layout = layoutOf(randomMask(grid, seed));
    for (int64_t head : {0, 1})
      for (int64_t size : {1, 2, 3, 8, 100}) {
        const RowClusters clusters = cluster(layout, head, size);
        EXPECT_EQ(clusters.rows, greedyOrder(layout, head, size));
        expectValid(layout, head, clusters);
        expectValid(layout, head, consecutive(layout, head, size));
      }
  }
}

TEST(ClusterTest, FindsRowsThatBelongTogether) {
  const BlockLayout layout =
      layoutOf(maskFromText({"110000", "000011", "110000", "000000", "000011", "000000"}));
  const RowClusters clusters = cluster(layout, 0, 2);
  EXPECT_EQ(clusters.rows, (std::vector<int32_t>{0, 2, 1, 4, 3, 5}));
  EXPECT_EQ(clusters.columnOffsets, (std::vector<int32_t>{0, 2, 4, 4}));
  EXPECT_EQ(clusters.columns, (std::vector<int32_t>{0, 1, 4, 5}));
  EXPECT_EQ(consecutive(layout, 0, 2).numPanels(), 8);
}

// A shuffled band matrix must be restored nearly as well as the band itself, also if it has too
// many rows for one exact pass.
TEST(ClusterTest, RestoresAShuffledBand) {
  for (int64_t rows : {256, 16384}) {
    std::vector<int32_t> shuffle(rows);
    std::iota(shuffle.begin(), shuffle.end(), 0);
    const CounterRandom random(1, 2, 3);
    for (int64_t i = rows - 1; i > 0; --i)
      std::swap(shuffle[i], shuffle[random.below(i, i + 1)]);
    std::vector<int32_t> offsets{0}, cols;
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t col = std::max(0, shuffle[row] - 4);
           col <= std::min<int64_t>(rows - 1, shuffle[row] + 4); ++col)
        cols.push_back(static_cast<int32_t>(col));
      offsets.push_back(static_cast<int32_t>(cols.size()));
    }
    std::string error;
    const auto layout = BlockLayout::fromCsr({16, 16}, {1, rows, rows}, offsets, cols, error);
    ASSERT_TRUE(layout) << error;
    const RowClusters clusters = cluster(*layout, 0, 16);
    EXPECT_LT(clusters.numPanels() * 3, consecutive(*layout, 0, 16).numPanels());
  }
}

TEST(ClusterTest, SavesPanelsOnRandomLayoutsAndIsDeterministic) {
  std::string error;
  const auto layout = buildPattern({"random", {{"density", 0.1}}}, {16, 16}, {1, 256, 256}, error);
  ASSERT_TRUE(layout) << error;
  const RowClusters clusters = cluster(*layout, 0, 24);
  EXPECT_LT(clusters.numPanels() * 100, consecutive(*layout, 0, 24).numPanels() * 93);
  EXPECT_EQ(clusters.rows, cluster(*layout, 0, 24).rows);
  expectValid(*layout, 0, clusters);
}

TEST(ClusterTest, LargeRandomLayoutsStayWithinTheWorkLimit) {
  std::string error;
  const auto layout =
      buildPattern({"random", {{"density", 0.1}}}, {16, 16}, {1, 4096, 4096}, error);
  ASSERT_TRUE(layout) << error;
  const RowClusters clusters = cluster(*layout, 0, 24);
  EXPECT_EQ(clusters.rows.size(), 4096u);
  EXPECT_EQ(clusters.numGroups(), (4096 + 23) / 24);
  EXPECT_LT(clusters.numPanels(), consecutive(*layout, 0, 24).numPanels());
}

TEST(ClusterTest, EmptyGrids) {
  EXPECT_EQ(cluster(layoutOf(DenseMask({1, 0, 4})), 0, 4).numGroups(), 0);
  const RowClusters empty = cluster(layoutOf(DenseMask({1, 5, 4})), 0, 4);
  EXPECT_EQ(empty.rows, (std::vector<int32_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(empty.numPanels(), 0);
}

TEST(ClusterTest, Errors) {
  std::string error;
  const BlockLayout layout = layoutOf(DenseMask({2, 2, 2}));
  EXPECT_FALSE(clusterRows(layout, 2, 4, error));
  EXPECT_EQ(error, "expects a head in [0, 2), but got 2");
  EXPECT_FALSE(consecutiveRows(layout, 0, 0, error));
  EXPECT_EQ(error, "expects a group size of at least 1, but got 0");
}

} // namespace
