// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Predicted times: the ratios between variants of a kernel.

#include "RunKernel.h"

using namespace blocksparse::sim;

namespace {

/// Returns the time of a launch of `ctas` CTAs of a warp without that of the launch itself, and
/// expects its limit.
double busyTime(const std::string &body, Limit limit, unsigned ctas = 1,
                const Rates &rates = h200Rates) {
  RunKernel kernel(body, ".shared .align 16 .b8 buffer[8192];\n");
  kernel.shape.grid[0] = ctas;
  kernel.options.counts = true;
  kernel.options.checkUnwritten = false;
  kernel.options.rates = rates;
  EXPECT_TRUE(kernel.run(std::vector<uint32_t>(1 << 20, 1))) << kernel.error;
  EXPECT_EQ(nameOf(kernel.time.limit), std::string(nameOf(limit)));
  return kernel.time.seconds - rates.launch;
}

std::string repeat(const std::string &text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i)
    result += text;
  return result;
}

TEST(SimulatorTimeModel, AFootprintCountsEachSectorOnce) {
  Footprint footprint;
  footprint.touch(1000, 1, /*reads=*/true); // within sector 31
  footprint.touch(992, 32, /*reads=*/true);
  EXPECT_EQ(footprint.getBytes(), 32u);
  footprint.touch(1023, 2, /*reads=*/false);
  EXPECT_EQ(footprint.getBytes(), 64u);
  EXPECT_EQ(footprint.getReadBytes(), 32u);
  // Over several pages of 2 KiB. What was written first need not come from memory.
  footprint.touch(4096, 8192, /*reads=*/false);
  footprint.touch(4096, 8192, /*reads=*/true);
  EXPECT_EQ(footprint.getBytes(), 64u + 8192u);
  footprint.touch(0, 0, /*reads=*/true);
  EXPECT_EQ(footprint.getBytes(), 64u + 8192u);
  EXPECT_EQ(footprint.getReadBytes(), 32u);
}

TEST(SimulatorTimeModel, TheBusiestPartLimits) {
  Rates rates = {2, 100, 1000, 10, 1, 1, 1, 1, 5};
  BusyTimes one, two;
  one.tensor = 3, two.loads = 4;
  PredictedTime time = predictTime({one, two}, 1000, 100, rates);
  EXPECT_EQ(time.seconds, 9);
  EXPECT_EQ(time.limit, Limit::Loads);
  EXPECT_EQ(predictTime({one, two}, 8000, 100, rates).limit, Limit::L2);
  EXPECT_EQ(predictTime({one, two}, 8000, 10000, rates).limit, Limit::Memory);
  EXPECT_EQ(predictTime({}, 0, 0, rates).seconds, 5);
}

TEST(SimulatorTimeModel, ScatteredLoadsTakeEightTimesAsLong) {
  // A warp touches 4 sectors of 32 bytes, or one for each lane.
  const std::string address = "mul.wide.u32 %d1, %t, %STRIDE; add.s64 %d1, %in, %d1;\n";
  auto body = [&](const std::string &stride) {
    std::string text = address;
    text.replace(text.find("%STRIDE"), 7, stride);
    return text + repeat("ld.global.b32 %r1, [%d1];\n", 50);
  };
  EXPECT_NEAR(busyTime(body("32"), Limit::Loads) / busyTime(body("4"), Limit::Loads), 8, 1e-9);
}

TEST(SimulatorTimeModel, AtomicsTouchSectorsAsStoresDo) {
  const std::string address = "mul.wide.u32 %d1, %t, 32; add.s64 %d1, %in, %d1;\n";
  double stores = busyTime(address + repeat("st.global.b32 [%d1], %r1;\n", 50), Limit::Loads);
  double atomics = busyTime(address + repeat("red.global.add.u32 [%d1], %r1;\n", 50), Limit::Loads);
  EXPECT_NEAR(atomics / stores, 1, 1e-9);
}

TEST(SimulatorTimeModel, AWaveMoreTakesTwiceAsLong) {
  const std::string body = repeat("add.u32 %r1, %r1, 1;\n", 100);
  double wave = busyTime(body, Limit::Issue, 132);
  EXPECT_NEAR(busyTime(body, Limit::Issue, 1) / wave, 1, 1e-9);
  EXPECT_NEAR(busyTime(body, Limit::Issue, 133) / wave, 2, 1e-9);
  // The A100 has 108 SMs and a slower clock.
  EXPECT_NEAR(busyTime(body, Limit::Issue, 132, findChip({80, 0})->rates) / wave, 2 * 1.83 / 1.41,
              1e-9);
}

TEST(SimulatorTimeModel, BankConflictsTakeTime) {
  auto body = [](const std::string &stride) {
    return "mul.lo.u32 %r1, %t, " + stride +
           "; cvt.u64.u32 %d1, %r1; mov.b64 %d2, buffer;\n"
           "add.s64 %d1, %d1, %d2;\n" +
           repeat("st.shared.b32 [%d1], %r1;\n", 200);
  };
  // 4 bytes apart: 128 bytes a clock, as fast as four instructions begin. 128 bytes apart: all
  // lanes meet one bank, 31 passes more.
  double apart = busyTime(body("128"), Limit::Shared);
  EXPECT_NEAR(apart / busyTime(body("4"), Limit::Shared), 32, 1e-9);
}

TEST(SimulatorTimeModel, ProductsOfTf32TakeTwiceAsLong) {
  auto body = [](const std::string &name, const std::string &a, const std::string &b, int times) {
    return repeat("mma.sync.aligned." + name + " {%r0, %r1, %r2, %r3}, {" + a + "}, {" + b +
                      "}, {%r0, %r1, %r2, %r3};\n",
                  times);
  };
  const std::string a = "%r4, %r5, %r6, %r7", b = "%r8, %r9";
  double half = busyTime(body("m16n8k16.row.col.f32.f16.f16.f32", a, b, 50), Limit::Tensor);
  // A tf32 instruction takes as long as one of f16 and computes half as many products.
  double tf32 = busyTime(body("m16n8k8.row.col.f32.tf32.tf32.f32", a, b, 100), Limit::Tensor);
  EXPECT_NEAR(tf32 / half, 2, 1e-9);
  double bytes = busyTime(body("m16n8k32.row.col.s32.s8.s8.s32", a, b, 25), Limit::Tensor);
  EXPECT_NEAR(bytes / half, 0.5, 1e-9);
  // On an H200 a warp's products take 1.5 times as long as those of a warpgroup.
  EXPECT_NEAR(half * h200Rates.tensorOperations, 1.5 * 50 * 4096, 1e-3);
}

} // namespace
