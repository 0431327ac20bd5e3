// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Target/GPU/Ptxas.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::blocksparse;

namespace {

// This is what ptxas 13.0 wrote.
const char spilling[] = R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'small' for 'sm_90a'
ptxas info    : Function properties for small
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 4 registers, used 0 barriers, 73728 bytes smem, 360 bytes cmem[0]
ptxas info    : Compile time = 1.358 ms
ptxas info    : Compiling entry function 'spill' for 'sm_90a'
ptxas info    : Function properties for spill
    240 bytes stack frame, 232 bytes spill stores, 236 bytes spill loads
ptxas info    : Used 24 registers, used 1 barriers, 240 bytes cumulative stack size
)";

const char serial[] =
    R"(ptxas info    : (C7519) warpgroup.arrive is injected in around line 17 by compiler to allow use of registers in GMMA in function 'serial'
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'serial' for 'sm_90a'
ptxas info    : Function properties for serial
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 30 registers, used 0 barriers
ptxas warning : something to look at
)";

const char refused[] = R"(ptxas bad.ptx, line 9; error   : Unknown modifier '.u99'
ptxas fatal   : Ptx assembly aborted due to errors
)";

TEST(PtxasReport, KernelsInOrder) {
  PtxasReport report = parsePtxasReport(spilling);
  std::vector<PtxasKernel> expected = {{"small", 4, 0, 0, 0, 73728},
                                       {"spill", 24, 240, 232, 236, 0}};
  EXPECT_EQ(report.kernels, expected);
  EXPECT_TRUE(report.warnings.empty());
  EXPECT_TRUE(report.errors.empty());
}

TEST(PtxasReport, NumberedMessagesAreWarnings) {
  PtxasReport report = parsePtxasReport(serial);
  ASSERT_EQ(report.kernels.size(), 1u);
  EXPECT_EQ(report.kernels[0].registers, 30);
  ASSERT_EQ(report.warnings.size(), 2u);
  EXPECT_NE(report.warnings[0].find("(C7519)"), std::string::npos);
  EXPECT_NE(report.warnings[1].find("something to look at"), std::string::npos);
}

TEST(PtxasReport, Errors) {
  PtxasReport report = parsePtxasReport(refused);
  EXPECT_TRUE(report.kernels.empty());
  ASSERT_EQ(report.errors.size(), 2u);
  EXPECT_NE(report.errors[0].find("'.u99'"), std::string::npos);
}

TEST(PtxasReport, AnythingElseIsNothing) {
  PtxasReport report = parsePtxasReport("registers\n (C12) 5 bytes\n\n\xff\xfe: ' 'x\n");
  EXPECT_TRUE(report.errors.empty());
  EXPECT_TRUE(report.warnings.empty());
}

/// Returns the diagnostic of a report of one kernel on sm_90a, or "" if there is none.
std::string errorOf(PtxasKernel kernel, KernelLaunch launch) {
  MLIRContext context;
  std::string text, error;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    text = diagnostic.str();
    return success();
  });
  auto target = ::blocksparse::TargetInfo::parse("cuda:sm_90a", error);
  PtxasReport report;
  report.kernels = {kernel};
  LogicalResult result = checkKernelLimits(report, {launch}, *target,
                                           [&] { return emitError(UnknownLoc::get(&context)); });
  EXPECT_EQ(succeeded(result), text.empty());
  return text;
}

TEST(KernelLimits, SharedMemory) {
  EXPECT_EQ(errorOf({"k", 32, 0, 0, 0, 1024}, {"k", 128, 231424}), "");
  EXPECT_EQ(errorOf({"k", 32, 0, 0, 0, 1024}, {"k", 128, 231425}),
            "kernel 'k' expects at most 232448 bytes of shared memory per block on sm_90a, but got "
            "232449: 1024 static and 231425 dynamic");
  // A kernel that nobody launches has its static part.
  EXPECT_EQ(errorOf({"k", 32, 0, 0, 0, 1024}, {"other", 128, 232448}), "");
}

// Registers are given to warps, in steps of 256: 8 per thread.
TEST(KernelLimits, Registers) {
  EXPECT_EQ(errorOf({"k", 168, 0, 0, 0, 0}, {"k", 384, 0}), "");
  EXPECT_EQ(errorOf({"k", 128, 0, 0, 0, 0}, {"k", 512, 0}), "");
  EXPECT_EQ(
      errorOf({"k", 129, 0, 0, 0, 0}, {"k", 512, 0}),
      "kernel 'k' expects at most 65536 registers per block on sm_90a, but got 69632: 129 for "
      "each of 512 threads");
}

TEST(Ptxas, ANamedProgramMustExist) {
  MLIRContext context;
  std::string text;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    text = diagnostic.str();
    return success();
  });
  setenv("BLOCKSPARSE_PTXAS", "/nowhere/ptxas", /*overwrite=*/1);
  EXPECT_TRUE(failed(findPtxas([&] { return emitError(UnknownLoc::get(&context)); })));
  unsetenv("BLOCKSPARSE_PTXAS");
  EXPECT_EQ(text, "expects BLOCKSPARSE_PTXAS to name a program, but got '/nowhere/ptxas'");
}

} // namespace
