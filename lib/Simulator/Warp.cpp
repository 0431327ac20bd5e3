// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Warp.h"

#include "Cta.h"
#include "Grid.h"

#include <algorithm>
#include <cstring>

using namespace blocksparse::sim;

/// A group runs at most this long before another group of its warp gets a turn, so that lanes that
/// poll cannot starve the lanes they wait for.
static constexpr uint64_t groupSlice = 4096;

Warp::Warp(Cta &cta, unsigned index, uint32_t lanes) : cta(cta), index(index), live(lanes) {
  const Kernel &kernel = cta.grid.kernel;
  // Vectors of lanes are aligned to 64 bytes.
  size_t words = kernel.function->registerFileBytes / 8 + 16;
  file.assign(words, 0);
  uintptr_t start = reinterpret_cast<uintptr_t>(file.data());
  registers = reinterpret_cast<uint8_t *>((start + 63) / 64 * 64);
  constants = reinterpret_cast<const uint8_t *>(kernel.constants.data());
  groups.reserve(laneCount + 1);
  if (kernel.usesProducts && cta.grid.options.checkRaces)
    productJudge = std::make_unique<ProductJudge>(kernel);
  registerCount = cta.grid.registersPerThread();
  if (!kernel.ops.empty())
    groups.push_back({0, lanes, 0, false});
}

void Warp::fault(const std::string &message) { cta.grid.fault(*this, message); }

LaneGroup *Warp::select() {
  // Groups at the same instruction become one, unless one of them is half-way through it.
  for (size_t i = 0; i + 1 < groups.size(); ++i)
    for (size_t j = i + 1; j < groups.size();)
      if (groups[j].position == groups[i].position && !groups[i].memory && !groups[j].memory) {
        groups[i].lanes |= groups[j].lanes;
        groups[i].blocked = false;
        groups.erase(groups.begin() + j);
      } else {
        ++j;
      }
  LaneGroup *lowest = nullptr;
  for (LaneGroup &candidate : groups)
    if (!candidate.blocked && (!lowest || candidate.position < lowest->position))
      lowest = &candidate;
  return lowest;
}

uint32_t Warp::lowestOther(const LaneGroup &selected) const {
  uint32_t lowest = UINT32_MAX;
  for (const LaneGroup &other : groups)
    if (&other != &selected)
      lowest = std::min(lowest, other.position);
  return lowest;
}

bool Warp::branch(const Op &op) {
  if (active == group->lanes) {
    group->position = op.target;
    return groups.size() > 1;
  }
  LaneGroup taken{op.target, active, 0, false};
  group->lanes &= ~active;
  ++group->position;
  groups.push_back(taken);
  return true;
}

void Warp::end() {
  live &= ~active;
  if (live)
    return;
  auto count = [](const auto &open, const auto &groups) {
    size_t operations = open.size();
    for (const auto &waiting : groups)
      operations += waiting.size();
    return operations;
  };
  if (size_t stores = count(openBulk, bulkGroups))
    fault("expects cp.async.bulk.wait_group before the end of the warp, but got " +
          std::to_string(stores) + " bulk stores under way");
  if (size_t products = count(openWgmma, wgmmaGroups))
    fault("expects wgmma.wait_group before the end of the warp, but got " +
          std::to_string(products) + " wgmma under way");
}

uint64_t Warp::run(uint64_t budget) {
  for (LaneGroup &waiting : groups)
    waiting.blocked = false;
  uint64_t executed = 0;
  size_t rotation = 0;
  while (executed < budget && !cta.grid.hasFault()) {
    group = select();
    if (!group)
      break;
    uint32_t meet = lowestOther(*group);
    // Every groupSlice instructions another group is preferred over the lowest.
    if (executed / groupSlice != rotation && groups.size() > 1) {
      rotation = executed / groupSlice;
      LaneGroup &other = groups[rotation % groups.size()];
      if (!other.blocked && &other != group) {
        group = &other;
        meet = UINT32_MAX;
      }
    }
    executed += runGroup(*group, std::min(budget - executed, groupSlice), meet);
  }
  return executed;
}

uint64_t Warp::runGroup(LaneGroup &selected, uint64_t budget, uint32_t meet) {
  const Op *ops = cta.grid.kernel.ops.data();
  uint64_t *counts = cta.grid.counters.instructions;
  uint64_t executed = 0;
  while (executed < budget) {
    const Op &op = ops[selected.position];
    current = &op;
    active = selected.lanes;
    if (op.guard >= 0) {
      uint32_t guard = predicate(static_cast<Slot>(op.guard));
      active &= op.guardNegated ? ~guard : guard;
    }
    ++executed;
    ++counts[static_cast<size_t>(op.opClass)];
    if (op.flow == Flow::Branch) {
      if (!active)
        ++selected.position;
      else if (branch(op))
        return executed;
    } else if (!active) {
      ++selected.position;
    } else if (op.flow == Flow::Exit) {
      end();
      selected.lanes &= ~active;
      ++selected.position;
      if (!selected.lanes)
        groups.erase(groups.begin() + (&selected - groups.data()));
      return executed;
    } else {
      if (op.converges &&
          convergingLanes(op, static_cast<unsigned>(__builtin_ctz(active))) & ~active) {
        selected.blocked = true;
        return executed - 1;
      }
      if (op.isBarrier && op.converges && active == live && cta.cluster.judge)
        cta.cluster.judge->meet(*this);
      if (op.touchesProducts && productJudge && !productJudge->access(*this, op))
        return executed;
      if (op.flow == Flow::Plain) {
        op.run(*this, op);
      } else if (!op.tryRun(*this, op)) {
        selected.blocked = true;
        return executed - 1;
      }
      selected.memory = 0;
      ++selected.position;
      if (cta.grid.hasFault())
        return executed;
    }
    if (selected.position >= meet)
      return executed;
  }
  return executed;
}
