// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_SIMULATOR_COUNTERS_H
#define BLOCKSPARSE_LIB_SIMULATOR_COUNTERS_H

#include "Op.h"

#include <string>

namespace blocksparse::sim {

class Grid;
class Warp;

/// Counts what a launch executes.
struct Counters {
  uint64_t instructions[static_cast<size_t>(OpClass::count)] = {}; // of warps
  /// Bytes that instructions of threads ask for, `cp.async` included.
  uint64_t globalReadBytes = 0, globalWrittenBytes = 0;
  /// Sectors of 32 bytes that a warp's instruction touches in global memory.
  uint64_t globalSectors = 0;
  /// Bytes of the sectors that SMs read from L2, because their L1 does not have them, and write to
  /// it; bulk copies included.
  uint64_t l2ReadBytes = 0, l2WrittenBytes = 0;
  uint64_t sharedReadBytes = 0, sharedWrittenBytes = 0;
  /// Passes over the 32 banks of shared memory of `ld`, `st`, `ldmatrix` and `stmatrix`, and those
  /// of them beyond what the width of an access needs.
  uint64_t bankPasses = 0, bankConflicts = 0;
  /// Bytes of bulk copies; a multicast counts once for each CTA. Elements out of bounds count.
  uint64_t bulkLoadedBytes = 0, bulkStoredBytes = 0;
  /// Multiplications and additions of `mma.sync` and `wgmma`, two for each product.
  uint64_t tensorOperations = 0;
  /// They are counted for each instruction, too, weighted by the bits of factors divided by 16.
  uint64_t warpProductWork = 0, warpgroupProductWork = 0;
};

/// Counts operations of tensor cores on factors of `bits` bits, of `wgmma` or of `mma.sync`.
void countProducts(Warp &warp, uint64_t operations, unsigned bits, bool ofWarpgroup);

/// Says which way an access of global memory goes. Strong loads and those of `cp.async.cg` pass by
/// L1; stores and atomic operations write to L2.
enum class Traffic : uint8_t { CachedLoad, Load, Store };

/// Counts a bulk copy of `bytes` bytes to or from a global address. It passes by L1.
void countBulk(Warp &warp, uint64_t address, uint64_t bytes, bool writes);

/// Counts an access of one instruction: `bytes` bytes at the address of each of `lanes`. Generic
/// addresses are told apart by their window.
void countAccess(Warp &warp, Space space, uint32_t lanes, const uint64_t *addresses, uint64_t bytes,
                 Traffic traffic);

/// Clears the L1 of the warp's SM, as an acquire at the scope of the GPU does.
void countAcquire(Warp &warp);

/// Counts the access of `count` rows of 16 bytes in shared memory, eight rows at a time.
void countRows(Warp &warp, const uint64_t *addresses, unsigned count, bool writes);

/// Returns the counters of a launch, with the registers and the shared memory that the kernel
/// declares: a line of text, or a JSON object.
std::string describeCounters(const Grid &grid, bool json);

} // namespace blocksparse::sim

#endif // BLOCKSPARSE_LIB_SIMULATOR_COUNTERS_H
