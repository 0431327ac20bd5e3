// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The history knows which events accessed each word of a memory last: its last write and the reads
// since then. Writes that need no order among each other, such as atomic ones, are kept together.
// The caller decides whether one event happens before another.

#ifndef BLOCKSPARSE_LIB_SIMULATOR_ACCESSHISTORY_H
#define BLOCKSPARSE_LIB_SIMULATOR_ACCESSHISTORY_H

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace blocksparse::sim {

/// Holds the last writes of a word and the reads since then. An event is named by its number; a
/// number with the top bit names a set of events; 0 is none.
struct AccessedWord {
  uint32_t write = 0, reads = 0;
};

/// Holds the last events of agents, so that an instruction of a loop is one event until the time of
/// its agent changes.
class RecentEvents {
public:
  /// Returns the place of an agent's event at an instruction, 0 at first in each epoch of the
  /// history. Instructions that are far apart may share a place.
  uint32_t &at(unsigned agent, uint32_t position, uint32_t historyEpoch) {
    if (epoch != historyEpoch)
      events.clear();
    epoch = historyEpoch;
    size_t place = size_t(agent) * places + position % places;
    if (place >= events.size())
      events.resize((agent + 1) * places);
    return events[place];
  }

private:
  static constexpr size_t places = 32;
  std::vector<uint32_t> events;
  uint32_t epoch = 0;
};

template <typename Event>
class AccessHistory {
public:
  AccessHistory() : events(1), sets(1) {}

  /// Returns the number of a new event.
  uint32_t add(const Event &event) {
    events.push_back(event);
    return static_cast<uint32_t>(events.size() - 1);
  }
  const Event &operator[](uint32_t number) const { return events[number]; }

  /// Removes every event. The caller clears every word.
  void clear() {
    events.assign(1, Event());
    sets.assign(1, {});
    forgetSets();
  }

  /// Adds `event` to the reads of the words from `first` to `last`. Returns the write that
  /// `isOrdered(event)` refuses, and in `first` the word of that; nullptr if there is none.
  /// `prune(members, event)` removes the reads that the new one makes superfluous.
  template <typename IsOrdered, typename Prune>
  const Event *read(AccessedWord *&first, AccessedWord *last, uint32_t event, IsOrdered isOrdered,
                    Prune prune) {
    uint32_t ordered = 0, from = 0, to = event;
    for (; first != last; ++first) {
      if (first->write != ordered) {
        if (const Event *refused = findRefused(first->write, isOrdered))
          return refused;
        ordered = first->write;
      }
      if (first->reads != from) {
        from = first->reads;
        to = extend(from, event, prune);
      }
      first->reads = to;
    }
    return nullptr;
  }

  /// Makes `event` the last write of the words, and returns the access that `isOrdered` refuses.
  template <typename IsOrdered>
  const Event *write(AccessedWord *&first, AccessedWord *last, uint32_t event,
                     IsOrdered isOrdered) {
    uint32_t ordered = 0, orderedReads = 0;
    for (; first != last; ++first) {
      if (const Event *refused = checkWrite(*first, ordered, orderedReads, isOrdered))
        return refused;
      *first = {event, 0};
    }
    return nullptr;
  }

  /// Adds `event` to the last writes of the words, because it need not come after those, and
  /// returns the access that `isOrdered` refuses.
  template <typename IsOrdered, typename Prune>
  const Event *addWrite(AccessedWord *&first, AccessedWord *last, uint32_t event,
                        IsOrdered isOrdered, Prune prune) {
    uint32_t ordered = 0, orderedReads = 0;
    for (; first != last; ++first) {
      if (const Event *refused = checkWrite(*first, ordered, orderedReads, isOrdered))
        return refused;
      first->write = extend(first->write, event, prune);
    }
    return nullptr;
  }

  /// Returns an access of the word that `isOrdered` refuses, or nullptr.
  template <typename IsOrdered>
  const Event *findUnordered(const AccessedWord &word, IsOrdered isOrdered) const {
    uint32_t writes = 0, reads = 0;
    return checkWrite(word, writes, reads, isOrdered);
  }

  bool isFull() const { return events.size() + sets.size() > limit; }

  /// Removes the events that no word refers to. `forEachWord(visit)` calls visit(word) for all.
  template <typename ForEachWord>
  void compact(ForEachWord forEachWord) {
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
    auto keepAll = [&](uint32_t number) {
      if (!(number & setBit))
        return keep(number);
      auto [place, isNew] =
          moved.try_emplace(number, static_cast<uint32_t>(keptSets.size()) | setBit);
      // keep() may move what `place` refers to.
      uint32_t result = place->second;
      if (isNew) {
        std::vector<uint32_t> members;
        for (uint32_t event : sets[number & ~setBit])
          members.push_back(keep(event));
        keptSets.push_back(std::move(members));
      }
      return result;
    };
    forEachWord([&](AccessedWord &word) {
      word.write = keepAll(word.write);
      word.reads = keepAll(word.reads);
    });
    events = std::move(kept);
    sets = std::move(keptSets);
    forgetSets();
    // The events and sets that words still refer to stay, so the limit leaves room for as many
    // again.
    limit = std::max(limit, 2 * (events.size() + sets.size()));
  }

  /// Counts how often the numbers of events have changed.
  uint32_t epoch = 0;

private:
  static constexpr uint32_t setBit = 1u << 31;

  /// Returns an event of `number` that `isOrdered` refuses, or nullptr.
  template <typename IsOrdered>
  const Event *findRefused(uint32_t number, IsOrdered isOrdered) const {
    const uint32_t *member = &number, *end = member + 1;
    if (number & setBit) {
      const std::vector<uint32_t> &members = sets[number & ~setBit];
      member = members.data();
      end = member + members.size();
    }
    for (; member != end; ++member)
      if (!isOrdered(events[*member]))
        return &events[*member];
    return nullptr;
  }

  /// Checks a write of a word. `writes` and `reads` are those of the word before, which were found
  /// in order.
  template <typename IsOrdered>
  const Event *checkWrite(const AccessedWord &word, uint32_t &writes, uint32_t &reads,
                          IsOrdered isOrdered) const {
    const Event *refused = nullptr;
    if (word.write != writes)
      refused = findRefused(writes = word.write, isOrdered);
    if (!refused && word.reads != reads)
      refused = findRefused(reads = word.reads, isOrdered);
    return refused;
  }

  /// Clears what is known of sets whose numbers change.
  void forgetSets() {
    extended.clear();
    std::fill(std::begin(recent), std::end(recent), Extension());
    ++epoch;
  }

  /// Returns the reads with one more. Most accesses of a warp find what one of its last ones found.
  template <typename Prune>
  uint32_t extend(uint32_t reads, uint32_t event, Prune prune) {
    if (!reads || reads == event)
      return event;
    uint64_t key = uint64_t(reads) << 32 | event;
    Extension &last = recent[(key * 0x9e3779b97f4a7c15ull) >> 55];
    if (last.key != key)
      last = {key, lookUpExtension(reads, event, prune)};
    return last.reads;
  }

  template <typename Prune>
  uint32_t lookUpExtension(uint32_t reads, uint32_t event, Prune prune) {
    // The new event is the last member of a set.
    if (reads & setBit && sets[reads & ~setBit].back() == event)
      return reads;
    auto [place, isNew] = extended.try_emplace(uint64_t(reads) << 32 | event, 0);
    if (!isNew)
      return place->second;
    std::vector<uint32_t> members;
    if (reads & setBit)
      members = sets[reads & ~setBit];
    else
      members = {reads};
    prune(members, event);
    members.push_back(event);
    if (members.size() == 1)
      return place->second = event;
    sets.push_back(std::move(members));
    return place->second = static_cast<uint32_t>(sets.size() - 1) | setBit;
  }

  struct Extension {
    uint64_t key = 0;
    uint32_t reads = 0;
  };
  static constexpr size_t recentCount = 512;

  size_t limit = size_t(1) << 21;
  std::vector<Event> events;
  std::vector<std::vector<uint32_t>> sets;
  std::unordered_map<uint64_t, uint32_t> extended;
  Extension recent[recentCount];
};

} // namespace blocksparse::sim

#endif // BLOCKSPARSE_LIB_SIMULATOR_ACCESSHISTORY_H
