// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Judge.h"

#include "Grid.h"

#include <cstdio>

using namespace blocksparse::sim;

static constexpr unsigned queueCount = static_cast<unsigned>(Queue::count);
/// Events are thinned out when there are more than this.
static constexpr size_t maxEvents = size_t(1) << 21;

Judge::Judge(const Grid &grid, unsigned ctas, unsigned warpsPerCta)
    : grid(grid), warpsPerCta(warpsPerCta), warpCount(ctas * warpsPerCta),
      nextAgent(warpCount * (1 + queueCount)), known(warpCount), accessed(warpCount),
      queues(warpCount * queueCount), words(ctas), events(1), sets(1) {
  for (std::vector<Word> &ofCta : words)
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

uint32_t Judge::record(const Warp &warp, const Actor &actor, bool isPartial, bool writes) {
  uint32_t position = static_cast<uint32_t>(warp.current - grid.kernel.ops.data());
  if (actor.agent >= lastEvent.size())
    lastEvent.resize(actor.agent + 1);
  const Event &last = events[lastEvent[actor.agent]];
  if (lastEvent[actor.agent] && last.time == actor.time && last.position == position &&
      last.isPartial == isPartial && last.writes == writes)
    return lastEvent[actor.agent];
  events.push_back({actor.agent, actor.time, position, static_cast<uint16_t>(warp.cta.rank),
                    static_cast<uint16_t>(warp.index), actor.isAsync, isPartial, writes});
  return lastEvent[actor.agent] = static_cast<uint32_t>(events.size() - 1);
}

/// Returns the reads with one more; it takes the place of an earlier one of its agent.
uint32_t Judge::extend(uint32_t reads, uint32_t event) {
  if (!reads || reads == event)
    return event;
  auto [place, isNew] = extended.try_emplace(uint64_t(reads) << 32 | event, 0);
  if (!isNew)
    return place->second;
  std::vector<uint32_t> members;
  if (reads & setBit)
    members = sets[reads & ~setBit];
  else
    members = {reads};
  std::erase_if(members,
                [&](uint32_t other) { return events[other].agent == events[event].agent; });
  members.push_back(event);
  if (members.size() == 1)
    return place->second = event;
  sets.push_back(std::move(members));
  return place->second = static_cast<uint32_t>(sets.size() - 1) | setBit;
}

/// Removes the events that no word refers to.
void Judge::compact() {
  std::vector<Event> kept(1);
  std::vector<std::vector<uint32_t>> keptSets(1);
  std::unordered_map<uint32_t, uint32_t> moved;
  auto keep = [&](uint32_t event) {
    if (!event)
      return event;
    auto [place, isNew] = moved.try_emplace(event, static_cast<uint32_t>(kept.size()));
    if (isNew)
      kept.push_back(events[event]);
    return place->second;
  };
  for (std::vector<Word> &ofCta : words)
    for (Word &word : ofCta) {
      word.write = keep(word.write);
      if (!(word.reads & setBit)) {
        word.reads = keep(word.reads);
        continue;
      }
      auto [place, isNew] =
          moved.try_emplace(word.reads, static_cast<uint32_t>(keptSets.size()) | setBit);
      if (isNew) {
        keptSets.emplace_back();
        for (uint32_t event : sets[word.reads & ~setBit])
          keptSets.back().push_back(keep(event));
      }
      word.reads = place->second;
    }
  events = std::move(kept);
  sets = std::move(keptSets);
  extended.clear();
  lastEvent.clear();
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

bool Judge::isOrdered(const Warp &warp, const Event &before, bool isAsync) const {
  const Knowledge &knows = known[agentOf(warp)];
  bool crosses = isAsync && !before.isAsync && before.writes;
  return (crosses ? knows.fenced : knows.happened).get(before.agent) >= before.time;
}

void Judge::report(Warp &warp, uint64_t offset, const Event &before, bool isAsync, bool writes) {
  std::string earlier = std::string(before.writes ? "the write" : "the read") + " of " +
                        grid.describeInstruction(before.position) + " by warp " +
                        std::to_string(before.warp);
  if (before.rank != warp.cta.rank)
    earlier += " of the CTA of rank " + std::to_string(before.rank);
  std::string later = std::string(writes ? "this write" : "this read") + " at shared address " +
                      hexadecimal(offset + sharedBase);
  std::string wanted;
  if (known[agentOf(warp)].happened.get(before.agent) >= before.time)
    wanted = "fence.proxy.async";
  else if (before.agent < warpCount)
    wanted = "a barrier";
  else if (before.agent >= warpCount * (1 + queueCount))
    wanted = "a wait for the mbarrier of the bulk copy";
  else
    switch (static_cast<Queue>((before.agent - warpCount) % queueCount)) {
    case Queue::Copies:
      wanted = "cp.async.wait_group";
      break;
    case Queue::BulkStores:
      wanted = "cp.async.bulk.wait_group";
      break;
    default:
      wanted = "wgmma.wait_group";
    }
  if (before.agent >= warpCount && before.agent < warpCount * (1 + queueCount) &&
      before.agent != agentOf(warp, static_cast<Queue>((before.agent - warpCount) % queueCount)))
    wanted += " there and a barrier";
  warp.fault("expects " + wanted + " between " + earlier + " and " + later +
             (isAsync ? " by the async proxy" : "") + ", but got none");
}

bool Judge::checkReads(Warp &warp, uint64_t offset, uint32_t reads, const Actor &actor,
                       bool isPartial) {
  const uint32_t *first = &reads, *last = first + 1;
  if (reads & setBit) {
    first = sets[reads & ~setBit].data();
    last = first + sets[reads & ~setBit].size();
  }
  for (; first != last; ++first) {
    const Event &event = events[*first];
    if (isOrdered(warp, event, actor.isAsync) || (isPartial && event.isPartial))
      continue;
    report(warp, offset, event, actor.isAsync, /*writes=*/true);
    return false;
  }
  return true;
}

bool Judge::read(Warp &warp, unsigned rank, uint64_t offset, uint64_t bytes, const Actor &actor) {
  if (paused)
    return true;
  if (events.size() + sets.size() > maxEvents)
    compact();
  bool isPartial = bytes < 4;
  if (actor.agent < warpCount)
    accessed[actor.agent] |= warp.active;
  uint32_t event = record(warp, actor, isPartial, /*writes=*/false);
  uint32_t ordered = 0, from = 0, to = event;
  Word *word = words[rank].data() + offset / 4;
  Word *end = words[rank].data() + (offset + bytes + 3) / 4;
  for (; word != end; ++word) {
    if (word->write != ordered) {
      const Event &before = events[word->write];
      if (!isOrdered(warp, before, actor.isAsync) && !(isPartial && before.isPartial)) {
        report(warp, 4 * static_cast<uint64_t>(word - words[rank].data()), before, actor.isAsync,
               /*writes=*/false);
        return false;
      }
      ordered = word->write;
    }
    if (word->reads != from) {
      from = word->reads;
      to = extend(from, event);
    }
    word->reads = to;
  }
  return true;
}

bool Judge::write(Warp &warp, unsigned rank, uint64_t offset, uint64_t bytes, const Actor &actor) {
  if (paused)
    return true;
  if (events.size() + sets.size() > maxEvents)
    compact();
  bool isPartial = bytes < 4;
  if (actor.agent < warpCount)
    accessed[actor.agent] |= warp.active;
  uint32_t event = record(warp, actor, isPartial, /*writes=*/true);
  uint32_t ordered = 0, orderedReads = 0;
  Word *word = words[rank].data() + offset / 4;
  Word *end = words[rank].data() + (offset + bytes + 3) / 4;
  for (; word != end; ++word) {
    uint64_t at = 4 * static_cast<uint64_t>(word - words[rank].data());
    if (word->write != ordered) {
      const Event &before = events[word->write];
      if (!isOrdered(warp, before, actor.isAsync) && !(isPartial && before.isPartial)) {
        report(warp, at, before, actor.isAsync, /*writes=*/true);
        return false;
      }
      ordered = word->write;
    }
    if (word->reads != orderedReads) {
      if (!checkReads(warp, at, word->reads, actor, isPartial))
        return false;
      orderedReads = word->reads;
    }
    word->write = event;
    word->reads = 0;
  }
  return true;
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

void Judge::fenceProxies(const Warp &warp) {
  unsigned agent = agentOf(warp);
  Knowledge &knows = known[agent];
  knows.fenced.join(knows.happened);
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
                                         true};
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
