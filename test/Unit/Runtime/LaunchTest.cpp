// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RuntimeFixture.h"

#include <cstring>
#include <vector>

namespace {

class LaunchTest : public KernelTest {
protected:
  blocksparseRtStatus launch(blocksparseRtFunction function, blocksparseRtLaunchConfig config) {
    return blocksparseRtLaunch(function, &config, nullptr, BLOCKSPARSE_RT_ANY_ARG_COUNT);
  }
};

TEST_F(LaunchTest, ArgumentsArriveAndTheResultIsRight) {
  std::vector<float> input = {1, 2, 3, 4, 5}, output(5);
  void *in = nullptr, *out = nullptr;
  ASSERT_OK(blocksparseRtAlloc(device, 20, nullptr, &in));
  ASSERT_OK(blocksparseRtAlloc(device, 20, nullptr, &out));
  ASSERT_OK(blocksparseRtCopyToDevice(device, in, input.data(), 20, nullptr));
  float factor = 2.5f;
  uint32_t count = 5;
  void *args[] = {&out, &in, &factor, &count};
  blocksparseRtLaunchConfig config = {{1, 1, 1}, {32, 1, 1}, {0, 0, 0}, 0, nullptr};
  ASSERT_OK(blocksparseRtLaunch(scale, &config, args, 4));
  ASSERT_OK(blocksparseRtCopyToHost(device, output.data(), out, 20, nullptr));
  EXPECT_EQ(output, (std::vector<float>{2.5, 5, 7.5, 10, 12.5}));
  EXPECT_OK(blocksparseRtFree(device, in, nullptr));
  EXPECT_OK(blocksparseRtFree(device, out, nullptr));

  EXPECT_FAILS(blocksparseRtLaunch(scale, &config, args, 3), BLOCKSPARSE_RT_INVALID_ARGUMENT,
               "kernel 'scale' with grid (1, 1, 1), block (32, 1, 1), shared memory 0 static + 0 "
               "dynamic bytes: expects 4 arguments, but got 3");
  args[2] = nullptr;
  EXPECT_FAILS(blocksparseRtLaunch(scale, &config, args, 4), BLOCKSPARSE_RT_INVALID_ARGUMENT,
               "expects the address of argument 2, but got NULL");
}

// gpu-to-llvm flattens two dynamic rank-2 memrefs and an i32 to 7 + 7 + 1 arguments; the last one
// must not be misplaced because of its width.
TEST_F(LaunchTest, MemrefsAsMlirFlattensThem) {
  std::string parameters;
  for (int i = 0; i < 14; ++i)
    parameters += ".param .u64 p" + std::to_string(i) + ", ";
  blocksparseRtFunction two = load("two_memrefs", parameters + ".param .u32 n");
  uint64_t values[14] = {0x1000, 0x1000, 0, 17, 33, 33, 1, 0x2000, 0x2000, 0, 33, 17, 17, 1};
  int32_t n = -5;
  void *args[15];
  for (int i = 0; i < 14; ++i)
    args[i] = &values[i];
  args[14] = &n;
  blocksparseRtLaunchConfig config = {{3, 2, 1}, {64, 2, 1}, {0, 0, 0}, 4096, nullptr};
  ASSERT_OK(blocksparseRtLaunch(two, &config, args, 15));
  FakeLaunch seen;
  ASSERT_TRUE(fake.lastLaunch(&seen));
  EXPECT_STREQ(seen.kernel, "two_memrefs");
  EXPECT_EQ(seen.argCount, 15);
  for (int i = 0; i < 14; ++i)
    EXPECT_EQ(seen.args[i], values[i]) << i;
  EXPECT_EQ(static_cast<int32_t>(seen.args[14]), -5);
  EXPECT_EQ(seen.grid[0], 3u);
  EXPECT_EQ(seen.grid[1], 2u);
  EXPECT_EQ(seen.block[1], 2u);
  EXPECT_EQ(seen.sharedBytes, 4096u);
}

TEST_F(LaunchTest, GridLimits) {
  blocksparseRtFunction empty = load("empty", "");
  EXPECT_FAILS(launch(empty, {{1, 1, 65536}, {128, 1, 1}, {0, 0, 0}, 512, nullptr}),
               BLOCKSPARSE_RT_LAUNCH_LIMIT,
               "kernel 'empty' with grid (1, 1, 65536), block (128, 1, 1), shared memory 0 static "
               "+ 512 dynamic bytes: expects grid z from 0 to 65535, but got 65536");
  EXPECT_FAILS(launch(empty, {{1, 65536, 1}, {1, 1, 1}, {0, 0, 0}, 0, nullptr}),
               BLOCKSPARSE_RT_LAUNCH_LIMIT, "expects grid y from 0 to 65535");
  EXPECT_FAILS(launch(empty, {{int64_t(1) << 31, 1, 1}, {1, 1, 1}, {0, 0, 0}, 0, nullptr}),
               BLOCKSPARSE_RT_LAUNCH_LIMIT, "expects grid x from 0 to 2147483647");
  EXPECT_FAILS(launch(empty, {{-1, 1, 1}, {1, 1, 1}, {0, 0, 0}, 0, nullptr}),
               BLOCKSPARSE_RT_LAUNCH_LIMIT, "but got -1");
  EXPECT_EQ(fake.calls("cuLaunchKernel"), 0);
  EXPECT_OK(launch(empty, {{2147483647, 65535, 65535}, {1024, 1, 1}, {0, 0, 0}, 0, nullptr}));
  EXPECT_EQ(fake.calls("cuLaunchKernel"), 1);
}

TEST_F(LaunchTest, EmptyGridLaunchesNothing) {
  blocksparseRtFunction empty = load("empty", "");
  EXPECT_OK(launch(empty, {{0, 1, 1}, {128, 1, 1}, {0, 0, 0}, 0, nullptr}));
  EXPECT_OK(launch(empty, {{5, 0, 1}, {128, 1, 1}, {0, 0, 0}, 0, nullptr}));
  EXPECT_EQ(fake.calls("cuLaunchKernel"), 0);
}

TEST_F(LaunchTest, BlockLimits) {
  blocksparseRtFunction heavy = load("heavy", "");
  EXPECT_FAILS(launch(heavy, {{1, 1, 1}, {513, 1, 1}, {0, 0, 0}, 0, nullptr}),
               BLOCKSPARSE_RT_LAUNCH_LIMIT,
               "expects at most 512 threads per block (the kernel uses 128 registers per thread), "
               "but got 513");
  EXPECT_FAILS(launch(scale, {{1, 1, 1}, {1025, 1, 1}, {0, 0, 0}, 0, nullptr}),
               BLOCKSPARSE_RT_LAUNCH_LIMIT, "expects block x from 1 to 1024, but got 1025");
  EXPECT_FAILS(launch(scale, {{1, 1, 1}, {1, 1, 65}, {0, 0, 0}, 0, nullptr}),
               BLOCKSPARSE_RT_LAUNCH_LIMIT, "expects block z from 1 to 64, but got 65");
  EXPECT_FAILS(launch(scale, {{1, 1, 1}, {0, 1, 1}, {0, 0, 0}, 0, nullptr}),
               BLOCKSPARSE_RT_LAUNCH_LIMIT, "but got 0");
  EXPECT_FAILS(launch(scale, {{1, 1, 1}, {64, 32, 1}, {0, 0, 0}, 0, nullptr}),
               BLOCKSPARSE_RT_LAUNCH_LIMIT, "at most 1024 threads per block");
}

TEST_F(LaunchTest, SharedMemoryIsGrantedOnDemand) {
  blocksparseRtFunction empty = load("empty", "");
  EXPECT_OK(launch(empty, {{1, 1, 1}, {1, 1, 1}, {0, 0, 0}, 200000, nullptr}));
  EXPECT_EQ(fake.calls("cuFuncSetAttribute"), 1);
  EXPECT_OK(launch(empty, {{1, 1, 1}, {1, 1, 1}, {0, 0, 0}, 100000, nullptr}));
  EXPECT_EQ(fake.calls("cuFuncSetAttribute"), 1);
  EXPECT_FAILS(launch(empty, {{1, 1, 1}, {1, 1, 1}, {0, 0, 0}, 232449, nullptr}),
               BLOCKSPARSE_RT_SHARED_MEMORY_LIMIT, "expects at most 232448 bytes");
}

TEST_F(LaunchTest, Clusters) {
  blocksparseRtFunction empty = load("empty", "");
  EXPECT_OK(launch(empty, {{8, 2, 1}, {128, 1, 1}, {2, 2, 1}, 0, nullptr}));
  FakeLaunch seen;
  ASSERT_TRUE(fake.lastLaunch(&seen));
  EXPECT_EQ(seen.cluster[0], 2u);
  EXPECT_EQ(seen.cluster[1], 2u);
  EXPECT_EQ(seen.cluster[2], 1u);
  EXPECT_OK(launch(empty, {{7, 1, 1}, {128, 1, 1}, {1, 1, 1}, 0, nullptr}));
  EXPECT_EQ(fake.calls("cuLaunchKernelEx"), 1);
  EXPECT_FAILS(launch(empty, {{7, 1, 1}, {128, 1, 1}, {2, 1, 1}, 0, nullptr}),
               BLOCKSPARSE_RT_LAUNCH_LIMIT, "that divides the grid's 7, but got 2");
  EXPECT_FAILS(launch(empty, {{8, 8, 1}, {128, 1, 1}, {4, 4, 1}, 0, nullptr}),
               BLOCKSPARSE_RT_LAUNCH_LIMIT, "at most 8 blocks per cluster, but got 16");
  EXPECT_FAILS(launch(empty, {{8, 8, 1}, {128, 1, 1}, {4, 0, 1}, 0, nullptr}),
               BLOCKSPARSE_RT_LAUNCH_LIMIT, "expects cluster y");
}

TEST_F(LaunchTest, DriverRefusalNamesKernelAndShape) {
  blocksparseRtFunction empty = load("empty", "");
  fake.fail("cuLaunchKernel", 1, 1);
  EXPECT_FAILS(launch(empty, {{4, 5, 6}, {32, 1, 1}, {0, 0, 0}, 64, nullptr}),
               BLOCKSPARSE_RT_DRIVER_ERROR,
               "kernel 'empty' with grid (4, 5, 6), block (32, 1, 1), shared memory 0 static + 64 "
               "dynamic bytes on device 0 (Fake H100): launch failed with "
               "CUDA_ERROR_INVALID_VALUE (1): invalid argument");
}

// A failure of a kernel is reported by a later call, which does not know the kernel.
TEST_F(LaunchTest, LateFailureNamesTheLastLaunch) {
  blocksparseRtFunction empty = load("empty", "");
  ASSERT_OK(launch(empty, {{4, 5, 6}, {32, 1, 1}, {0, 0, 0}, 0, nullptr}));
  fake.fail("cuStreamSynchronize", 1, 700);
  EXPECT_FAILS(blocksparseRtStreamSynchronize(device, nullptr), BLOCKSPARSE_RT_DRIVER_ERROR,
               "last launch: kernel 'empty' with grid (4, 5, 6)");
  EXPECT_NE(lastError().find("CUDA_ERROR_ILLEGAL_ADDRESS (700)"), std::string::npos);
}

TEST_F(LaunchTest, LateFailureNamesAKernelThatIsGone) {
  std::string text = ".version 7.0\n.target sm_80\n.address_size 64\n"
                     ".visible .entry brief() { ret; }\n";
  blocksparseRtModule brief = nullptr;
  ASSERT_OK(blocksparseRtModuleLoadPtx(device, text.data(), text.size(), 4, &brief));
  blocksparseRtFunction function = nullptr;
  ASSERT_OK(blocksparseRtModuleGetFunction(brief, "brief", &function));
  ASSERT_OK(launch(function, {{2, 1, 1}, {32, 1, 1}, {0, 0, 0}, 0, nullptr}));
  ASSERT_OK(blocksparseRtModuleUnload(brief));
  fake.fail("cuStreamSynchronize", 1, 719);
  EXPECT_FAILS(blocksparseRtStreamSynchronize(device, nullptr), BLOCKSPARSE_RT_DRIVER_ERROR,
               "last launch: kernel 'brief' with grid (2, 1, 1)");
}

TEST_F(LaunchTest, NullHandles) {
  blocksparseRtLaunchConfig config = {};
  EXPECT_FAILS(blocksparseRtLaunch(nullptr, &config, nullptr, 0), BLOCKSPARSE_RT_INVALID_ARGUMENT,
               "expects a function, but got NULL");
  EXPECT_FAILS(blocksparseRtLaunch(scale, nullptr, nullptr, 0), BLOCKSPARSE_RT_INVALID_ARGUMENT,
               "got NULL");
}

} // namespace
