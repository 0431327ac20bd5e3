// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TimeModel.h"

#include "Counters.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <numeric>

using namespace blocksparse::sim;

// Measured on an H100 and an H200 (docs/Targets.md, "Devices and their rates"): memory by a device
// copy, L2 and the loads of an SM by counted TMA loads, the tensor cores by cuBLAS at 4096, the
// launch by a fit of dsd. An m16n8k16 of `mma.sync` keeps the tensor core busy for 6 cycles, in
// which `wgmma` performs 1.5 times as many operations (`sm__pipe_tensor_cycles_active`). Of the
// clock of 1.83 GHz: shared memory has 32 banks of 4 bytes and the four schedulers of an SM begin
// an instruction each (CUDA programming guide, "Compute Capability 8.x" and "9.0").
constexpr Rates blocksparse::sim::h200Rates = {
    132, 4.25e12, 7.75e12, 62e9, 128 * 1.83e9, 1.83e9, 4 * 1.83e9, 756e12 / 132, 4e-6, 1.5, 262144};

// By the data sheet 2039 GB/s, 312 TFLOP/s and 1.41 GHz, of which the share is taken that an H100
// reaches of its own: 3030 of 3350 GB/s and 750 of 989 TFLOP/s. The loads and L2 are those of an
// H100 times the ratio of the clocks, and of the SMs.
constexpr Rates blocksparse::sim::a100Rates = {108,
                                               2.039e12 * 3030 / 3350,
                                               7.75e12 * 1.41 / 1.83 * 108 / 132,
                                               62e9 * 1.41 / 1.83,
                                               128 * 1.41e9,
                                               1.41e9,
                                               4 * 1.41e9,
                                               312e12 * 750 / 989 / 108,
                                               4e-6,
                                               1,
                                               196608};

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
