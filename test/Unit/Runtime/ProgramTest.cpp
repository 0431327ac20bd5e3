// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tests the runtime functions that generated code calls.

#include "RuntimeFixture.h"

#include "blocksparse/Runtime/Artifact.h"
#include "blocksparse/Support/IndexFaults.h"

#include <cstdlib>
#include <new>
#include <thread>

using namespace blocksparse::rt;

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER
#endif
#endif

// Counts the allocations of this thread; a sanitizer defines these functions itself.
static thread_local int allocations = 0;

#ifndef HAS_SANITIZER
void *operator new(size_t bytes) {
  ++allocations;
  if (void *memory = malloc(bytes ? bytes : 1))
    return memory;
  abort(); // there are no exceptions here
}
void operator delete(void *memory) noexcept { free(memory); }
void operator delete(void *memory, size_t) noexcept { free(memory); }
#endif

namespace {

/// Checks an artefact with `scale` and the LUT `table`, and a call on device memory.
class ProgramTest : public RuntimeTest {
protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    Artifact artifact;
    artifact.images = {{ImageKind::Ptx, "sm_80", bytesOf(scalePtx)}};
    artifact.luts = {{"table", bytesOf(table)}};
    artifact.kernels = {{"scale", "sm_80", {32, 1, 1}}};
    std::string error;
    data = *writeArtifact(artifact, error);
    ASSERT_OK(blocksparseRtAlloc(device, 1024, nullptr, &memory));
  }
  void TearDown() override {
    EXPECT_OK(blocksparseRtFree(device, memory, nullptr));
    EXPECT_OK(blocksparseRtArtifactClose(slot));
    RuntimeTest::TearDown();
  }

  static std::span<const uint8_t> bytesOf(const std::string &text) {
    return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
  }

  void begin() {
    blocksparseRtCallBegin(&call, &slot, data.data(), static_cast<int64_t>(data.size()), &memory,
                           1);
  }

  /// Runs `scale` on no element on the device of `pointer`, with the LUT as its input.
  int32_t run(void *pointer) { return run(call, pointer); }
  int32_t run(blocksparseRtCall &call, void *pointer) {
    blocksparseRtCallBegin(&call, &slot, data.data(), static_cast<int64_t>(data.size()), &pointer,
                           1);
    void *input = blocksparseRtCallLut(&call, &lut, "table");
    float factor = 2;
    uint32_t count = 0;
    void *args[] = {&pointer, &input, &factor, &count};
    blocksparseRtCallLaunch(&call, &kernel, "scale", 1, 1, 1, args, 4);
    return blocksparseRtCallEnd(&call);
  }

  /// Executes the rest of a call that failed for `reason`: it must look up and launch nothing.
  void expectNothingRuns(const char *reason) {
    EXPECT_EQ(blocksparseRtCallLut(&call, &lut, "table"), nullptr);
    void *none = nullptr;
    blocksparseRtCallLaunch(&call, &kernel, "scale", 1, 1, 1, &none, 0);
    EXPECT_FAILS(blocksparseRtCallEnd(&call), BLOCKSPARSE_RT_INVALID_ARGUMENT, reason);
    EXPECT_EQ(fake.calls("cuLaunchKernel"), 0);
  }

  /// Returns the configuration of a vector of `size` f16 elements.
  blocksparseRtTensorMapConfig vector(uint64_t size) const {
    blocksparseRtTensorMapConfig config = {};
    config.type = BLOCKSPARSE_RT_TENSOR_F16;
    config.rank = 1;
    config.address = memory;
    config.sizes[0] = size;
    config.box[0] = 64;
    return config;
  }

  const std::string table = "0123456789abcdef";
  std::vector<uint8_t> data;
  blocksparseRtArtifact slot = nullptr;
  blocksparseRtSite lut = {}, kernel = {};
  blocksparseRtCall call = {};
  void *memory = nullptr;
};

TEST_F(ProgramTest, TensorMapsAreEncodedForTheDevice) {
  begin();
  blocksparseRtTensorMap map = {};
  blocksparseRtTensorMapConfig config = vector(512);
  blocksparseRtCallTensorMap(&call, &config, &map);
  EXPECT_OK(blocksparseRtCallEnd(&call));
  EXPECT_EQ(map.opaque[2], reinterpret_cast<uintptr_t>(memory));
  EXPECT_EQ(map.opaque[3], 512u);
}

