// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of work on streams, and the races between streams that the simulated driver reports.

#include "DriverCalls.h"

#include <gtest/gtest.h>

using namespace blocksparse::sim;

namespace {

TEST(SimulatorStreams, EventsAndTheHostOrderWork) {
  StreamOrder order;
  StreamOrder::Stream a = order.create(/*blocks=*/false), b = order.create(/*blocks=*/false);
  uint32_t first = order.begin(a);
  EXPECT_TRUE(order.isBefore(first, a));
  EXPECT_FALSE(order.isIdle());
  uint32_t second = order.begin(b);
  EXPECT_FALSE(order.isBefore(first, b));
  StreamOrder::Clock event = order.record(a);
  uint32_t third = order.begin(a);
  order.wait(b, event);
  order.begin(b);
  EXPECT_TRUE(order.isBefore(first, b));
  EXPECT_FALSE(order.isBefore(third, b));
  // Work that the host has waited for happens before all work that it begins afterwards.
  order.synchronise(b);
  order.begin(a);
  EXPECT_TRUE(order.isBefore(second, a));
  order.synchroniseAll();
  EXPECT_TRUE(order.isIdle());
  order.begin(b);
  EXPECT_TRUE(order.isBefore(third, b));
}

TEST(SimulatorStreams, TheDefaultStreamOrdersThoseThatBlock) {
  StreamOrder order;
  StreamOrder::Stream blocks = order.create(/*blocks=*/true), free = order.create(/*blocks=*/false);
  uint32_t first = order.begin(blocks), second = order.begin(free), third = order.begin(0);
  EXPECT_TRUE(order.isBefore(first, 0));
  EXPECT_FALSE(order.isBefore(second, 0));
  order.begin(blocks);
  EXPECT_TRUE(order.isBefore(third, blocks));
  order.begin(free);
  EXPECT_FALSE(order.isBefore(third, free));
}

/// Runs kernels that write or read a word on two streams that do not block.
class SimulatorStreamRace : public testing::Test {
protected:
  void SetUp() override {
    cuda::Context context;
    ASSERT_EQ(cuInit(0), cuda::success);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), cuda::success);
    ASSERT_EQ(cuCtxPushCurrent_v2(context), cuda::success);
    cuda::Module module;
    ASSERT_EQ(cuModuleLoadDataEx(&module,
                                 ".version 8.0\n.target sm_90a\n.address_size 64\n"
                                 ".visible .entry write(.param .u64 p) { .reg .b64 %d<2>;\n"
                                 "ld.param.b64 %d0, [p]; st.global.b32 [%d0], 5; ret; }\n"
                                 ".visible .entry read(.param .u64 p) { .reg .b64 %d<2>;\n"
                                 ".reg .b32 %r<2>; ld.param.b64 %d0, [p];\n"
                                 "ld.global.b32 %r0, [%d0]; ret; }\n",
                                 0, nullptr, nullptr),
              cuda::success);
    ASSERT_EQ(cuModuleGetFunction(&writes, module, "write"), cuda::success);
    ASSERT_EQ(cuModuleGetFunction(&reads, module, "read"), cuda::success);
    ASSERT_EQ(cuStreamCreate(&first, 1), cuda::success);
    ASSERT_EQ(cuStreamCreate(&second, 1), cuda::success);
    ASSERT_EQ(cuEventCreate(&event, 0), cuda::success);
    ASSERT_EQ(cuMemAlloc_v2(&memory, 64), cuda::success);
    ASSERT_EQ(cuMemsetD32Async(memory, 0, 16, first), cuda::success);
    ASSERT_EQ(cuCtxSynchronize(), cuda::success);
  }
  void TearDown() override {
    DriverState::get().sticky = cuda::success;
    EXPECT_EQ(cuCtxSynchronize(), cuda::success);
  }
  void launch(cuda::Function function, cuda::Stream stream) {
    void *arguments[] = {&memory};
    EXPECT_EQ(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr),
              cuda::success);
  }
  /// Expects that a report has come, and forgets it.
  void expectFault(const std::string &text) {
    EXPECT_EQ(cuCtxSynchronize(), cuda::errorLaunchFailed);
    EXPECT_NE(DriverState::get().fault.find(text), std::string::npos) << DriverState::get().fault;
    DriverState::get().sticky = cuda::success;
    EXPECT_EQ(cuCtxSynchronize(), cuda::success);
  }

  cuda::Function writes = nullptr, reads = nullptr;
  cuda::Stream first = nullptr, second = nullptr;
  cuda::Event event = nullptr;
  cuda::DevicePointer memory = 0;
};

