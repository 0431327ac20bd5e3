// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "DenseMask.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

using namespace blocksparse;
using namespace blocksparse::test;

namespace {

constexpr BlockShape block16 = {16, 16};

BlockLayout layoutOf(const DenseMask &mask, BlockShape block = block16) {
  std::string error;
  auto layout = BlockLayout::fromMask(block, mask.grid, mask.bytes, error);
  EXPECT_TRUE(layout.has_value()) << error;
  return layout.value_or(BlockLayout());
}

std::string csrError(BlockShape block, BlockGrid grid, std::vector<int32_t> rowOffsets,
                     std::vector<int32_t> colIndices) {
  std::string error;
  EXPECT_FALSE(
      BlockLayout::fromCsr(block, grid, std::move(rowOffsets), std::move(colIndices), error)
          .has_value());
  return error;
}

class RandomLayouts : public testing::TestWithParam<int> {
protected:
  BlockGrid grid() const {
    const CounterRandom random(GetParam(), 7, 7);
    return {1 + static_cast<int64_t>(random.below(0, 3)),
            1 + static_cast<int64_t>(random.below(1, 9)),
            1 + static_cast<int64_t>(random.below(2, 13))};
  }
  DenseMask mask(uint64_t salt = 0) const { return randomMask(grid(), GetParam() + 1000 * salt); }
};

INSTANTIATE_TEST_SUITE_P(Seeds, RandomLayouts, testing::Range(0, 40));

TEST_P(RandomLayouts, ScalarQueriesAgreeWithTheMask) {
  const DenseMask mask = this->mask();
  const BlockLayout layout = layoutOf(mask, {8, 32});
  EXPECT_EQ(layout.block(), (BlockShape{8, 32}));
  EXPECT_EQ(layout.grid(), mask.grid);
  EXPECT_EQ(maskOf(layout), mask);
  const int64_t ones = std::count(mask.bytes.begin(), mask.bytes.end(), 1);
  EXPECT_EQ(layout.nnz(), ones);
  EXPECT_DOUBLE_EQ(layout.density(), double(ones) / mask.bytes.size());
  EXPECT_EQ(layout.isDense(), ones == int64_t(mask.bytes.size()));
  for (int64_t h = -1; h <= mask.grid.heads; ++h)
    for (int64_t r = -1; r <= mask.grid.rows; ++r)
      for (int64_t c = -1; c <= mask.grid.cols; ++c) {
        const bool inside = h >= 0 && r >= 0 && c >= 0 && h < mask.grid.heads &&
                            r < mask.grid.rows && c < mask.grid.cols;
        EXPECT_EQ(layout.contains(h, r, c), inside && mask.at(h, r, c) != 0);
      }
}

TEST_P(RandomLayouts, RowsAreAscendingAndComplete) {
  const DenseMask mask = this->mask();
  const BlockLayout layout = layoutOf(mask);
  for (int64_t h = 0; h < mask.grid.heads; ++h)
    for (int64_t r = 0; r < mask.grid.rows; ++r) {
      std::vector<int32_t> expected;
      for (int64_t c = 0; c < mask.grid.cols; ++c)
        if (mask.at(h, r, c))
          expected.push_back(c);
      const auto row = layout.row(h, r);
      EXPECT_EQ(std::vector<int32_t>(row.begin(), row.end()), expected);
    }
  EXPECT_TRUE(layout.row(0, mask.grid.rows).empty());
  EXPECT_TRUE(layout.row(-1, 0).empty());
}

TEST_P(RandomLayouts, CoordinatesComeInBothOrders) {
  const DenseMask mask = this->mask();
  const BlockLayout layout = layoutOf(mask);
  std::vector<BlockCoordinate> expected;
  for (int32_t h = 0; h < mask.grid.heads; ++h)
    for (int32_t r = 0; r < mask.grid.rows; ++r)
      for (int32_t c = 0; c < mask.grid.cols; ++c)
        if (mask.at(h, r, c))
          expected.push_back({h, r, c, static_cast<int32_t>(expected.size())});
  EXPECT_EQ(layout.coordinates(), expected);
  std::sort(expected.begin(), expected.end(),
            [](const BlockCoordinate &a, const BlockCoordinate &b) {
              return std::tie(a.head, a.col, a.row) < std::tie(b.head, b.col, b.row);
            });
  EXPECT_EQ(layout.columnMajorCoordinates(), expected);
}

TEST_P(RandomLayouts, TransposeMirrorsTheMaskAndMapsValues) {
  const DenseMask mask = this->mask();
  const BlockLayout layout = layoutOf(mask, {8, 32});
  std::vector<int32_t> permutation;
  const BlockLayout transposed = layout.transposed(&permutation);
  EXPECT_EQ(transposed.block(), (BlockShape{32, 8}));
  EXPECT_EQ(maskOf(transposed),
            maskOf({mask.grid.heads, mask.grid.cols, mask.grid.rows},
                   [&](int64_t h, int64_t r, int64_t c) { return mask.at(h, c, r) != 0; }));
  const auto original = layout.coordinates();
  for (const BlockCoordinate &b : transposed.coordinates()) {
    const BlockCoordinate &source = original[permutation[b.value]];
    EXPECT_EQ(std::tie(b.head, b.row, b.col), std::tie(source.head, source.col, source.row));
  }
}

TEST_P(RandomLayouts, TransposeTwiceIsTheIdentityAndDeterministic) {
  const BlockLayout layout = layoutOf(mask(), {8, 32});
  std::vector<int32_t> there, back, again;
  const BlockLayout once = layout.transposed(&there);
  EXPECT_EQ(once.transposed(&back), layout);
  for (int64_t p = 0; p < layout.nnz(); ++p)
    EXPECT_EQ(there[back[p]], p);
  EXPECT_EQ(layout.transposed(&again), once);
  EXPECT_EQ(there, again);
  EXPECT_EQ(layout.transposed(), once);
}

TEST_P(RandomLayouts, UnionAndIntersectionAreBlockwise) {
  const DenseMask a = mask(), b = mask(1);
  std::string error;
  const auto either = layoutUnion(layoutOf(a), layoutOf(b), error);
  const auto both = layoutIntersection(layoutOf(a), layoutOf(b), error);
  ASSERT_TRUE(either && both) << error;
  EXPECT_EQ(maskOf(*either),
            maskOf(a.grid, [&](auto h, auto r, auto c) { return a.at(h, r, c) || b.at(h, r, c); }));
  EXPECT_EQ(maskOf(*both),
            maskOf(a.grid, [&](auto h, auto r, auto c) { return a.at(h, r, c) && b.at(h, r, c); }));
}

TEST_P(RandomLayouts, SubLayoutIsAWindowOfTheMask) {
  const DenseMask mask = this->mask();
  const CounterRandom random(GetParam(), 8, 8);
  const BlockGrid grid = mask.grid;
  const BlockGrid offset = {int64_t(random.below(0, grid.heads)),
                            int64_t(random.below(1, grid.rows)),
                            int64_t(random.below(2, grid.cols))};
  const BlockGrid size = {1 + int64_t(random.below(3, grid.heads - offset.heads)),
                          1 + int64_t(random.below(4, grid.rows - offset.rows)),
                          1 + int64_t(random.below(5, grid.cols - offset.cols))};
  std::string error;
  const auto window = subLayout(layoutOf(mask), offset, size, error);
  ASSERT_TRUE(window) << error;
  EXPECT_EQ(maskOf(*window), maskOf(size, [&](auto h, auto r, auto c) {
              return mask.at(offset.heads + h, offset.rows + r, offset.cols + c);
            }));
}

TEST_P(RandomLayouts, ColumnOrderOfTheInputDoesNotMatter) {
  const BlockLayout layout = layoutOf(mask());
  std::vector<int32_t> offsets(layout.rowOffsets().begin(), layout.rowOffsets().end());
  std::vector<int32_t> cols(layout.colIndices().begin(), layout.colIndices().end());
  for (size_t r = 0; r + 1 < offsets.size(); ++r)
    std::reverse(cols.begin() + offsets[r], cols.begin() + offsets[r + 1]);
  std::string error;
  EXPECT_EQ(BlockLayout::fromCsr(block16, layout.grid(), offsets, cols, error), layout) << error;
}

TEST(BlockLayoutTest, DefaultIsEmpty) {
  const BlockLayout layout;
  EXPECT_EQ(layout.nnz(), 0);
  EXPECT_EQ(layout.density(), 0);
  EXPECT_TRUE(layout.coordinates().empty());
  EXPECT_TRUE(layout.columnMajorCoordinates().empty());
  EXPECT_EQ(layout.transposed(), layout);
}

TEST(BlockLayoutTest, GridsWithoutRowsOrColumnsAreLegal) {
  for (BlockGrid grid : {BlockGrid{2, 0, 3}, BlockGrid{2, 3, 0}}) {
    const BlockLayout layout = layoutOf(DenseMask(grid));
    EXPECT_EQ(layout.nnz(), 0);
    EXPECT_EQ(layout.density(), 0);
    EXPECT_EQ(layout.transposed().transposed(), layout);
  }
}

// C02: a packer of super-blocks must find 18 blocks in this pattern, the first of them (0, 1).
TEST(BlockLayoutTest, C02PatternHasEighteenBlocks) {
  for (std::vector<std::string> rows :
       {std::vector<std::string>{"01111", "11111", "11111", "11011"},
        std::vector<std::string>{"01111", "11111", "11111", "11011", "00000"}}) {
    const BlockLayout layout = layoutOf(maskFromText(rows), {32, 32});
    EXPECT_EQ(layout.nnz(), 18);
    EXPECT_EQ(layout.coordinates().front(), (BlockCoordinate{0, 0, 1, 0}));
    EXPECT_FALSE(layout.contains(0, 0, 0));
  }
}

// C04 tests a head without a block, and a layout without any block.
TEST(BlockLayoutTest, C04HeadsWithoutBlocks) {
  DenseMask mask({2, 1, 1});
  mask.at(0, 0, 0) = 1;
  const BlockLayout oneHead = layoutOf(mask);
  EXPECT_EQ(oneHead.nnz(), 1);
  EXPECT_TRUE(oneHead.row(1, 0).empty());
  EXPECT_EQ(oneHead.transposed().rowOffsets().size(), 3u);
  EXPECT_EQ(oneHead.columnMajorCoordinates().size(), 1u);

  const BlockLayout none = layoutOf(DenseMask({1, 1, 1}));
  EXPECT_EQ(none.nnz(), 0);
  EXPECT_TRUE(none.coordinates().empty());
  EXPECT_EQ(none.transposed(), none);
}

// C36 tests each way in which index arrays can be invalid.
TEST(BlockLayoutTest, C36InvalidIndexArrays) {
  EXPECT_EQ(csrError(block16, {1, 2, 2}, {0, 2, 1}, {0, 1}),
            "expects non-decreasing row offsets, but got 1 after 2 at row 1");
  EXPECT_EQ(csrError(block16, {1, 2, 2}, {0, 1}, {0}),
            "expects row offsets of length 3 (heads x block rows + 1), but got "
            "2");
  EXPECT_EQ(csrError(block16, {1, 2, 2}, {0, 0, 1}, {2}),
            "expects column index in [0, 2) in row 1, but got 2");
  EXPECT_EQ(csrError(block16, {1, 2, 2}, {0, 1, 3}, {0, 1}),
            "expects last row offset to equal the number of blocks 2, but got "
            "3");
}

TEST(BlockLayoutTest, OtherInvalidIndexArrays) {
  EXPECT_EQ(csrError(block16, {2, 2, 2}, {0, 0, 0, 0, 1}, {-1}),
            "expects column index in [0, 2) in row 1 of head 1, but got -1");
  EXPECT_EQ(csrError(block16, {1, 1, 2}, {1, 1}, {0}),
            "expects first row offset to be 0, but got 1");
  EXPECT_EQ(csrError(block16, {1, 2, 8}, {0, 1, 4}, {0, 5, 3, 5}),
            "expects unique column indices in row 1, but got 5 more than once");
  EXPECT_EQ(csrError(block16, {1, 1, 2}, {}, {}),
            "expects row offsets of length 2 (heads x block rows + 1), but got "
            "0");
}

TEST(BlockLayoutTest, InvalidShapes) {
  EXPECT_EQ(csrError({0, 16}, {1, 1, 1}, {0, 0}, {}),
            "expects a positive block shape, but got 0 x 16");
  EXPECT_EQ(csrError(block16, {0, 1, 1}, {0}, {}),
            "expects a grid of at least 1 x 0 x 0 blocks (heads x rows x cols), "
            "but got 0 x 1 x 1");
  EXPECT_EQ(csrError(block16, {1, -1, 1}, {0}, {}),
            "expects a grid of at least 1 x 0 x 0 blocks (heads x rows x cols), "
            "but got 1 x -1 x 1");
}

TEST(BlockLayoutTest, ShapesAboveTheLimitAreErrors) {
  EXPECT_EQ(csrError(block16, {65536, 32768, 1}, {0}, {}),
            "expects heads x block rows of at most 134217728, but got 65536 x 32768");
  EXPECT_EQ(csrError(block16, {2, 1, int64_t{1} << 62}, {0}, {}),
            "expects heads x block cols of at most 134217728, but got 2 x 4611686018427387904");
  // The products of these pass 63 bits.
  EXPECT_EQ(csrError(block16, {1048576, 17592186044415, 1}, {0}, {}),
            "expects heads x block rows of at most 134217728, but got 1048576 x 17592186044415");
  EXPECT_EQ(csrError(block16, {int64_t{1} << 62, 4, 1}, {0}, {}),
            "expects heads x block rows of at most 134217728, but got 4611686018427387904 x 4");
  EXPECT_EQ(csrError({int64_t{1} << 32, int64_t{1} << 32}, {1, 1, 1}, {0, 0}, {}),
            "expects a block of at most 2147483647 elements, but got 4294967296 x 4294967296");
  std::string error;
  EXPECT_FALSE(BlockLayout::checkShapes({65536, 32768}, {1, 1, 1}, error));
  EXPECT_TRUE(BlockLayout::checkShapes({65536, 32767}, {1, 134217728, 134217728}, error));
  EXPECT_FALSE(BlockLayout::fromMask(block16, {1, 1, 1000000000000}, {}, error));
}

TEST(BlockLayoutTest, MaskOfWrongLength) {
  std::string error;
  const std::vector<uint8_t> mask(4);
  EXPECT_FALSE(BlockLayout::fromMask(block16, {2, 2, 2}, mask, error));
  EXPECT_EQ(error, "expects mask of length 8 (heads x block rows x block cols), "
                   "but got 4");
}

TEST(BlockLayoutTest, AnyNonZeroMaskByteStoresTheBlock) {
  std::string error;
  const std::vector<uint8_t> mask = {0, 2, 255};
  const auto layout = BlockLayout::fromMask(block16, {1, 1, 3}, mask, error);
  ASSERT_TRUE(layout) << error;
  EXPECT_EQ(textOf(maskOf(*layout)), std::vector<std::string>{"011"});
}

TEST(BlockLayoutTest, MergingUnequalShapesIsAnError) {
  std::string error;
  const BlockLayout a = layoutOf(DenseMask({1, 2, 2}));
  EXPECT_FALSE(layoutUnion(a, layoutOf(DenseMask({1, 2, 3})), error));
  EXPECT_EQ(error, "expects equal block grids, but got 1 x 2 x 2 and 1 x 2 x 3");
  EXPECT_FALSE(layoutIntersection(a, layoutOf(DenseMask({1, 2, 2}), {32, 16}), error));
  EXPECT_EQ(error, "expects equal block shapes, but got 16 x 16 and 32 x 16");
}

TEST(BlockLayoutTest, SubLayoutOutsideTheGridIsAnError) {
  std::string error;
  const BlockLayout layout = layoutOf(DenseMask({1, 4, 4}));
  EXPECT_FALSE(subLayout(layout, {0, 3, 0}, {1, 2, 4}, error));
  EXPECT_EQ(error, "expects a sub-layout within 4 block rows, but got offset 3 "
                   "and size 2");
  EXPECT_FALSE(subLayout(layout, {0, 0, -1}, {1, 4, 2}, error));
  EXPECT_EQ(error, "expects a sub-layout within 4 block cols, but got offset -1 "
                   "and size 2");
  EXPECT_FALSE(subLayout(layout, {0, 0, 0}, {2, 4, 4}, error));
  EXPECT_EQ(error, "expects a sub-layout within 1 heads, but got offset 0 and size 2");
}

} // namespace
