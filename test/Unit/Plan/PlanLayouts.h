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

/// Returns 16 heads of 1024 x 1024 blocks, of which one in ten is stored.
inline BlockLayout largeLayout() {
  const BlockGrid grid{16, 1024, 1024};
  return layoutOf(maskOf(grid, [](int64_t head, int64_t row, int64_t col) {
    return CounterRandom(7, head, row).below(col, 10) == 0;
  }));
}

} // namespace blocksparse::test

#endif // BLOCKSPARSE_TEST_UNIT_PLAN_PLANLAYOUTS_H
