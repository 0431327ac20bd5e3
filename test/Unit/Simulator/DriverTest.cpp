// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Answers of the simulated driver that depend on its state.

#include "DriverState.h"

#include <gtest/gtest.h>

using namespace blocksparse::sim;

// The driver's symbols have no header.
extern "C" {
cuda::Result cuInit(unsigned flags);
cuda::Result cuDevicePrimaryCtxRetain(cuda::Context *context, cuda::Device device);
cuda::Result cuCtxPushCurrent_v2(cuda::Context context);
cuda::Result cuCtxPopCurrent_v2(cuda::Context *context);
cuda::Result cuStreamCreate(cuda::Stream *stream, unsigned flags);
cuda::Result cuStreamDestroy_v2(cuda::Stream stream);
cuda::Result cuStreamBeginCapture_v2(cuda::Stream stream, int mode);
cuda::Result cuStreamEndCapture(cuda::Stream stream, cuda::GraphObject **graph);
cuda::Result cuGraphInstantiateWithFlags(cuda::GraphObject **executable, cuda::GraphObject *graph,
                                         unsigned long long flags);
cuda::Result cuGraphLaunch(cuda::GraphObject *executable, cuda::Stream stream);
cuda::Result cuGraphExecDestroy(cuda::GraphObject *executable);
cuda::Result cuGraphDestroy(cuda::GraphObject *graph);
}

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
