// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/BlockCover.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <tuple>

using namespace blocksparse;

namespace {

/// Limits of a window: its fewest block rows, and its most block rows and block columns.
constexpr int64_t leastRows = 32, mostRows = 256, mostCols = 512;
/// Number of words of bits that may be compared for all tiles together. It keeps the time of a
/// cover below about a quarter of a second on one core.
constexpr int64_t wordBudget = int64_t{1} << 26;
constexpr int64_t wordBits = 64;

/// Holds the blocks of a window of the pattern that no tile has yet. Its rows and columns are the
/// rows and columns of tiles. Plane `p` of a row has one of the positions of a block in a (row,
/// column) of tiles; the bits are [row][plane][column].
class Window {
public:
  /// Requires all `blocks` to be in rows [firstRow, firstRow + rows) and columns
  /// [firstCol, firstCol + cols).
  Window(std::span<const BlockCoordinate> blocks, int64_t firstRow, int64_t rows, int64_t firstCol,
         int64_t cols, const CoverShape &shape)
      : firstRow(firstRow), firstCol(firstCol), rows(rows), cols(cols),
        words((cols + wordBits - 1) / wordBits), planes(shape.rowsTogether * shape.colsTogether),
        shape(shape), bits(rows * planes * words), left(rows), values(rows * planes * cols, -1),
        total(static_cast<int64_t>(blocks.size())) {
    for (const BlockCoordinate &at : blocks) {
      const int64_t row = at.row / shape.rowsTogether - firstRow;
      const int64_t col = at.col / shape.colsTogether - firstCol;
      const int64_t plane =
          at.row % shape.rowsTogether * shape.colsTogether + at.col % shape.colsTogether;
      planeBits(row, plane)[col / wordBits] |= uint64_t{1} << col % wordBits;
      values[(row * planes + plane) * cols + col] = at.value;
      ++left[row];
    }
  }

  void cover(std::vector<CoverTile> &tiles) {
    while (total > 0)
      tiles.push_back(takeTile());
  }

private:
  using Indices = std::vector<int32_t>;

  std::span<uint64_t> planeBits(int64_t row, int64_t plane) {
    return std::span(bits).subspan((row * planes + plane) * words, words);
  }
  std::span<const uint64_t> planeBits(int64_t row, int64_t plane) const {
    return std::span(bits).subspan((row * planes + plane) * words, words);
  }

  static int64_t countShared(std::span<const uint64_t> a, std::span<const uint64_t> b) {
    int64_t count = 0;
    for (size_t i = 0; i < a.size(); ++i)
      count += std::popcount(a[i] & b[i]);
    return count;
  }

  /// Returns the number of blocks that a row has in the columns of `mask`.
  int64_t countIn(int64_t row, std::span<const uint64_t> mask) const {
    int64_t count = 0;
    for (int64_t plane = 0; plane < planes; ++plane)
      count += countShared(planeBits(row, plane), mask);
    return count;
  }

  /// Returns the row with most blocks, the first of equals, and then, one by one, the rows that
  /// share most columns with the rows before.
  Indices startRows() const {
    Indices chosen{static_cast<int32_t>(std::max_element(left.begin(), left.end()) - left.begin())};
    std::vector<int64_t> shared(rows, 0);
    std::vector<bool> taken(rows, false);
    while (static_cast<int64_t>(chosen.size()) < shape.rows) {
      taken[chosen.back()] = true;
      int64_t best = -1;
      for (int64_t row = 0; row < rows; ++row) {
        if (left[row] == 0 || taken[row])
          continue;
        for (int64_t plane = 0; plane < planes; ++plane)
          shared[row] += countIn(row, planeBits(chosen.back(), plane));
        if (shared[row] > (best < 0 ? 0 : shared[best]))
          best = row;
      }
      if (best < 0)
        break;
      chosen.push_back(static_cast<int32_t>(best));
    }
    return chosen;
  }

  /// Returns the indices of the `most` highest counts above 0, the first of equals, and the sum of
  /// these counts.
  static std::pair<Indices, int64_t> takeHighest(const std::vector<int64_t> &counts, int64_t most) {
    Indices indices;
    for (size_t i = 0; i < counts.size(); ++i)
      if (counts[i] > 0)
        indices.push_back(static_cast<int32_t>(i));
    const auto end = indices.begin() + std::min<int64_t>(most, indices.size());
    std::partial_sort(indices.begin(), end, indices.end(), [&](int32_t a, int32_t b) {
      return std::tuple(-counts[a], a) < std::tuple(-counts[b], b);
    });
    indices.erase(end, indices.end());
    int64_t sum = 0;
    for (int32_t index : indices)
      sum += counts[index];
    return {indices, sum};
  }

  std::pair<Indices, int64_t> bestCols(const Indices &chosen) const {
    std::vector<int64_t> counts(cols, 0);
    for (int32_t row : chosen)
      for (int64_t plane = 0; plane < planes; ++plane)
        for (int64_t word = 0; word < words; ++word)
          for (uint64_t rest = planeBits(row, plane)[word]; rest != 0; rest &= rest - 1)
            ++counts[word * wordBits + std::countr_zero(rest)];
    return takeHighest(counts, shape.cols);
  }

