// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/BlockCover.h"
#include "PlanLayouts.h"
#include "blocksparse/Layout/Patterns.h"
#include "gtest/gtest.h"

#include <algorithm>

using namespace blocksparse;
using namespace blocksparse::test;

namespace {

using Numbers = std::vector<int32_t>;

std::vector<BlockCoordinate> blocksOf(const BlockLayout &layout) {
  return buildCoordinateLut(layout, CoordinateOrder::Columns).lut;
}

std::vector<BlockCoordinate> blocksOf(const std::vector<std::string> &rows) {
  return blocksOf(layoutOf(rows));
}

/// Returns the blocks of one head.
std::vector<BlockCoordinate> blocksOf(const BlockLayout &layout, int64_t head) {
  std::vector<BlockCoordinate> blocks = blocksOf(layout);
  std::erase_if(blocks, [&](const BlockCoordinate &at) { return at.head != head; });
  return blocks;
}

/// Returns the shape of tiles in windows of `window` block rows and columns.
CoverShape shapeOf(int64_t rows, int64_t cols, int64_t window = 1 << 20) {
  CoverShape shape;
  shape.rows = rows;
  shape.cols = cols;
  shape.windowRows = shape.windowCols = window;
  return shape;
}

/// Returns the numbers of rows and columns of tiles that a window has.
std::pair<int64_t, int64_t> windowOf(const CoverShape &shape) {
  return {std::max<int64_t>(1, std::min<int64_t>(shape.windowRows / shape.rowsTogether, 256)),
          std::max<int64_t>(1, std::min<int64_t>(shape.windowCols, 512) / shape.colsTogether)};
}

/// Returns true if there are 1 to `most` numbers, in ascending order.
bool ascend(const Numbers &numbers, int64_t most) {
  return !numbers.empty() && static_cast<int64_t>(numbers.size()) <= most && numbers[0] >= 0 &&
         std::adjacent_find(numbers.begin(), numbers.end(), std::greater_equal<>()) ==
             numbers.end();
}

/// Returns true if all numbers are in one window of `size`.
bool isOfWindow(const Numbers &numbers, int64_t size) {
  return numbers.front() / size == numbers.back() / size;
}

/// Holds the value block at each position of a matrix of blocks; -1 where there is none.
struct ValueGrid {
  explicit ValueGrid(const std::vector<BlockCoordinate> &blocks) {
    for (const BlockCoordinate &at : blocks) {
      rows = std::max<int64_t>(rows, at.row + 1);
      cols = std::max<int64_t>(cols, at.col + 1);
    }
    values.resize(rows * cols, -1);
  }

  /// Sets a position; returns false if it lies outside.
  bool set(int64_t row, int64_t col, int32_t value) {
    if (row >= rows || col >= cols)
      return false;
    values[row * cols + col] = value;
    return true;
  }

