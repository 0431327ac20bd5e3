// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/Reblock.h"
#include "PlanTargets.h"
#include "RowProducts.h"
#include "gtest/gtest.h"

using namespace blocksparse;
using namespace blocksparse::test;

namespace {

/// Names an element of the values: value block, row and column in op(stored block); 0 stands for
/// none.
int64_t nameElement(int64_t value, int64_t row, int64_t col) {
  return (value << 32 | row << 16 | col) + 1;
}

/// Returns op(S) of a head as names of elements, without what lies beyond the depth.
std::vector<int64_t> namesOfStored(const RowProduct &product, const Reblocking &sizes,
                                   int64_t head) {
  const int64_t cols = sizes.blockCols() * sizes.block, rows = sizes.blockRows() * sizes.block;
  std::vector<int64_t> names(rows * cols, 0);
  for (const RowSegment &segment : product.segments) {
    if (segment.head != head)
      continue;
    for (const RowEntry &entry : product.entries.subspan(segment.first, segment.count))
      for (int64_t i = 0; i < sizes.stored.rows; ++i)
        for (int64_t j = 0; j < sizes.stored.cols; ++j) {
          const int64_t row = segment.tile * sizes.stored.rows + i,
                        col = entry.dense * sizes.stored.cols + j;
          if (row < rows && col < sizes.depth)
            names[row * cols + col] = nameElement(entry.value, i, j);
        }
  }
  return names;
}

/// Returns the same from the table of granules.
std::vector<int64_t> namesOfPlanned(const ReblockedRows &planned, const Reblocking &sizes,
                                    int64_t head) {
  const int64_t cols = sizes.blockCols() * sizes.block;
  std::vector<int64_t> names(sizes.blockRows() * sizes.block * cols, 0);
  const BlockShape granule = sizes.granule();
  for (const RowSegment &segment : planned.segments) {
    if (segment.head != head)
      continue;
    for (int64_t e = segment.first; e < segment.first + segment.count; ++e)
      for (int64_t i = 0; i < sizes.block; ++i)
        for (int64_t j = 0; j < sizes.block; ++j) {
          const int64_t place = i / granule.rows * sizes.granulesPerRow() + j / granule.cols;
          const int64_t index =
              planned.granules[planned.entries[e].value * sizes.granulesPerBlock() + place];
          if (index < 0)
            continue;
          const int64_t inStored = index % sizes.granulesPerStored();
          names[(segment.tile * sizes.block + i) * cols + planned.entries[e].dense * sizes.block +
                j] =
              nameElement(index / sizes.granulesPerStored(),
                          inStored / sizes.granulesPerStoredRow() * granule.rows + i % granule.rows,
                          inStored % sizes.granulesPerStoredRow() * granule.cols +
                              j % granule.cols);
        }
  }
  return names;
}

struct Case {
  BlockShape block;
  /// Rows and columns that the last blocks have beyond the matrix.
  int64_t spareRows, spareCols;
};

/// Returns the sizes of op(S) for a layout whose last blocks reach beyond the matrix.
Reblocking sizesOf(const BlockLayout &layout, const Case &test, bool transpose, int64_t side) {
  const BlockGrid grid = layout.grid();
  Reblocking sizes{test.block, side, grid.rows * test.block.rows - test.spareRows,
                   grid.cols * test.block.cols - test.spareCols};
  if (transpose) {
    std::swap(sizes.stored.rows, sizes.stored.cols);
    std::swap(sizes.rows, sizes.depth);
  }
  return sizes;
}

constexpr Case cases[] = {
    {{48, 48}, 32, 32}, {{8, 8}, 0, 0}, {{64, 32}, 0, 0},   {{16, 64}, 0, 40}, {{24, 40}, 8, 16},
    {{1, 16}, 0, 0},    {{7, 5}, 3, 2}, {{80, 80}, 64, 16}, {{16, 16}, 0, 12}, {{160, 96}, 0, 0}};

TEST(Reblock, PlannedBlocksHoldTheElementsOfStoredBlocks) {
  for (const Case &test : cases)
    for (bool transpose : {false, true})
      for (int64_t side : {16, 32}) {
        const BlockLayout layout = layoutOf(randomMask({2, 5, 7}, 11), test.block);
        const StagedLut lut(layout, test.block, transpose);
        const Reblocking sizes = sizesOf(layout, test, transpose, side);
        std::string error;
        const std::optional<ReblockedRows> planned = reblockRows(lut.view, sizes, error);
        ASSERT_TRUE(planned) << error;
        for (int64_t head = 0; head < 2; ++head)
          ASSERT_EQ(namesOfStored(lut.view, sizes, head), namesOfPlanned(*planned, sizes, head))
              << test.block.rows << "x" << test.block.cols << " as " << side;
      }
}

TEST(Reblock, PatternAndTablesAgree) {
  for (const Case &test : cases)
    for (bool transpose : {false, true}) {
      const BlockLayout layout = layoutOf(randomMask({3, 6, 5}, 3), test.block);
      const StagedLut lut(layout, test.block, transpose);
      const Reblocking sizes = sizesOf(layout, test, transpose, 16);
      std::string error;
      const std::optional<BlockLayout> pattern =
          reblockLayout(transpose ? layout.transposed() : layout, sizes, error);
      const std::optional<ReblockedRows> planned = reblockRows(lut.view, sizes, error);
      ASSERT_TRUE(pattern && planned) << error;
      EXPECT_EQ(layoutOfRows(planned->product(lut.view, sizes), error), pattern) << error;
    }
}

TEST(Reblock, PlannedBlocksHaveStages) {
  const BlockLayout layout = layoutOf(randomMask({2, 9, 9}, 4), {48, 48});
  const StagedLut lut(layout, {48, 48}, /*transpose=*/false);
  const Reblocking sizes{{48, 48}, 16, 9 * 48, 9 * 48};
  const StreamShape shape{16, 8, 4, 32, 8};
  std::string error;
  const std::optional<ReblockedRows> planned = reblockRows(lut.view, sizes, error);
  ASSERT_TRUE(planned) << error;
  const RowProduct product = planned->product(lut.view, sizes);
  const std::optional<StagedRows> staged =
      buildStreamStages(product, shape, 128, /*cluster=*/true, hopper.rates, error);
  ASSERT_TRUE(staged) << error;
  const TileSpace space{3, 1, 2, 2};
  const WorkLists lists = buildWorkLists(*staged, space, {});
  EXPECT_EQ(verifyStages(product, tablesOf(*staged, lists), space, &shape), "");
}

TEST(Reblock, TooManyGranulesAreAnError) {
  // A diagonal of 1 x 1 blocks has a planned block of 256 granules for each 16 rows.
  const int64_t rows = (maxGranules / 256 + 1) * 16;
  std::vector<int32_t> offsets(rows + 1), cols(rows);
  for (int64_t i = 0; i < rows; ++i)
    offsets[i + 1] = cols[i] = static_cast<int32_t>(i);
  for (int32_t &offset : offsets)
    offset += &offset == offsets.data() ? 0 : 1;
  std::string error;
  const BlockLayout layout =
      BlockLayout::fromCsr({1, 1}, {1, rows, rows}, offsets, cols, error).value();
  EXPECT_FALSE(reblockLayout(layout, {{1, 1}, 16, rows, rows}, error));
  EXPECT_EQ(error, "expects blocks whose table of granules has at most 16777216 words, but got "
                   "more for blocks of 1x1");
}

} // namespace
