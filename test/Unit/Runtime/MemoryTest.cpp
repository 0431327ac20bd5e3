// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RuntimeFixture.h"

#include <cstring>
#include <vector>

namespace {

using MemoryTest = RuntimeTest;

TEST_F(MemoryTest, CopiesThereAndBack) {
  int live = fake.liveAllocations();
  std::vector<int32_t> source(1000), result(1000);
  for (int32_t i = 0; i < 1000; ++i)
    source[i] = i * 7;
  void *first = nullptr, *second = nullptr;
  ASSERT_OK(blocksparseRtAlloc(device, 4000, nullptr, &first));
  ASSERT_OK(blocksparseRtAlloc(device, 4000, nullptr, &second));
  EXPECT_EQ(fake.calls("cuMemAllocFromPoolAsync"), 2);
  EXPECT_OK(blocksparseRtCopyToDevice(device, first, source.data(), 4000, nullptr));
  EXPECT_OK(blocksparseRtCopyOnDevice(device, second, first, 4000, nullptr));
  EXPECT_OK(blocksparseRtCopyToHost(device, result.data(), second, 4000, nullptr));
  EXPECT_OK(blocksparseRtStreamSynchronize(device, nullptr));
  EXPECT_EQ(source, result);
  EXPECT_OK(blocksparseRtFree(device, first, nullptr));
  EXPECT_OK(blocksparseRtFree(device, second, nullptr));
  EXPECT_EQ(fake.liveAllocations(), live);
}

TEST_F(MemoryTest, NothingIsAllowed) {
  void *pointer = &pointer;
  EXPECT_OK(blocksparseRtAlloc(device, 0, nullptr, &pointer));
  EXPECT_EQ(pointer, nullptr);
  EXPECT_OK(blocksparseRtFree(device, nullptr, nullptr));
  EXPECT_OK(blocksparseRtCopyToDevice(device, nullptr, nullptr, 0, nullptr));
  EXPECT_OK(blocksparseRtFill(device, nullptr, 0, 4, 0, nullptr));
}

TEST_F(MemoryTest, Fill) {
  void *pointer = nullptr;
  ASSERT_OK(blocksparseRtAlloc(device, 16, nullptr, &pointer));
  uint8_t bytes[16];
  EXPECT_OK(blocksparseRtFill(device, pointer, 0x04030201, 4, 4, nullptr));
  EXPECT_OK(blocksparseRtFill(device, pointer, 0x0605, 2, 3, nullptr));
  EXPECT_OK(blocksparseRtFill(device, pointer, 0x1ff, 1, 1, nullptr));
  EXPECT_OK(blocksparseRtCopyToHost(device, bytes, pointer, 16, nullptr));
  const uint8_t expected[16] = {0xff, 6, 5, 6, 5, 6, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4};
  EXPECT_EQ(memcmp(bytes, expected, 16), 0);
  EXPECT_FAILS(blocksparseRtFill(device, pointer, 0, 8, 2, nullptr),
               BLOCKSPARSE_RT_INVALID_ARGUMENT, "1, 2 or 4 bytes, but got 8");
  EXPECT_OK(blocksparseRtFree(device, pointer, nullptr));
}

TEST_F(MemoryTest, OutOfMemoryNamesTheSize) {
  void *pointer = nullptr;
  EXPECT_FAILS(blocksparseRtAlloc(device, size_t(1) << 40, nullptr, &pointer),
               BLOCKSPARSE_RT_OUT_OF_MEMORY,
               "1099511627776 bytes on device 0 (Fake H100): cuMemAllocFromPoolAsync failed with "
               "CUDA_ERROR_OUT_OF_MEMORY (2)");
  EXPECT_EQ(pointer, nullptr);
}

TEST_F(MemoryTest, BadPointer) {
  int local = 0;
  EXPECT_FAILS(blocksparseRtCopyToHost(device, &local, &local, 4, nullptr),
               BLOCKSPARSE_RT_DRIVER_ERROR, "cuMemcpyDtoHAsync failed");
  EXPECT_FAILS(blocksparseRtCopyToHost(device, &local, nullptr, 4, nullptr),
               BLOCKSPARSE_RT_INVALID_ARGUMENT, "expects a source, but got NULL");
  EXPECT_FAILS(blocksparseRtFree(device, &local, nullptr), BLOCKSPARSE_RT_DRIVER_ERROR,
               "cuMemFreeAsync failed");
}

TEST_F(MemoryTest, PointerKind) {
  int local = 0;
  void *pointer = nullptr;
  blocksparseRtDevice second = nullptr;
  ASSERT_OK(blocksparseRtDeviceGet(1, &second));
  ASSERT_OK(blocksparseRtAlloc(second, 64, nullptr, &pointer));
  blocksparseRtMemoryKind kind;
  int32_t ordinal = 0;
  EXPECT_OK(blocksparseRtPointerKind(&local, &kind, &ordinal));
  EXPECT_EQ(kind, BLOCKSPARSE_RT_MEMORY_HOST);
  EXPECT_EQ(ordinal, -1);
  EXPECT_OK(blocksparseRtPointerKind(static_cast<char *>(pointer) + 63, &kind, &ordinal));
  EXPECT_EQ(kind, BLOCKSPARSE_RT_MEMORY_DEVICE);
  EXPECT_EQ(ordinal, 1);
  EXPECT_OK(blocksparseRtFree(second, pointer, nullptr));
}

// Whichever driver call of an operation fails, the failure is returned and nothing leaks.
TEST_F(MemoryTest, EveryCallOfAnAllocationMayFail) {
  for (const char *call : {"cuCtxGetCurrent", "cuCtxPushCurrent_v2", "cuMemAllocFromPoolAsync"}) {
    int live = fake.liveAllocations();
    fake.fail(call, 1, 1);
    void *pointer = nullptr;
    EXPECT_EQ(blocksparseRtAlloc(device, 64, nullptr, &pointer), BLOCKSPARSE_RT_DRIVER_ERROR)
        << call;
    EXPECT_EQ(pointer, nullptr);
    EXPECT_EQ(fake.liveAllocations(), live);
    EXPECT_EQ(fake.contextDepth(), 0);
    fake.reset();
  }
}

} // namespace
