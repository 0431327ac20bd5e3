// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Target/TargetInfo.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace blocksparse;

namespace {

std::string errorOf(std::string_view text) {
  std::string error;
  EXPECT_FALSE(TargetInfo::parse(text, error).has_value()) << text;
  return error;
}

TargetInfo parsed(std::string_view text) {
  std::string error;
  std::optional<TargetInfo> target = TargetInfo::parse(text, error);
  EXPECT_TRUE(target.has_value()) << error;
  return target.value_or(TargetInfo());
}

/// Returns the short text of the target that a device is given, or the error.
std::string ofDevice(std::string_view name, int64_t capability, int64_t multiprocessors) {
  std::string error;
  std::optional<TargetInfo> target =
      TargetInfo::ofDevice({name, capability, multiprocessors}, error);
  return target ? target->describe() : error;
}

TEST(TargetInfo, ReadsProcessors) {
  EXPECT_EQ(parsed("cpu").chip(), "generic");
  EXPECT_EQ(parsed("cpu").cpuFacts().simdBits, 256);
  EXPECT_EQ(parsed("cpu").toString(), TargetInfo().toString());
  EXPECT_EQ(parsed("cpu:znver4").cpuFacts().vectorRegisters, 32);
  const TargetInfo own = parsed("cpu:mine,simd=128,registers=8,workers=6");
  EXPECT_EQ(own.cpuFacts().simdBits, 128);
  EXPECT_EQ(own.workers(), 6);
}

TEST(TargetInfo, ReadsGPUs) {
  const TargetInfo hopper = parsed("cuda:sm_90a");
  EXPECT_TRUE(hopper.isCUDA());
  EXPECT_EQ(hopper.workers(), 132);
  EXPECT_TRUE(hopper.gpuFacts().wgmma);
  EXPECT_EQ(hopper.gpuFacts().minimumPtx, 80);
  EXPECT_EQ(parsed("cuda:sm_90").gpuFacts().defaultPtx(), 80);
  EXPECT_EQ(parsed("cuda:sm_80").gpuFacts().defaultPtx(), 70);
  EXPECT_FALSE(parsed("cuda:sm_90").gpuFacts().wgmma);
  EXPECT_TRUE(parsed("cuda:sm_90").gpuFacts().tma);
  EXPECT_FALSE(parsed("cuda:sm_80").gpuFacts().tma);
  EXPECT_EQ(parsed("cuda:sm_80,workers=64").workers(), 64);
  EXPECT_EQ(TargetInfo::oldestGPU().toString(), parsed("cuda:sm_80").toString());
}

TEST(TargetInfo, OnlySm90aHasWgmma) {
  for (const GPUChip &chip : knownGPUChips()) {
    EXPECT_EQ(chip.facts.wgmma, chip.name == "sm_90a") << chip.name;
    EXPECT_EQ(chip.facts.warpgroupMMA.n, chip.facts.wgmma ? 256 : 0) << chip.name;
    EXPECT_EQ(chip.facts.tma, chip.facts.computeCapability >= 90) << chip.name;
    EXPECT_EQ(chip.facts.setmaxnreg, chip.name.back() == 'a' || chip.name.back() == 'f')
        << chip.name;
    EXPECT_GE(chip.facts.defaultPtx(), chip.facts.minimumPtx) << chip.name;
    EXPECT_TRUE(chip.facts.cpAsync) << chip.name;
  }
}

TEST(TargetInfo, ReplacesTheDevice) {
  const TargetInfo first = parsed("cuda:sm_90a"), h200 = parsed("cuda:sm_90a,device=h200"),
                   h20 = parsed("cuda:sm_90a,device=h20");
  EXPECT_EQ(first.gpuFacts().device, "h100");
  EXPECT_GT(h200.gpuFacts().rates.memoryBytesPerSecond,
            1.3 * first.gpuFacts().rates.memoryBytesPerSecond);
  EXPECT_EQ(h200.gpuFacts().rates.wgmma.flopsPerSecond,
            first.gpuFacts().rates.wgmma.flopsPerSecond);
  EXPECT_EQ(h20.workers(), 78);
  EXPECT_EQ(h20.gpuFacts().l2Bytes, 60 << 20);
  EXPECT_TRUE(h20.gpuFacts().wgmma);
  EXPECT_EQ(parsed("cuda:sm_90a,workers=114,device=h200").workers(), 114);
  EXPECT_EQ(parsed("cuda:sm_90a,device=h100").toString(), "cuda:sm_90a,workers=132");
}

// The schedules of today's programs depend on these figures.
TEST(TargetInfo, KeepsTheFiguresOfAnH100) {
  const GPUFacts facts = parsed("cuda:sm_90a").gpuFacts();
  EXPECT_EQ(facts.multiprocessors, 132);
  EXPECT_EQ(facts.sharedMemoryPerBlock, 227 * 1024);
  EXPECT_EQ(facts.plannedCacheBytes(), 24 << 20);
  EXPECT_EQ(facts.rates.wgmma.loadedBytesPerSecond, 62e9);
  EXPECT_EQ(facts.rates.wgmma.flopsPerSecond, 5.8e12);
  EXPECT_EQ(facts.rates.stream16.rates.flopsPerSecond, 3.0e12);
  EXPECT_EQ(facts.rates.stream32.deepRingBytesPerSecond, 70e9);
  EXPECT_EQ(facts.rates.transposeBytesPerSecond, 2.7e12);
  EXPECT_DOUBLE_EQ(facts.rates.sampledMma32 * 132, 122e12);
}

// The rate of one worker times the number of workers is the rate of the device.
TEST(TargetInfo, RatesOfWorkersAgreeWithThoseOfTheDevice) {
  for (const GPUDevice &device : knownGPUDevices()) {
    const double workers = static_cast<double>(device.multiprocessors);
    const ChipRates &rates = device.rates;
    EXPECT_NEAR(rates.wgmma.loadedBytesPerSecond * workers / rates.l2BytesPerSecond, 1, 0.1)
        << device.name;
    EXPECT_NEAR(rates.wgmma.flopsPerSecond * workers / rates.tensorFlopsPerSecond, 1, 0.1)
        << device.name;
    EXPECT_LT(rates.stream16.rates.flopsPerSecond, rates.wgmma.flopsPerSecond) << device.name;
    EXPECT_LT(rates.transposeBytesPerSecond, rates.memoryBytesPerSecond) << device.name;
  }
}

TEST(TargetInfo, TextComesBack) {
  auto expectEqual = [](const TargetInfo &target) {
    EXPECT_EQ(parsed(target.toString()).toString(), target.toString());
    EXPECT_EQ(parsed(target.describe()).toString(), target.toString());
  };
  for (const CPUChip &chip : knownCPUChips())
    expectEqual(parsed("cpu:" + std::string(chip.name)));
  for (const GPUChip &chip : knownGPUChips()) {
    expectEqual(parsed("cuda:" + std::string(chip.name)));
    for (const GPUDevice &device : knownGPUDevices())
      if (device.computeCapability == chip.facts.computeCapability)
        expectEqual(parsed("cuda:" + std::string(chip.name) +
                           ",device=" + std::string(device.name) + ",workers=5"));
  }
  const TargetInfo host = TargetInfo::cpu("host", {512, 32}, 4);
  EXPECT_EQ(host.toString(), "cpu:host,simd=512,registers=32,workers=4");
  expectEqual(host);
  EXPECT_EQ(parsed("cuda:sm_80").describe(), "cuda:sm_80");
  EXPECT_EQ(parsed("cuda:sm_80").toString(), "cuda:sm_80,workers=108");
  EXPECT_EQ(parsed("cuda:sm_90a,workers=114").describe(), "cuda:sm_90a,workers=114");
}

TEST(TargetInfo, FindsTheBestTargetOfADevice) {
  EXPECT_EQ(ofDevice("NVIDIA H100 80GB HBM3", 90, 132), "cuda:sm_90a");
  EXPECT_EQ(ofDevice("NVIDIA H100 PCIe", 90, 114), "cuda:sm_90a,device=h100-pcie");
  EXPECT_EQ(ofDevice("NVIDIA H20", 90, 78), "cuda:sm_90a,device=h20");
  EXPECT_EQ(ofDevice("NVIDIA H200", 90, 132), "cuda:sm_90a,device=h200");
  // A device by a name that is not known, and a part of one, keep their number of SMs.
  EXPECT_EQ(ofDevice("Some Hopper", 90, 78), "cuda:sm_90a,workers=78");
  EXPECT_EQ(ofDevice("NVIDIA H100 80GB HBM3 MIG 3g.40gb", 90, 60), "cuda:sm_90a,workers=60");
  EXPECT_EQ(ofDevice("NVIDIA A100-SXM4-80GB", 80, 108), "cuda:sm_80");
  EXPECT_EQ(ofDevice("Orin", 87, 14), "cuda:sm_87,workers=14");
  EXPECT_EQ(ofDevice("NVIDIA B200", 100, 148), "cuda:sm_100a");
  EXPECT_EQ(ofDevice("NVIDIA B300", 103, 148), "cuda:sm_103a");
  EXPECT_EQ(ofDevice("NVIDIA GeForce RTX 5090", 120, 170), "cuda:sm_120a");
  EXPECT_EQ(ofDevice("NVIDIA GB10", 121, 48), "cuda:sm_121a");
  // Chips that are not known run the PTX of the newest older one.
  EXPECT_EQ(ofDevice("Later", 200, 200), "cuda:sm_121,workers=200");
  EXPECT_EQ(ofDevice("Of a family", 125, 48), "cuda:sm_121f");
  EXPECT_EQ(ofDevice("Between", 88, 8), "cuda:sm_87,workers=8");
  EXPECT_EQ(ofDevice("Tesla T4", 75, 40),
            "expects a GPU of compute capability 8.0 or newer, but got 7.5");
}

TEST(TargetInfo, NamesWhatItExpectsAndGot) {
  EXPECT_EQ(errorOf("gpu"), "expects a target cpu, cpu:<chip> or cuda:<chip>, but got 'gpu'");
  EXPECT_EQ(errorOf("cuda"), "expects a target cpu, cpu:<chip> or cuda:<chip>, but got 'cuda'");
  EXPECT_EQ(errorOf("cuda:sm_70"),
            "expects one of the chips sm_80, sm_86, sm_87, sm_89, sm_90, sm_90a, sm_100, sm_100a, "
            "sm_100f, sm_103, sm_103a, sm_103f, sm_110, sm_110a, sm_110f, sm_120, sm_120a, "
            "sm_120f, sm_121, sm_121a and sm_121f, but got 'sm_70'");
  EXPECT_EQ(errorOf("cuda:sm_80,simd=2"),
            "expects device or workers after the chip, but got 'simd'");
  EXPECT_EQ(errorOf("cuda:sm_80,"), "expects device or workers after the chip, but got ''");
  EXPECT_EQ(errorOf("cpu,device=a"),
            "expects simd, registers or workers after the chip, but got 'device'");
  EXPECT_EQ(errorOf("cpu,workers=none"),
            "expects workers to be a number from 1 to 65536, but got 'none'");
  EXPECT_EQ(errorOf("cuda:sm_80,workers=0"),
            "expects workers to be a number from 1 to 65536, but got '0'");
  EXPECT_EQ(errorOf("cuda:sm_80,workers=99999999999999999999"),
            "expects workers to be a number from 1 to 65536, but got '99999999999999999999'");
  EXPECT_EQ(errorOf("cuda:sm_80,workers=2,workers=3"), "expects workers once, but got '3' as well");
  EXPECT_EQ(errorOf("cuda:sm_90a,device=h100,device=h200"),
            "expects device once, but got 'h200' as well");
  EXPECT_EQ(errorOf("cuda:sm_90a,device=a100"),
            "expects a device of sm_90a (h100, h200, h100-pcie and h20), but got 'a100'");
  EXPECT_EQ(errorOf("cpu,simd=100"), "expects simd to be a multiple of 64 bits, but got 100");
  EXPECT_NE(errorOf("cpu:mine").find("but got 'mine'"), std::string::npos);
  EXPECT_NE(errorOf("cpu:,simd=128,registers=8").find("but got ''"), std::string::npos);
}

} // namespace
