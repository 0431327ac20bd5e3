// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_SIMULATOR_GLOBALMEMORY_H
#define BLOCKSPARSE_LIB_SIMULATOR_GLOBALMEMORY_H

#include "GlobalJudge.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace blocksparse::sim {

/// Holds device memory: a set of allocations in host memory. A device address is the host's
/// address.
class GlobalMemory {
public:
  enum class Kind : uint8_t { Device, Managed, Registered };

  struct Allocation {
    uint64_t begin = 0;
    uint64_t bytes = 0;
    Kind kind = Kind::Device;
    /// 255 for each byte that was written since the allocation, 0 for others; empty where the host
    /// can write without the simulator's knowledge.
    std::unique_ptr<uint8_t[]> written;
    /// Is judged where the host cannot write without the simulator's knowledge.
    Shadow shadow;
    std::unique_ptr<uint8_t[]> storage;

    bool contains(uint64_t address, uint64_t size) const {
      return address >= begin && size <= bytes && address - begin <= bytes - size;
    }
  };

  /// Returns the address of new memory, aligned to 512 bytes, or 0 where the host has none left.
  uint64_t allocate(uint64_t bytes, Kind kind);
  /// Makes host memory reachable for kernels. Returns false where it overlaps an allocation.
  bool adopt(void *pointer, uint64_t bytes);
  /// Returns false where no allocation begins at `address`.
  bool release(uint64_t address);

  /// Returns the index of the allocation that holds `address`, or -1.
  int64_t find(uint64_t address) const;
  const Allocation &get(size_t index) const { return *allocations[index]; }
  Allocation &get(size_t index) { return *allocations[index]; }
  size_t size() const { return allocations.size(); }
  /// Marks the bytes as written where the allocation keeps record. Ignores other addresses.
  void markWritten(uint64_t address, uint64_t bytes);
  /// Describes where an address lies: "16 bytes after the end of the allocation of 4096 bytes".
  std::string describe(uint64_t address) const;
  uint64_t allocatedBytes() const { return total; }
  /// Judges an access of a warp that lies within an allocation. Returns false after it has reported
  /// a fault.
  bool judgeAccess(Warp &warp, Judge &clusterJudge, size_t index,
                   const GlobalJudge::Access &access);

  /// Judges a copy or a fill of a range that lies within an allocation, or ignores others. Returns
  /// "", or what is wrong.
  std::string judgeWork(uint64_t address, uint64_t bytes, bool writes, uint32_t work,
                        const GlobalJudge::StateOfWork &state);

  GlobalJudge judge;

private:
  /// Removes the events that no word refers to, where there are too many.
  void makeRoom();

  std::vector<std::unique_ptr<Allocation>> allocations; // by address
  uint64_t total = 0;
  /// The ranges that were released last, for reports.
  std::deque<std::pair<uint64_t, uint64_t>> released;
};

} // namespace blocksparse::sim

#endif // BLOCKSPARSE_LIB_SIMULATOR_GLOBALMEMORY_H
