// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The tables of processors, GPU devices and GPU chips. docs/Targets.md gives the source of
// each figure.

#include "blocksparse/Target/TargetInfo.h"

using namespace blocksparse;

namespace {

constexpr int64_t KiB = 1024;
constexpr int64_t MiB = 1024 * KiB;

// Names are those of LLVM; vector widths are those that code should be written for.
constexpr CPUChip cpuChips[] = {
    {"generic", {256, 16}},       {"x86-64", {128, 16}},         {"x86-64-v2", {128, 16}},
    {"x86-64-v3", {256, 16}},     {"x86-64-v4", {512, 32}},      {"haswell", {256, 16}},
    {"skylake", {256, 16}},       {"alderlake", {256, 16}},      {"skylake-avx512", {512, 32}},
    {"cascadelake", {512, 32}},   {"icelake-server", {512, 32}}, {"sapphirerapids", {512, 32}},
    {"emeraldrapids", {512, 32}}, {"graniterapids", {512, 32}},  {"znver1", {256, 16}},
    {"znver2", {256, 16}},        {"znver3", {256, 16}},         {"znver4", {512, 32}},
    {"znver5", {512, 32}},        {"apple-m1", {128, 32}},       {"neoverse-n1", {128, 32}},
    {"neoverse-v1", {128, 32}},   {"neoverse-v2", {128, 32}},
};

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

/// Returns what was measured on H100 SXM cards; a worker is one of 132. The stage rates were fitted
/// to dsd at 4096 and 8192, and are good to about a tenth there. wgmma keeps the tensor cores busy;
/// the warps of a stream kernel wait for shared memory, and its wgmma with 32 columns for branches.
/// Blocks of 32 have more products for each load, as have two rows of a warp: 8 warps reach the
/// rate that else takes 12. The rates of sampled products are those at 8192^3.
constexpr ChipRates makeH100() {
  ChipRates rates;
  rates.memoryBytesPerSecond = 3.03e12;
  rates.l2BytesPerSecond = 7.75e12;
  rates.tensorFlopsPerSecond = 750e12;
  rates.transposeBytesPerSecond = 2.7e12;
  rates.transposeLaunchSeconds = 5e-6;
  rates.wgmma = {.loadedBytesPerSecond = 62e9,
                 .flopsPerSecond = 5.8e12,
                 .storedBytesPerSecond = 33e9,
                 .tileSeconds = 1.3e-6,
                 .launchSeconds = 4e-6,
                 .clusterSeconds = 0.5e-6,
                 .clusterLaunchSeconds = 0.4e-6};
  rates.streamWgmma = rates.wgmma;
  rates.streamWgmma.flopsPerSecond = 4.5e12;
  rates.stream16 = {rates.wgmma, 12, 62e9};
  rates.stream16.rates.flopsPerSecond = 3.0e12;
  rates.stream16Pairs = {rates.wgmma, 8, 62e9};
  rates.stream16Pairs.rates.flopsPerSecond = 3.05e12;
  rates.stream32 = {rates.wgmma, 8, 70e9};
  rates.stream32.rates.flopsPerSecond = 4.0e12;
  rates.sampledMma32 = 122e12 / 132;
  rates.sampledMma16 = 41e12 / 132;
  return rates;
}

constexpr ChipRates h100 = makeH100();

/// Returns the rates of a device with the same SMs and L2 as an H100, and faster memory.
constexpr ChipRates withMemory(double memoryBytesPerSecond, double tensorFlopsPerSecond) {
  ChipRates rates = h100;
  rates.memoryBytesPerSecond = memoryBytesPerSecond;
  rates.tensorFlopsPerSecond = tensorFlopsPerSecond;
  // A transposed copy takes the same share of the rate of a copy.
  rates.transposeBytesPerSecond *= memoryBytesPerSecond / h100.memoryBytesPerSecond;
  return rates;
}

constexpr void scale(StageRates &rates, double loads, double flops) {
  rates.loadedBytesPerSecond *= loads;
  rates.storedBytesPerSecond *= loads;
  rates.flopsPerSecond *= flops;
}

constexpr void scale(StreamRates &rates, double loads, double flops) {
  scale(rates.rates, loads, flops);
  rates.deepRingBytesPerSecond *= loads;
}

/// Estimates the rates of a device that was not measured from its data sheet: the bandwidth of its
/// memory, the operations of its tensor cores, all per second, and its clock. An SM loads and
/// stores as much per clock as one of an H100, whose clock is 1.83 GHz by the same arithmetic, and
/// its tensor cores reach the same share of their peak; an H100 has 989e12 by its data sheet.
constexpr ChipRates estimate(int64_t multiprocessors, double memory, double tensor, double hertz) {
  const double loads = hertz / 1.83e9;
  const double flops = tensor / static_cast<double>(multiprocessors) / (989e12 / 132);
  ChipRates rates = withMemory(memory * (3.03e12 / 3.35e12), tensor * (750e12 / 989e12));
  rates.l2BytesPerSecond *= loads * static_cast<double>(multiprocessors) / 132;
  scale(rates.wgmma, loads, flops);
  scale(rates.streamWgmma, loads, flops);
  scale(rates.stream16, loads, flops);
  scale(rates.stream16Pairs, loads, flops);
  scale(rates.stream32, loads, flops);
  rates.sampledMma32 *= flops;
  rates.sampledMma16 *= flops;
  return rates;
}

// The tensor-core rates of Blackwell devices are those that mma.sync reaches by the width that an
// SM of an H100 has for it: these kernels do not use tcgen05.
constexpr GPUDevice gpuDevices[] = {
    {"a100", "A100", 80, 108, 40 * MiB, estimate(108, 1.555e12, 312e12, 1.41e9)},
    {"a40", "A40", 86, 84, 6 * MiB, estimate(84, 0.696e12, 150e12, 1.74e9)},
    {"orin", "Orin", 87, 16, 4 * MiB, estimate(16, 0.205e12, 43e12, 1.3e9)},
    {"rtx4090", "RTX 4090", 89, 128, 72 * MiB, estimate(128, 1.008e12, 165e12, 2.52e9)},
    {"h100", "H100", 90, 132, 50 * MiB, h100},
    {"h200", "H200", 90, 132, 50 * MiB, withMemory(4.25e12, 756e12)},
    {"h100-pcie", "H100 PCIe", 90, 114, 50 * MiB, estimate(114, 2.04e12, 756e12, 1.62e9)},
    {"h20", "H20", 90, 78, 60 * MiB, estimate(78, 4.0e12, 148e12, 1.83e9)},
    {"b200", "B200", 100, 148, 126 * MiB, estimate(148, 8.0e12, 1125e12, 1.86e9)},
    {"b300", "B300", 103, 148, 126 * MiB, estimate(148, 8.0e12, 1125e12, 1.86e9)},
    {"thor", "Thor", 110, 20, 32 * MiB, estimate(20, 0.273e12, 129e12, 1.57e9)},
    {"rtx5090", "RTX 5090", 120, 170, 96 * MiB, estimate(170, 1.792e12, 210e12, 2.41e9)},
    {"gb10", "GB10", 121, 48, 24 * MiB, estimate(48, 0.273e12, 62e12, 2.42e9)},
};

constexpr const GPUDevice &firstDevice(int64_t computeCapability) {
  for (const GPUDevice &device : gpuDevices)
    if (device.computeCapability == computeCapability)
      return device;
  return gpuDevices[0];
}

//===----------------------------------------------------------------------===//
// Chips
//===----------------------------------------------------------------------===//

/// `suffix`: the chip's name ends in "a" or "f".
constexpr GPUFacts makeFacts(int64_t computeCapability, int64_t minimumPtx, bool suffix = false) {
  const GPUDevice &device = firstDevice(computeCapability);
  // A consumer chip, or one that is also made as one, has less shared memory, fewer threads, and no
  // f64 tensor cores. An embedded chip has the shared memory of its data-center relative.
  const bool beforeHopper = computeCapability < 90;
  const bool dataCenter =
      computeCapability == 80 || (computeCapability >= 90 && computeCapability < 110);
  const bool largeShared = dataCenter || computeCapability == 87 || computeCapability == 110;
  GPUFacts facts;
  facts.device = device.name;
  facts.computeCapability = computeCapability;
  facts.multiprocessors = device.multiprocessors;
  facts.sharedMemoryPerMultiprocessor = !largeShared   ? 100 * KiB
                                        : beforeHopper ? 164 * KiB
                                                       : 228 * KiB;
  facts.sharedMemoryPerBlock = facts.sharedMemoryPerMultiprocessor - KiB;
  facts.registersPerMultiprocessor = 65536;
  facts.maxThreadsPerMultiprocessor = dataCenter ? 2048 : 1536;
  facts.l2Bytes = device.l2Bytes;
  facts.minimumPtx = minimumPtx;
  facts.cpAsync = true;
  facts.bf16 = true;
  facts.f8ToF16 = !beforeHopper;
  facts.f64MMA = dataCenter;
  facts.tma = !beforeHopper;
  facts.dependentLaunch = !beforeHopper;
  facts.setmaxnreg = suffix;
  facts.rates = device.rates;
  return facts;
}

/// wgmma exists only in code for the architecture-specific chip.
constexpr GPUFacts makeSm90a() {
  GPUFacts facts = makeFacts(90, 80, /*suffix=*/true);
  facts.wgmma = true;
  facts.warpgroupMMA = {64, 256, 16};
  return facts;
}

constexpr GPUChip gpuChips[] = {
    {"sm_80", makeFacts(80, 70)},          {"sm_86", makeFacts(86, 71)},
    {"sm_87", makeFacts(87, 74)},          {"sm_89", makeFacts(89, 78)},
    {"sm_90", makeFacts(90, 78)},          {"sm_90a", makeSm90a()},
    {"sm_100", makeFacts(100, 86)},        {"sm_100a", makeFacts(100, 86, true)},
    {"sm_100f", makeFacts(100, 88, true)}, {"sm_103", makeFacts(103, 88)},
    {"sm_103a", makeFacts(103, 88, true)}, {"sm_103f", makeFacts(103, 88, true)},
    {"sm_110", makeFacts(110, 90)},        {"sm_110a", makeFacts(110, 90, true)},
    {"sm_110f", makeFacts(110, 90, true)}, {"sm_120", makeFacts(120, 87)},
    {"sm_120a", makeFacts(120, 87, true)}, {"sm_120f", makeFacts(120, 88, true)},
    {"sm_121", makeFacts(121, 88)},        {"sm_121a", makeFacts(121, 88, true)},
    {"sm_121f", makeFacts(121, 88, true)},
};

} // namespace

std::span<const CPUChip> blocksparse::knownCPUChips() { return cpuChips; }
std::span<const GPUChip> blocksparse::knownGPUChips() { return gpuChips; }
std::span<const GPUDevice> blocksparse::knownGPUDevices() { return gpuDevices; }
