// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Target/Target.h"
#include "gtest/gtest.h"

using namespace blocksparse;

namespace {

std::optional<TargetInfo> findH20(std::string &error) {
  return TargetInfo::ofDevice({"NVIDIA H20", 90, 78}, error);
}

std::string errorOf(std::string_view text, const Target::FindNative &findNative = nullptr) {
  std::string error;
  EXPECT_FALSE(Target::parse(text, error, findNative).has_value()) << text;
  return error;
}

Target parsed(std::string_view text, const Target::FindNative &findNative = nullptr) {
  std::string error;
  std::optional<Target> target = Target::parse(text, error, findNative);
  EXPECT_TRUE(target.has_value()) << error;
  return target.value_or(Target());
}

TEST(Target, ReadsOne) {
  EXPECT_TRUE(Target().isCPU());
  EXPECT_TRUE(parsed("cpu").isCPU());
  EXPECT_FALSE(parsed("cpu").usesDevice());
  EXPECT_EQ(parsed("cpu,workers=8").first().workers(), 8);
  const Target hopper = parsed("cuda:sm_90a,workers=114");
  EXPECT_TRUE(hopper.isCUDA());
  EXPECT_TRUE(hopper.usesDevice());
  EXPECT_EQ(hopper.first().chip(), "sm_90a");
  EXPECT_EQ(hopper.first().workers(), 114);
  EXPECT_EQ(hopper.describe(), "cuda:sm_90a,workers=114");
}

TEST(Target, ReadsLists) {
  const Target list = parsed("cuda:sm_90a,device=h200,workers=114,cuda:sm_80,cpu,workers=3");
  ASSERT_EQ(list.members().size(), 3u);
  EXPECT_FALSE(list.isSingle() || list.isCPU() || list.isCUDA());
  EXPECT_TRUE(list.usesDevice());
  EXPECT_EQ(list.members()[0].workers(), 114);
  EXPECT_EQ(list.members()[0].gpuFacts().device, "h200");
  EXPECT_EQ(list.members()[1].workers(), 108);
  EXPECT_EQ(list.members()[2].workers(), 3);
  EXPECT_EQ(parsed(list.describe()).describe(), list.describe());
  EXPECT_EQ(parsed("cuda:sm_90a,cuda:sm_80,cpu").describe(), "cuda:sm_90a,cuda:sm_80,cpu");
}

TEST(Target, AsksForTheNativeGPU) {
  EXPECT_EQ(parsed("cuda:native", findH20).describe(), "cuda:sm_90a,device=h20");
  EXPECT_EQ(parsed("cuda:native,cuda:sm_80,cpu", findH20).describe(),
            "cuda:sm_90a,device=h20,cuda:sm_80,cpu");
  EXPECT_EQ(parsed("cuda:native,workers=50", findH20).first().workers(), 50);
  EXPECT_EQ(errorOf("cuda:native"),
            "expects the name of a chip, but got 'cuda:native' without a GPU to ask");
  EXPECT_EQ(errorOf("cuda:native",
                    [](std::string &error) {
                      error = "no GPU";
                      return std::optional<TargetInfo>();
                    }),
            "no GPU");
  EXPECT_EQ(errorOf("cuda:native,cuda:sm_90a", findH20),
            "expects each chip once, but got 'cuda:sm_90a' after 'cuda:sm_90a,device=h20'");
}

TEST(Target, NamesWhatItExpectsAndGot) {
  auto unknown = [](std::string_view text) {
    return "expects a target cpu, cuda:<chip> or cuda:native, but got '" + std::string(text) + "'";
  };
  for (std::string_view text : {"", "abacus", "sm_90a", "cuda", "workers=4", "emulate", "CPU"})
    EXPECT_EQ(errorOf(text), unknown(text));
  EXPECT_EQ(errorOf("cpu,"), unknown(""));
  EXPECT_EQ(errorOf(",cpu"), unknown(""));
  EXPECT_EQ(errorOf("cuda:sm_80,sm_90a"), unknown("sm_90a"));
  EXPECT_NE(errorOf("cuda:sm_99").find("but got 'sm_99'"), std::string::npos);
  for (std::string_view text : {"emulated", "emulated:sm_80"})
    EXPECT_EQ(errorOf(text), unknown(text) + " (--device=simulated runs kernels without a GPU)");
  EXPECT_NE(errorOf("cuda:").find("but got ''"), std::string::npos);
  EXPECT_EQ(errorOf("cpu:znver4"),
            "expects the target cpu, whose processor the option --cpu names, but got 'cpu:znver4'");
  EXPECT_EQ(errorOf("cpu,simd=512"),
            "expects the target cpu, whose processor the option --cpu names, but got "
            "'cpu,simd=512'");
  EXPECT_EQ(errorOf("cuda:sm_80,cuda:sm_80,workers=3"),
            "expects each chip once, but got 'cuda:sm_80,workers=3' after 'cuda:sm_80'");
  EXPECT_EQ(errorOf("cpu,cpu"), "expects each chip once, but got 'cpu' after 'cpu'");
  EXPECT_EQ(errorOf("cuda:sm_90a,threads=4"),
            "expects device or workers after the chip, but got 'threads'");
}

} // namespace
