// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Judge.h"

#include "Grid.h"

#include <cstdio>

using namespace blocksparse::sim;

static constexpr unsigned queueCount = static_cast<unsigned>(Queue::count);

Judge::Judge(const Grid &grid, unsigned ctas, unsigned warpsPerCta)
    : grid(grid), warpsPerCta(warpsPerCta), warpCount(ctas * warpsPerCta),
      nextAgent(warpCount * (1 + queueCount)), known(warpCount), accessed(warpCount),
      queues(warpCount * queueCount), words(ctas), gridAgent(nextAgent++) {
  for (std::vector<AccessedWord> &ofCta : words)
    ofCta.resize((grid.sharedBytes() + 3) / 4);
  for (unsigned warp = 0; warp < warpCount; ++warp)
    known[warp].happened.raise(warp, 1);
}

unsigned Judge::agentOf(const Warp &warp) const { return warp.cta.rank * warpsPerCta + warp.index; }

unsigned Judge::agentOf(const Warp &warp, Queue queue) const {
  return warpCount + agentOf(warp) * queueCount + static_cast<unsigned>(queue);
}

Judge::Actor Judge::generic(const Warp &warp) const {
  unsigned agent = agentOf(warp);
  return {agent, known[agent].happened.get(agent), false};
}

Judge::Actor Judge::queued(const Warp &warp, Queue queue) const {
  // `cp.async` belongs to the generic proxy (PTX ISA, "Async proxy").
  return {agentOf(warp, queue), committed(warp, queue) + 1, queue != Queue::Copies};
}

