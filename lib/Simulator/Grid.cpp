// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Grid.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace blocksparse::sim;

/// Instructions of one warp before the next has its turn, and passes over a CTA before the next
/// cluster has its turn.
static constexpr uint64_t warpSlice = 5000;
static constexpr int passesPerTurn = 16;

Grid::Grid(const Kernel &kernel, GlobalMemory &memory, const LaunchShape &shape,
           std::vector<uint8_t> given, const ExecutionOptions &options)
    : kernel(kernel), memory(memory), shape(shape), options(options), seed(options.seed),
      state(options.seed) {
  parameterStorage.resize(given.size() + 64);
  uintptr_t start = reinterpret_cast<uintptr_t>(parameterStorage.data());
  parameters = reinterpret_cast<uint8_t *>((start + 63) / 64 * 64);
  std::copy(given.begin(), given.end(), parameters);
  if (!given.empty())
    memory.adopt(parameters, given.size());
}

Grid::~Grid() { memory.release(reinterpret_cast<uintptr_t>(parameters)); }

uint64_t Grid::random() {
  // SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
  state += 0x9e3779b97f4a7c15ull;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

std::string blocksparse::sim::hexadecimal(uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string blocksparse::sim::triple(const uint32_t (&values)[3]) {
  return "(" + std::to_string(values[0]) + ", " + std::to_string(values[1]) + ", " +
         std::to_string(values[2]) + ")";
}

std::string Grid::describeInstruction(uint32_t position) const {
  if (position >= kernel.function->instructions.size())
    return "the end of the kernel";
  const Instruction &instruction = kernel.function->instructions[position];
  return "line " + std::to_string(instruction.line) + " '" + std::string(instruction.text) + "'";
}

void Grid::fault(const Warp &warp, const std::string &text) {
  if (faulty)
    return;
  faulty = true;
  char lanes[16];
  std::snprintf(lanes, sizeof(lanes), "%08x", warp.active);
  uint32_t position = static_cast<uint32_t>(warp.current - kernel.ops.data());
  message = "kernel '" + kernel.function->name + "', CTA " + triple(warp.cta.id) + ", warp " +
            std::to_string(warp.index) + ", lanes " + lanes + ", " + describeInstruction(position) +
            ": " + text;
}

Grid::CtaIndex Grid::indexOf(uint64_t cluster, unsigned rank) const {
  CtaIndex index;
  uint64_t clusterRest = cluster, rankRest = rank;
  for (int i = 0; i < 3; ++i) {
    uint32_t across = shape.grid[i] / shape.cluster[i];
    index.cluster[i] = static_cast<uint32_t>(clusterRest % across);
    index.cta[i] =
        index.cluster[i] * shape.cluster[i] + static_cast<uint32_t>(rankRest % shape.cluster[i]);
    clusterRest /= across;
    rankRest /= shape.cluster[i];
  }
  return index;
}

std::unique_ptr<Cluster> Grid::makeCluster(uint64_t index) {
  auto cluster = std::make_unique<Cluster>();
  if (options.checkRaces)
    cluster->judge = std::make_unique<Judge>(*this, clusterSize(),
                                             (threadsPerCta() + laneCount - 1) / laneCount);
  cluster->index = static_cast<uint32_t>(index);
  for (unsigned rank = 0; rank < clusterSize(); ++rank) {
    CtaIndex place = indexOf(index, rank);
    std::copy(place.cluster, place.cluster + 3, cluster->id);
    cluster->ctas.push_back(std::make_unique<Cta>(*this, *cluster, rank, place.cta));
  }
  return cluster;
}

size_t Grid::smOf(const Cta &cta) const {
  uint64_t number = uint64_t(cta.cluster.index) * clusterSize() + cta.rank;
  return number % std::max(1u, options.rates.multiprocessors);
}

L1Cache &Grid::cacheOf(const Cta &cta) {
  if (caches.empty()) {
    uint64_t used = std::min(sharedBytes(), options.rates.localBytes);
    caches.assign(std::max(1u, options.rates.multiprocessors),
                  L1Cache(options.rates.localBytes - used));
  }
  return caches[smOf(cta)];
}

uint64_t Grid::runCta(Cta &cta) {
  if (!options.counts)
    return cta.run(warpSlice);
  Counters before = counters;
  uint64_t executed = cta.run(warpSlice);
  sms.resize(std::max(1u, options.rates.multiprocessors));
  sms[smOf(cta)].add(before, counters, options.rates);
  return executed;
}

PredictedTime Grid::predictTime() const {
  uint64_t l2Bytes = counters.l2ReadBytes + counters.l2WrittenBytes;
  return blocksparse::sim::predictTime(sms, l2Bytes, footprint.getBytes(), options.rates);
}

bool Grid::run() {
  memory.judge.begin(options.launch, options.stateOfWork);
  uint64_t clusters = uint64_t(shape.grid[0]) * shape.grid[1] * shape.grid[2] / clusterSize();
  uint64_t next = 0;
  size_t limit = std::max(1u, options.residentCtas / clusterSize());
  std::vector<std::unique_ptr<Cluster>> resident;
  // A cluster runs to its end where it can. Further clusters are started only when those that run
  // wait for them (a spin on memory), so that few register files are in use at a time.
  while ((next < clusters || !resident.empty()) && !faulty) {
    bool progress = false;
    for (size_t i = 0; i < resident.size() && !faulty; ++i) {
      Cluster &cluster = *resident[i];
      for (int pass = 0; pass < passesPerTurn && !faulty; ++pass) {
        uint64_t executed = 0;
        for (auto &cta : cluster.ctas)
          executed += runCta(*cta);
        progress |= executed > 0;
        if (!executed || cluster.hasEnded())
          break;
      }
    }
    size_t before = resident.size();
    std::erase_if(resident, [](const auto &cluster) { return cluster->hasEnded(); });
    progress |= resident.size() != before;
    if (next < clusters && resident.size() < limit && !faulty) {
      resident.push_back(makeCluster(next++));
      progress = true;
    }
    if (!progress && !faulty && !resident.empty())
      reportDeadlock(resident);
  }
  return !faulty;
}
