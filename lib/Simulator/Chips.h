// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The devices that can be simulated.

#ifndef BLOCKSPARSE_LIB_SIMULATOR_CHIPS_H
#define BLOCKSPARSE_LIB_SIMULATOR_CHIPS_H

#include "CodeTarget.h"
#include "TimeModel.h"

#include <span>

namespace blocksparse::sim {

/// Holds the facts of a device that a program can ask for.
struct Chip {
  /// The newest chip whose code it runs: its own.
  const char *target;
  const char *name;
  /// Compute capability, as 10 * major + minor.
  int capability;
  int multiprocessors;
  int sharedBytesPerSm;
  /// Threads and CTAs that an SM holds at a time.
  int threadsPerSm, ctasPerSm;
  int l2Bytes;
  uint64_t memoryBytes;
  Rates rates;

  /// Returns the shared memory that a CTA may ask for: an SM keeps 1 KiB of each CTA's.
  int sharedBytesOptin() const { return sharedBytesPerSm - 1024; }
  bool hasClusters() const { return capability >= 90; }
};

/// Holds the speeds of an H200, the only ones that were measured.
extern const Rates h200Rates;

/// Returns all devices in the order of their compute capability.
std::span<const Chip> knownChips();
/// Returns the first device that runs code for `target`, or null.
const Chip *findChip(const CodeTarget &target);

} // namespace blocksparse::sim

#endif // BLOCKSPARSE_LIB_SIMULATOR_CHIPS_H
