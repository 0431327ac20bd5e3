// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses of global memory that the happens-before model must and must not report.

#include "RunKernel.h"

using namespace blocksparse::sim;

namespace {

/// %p1 holds in CTA 0, %p2 for thread 0, %r1 is 5, and %d1 and %d2 are addresses in shared memory.
const std::string begin = "mov.u32 %r9, %ctaid.x; setp.eq.b32 %p1, %r9, 0;\n"
                          "setp.eq.b32 %p2, %t, 0; mov.b32 %r1, 5;\n"
                          "mov.b64 %d1, buffer; mov.b64 %d2, barrier;\n";
const std::string shared = ".shared .align 128 .b8 buffer[512];\n"
                           ".shared .align 8 .b8 barrier[8];\n";

/// Returns the report on a kernel of two CTAs of 64 threads; "" if there is none.
std::string reportOn(const std::string &body, uint64_t seed = 0) {
  RunKernel kernel(begin + body, shared);
  kernel.shape.grid[0] = 2;
  kernel.shape.block[0] = 64;
  kernel.options.checkUnwritten = false;
  kernel.options.seed = seed;
  kernel.run(std::vector<uint32_t>(1024, 1));
  return kernel.error;
}

/// Expects a report with each of a few seeds: the verdict does not depend on the order of CTAs.
void expectReport(const std::string &body, const std::string &text) {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    std::string report = reportOn(body, seed);
    EXPECT_NE(report.find(text), std::string::npos) << "seed " << seed << ": " << report;
  }
}

void expectClean(const std::string &body) {
  for (uint64_t seed = 0; seed < 4; ++seed)
    EXPECT_EQ(reportOn(body, seed), "") << "seed " << seed;
}

TEST(SimulatorGlobalRace, TwoCtasWriteAWord) {
  std::string report = reportOn("@%p2 st.global.b32 [%out], %r1;");
  EXPECT_NE(report.find("CTA (1, 0, 0), warp 0, lanes 00000001, line 12 'st.global.b32': expects a "
                        "release and an acquire at the scope of the GPU between the write of line "
                        "12 'st.global.b32' by warp 0 of CTA (0, 0, 0) and this write at global "
                        "address 0x"),
            std::string::npos)
      << report;
  expectClean("mul.wide.u32 %d4, %r9, 4; add.s64 %d4, %out, %d4; @%p2 st.global.b32 [%d4], %r1;");
}

TEST(SimulatorGlobalRace, NeighboursAreToldApart) {
  // CTA c writes byte c, or half c, of a word; then byte c of half c.
  const std::string value = "cvt.u16.u32 %h1, %r1; cvt.u64.u32 %d4, %r9;\n";
  const std::string byte = "add.s64 %d6, %out, %d4; @%p2 st.global.b8 [%d6], %h1;\n";
  const std::string half = "shl.b64 %d5, %d4, 1; add.s64 %d5, %out, %d5;"
                           "@%p2 st.global.b16 [%d5], %h1;\n";
  expectClean(value + byte);
  expectClean(value + half);
  expectReport(value + byte + half, "expects a release and an acquire");
  expectReport(value + byte + "@%p2 ld.global.b32 %r2, [%out];", "expects a release");
}

TEST(SimulatorGlobalRace, ReadsDoNotRaceWithReads) {
  expectClean("ld.global.b32 %r2, [%in];");
  expectReport("ld.global.b32 %r2, [%in]; @%p1 bra END; @%p2 st.global.b32 [%in], %r1; END:",
               "expects a release and an acquire at the scope of the GPU between the ");
}

TEST(SimulatorGlobalRace, EveryLaneIsJudged) {
  // The lanes of CTA 0 read words next to each other, of which CTA 1 writes one.
  const std::string address = "mul.wide.u32 %d4, %t, 4; add.s64 %d4, %in, %d4;\n";
  for (int word : {0, 1, 30, 63}) {
    const std::string either = "setp.eq.b32 %p4, %r9, 1; and.pred %p4, %p4, %p2;\n";
    expectReport(address + either + "@%p1 ld.global.b32 %r2, [%d4];\n@%p4 st.global.b32 [%in+" +
                     std::to_string(4 * word) + "], %r1;",
                 "expects a release and an acquire");
  }
  // Lane 1 of warp 0 copies what CTA 1 writes.
  expectReport("setp.eq.b32 %p4, %r9, 1; and.pred %p4, %p4, %p2; shl.b32 %r3, %t, 4;\n"
               "and.b32 %r3, %r3, 511; cvt.u64.u32 %d4, %r3; add.s64 %d5, %d1, %d4;\n"
               "add.s64 %d4, %in, %d4; setp.lt.u32 %p5, %t, 32; and.pred %p5, %p5, %p1;\n"
               "@%p5 cp.async.cg.shared.global [%d5], [%d4], 16; cp.async.wait_all;\n"
               "@%p4 st.global.b32 [%in+20], %r1;",
               "expects a release and an acquire");
}

