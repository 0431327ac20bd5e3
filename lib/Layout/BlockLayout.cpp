// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Layout/BlockLayout.h"

#include <algorithm>

using namespace blocksparse;

namespace {

std::string text(int64_t value) { return std::to_string(value); }

std::string text(BlockShape block) { return text(block.rows) + " x " + text(block.cols); }

std::string text(BlockGrid grid) {
  return text(grid.heads) + " x " + text(grid.rows) + " x " + text(grid.cols);
}

std::nullopt_t fail(std::string &error, std::string message) {
  error = std::move(message);
  return std::nullopt;
}

/// Names a flat block row; the head matters only where there are several.
std::string rowName(BlockGrid grid, int64_t flatRow) {
  std::string name = "row " + text(flatRow % grid.rows);
  if (grid.heads > 1)
    name += " of head " + text(flatRow / grid.rows);
  return name;
}

/// Returns true if a * b is at most `limit`, without overflow.
bool hasProductUpTo(int64_t a, int64_t b, int64_t limit) {
  int64_t product;
  return !__builtin_mul_overflow(a, b, &product) && product <= limit;
}

bool checkBlockCount(int64_t count, std::string &error) {
  if (count <= BlockLayout::maxBlocks)
    return true;
  error =
      "expects at most " + text(BlockLayout::maxBlocks) + " stored blocks, but got " + text(count);
  return false;
}

bool checkRowOffsets(BlockGrid grid, std::span<const int32_t> offsets, int64_t numBlocks,
                     std::string &error) {
  const int64_t numRows = grid.heads * grid.rows;
  if (static_cast<int64_t>(offsets.size()) != numRows + 1) {
    error = "expects row offsets of length " + text(numRows + 1) +
            " (heads x block rows + 1), but got " + text(offsets.size());
    return false;
  }
  if (offsets[0] != 0) {
    error = "expects first row offset to be 0, but got " + text(offsets[0]);
    return false;
  }
  for (int64_t r = 0; r < numRows; ++r) {
    if (offsets[r + 1] < offsets[r]) {
      error = "expects non-decreasing row offsets, but got " + text(offsets[r + 1]) + " after " +
              text(offsets[r]) + " at " + rowName(grid, r);
      return false;
    }
  }
  if (offsets[numRows] != numBlocks) {
    error = "expects last row offset to equal the number of blocks " + text(numBlocks) +
            ", but got " + text(offsets[numRows]);
    return false;
  }
  return true;
}

/// Checks the columns of one row and sorts them where they are not ascending.
bool canonicalizeRow(BlockGrid grid, int64_t flatRow, std::span<int32_t> cols, std::string &error) {
  bool ascending = true;
  int32_t previous = -1;
  for (int32_t col : cols) {
    if (col < 0 || col >= grid.cols) {
      error = "expects column index in [0, " + text(grid.cols) + ") in " + rowName(grid, flatRow) +
              ", but got " + text(col);
      return false;
    }
    ascending &= col > previous;
    previous = col;
  }
  if (ascending)
    return true;
  std::sort(cols.begin(), cols.end());
  auto twin = std::adjacent_find(cols.begin(), cols.end());
  if (twin == cols.end())
    return true;
  error = "expects unique column indices in " + rowName(grid, flatRow) + ", but got " +
          text(*twin) + " more than once";
  return false;
}

/// Holds the stored blocks ordered by (head, col, row): `offsets` over flat columns (heads * cols +
/// 1 entries) and, at each position, the block's row and value.
struct ColumnOrder {
  std::vector<int32_t> offsets;
  std::vector<int32_t> rows;
  std::vector<int32_t> values;
};

/// Sorts the stored blocks by column with a counting sort, in O(nnz + heads * (rows + cols)). The
/// sort is stable, so rows ascend within each column.
ColumnOrder sortByColumn(const BlockLayout &layout) {
  const BlockGrid grid = layout.grid();
  std::span<const int32_t> rowOffsets = layout.rowOffsets();
  std::span<const int32_t> cols = layout.colIndices();
  ColumnOrder order;
  order.offsets.assign(grid.heads * grid.cols + 1, 0);
  order.rows.resize(cols.size());
  order.values.resize(cols.size());
  std::vector<int32_t> next(grid.cols);
  for (int64_t head = 0; head < grid.heads; ++head) {
    const int64_t firstRow = head * grid.rows;
    const int32_t begin = rowOffsets[firstRow];
    const int32_t end = rowOffsets[firstRow + grid.rows];
    std::fill(next.begin(), next.end(), 0);
    for (int32_t p = begin; p < end; ++p)
      ++next[cols[p]];
    int32_t *offsets = order.offsets.data() + head * grid.cols;
    int32_t running = begin;
    for (int64_t col = 0; col < grid.cols; ++col) {
      offsets[col] = running;
      running += next[col];
      next[col] = offsets[col];
    }
    for (int64_t row = 0; row < grid.rows; ++row) {
      for (int32_t p = rowOffsets[firstRow + row]; p < rowOffsets[firstRow + row + 1]; ++p) {
        const int32_t q = next[cols[p]]++;
        order.rows[q] = static_cast<int32_t>(row);
        order.values[q] = p;
      }
    }
  }
  order.offsets.back() = static_cast<int32_t>(cols.size());
  return order;
}

bool checkSameShapes(const BlockLayout &a, const BlockLayout &b, std::string &error) {
  if (a.block() != b.block()) {
    error = "expects equal block shapes, but got " + text(a.block()) + " and " + text(b.block());
    return false;
  }
  if (a.grid() != b.grid()) {
    error = "expects equal block grids, but got " + text(a.grid()) + " and " + text(b.grid());
    return false;
  }
  return true;
}

/// Merges two layouts row by row with a std::set_* algorithm.
template <typename MergeRow>
std::optional<BlockLayout> mergeRows(const BlockLayout &a, const BlockLayout &b, MergeRow mergeRow,
                                     std::string &error) {
  if (!checkSameShapes(a, b, error))
    return std::nullopt;
  const BlockGrid grid = a.grid();
  std::vector<int32_t> offsets{0}, cols;
  offsets.reserve(a.rowOffsets().size());
  cols.reserve(std::max(a.nnz(), b.nnz()));
  for (int64_t head = 0; head < grid.heads; ++head) {
    for (int64_t row = 0; row < grid.rows; ++row) {
      mergeRow(a.row(head, row), b.row(head, row), cols);
      if (!checkBlockCount(cols.size(), error))
        return std::nullopt;
      offsets.push_back(static_cast<int32_t>(cols.size()));
    }
  }
  return BlockLayout::fromCsr(a.block(), grid, std::move(offsets), std::move(cols), error);
}

bool checkSubRange(const char *axis, int64_t extent, int64_t offset, int64_t size,
                   std::string &error) {
  if (offset >= 0 && size >= 0 && offset <= extent && size <= extent - offset)
    return true;
  error = "expects a sub-layout within " + text(extent) + " " + axis + ", but got offset " +
          text(offset) + " and size " + text(size);
  return false;
}

} // namespace

