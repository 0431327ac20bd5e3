// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tests of the workspaces that calls of programs leave to later calls.

#include "Workspace.h"
#include "RuntimeFixture.h"

#include "blocksparse/Runtime/Artifact.h"

using namespace blocksparse::rt;

namespace {

/// Returns a pointer that stands for memory.
void *block(uintptr_t number) { return reinterpret_cast<void *>(number << 8); }

TEST(WorkspaceCacheTest, ABlockOfTheStreamThatIsLargeEnoughIsTaken) {
  WorkspaceCache cache;
  for (uintptr_t number : {1, 2, 3}) {
    cache.lend(/*stream=*/7, block(number), number << 20);
    EXPECT_EQ(cache.keep(block(number)), nullptr);
  }
  EXPECT_EQ(cache.take(8, 1 << 20), nullptr);
  EXPECT_EQ(cache.take(7, 4 << 20), nullptr);
  EXPECT_EQ(cache.take(7, 1 << 18), nullptr); // the smallest is too large
  EXPECT_EQ(cache.take(7, (1 << 20) + 1), block(2));
  EXPECT_EQ(cache.take(7, (1 << 20) + 1), nullptr); // block 3 has more than twice as many
  EXPECT_EQ(cache.take(7, 2 << 20), block(3));
  EXPECT_EQ(cache.keep(block(2)), nullptr);
  EXPECT_EQ(cache.take(7, 2 << 20), block(2));
}

TEST(WorkspaceCacheTest, WhatNobodyLentGoesBack) {
  WorkspaceCache cache;
  EXPECT_EQ(cache.keep(block(1)), block(1));
  cache.lend(7, block(1), 100);
  cache.lend(9, block(1), 200); // the driver gave the address again
  EXPECT_EQ(cache.keep(block(1)), nullptr);
  EXPECT_EQ(cache.keep(block(1)), block(1));
  EXPECT_EQ(cache.take(7, 100), nullptr);
  EXPECT_EQ(cache.take(9, 100), block(1));
}

TEST(WorkspaceCacheTest, TheOldestOfTheStreamMakesRoom) {
  WorkspaceCache cache;
  auto add = [&](uint64_t stream, uintptr_t number, size_t bytes) {
    cache.lend(stream, block(number), bytes);
    return cache.keep(block(number));
  };
  const size_t quarter = WorkspaceCache::maxKeptBytes / 4;
  EXPECT_EQ(add(1, 1, quarter + 1), block(1));
  for (uintptr_t number : {2, 3, 4, 5})
    EXPECT_EQ(add(1, number, quarter), nullptr);
  EXPECT_EQ(add(1, 6, quarter), block(2));
  // No memory of another stream may be freed for it.
  EXPECT_EQ(add(2, 7, 1), block(7));
  EXPECT_EQ(cache.release(2), nullptr);
  EXPECT_EQ(cache.release(1), block(3));
  for (uintptr_t number : {4, 5, 6})
    EXPECT_EQ(cache.release({}), block(number));
  EXPECT_EQ(cache.release({}), nullptr);
  for (uintptr_t number = 0; number < WorkspaceCache::maxKeptBlocks; ++number)
    EXPECT_EQ(add(1, 100 + number, 1), nullptr);
  EXPECT_EQ(add(1, 99, 1), block(100));
}

/// Calls a program that has workspaces and no kernel.
class WorkspaceCallTest : public RuntimeTest {
protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    Artifact artifact;
    artifact.images = {{ImageKind::Ptx,
                        "sm_80",
                        {reinterpret_cast<const uint8_t *>(scalePtx.data()), scalePtx.size()}}};
    std::string error;
    data = *writeArtifact(artifact, error);
    ASSERT_OK(blocksparseRtStreamCreate(device, &stream));
    live = fake.liveAllocations();
    use(stream);
  }
  void TearDown() override {
    EXPECT_OK(blocksparseRtTrim(device, 0));
    EXPECT_EQ(fake.liveAllocations(), live);
    EXPECT_OK(blocksparseRtStreamDestroy(device, stream));
    EXPECT_OK(blocksparseRtSetStream(nullptr));
    EXPECT_OK(blocksparseRtArtifactClose(slot));
    RuntimeTest::TearDown();
  }