TEST(SimulatorGlobalRace, WarpsOfACtaNeedABarrier) {
  // Thread 0 writes and the other warp reads.
  const std::string write = "@!%p1 bra END; @%p2 st.global.b32 [%out], %r1;\n";
  const std::string read = "setp.ge.u32 %p3, %t, 32; @%p3 ld.global.b32 %r2, [%out];\nEND:";
  expectReport(write + read, "expects a barrier between the ");
  expectClean(write + "bar.sync 0;\n" + read);
}

TEST(SimulatorGlobalRace, ReleaseAndAcquirePassOnWhatHappened) {
  // CTA 1 writes a word and then a flag, for which CTA 0 waits.
  auto body = [](const std::string &release, const std::string &acquire,
                 const std::string &beforeFlag = "", const std::string &afterFlag = "") {
    return "@!%p2 bra END; @!%p1 bra WRITE;\n"
           "SPIN: ld." +
           acquire +
           ".global.b32 %r2, [%out+64]; setp.eq.b32 %p3, %r2, 5;\n"
           "@!%p3 bra SPIN;\n" +
           afterFlag +
           "ld.global.b32 %r3, [%out]; bra END;\n"
           "WRITE: st.global.b32 [%out], %r1;\n" +
           beforeFlag + "st." + release + ".global.b32 [%out+64], %r1;\nEND:";
  };
  const std::string wanted = "expects a release and an acquire at the scope of the GPU";
  expectClean(body("release.gpu", "acquire.gpu"));
  expectClean(body("relaxed.gpu", "relaxed.gpu", "fence.acq_rel.gpu;\n", "fence.acq_rel.gpu;\n"));
  expectClean(body("volatile", "volatile", "membar.gl;\n", "membar.gl;\n"));
  expectReport(body("relaxed.gpu", "relaxed.gpu"), wanted);
  expectReport(body("relaxed.gpu", "acquire.gpu"), wanted);
  expectReport(body("release.gpu", "relaxed.gpu"), wanted);
  expectReport(body("relaxed.gpu", "relaxed.gpu", "fence.acq_rel.cta;\n", "fence.acq_rel.gpu;\n"),
               wanted);
  expectReport(body("relaxed.gpu", "relaxed.gpu", "", "fence.acq_rel.gpu;\n"), wanted);
}

TEST(SimulatorGlobalRace, TheLastCtaAddsPartialSums) {
  // Each CTA writes its part; the one whose count is the last reads both.
  auto body = [](const std::string &order) {
    return "mul.wide.u32 %d4, %r9, 4; add.s64 %d4, %out, %d4; @%p2 st.global.b32 [%d4], %r1;\n"
           "@!%p2 bra END; atom" +
           order +
           ".global.add.u32 %r2, [%in], 1;\n"
           "setp.ne.b32 %p3, %r2, 2; @%p3 bra END;\n"
           "ld.global.v2.b32 {%r3, %r4}, [%out];\nEND:";
  };
  expectClean(body(".acq_rel.gpu"));
  expectReport(body(""), "expects a release and an acquire");
  expectReport(body(".acq_rel.cta"), "expects a release and an acquire");
}

TEST(SimulatorGlobalRace, AtomicsDoNotRaceWithEachOther) {
  expectClean("red.global.add.u32 [%in], 1;");
  expectReport("@%p1 red.global.add.u32 [%in], 1; @!%p1 ld.global.b32 %r2, [%in];",
               "expects a release and an acquire");
}

TEST(SimulatorGlobalRace, BulkStoresAreCompleteAfterTheirWait) {
  const std::string store = "@!%p1 bra END; @!%p2 bra END; st.shared.v2.b64 [%d1], {%d1, %d1};\n"
                            "fence.proxy.async.shared::cta;\n"
                            "cp.async.bulk.global.shared::cta.bulk_group [%out], [%d1], 16;\n"
                            "cp.async.bulk.commit_group;\n";
  const std::string load = "ld.global.b32 %r2, [%out];\n";
  expectClean(store + "cp.async.bulk.wait_group 0;\n" + load + "END:");
  expectReport(store + "cp.async.bulk.wait_group.read 0;\n" + load + "END:",
               "expects cp.async.bulk.wait_group between the write of line ");
}

TEST(SimulatorGlobalRace, BulkLoadsSeeStoresAfterAProxyFence) {
  auto body = [](const std::string &fence) {
    return "@!%p1 bra END; @!%p2 bra END; mbarrier.init.shared.b64 [%d2], 1;\n"
           "fence.proxy.async.shared::cta; st.global.v2.b64 [%out], {%d1, %d1};\n" +
           fence +
           "mbarrier.arrive.expect_tx.shared.b64 _, [%d2], 16;\n"
           "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%d1], [%out], 16, "
           "[%d2];\nWAIT: mbarrier.try_wait.parity.shared.b64 %p3, [%d2], 0; @!%p3 bra WAIT;\nEND:";
  };
  expectClean(body("fence.proxy.async;\n"));
  expectClean(body("fence.proxy.async.global;\n"));
  expectReport(body(""), "expects fence.proxy.async between the write of line 13");
  expectReport(body("fence.proxy.async.shared::cta;\n"), "expects fence.proxy.async");
}

