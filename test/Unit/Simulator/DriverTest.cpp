// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Answers of the simulated driver that depend on its state.

#include "DriverCalls.h"

#include <gtest/gtest.h>

using namespace blocksparse::sim;

namespace {

TEST(SimulatorDriver, AGraphIsInstantiatedInACurrentContext) {
  cuda::Context context;
  cuda::Stream stream;
  cuda::GraphObject *graph = nullptr, *executable = nullptr;
  ASSERT_EQ(cuInit(0), cuda::success);
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), cuda::success);
  ASSERT_EQ(cuCtxPushCurrent_v2(context), cuda::success);
  ASSERT_EQ(cuStreamCreate(&stream, 0), cuda::success);
  ASSERT_EQ(cuCtxPopCurrent_v2(nullptr), cuda::success);
  // Capture and launches have the context of their stream (measured on an H200, driver 580.159.04).
  ASSERT_EQ(cuStreamBeginCapture_v2(stream, 1), cuda::success);
  ASSERT_EQ(cuStreamEndCapture(stream, &graph), cuda::success);
  EXPECT_EQ(cuGraphInstantiateWithFlags(&executable, graph, 0), 201); // invalid context
  ASSERT_EQ(cuCtxPushCurrent_v2(context), cuda::success);
  EXPECT_EQ(cuGraphInstantiateWithFlags(&executable, graph, 0), cuda::success);
  ASSERT_EQ(cuCtxPopCurrent_v2(nullptr), cuda::success);
  EXPECT_EQ(cuGraphLaunch(executable, stream), cuda::success);
  EXPECT_EQ(cuGraphExecDestroy(executable), cuda::success);
  EXPECT_EQ(cuGraphDestroy(graph), cuda::success);
  EXPECT_EQ(cuStreamDestroy_v2(stream), cuda::success);
}

} // namespace
