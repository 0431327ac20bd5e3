// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Fixtures of the runtime tests, which run against the fake driver.

#ifndef BLOCKSPARSE_TEST_RUNTIME_RUNTIMEFIXTURE_H
#define BLOCKSPARSE_TEST_RUNTIME_RUNTIMEFIXTURE_H

#include "FakeDriver.h"

#include "blocksparse-c/Runtime.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

/// Real PTX, for every device, of a kernel `out[i] = factor * in[i]` for i < count. Parameters:
/// out, in, factor, count.
extern const std::string scalePtx;

/// Holds the functions of FakeDriver.h, from the library that the runtime loaded.
struct FakeControl {
  decltype(&fakeDriverFail) fail;
  decltype(&fakeDriverReset) reset;
  decltype(&fakeDriverCalls) calls;
  decltype(&fakeDriverLastLaunch) lastLaunch;
  decltype(&fakeDriverLiveAllocations) liveAllocations;
  decltype(&fakeDriverLiveModules) liveModules;
  decltype(&fakeDriverContextDepth) contextDepth;
  decltype(&fakeDriverQuiet) quiet;
  decltype(&fakeDriverCapture) capture;
  decltype(&fakeDriverLiveGraphs) liveGraphs;
};

/// Returns true if BLOCKSPARSE_TEST_REAL_DRIVER selects the GPU of this machine.
bool usesRealDriver();

inline std::string lastError() { return blocksparseRtLastError(); }

#define EXPECT_OK(expr) EXPECT_EQ(expr, BLOCKSPARSE_RT_SUCCESS) << blocksparseRtLastError()
#define ASSERT_OK(expr) ASSERT_EQ(expr, BLOCKSPARSE_RT_SUCCESS) << blocksparseRtLastError()
/// Expects the status of `expr`, and a part of its error text.
#define EXPECT_FAILS(expr, status, part)                                                           \
  do {                                                                                             \
    EXPECT_EQ(expr, status) << blocksparseRtLastError();                                           \
    EXPECT_NE(lastError().find(part), std::string::npos)                                           \
        << "expected a text with\n  " << (part) << "\nbut got\n  " << lastError();                 \
  } while (false)

/// Runs tests against the fake driver. Each test begins without injected failures, and must leave
/// the thread's context stack and the sticky error as they were.
class RuntimeTest : public ::testing::Test {
protected:
  void SetUp() override;
  void TearDown() override;

  FakeControl fake = {};
  blocksparseRtDevice device = nullptr;
};

/// Runs tests with the kernel `scale` loaded.
class KernelTest : public RuntimeTest {
protected:
  void SetUp() override;
  void TearDown() override;
  /// Loads a kernel with the given PTX parameters whose launches the fake driver only records.
  blocksparseRtFunction load(const std::string &name, const std::string &parameters);

  blocksparseRtModule module = nullptr;
  blocksparseRtFunction scale = nullptr;

private:
  std::vector<blocksparseRtModule> others;
};

#endif // BLOCKSPARSE_TEST_RUNTIME_RUNTIMEFIXTURE_H
