// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_SIMULATOR_CTA_H
#define BLOCKSPARSE_LIB_SIMULATOR_CTA_H

#include "Judge.h"
#include "Warp.h"

#include <memory>

namespace blocksparse::sim {

class Grid;
struct Cluster;

/// A CTA has 16 named barriers (PTX ISA, `barrier`); this is the state of one.
struct NamedBarrier {
  uint32_t arrived = 0;    // threads
  uint32_t expected = 0;   // threads; 0 while nobody waits
  uint64_t generation = 1; // counts completions
  BarrierKnowledge knowledge;
};

/// The arrivals at a wgmma warpgroup operation are not counted: each warp of the warpgroup computes
/// its own 16 rows when it executes the instruction.
class Cta {
public:
  Cta(Grid &grid, Cluster &cluster, unsigned rank, const uint32_t (&id)[3]);

  /// Lets every warp run for a slice, in the order of the seed. Returns the number of instructions
  /// executed.
  uint64_t run(uint64_t slice);
  bool hasEnded() const;
  unsigned liveThreads() const;

  Grid &grid;
  Cluster &cluster;
  const unsigned rank;
  uint32_t id[3];
  std::vector<std::unique_ptr<Warp>> warps;
  NamedBarrier barriers[16];
  /// The registers that setmaxnreg.dec has left. Those of warps that ended are not counted, because
  /// the manual does not promise that another warp gets them.
  uint64_t freeRegisters = 0;
  /// Shared memory; `shared[a - sharedBase]` is the byte at address a of the state space.
  std::vector<uint8_t> shared;
  /// 255 for each byte that was written, 0 for others.
  std::vector<uint8_t> sharedWritten;
  /// These bulk copies into shared memory were issued and are not yet made.
  std::vector<std::function<void()>> pendingBulk;
};

/// Holds the CTAs of a cluster, which run at the same time. Without clusters each CTA has its own.
struct Cluster {
  std::vector<std::unique_ptr<Cta>> ctas;
  uint32_t index = 0; // among the clusters of the launch
  uint32_t id[3] = {0, 0, 0};
  /// Threads that arrived at `barrier.cluster`, and how often it completed.
  uint32_t arrived = 0;
  uint64_t generation = 1;
  BarrierKnowledge knowledge;
  /// Null where races are not checked.
  std::unique_ptr<Judge> judge;

  bool hasEnded() const;
};

} // namespace blocksparse::sim

#endif // BLOCKSPARSE_LIB_SIMULATOR_CTA_H
