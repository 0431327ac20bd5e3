// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GlobalJudge.h"

#include "Grid.h"

using namespace blocksparse::sim;

void Shadow::prepare(uint32_t wanted, uint64_t bytes, uint64_t bits) {
  if (generation != wanted) {
    generation = wanted;
    shift = 4;
    words.assign((bytes >> shift) + 1, {});
  }
  unsigned needed = bits ? static_cast<unsigned>(__builtin_ctzll(bits)) : shift;
  if (needed >= shift)
    return;
  // Each part of a word has been accessed by what accessed the word.
  std::vector<AccessedWord> finer((bytes >> needed) + 1);
  for (size_t i = 0; i < finer.size(); ++i)
    finer[i] = words[i >> (shift - needed)];
  words = std::move(finer);
  shift = needed;
}

void GlobalJudge::begin(uint32_t number, StateOfWork state) {
  launch = number;
  stateOfWork = std::move(state);
  if (stateOfWork)
    return;
  ++generation;
  history.clear();
  variables.clear();
}

uint32_t GlobalJudge::record(const Warp &warp, Judge &judge, const Access &access) {
  uint32_t position = static_cast<uint32_t>(warp.current - warp.cta.grid.kernel.ops.data());
  uint32_t &last = judge.globalEvents.at(access.actor.agent, position, history.epoch);
  const Event &before = history[last];
  if (last && before.time == access.actor.time && before.position == position &&
      before.writes == access.writes && before.isStrong == access.isStrong)
    return last;
  return last = history.add({launch, warp.cta.cluster.index, access.actor.agent, access.actor.time,
                             position, static_cast<uint16_t>(warp.cta.rank),
                             static_cast<uint16_t>(warp.index), access.actor.isAsync,
                             access.isStrong, access.writes});
}

bool GlobalJudge::isOrdered(const Warp &warp, const Judge &judge, const Event &before,
                            const Access &access) const {
  // The numbers of launches begin at 1: this is no event.
  return !before.launch || (before.isStrong && access.isStrong) ||
         happenedBefore(warp, judge, before, access);
}

bool GlobalJudge::happenedBefore(const Warp &warp, const Judge &judge, const Event &before,
                                 const Access &access) const {
  if (before.launch != launch) {
    WorkState state = stateOf(before);
    return state == WorkState::Ended || (state == WorkState::UntilWait && judge.knowsGrids(warp)) ||
           judge.knowsRemote(warp, {before.launch, before.cluster}, before.agent, before.time);
  }
  if (before.cluster != warp.cta.cluster.index)
    return judge.knowsRemote(warp, {before.launch, before.cluster}, before.agent, before.time);
  bool crosses = access.actor.isAsync && !before.isAsync && before.writes;
  return judge.knows(warp, before.agent, before.time, crosses ? Seen::GlobalAsync : Seen::Generic);
}

/// Returns "expects ... and this write".
static std::string describeConcurrent(bool hasWritten, uint32_t distance, bool writes) {
  return std::string("expects an event or a synchronisation between the ") +
         (hasWritten ? "write" : "read") + " of the work " + std::to_string(distance) +
         " before this one, on another stream, and this " + (writes ? "write" : "read");
}

void GlobalJudge::report(Warp &warp, const Judge &judge, const Event &before, const Access &access,
                         uint64_t address) const {
  std::string place = "at global address " + hexadecimal(address);
  if (before.launch != launch && stateOf(before) == WorkState::Concurrent) {
    warp.fault(describeConcurrent(before.writes, launch - before.launch, access.writes) + " " +
               place + ", but got none");
    return;
  }
  if (before.launch != launch) {
    warp.fault("expects griddepcontrol.wait before this " +
               std::string(access.writes ? "write" : "read") + " " + place + ", which the launch " +
               std::to_string(launch - before.launch) + " before this one has " +
               (before.writes ? "written" : "read") + ", but got none");
    return;
  }
  bool isNear = before.cluster == warp.cta.cluster.index;
  std::string wanted = isNear ? judge.missingOrder(warp, before.agent, before.time)
                              : "a release and an acquire at the scope of the GPU";
  const Grid &grid = warp.cta.grid;
  std::string earlier = std::string(before.writes ? "the write" : "the read") + " of " +
                        grid.describeInstruction(before.position) + " by warp " +
                        std::to_string(before.warp);
  if (!isNear || before.rank != warp.cta.rank)
    earlier += " of CTA " + triple(grid.indexOf(before.cluster, before.rank).cta);
  warp.fault("expects " + wanted + " between " + earlier + " and this " +
             (access.writes ? "write " : "read ") + place +
             (access.actor.isAsync ? " by the async proxy" : "") + ", but got none");
}

