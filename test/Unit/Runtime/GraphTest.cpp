// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RuntimeFixture.h"

namespace {

class GraphTest : public RuntimeTest {
protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    ASSERT_OK(blocksparseRtStreamCreate(device, &stream));
  }
  void TearDown() override {
    EXPECT_EQ(fake.liveGraphs(), 0);
    EXPECT_OK(blocksparseRtStreamDestroy(device, stream));
    RuntimeTest::TearDown();
  }

  blocksparseRtStream stream = nullptr;
  blocksparseRtGraph graph = nullptr;
};

TEST_F(GraphTest, IsLaunchedAgain) {
  ASSERT_OK(blocksparseRtCaptureBegin(device, stream));
  ASSERT_OK(blocksparseRtCaptureEnd(device, stream, &graph));
  ASSERT_NE(graph, nullptr);
  for (int i = 0; i < 3; ++i)
    EXPECT_OK(blocksparseRtGraphLaunch(device, graph, stream));
  EXPECT_EQ(fake.calls("cuGraphLaunch"), 3);
  EXPECT_OK(blocksparseRtGraphDestroy(device, graph));
}

TEST_F(GraphTest, WrongArguments) {
  EXPECT_FAILS(blocksparseRtCaptureBegin(nullptr, stream), BLOCKSPARSE_RT_INVALID_ARGUMENT,
               "expects a device, but got NULL");
  EXPECT_FAILS(blocksparseRtCaptureBegin(device, nullptr), BLOCKSPARSE_RT_INVALID_ARGUMENT,
               "expects a stream of its own, but got NULL");
  EXPECT_FAILS(blocksparseRtCaptureEnd(device, stream, nullptr), BLOCKSPARSE_RT_INVALID_ARGUMENT,
               "expects a place for the graph, but got NULL");
  EXPECT_FAILS(blocksparseRtGraphLaunch(device, nullptr, stream), BLOCKSPARSE_RT_INVALID_ARGUMENT,
               "expects a graph, but got NULL");
  EXPECT_FAILS(blocksparseRtGraphDestroy(device, nullptr), BLOCKSPARSE_RT_INVALID_ARGUMENT,
               "expects a graph, but got NULL");
}

// Whichever driver call fails, nothing leaks and the stream executes again.
TEST_F(GraphTest, EveryCallMayFail) {
  for (const char *call : {"cuStreamEndCapture", "cuGraphInstantiateWithFlags"}) {
    ASSERT_OK(blocksparseRtCaptureBegin(device, stream));
    fake.fail(call, 1, 1);
    EXPECT_FAILS(blocksparseRtCaptureEnd(device, stream, &graph), BLOCKSPARSE_RT_DRIVER_ERROR,
                 call);
    EXPECT_EQ(graph, nullptr);
    EXPECT_EQ(fake.liveGraphs(), 0);
    fake.capture(stream, false);
  }
}

} // namespace
