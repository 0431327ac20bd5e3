// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chips that code names: the devices that run it, and the instructions that it may use.

#include "Chips.h"
#include "RunKernel.h"

using namespace blocksparse::sim;

namespace {

TEST(SimulatorCodeTarget, ReadsChips) {
  for (const char *name : {"sm_80", "sm_90a", "sm_103f", "sm_121"})
    EXPECT_EQ(CodeTarget::parse(name)->name(), name);
  for (const char *name : {"", "sm_", "sm_a", "sm_9", "sm_90b", "sm_90aa", "sm_-90", "compute_90"})
    EXPECT_FALSE(CodeTarget::parse(name)) << name;
}

/// Returns the devices, of all that can be simulated, that run code for a chip.
std::string devicesFor(const char *name) {
  std::string names;
  for (const Chip &chip : knownChips())
    if (CodeTarget::parse(name)->runsOn(chip.capability))
      names += std::string(names.empty() ? "" : " ") + chip.target;
  return names;
}

TEST(SimulatorCodeTarget, RunsOnNewerDevicesWithoutASuffix) {
  EXPECT_EQ(devicesFor("sm_103"), "sm_103a sm_110a sm_120a sm_121a");
  EXPECT_EQ(devicesFor("sm_100f"), "sm_100a sm_103a");
  EXPECT_EQ(devicesFor("sm_100a"), "sm_100a");
  EXPECT_EQ(devicesFor("sm_120f"), "sm_120a sm_121a");
  EXPECT_EQ(devicesFor("sm_130"), "");
}

TEST(SimulatorCodeTarget, EveryDeviceRunsItsOwnCode) {
  for (const Chip &chip : knownChips()) {
    std::optional<CodeTarget> target = CodeTarget::parse(chip.target);
    ASSERT_TRUE(target) << chip.target;
    EXPECT_EQ(target->capability, chip.capability);
    EXPECT_EQ(findChip(*target), &chip);
    EXPECT_EQ(chip.rates.multiprocessors, static_cast<unsigned>(chip.multiprocessors));
  }
}

/// Returns the error of a kernel for `target` with this instruction, or an empty string.
std::string errorFor(const std::string &target, const std::string &instruction) {
  std::string error;
  std::unique_ptr<Module> module =
      parseModule(".version 8.0\n.target " + target + "\n.address_size 64\n.visible .entry k()\n{" +
                      ".reg .pred %p<9>;.reg .b16 %h<9>;.reg .b32 %r<9>;.reg .b64 %d<9>;\n" +
                      instruction + "\n}\n",
                  error);
  if (module)
    decodeKernel(module->functions[0], {}, error);
  return error;
}

TEST(SimulatorCodeTarget, InstructionsThatAChipLacksAreRefused) {
  EXPECT_EQ(errorFor("sm_80", "elect.sync %r1|%p1, -1;"),
            "kernel 'k', line 6: expects code for sm_90 or newer instead of sm_80, but got "
            "'elect.sync'");
  EXPECT_EQ(errorFor("sm_90", "elect.sync %r1|%p1, -1;"), "");
  EXPECT_EQ(errorFor("sm_86", "cvt.rn.f16x2.e4m3x2 %r1, %h1;"),
            "kernel 'k', line 6: expects code for sm_89 or newer instead of sm_86, but got "
            "'cvt.rn.f16x2.e4m3x2'");
  EXPECT_EQ(errorFor("sm_89", "cvt.rn.f16x2.e4m3x2 %r1, %h1;"), "");
  EXPECT_EQ(errorFor("sm_90", "setmaxnreg.inc.sync.aligned.u32 232;"),
            "kernel 'k', line 6: expects code for sm_90a or a newer chip with a suffix instead of "
            "sm_90, but got 'setmaxnreg.inc.sync.aligned.u32'");
  EXPECT_EQ(errorFor("sm_120f", "setmaxnreg.inc.sync.aligned.u32 232;"), "");
  EXPECT_EQ(errorFor("sm_100a", "wgmma.fence.sync.aligned;"),
            "kernel 'k', line 6: expects code for sm_90a instead of sm_100a, but got "
            "'wgmma.fence.sync.aligned'");
  EXPECT_EQ(errorFor("sm_90a", "wgmma.fence.sync.aligned;"), "");
  EXPECT_EQ(errorFor("sm_80", "mov.u32 %r1, %cluster_ctarank;"),
            "kernel 'k', line 6: expects code for sm_90 or newer instead of sm_80, but got "
            "'mov.u32'");
  EXPECT_EQ(errorFor("sm_80", "add.bf16 %h1, %h2, %h3;"),
            "kernel 'k', line 6: expects code for sm_90 or newer instead of sm_80, but got "
            "'add.bf16'");
  EXPECT_EQ(errorFor("sm_80", "fma.rn.bf16 %h1, %h2, %h3, %h4;"), "");
}

} // namespace
