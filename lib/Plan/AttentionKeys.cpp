// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AttentionKeys.h"

using namespace blocksparse;

/// Bits of a warp in AttentionSlices::taken.
static constexpr int64_t bitsOfWarp = AttentionSlices::count;
static constexpr int64_t warps = attentionRows / AttentionSlices::rowsOfWarp;

void AttentionKeys::collect(int64_t head, int64_t row, std::vector<int32_t> &keys,
                            int64_t count) const {
  keys.clear();
  if (row < 0)
    return;
  const BlockShape block = problem.layout.block();
  const int64_t end = std::min(row + count, queries());
  for (int64_t query = row; query < end; query += unit)
    for (const int32_t col : problem.layout.row(head, query / block.rows))
      for (int64_t key = col * block.cols; key < (col + 1) * block.cols; key += unit)
        if (getAllowedPart(problem, query, key, unit) != AllowedPart::None)
          keys.push_back(static_cast<int32_t>(key));
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
}

int32_t AttentionKeys::takenOf(int64_t row, int64_t key, int64_t half) const {
  const int32_t taken = bitOfHalf(half);
  switch (getAllowedPart(problem, row, key)) {
  case AllowedPart::None:
    return 0;
  case AllowedPart::Some:
    return taken | AttentionStep::Elements;
  case AllowedPart::All:
    return taken;
  }
  return 0;
}

uint32_t AttentionKeys::warpsThatTake(int64_t head, int64_t row, int64_t key, bool &cut) const {
  const BlockShape block = problem.layout.block();
  uint32_t taken = 0;
  for (int64_t warp = 0; warp < warps; ++warp) {
    const int64_t query = row + warp * AttentionSlices::rowsOfWarp;
    if (query >= queries() || !problem.layout.contains(head, query / block.rows, key / block.cols))
      continue;
    const AllowedPart part = getAllowedPart(problem, query, key, unit);
    if (part == AllowedPart::None)
      continue;
    cut |= part == AllowedPart::Some;
    taken |= uint32_t{1} << (warp * bitsOfWarp);
  }
  return taken;
}

std::optional<BlockLayout> AttentionKeys::joinRows(std::string &error) const {
  const BlockGrid grid = problem.layout.grid();
  std::vector<int32_t> offsets{0}, cols, keys;
  for (int64_t head = 0; head < grid.heads; ++head)
    for (int64_t slab = 0; slab < slabs(); ++slab) {
      collect(head, slab * attentionRows, keys);
      for (const int32_t key : keys)
        cols.push_back(static_cast<int32_t>(key / unit));
      offsets.push_back(static_cast<int32_t>(cols.size()));
    }
  return BlockLayout::fromCsr({attentionRows, unit},
                              {grid.heads, slabs(), grid.cols * problem.layout.block().cols / unit},
                              std::move(offsets), std::move(cols), error);
}
