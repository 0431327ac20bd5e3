// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Reference/Pattern.h"

#include <algorithm>
#include <tuple>

using namespace blocksparse;
using namespace blocksparse::ref;

int64_t Pattern::flatRow(int64_t batch, int64_t head, int64_t row) const {
  int64_t ownBatch = batches_ == 1 ? 0 : batch;
  int64_t ownHead = grid_.heads == 1 ? 0 : head;
  return (ownBatch * grid_.heads + ownHead) * grid_.rows + row;
}

std::span<const Pattern::Entry> Pattern::row(int64_t batch, int64_t head, int64_t row) const {
  int64_t flat = flatRow(batch, head, row);
  return std::span(entries_).subspan(offsets_[flat], offsets_[flat + 1] - offsets_[flat]);
}

std::span<const Pattern::Entry> Pattern::entries(int64_t batch, int64_t head) const {
  int64_t begin = offsets_[flatRow(batch, head, 0)];
  int64_t end = offsets_[flatRow(batch, head, grid_.rows)];
  return std::span(entries_).subspan(begin, end - begin);
}

int64_t Pattern::nnz(int64_t batch) const {
  int64_t count = 0;
  for (int64_t head = 0; head < grid_.heads; ++head)
    count += entries(batch, head).size();
  return count;
}

std::optional<Pattern> Pattern::fromLayout(const BlockLayout &layout, int64_t heads,
                                           std::string &error) {
  BlockGrid grid = layout.grid();
  bool shared = grid.heads == 1;
  if (!shared && grid.heads != heads) {
    error = "expects a layout of 1 or " + std::to_string(heads) + " heads, but got " +
            std::to_string(grid.heads);
    return std::nullopt;
  }
  Pattern pattern;
  pattern.block_ = layout.block();
  pattern.grid_ = {heads, grid.rows, grid.cols};
  pattern.valueBlocks_ = shared ? layout.nnz() * heads : layout.nnz();
  int64_t value = 0;
  for (int64_t head = 0; head < heads; ++head)
    for (int64_t row = 0; row < grid.rows; ++row) {
      for (int32_t col : layout.row(shared ? 0 : head, row))
        pattern.entries_.push_back({row, col, value++});
      pattern.offsets_.push_back(pattern.entries_.size());
    }
  return pattern;
}

namespace {

/// Holds run-time indices in the form crow[B, H, R + 1], col[B, H, C].
struct Csr {
  HostTensor crow, col;
};

} // namespace

static bool isInteger(const HostTensor &tensor) { return !isFloatType(tensor.type()); }

/// Checks ranks, types and extents and inserts the missing leading axes.
static std::optional<Csr> normalizeCsr(BlockGrid grid, HostTensor crow, HostTensor col,
                                       std::string &error) {
  if (!isInteger(crow) || !isInteger(col)) {
    error = "expects integer crow and col indices, but got " + crow.describe() + " and " +
            col.describe();
    return std::nullopt;
  }
  if (crow.rank() < 1 || crow.rank() > 3 || col.rank() != crow.rank()) {
    error = "expects crow and col indices of one rank in 1..3, but got " + crow.describe() +
            " and " + col.describe();
    return std::nullopt;
  }
  // [R + 1] and [B, R + 1] are shared by the heads.
  if (crow.rank() == 1) {
    crow = crow.unsqueeze(0);
    col = col.unsqueeze(0);
  }
  if (crow.rank() == 2) {
    crow = crow.unsqueeze(1);
    col = col.unsqueeze(1);
  }
  if (crow.dim(0) != col.dim(0) || crow.dim(1) != col.dim(1)) {
    error = "expects col indices with the leading extents of crow " + formatShape(crow.shape()) +
            ", but got " + formatShape(col.shape());
    return std::nullopt;
  }
  if (crow.dim(1) != 1 && crow.dim(1) != grid.heads) {
    error = "expects crow indices of 1 or " + std::to_string(grid.heads) + " heads, but got " +
            std::to_string(crow.dim(1));
    return std::nullopt;
  }
  if (crow.dim(2) != grid.rows + 1) {
    error = "expects " + std::to_string(grid.rows + 1) + " crow indices, but got " +
            std::to_string(crow.dim(2));
    return std::nullopt;
  }
  return Csr{crow, col};
}

