// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/Reblock.h"
#include "Fault.h"
#include "TiledRows.h"

#include <algorithm>
#include <numeric>

using namespace blocksparse;

namespace {

/// Calls `visit(row, first, last)` for each stored block row that meets planned block row `tile`:
/// its index and the rows of op(S), in elements, that both have.
template <typename Visit>
void forEachStoredRow(const Reblocking &sizes, int64_t tile, int64_t storedRows, Visit visit) {
  const int64_t begin = tile * sizes.block, end = begin + sizes.block;
  for (int64_t row = begin / sizes.stored.rows; row < storedRows && row * sizes.stored.rows < end;
       ++row)
    visit(row, std::max(begin, row * sizes.stored.rows),
          std::min(end, (row + 1) * sizes.stored.rows));
}

/// Collects the planned blocks of one block row after another.
class PlannedPattern {
public:
  explicit PlannedPattern(const Reblocking &sizes)
      : sizes(sizes), indexOfCol(sizes.blockCols(), -1) {}

  /// Adds the block columns that the stored block column `col` meets.
  void add(int32_t col) {
    const int64_t begin = col * sizes.stored.cols,
                  end = std::min(begin + sizes.stored.cols, sizes.depth);
    for (int64_t planned = begin / sizes.block; planned * sizes.block < end; ++planned)
      if (indexOfCol[planned] < 0) {
        indexOfCol[planned] = 0;
        cols.push_back(static_cast<int32_t>(planned));
      }
  }

  /// Orders the block columns of the row that was added last, and numbers its planned blocks.
  void endRow() {
    std::sort(cols.begin() + offsets.back(), cols.end());
    for (size_t i = offsets.back(); i < cols.size(); ++i)
      indexOfCol[cols[i]] = static_cast<int32_t>(i);
  }
  /// Ends the row after its blocks have been looked up.
  void forgetRow() {
    for (size_t i = offsets.back(); i < cols.size(); ++i)
      indexOfCol[cols[i]] = -1;
    offsets.push_back(static_cast<int32_t>(cols.size()));
  }

  /// Returns the index of the planned block of the current row in block column `col`.
  int64_t indexOf(int64_t col) const { return indexOfCol[col]; }
  bool isTooLarge() const {
    return static_cast<int64_t>(cols.size()) > maxGranules / sizes.granulesPerBlock();
  }
  std::string describe() const {
    return "expects blocks whose table of granules has at most " + text(maxGranules) +
           " words, but got more for blocks of " + text(sizes.stored.rows) + "x" +
           text(sizes.stored.cols);
  }

  std::vector<int32_t> offsets{0}, cols;

private:
  const Reblocking &sizes;
  /// Index of the planned block in each block column of the current row, or -1.
  std::vector<int32_t> indexOfCol;
};

} // namespace

BlockShape Reblocking::granule() const {
  return {std::gcd(stored.rows, block), std::gcd(std::gcd(stored.cols, block), depth)};
}

std::optional<BlockLayout> blocksparse::reblockLayout(const BlockLayout &layout,
                                                      const Reblocking &sizes, std::string &error) {
  PlannedPattern pattern(sizes);
  for (int64_t head = 0; head < layout.grid().heads; ++head)
    for (int64_t tile = 0; tile < sizes.blockRows(); ++tile) {
      forEachStoredRow(sizes, tile, layout.grid().rows, [&](int64_t row, int64_t, int64_t) {
        for (int32_t col : layout.row(head, row))
          pattern.add(col);
      });
      pattern.endRow();
      pattern.forgetRow();
      if (pattern.isTooLarge())
        return fail(error, pattern.describe());
    }
  return BlockLayout::fromCsr({sizes.block, sizes.block},
                              {layout.grid().heads, sizes.blockRows(), sizes.blockCols()},
                              std::move(pattern.offsets), std::move(pattern.cols), error);
}

RowProduct ReblockedRows::product(const RowProduct &stored, const Reblocking &sizes) const {
  RowProduct product = stored;
  product.segments = segments;
  product.entries = entries;
  product.tiles = sizes.blockRows();
  product.denseBlocks = sizes.blockCols();
  product.block = {sizes.block, sizes.block};
  return product;
}

/// Notes the granules of a stored block that rows [firstRow, lastRow) of the current planned block
/// row have.
static void addGranules(const Reblocking &sizes, const PlannedPattern &pattern, int64_t storedRow,
                        int64_t firstRow, int64_t lastRow, const RowEntry &entry,
                        std::vector<int32_t> &granules) {
  const BlockShape granule = sizes.granule();
  const int64_t firstCol = entry.dense * sizes.stored.cols,
                lastCol = std::min(firstCol + sizes.stored.cols, sizes.depth);
  for (int64_t row = firstRow; row < lastRow; row += granule.rows)
    for (int64_t col = firstCol; col < lastCol; col += granule.cols) {
      const int64_t inStored =
          (row - storedRow * sizes.stored.rows) / granule.rows * sizes.granulesPerStoredRow() +
          (col - firstCol) / granule.cols;
      const int64_t inPlanned = row % sizes.block / granule.rows * sizes.granulesPerRow() +
                                col % sizes.block / granule.cols;
      granules[pattern.indexOf(col / sizes.block) * sizes.granulesPerBlock() + inPlanned] =
          static_cast<int32_t>(entry.value * sizes.granulesPerStored() + inStored);
    }
}

std::optional<ReblockedRows> blocksparse::reblockRows(const RowProduct &product,
                                                      const Reblocking &sizes, std::string &error) {
  const std::optional<TiledRows> rows = TiledRows::get(product, error);
  if (!rows)
    return std::nullopt;
  const int64_t words = static_cast<int64_t>(product.entries.size());
  if (words > std::numeric_limits<int32_t>::max() / sizes.granulesPerStored())
    return fail(error, "expects at most 2^31 granules, but got " + text(words) + " blocks of " +
                           text(sizes.granulesPerStored()));
  ReblockedRows planned;
  PlannedPattern pattern(sizes);
  for (int64_t head = 0; head < product.heads; ++head)
    for (int64_t tile = 0; tile < sizes.blockRows(); ++tile) {
      forEachStoredRow(sizes, tile, product.tiles, [&](int64_t row, int64_t, int64_t) {
        for (const RowEntry &entry : rows->entriesOf(head, row))
          pattern.add(entry.dense);
      });
      pattern.endRow();
      if (pattern.isTooLarge())
        return fail(error, pattern.describe());
      planned.granules.resize(pattern.cols.size() * sizes.granulesPerBlock(), -1);
      forEachStoredRow(sizes, tile, product.tiles, [&](int64_t row, int64_t first, int64_t last) {
        for (const RowEntry &entry : rows->entriesOf(head, row))
          addGranules(sizes, pattern, row, first, last, entry, planned.granules);
      });
      const int32_t first = pattern.offsets.back();
      planned.segments.push_back({static_cast<int32_t>(tile), static_cast<int32_t>(head), first,
                                  static_cast<int32_t>(pattern.cols.size()) - first, -1});
      pattern.forgetRow();
    }
  for (size_t i = 0; i < pattern.cols.size(); ++i)
    planned.entries.push_back({pattern.cols[i], static_cast<int32_t>(i)});
  return planned;
}
