// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RunKernel.h"

#include <numeric>

using namespace blocksparse::sim;

namespace {

const std::string storeLane = "mul.wide.u32 %d9, %t, 4; add.s64 %d9, %d9, %out;"
                              "st.global.b32 [%d9], %r0;";

std::vector<uint32_t> lanes(RunKernel &kernel, size_t count = 32) {
  EXPECT_TRUE(kernel.run(std::vector<uint32_t>{})) << kernel.error;
  std::vector<uint32_t> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = kernel.output<uint32_t>(i);
  return values;
}

TEST(SimulatorWarp, DivergentLanesTakeTheirOwnPaths) {
  // Every lane counts down from its number in a loop of its own length.
  RunKernel kernel("mov.b32 %r1, %t; mov.b32 %r0, 100;\n"
                   "LOOP: setp.eq.b32 %p1, %r1, 0; @%p1 bra DONE;\n"
                   "add.s32 %r0, %r0, 2; sub.s32 %r1, %r1, 1; bra LOOP;\n"
                   "DONE: " +
                   storeLane);
  std::vector<uint32_t> values = lanes(kernel);
  for (uint32_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(values[lane], 100 + 2 * lane);
}

TEST(SimulatorWarp, ShufflesWaitForTheirLanes) {
  // Odd lanes take a longer way to the shuffle, which lies before it in the text.
  RunKernel kernel("and.b32 %r2, %t, 1; setp.ne.b32 %p1, %r2, 0; mov.b32 %r1, %t;\n"
                   "@%p1 bra ODD;\nJOIN: shfl.sync.bfly.b32 %r0, %r1, 1, 31, -1;" +
                   storeLane + "bra END;\nODD: add.s32 %r1, %r1, 100; bra JOIN;\nEND:");
  std::vector<uint32_t> values = lanes(kernel);
  for (uint32_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(values[lane], lane % 2 ? lane - 1 : lane + 1 + 100);
}

TEST(SimulatorWarp, ShuffleModesFollowTheManual) {
  RunKernel down("shfl.sync.down.b32 %r0|%p1, %t, 4, 31, -1; @!%p1 add.s32 %r0, %r0, 1000;" +
                 storeLane);
  std::vector<uint32_t> values = lanes(down);
  EXPECT_EQ(values[0], 4u);
  EXPECT_EQ(values[27], 31u);
  EXPECT_EQ(values[28], 1028u);
  RunKernel index("shfl.sync.idx.b32 %r0, %t, 5, 6175, -1;" + storeLane); // segments of 8: 0x181f
  EXPECT_EQ(lanes(index)[17], 21u);
}

TEST(SimulatorWarp, VotesAndElection) {
  RunKernel ballot("setp.lt.u32 %p1, %t, 3; vote.sync.ballot.b32 %r0, %p1, -1;" + storeLane);
  EXPECT_EQ(lanes(ballot)[9], 7u);
  RunKernel elect("elect.sync %r1|%p1, -1; selp.b32 %r0, 1, 0, %p1;" + storeLane);
  std::vector<uint32_t> values = lanes(elect);
  EXPECT_EQ(std::accumulate(values.begin(), values.end(), 0u), 1u);
  RunKernel sum("redux.sync.add.s32 %r0, %t, -1;" + storeLane);
  EXPECT_EQ(lanes(sum)[0], 31u * 16);
}

TEST(SimulatorWarp, BarriersOrderWarps) {
  // Every warp writes its number; after the barrier each reads that of the next.
  RunKernel kernel("shr.u32 %r1, %t, 5; mul.wide.u32 %d1, %r1, 4; mov.b64 %d2, buffer;\n"
                   "add.s64 %d3, %d2, %d1; st.shared.b32 [%d3], %r1; bar.sync 0;\n"
                   "add.s32 %r2, %r1, 1; and.b32 %r2, %r2, 3; mul.wide.u32 %d1, %r2, 4;\n"
                   "add.s64 %d3, %d2, %d1; ld.shared.b32 %r0, [%d3];" +
                       storeLane,
                   ".shared .align 4 .b8 buffer[16];\n");
  kernel.shape.block[0] = 128;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    kernel.options.seed = seed;
    std::vector<uint32_t> values = lanes(kernel, 128);
    for (uint32_t thread = 0; thread < 128; ++thread)
      ASSERT_EQ(values[thread], (thread / 32 + 1) % 4);
  }
}

TEST(SimulatorWarp, AtomicsCountEveryLane) {
  RunKernel kernel("atom.global.add.u32 %r1, [%out], 1; mov.u32 %r2, %ctaid.x;\n"
                   "atom.global.max.u32 %r3, [%out+4], %r2;");
  kernel.shape.block[0] = 96;
  kernel.shape.grid[0] = 7;
  kernel.options.checkUnwritten = false; // the output is zeroed by the host
  std::vector<uint32_t> values = lanes(kernel);
  EXPECT_EQ(values[0], 96u * 7);
  EXPECT_EQ(values[1], 6u);
}

TEST(SimulatorWarp, CtasThatSpinLetOthersRun) {
  // CTA 0 waits for what CTA 1 writes.
  RunKernel kernel("mov.u32 %r1, %ctaid.x; setp.ne.b32 %p1, %r1, 0; @%p1 bra WRITE;\n"
                   "SPIN: ld.volatile.global.b32 %r2, [%out+4]; setp.eq.b32 %p2, %r2, 0;\n"
                   "@%p2 bra SPIN; st.global.b32 [%out], %r2; bra END;\n"
                   "WRITE: st.volatile.global.b32 [%out+4], 5;\nEND:");
  kernel.shape.grid[0] = 2;
  kernel.options.checkUnwritten = false;
  EXPECT_EQ(lanes(kernel)[0], 5u);
}

} // namespace
