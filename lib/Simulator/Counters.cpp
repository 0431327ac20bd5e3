// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Counters.h"

#include "Access.h"

#include <algorithm>
#include <cstdio>

using namespace blocksparse::sim;

static constexpr unsigned bankCount = 32, bankBytes = 4, sectorBytes = 32;

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

/// Counts the conflicts of accesses that the hardware serves `group` lanes at a time.
static void countConflicts(Counters &counters, const uint64_t *addresses, unsigned count,
                           unsigned group, uint64_t bytes) {
  for (unsigned first = 0; first < count; first += group)
    counters.bankConflicts +=
        countPasses(addresses + first, std::min(group, count - first), bytes) - 1;
}

void blocksparse::sim::countProducts(Warp &warp, uint64_t operations, unsigned bits) {
  Counters &counters = warp.cta.grid.counters;
  counters.tensorOperations += operations;
  counters.tensorWork += operations * bits / 16;
}

void blocksparse::sim::countBulk(Warp &warp, uint64_t address, uint64_t bytes) {
  if (warp.cta.grid.options.counts)
    warp.cta.grid.footprint.touch(address, bytes);
}

void blocksparse::sim::countAccess(Warp &warp, Space space, const uint64_t *addresses,
                                   uint64_t bytes, bool writes) {
  Counters &counters = warp.cta.grid.counters;
  uint64_t shared[laneCount], sectors[laneCount * 2];
  unsigned sharedCount = 0, sectorCount = 0, globalCount = 0;
  uint64_t parameters = reinterpret_cast<uintptr_t>(warp.cta.grid.parameters);
  uint64_t parameterBytes = warp.cta.grid.kernel.function->parameterBytes;
  for (uint32_t rest = warp.active; rest; rest &= rest - 1) {
    uint64_t address = addresses[__builtin_ctz(rest)];
    if (space == Space::Shared || (space == Space::Generic && address >= sharedWindow)) {
      shared[sharedCount++] = address;
    } else if (space != Space::Param && address - parameters >= parameterBytes) {
      ++globalCount;
      warp.cta.grid.footprint.touch(address, bytes);
      sectors[sectorCount++] = address / sectorBytes;
      sectors[sectorCount++] = (address + bytes - 1) / sectorBytes;
    }
  }
  std::sort(sectors, sectors + sectorCount);
  counters.globalSectors +=
      static_cast<uint64_t>(std::unique(sectors, sectors + sectorCount) - sectors);
  (writes ? counters.globalWrittenBytes : counters.globalReadBytes) += globalCount * bytes;
  (writes ? counters.sharedWrittenBytes : counters.sharedReadBytes) += sharedCount * bytes;
  unsigned group = bytes <= 4 ? laneCount : bytes <= 8 ? laneCount / 2 : laneCount / 4;
  countConflicts(counters, shared, sharedCount, group, bytes);
}

void blocksparse::sim::countRows(Warp &warp, const uint64_t *addresses, unsigned count,
                                 bool writes) {
  Counters &counters = warp.cta.grid.counters;
  (writes ? counters.sharedWrittenBytes : counters.sharedReadBytes) += uint64_t(count) * 16;
  countConflicts(counters, addresses, count, 8, 16);
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
      {"shared_read_bytes", counters.sharedReadBytes},
      {"shared_written_bytes", counters.sharedWrittenBytes},
      {"bank_conflicts", counters.bankConflicts},
      {"bulk_loaded_bytes", counters.bulkLoadedBytes},
      {"bulk_stored_bytes", counters.bulkStoredBytes},
      {"tensor_operations", counters.tensorOperations},
      {"touched_bytes", grid.footprint.getBytes()},
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
