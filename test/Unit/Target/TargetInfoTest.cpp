// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Target/TargetInfo.h"
#include "gtest/gtest.h"

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

TEST(TargetInfo, ReadsProcessors) {
  EXPECT_EQ(parsed("cpu").chip(), "generic");
  EXPECT_EQ(parsed("cpu").cpuFacts().simdBits, 256);
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
  EXPECT_FALSE(parsed("cuda:sm_90").gpuFacts().wgmma);
  EXPECT_TRUE(parsed("cuda:sm_90").gpuFacts().tma);
  EXPECT_FALSE(parsed("cuda:sm_80").gpuFacts().tma);
  EXPECT_EQ(parsed("cuda:sm_80,workers=64").workers(), 64);
}

TEST(TargetInfo, TextComesBack) {
  for (const CPUChip &chip : knownCPUChips()) {
    const TargetInfo target = parsed("cpu:" + std::string(chip.name));
    EXPECT_EQ(parsed(target.toString()).toString(), target.toString());
  }
  for (const GPUChip &chip : knownGPUChips()) {
    const TargetInfo target = parsed("cuda:" + std::string(chip.name));
    EXPECT_EQ(parsed(target.toString()).toString(), target.toString());
  }
  EXPECT_EQ(TargetInfo::cpu("host", {512, 32}, 4).toString(),
            "cpu:host,simd=512,registers=32,workers=4");
}

TEST(TargetInfo, NamesWhatItExpectsAndGot) {
  EXPECT_EQ(errorOf("gpu"), "expects a target cpu, cpu:<chip> or cuda:<chip>, but got 'gpu'");
  EXPECT_EQ(errorOf("cuda:sm_70"),
            "expects one of the chips sm_80, sm_86, sm_89, sm_90, sm_90a, sm_100 and sm_120, but "
            "got 'sm_70'");
  EXPECT_EQ(errorOf("cuda:sm_80,simd=2"), "expects workers after the chip, but got 'simd'");
  EXPECT_EQ(errorOf("cpu,workers=none"), "expects workers to be a positive number, but got 'none'");
  EXPECT_EQ(errorOf("cpu,simd=100"), "expects simd to be a multiple of 64 bits, but got 100");
  EXPECT_NE(errorOf("cpu:mine").find("but got 'mine'"), std::string::npos);
}

} // namespace