bool BlockLayout::checkShapes(BlockShape block, BlockGrid grid, std::string &error) {
  if (block.rows < 1 || block.cols < 1) {
    error = "expects a positive block shape, but got " + text(block);
    return false;
  }
  if (!hasProductUpTo(block.rows, block.cols, maxBlockElements)) {
    error = "expects a block of at most " + text(maxBlockElements) + " elements, but got " +
            text(block);
    return false;
  }
  if (grid.heads < 1 || grid.rows < 0 || grid.cols < 0) {
    error = "expects a grid of at least 1 x 0 x 0 blocks (heads x rows x "
            "cols), but got " +
            text(grid);
    return false;
  }
  if (!hasProductUpTo(grid.heads, grid.rows, maxBlocks)) {
    error = "expects heads x block rows of at most " + text(maxBlocks) + ", but got " +
            text(grid.heads) + " x " + text(grid.rows);
    return false;
  }
  // The transposed layout must be representable as well.
  if (!hasProductUpTo(grid.heads, grid.cols, maxBlocks)) {
    error = "expects heads x block cols of at most " + text(maxBlocks) + ", but got " +
            text(grid.heads) + " x " + text(grid.cols);
    return false;
  }
  return true;
}

std::optional<BlockLayout> BlockLayout::fromCsr(BlockShape block, BlockGrid grid,
                                                std::vector<int32_t> rowOffsets,
                                                std::vector<int32_t> colIndices,
                                                std::string &error) {
  if (!checkShapes(block, grid, error) || !checkBlockCount(colIndices.size(), error) ||
      !checkRowOffsets(grid, rowOffsets, colIndices.size(), error))
    return std::nullopt;
  std::span<int32_t> cols(colIndices);
  for (int64_t r = 0, e = grid.heads * grid.rows; r < e; ++r) {
    auto rowCols = cols.subspan(rowOffsets[r], rowOffsets[r + 1] - rowOffsets[r]);
    if (!canonicalizeRow(grid, r, rowCols, error))
      return std::nullopt;
  }
  BlockLayout layout;
  layout.block_ = block;
  layout.grid_ = grid;
  layout.rowOffsets_ = std::move(rowOffsets);
  layout.colIndices_ = std::move(colIndices);
  return layout;
}

