// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The happens-before model of a cluster: what each warp knows to have happened, and the accesses of
// shared memory. GlobalJudge has those of global memory. Docs: docs/Developer/Simulator.md.
//
// Agents are what performs operations one after another: a warp; the `cp.async`, the bulk stores
// (as readers of shared and as writers of global memory) and the `wgmma` of a warp, whose times are
// numbers of commit groups; an mbarrier, whose times are numbers of phases and which stands for the
// bulk loads that complete it; and the launches before this one, all at time 1. Two accesses of the
// same word, one of which writes, must be ordered by barriers, mbarriers and waits.

#ifndef BLOCKSPARSE_LIB_SIMULATOR_JUDGE_H
#define BLOCKSPARSE_LIB_SIMULATOR_JUDGE_H

#include "AccessHistory.h"
#include "Knowledge.h"

#include <map>
#include <string>

namespace blocksparse::sim {

class Cta;
class Grid;
class Warp;

/// A warp has these queues of asynchronous operations.
enum class Queue : unsigned { Copies, BulkStores, BulkWrites, Products, count };

/// An operation is seen by the proxy in which it was made, and by the async proxy after a proxy
/// fence.
enum class Seen : uint8_t { Generic, Async, GlobalAsync };

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
  /// Atomic updates need no order among each other. Returns false after it has reported a fault.
  bool read(Warp &warp, unsigned rank, uint64_t offset, uint64_t bytes, const Actor &actor);
  bool write(Warp &warp, unsigned rank, uint64_t offset, uint64_t bytes, const Actor &actor);
  bool update(Warp &warp, unsigned rank, uint64_t offset, uint64_t bytes, const Actor &actor);

  /// Passes what the warp knows to those who will acquire from the barrier, and begins the warp's
  /// next time. Accesses of this time are not passed on while lanes that do not take part have
  /// accessed shared memory since all lanes met at a barrier.
  void release(const Warp &warp, BarrierKnowledge &barrier);
  void acquire(const Warp &warp, const BarrierKnowledge &barrier);
  /// Makes the accesses of each lane happen before what other lanes do: all lanes of the warp have
  /// met at a barrier.
  void meet(const Warp &warp) { accessed[agentOf(warp)] = 0; }
  /// Performs `fence.proxy.async` for shared memory, for global memory or for both.
  void fenceProxies(const Warp &warp, bool shared, bool global);

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

  /// Returns whether the warp knows that an agent's time has happened, and that it is seen.
  bool knows(const Warp &warp, unsigned agent, uint32_t time, Seen seen) const;
  /// Returns what would order an operation of an agent of this cluster before what the warp does.
  std::string missingOrder(const Warp &warp, unsigned agent, uint32_t time) const;

  /// Performs `griddepcontrol.wait`, and returns whether the warp knows of one.
  void waitForGrids(const Warp &warp);
  bool knowsGrids(const Warp &warp) const;

  /// Returns whether the warp knows of an agent's time in another cluster.
  bool knowsRemote(const Warp &warp, ClusterName cluster, unsigned agent, uint32_t time) const {
    return known[agentOf(warp)].remote.get(cluster, agent) >= time;
  }
  /// Takes what was released to a variable of global memory, at once or at the warp's next fence.
  void acquireRemote(const Warp &warp, const RemoteClock &variable, bool atOnce);
  /// Adds to a variable what the warp knows now, or what it knew at its last fence.
  void releaseRemote(const Warp &warp, RemoteClock &variable, bool allOfNow);
  /// Performs a fence at the scope of the GPU.
  void fenceRemote(const Warp &warp);

  /// Holds the last events of the cluster's agents in global memory.
  RecentEvents globalEvents;

  /// While paused, accesses are neither checked nor recorded: an asynchronous operation, which was
  /// judged when it began, is being performed.
  bool paused = false;

private:
  enum class Kind : uint8_t { Read, Write, Update };
  struct Event {
    unsigned agent = 0;
    uint32_t time = 0;
    uint32_t position = 0; // of the instruction
    uint16_t rank = 0, warp = 0;
    bool isAsync = false, isPartial = false;
    Kind kind = Kind::Read;

    bool writes() const { return kind != Kind::Read; }
  };
  struct Barrier {
    BarrierKnowledge knowledge;
    unsigned agent = 0;
    uint32_t phases = 0; // that completed
    Event initialised{};
  };

  unsigned agentOf(const Warp &warp) const;
  unsigned agentOf(const Warp &warp, Queue queue) const;
  Barrier &barrierAt(unsigned rank, uint64_t offset);
  uint32_t record(const Warp &warp, const Actor &actor, bool isPartial, Kind kind);
  bool check(Warp &warp, unsigned rank, uint64_t offset, uint64_t bytes, const Actor &actor,
             Kind kind);
  bool isOrdered(const Warp &warp, const Event &before, bool isAsync) const;
  void report(Warp &warp, uint64_t offset, const Event &before, bool isAsync, bool writes);
  void exportKnowledge(const Warp &warp, RemoteClock &clock) const;

  const Grid &grid;
  const unsigned warpsPerCta, warpCount;
  unsigned nextAgent;
  std::vector<Knowledge> known;   // of each warp
  std::vector<uint32_t> accessed; // the lanes that accessed shared memory since all lanes met
  struct QueueState {
    uint32_t committed = 0, finished = 0;
  };
  std::vector<QueueState> queues;
  std::vector<std::vector<AccessedWord>> words; // of each CTA
  AccessHistory<Event> history;
  RecentEvents sharedEvents;
  unsigned gridAgent; // the launches before
  /// Holds what a warp released by its last fence, and acquires by its next one.
  struct FencedClocks {
    RemoteClock released, acquired;
  };
  std::map<unsigned, FencedClocks> fencedClocks; // of a warp
  std::map<uint64_t, Barrier> barriers;
  /// The phases of mbarriers that each warp passed last.
  std::map<std::pair<unsigned, unsigned>, uint32_t> passed;
};

} // namespace blocksparse::sim

#endif // BLOCKSPARSE_LIB_SIMULATOR_JUDGE_H
