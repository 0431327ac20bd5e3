// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The happens-before model of global memory: of the warps of a launch, and of launches that may
// run at the same time. Docs: docs/Developer/Simulator.md.

#ifndef BLOCKSPARSE_LIB_SIMULATOR_GLOBALJUDGE_H
#define BLOCKSPARSE_LIB_SIMULATOR_GLOBALJUDGE_H

#include "AccessHistory.h"
#include "Judge.h"

#include <functional>

namespace blocksparse::sim {

/// Holds the accesses of an allocation in words of 16 bytes, or of as many fewer as the narrowest
/// access that it has seen, so that neighbours in memory are told apart exactly.
struct Shadow {
  /// Splits words until an access whose address or size is `bits` is one of whole words; forgets
  /// what was before `generation`.
  void prepare(uint32_t generation, uint64_t bytes, uint64_t bits);

  std::vector<AccessedWord> words;
  unsigned shift = 4;
  uint32_t generation = 0;
};

class GlobalJudge {
public:
  /// Earlier work has ended, is a launch that may run until `griddepcontrol.wait`, or may run at
  /// any time, because it is of another stream.
  enum class WorkState : uint8_t { Ended, UntilWait, Concurrent };
  using StateOfWork = std::function<WorkState(uint32_t work)>;
  /// Begins a launch. Where `state` is empty, earlier work is forgotten.
  void begin(uint32_t launch, StateOfWork state);

  /// Describes an access of global memory.
  struct Access {
    uint64_t address, bytes;
    bool writes, isStrong;
    Judge::Actor actor;
  };
  /// Checks and records an access within an allocation that begins at `begin` and has `size` bytes.
  /// Returns false after it has reported a fault.
  bool check(Warp &warp, Judge &judge, Shadow &shadow, uint64_t begin, uint64_t size,
             const Access &access);

  /// Checks and records an access of copies and fills. Returns "", or what is wrong.
  std::string checkWork(Shadow &shadow, uint64_t begin, uint64_t size, uint64_t address,
                        uint64_t bytes, bool writes, uint32_t work, const StateOfWork &state);
  /// Returns "", or what is wrong where work frees an allocation.
  std::string checkFree(const Shadow &shadow, const StateOfWork &state) const;

  /// Passes knowledge through the variable at `address` that a strong access reads or writes.
  void synchronise(const Warp &warp, Judge &judge, uint64_t address, uint8_t order, bool reads,
                   bool writes);

  bool needsRoom() const { return history.isFull(); }
  /// Removes the events that no word refers to.
  template <typename ForEachShadow>
  void makeRoom(ForEachShadow forEachShadow) {
    history.compact([&](auto visit) {
      forEachShadow([&](Shadow &shadow) {
        if (shadow.generation == generation)
          for (AccessedWord &word : shadow.words)
            visit(word);
      });
    });
  }

private:
  struct Event {
    uint32_t launch = 0, cluster = 0, agent = 0, time = 0;
    uint32_t position = 0; // of the instruction
    uint16_t rank = 0, warp = 0;
    bool isAsync = false, isStrong = false, writes = false;
  };
  uint32_t record(const Warp &warp, Judge &judge, const Access &access);
  bool isOrdered(const Warp &warp, const Judge &judge, const Event &before,
                 const Access &access) const;
  /// Like isOrdered(), but two strong accesses are told apart, too.
  bool happenedBefore(const Warp &warp, const Judge &judge, const Event &before,
                      const Access &access) const;
  void report(Warp &warp, const Judge &judge, const Event &before, const Access &access,
              uint64_t address) const;

  AccessHistory<Event> history;
  /// Returns whether the event is none, or of work that has ended.
  static bool hasEnded(const Event &event, const StateOfWork &state) {
    return !event.launch || state(event.launch) != WorkState::Concurrent;
  }
  WorkState stateOf(const Event &event) const {
    return stateOfWork ? stateOfWork(event.launch) : WorkState::Ended;
  }

  uint32_t generation = 1, launch = 0;
  StateOfWork stateOfWork;
  std::map<uint64_t, RemoteClock> variables; // by address
};

} // namespace blocksparse::sim

#endif // BLOCKSPARSE_LIB_SIMULATOR_GLOBALJUDGE_H