std::optional<BlockLayout> BlockLayout::fromMask(BlockShape block, BlockGrid grid,
                                                 std::span<const uint8_t> mask,
                                                 std::string &error) {
  if (!checkShapes(block, grid, error))
    return std::nullopt;
  const int64_t numRows = grid.heads * grid.rows;
  const int64_t size = numRows * grid.cols;
  if (static_cast<int64_t>(mask.size()) != size)
    return fail(error, "expects mask of length " + text(size) +
                           " (heads x block rows x block cols), but got " + text(mask.size()));
  const int64_t count = size - std::count(mask.begin(), mask.end(), uint8_t{0});
  if (!checkBlockCount(count, error))
    return std::nullopt;

  BlockLayout layout;
  layout.block_ = block;
  layout.grid_ = grid;
  layout.rowOffsets_.resize(numRows + 1);
  // One spare entry, because each byte writes its column whether it is kept or
  // not: random masks would otherwise cost one branch miss per kept block.
  layout.colIndices_.resize(count + 1);
  int32_t *cols = layout.colIndices_.data();
  const uint8_t *bytes = mask.data();
  int64_t next = 0;
  for (int64_t r = 0; r < numRows; ++r) {
    for (int64_t col = 0; col < grid.cols; ++col) {
      cols[next] = static_cast<int32_t>(col);
      next += *bytes++ != 0;
    }
    layout.rowOffsets_[r + 1] = static_cast<int32_t>(next);
  }
  layout.colIndices_.resize(count);
  return layout;
}

double BlockLayout::density() const {
  const double size = static_cast<double>(grid_.heads) * grid_.rows * grid_.cols;
  return size == 0 ? 0 : static_cast<double>(nnz()) / size;
}

std::span<const int32_t> BlockLayout::row(int64_t head, int64_t row) const {
  if (head < 0 || head >= grid_.heads || row < 0 || row >= grid_.rows)
    return {};
  const int64_t flatRow = head * grid_.rows + row;
  return colIndices().subspan(rowOffsets_[flatRow],
                              rowOffsets_[flatRow + 1] - rowOffsets_[flatRow]);
}

bool BlockLayout::contains(int64_t head, int64_t row, int64_t col) const {
  if (col < 0 || col >= grid_.cols)
    return false;
  std::span<const int32_t> cols = this->row(head, row);
  return std::binary_search(cols.begin(), cols.end(), static_cast<int32_t>(col));
}