  void use(blocksparseRtStream used) { EXPECT_OK(blocksparseRtSetStream(used)); }

  /// Calls the program, and returns the addresses of its workspaces of these sizes.
  std::vector<void *> run(const std::vector<int64_t> &sizes,
                          int32_t expected = BLOCKSPARSE_RT_SUCCESS) {
    blocksparseRtCall call = {};
    blocksparseRtCallBegin(&call, &slot, data.data(), static_cast<int64_t>(data.size()), nullptr,
                           0);
    std::vector<void *> found;
    for (int64_t size : sizes)
      found.push_back(blocksparseRtCallAlloc(&call, size));
    for (void *pointer : found)
      blocksparseRtCallFree(&call, pointer);
    EXPECT_EQ(blocksparseRtCallEnd(&call), expected) << blocksparseRtLastError();
    return found;
  }

  int driverCalls() { return fake.calls("cuMemAllocFromPoolAsync") + fake.calls("cuMemFreeAsync"); }

  std::vector<uint8_t> data;
  blocksparseRtArtifact slot = nullptr;
  blocksparseRtStream stream = nullptr;
  int live = 0; // allocations before the test
};

TEST_F(WorkspaceCallTest, ALaterCallNeedsNoDriverCall) {
  std::vector<void *> first = run({4096, 1 << 20, 0});
  EXPECT_EQ(driverCalls(), 2);
  EXPECT_EQ(first[2], nullptr);
  fake.reset();
  EXPECT_EQ(run({4096, 1 << 20, 0}), first);
  EXPECT_EQ(driverCalls(), 0);
  EXPECT_EQ(fake.calls("cuStreamGetId"), 1);
  EXPECT_EQ(fake.calls("cuStreamIsCapturing"), 1);
}

// The handle of a destroyed stream may be that of the next one; what ran on the first may still
// run.
TEST_F(WorkspaceCallTest, AnotherStreamHasItsOwn) {
  std::vector<void *> first = run({1 << 20});
  blocksparseRtStream other = nullptr;
  ASSERT_OK(blocksparseRtStreamCreate(device, &other));
  use(other);
  EXPECT_NE(run({1 << 20}), first);
  EXPECT_OK(blocksparseRtStreamDestroy(device, other));
  ASSERT_OK(blocksparseRtStreamCreate(device, &other));
  use(other);
  fake.reset();
  run({1 << 20});
  EXPECT_EQ(fake.calls("cuMemAllocFromPoolAsync"), 1);
  EXPECT_OK(blocksparseRtStreamDestroy(device, other));
  use(stream);
  EXPECT_EQ(run({1 << 20}), first);
}

// A graph may be replayed while a later call runs on the stream of its capture.
TEST_F(WorkspaceCallTest, ACapturedCallHasItsOwn) {
  std::vector<void *> first = run({1 << 20});
  fake.capture(stream, true);
  fake.reset();
  EXPECT_NE(run({1 << 20}), first);
  EXPECT_EQ(driverCalls(), 2);
  fake.capture(stream, false);
  EXPECT_EQ(run({1 << 20}), first);
}

TEST_F(WorkspaceCallTest, TheDriverMayNotKnowTheStream) {
  for (const char *call : {"cuStreamIsCapturing", "cuStreamGetId"}) {
    fake.reset();
    fake.fail(call, 1, 801);
    run({1 << 20});
    EXPECT_EQ(driverCalls(), 2) << call;
  }
}

TEST_F(WorkspaceCallTest, KeptMemoryIsFreedBeforeACallFails) {
  run({4096, 8192});
  auto failTwice = [&] {
    for (int i = 0; i < 2; ++i)
      fake.fail("cuMemAllocFromPoolAsync", 1, 2);
  };
  failTwice();
  run({1 << 20});
  EXPECT_EQ(fake.liveAllocations(), live + 1);
  failTwice();
  run({1 << 24}, BLOCKSPARSE_RT_OUT_OF_MEMORY);
  EXPECT_EQ(fake.liveAllocations(), live);
}

} // namespace