  Indices bestRows(const Indices &chosen) const {
    std::vector<uint64_t> mask(words, 0);
    for (int32_t col : chosen)
      mask[col / wordBits] |= uint64_t{1} << col % wordBits;
    std::vector<int64_t> counts(rows, 0);
    for (int64_t row = 0; row < rows; ++row)
      if (left[row] > 0)
        counts[row] = countIn(row, mask);
    return takeHighest(counts, shape.rows).first;
  }

  CoverTile takeTile() {
    Indices chosenRows = startRows();
    auto [chosenCols, count] = bestCols(chosenRows);
    // Each round adds a block, so that there are at most rows * cols rounds.
    while (true) {
      Indices nextRows = bestRows(chosenCols);
      auto [nextCols, nextCount] = bestCols(nextRows);
      if (nextCount <= count)
        break;
      std::tie(chosenRows, chosenCols, count) = std::tie(nextRows, nextCols, nextCount);
    }
    std::sort(chosenRows.begin(), chosenRows.end());
    std::sort(chosenCols.begin(), chosenCols.end());
    return makeTile(chosenRows, chosenCols);
  }

  CoverTile makeTile(const Indices &chosenRows, const Indices &chosenCols) {
    CoverTile tile;
    for (int32_t col : chosenCols)
      tile.cols.push_back(static_cast<int32_t>(firstCol) + col);
    for (int32_t row : chosenRows) {
      Indices taken;
      for (int64_t i = 0; i < shape.rowsTogether; ++i)
        for (int32_t col : chosenCols)
          for (int64_t j = 0; j < shape.colsTogether; ++j)
            taken.push_back(take(row, i * shape.colsTogether + j, col));
      // The columns were chosen after the rows: a row may have no block in them.
      if (std::all_of(taken.begin(), taken.end(), [](int32_t value) { return value < 0; }))
        continue;
      tile.rows.push_back(static_cast<int32_t>(firstRow) + row);
      tile.values.insert(tile.values.end(), taken.begin(), taken.end());
    }
    return tile;
  }

  /// Removes a block from the window and returns its value block, or -1 if a tile has it already.
  int32_t take(int64_t row, int64_t plane, int64_t col) {
    uint64_t &word = planeBits(row, plane)[col / wordBits];
    const uint64_t bit = uint64_t{1} << col % wordBits;
    if (!(word & bit))
      return -1;
    word &= ~bit;
    --left[row];
    --total;
    return values[(row * planes + plane) * cols + col];
  }

  const int64_t firstRow, firstCol, rows, cols, words, planes;
  const CoverShape shape;
  std::vector<uint64_t> bits;
  /// Number of blocks of each row that no tile has yet.
  std::vector<int64_t> left;
  /// Value blocks [row][plane][column], including those that tiles have taken.
  std::vector<int32_t> values;
  int64_t total;
};

/// Returns the extents of windows, in rows and columns of tiles. The number of rows is the largest
/// that wordBudget allows under the assumption that tiles are half full.
std::pair<int64_t, int64_t> windowExtents(size_t blocks, const CoverShape &shape) {
  const int64_t planes = shape.rowsTogether * shape.colsTogether;
  const int64_t cols = std::min(shape.windowCols, mostCols) / shape.colsTogether;
  const int64_t tiles = static_cast<int64_t>(blocks) * 2 / (shape.rows * shape.cols * planes) + 1;
  const int64_t words = cols / wordBits + 1;
  // A row is compared with each row that is chosen, and in a few rounds with the columns.
  const int64_t ofRow = (shape.rows * planes * planes + 4 * planes) * words;
  const int64_t rows = std::clamp(wordBudget / (tiles * ofRow), leastRows, mostRows);
  return {std::max<int64_t>(1, std::min(shape.windowRows / shape.rowsTogether, rows)),
          std::max<int64_t>(1, cols)};
}

} // namespace

std::vector<CoverTile> blocksparse::coverBlocks(std::span<const BlockCoordinate> blocks,
                                                const CoverShape &shape) {
  const auto [rows, cols] = windowExtents(blocks.size(), shape);
  std::vector<BlockCoordinate> sorted(blocks.begin(), blocks.end());
  auto rowOf = [&](const BlockCoordinate &at) { return at.row / shape.rowsTogether; };
  auto colOf = [&](const BlockCoordinate &at) { return at.col / shape.colsTogether; };
  // Every other row of windows goes through the columns backwards, so that neighbours in the order
  // share rows or columns.
  auto windowOf = [&, rows = rows, cols = cols](const BlockCoordinate &at) {
    const int64_t down = rowOf(at) / rows, across = colOf(at) / cols;
    return std::pair(down, down % 2 == 0 ? across : -across);
  };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const BlockCoordinate &a, const BlockCoordinate &b) {
                     return windowOf(a) < windowOf(b);
                   });
  std::vector<CoverTile> tiles;
  for (size_t begin = 0, end; begin < sorted.size(); begin = end) {
    int64_t lastRow = 0, lastCol = 0;
    for (end = begin; end < sorted.size() && windowOf(sorted[end]) == windowOf(sorted[begin]);
         ++end) {
      lastRow = std::max(lastRow, rowOf(sorted[end]));
      lastCol = std::max(lastCol, colOf(sorted[end]));
    }
    const int64_t firstRow = rowOf(sorted[begin]) / rows * rows;
    const int64_t firstCol = colOf(sorted[begin]) / cols * cols;
    Window(std::span(sorted).subspan(begin, end - begin), firstRow, lastRow + 1 - firstRow,
           firstCol, lastCol + 1 - firstCol, shape)
        .cover(tiles);
  }
  return tiles;
}
