// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_SIMULATOR_GRID_H
#define BLOCKSPARSE_LIB_SIMULATOR_GRID_H

#include "Chips.h"
#include "Counters.h"
#include "Cta.h"
#include "GlobalMemory.h"
#include "L1Cache.h"
#include "TimeModel.h"

#include <algorithm>

namespace blocksparse::sim {

struct LaunchShape {
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {1, 1, 1};
  uint32_t cluster[3] = {1, 1, 1};
  uint64_t dynamicSharedBytes = 0;
};

/// Says how a launch is executed, beyond what the program says.
struct ExecutionOptions {
  /// 0: warps in ascending order; otherwise orders and slices of warps are drawn from this seed.
  uint64_t seed = 0;
  /// CTAs that run at the same time, as many as the device holds.
  unsigned residentCtas = 132;
  /// Report reads of memory that nothing wrote.
  bool checkUnwritten = true;
  /// Judge the order of accesses to memory.
  bool checkRaces = true;
  /// Count bytes and bank conflicts beside instructions.
  bool counts = false;
  /// The speeds of the chip, of which the time of the launch is predicted.
  Rates rates = h200Rates;
  /// The number of this launch, from 1 on.
  uint32_t launch = 1;
  /// Tells whether earlier work has ended; empty if no earlier work can race with this launch or
  /// with a later one.
  GlobalJudge::StateOfWork stateOfWork;
};

/// Returns "0x..." for a report.
std::string hexadecimal(uint64_t value);

/// Returns "(x, y, z)".
std::string triple(const uint32_t (&values)[3]);

/// Executes one launch of a kernel.
class Grid {
public:
  Grid(const Kernel &kernel, GlobalMemory &memory, const LaunchShape &shape,
       std::vector<uint8_t> parameters, const ExecutionOptions &options);
  ~Grid();

  /// Executes every CTA. Returns false on a fault, which getFault describes.
  bool run();
  const std::string &getFault() const { return message; }
  bool hasFault() const { return faulty; }

  void fault(const Warp &warp, const std::string &text);
  uint64_t sharedBytes() const { return kernel.dynamicSharedOffset + shape.dynamicSharedBytes; }
  unsigned threadsPerCta() const { return shape.block[0] * shape.block[1] * shape.block[2]; }
  unsigned clusterSize() const { return shape.cluster[0] * shape.cluster[1] * shape.cluster[2]; }
  uint64_t random();
  /// Returns the registers of a thread at the start: as many as the SM has for one CTA, rounded
  /// down to a multiple of 8, and at most 255 of which one is not used.
  uint32_t registersPerThread() const {
    return std::min(65536 / ((threadsPerCta() + laneCount - 1) / laneCount * laneCount) / 8 * 8,
                    256u);
  }
  /// Returns "line N 'opcode'" for the instruction at an index.
  std::string describeInstruction(uint32_t position) const;

  struct CtaIndex {
    uint32_t cluster[3], cta[3];
  };
  /// Returns the index of a cluster, and of its CTA of a rank, in the launch grid.
  CtaIndex indexOf(uint64_t cluster, unsigned rank) const;

  const Kernel &kernel;
  GlobalMemory &memory;
  const LaunchShape shape;
  const ExecutionOptions options;
  const uint64_t seed;
  Counters counters;
  /// Is empty where only instructions are counted, as is the work of each SM.
  Footprint footprint;
  /// The parameter buffer, aligned to 64 bytes, which generic addresses reach too.
  uint8_t *parameters = nullptr;

  /// Returns the L1 of the SM that has a CTA: the part of its memory that the CTA does not use as
  /// shared memory. CTAs go round the SMs: the first wave has one for each, and the next ones
  /// follow.
  L1Cache &cacheOf(const Cta &cta);

  /// Predicts the time of the launch from what was counted.
  PredictedTime predictTime() const;

private:
  /// Lets a CTA run for a turn, and adds what it did to the work of its SM.
  uint64_t runCta(Cta &cta);
  std::unique_ptr<Cluster> makeCluster(uint64_t index);
  void reportDeadlock(const std::vector<std::unique_ptr<Cluster>> &resident);
  std::string describeWait(const Warp &warp, const LaneGroup &group) const;

  std::vector<uint8_t> parameterStorage;
  size_t smOf(const Cta &cta) const;

  std::vector<BusyTimes> sms;
  std::vector<L1Cache> caches;
  uint64_t state;
  bool faulty = false;
  std::string message;
};

} // namespace blocksparse::sim

#endif // BLOCKSPARSE_LIB_SIMULATOR_GRID_H