  int64_t rows = 0, cols = 0;
  Numbers values;
};

/// Expects what every cover fulfils, and returns its tiles.
std::vector<CoverTile> checkCover(const std::vector<BlockCoordinate> &blocks,
                                  const CoverShape &shape) {
  const std::vector<CoverTile> tiles = coverBlocks(blocks, shape);
  const auto [windowRows, windowCols] = windowOf(shape);
  ValueGrid found(blocks), wanted(blocks);
  int64_t taken = 0;
  for (const CoverTile &tile : tiles) {
    EXPECT_TRUE(ascend(tile.rows, shape.rows));
    EXPECT_TRUE(ascend(tile.cols, shape.cols));
    EXPECT_TRUE(isOfWindow(tile.rows, windowRows));
    EXPECT_TRUE(isOfWindow(tile.cols, windowCols));
    const int64_t wide = tile.cols.size() * shape.colsTogether;
    if (tile.values.size() != tile.rows.size() * shape.rowsTogether * wide) {
      ADD_FAILURE() << tile.values.size() << " values";
      return tiles;
    }
    std::vector<char> rowHasBlock(tile.rows.size()), colHasBlock(tile.cols.size());
    for (size_t i = 0; i < tile.values.size(); ++i) {
      if (tile.values[i] < 0) {
        EXPECT_EQ(tile.values[i], -1);
        continue;
      }
      const int64_t r = i / wide, c = i % wide;
      const int64_t rowIndex = r / shape.rowsTogether, colIndex = c / shape.colsTogether;
      rowHasBlock[rowIndex] = colHasBlock[colIndex] = 1;
      EXPECT_TRUE(found.set(tile.rows[rowIndex] * shape.rowsTogether + r % shape.rowsTogether,
                            tile.cols[colIndex] * shape.colsTogether + c % shape.colsTogether,
                            tile.values[i]));
      ++taken;
    }
    EXPECT_EQ(std::count(rowHasBlock.begin(), rowHasBlock.end(), 0), 0) << "a row without a block";
    EXPECT_EQ(std::count(colHasBlock.begin(), colHasBlock.end(), 0), 0)
        << "a column without a block";
  }
  for (const BlockCoordinate &at : blocks)
    wanted.set(at.row, at.col, at.value);
  EXPECT_EQ(found.values, wanted.values);
  EXPECT_EQ(taken, static_cast<int64_t>(blocks.size())) << "a block in two tiles";
  return tiles;
}

void expectTile(const CoverTile &tile, const Numbers &rows, const Numbers &cols,
                const Numbers &values) {
  EXPECT_EQ(tile.rows, rows);
  EXPECT_EQ(tile.cols, cols);
  EXPECT_EQ(tile.values, values);
}

TEST(BlockCover, EveryBlockIsInOneTile) {
  for (const BlockLayout &layout : randomLayouts())
    for (int64_t head = 0; head < layout.grid().heads; ++head) {
      const std::vector<BlockCoordinate> blocks = blocksOf(layout, head);
      for (auto [rows, cols] : {std::pair(2, 4), {4, 8}, {8, 16}})
        for (int64_t rowsTogether : {1, 2, 4})
          for (int64_t colsTogether : {1, 2, 4})
            for (auto [windowRows, windowCols] :
                 {std::pair(1 << 20, 1 << 20), {7, 5}, {16, 12}, {3, 1 << 20}, {1, 1}}) {
              CoverShape shape = shapeOf(rows, cols);
              shape.rowsTogether = rowsTogether;
              shape.colsTogether = colsTogether;
              shape.windowRows = windowRows;
              shape.windowCols = windowCols;
              checkCover(blocks, shape);
              if (HasFailure()) {
                ADD_FAILURE() << rows << "x" << cols << " tiles, " << rowsTogether << "x"
                              << colsTogether << " together, windows of " << windowRows << "x"
                              << windowCols;
                return;
              }
            }
    }
}

TEST(BlockCover, NoBlocksMakeNoTiles) { EXPECT_TRUE(coverBlocks({}, shapeOf(4, 8)).empty()); }

TEST(BlockCover, PermutedDenseMatricesAreFound) {
  // Rows 0, 2, 5 and 6 have blocks in eight columns, and rows 1, 3, 4 and 7 in eight columns of
  // which four are also columns of the other rows.
  const std::vector<BlockCoordinate> blocks = blocksOf({
      "101101011011", //
      "011011101101", //
      "101101011011", //
      "011011101101", //
      "011011101101", //
      "101101011011", //
      "101101011011", //
      "011011101101",
  });
  const std::vector<CoverTile> tiles = checkCover(blocks, shapeOf(4, 8));
  ASSERT_EQ(tiles.size(), 2u);
  EXPECT_EQ(tiles[0].rows, (Numbers{0, 2, 5, 6}));
  EXPECT_EQ(tiles[0].cols, (Numbers{0, 2, 3, 5, 7, 8, 10, 11}));
  EXPECT_EQ(tiles[1].rows, (Numbers{1, 3, 4, 7}));
  EXPECT_EQ(tiles[1].cols, (Numbers{1, 2, 4, 5, 6, 8, 9, 11}));
  for (const CoverTile &tile : tiles)
    EXPECT_EQ(std::count(tile.values.begin(), tile.values.end(), -1), 0);
}

TEST(BlockCover, RowsGiveWayToBetterOnes) {
  // Rows 1 and 2 share most columns with row 0, and none with each other; row 3 fits columns 0
  // and 1.
  const std::vector<CoverTile> tiles = checkCover(blocksOf({
                                                      "1111111111", //
                                                      "1111110000", //
                                                      "0000001111", //
                                                      "1100000000",
                                                  }),
                                                  shapeOf(3, 2));
  expectTile(tiles[0], {0, 1, 3}, {0, 1}, {0, 1, 10, 11, 20, 21});
}

TEST(BlockCover, FullTilesComeFirst) {
  const std::vector<CoverTile> tiles = checkCover(blocksOf({
                                                      "10000", //
                                                      "01101", //
                                                      "00010", //
                                                      "01101",
                                                  }),
                                                  shapeOf(2, 3));
  ASSERT_EQ(tiles.size(), 3u);
  expectTile(tiles[0], {1, 3}, {1, 2, 4}, {1, 2, 3, 5, 6, 7});
  expectTile(tiles[1], {0}, {0}, {0});
  expectTile(tiles[2], {2}, {3}, {4});
}

TEST(BlockCover, NeighboursStandTogether) {
  // A row is two block rows and a column two block columns: (0, 0) and (2, 1) have one block each,
  // and (0, 1) has two.
  CoverShape shape = shapeOf(2, 2);
  shape.rowsTogether = shape.colsTogether = 2;
  const std::vector<CoverTile> tiles = checkCover(blocksOf({
                                                      "0001", //
                                                      "1010", //
                                                      "0000", //
                                                      "0000", //
                                                      "0010",
                                                  }),
                                                  shape);
  ASSERT_EQ(tiles.size(), 1u);
  expectTile(tiles[0], {0, 2}, {0, 1},
             {-1, -1, -1, 0, 1, -1, 2, -1, -1, -1, 3, -1, -1, -1, -1, -1});
}

TEST(BlockCover, WindowsFollowOneAnother) {
  // There are three by three windows of 4 x 4; the last ones are smaller.
  const std::vector<BlockCoordinate> blocks =
      blocksOf(layoutOf(maskOf({1, 10, 11}, [](int64_t, int64_t, int64_t) { return true; })));
  std::vector<std::pair<int64_t, int64_t>> windows;
  for (const CoverTile &tile : checkCover(blocks, shapeOf(2, 2, 4))) {
    const std::pair<int64_t, int64_t> window{tile.rows[0] / 4, tile.cols[0] / 4};
    if (windows.empty() || windows.back() != window)
      windows.push_back(window);
  }
  EXPECT_EQ(windows, (std::vector<std::pair<int64_t, int64_t>>{
                         {0, 0}, {0, 1}, {0, 2}, {1, 2}, {1, 1}, {1, 0}, {2, 0}, {2, 1}, {2, 2}}));
}

TEST(BlockCover, WindowsAreLimited) {
  // Every block row has blocks in the first and the last column; every third one has others.
  const std::vector<BlockCoordinate> blocks =
      blocksOf(layoutOf(maskOf({1, 600, 1100}, [](int64_t, int64_t row, int64_t col) {
        return col == 0 || col == 1099 || (row % 3 == 0 && col % 29 == 0);
      })));
  for (int64_t together : {1, 2}) {
    CoverShape shape = shapeOf(4, 8);
    shape.rowsTogether = shape.colsTogether = together;
    checkCover(blocks, shape);
  }
}

TEST(BlockCover, EqualInputGivesEqualTiles) {
  const BlockLayout layout = layoutOf(randomMask({1, 60, 70}, 3));
  std::vector<BlockCoordinate> blocks = blocksOf(layout);
  const std::vector<CoverTile> tiles = coverBlocks(blocks, shapeOf(4, 8, 32));
  for (bool reversed : {false, true}) {
    if (reversed)
      std::reverse(blocks.begin(), blocks.end());
    const std::vector<CoverTile> again = coverBlocks(blocks, shapeOf(4, 8, 32));
    ASSERT_EQ(again.size(), tiles.size());
    for (size_t i = 0; i < tiles.size(); ++i)
      expectTile(again[i], tiles[i].rows, tiles[i].cols, tiles[i].values);
  }
}

TEST(BlockCover, RandomLayoutsFillMoreThanHalf) {
  std::string error;
  const BlockLayout layout =
      buildPattern({"random_balanced", {{"density", .25}, {"seed", int64_t{1}}}}, {32, 32},
                   {1, 256, 256}, error)
          .value();
  for (auto [window, least] : {std::pair(128, .54), {256, .64}}) {
    const std::vector<CoverTile> tiles = checkCover(blocksOf(layout), shapeOf(4, 8, window));
    EXPECT_GT(static_cast<double>(layout.nnz()) / (static_cast<double>(tiles.size()) * 4 * 8),
              least);
  }
}

} // namespace
