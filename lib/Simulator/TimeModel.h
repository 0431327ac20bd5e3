// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model of the time that a launch takes on a device, computed from its counters. It knows rates
// and no latencies: docs/Developer/Simulator.md says what follows from that.

#ifndef BLOCKSPARSE_LIB_SIMULATOR_TIMEMODEL_H
#define BLOCKSPARSE_LIB_SIMULATOR_TIMEMODEL_H

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace blocksparse::sim {

struct Counters;

/// Holds the speeds of a chip.
struct Rates {
  unsigned multiprocessors = 1;
  /// Bytes a second that memory and L2 give all SMs together.
  double memoryBytes = 0, l2Bytes = 0;
  /// Counts what one SM does in a second: it loads from L2 or stores bytes, accesses bytes of
  /// shared memory, passes over its banks, begins instructions of warps, and performs operations of
  /// its tensor cores on factors of 16 bits.
  double loadedBytes = 0, sharedBytes = 0, bankPasses = 0, instructions = 0, tensorOperations = 0;
  /// Seconds of a launch beside its work.
  double launch = 0;
  /// The time of an operation of `mma.sync`, in that of `wgmma` or, without it, of itself.
  double warpProduct = 1;
  /// Bytes of L1 and shared memory of an SM together.
  uint64_t localBytes = 0;
};

/// Names what limits a launch.
enum class Limit : unsigned { Memory, L2, Loads, Shared, Issue, Tensor, count };
const char *nameOf(Limit limit);

/// Holds the seconds for which each part of one SM is busy.
struct BusyTimes {
  double loads = 0, shared = 0, issue = 0, tensor = 0;

  /// Adds the work of `after` without that of `before`.
  void add(const Counters &before, const Counters &after, const Rates &rates);
};

/// Holds the sectors of 32 bytes of global memory that a launch has touched: what memory must give
/// or take at least once. What was read before the launch wrote it comes from memory.
class Footprint {
public:
  void touch(uint64_t address, uint64_t bytes, bool reads);
  uint64_t getBytes() const { return sectors * sectorBytes; }
  uint64_t getReadBytes() const { return readSectors * sectorBytes; }

private:
  static constexpr uint64_t sectorBytes = 32, pageSectors = 64;
  std::unordered_map<uint64_t, uint64_t> pages; // a bit for each sector
  uint64_t sectors = 0, readSectors = 0;
};

struct PredictedTime {
  double seconds = 0;
  Limit limit = Limit::Issue;
};

/// Returns the time of a launch: that of its busiest part, and of the launch itself. `sms` holds
/// the work of each SM.
PredictedTime predictTime(const std::vector<BusyTimes> &sms, uint64_t l2Bytes, uint64_t memoryBytes,
                          const Rates &rates);

} // namespace blocksparse::sim

#endif // BLOCKSPARSE_LIB_SIMULATOR_TIMEMODEL_H
