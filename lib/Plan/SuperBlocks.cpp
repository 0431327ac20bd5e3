// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/SuperBlocks.h"
#include "blocksparse/Layout/Coalesce.h"

#include <algorithm>
#include <cstdlib>

using namespace blocksparse;

namespace {

struct Factors {
  int64_t rows, cols;
  int64_t area() const { return rows * cols; }
};

/// Returns true if the counts alone allow every super-block to be full. The check of the blocks
/// themselves costs O(nnz).
bool mayBeFull(const BlockLayout &layout, Factors factors) {
  return layout.grid().rows % factors.rows == 0 && layout.grid().cols % factors.cols == 0 &&
         layout.nnz() % factors.area() == 0;
}

/// Returns the candidates in descending order of their area; of equal areas the squarer one comes
/// first.
std::vector<Factors> candidates(const BlockLayout &layout, int64_t maxBlock) {
  constexpr int64_t maxArea = 64; // bits of a super-block's mask
  std::vector<Factors> list;
  for (int64_t rows = 1; rows * layout.block().rows <= maxBlock && rows <= maxArea; rows *= 2)
    for (int64_t cols = 1; cols * layout.block().cols <= maxBlock && rows * cols <= maxArea;
         cols *= 2)
      if (rows * cols > 1 && mayBeFull(layout, {rows, cols}))
        list.push_back({rows, cols});
  auto skew = [&](Factors f) {
    return std::abs(f.rows * layout.block().rows - f.cols * layout.block().cols);
  };
  std::sort(list.begin(), list.end(), [&](Factors a, Factors b) {
    return a.area() != b.area() ? a.area() > b.area() : skew(a) < skew(b);
  });
  return list;
}

} // namespace

std::optional<BlockLayout> blocksparse::fullSuperBlocks(const BlockLayout &layout,
                                                        int64_t maxBlock) {
  if (layout.nnz() == 0)
    return std::nullopt;
  for (const Factors &factors : candidates(layout, maxBlock)) {
    std::string error;
    std::optional<CoalescedLayout> coalesced =
        coalesceLayout(layout, factors.rows, factors.cols, error);
    if (coalesced && coalesced->layout.nnz() * factors.area() == layout.nnz())
      return std::move(coalesced->layout);
  }
  return std::nullopt;
}