Judge::Actor Judge::bulkLoad(unsigned rank, uint64_t offset) {
  const Barrier &barrier = barrierAt(rank, offset);
  return {barrier.agent, barrier.phases + 1, true};
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

uint32_t Judge::record(const Warp &warp, const Actor &actor, bool isPartial, Kind kind) {
  uint32_t position = static_cast<uint32_t>(warp.current - grid.kernel.ops.data());
  uint32_t &number = sharedEvents.at(actor.agent, position, history.epoch);
  const Event &last = history[number];
  if (number && last.time == actor.time && last.position == position &&
      last.isPartial == isPartial && last.kind == kind)
    return number;
  return number =
             history.add({actor.agent, actor.time, position, static_cast<uint16_t>(warp.cta.rank),
                          static_cast<uint16_t>(warp.index), actor.isAsync, isPartial, kind});
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

bool Judge::knows(const Warp &warp, unsigned agent, uint32_t time, Seen seen) const {
  const Knowledge &knowledge = known[agentOf(warp)];
  const VectorClock &clock = seen == Seen::Generic ? knowledge.happened
                             : seen == Seen::Async ? knowledge.fenced
                                                   : knowledge.fencedGlobal;
  return clock.get(agent) >= time;
}

bool Judge::isOrdered(const Warp &warp, const Event &before, bool isAsync) const {
  bool crosses = isAsync && !before.isAsync && before.writes();
  return knows(warp, before.agent, before.time, crosses ? Seen::Async : Seen::Generic);
}

std::string Judge::missingOrder(const Warp &warp, unsigned agent, uint32_t time) const {
  if (knows(warp, agent, time, Seen::Generic))
    return "fence.proxy.async";
  if (agent < warpCount)
    return "a barrier";
  if (agent >= warpCount * (1 + queueCount))
    return "a wait for the mbarrier of the bulk copy";
  Queue queue = static_cast<Queue>((agent - warpCount) % queueCount);
  std::string wanted;
  switch (queue) {
  case Queue::Copies:
    wanted = "cp.async.wait_group";
    break;
  case Queue::BulkStores:
  case Queue::BulkWrites:
    wanted = "cp.async.bulk.wait_group";
    break;
  default:
    wanted = "wgmma.wait_group";
  }
  return agent == agentOf(warp, queue) ? wanted : wanted + " there and a barrier";
}

void Judge::report(Warp &warp, uint64_t offset, const Event &before, bool isAsync, bool writes) {
  std::string earlier = std::string(before.writes() ? "the write" : "the read") + " of " +
                        grid.describeInstruction(before.position) + " by warp " +
                        std::to_string(before.warp);
  if (before.rank != warp.cta.rank)
    earlier += " of the CTA of rank " + std::to_string(before.rank);
  std::string later = std::string(writes ? "this write" : "this read") + " at shared address " +
                      hexadecimal(offset + sharedBase);
  warp.fault("expects " + missingOrder(warp, before.agent, before.time) + " between " + earlier +
             " and " + later + (isAsync ? " by the async proxy" : "") + ", but got none");
}

bool Judge::check(Warp &warp, unsigned rank, uint64_t offset, uint64_t bytes, const Actor &actor,
                  Kind kind) {
  if (paused)
    return true;
  if (history.isFull())
    history.compact([&](auto visit) {
      for (std::vector<AccessedWord> &ofCta : words)
        for (AccessedWord &word : ofCta)
          visit(word);
    });
  bool isPartial = bytes < 4;
  if (actor.agent < warpCount)
    accessed[actor.agent] |= warp.active;
  uint32_t event = record(warp, actor, isPartial, kind);
  AccessedWord *word = words[rank].data() + offset / 4;
  AccessedWord *end = words[rank].data() + (offset + bytes + 3) / 4;
  auto ordered = [&](const Event &before) {
    return isOrdered(warp, before, actor.isAsync) || (isPartial && before.isPartial) ||
           (kind == Kind::Update && before.kind == Kind::Update);
  };
  // A read, or an update, takes the place of an earlier one of its agent.
  auto prune = [&](std::vector<uint32_t> &members, uint32_t added) {
    std::erase_if(members, [&](uint32_t other) {
      return history[other].agent == history[added].agent &&
             history[other].kind == history[added].kind;
    });
  };
  const Event *before = kind == Kind::Read    ? history.read(word, end, event, ordered, prune)
                        : kind == Kind::Write ? history.write(word, end, event, ordered)
                                              : history.addWrite(word, end, event, ordered, prune);
  if (!before)
    return true;
  report(warp, 4 * static_cast<uint64_t>(word - words[rank].data()), *before, actor.isAsync,
         kind != Kind::Read);
  return false;
}

bool Judge::read(Warp &warp, unsigned rank, uint64_t offset, uint64_t bytes, const Actor &actor) {
  return check(warp, rank, offset, bytes, actor, Kind::Read);
}

bool Judge::write(Warp &warp, unsigned rank, uint64_t offset, uint64_t bytes, const Actor &actor) {
  return check(warp, rank, offset, bytes, actor, Kind::Write);
}

bool Judge::update(Warp &warp, unsigned rank, uint64_t offset, uint64_t bytes, const Actor &actor) {
  return check(warp, rank, offset, bytes, actor, Kind::Update);
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

void Judge::release(const Warp &warp, BarrierKnowledge &barrier) {
  unsigned agent = agentOf(warp);
  Knowledge &knows = known[agent];
  if (accessed[agent] & warp.live & ~warp.active) {
    Knowledge passed = knows;
    passed.happened.lower(agent, knows.happened.get(agent) - 1);
    barrier.arriving.join(passed);
  } else {
    barrier.arriving.join(knows);
  }
  knows.happened.raise(agent, knows.happened.get(agent) + 1);
}

void Judge::acquire(const Warp &warp, const BarrierKnowledge &barrier) {
  known[agentOf(warp)].join(barrier.completed);
}

void Judge::fenceProxies(const Warp &warp, bool shared, bool global) {
  unsigned agent = agentOf(warp);
  Knowledge &knows = known[agent];
  if (shared)
    knows.fenced.join(knows.happened);
  if (global)
    knows.fencedGlobal.join(knows.happened);
  knows.happened.raise(agent, knows.happened.get(agent) + 1);
}

uint32_t Judge::committed(const Warp &warp, Queue queue) const {
  return queues[agentOf(warp, queue) - warpCount].committed;
}

uint32_t Judge::finished(const Warp &warp, Queue queue) const {
  return queues[agentOf(warp, queue) - warpCount].finished;
}

void Judge::commit(const Warp &warp, Queue queue) {
  ++queues[agentOf(warp, queue) - warpCount].committed;
}

void Judge::finish(const Warp &warp, Queue queue, uint32_t pending) {
  QueueState &state = queues[agentOf(warp, queue) - warpCount];
  if (state.committed <= pending)
    return;
  state.finished = std::max(state.finished, state.committed - pending);
  known[agentOf(warp)].happened.raise(agentOf(warp, queue), state.finished);
}

void Judge::waitForGrids(const Warp &warp) { known[agentOf(warp)].happened.raise(gridAgent, 1); }

bool Judge::knowsGrids(const Warp &warp) const { return knows(warp, gridAgent, 1, Seen::Generic); }

//===----------------------------------------------------------------------===//
// Order through global memory
//===----------------------------------------------------------------------===//

void Judge::exportKnowledge(const Warp &warp, RemoteClock &clock) const {
  const Knowledge &knowledge = known[agentOf(warp)];
  clock.join(knowledge.remote);
  ClusterName own{grid.options.launch, warp.cta.cluster.index};
  for (unsigned agent = 0; agent < knowledge.happened.size(); ++agent)
    clock.raise(own, agent, knowledge.happened.get(agent));
}

void Judge::acquireRemote(const Warp &warp, const RemoteClock &variable, bool atOnce) {
  if (!atOnce) {
    if (!variable.getTimes().empty())
      fencedClocks[agentOf(warp)].acquired.join(variable);
    return;
  }
  Knowledge &knowledge = known[agentOf(warp)];
  ClusterName own{grid.options.launch, warp.cta.cluster.index};
  for (const auto &[name, time] : variable.getTimes())
    if (name.first == own)
      knowledge.happened.raise(name.second, time);
    else
      knowledge.remote.raise(name.first, name.second, time);
}

void Judge::releaseRemote(const Warp &warp, RemoteClock &variable, bool allOfNow) {
  unsigned agent = agentOf(warp);
  if (allOfNow) {
    exportKnowledge(warp, variable);
    known[agent].happened.raise(agent, known[agent].happened.get(agent) + 1);
  } else if (auto found = fencedClocks.find(agent); found != fencedClocks.end()) {
    variable.join(found->second.released);
  }
}

void Judge::fenceRemote(const Warp &warp) {
  unsigned agent = agentOf(warp);
  FencedClocks &clocks = fencedClocks[agent];
  acquireRemote(warp, clocks.acquired, /*atOnce=*/true);
  clocks.acquired.clear();
  clocks.released.clear();
  exportKnowledge(warp, clocks.released);
  known[agent].happened.raise(agent, known[agent].happened.get(agent) + 1);
}

//===----------------------------------------------------------------------===//
// Mbarriers
//===----------------------------------------------------------------------===//

Judge::Barrier &Judge::barrierAt(unsigned rank, uint64_t offset) {
  Barrier &barrier = barriers[uint64_t(rank) << 32 | offset];
  if (!barrier.agent)
    barrier.agent = nextAgent++;
  return barrier;
}

void Judge::initialiseBarrier(const Warp &warp, unsigned rank, uint64_t offset) {
  Actor actor = generic(warp);
  uint32_t position = static_cast<uint32_t>(warp.current - grid.kernel.ops.data());
  barrierAt(rank, offset).initialised = {actor.agent,
                                         actor.time,
                                         position,
                                         static_cast<uint16_t>(warp.cta.rank),
                                         static_cast<uint16_t>(warp.index),
                                         false,
                                         false,
                                         Kind::Write};
}

bool Judge::useBarrier(Warp &warp, unsigned rank, uint64_t offset, bool isAsync) {
  const Event &initialised = barrierAt(rank, offset).initialised;
  if (paused || !initialised.time || isOrdered(warp, initialised, isAsync))
    return true;
  bool happened = known[agentOf(warp)].happened.get(initialised.agent) >= initialised.time;
  warp.fault(std::string("expects ") +
             (happened ? "fence.mbarrier_init or fence.proxy.async" : "a barrier") +
             " between the initialisation of the mbarrier at shared address " +
             hexadecimal(offset + sharedBase) + " by " +
             grid.describeInstruction(initialised.position) + " of warp " +
             std::to_string(initialised.warp) + " and this use, but got none");
  return false;
}

void Judge::arriveAtBarrier(const Warp &warp, unsigned rank, uint64_t offset) {
  release(warp, barrierAt(rank, offset).knowledge);
}

void Judge::completePhase(unsigned rank, uint64_t offset) {
  Barrier &barrier = barrierAt(rank, offset);
  ++barrier.phases;
  barrier.knowledge.complete();
  barrier.knowledge.completed.happened.raise(barrier.agent, barrier.phases);
}

bool Judge::passBarrier(Warp &warp, unsigned rank, uint64_t offset) {
  Barrier &barrier = barrierAt(rank, offset);
  acquire(warp, barrier.knowledge);
  auto [place, isNew] = passed.try_emplace({agentOf(warp), barrier.agent}, barrier.phases);
  if (!isNew && barrier.phases > place->second + 1) {
    warp.fault("expects to see the end of phase " + std::to_string(place->second + 1) +
               " of the mbarrier at shared address " + hexadecimal(offset + sharedBase) +
               ", but got that of phase " + std::to_string(barrier.phases));
    return false;
  }
  place->second = barrier.phases;
  return true;
}