// A map depends only on its configuration. The test makes more maps than the cache holds.
TEST_F(ProgramTest, TensorMapsOfTheSameTensorsAreMadeOnce) {
  begin();
  blocksparseRtTensorMap map = {};
  auto make = [&](void *address, uint64_t size) {
    blocksparseRtTensorMapConfig config = vector(size);
    config.address = address;
    map = {};
    blocksparseRtCallTensorMap(&call, &config, &map);
    EXPECT_EQ(map.opaque[2], reinterpret_cast<uintptr_t>(address));
    EXPECT_EQ(map.opaque[3], size);
    return fake.calls("cuTensorMapEncodeTiled");
  };
  auto *first = static_cast<char *>(memory);
  fake.reset();
  EXPECT_EQ(make(first, 300), 1);
  EXPECT_EQ(make(first, 300), 1);
  EXPECT_EQ(make(first, 301), 2);
  EXPECT_EQ(make(first + 16, 301), 3);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(make(first + 16 * i, 400), 4 + i);
    EXPECT_EQ(make(first + 16 * i, 400), 4 + i);
  }
  make(first, 400);
  EXPECT_OK(blocksparseRtCallEnd(&call));
}

// An empty tensor has no map, and the driver is not called.
TEST_F(ProgramTest, TheFirstFailureOfAMapEndsTheCall) {
  begin();
  blocksparseRtTensorMap map = {};
  blocksparseRtTensorMapConfig empty = vector(0);
  blocksparseRtCallTensorMap(&call, &empty, &map);
  blocksparseRtTensorMapConfig good = vector(512);
  blocksparseRtCallTensorMap(&call, &good, &map);
  expectNothingRuns("tensor map expects sizes[0] from 1 to 4294967296, but got 0");
  EXPECT_EQ(fake.calls("cuTensorMapEncodeTiled"), 0);
  EXPECT_EQ(map.opaque[2], 0u);
}

// After the first call nothing is looked up or queried again.
TEST_F(ProgramTest, LaterCallsOnlyLaunch) {
  ASSERT_OK(run(memory));
  fake.reset();
  ASSERT_OK(run(memory));
  EXPECT_EQ(fake.calls("cuModuleLoadDataEx"), 0);
  EXPECT_EQ(fake.calls("cuModuleGetFunction"), 0);
  EXPECT_EQ(fake.calls("cuMemcpyHtoDAsync_v2"), 0);
  EXPECT_EQ(fake.calls("cuPointerGetAttributes"), 1);
  EXPECT_EQ(fake.calls("cuLaunchKernel"), 1);
  // The name is not compared either.
  begin();
  void *table = blocksparseRtCallLut(&call, &lut, "table");
  EXPECT_EQ(blocksparseRtCallLut(&call, &lut, "chair"), table);
  EXPECT_OK(blocksparseRtCallEnd(&call));
}

TEST_F(ProgramTest, LaterCallsAllocateNothing) {
  ASSERT_OK(run(memory));
  fake.quiet(true);
  int before = allocations;
  int32_t status = run(memory);
  int after = allocations;
  fake.quiet(false);
  EXPECT_OK(status);
  EXPECT_EQ(after - before, 0);
}

// A thread whose current context is the device's keeps it; any other context is restored.
TEST_F(ProgramTest, ContextsAreRestored) {
  ASSERT_OK(run(memory));
  EXPECT_EQ(fake.contextDepth(), 0);
  fake.reset();
  ASSERT_OK(run(memory));
  EXPECT_EQ(fake.calls("cuCtxPushCurrent_v2"), 1);
  EXPECT_EQ(fake.contextDepth(), 0);
  fake.fail("cuLaunchKernel", 1, 1);
  EXPECT_EQ(run(memory), BLOCKSPARSE_RT_DRIVER_ERROR);
  EXPECT_EQ(fake.contextDepth(), 0);
  int onHost = 0;
  EXPECT_FAILS(run(&onHost), BLOCKSPARSE_RT_INVALID_ARGUMENT,
               "expects tensors in device memory, but got the host address");
  EXPECT_EQ(fake.contextDepth(), 0);
}

TEST_F(ProgramTest, EachDeviceHasItsOwnKernelAndLut) {
  blocksparseRtDevice other = nullptr;
  ASSERT_OK(blocksparseRtDeviceGet(1, &other));
  void *remote = nullptr;
  ASSERT_OK(blocksparseRtAlloc(other, 64, nullptr, &remote));
  FakeLaunch first = {}, second = {}, again = {};
  ASSERT_OK(run(memory));
  fake.lastLaunch(&first);
  ASSERT_OK(run(remote));
  fake.lastLaunch(&second);
  ASSERT_OK(run(memory));
  fake.lastLaunch(&again);
  blocksparseRtMemoryKind kind;
  int32_t ordinal = -1;
  ASSERT_OK(blocksparseRtPointerKind(reinterpret_cast<void *>(first.args[1]), &kind, &ordinal));
  EXPECT_EQ(ordinal, 0);
  ASSERT_OK(blocksparseRtPointerKind(reinterpret_cast<void *>(second.args[1]), &kind, &ordinal));
  EXPECT_EQ(ordinal, 1);
  EXPECT_EQ(again.args[1], first.args[1]);
  EXPECT_OK(blocksparseRtFree(other, remote, nullptr));
}

