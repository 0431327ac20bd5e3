// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Dense masks, the model that layouts and patterns are tested against.

#ifndef BLOCKSPARSE_TEST_UNIT_LAYOUT_DENSEMASK_H
#define BLOCKSPARSE_TEST_UNIT_LAYOUT_DENSEMASK_H

#include "blocksparse/Layout/BlockLayout.h"
#include "blocksparse/Layout/CounterRandom.h"

#include <functional>
#include <string>
#include <vector>

namespace blocksparse::test {

/// Holds one byte for each block of a grid, 1 if it is stored: the model that layout queries are
/// tested against.
struct DenseMask {
  BlockGrid grid;
  std::vector<uint8_t> bytes;

  explicit DenseMask(BlockGrid grid) : grid(grid), bytes(grid.heads * grid.rows * grid.cols, 0) {}

  uint8_t &at(int64_t head, int64_t row, int64_t col) {
    return bytes[(head * grid.rows + row) * grid.cols + col];
  }
  uint8_t at(int64_t head, int64_t row, int64_t col) const {
    return bytes[(head * grid.rows + row) * grid.cols + col];
  }
  bool operator==(const DenseMask &) const = default;
};

/// Returns the mask of the blocks for which `stored` returns true.
inline DenseMask maskOf(BlockGrid grid,
                        const std::function<bool(int64_t head, int64_t row, int64_t col)> &stored) {
  DenseMask mask(grid);
  for (int64_t head = 0; head < grid.heads; ++head)
    for (int64_t row = 0; row < grid.rows; ++row)
      for (int64_t col = 0; col < grid.cols; ++col)
        mask.at(head, row, col) = stored(head, row, col) ? 1 : 0;
  return mask;
}

/// Returns the layout's mask, computed from its CSR arrays alone.
inline DenseMask maskOf(const BlockLayout &layout) {
  DenseMask mask(layout.grid());
  for (int64_t r = 0; r < layout.grid().heads * layout.grid().rows; ++r)
    for (int32_t p = layout.rowOffsets()[r]; p < layout.rowOffsets()[r + 1]; ++p)
      mask.bytes[r * layout.grid().cols + layout.colIndices()[p]] = 1;
  return mask;
}

/// Returns a mask whose rows have very different numbers of blocks, some of them 0.
inline DenseMask randomMask(BlockGrid grid, uint64_t seed) {
  return maskOf(grid, [&](int64_t head, int64_t row, int64_t col) {
    const CounterRandom random(seed, head, row);
    const uint64_t tenths = random.below(0, 11);
    return random.below(1 + col, 10) < tenths;
  });
}

/// Returns a mask of one head from rows of '1' and '0'.
inline DenseMask maskFromText(const std::vector<std::string> &rows) {
  return maskOf({1, static_cast<int64_t>(rows.size()), static_cast<int64_t>(rows.at(0).size())},
                [&](int64_t, int64_t row, int64_t col) { return rows[row][col] == '1'; });
}

/// Returns rows of '1' and '0', for readable failures.
inline std::vector<std::string> textOf(const DenseMask &mask) {
  std::vector<std::string> rows;
  for (int64_t r = 0; r < mask.grid.heads * mask.grid.rows; ++r) {
    rows.emplace_back();
    for (int64_t col = 0; col < mask.grid.cols; ++col)
      rows.back() += mask.bytes[r * mask.grid.cols + col] ? '1' : '0';
  }
  return rows;
}

} // namespace blocksparse::test

#endif // BLOCKSPARSE_TEST_UNIT_LAYOUT_DENSEMASK_H
