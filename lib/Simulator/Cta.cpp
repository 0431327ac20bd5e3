// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Cta.h"

#include "Grid.h"

#include <algorithm>

using namespace blocksparse::sim;

Cta::Cta(Grid &grid, Cluster &cluster, unsigned rank, const uint32_t (&id)[3])
    : grid(grid), cluster(cluster), rank(rank), id{id[0], id[1], id[2]} {
  uint64_t bytes = grid.sharedBytes();
  // Fresh shared memory holds NaN in every float type.
  shared.assign(bytes, 0xff);
  sharedWritten.assign(bytes, 0);
  unsigned threads = grid.threadsPerCta();
  for (unsigned first = 0; first < threads; first += laneCount) {
    unsigned count = std::min(laneCount, threads - first);
    uint32_t lanes = count == laneCount ? allLanes : (1u << count) - 1;
    warps.push_back(std::make_unique<Warp>(*this, first / laneCount, lanes));
  }
}

uint64_t Cta::run(uint64_t slice) {
  uint64_t executed = 0;
  size_t count = warps.size();
  size_t first = grid.seed ? grid.random() % count : 0;
  for (size_t i = 0; i < count && !grid.hasFault(); ++i) {
    Warp &warp = *warps[(first + i) % count];
    if (!warp.hasEnded())
      executed += warp.run(grid.seed ? 1 + grid.random() % slice : slice);
  }
  // The copy engine works while warps wait, and at random times where a seed is given.
  while (!pendingBulk.empty() && !grid.hasFault() &&
         (!executed || !grid.seed || grid.random() % 2)) {
    size_t chosen = grid.seed ? grid.random() % pendingBulk.size() : 0;
    std::function<void()> copy = std::move(pendingBulk[chosen]);
    pendingBulk.erase(pendingBulk.begin() + static_cast<ptrdiff_t>(chosen));
    copy();
    ++executed;
  }
  return executed;
}

bool Cta::hasEnded() const {
  return pendingBulk.empty() &&
         std::all_of(warps.begin(), warps.end(), [](const auto &warp) { return warp->hasEnded(); });
}

unsigned Cta::liveThreads() const {
  unsigned threads = 0;
  for (const auto &warp : warps)
    if (!warp->hasEnded())
      threads += laneCount;
  return threads;
}

bool Cluster::hasEnded() const {
  return std::all_of(ctas.begin(), ctas.end(), [](const auto &cta) { return cta->hasEnded(); });
}