TEST_F(SimulatorStreamRace, KernelsOnTwoStreamsNeedAnEvent) {
  launch(writes, first);
  launch(reads, second);
  expectFault(
      "kernel 'read', CTA (0, 0, 0), warp 0, lanes 00000001, line 8 'ld.global.b32': expects "
      "an event or a synchronisation between the write of the work 1 before this one, on "
      "another stream, and this read at global address");
  launch(reads, first);
  launch(writes, second);
  expectFault("between the read of the work 1 before this one, on another stream, and this write");
  launch(reads, first);
  launch(reads, second);
  EXPECT_EQ(cuCtxSynchronize(), cuda::success);
  launch(writes, first);
  ASSERT_EQ(cuEventRecord(event, first), cuda::success);
  ASSERT_EQ(cuStreamWaitEvent(second, event, 0), cuda::success);
  launch(reads, second);
  EXPECT_EQ(cuCtxSynchronize(), cuda::success);
  // An event that was recorded before the write orders nothing.
  ASSERT_EQ(cuEventRecord(event, first), cuda::success);
  launch(writes, first);
  ASSERT_EQ(cuStreamWaitEvent(second, event, 0), cuda::success);
  launch(reads, second);
  expectFault("expects an event or a synchronisation");
}

TEST_F(SimulatorStreamRace, TheHostMayWaitInBetween) {
  launch(writes, first);
  ASSERT_EQ(cuStreamSynchronize(first), cuda::success);
  launch(writes, second);
  ASSERT_EQ(cuEventRecord(event, second), cuda::success);
  ASSERT_EQ(cuEventSynchronize(event), cuda::success);
  launch(writes, first);
  EXPECT_EQ(cuCtxSynchronize(), cuda::success);
}

TEST_F(SimulatorStreamRace, CopiesAndFillsAreWorkToo) {
  uint32_t host = 0;
  launch(writes, first);
  ASSERT_EQ(cuMemcpyDtoHAsync_v2(&host, memory, 4, second), cuda::success);
  expectFault("copy or fill of 4 bytes, work ");
  ASSERT_EQ(cuMemsetD32Async(memory, 7, 16, first), cuda::success);
  launch(reads, second);
  expectFault("kernel 'read'");
  // A copy to the host has ended when it returns.
  launch(writes, first);
  ASSERT_EQ(cuMemcpyDtoHAsync_v2(&host, memory, 4, first), cuda::success);
  launch(writes, second);
  EXPECT_EQ(cuCtxSynchronize(), cuda::success);
  EXPECT_EQ(host, 5u);
}

TEST_F(SimulatorStreamRace, MemoryIsFreedAfterItsLastUse) {
  ASSERT_EQ(cuMemAllocFromPoolAsync(&memory, 64, nullptr, first), cuda::success);
  launch(writes, first);
  ASSERT_EQ(cuMemFreeAsync(memory, second), cuda::success);
  expectFault("expects an event or a synchronisation between the write of work on another stream "
              "and the end of its memory, but got none");
  launch(writes, first);
  EXPECT_EQ(cuCtxSynchronize(), cuda::errorIllegalAddress);
  EXPECT_NE(DriverState::get().fault.find("0 bytes into an allocation of 64 bytes that was freed"),
            std::string::npos)
      << DriverState::get().fault;
}

TEST_F(SimulatorStreamRace, AGraphKeepsTheMemoryThatItFrees) {
  cuda::GraphObject *graph = nullptr, *executable = nullptr;
  ASSERT_EQ(cuStreamBeginCapture_v2(first, 1), cuda::success);
  ASSERT_EQ(cuMemAllocFromPoolAsync(&memory, 64, nullptr, first), cuda::success);
  launch(writes, first);
  ASSERT_EQ(cuMemFreeAsync(memory, first), cuda::success);
  ASSERT_EQ(cuStreamEndCapture(first, &graph), cuda::success);
  ASSERT_EQ(cuGraphInstantiateWithFlags(&executable, graph, 0), cuda::success);
  ASSERT_EQ(cuGraphDestroy(graph), cuda::success);
  for (int i = 0; i < 3; ++i)
    ASSERT_EQ(cuGraphLaunch(executable, second), cuda::success);
  EXPECT_EQ(cuStreamSynchronize(second), cuda::success);
  // The work is that of the stream that the graph was launched on.
  launch(writes, first);
  EXPECT_EQ(cuCtxSynchronize(), cuda::success);
  ASSERT_EQ(cuGraphExecDestroy(executable), cuda::success);
  launch(writes, first);
  EXPECT_EQ(cuCtxSynchronize(), cuda::errorIllegalAddress);
}

} // namespace
