// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Layout/Coalesce.h"

#include <algorithm>
#include <bit>

using namespace blocksparse;

namespace {

int64_t ceilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

bool checkFactors(const BlockLayout &layout, int64_t rows, int64_t cols, std::string &error) {
  const std::string got = ", but got " + std::to_string(rows) + " x " + std::to_string(cols);
  if (rows < 1 || cols < 1) {
    error = "expects positive super-block factors" + got;
    return false;
  }
  if (rows > 64 || cols > 64 || rows * cols > 64) {
    error = "expects a super-block of at most 64 blocks" + got;
    return false;
  }
  int64_t product;
  if (__builtin_mul_overflow(layout.block().rows, rows, &product) ||
      __builtin_mul_overflow(layout.block().cols, cols, &product)) {
    error = "expects the super-block's shape to fit in 64 bits, but got a block "
            "of " +
            std::to_string(layout.block().rows) + " x " + std::to_string(layout.block().cols) +
            " and factors " + std::to_string(rows) + " x " + std::to_string(cols);
    return false;
  }
  return true;
}

/// Fills a CoalescedLayout super-row by super-row.
class Coalescer {
public:
  Coalescer(const BlockLayout &source, CoalescedLayout &result)
      : source_(source), result_(result),
        superGrid_{source.grid().heads, ceilDiv(source.grid().rows, result.factorRows),
                   ceilDiv(source.grid().cols, result.factorCols)},
        slotOfCol_(superGrid_.cols) {
    result_.values.resize(source.nnz());
    result_.valueOffsets.push_back(0);
  }

  bool run(std::string &error) {
    for (int64_t head = 0; head < superGrid_.heads; ++head)
      for (int64_t superRow = 0; superRow < superGrid_.rows; ++superRow)
        addSuperRow(head, superRow);
    const BlockShape block = {source_.block().rows * result_.factorRows,
                              source_.block().cols * result_.factorCols};
    auto layout =
        BlockLayout::fromCsr(block, superGrid_, std::move(offsets_), std::move(cols_), error);
    if (layout)
      result_.layout = std::move(*layout);
    return layout.has_value();
  }

private:
  /// Calls `visit(col, bit, value)` for each block of the super-row.
  template <typename Visit>
  void forEachBlock(int64_t head, int64_t superRow, Visit visit) const {
    const int64_t first = superRow * result_.factorRows;
    const int64_t count = std::min(result_.factorRows, source_.grid().rows - first);
    const int64_t flatRow = head * source_.grid().rows + first;
    const auto offsets = source_.rowOffsets();
    const auto cols = source_.colIndices();
    for (int64_t i = 0; i < count; ++i) {
      for (int32_t p = offsets[flatRow + i]; p < offsets[flatRow + i + 1]; ++p) {
        const int64_t superCol = cols[p] / result_.factorCols;
        const int64_t j = cols[p] - superCol * result_.factorCols;
        visit(superCol, i * result_.factorCols + j, p);
      }
    }
  }

  void addSuperRow(int64_t head, int64_t superRow) {
    const size_t first = cols_.size();
    // A mask of 0 marks a super-column without a block so far; the masks of
    // this super-row wait in slotOfCol_ until its columns are sorted.
    forEachBlock(head, superRow, [&](int64_t col, int64_t bit, int32_t) {
      if (slotOfCol_[col].mask == 0)
        cols_.push_back(static_cast<int32_t>(col));
      slotOfCol_[col].mask |= uint64_t{1} << bit;
    });
    std::sort(cols_.begin() + first, cols_.end());
    for (size_t s = first; s < cols_.size(); ++s) {
      Slot &slot = slotOfCol_[cols_[s]];
      slot.firstValue = result_.valueOffsets.back();
      result_.masks.push_back(slot.mask);
      result_.valueOffsets.push_back(slot.firstValue + std::popcount(slot.mask));
    }
    forEachBlock(head, superRow, [&](int64_t col, int64_t bit, int32_t value) {
      const Slot &slot = slotOfCol_[col];
      const uint64_t below = slot.mask & ((uint64_t{1} << bit) - 1);
      result_.values[slot.firstValue + std::popcount(below)] = value;
    });
    for (size_t s = first; s < cols_.size(); ++s)
      slotOfCol_[cols_[s]].mask = 0;
    offsets_.push_back(static_cast<int32_t>(cols_.size()));
  }

  struct Slot {
    uint64_t mask = 0;
    int32_t firstValue = 0;
  };

  const BlockLayout &source_;
  CoalescedLayout &result_;
  BlockGrid superGrid_;
  std::vector<Slot> slotOfCol_;
  std::vector<int32_t> offsets_{0}, cols_;
};

} // namespace

uint64_t CoalescedLayout::fullMask() const {
  const int64_t count = factorRows * factorCols;
  return count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
}

double CoalescedLayout::fill() const {
  if (masks.empty())
    return 0;
  return static_cast<double>(values.size()) /
         (static_cast<double>(masks.size()) * factorRows * factorCols);
}

std::optional<CoalescedLayout> blocksparse::coalesceLayout(const BlockLayout &layout,
                                                           int64_t factorRows, int64_t factorCols,
                                                           std::string &error) {
  if (!checkFactors(layout, factorRows, factorCols, error))
    return std::nullopt;
  CoalescedLayout result;
  result.factorRows = factorRows;
  result.factorCols = factorCols;
  if (!Coalescer(layout, result).run(error))
    return std::nullopt;
  return result;
}
