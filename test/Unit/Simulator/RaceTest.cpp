// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses that the happens-before model must and must not report.

#include "RunKernel.h"

using namespace blocksparse::sim;

namespace {

const std::string shared = ".shared .align 1024 .b8 buffer[4096];\n"
                           ".shared .align 8 .b8 barrier[16];\n";
/// Every thread has its word of the buffer in %d3; %p1 holds for thread 0, %p2 for warp 0.
const std::string begin =
    "mov.b64 %d1, buffer; mov.b64 %d2, barrier; setp.eq.b32 %p1, %t, 0;\n"
    "setp.lt.u32 %p2, %t, 32; mul.wide.u32 %d3, %t, 4; add.s64 %d3, %d1, %d3;\n"
    "mov.b32 %r1, 5;\n";

/// Returns the report on a kernel of 128 threads; "" if there is none.
std::string reportOn(const std::string &body) {
  RunKernel kernel(begin + body, shared);
  kernel.shape.block[0] = 128;
  kernel.run(std::vector<uint32_t>(1024, 1));
  return kernel.error;
}

void expectReport(const std::string &body, const std::string &text) {
  std::string report = reportOn(body);
  EXPECT_NE(report.find(text), std::string::npos) << report;
}

const std::string bulkStore =
    "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%out], [%d1], 512;\n"
    "@%p1 cp.async.bulk.commit_group;\n";
const std::string bulkWait = "@%p1 cp.async.bulk.wait_group 0;\n";

TEST(SimulatorRace, WarpsNeedABarrierBetweenThem) {
  const std::string read = "ld.shared.b32 %r2, [%d1+256];\n";
  expectReport("st.shared.b32 [%d3], %r1;\n" + read, "expects a");
  EXPECT_EQ(reportOn("st.shared.b32 [%d3], %r1; bar.sync 0;\n" + read), "");
  // The read must end before the word is written again.
  expectReport("st.shared.b32 [%d3], %r1; bar.sync 0;\n" + read + "st.shared.b32 [%d3], %r1;",
               "expects a barrier between the read of line 13 'ld.shared.b32' by warp ");
  EXPECT_EQ(reportOn("st.shared.b32 [%d3], %r1; bar.sync 0;\n" + read +
                     "bar.sync 0; st.shared.b32 [%d3], %r1;"),
            "");
}

TEST(SimulatorRace, AtomicUpdatesNeedNoOrderAmongEachOther) {
  const std::string clear = "@%p2 st.shared.b32 [%d3], 0;\n",
                    add = "atom.shared.add.u32 %r2, [%d1], %r1;\n",
                    read = "ld.shared.b32 %r2, [%d1];\n";
  EXPECT_EQ(reportOn(clear + "bar.sync 0;\n" + add + add + "bar.sync 0;\n" + read), "");
  // They are ordered after the writes and the reads of other warps, and before them.
  expectReport(clear + add, "expects a barrier between the write of line ");
  expectReport(clear + "bar.sync 0;\n" + add + read, "expects a barrier between the ");
  expectReport(clear + "bar.sync 0;\n" + add + "@%p2 st.shared.b32 [%d3], %r1;\n",
               "expects a barrier between the ");
}

TEST(SimulatorRace, NeighbouringBytesOfAWordAreNotShared) {
  EXPECT_EQ(reportOn("cvt.u64.u32 %d4, %t; add.s64 %d4, %d1, %d4; cvt.u16.u32 %h1, %r1;\n"
                     "st.shared.b8 [%d4], %h1;"),
            "");
}

TEST(SimulatorRace, ALaneReleasesWhatOtherLanesReadAfterTheyHaveMet) {
  // Warp 0 reads, its lane 0 arrives, and warp 1 writes.
  const std::string before = "@%p1 mbarrier.init.shared.b64 [%d2], 1;\n"
                             "@%p2 st.shared.b32 [%d3], %r1; bar.sync 0;\n"
                             "@%p2 ld.shared.b32 %r2, [%d3];\n";
  const std::string after = "@%p1 mbarrier.arrive.shared.b64 _, [%d2];\n@%p2 bra END;\n"
                            "WAIT: mbarrier.try_wait.parity.shared.b64 %p3, [%d2], 0;\n"
                            "@!%p3 bra WAIT;\n"
                            "setp.lt.u32 %p4, %t, 64; @%p4 st.shared.b32 [%d3+-128], %r1;\nEND:";
  EXPECT_EQ(reportOn(before + "bar.warp.sync -1;\n" + after), "");
  expectReport(before + after, "expects a barrier between the read");
  // The manual says of no other instruction where lanes meet that it orders their accesses.
  for (const char *meeting :
       {"wgmma.commit_group.sync.aligned;\n", "shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1;\n"})
    expectReport(before + meeting + after, "expects a barrier between the read");
}

TEST(SimulatorRace, BulkStoresNeedAProxyFence) {
  expectReport("st.shared.b32 [%d3], %r1; bar.sync 0;\n" + bulkStore + bulkWait,
               "expects fence.proxy.async between the write of line 12 'st.shared.b32' by warp 0 "
               "and this read at shared address 0x400 by the async proxy, but got none");
  EXPECT_EQ(reportOn("st.shared.b32 [%d3], %r1; fence.proxy.async.shared::cta; bar.sync 0;\n" +
                     bulkStore + bulkWait),
            "");
}

TEST(SimulatorRace, BulkStoresAreWaitedForBeforeTheNextWrite) {
  const std::string stored =
      "st.shared.b32 [%d3], %r1; fence.proxy.async.shared::cta; bar.sync 0;\n" + bulkStore;
  expectReport(stored + "bar.sync 0; st.shared.b32 [%d3], %r1;" + bulkWait,
               "expects cp.async.bulk.wait_group there and a barrier between the read of line 13");
  EXPECT_EQ(reportOn(stored + bulkWait + "bar.sync 0; st.shared.b32 [%d3], %r1;"), "");
  expectReport(stored, "expects cp.async.bulk.wait_group before the end of the warp, but got 1");
}

TEST(SimulatorRace, AnMbarrierIsInitialisedBeforeOthersUseIt) {
  const std::string wait = "WAIT: mbarrier.try_wait.parity.shared.b64 %p3, [%d2], 1;\n"
                           "@!%p3 bra WAIT;\n";
  expectReport("@%p1 mbarrier.init.shared.b64 [%d2], 1;\n" + wait,
               "expects a barrier between the initialisation of the mbarrier");
  EXPECT_EQ(reportOn("@%p1 mbarrier.init.shared.b64 [%d2], 1; bar.sync 0;\n" + wait), "");
}

TEST(SimulatorRace, RegistersOfSetmaxnregArePooled) {
  // 128 threads begin with 256 registers each, so that nothing is left to take.
  const std::string less = "setmaxnreg.dec.sync.aligned.u32 128;\n";
  EXPECT_EQ(reportOn(less + "bar.sync 0; setmaxnreg.inc.sync.aligned.u32 256;"), "");
  expectReport("@%p2 bra LESS; setmaxnreg.dec.sync.aligned.u32 248; bra END;\nLESS: " + less +
                   "setmaxnreg.inc.sync.aligned.u32 120;\nEND:",
               "expects at least the 128 registers of a thread, but got 120");
}

TEST(SimulatorRace, AccumulatorsAreLeftAloneUntilTheWait) {
  const std::string product =
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r10, %r11, %r12, %r13}, %d6, %d6, %p5, "
      "1, 1, 0, 0;\nwgmma.commit_group.sync.aligned;\n";
  const std::string data =
      "st.shared.b32 [%d3], %r1; st.shared.b32 [%d3+512], %r1; st.shared.b32 [%d3+1024], %r1;\n"
      "st.shared.b32 [%d3+1536], %r1; fence.proxy.async; bar.sync 0; setp.ne.b32 %p5, 0, 0;\n"
      "shr.u64 %d6, %d1, 4; or.b64 %d6, %d6, 68720001024;\n";
  const std::string wait = "wgmma.wait_group.sync.aligned 0;\n";
  EXPECT_EQ(reportOn(data + "wgmma.fence.sync.aligned;" + product + wait + "mov.b32 %r2, %r10;"),
            "");
  expectReport(data + product + wait, "expects wgmma.fence before the first wgmma, but got none");
  expectReport(data + "wgmma.fence.sync.aligned; mov.b32 %r10, 0;" + product + wait,
               "expects wgmma.fence between the access of line 15 'mov.b32' to an accumulator");
  expectReport(data + "wgmma.fence.sync.aligned;" + product + "mov.b32 %r2, %r10;\n" + wait,
               "this read of an accumulator, but got commit group 1 with 0 finished");
}

} // namespace
