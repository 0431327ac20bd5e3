// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report of a deadlock: what every warp waits for.

#include "Barriers.h"
#include "Grid.h"
#include "MbarrierOps.h"

#include <cstdio>

using namespace blocksparse::sim;

static std::string mask(uint32_t lanes) {
  char text[16];
  std::snprintf(text, sizeof(text), "%08x", lanes);
  return text;
}

std::string Grid::describeWait(const Warp &warp, const LaneGroup &group) const {
  const Op &op = kernel.ops[group.position];
  std::string text = "warp " + std::to_string(warp.index) + " lanes " + mask(group.lanes) + " at " +
                     describeInstruction(group.position);
  unsigned lane = static_cast<unsigned>(__builtin_ctz(group.lanes));
  uint32_t members = warp.convergingLanes(op, lane);
  if (op.converges && members & ~group.lanes)
    return text + " (expects lanes " + mask(members) + " together)";
  std::string state = describeMbarrierWait(warp, op, lane);
  if (state.empty())
    state = describeBarrierWait(warp, op, lane);
  return state.empty() ? text : text + " (" + state + ")";
}

void Grid::reportDeadlock(const std::vector<std::unique_ptr<Cluster>> &resident) {
  faulty = true;
  message = "kernel '" + kernel.function->name + "': deadlock, every warp waits";
  int reported = 0;
  for (const auto &cluster : resident)
    for (const auto &cta : cluster->ctas) {
      if (cta->hasEnded() || ++reported > 4)
        continue;
      message += "; CTA " + triple(cta->id);
      for (const auto &warp : cta->warps)
        for (const LaneGroup &group : warp->getGroups())
          message += ", " + describeWait(*warp, group);
    }
  if (reported > 4)
    message += "; and " + std::to_string(reported - 4) + " more CTAs";
}
