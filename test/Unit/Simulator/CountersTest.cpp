// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bytes that reach L2 and memory, and the passes over the banks of shared memory.

#include "L1Cache.h"
#include "RunKernel.h"

using namespace blocksparse::sim;

namespace {

/// Returns the counters of a kernel of `ctas` CTAs of a warp that reads 4 bytes a lane at %d1.
Counters countersOf(const std::string &body, unsigned ctas = 1) {
  RunKernel kernel("mul.wide.u32 %d0, %t, 4; add.s64 %d1, %in, %d0; mov.b64 %d2, buffer;\n"
                   "add.s64 %d3, %d2, %d0; mov.b32 %r9, 0; setp.eq.b32 %p1, %t, 0;\n" +
                       body,
                   ".shared .align 128 .b8 buffer[8192];\n");
  kernel.shape.grid[0] = ctas;
  kernel.options.counts = true;
  kernel.options.checkUnwritten = kernel.options.checkRaces = false;
  EXPECT_TRUE(kernel.run(std::vector<uint32_t>(1024, 1))) << kernel.error;
  return kernel.counters;
}

TEST(SimulatorCounters, ACacheDropsTheLineUsedLeastRecently) {
  L1Cache cache(2 * 128);
  EXPECT_FALSE(cache.read(0));
  EXPECT_FALSE(cache.read(1)); // the same line, another sector
  EXPECT_TRUE(cache.read(0));
  EXPECT_FALSE(cache.read(4));
  EXPECT_TRUE(cache.read(1));
  EXPECT_FALSE(cache.read(8)); // takes the place of the line of sector 4
  EXPECT_TRUE(cache.read(0));
  EXPECT_FALSE(cache.read(4));
  cache.clear();
  EXPECT_FALSE(cache.read(4));
  L1Cache none(0);
  EXPECT_FALSE(none.read(0));
  EXPECT_FALSE(none.read(0));
}

TEST(SimulatorCounters, L1ServesWhatItsSmHasRead) {
  const std::string load = "ld.global.b32 %r1, [%d1];\n";
  EXPECT_EQ(countersOf(load).l2ReadBytes, 128u);
  EXPECT_EQ(countersOf(load + load).l2ReadBytes, 128u);
  EXPECT_EQ(countersOf(load + load).globalSectors, 8u);
  // Another SM reads for itself; CTA 132 is on the SM of CTA 0.
  EXPECT_EQ(countersOf(load, 2).l2ReadBytes, 256u);
  EXPECT_EQ(countersOf(load, 133).l2ReadBytes, 132u * 128u);
  // Strong loads and those that say so pass by L1; an acquire empties it.
  for (const std::string &other : {std::string("ld.relaxed.gpu.global.b32 %r1, [%d1];\n"),
                                   std::string("ld.global.cg.b32 %r1, [%d1];\n"),
                                   std::string("fence.acq_rel.gpu; ld.global.b32 %r1, [%d1];\n")})
    EXPECT_EQ(countersOf(load + other).l2ReadBytes, 256u) << other;
}

TEST(SimulatorCounters, CopiesCountWhatTheyRead) {
  // Only the first of the 32 lanes has a source that is not empty.
  const std::string copy = "selp.b32 %r2, 16, 0, %p1; mul.wide.u32 %d0, %t, 16;\n"
                           "add.s64 %d3, %d2, %d0; add.s64 %d1, %in, %d0;\n"
                           "cp.async.cg.shared.global [%d3], [%d1], 16, %r2;\n"
                           "cp.async.commit_group; cp.async.wait_group 0;\n";
  EXPECT_EQ(countersOf(copy).l2ReadBytes, 32u);
  EXPECT_EQ(countersOf(copy).globalReadBytes, 16u);
  EXPECT_EQ(countersOf("mov.b32 %r2, 48; mbarrier.init.shared.b64 [%d2], 1;\n"
                       "mbarrier.expect_tx.relaxed.cta.shared.b64 [%d2], %r2;\n"
                       "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                       "[%d2+128], [%in+16], %r2, [%d2];\n")
                .l2ReadBytes,
            64u * 32u);
}

TEST(SimulatorCounters, MemoryGivesWhatWasNotWritten) {
  Counters counters = countersOf("st.global.b32 [%d1], %r9; ld.global.b32 %r1, [%d1];\n"
                                 "ld.global.b32 %r1, [%d1+512];");
  EXPECT_EQ(counters.l2WrittenBytes, 128u);
  EXPECT_EQ(counters.l2ReadBytes, 256u);
}

TEST(SimulatorCounters, BanksAreReadInPasses) {
  // 32 words of 32 banks; 32 words of one bank; a broadcast; 16 bytes a lane.
  EXPECT_EQ(countersOf("st.shared.b32 [%d3], %r9;").bankPasses, 1u);
  EXPECT_EQ(countersOf("mul.wide.u32 %d0, %t, 128; add.s64 %d3, %d2, %d0;\n"
                       "st.shared.b32 [%d3], %r9;")
                .bankPasses,
            32u);
  EXPECT_EQ(countersOf("ld.shared.b32 %r1, [%d2];").bankPasses, 1u);
  Counters wide = countersOf("mul.wide.u32 %d0, %t, 16; add.s64 %d3, %d2, %d0;\n"
                             "ld.shared.v4.b32 {%r1, %r2, %r3, %r4}, [%d3];");
  EXPECT_EQ(wide.bankPasses, 4u);
  EXPECT_EQ(wide.bankConflicts, 0u);
  EXPECT_EQ(countersOf("ld.shared.v4.b32 {%r1, %r2, %r3, %r4}, [%d2];").bankPasses, 2u);
}

} // namespace