TEST_F(ProgramTest, ThreadsShareASite) {
  std::vector<std::thread> threads;
  std::vector<int32_t> results(8, -1);
  for (int32_t &result : results)
    threads.emplace_back([&] {
      blocksparseRtCall own;
      result = run(own, memory);
    });
  for (std::thread &thread : threads)
    thread.join();
  for (int32_t result : results)
    EXPECT_EQ(result, BLOCKSPARSE_RT_SUCCESS);
  EXPECT_EQ(fake.calls("cuModuleGetFunction"), 1);
  EXPECT_EQ(fake.calls("cuLaunchKernel"), 8);
}

// A failed look-up is reported, and tried again by the next call.
TEST_F(ProgramTest, AFailedLookUpIsNotRemembered) {
  fake.fail("cuMemAlloc_v2", 1, 2);
  EXPECT_FAILS(run(memory), BLOCKSPARSE_RT_OUT_OF_MEMORY, "LUT 'table' of 16 bytes");
  EXPECT_OK(run(memory));
}

// A call whose arguments the program refuses fails, and nothing runs afterwards.
TEST_F(ProgramTest, ARefusedCallSaysBothNumbers) {
  begin();
  blocksparseRtCallRefuse(&call, "expects {1} rows of {1}, but got {0} (100%d)", -7, 1ll << 40);
  blocksparseRtCallRefuse(&call, "a second reason", 0, 0);
  expectNothingRuns("expects 1099511627776 rows of 1099511627776, but got -7 (100%d)");
}

TEST_F(ProgramTest, ARecordWithAFaultEndsTheCall) {
  using namespace blocksparse;
  int64_t words[faultWords] = {};
  auto check = [&] {
    ASSERT_OK(blocksparseRtCopyToDevice(device, memory, words, sizeof(words), nullptr));
    begin();
    blocksparseRtCallRecord(&call, memory, "argument 0 of f");
  };
  check();
  EXPECT_OK(blocksparseRtCallEnd(&call));
  words[Code] = static_cast<int64_t>(IndexFault::Column);
  words[Batch] = 1, words[Row] = 2, words[Position] = 3;
  words[FaultyValue] = 1ll << 32, words[Limit] = 4;
  check();
  expectNothingRuns("argument 0 of f expects col_indices from 0 to below the number of block "
                    "columns, 4, but got 4294967296 at batch 1, row 2, position 3");
}

TEST_F(ProgramTest, ARefusalLeavesItsText) {
  EXPECT_FAILS(blocksparseRtRefuse("expects 100% of it"), BLOCKSPARSE_RT_INVALID_ARGUMENT,
               "expects 100% of it");
}

TEST_F(ProgramTest, UnknownNamesAreErrors) {
  begin();
  EXPECT_EQ(blocksparseRtCallLut(&call, &lut, "chair"), nullptr);
  EXPECT_FAILS(blocksparseRtCallEnd(&call), BLOCKSPARSE_RT_NOT_FOUND, "but got 'chair'");
  begin();
  blocksparseRtCallLaunch(&call, &kernel, "stretch", 1, 1, 1, nullptr, 0);
  EXPECT_FAILS(blocksparseRtCallEnd(&call), BLOCKSPARSE_RT_NOT_FOUND, "but got 'stretch'");
}

// A program for several targets queries the location of its arguments once, when it selects the
// target.
TEST_F(ProgramTest, ChoiceAndCallAskOnce) {
  const char *targets[] = {"sm_90a", "sm_80"};
  int32_t choice = -2;
  auto select = [&](void *pointer) {
    return blocksparseRtCallSelect(&slot, data.data(), static_cast<int64_t>(data.size()), &pointer,
                                   1, targets, 2, /*hasHost=*/1, &choice);
  };
  ASSERT_OK(select(memory));
  EXPECT_EQ(choice, 1);
  ASSERT_OK(run(memory));
  EXPECT_EQ(fake.calls("cuPointerGetAttributes"), 1);
  // The location of another pointer must be queried again.
  int onHost = 0;
  ASSERT_OK(select(&onHost));
  EXPECT_EQ(choice, -1);
  ASSERT_OK(run(memory));
  EXPECT_EQ(fake.calls("cuPointerGetAttributes"), 3);
  ASSERT_OK(run(memory));
  EXPECT_EQ(fake.calls("cuPointerGetAttributes"), 4);
}

} // namespace