/// Checks that one crow list starts at 0, never decreases and ends within the
/// capacity of col.
static bool checkOffsets(const Csr &csr, int64_t batch, int64_t head, std::string &error) {
  int64_t previous = 0;
  for (int64_t i = 0; i < csr.crow.dim(2); ++i) {
    int64_t offset = csr.crow.intAt({batch, head, i});
    if (i == 0 && offset != 0) {
      error = "expects crow indices from 0, but got " + std::to_string(offset);
      return false;
    }
    if (offset < previous) {
      error = "expects crow indices that never decrease, but got " + std::to_string(offset) +
              " after " + std::to_string(previous);
      return false;
    }
    previous = offset;
  }
  if (previous > csr.col.dim(2)) {
    error = "expects a last crow index of at most " + std::to_string(csr.col.dim(2)) +
            " (the stored blocks), but got " + std::to_string(previous);
    return false;
  }
  return true;
}

std::optional<Pattern> Pattern::fromCsr(BlockShape block, BlockGrid grid, const HostTensor &crow,
                                        const HostTensor &col, std::string &error) {
  std::optional<Csr> csr = normalizeCsr(grid, crow, col, error);
  if (!csr)
    return std::nullopt;
  int64_t capacity = csr->col.dim(2);
  Pattern pattern;
  pattern.block_ = block;
  pattern.grid_ = grid;
  pattern.batches_ = csr->crow.dim(0);
  pattern.valueBlocks_ = capacity * grid.heads;
  for (int64_t batch = 0; batch < pattern.batches_; ++batch)
    for (int64_t head = 0; head < grid.heads; ++head) {
      int64_t list = csr->crow.dim(1) == 1 ? 0 : head;
      if (!checkOffsets(*csr, batch, list, error))
        return std::nullopt;
      for (int64_t row = 0; row < grid.rows; ++row) {
        int64_t end = csr->crow.intAt({batch, list, row + 1});
        for (int64_t p = csr->crow.intAt({batch, list, row}); p < end; ++p) {
          int64_t column = csr->col.intAt({batch, list, p});
          if (column < 0 || column >= grid.cols) {
            error = "expects col indices in [0, " + std::to_string(grid.cols) + "), but got " +
                    std::to_string(column);
            return std::nullopt;
          }
          pattern.entries_.push_back({row, column, p + head * capacity});
        }
        pattern.offsets_.push_back(pattern.entries_.size());
      }
    }
  return pattern;
}

bool Pattern::checkUnique(std::string &error) const {
  int64_t rows = batches_ * grid_.heads * grid_.rows;
  std::vector<int64_t> columns;
  for (int64_t flat = 0; flat < rows; ++flat) {
    columns.clear();
    for (int64_t i = offsets_[flat]; i < offsets_[flat + 1]; ++i)
      columns.push_back(entries_[i].col);
    std::sort(columns.begin(), columns.end());
    auto repeated = std::adjacent_find(columns.begin(), columns.end());
    if (repeated != columns.end()) {
      error = "expects each block column once in a block row, but got column " +
              std::to_string(*repeated) + " twice in row " + std::to_string(flat % grid_.rows);
      return false;
    }
  }
  return true;
}

Pattern Pattern::transposed(std::vector<std::vector<int64_t>> *oldValues) const {
  Pattern result;
  result.block_ = {block_.cols, block_.rows};
  result.grid_ = {grid_.heads, grid_.cols, grid_.rows};
  result.batches_ = batches_;
  result.valueBlocks_ = valueBlocks_;
  if (oldValues)
    oldValues->assign(batches_, std::vector<int64_t>(valueBlocks_, -1));
  for (int64_t batch = 0; batch < batches_; ++batch)
    for (int64_t head = 0; head < grid_.heads; ++head) {
      std::span<const Entry> own = entries(batch, head);
      std::vector<Entry> sorted(own.begin(), own.end());
      // Value blocks ascend in the order of the entries, which breaks ties.
      std::sort(sorted.begin(), sorted.end(), [](const Entry &a, const Entry &b) {
        return std::tie(a.col, a.row, a.value) < std::tie(b.col, b.row, b.value);
      });
      int64_t value = own.empty() ? 0 : own.front().value;
      size_t next = 0;
      for (int64_t row = 0; row < result.grid_.rows; ++row) {
        for (; next < sorted.size() && sorted[next].col == row; ++next) {
          if (oldValues)
            (*oldValues)[batch][value] = sorted[next].value;
          result.entries_.push_back({row, sorted[next].row, value++});
        }
        result.offsets_.push_back(result.entries_.size());
      }
    }
  return result;
}
