// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Layout/Coalesce.h"

#include "DenseMask.h"

#include <gtest/gtest.h>

#include <bit>
#include <numeric>

using namespace blocksparse;
using namespace blocksparse::test;

namespace {

BlockLayout layoutOf(const DenseMask &mask) {
  std::string error;
  auto layout = BlockLayout::fromMask({16, 32}, mask.grid, mask.bytes, error);
  EXPECT_TRUE(layout.has_value()) << error;
  return layout.value_or(BlockLayout());
}

CoalescedLayout coalesce(const BlockLayout &layout, int64_t rows, int64_t cols) {
  std::string error;
  auto result = coalesceLayout(layout, rows, cols, error);
  EXPECT_TRUE(result.has_value()) << error;
  return result.value_or(CoalescedLayout());
}

/// Splits the super-blocks again: each original block must occur once, and no other block.
void expectSameBlocks(const BlockLayout &layout, const CoalescedLayout &super) {
  const auto original = layout.coordinates();
  std::vector<int> uses(original.size(), 0);
  ASSERT_EQ(super.masks.size(), size_t(super.layout.nnz()));
  ASSERT_EQ(super.valueOffsets.size(), super.masks.size() + 1);
  for (const BlockCoordinate &s : super.layout.coordinates()) {
    const uint64_t mask = super.masks[s.value];
    EXPECT_NE(mask, 0u);
    EXPECT_EQ(mask & ~super.fullMask(), 0u);
    int32_t next = super.valueOffsets[s.value];
    for (int64_t i = 0; i < super.factorRows; ++i)
      for (int64_t j = 0; j < super.factorCols; ++j) {
        const int64_t row = s.row * super.factorRows + i;
        const int64_t col = s.col * super.factorCols + j;
        const bool present = mask >> (i * super.factorCols + j) & 1;
        EXPECT_EQ(present, layout.contains(s.head, row, col));
        if (!present)
          continue;
        const int32_t value = super.values[next++];
        ++uses[value];
        EXPECT_EQ(original[value], (BlockCoordinate{s.head, int32_t(row), int32_t(col), value}));
      }
    EXPECT_EQ(next, super.valueOffsets[s.value + 1]);
  }
  EXPECT_EQ(uses, std::vector<int>(original.size(), 1));
}

TEST(CoalesceTest, KeepsEveryBlockAndInventsNone) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const BlockGrid grid = {1 + int64_t(seed % 3), 5 + int64_t(seed % 7), 4 + int64_t(seed % 9)};
    const BlockLayout layout = layoutOf(randomMask(grid, seed));
    for (auto [rows, cols] :
         {std::pair<int64_t, int64_t>{1, 1}, {2, 2}, {3, 2}, {1, 4}, {8, 8}, {64, 1}, {1, 64}}) {
      const CoalescedLayout super = coalesce(layout, rows, cols);
      EXPECT_EQ(super.layout.block(), (BlockShape{16 * rows, 32 * cols}));
      EXPECT_EQ(super.layout.grid(), (BlockGrid{grid.heads, (grid.rows + rows - 1) / rows,
                                                (grid.cols + cols - 1) / cols}));
      expectSameBlocks(layout, super);
    }
  }
}

// C02: the result has the same 18 blocks as the input; block (0, 0) stays absent.
TEST(CoalesceTest, C02PatternKeepsEighteenBlocks) {
  for (std::vector<std::string> rows :
       {std::vector<std::string>{"01111", "11111", "11111", "11011"},
        std::vector<std::string>{"01111", "11111", "11111", "11011", "00000"}})
    for (int64_t factor : {1, 2, 3, 4}) {
      const BlockLayout layout = layoutOf(maskFromText(rows));
      const CoalescedLayout super = coalesce(layout, factor, factor);
      EXPECT_EQ(super.values.size(), 18u);
      EXPECT_EQ(std::accumulate(super.masks.begin(), super.masks.end(), 0,
                                [](int sum, uint64_t mask) { return sum + std::popcount(mask); }),
                18);
      EXPECT_EQ(super.masks[0] & 1, factor == 1 ? 1u : 0u);
      expectSameBlocks(layout, super);
    }
}

TEST(CoalesceTest, MaskBitsAreRowMajorAndValuesFollowThem) {
  const BlockLayout layout = layoutOf(maskFromText({"0110", "1001", "0010"}));
  const CoalescedLayout super = coalesce(layout, 2, 2);
  EXPECT_EQ(super.masks, (std::vector<uint64_t>{0b0110, 0b1001, 0b0001}));
  EXPECT_EQ(super.valueOffsets, (std::vector<int32_t>{0, 2, 4, 5}));
  EXPECT_EQ(super.values, (std::vector<int32_t>{0, 2, 1, 3, 4}));
  EXPECT_DOUBLE_EQ(super.fill(), 5.0 / 12);
}

TEST(CoalesceTest, EmptyAndFullLayouts) {
  const CoalescedLayout none = coalesce(layoutOf(DenseMask({2, 3, 3})), 2, 2);
  EXPECT_EQ(none.layout.nnz(), 0);
  EXPECT_EQ(none.valueOffsets, std::vector<int32_t>{0});
  EXPECT_EQ(none.fill(), 0);
  const BlockLayout dense = layoutOf(maskOf({1, 16, 8}, [](auto, auto, auto) { return true; }));
  const CoalescedLayout full = coalesce(dense, 8, 8);
  EXPECT_EQ(full.fullMask(), ~uint64_t{0});
  EXPECT_EQ(full.masks, std::vector<uint64_t>(2, full.fullMask()));
  EXPECT_EQ(full.fill(), 1);
}

TEST(CoalesceTest, Errors) {
  std::string error;
  const BlockLayout layout = layoutOf(DenseMask({1, 2, 2}));
  EXPECT_FALSE(coalesceLayout(layout, 0, 2, error));
  EXPECT_EQ(error, "expects positive super-block factors, but got 0 x 2");
  EXPECT_FALSE(coalesceLayout(layout, 16, 8, error));
  EXPECT_EQ(error, "expects a super-block of at most 64 blocks, but got 16 x 8");
  EXPECT_FALSE(coalesceLayout(layout, int64_t{1} << 62, 4, error));
  EXPECT_EQ(error, "expects a super-block of at most 64 blocks, but got "
                   "4611686018427387904 x 4");
}

} // namespace
