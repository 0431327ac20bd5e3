// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Counters.h"

#include "Access.h"

#include <algorithm>
#include <cstdio>
#include <span>

using namespace blocksparse::sim;

static constexpr unsigned bankCount = 32, bankBytes = 4;
static constexpr uint64_t sectorBytes = L1Cache::sectorBytes;

/// Returns the passes that accesses of `bytes` bytes at `count` addresses take: the largest number
/// of different words that one bank must give.
static uint64_t countPasses(const uint64_t *addresses, unsigned count, uint64_t bytes) {
  uint64_t words[laneCount * 4];
  unsigned wordCount = 0;
  for (unsigned i = 0; i < count; ++i)
    for (uint64_t word = addresses[i] / bankBytes; word * bankBytes < addresses[i] + bytes; ++word)
      words[wordCount++] = word;
  std::sort(words, words + wordCount);
  uint64_t *last = std::unique(words, words + wordCount);
  uint64_t perBank[bankCount] = {}, passes = 0;
  for (const uint64_t *word = words; word != last; ++word)
    passes = std::max(passes, ++perBank[*word % bankCount]);
  return passes;
}

/// Counts the passes and conflicts of accesses that the hardware serves `group` lanes at a time.
/// With `joins` two groups of the same addresses are served together, as an H200 does for accesses
/// of 16 bytes.
static void countConflicts(Counters &counters, const uint64_t *addresses, unsigned count,
                           unsigned group, uint64_t bytes, bool joins) {
  for (unsigned first = 0; first < count; first += group) {
    uint64_t passes = countPasses(addresses + first, std::min(group, count - first), bytes);
    counters.bankPasses += passes;
    counters.bankConflicts += passes - 1;
    const uint64_t *begin = addresses + first, *next = begin + group;
    if (joins && first % (2 * group) == 0 && first + 2 * group <= count &&
        std::equal(begin, next, next))
      first += group;
  }
}

void blocksparse::sim::countProducts(Warp &warp, uint64_t operations, unsigned bits,
                                     bool ofWarpgroup) {
  Counters &counters = warp.cta.grid.counters;
  counters.tensorOperations += operations;
  (ofWarpgroup ? counters.warpgroupProductWork : counters.warpProductWork) +=
      operations * bits / 16;
}

void blocksparse::sim::countBulk(Warp &warp, uint64_t address, uint64_t bytes, bool writes) {
  Grid &grid = warp.cta.grid;
  if (!grid.options.counts || !bytes)
    return;
  grid.footprint.touch(address, bytes, !writes);
  uint64_t sectors = (address + bytes - 1) / sectorBytes - address / sectorBytes + 1;
  (writes ? grid.counters.l2WrittenBytes : grid.counters.l2ReadBytes) += sectors * sectorBytes;
}

/// Counts `sectors`, the different ones of an instruction, on their way between an SM and L2.
static void countSectors(Warp &warp, std::span<const uint64_t> sectors, Traffic traffic) {
  Grid &grid = warp.cta.grid;
  uint64_t passing = sectors.size();
  if (traffic == Traffic::CachedLoad) {
    L1Cache &cache = grid.cacheOf(warp.cta);
    passing = static_cast<uint64_t>(std::count_if(
        sectors.begin(), sectors.end(), [&](uint64_t sector) { return !cache.read(sector); }));
  }
  grid.counters.globalSectors += sectors.size();
  (traffic == Traffic::Store ? grid.counters.l2WrittenBytes : grid.counters.l2ReadBytes) +=
      passing * sectorBytes;
}