bool BlockLayout::isDense() const {
  // checkShapes bounds the shape, so that the product fits in int64.
  return nnz() == grid_.heads * grid_.rows * grid_.cols;
}

std::vector<BlockCoordinate> BlockLayout::coordinates() const {
  std::vector<BlockCoordinate> blocks(nnz());
  for (int64_t head = 0; head < grid_.heads; ++head) {
    for (int64_t row = 0; row < grid_.rows; ++row) {
      const int64_t flatRow = head * grid_.rows + row;
      for (int32_t p = rowOffsets_[flatRow]; p < rowOffsets_[flatRow + 1]; ++p)
        blocks[p] = {static_cast<int32_t>(head), static_cast<int32_t>(row), colIndices_[p], p};
    }
  }
  return blocks;
}

std::vector<BlockCoordinate> BlockLayout::columnMajorCoordinates() const {
  const ColumnOrder order = sortByColumn(*this);
  std::vector<BlockCoordinate> blocks(nnz());
  for (int64_t head = 0; head < grid_.heads; ++head) {
    for (int64_t col = 0; col < grid_.cols; ++col) {
      const int64_t flatCol = head * grid_.cols + col;
      for (int32_t q = order.offsets[flatCol]; q < order.offsets[flatCol + 1]; ++q)
        blocks[q] = {static_cast<int32_t>(head), order.rows[q], static_cast<int32_t>(col),
                     order.values[q]};
    }
  }
  return blocks;
}

BlockLayout BlockLayout::transposed(std::vector<int32_t> *permutation) const {
  ColumnOrder order = sortByColumn(*this);
  BlockLayout result;
  result.block_ = {block_.cols, block_.rows};
  result.grid_ = {grid_.heads, grid_.cols, grid_.rows};
  result.rowOffsets_ = std::move(order.offsets);
  result.colIndices_ = std::move(order.rows);
  if (permutation)
    *permutation = std::move(order.values);
  return result;
}

std::optional<BlockLayout> blocksparse::layoutUnion(const BlockLayout &a, const BlockLayout &b,
                                                    std::string &error) {
  return mergeRows(
      a, b,
      [](auto lhs, auto rhs, std::vector<int32_t> &out) {
        std::set_union(lhs.begin(), lhs.end(), rhs.begin(), rhs.end(), std::back_inserter(out));
      },
      error);
}

std::optional<BlockLayout>
blocksparse::layoutIntersection(const BlockLayout &a, const BlockLayout &b, std::string &error) {
  return mergeRows(
      a, b,
      [](auto lhs, auto rhs, std::vector<int32_t> &out) {
        std::set_intersection(lhs.begin(), lhs.end(), rhs.begin(), rhs.end(),
                              std::back_inserter(out));
      },
      error);
}

std::optional<BlockLayout> blocksparse::subLayout(const BlockLayout &layout, BlockGrid offset,
                                                  BlockGrid size, std::string &error) {
  const BlockGrid grid = layout.grid();
  if (!checkSubRange("heads", grid.heads, offset.heads, size.heads, error) ||
      !checkSubRange("block rows", grid.rows, offset.rows, size.rows, error) ||
      !checkSubRange("block cols", grid.cols, offset.cols, size.cols, error))
    return std::nullopt;
  std::vector<int32_t> offsets{0}, cols;
  offsets.reserve(size.heads * size.rows + 1);
  for (int64_t head = 0; head < size.heads; ++head) {
    for (int64_t row = 0; row < size.rows; ++row) {
      auto source = layout.row(offset.heads + head, offset.rows + row);
      auto first = std::lower_bound(source.begin(), source.end(), offset.cols);
      auto last = std::lower_bound(first, source.end(), offset.cols + size.cols);
      for (auto it = first; it != last; ++it)
        cols.push_back(static_cast<int32_t>(*it - offset.cols));
      offsets.push_back(static_cast<int32_t>(cols.size()));
    }
  }
  return BlockLayout::fromCsr(layout.block(), size, std::move(offsets), std::move(cols), error);
}
