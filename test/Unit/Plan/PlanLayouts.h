// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TEST_UNIT_PLAN_PLANLAYOUTS_H
#define BLOCKSPARSE_TEST_UNIT_PLAN_PLANLAYOUTS_H

#include "../Layout/DenseMask.h"

namespace blocksparse::test {

inline BlockLayout layoutOf(const DenseMask &mask, BlockShape block = {16, 16}) {
  std::string error;
  return BlockLayout::fromMask(block, mask.grid, mask.bytes, error).value();
}

inline BlockLayout layoutOf(const std::vector<std::string> &rows) {
  return layoutOf(maskFromText(rows));
}

/// Returns layouts whose rows have very different lengths; some have no block or no row.
inline std::vector<BlockLayout> randomLayouts() {
  std::vector<BlockLayout> layouts;
  uint64_t seed = 0;
  for (BlockGrid grid :
       {BlockGrid{1, 1, 1}, {1, 4, 4}, {3, 5, 9}, {2, 17, 3}, {1, 0, 4}, {1, 4, 0}, {4, 33, 31}})
    for (int repeat = 0; repeat < 5; ++repeat)
      layouts.push_back(layoutOf(randomMask(grid, ++seed)));
  return layouts;
}

/// Returns case C02: a packer that joined its neighbouring blocks would invent block (0, 0).
inline BlockLayout layoutC02() { return layoutOf({"01111", "11111", "11111", "11011"}); }

/// Returns case C04: the second head has no block.
inline BlockLayout layoutC04() {
  DenseMask mask({2, 1, 1});
  mask.at(0, 0, 0) = 1;
  return layoutOf(mask);
}

/// Returns 16 heads of 1024 x 1024 blocks, of which about one in ten is stored: 1 to 19 columns lie
/// between neighbours. It visits the stored blocks alone, because tests are not optimised.
inline BlockLayout largeLayout() {
  const BlockGrid grid{16, 1024, 1024};
  std::vector<int32_t> offsets{0}, cols;
  for (int64_t head = 0; head < grid.heads; ++head)
    for (int64_t row = 0; row < grid.rows; ++row) {
      const CounterRandom random(7, head, row);
      for (int64_t block = 0, col = random.below(0, 19); col < grid.cols;
           col += 1 + random.below(++block, 19))
        cols.push_back(static_cast<int32_t>(col));
      offsets.push_back(static_cast<int32_t>(cols.size()));
    }
  std::string error;
  return BlockLayout::fromCsr({16, 16}, grid, std::move(offsets), std::move(cols), error).value();
}

} // namespace blocksparse::test

#endif // BLOCKSPARSE_TEST_UNIT_PLAN_PLANLAYOUTS_H