/// Returns the report on the second of two launches. The first one has one CTA and the second one
/// two; it is in the given state.
std::string secondReport(const std::string &body, GlobalJudge::WorkState state) {
  RunKernel kernel(begin + "mov.u32 %r8, %nctaid.x; setp.eq.b32 %p8, %r8, 1;\n" + body, shared);
  kernel.shape.block[0] = 64;
  kernel.options.checkUnwritten = false;
  EXPECT_TRUE(kernel.run(std::vector<uint32_t>(1024, 1))) << kernel.error;
  kernel.shape.grid[0] = 2;
  kernel.options.launch = 2;
  kernel.options.stateOfWork = [state](uint32_t) { return state; };
  kernel.launch();
  return kernel.error;
}

std::string earlyReport(const std::string &body) {
  return secondReport(body, GlobalJudge::WorkState::UntilWait);
}

TEST(SimulatorGlobalRace, EarlyLaunchesWaitForWhatTheyOverwrite) {
  const std::string wait = "griddepcontrol.wait;\n";
  // The first launch reads or writes, and the second one writes or reads.
  for (auto [first, second, report] :
       {std::tuple{"ld", "st", "before this write at global address"},
        std::tuple{"st", "ld", "before this read at global address"},
        std::tuple{"st", "st", "before this write at global address"}}) {
    auto access = [](const std::string &guard, const std::string &kind) {
      return kind == "ld" ? guard + " ld.global.b32 %r2, [%out];\n"
                          : guard + " st.global.b32 [%out], %r1;\n";
    };
    std::string body = access("@%p8", first);
    std::string later = "setp.ne.b32 %p9, %r9, 0; @%p8 bra END; @%p9 bra END; @!%p2 bra END;\n" +
                        access("", second) + "END:";
    EXPECT_EQ(earlyReport("@!%p2 bra END;\n" + body + wait + later), "");
    EXPECT_EQ(secondReport("@!%p2 bra END;\n" + body + later, GlobalJudge::WorkState::Ended), "");
    // A launch on another stream is not waited for.
    std::string concurrent =
        secondReport("@!%p2 bra END;\n" + body + wait + later, GlobalJudge::WorkState::Concurrent);
    EXPECT_NE(concurrent.find(std::string("expects an event or a synchronisation between the ") +
                              (first[0] == 'l' ? "read" : "write") +
                              " of the work 1 before this one, on another stream, and this " +
                              (second[0] == 'l' ? "read" : "write") + " at global address"),
              std::string::npos)
        << concurrent;
    std::string found = earlyReport("@!%p2 bra END;\n" + body + later);
    EXPECT_NE(found.find(std::string("expects griddepcontrol.wait ") + report), std::string::npos)
        << found;
    EXPECT_NE(found.find(std::string("which the launch 1 before this one has ") +
                         (first[0] == 'l' ? "read" : "written")),
              std::string::npos)
        << found;
  }
  // Both read.
  EXPECT_EQ(earlyReport("ld.global.b32 %r2, [%in];"), "");
}

TEST(SimulatorGlobalRace, TheWaitOfAnotherWarpPassesThroughABarrier) {
  // Warp 1 waits for the launch before, and warp 0 reads.
  const std::string wait = "setp.ge.u32 %p3, %t, 32; @%p3 griddepcontrol.wait;\n";
  const std::string access = "@!%p2 bra END; @%p8 st.global.b32 [%out], %r1;\n"
                             "@!%p8 ld.global.b32 %r2, [%out];\nEND:";
  EXPECT_EQ(earlyReport(wait + "bar.sync 0;\n" + access), "");
  EXPECT_NE(earlyReport(wait + access).find("expects griddepcontrol.wait"), std::string::npos);
}

TEST(SimulatorGlobalRace, EveryAtomicWriteIsKept) {
  // Each CTA adds to a word; CTA 1 reads it after its own addition.
  const std::string add = "and.pred %p4, %p1, %p2; not.pred %p5, %p1; and.pred %p5, %p5, %p2;\n"
                          "@%p2 red.relaxed.gpu.global.add.u32 [%out], %r1;\n";
  expectReport(add + "@%p4 ld.global.b32 %r2, [%out];", "expects a release and an acquire");
  expectReport(add + "@%p5 ld.global.b32 %r2, [%out];", "expects a release and an acquire");
  expectReport(add + "@%p2 st.global.b32 [%out], %r1;", "expects a release and an acquire");
  // The second to count knows of the other's addition.
  const std::string count =
      "mov.b32 %r4, 0; @%p2 atom.acq_rel.gpu.global.inc.u32 %r4, [%in], %r1;\n"
      "setp.eq.b32 %p3, %r4, 2;\n";
  expectClean(add + count + "@%p3 ld.global.b32 %r2, [%out];");
  // An addition is no excuse for a weak write before it, which another addition does not follow.
  expectReport("and.pred %p4, %p1, %p2; @%p4 st.global.b32 [%out], %r1;\n" + add,
               "expects a release and an acquire");
}

} // namespace
