// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Faults that the simulated GPU finds, each as what it is.

#include "RunKernel.h"

using namespace blocksparse::sim;

namespace {

const std::string shared = ".shared .align 16 .b8 buffer[64];\n.shared .align 8 .b8 barrier[8];\n";

/// Returns the report on a kernel of 64 threads with 16 bytes of input, whose body begins at
/// line 9.
std::string faultOf(const std::string &body) {
  RunKernel kernel(body, shared);
  kernel.shape.block[0] = 64;
  EXPECT_FALSE(kernel.run(std::vector<uint32_t>{1, 2, 3, 4}));
  return kernel.error;
}

void expectFault(const std::string &body, const std::string &text) {
  std::string fault = faultOf(body);
  EXPECT_NE(fault.find(text), std::string::npos) << fault;
}

TEST(SimulatorJudge, NamesKernelCtaWarpLanesAndLine) {
  std::string fault = faultOf("setp.eq.b32 %p1, %t, 33;\n@%p1 ld.global.b32 %r1, [%in+16];");
  EXPECT_TRUE(fault.starts_with("kernel 'test', CTA (0, 0, 0), warp 1, lanes 00000002, "
                                "line 10 'ld.global.b32': expects an access"))
      << fault;
}

TEST(SimulatorJudge, OutOfBounds) {
  expectFault("ld.global.b32 %r1, [%in+16];",
              "0 bytes after the end of the allocation of 16 bytes");
  expectFault("st.global.b32 [%in+-4], %r1;", "4 bytes before the allocation of 16 bytes");
  expectFault("mov.b64 %d1, 0; ld.global.b32 %r1, [%d1];", "global address 0x0");
  expectFault("mov.b64 %d1, buffer; st.shared.b32 [%d1+4096], %r1;",
              "expects an access within shared memory");
}

TEST(SimulatorJudge, MisalignedAccess) {
  expectFault("ld.global.v2.b32 {%r1, %r2}, [%in+4];", "expects an address aligned to 8 bytes");
}

TEST(SimulatorJudge, UnwrittenMemory) {
  expectFault("mov.b64 %d1, buffer; ld.shared.b32 %r1, [%d1];",
              "expects a read of written memory, but got 4 bytes at shared address 0x400 of which "
              "nothing wrote byte 0");
  expectFault("ld.global.b32 %r1, [%out];", "at global address");
}

TEST(SimulatorJudge, MbarrierMisuse) {
  expectFault("mov.b64 %d1, barrier; mbarrier.init.shared.b64 [%d1], 1;\n"
              "mbarrier.arrive.shared.b64 _, [%d1], 2;",
              "expects at most 1 more arrivals in the phase of 1, but got 2");
  expectFault("mov.b64 %d1, barrier; st.shared.b64 [%d1], %d1;\n"
              "mbarrier.arrive.shared.b64 _, [%d1];",
              "expects an initialised mbarrier");
}

TEST(SimulatorJudge, DeadlockSaysWhatEveryWarpWaitsFor) {
  // Nobody arrives: the parity of phase 0 is waited for.
  std::string fault = faultOf("mov.b64 %d1, barrier; setp.eq.b32 %p1, %t, 0;\n"
                              "@%p1 mbarrier.init.shared.b64 [%d1], 1; bar.sync 0;\n"
                              "mbarrier.try_wait.parity.shared.b64 %p2, [%d1], 0;");
  EXPECT_NE(fault.find("deadlock, every warp waits"), std::string::npos) << fault;
  EXPECT_NE(fault.find("warp 1 lanes ffffffff at line 11 "
                       "'mbarrier.try_wait.parity.shared.b64'"),
            std::string::npos)
      << fault;
  // One warp alone is at a barrier for both.
  fault = faultOf("setp.lt.u32 %p1, %t, 32; @%p1 bar.sync 1, 64;\n"
                  "@!%p1 bar.sync 2, 64;");
  EXPECT_NE(fault.find("warp 0 lanes ffffffff at line 9 'bar.sync'"), std::string::npos) << fault;
}

TEST(SimulatorJudge, DivergentAlignedInstruction) {
  std::string fault = faultOf("and.b32 %r1, %t, 1; setp.eq.b32 %p1, %r1, 0;\n@%p1 bra A;\n"
                              "bar.sync 0; bra B;\nA: bar.sync 0;\nB:");
  EXPECT_NE(fault.find("lanes 55555555"), std::string::npos) << fault;
}

TEST(SimulatorJudge, WrongNumberOfThreads) {
  expectFault("setp.lt.u32 %p1, %t, 32; @%p1 bar.sync 1, 64; @!%p1 bar.sync 1, 96;",
              "expects the count of the threads that wait already, 64, but got 96");
}

} // namespace
