// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The happens-before model of a cluster's shared memory. Docs: docs/Developer/Simulator.md.
//
// Agents are what performs operations one after another: a warp; the `cp.async`, the bulk stores
// and the `wgmma` of a warp, whose times are numbers of commit groups; and an mbarrier, whose times
// are numbers of phases and which stands for the bulk loads that complete it. Two accesses of the
// same word, one of which writes, must be ordered by barriers, mbarriers and waits.

#ifndef BLOCKSPARSE_LIB_SIMULATOR_JUDGE_H
#define BLOCKSPARSE_LIB_SIMULATOR_JUDGE_H

#include "Knowledge.h"

#include <map>
#include <string>
#include <unordered_map>

namespace blocksparse::sim {

class Cta;
class Grid;
class Warp;

/// A warp has these queues of asynchronous operations.
enum class Queue : unsigned { Copies, BulkStores, Products, count };

class Judge {
public:
  Judge(const Grid &grid, unsigned ctas, unsigned warpsPerCta);

  /// Describes who performs an access.
  struct Actor {
    unsigned agent = 0;
    uint32_t time = 0;
    bool isAsync = false; // in the async proxy
  };
  Actor generic(const Warp &warp) const;
  /// Returns the actor of the group of asynchronous operations that `warp` has open.
  Actor queued(const Warp &warp, Queue queue) const;
  /// Returns the actor of a bulk load that completes at the mbarrier at `offset` of a CTA.
  Actor bulkLoad(unsigned rank, uint64_t offset);

  /// Checks and records an access of `bytes` bytes at `offset` of the shared memory of CTA `rank`.
  /// Returns false after it has reported a fault.
  bool read(Warp &warp, unsigned rank, uint64_t offset, uint64_t bytes, const Actor &actor);
  bool write(Warp &warp, unsigned rank, uint64_t offset, uint64_t bytes, const Actor &actor);

  /// Passes what the warp knows to those who will acquire from the barrier, and begins the warp's
  /// next time. Accesses of this time are not passed on while lanes that do not take part have
  /// accessed shared memory since all lanes met last.
  void release(const Warp &warp, BarrierKnowledge &barrier);
  void acquire(const Warp &warp, const BarrierKnowledge &barrier);
  /// Makes the accesses of each lane happen before what other lanes do: all lanes of the warp have
  /// met at an instruction that needs them together.
  void meet(const Warp &warp) { accessed[agentOf(warp)] = 0; }
  /// Performs `fence.proxy.async`.
  void fenceProxies(const Warp &warp);

  /// commit ends the open group of a queue; finish records that all but `pending` groups are done.
  void commit(const Warp &warp, Queue queue);
  void finish(const Warp &warp, Queue queue, uint32_t pending);
  uint32_t committed(const Warp &warp, Queue queue) const;
  uint32_t finished(const Warp &warp, Queue queue) const;

  void initialiseBarrier(const Warp &warp, unsigned rank, uint64_t offset);
  /// Checks that the initialisation of the mbarrier happened before its use by `warp`, and for the
  /// async proxy that a fence followed it.
  bool useBarrier(Warp &warp, unsigned rank, uint64_t offset, bool isAsync);
  void arriveAtBarrier(const Warp &warp, unsigned rank, uint64_t offset);
  void completePhase(unsigned rank, uint64_t offset);
  /// Makes the warp know that the last phase has completed. Reports a phase that it skipped.
  bool passBarrier(Warp &warp, unsigned rank, uint64_t offset);

  /// While paused, accesses are neither checked nor recorded: an asynchronous operation, which was
  /// judged when it began, is being performed.
  bool paused = false;

private:
  struct Event {
    unsigned agent;
    uint32_t time;
    uint32_t position; // of the instruction
    uint16_t rank, warp;
    bool isAsync, isPartial, writes;
  };
  /// Holds the last write of a word and the reads since then. An event is named by its index; a
  /// number with the top bit names a set of events.
  struct Word {
    uint32_t write = 0, reads = 0;
  };
  struct Barrier {
    BarrierKnowledge knowledge;
    unsigned agent = 0;
    uint32_t phases = 0; // that completed
    Event initialised{};
  };
  static constexpr uint32_t setBit = 1u << 31;

  unsigned agentOf(const Warp &warp) const;
  unsigned agentOf(const Warp &warp, Queue queue) const;
  Barrier &barrierAt(unsigned rank, uint64_t offset);
  uint32_t record(const Warp &warp, const Actor &actor, bool isPartial, bool writes);
  uint32_t extend(uint32_t reads, uint32_t event);
  bool isOrdered(const Warp &warp, const Event &before, bool isAsync) const;
  bool checkReads(Warp &warp, uint64_t offset, uint32_t reads, const Actor &actor, bool isPartial);
  void report(Warp &warp, uint64_t offset, const Event &before, bool isAsync, bool writes);
  void compact();

  const Grid &grid;
  const unsigned warpsPerCta, warpCount;
  unsigned nextAgent;
  std::vector<Knowledge> known;   // of each warp
  std::vector<uint32_t> accessed; // the lanes that accessed shared memory since all lanes met
  struct QueueState {
    uint32_t committed = 0, finished = 0;
  };
  std::vector<QueueState> queues;
  std::vector<std::vector<Word>> words; // of each CTA
  std::vector<Event> events;
  std::vector<uint32_t> lastEvent; // of each agent
  std::vector<std::vector<uint32_t>> sets;
  std::unordered_map<uint64_t, uint32_t> extended;
  std::map<uint64_t, Barrier> barriers;
  /// The phases of mbarriers that each warp passed last.
  std::map<std::pair<unsigned, unsigned>, uint32_t> passed;
};

} // namespace blocksparse::sim

#endif // BLOCKSPARSE_LIB_SIMULATOR_JUDGE_H