void blocksparse::sim::countAccess(Warp &warp, Space space, uint32_t lanes,
                                   const uint64_t *addresses, uint64_t bytes, Traffic traffic) {
  Counters &counters = warp.cta.grid.counters;
  bool writes = traffic == Traffic::Store;
  uint64_t shared[laneCount], sectors[laneCount * 2];
  unsigned sharedCount = 0, sectorCount = 0, globalCount = 0;
  uint64_t parameters = reinterpret_cast<uintptr_t>(warp.cta.grid.parameters);
  uint64_t parameterBytes = warp.cta.grid.kernel.function->parameterBytes;
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    uint64_t address = addresses[__builtin_ctz(rest)];
    if (space == Space::Shared || (space == Space::Generic && address >= sharedWindow)) {
      shared[sharedCount++] = address;
    } else if (space != Space::Param && address - parameters >= parameterBytes) {
      ++globalCount;
      warp.cta.grid.footprint.touch(address, bytes, !writes);
      sectors[sectorCount++] = address / sectorBytes;
      sectors[sectorCount++] = (address + bytes - 1) / sectorBytes;
    }
  }
  std::sort(sectors, sectors + sectorCount);
  countSectors(warp, {sectors, std::unique(sectors, sectors + sectorCount)}, traffic);
  (writes ? counters.globalWrittenBytes : counters.globalReadBytes) += globalCount * bytes;
  (writes ? counters.sharedWrittenBytes : counters.sharedReadBytes) += sharedCount * bytes;
  unsigned group = bytes <= 4 ? laneCount : bytes <= 8 ? laneCount / 2 : laneCount / 4;
  countConflicts(counters, shared, sharedCount, group, bytes, /*joins=*/bytes == 16);
}

void blocksparse::sim::countAcquire(Warp &warp) {
  if (warp.cta.grid.options.counts)
    warp.cta.grid.cacheOf(warp.cta).clear();
}

void blocksparse::sim::countRows(Warp &warp, const uint64_t *addresses, unsigned count,
                                 bool writes) {
  Counters &counters = warp.cta.grid.counters;
  (writes ? counters.sharedWrittenBytes : counters.sharedReadBytes) += uint64_t(count) * 16;
  countConflicts(counters, addresses, count, 8, 16, /*joins=*/false);
}

std::string blocksparse::sim::describeCounters(const Grid &grid, bool json) {
  const Counters &counters = grid.counters;
  static constexpr const char *classes[] = {"other",   "integer", "float", "memory",
                                            "control", "tensor",  "async"};
  const std::string &name = grid.kernel.function->name;
  std::string text = json ? "{\"kernel\": \"" + name + "\", \"warp_instructions\": {"
                          : "simulated GPU: kernel '" + name + "', warp instructions: ";
  for (size_t i = 0; i < static_cast<size_t>(OpClass::count); ++i) {
    text += i ? ", " : "";
    text += json ? "\"" + std::string(classes[i]) + "\": " : std::string(classes[i]) + " ";
    text += std::to_string(counters.instructions[i]);
  }
  text += json ? "}" : "";
  const std::pair<const char *, uint64_t> rows[] = {
      {"global_read_bytes", counters.globalReadBytes},
      {"global_written_bytes", counters.globalWrittenBytes},
      {"global_sectors", counters.globalSectors},
      {"l2_read_bytes", counters.l2ReadBytes},
      {"l2_written_bytes", counters.l2WrittenBytes},
      {"shared_read_bytes", counters.sharedReadBytes},
      {"shared_written_bytes", counters.sharedWrittenBytes},
      {"bank_passes", counters.bankPasses},
      {"bank_conflicts", counters.bankConflicts},
      {"bulk_loaded_bytes", counters.bulkLoadedBytes},
      {"bulk_stored_bytes", counters.bulkStoredBytes},
      {"tensor_operations", counters.tensorOperations},
      {"touched_bytes", grid.footprint.getBytes()},
      {"memory_read_bytes", grid.footprint.getReadBytes()},
      {"declared_registers", grid.kernel.function->registerFileBytes / (4 * laneCount)},
      {"shared_memory_bytes", grid.sharedBytes()},
  };
  for (const auto &[key, value] : rows) {
    std::string words = key;
    if (!json)
      std::replace(words.begin(), words.end(), '_', ' ');
    text += json ? ", \"" + words + "\": " : "; " + words + " ";
    text += std::to_string(value);
  }
  PredictedTime time = grid.predictTime();
  char number[32];
  std::snprintf(number, sizeof(number), "%.3f", time.seconds * 1e6);
  text += json ? std::string(", \"predicted_microseconds\": ") + number + ", \"limit\": \"" +
                     nameOf(time.limit) + "\""
               : std::string("; predicted ") + number + " us, limited by " + nameOf(time.limit);
  return text + (json ? "}\n" : "\n");
}
