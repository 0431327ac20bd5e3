// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_SIMULATOR_L1CACHE_H
#define BLOCKSPARSE_LIB_SIMULATOR_L1CACHE_H

#include <cstdint>
#include <list>
#include <unordered_map>

namespace blocksparse::sim {

/// Holds which sectors of global memory the L1 of an SM has. It serves the counters alone: values
/// come from memory. A line has four sectors, which are fetched one by one; when there is no room,
/// the line that was used least recently goes.
class L1Cache {
public:
  static constexpr uint64_t sectorBytes = 32, lineSectors = 4;

  explicit L1Cache(uint64_t bytes) : lineCount(bytes / (sectorBytes * lineSectors)) {}

  /// Reads a sector, given by its number. Returns whether the cache had it; it has it then.
  bool read(uint64_t sector) {
    if (!lineCount)
      return false;
    uint64_t number = sector / lineSectors;
    uint8_t bit = static_cast<uint8_t>(1u << sector % lineSectors);
    auto [place, isNew] = places.try_emplace(number);
    if (isNew) {
      if (lines.size() == lineCount) {
        places.erase(lines.back().number);
        lines.pop_back();
      }
      lines.push_front({number, 0});
      place->second = lines.begin();
    } else {
      lines.splice(lines.begin(), lines, place->second);
    }
    bool had = lines.front().sectors & bit;
    lines.front().sectors |= bit;
    return had;
  }

  /// Drops everything, as after an acquire at the scope of the GPU.
  void clear() {
    lines.clear();
    places.clear();
  }

private:
  struct Line {
    uint64_t number;
    uint8_t sectors; // a bit for each
  };
  uint64_t lineCount;
  std::list<Line> lines; // the one that was used last comes first
  std::unordered_map<uint64_t, std::list<Line>::iterator> places;
};

} // namespace blocksparse::sim

#endif // BLOCKSPARSE_LIB_SIMULATOR_L1CACHE_H
