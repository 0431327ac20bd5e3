// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TimeModel.h"

#include "Counters.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <numeric>

using namespace blocksparse::sim;

const char *blocksparse::sim::nameOf(Limit limit) {
  static constexpr const char *names[] = {"memory", "l2", "loads", "shared", "issue", "tensor"};
  return names[static_cast<unsigned>(limit)];
}

void BusyTimes::add(const Counters &before, const Counters &after, const Rates &rates) {
  auto difference = [&](uint64_t Counters::*counter) {
    return static_cast<double>(after.*counter - before.*counter);
  };
  uint64_t executed =
      std::accumulate(std::begin(after.instructions), std::end(after.instructions), uint64_t(0)) -
      std::accumulate(std::begin(before.instructions), std::end(before.instructions), uint64_t(0));
  loads += (32 * difference(&Counters::globalSectors) + difference(&Counters::bulkLoadedBytes) +
            difference(&Counters::bulkStoredBytes)) /
           rates.loadedBytes;
  // Products of wgmma read their factors in shared memory at a rate that their own includes.
  shared += (difference(&Counters::sharedReadBytes) + difference(&Counters::sharedWrittenBytes) +
             difference(&Counters::bulkLoadedBytes) + difference(&Counters::bulkStoredBytes)) /
                rates.sharedBytes +
            difference(&Counters::bankConflicts) / rates.bankPasses;
  issue += static_cast<double>(executed) / rates.instructions;
  tensor += (difference(&Counters::warpgroupProductWork) +
             rates.warpProduct * difference(&Counters::warpProductWork)) /
            rates.tensorOperations;
}

void Footprint::touch(uint64_t address, uint64_t bytes, bool reads) {
  if (!bytes)
    return;
  uint64_t last = (address + bytes - 1) / sectorBytes;
  for (uint64_t sector = address / sectorBytes; sector <= last;) {
    uint64_t first = sector % pageSectors;
    uint64_t count = std::min(pageSectors - first, last - sector + 1);
    uint64_t bits = (count == 64 ? ~uint64_t(0) : (uint64_t(1) << count) - 1) << first;
    uint64_t &page = pages[sector / pageSectors];
    uint64_t added = static_cast<uint64_t>(std::popcount(bits & ~page));
    sectors += added;
    readSectors += reads ? added : 0;
    page |= bits;
    sector += count;
  }
}

PredictedTime blocksparse::sim::predictTime(const std::vector<BusyTimes> &sms, uint64_t l2Bytes,
                                            uint64_t memoryBytes, const Rates &rates) {
  double times[static_cast<unsigned>(Limit::count)] = {};
  auto raise = [&](Limit limit, double seconds) {
    double &time = times[static_cast<unsigned>(limit)];
    time = std::max(time, seconds);
  };
  raise(Limit::Memory, static_cast<double>(memoryBytes) / rates.memoryBytes);
  raise(Limit::L2, static_cast<double>(l2Bytes) / rates.l2Bytes);
  for (const BusyTimes &sm : sms) {
    raise(Limit::Loads, sm.loads);
    raise(Limit::Shared, sm.shared);
    raise(Limit::Issue, sm.issue);
    raise(Limit::Tensor, sm.tensor);
  }
  const double *longest = std::max_element(std::begin(times), std::end(times));
  return {*longest + rates.launch, static_cast<Limit>(longest - std::begin(times))};
}