bool GlobalJudge::check(Warp &warp, Judge &judge, Shadow &shadow, uint64_t begin, uint64_t size,
                        const Access &access) {
  if (!access.bytes)
    return true;
  uint64_t offset = access.address - begin;
  shadow.prepare(generation, size, offset | access.bytes);
  uint32_t event = record(warp, judge, access);
  AccessedWord *word = shadow.words.data() + (offset >> shadow.shift);
  AccessedWord *end = shadow.words.data() + ((offset + access.bytes) >> shadow.shift);
  auto ordered = [&](const Event &before) { return isOrdered(warp, judge, before, access); };
  // The set has no need of what happened before this access, unless that is weak and races with
  // strong accesses. Of others it keeps one of another cluster and one of another launch for each
  // strength. What this cluster does races with every such access or with none, unless one alone is
  // ordered through global memory.
  auto prune = [&](std::vector<uint32_t> &members, uint32_t added) {
    const Event &event = history[added];
    bool hasOther[2] = {}, hasOlder[2] = {};
    std::erase_if(members, [&](uint32_t number) {
      const Event &other = history[number];
      if (other.isStrong >= event.isStrong && happenedBefore(warp, judge, other, access))
        return true;
      if (other.launch != event.launch)
        return std::exchange(hasOlder[other.isStrong], true);
      if (other.cluster != event.cluster)
        return std::exchange(hasOther[other.isStrong], true);
      return other.agent == event.agent && other.isStrong == event.isStrong;
    });
  };
  // Strong writes need no order among each other, but what follows must be ordered after each.
  const Event *before = !access.writes    ? history.read(word, end, event, ordered, prune)
                        : access.isStrong ? history.addWrite(word, end, event, ordered, prune)
                                          : history.write(word, end, event, ordered);
  if (!before)
    return true;
  report(warp, judge, *before, access,
         begin + (static_cast<uint64_t>(word - shadow.words.data()) << shadow.shift));
  return false;
}

std::string GlobalJudge::checkWork(Shadow &shadow, uint64_t begin, uint64_t size, uint64_t address,
                                   uint64_t bytes, bool writes, uint32_t work,
                                   const StateOfWork &state) {
  if (!bytes)
    return "";
  uint64_t offset = address - begin;
  shadow.prepare(generation, size, offset | bytes);
  uint32_t event = history.add({work, 0, 0, 1, 0, 0, 0, false, false, writes});
  AccessedWord *word = shadow.words.data() + (offset >> shadow.shift);
  AccessedWord *end = shadow.words.data() + ((offset + bytes) >> shadow.shift);
  auto ordered = [&](const Event &before) { return hasEnded(before, state); };
  auto prune = [&](std::vector<uint32_t> &members, uint32_t) {
    std::erase_if(members, [&](uint32_t number) { return ordered(history[number]); });
  };
  const Event *before = writes ? history.write(word, end, event, ordered)
                               : history.read(word, end, event, ordered, prune);
  return before ? describeConcurrent(before->writes, work - before->launch, writes) +
                      " at global address " +
                      hexadecimal(begin + (static_cast<uint64_t>(word - shadow.words.data())
                                           << shadow.shift)) +
                      ", but got none"
                : "";
}

std::string GlobalJudge::checkFree(const Shadow &shadow, const StateOfWork &state) const {
  if (shadow.generation != generation)
    return "";
  auto ordered = [&](const Event &before) { return hasEnded(before, state); };
  for (const AccessedWord &word : shadow.words)
    if (const Event *before = history.findUnordered(word, ordered))
      return std::string("expects an event or a synchronisation between the ") +
             (before->writes ? "write" : "read") +
             " of work on another stream and the end of its memory, but got none";
  return "";
}

void GlobalJudge::synchronise(const Warp &warp, Judge &judge, uint64_t address, uint8_t order,
                              bool reads, bool writes) {
  RemoteClock &variable = variables[address];
  if (reads)
    judge.acquireRemote(warp, variable, order & Op::acquires);
  if (!writes)
    return;
  // A store ends the sequence of releases, which reads and writes in one continue (PTX ISA, "Memory
  // Consistency Model: Release and Acquire Patterns").
  if (!reads)
    variable.clear();
  judge.releaseRemote(warp, variable, order & Op::releases);
}
