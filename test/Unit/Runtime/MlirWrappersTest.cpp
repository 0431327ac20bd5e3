// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tests the entry points that code from MLIR's GPU lowering calls, with the arguments that it
// passes.

#include "RuntimeFixture.h"

#include <cstring>
#include <thread>
#include <vector>

extern "C" {
void *mgpuModuleLoad(void *data, size_t size);
void *mgpuModuleLoadJIT(void *data, int optLevel);
void mgpuModuleUnload(void *module);
void *mgpuModuleGetFunction(void *module, const char *name);
void mgpuLaunchKernel(void *function, intptr_t gridX, intptr_t gridY, intptr_t gridZ,
                      intptr_t blockX, intptr_t blockY, intptr_t blockZ, int32_t smem, void *stream,
                      void **params, void **extra, size_t paramsCount);
void mgpuLaunchClusterKernel(void *function, intptr_t clusterX, intptr_t clusterY,
                             intptr_t clusterZ, intptr_t gridX, intptr_t gridY, intptr_t gridZ,
                             intptr_t blockX, intptr_t blockY, intptr_t blockZ, int32_t smem,
                             void *stream, void **params, void **extra);
void *mgpuStreamCreate();
void mgpuStreamDestroy(void *stream);
void mgpuStreamSynchronize(void *stream);
void mgpuStreamWaitEvent(void *stream, void *event);
void *mgpuEventCreate();
void mgpuEventDestroy(void *event);
void mgpuEventSynchronize(void *event);
void mgpuEventRecord(void *event, void *stream);
void *mgpuMemAlloc(uint64_t bytes, void *stream, bool isHostShared);
void mgpuMemFree(void *pointer, void *stream);
void mgpuMemcpy(void *destination, void *source, size_t bytes, void *stream);
void mgpuMemset32(void *destination, unsigned value, size_t count, void *stream);
void mgpuMemset16(void *destination, unsigned short value, size_t count, void *stream);
void mgpuMemHostRegisterMemRef(int64_t rank, void *descriptor, int64_t elementBytes);
void mgpuMemHostUnregisterMemRef(int64_t rank, void *descriptor, int64_t elementBytes);
void mgpuSetDefaultDevice(int32_t device);
void *mgpuTensorMapEncodeTiledMemref(int64_t rank, void *descriptor, int type, int interleave,
                                     int swizzle, int l2Promotion, int outOfBounds,
                                     int64_t *boxSizes);
}

namespace {

template <int Rank>
struct MemRef {
  void *allocated;
  void *aligned;
  int64_t offset;
  int64_t sizes[Rank];
  int64_t strides[Rank];
};

class MlirWrappersTest : public RuntimeTest {
protected:
  void TearDown() override {
    mgpuSetDefaultDevice(0);
    RuntimeTest::TearDown();
  }
  std::string ptx = scalePtx;
};

TEST_F(MlirWrappersTest, AWholeProgram) {
  int live = fake.liveAllocations(), modules = fake.liveModules();
  void *module = mgpuModuleLoadJIT(ptx.data(), 2);
  void *function = mgpuModuleGetFunction(module, "scale");
  void *stream = mgpuStreamCreate();
  void *event = mgpuEventCreate();
  std::vector<float> data = {1, 2, 3, 4};
  void *in = mgpuMemAlloc(16, stream, false), *out = mgpuMemAlloc(16, stream, false);
  mgpuMemcpy(in, data.data(), 16, stream);
  float factor = 3;
  uint32_t count = 4;
  void *args[] = {&out, &in, &factor, &count};
  mgpuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, args, nullptr, 4);
  mgpuEventRecord(event, stream);
  mgpuStreamWaitEvent(stream, event);
  mgpuEventSynchronize(event);
  mgpuMemcpy(data.data(), out, 16, stream);
  mgpuStreamSynchronize(stream);
  EXPECT_EQ(data, (std::vector<float>{3, 6, 9, 12}));
  mgpuMemset32(out, 0x3f800000, 2, stream);
  mgpuMemset16(static_cast<char *>(out) + 8, 0x7fff, 4, stream);
  uint32_t words[4];
  mgpuMemcpy(words, out, 16, stream);
  EXPECT_EQ(words[1], 0x3f800000u);
  EXPECT_EQ(words[3], 0x7fff7fffu);
  mgpuLaunchClusterKernel(function, 2, 1, 1, 4, 1, 1, 32, 1, 1, 0, stream, args, nullptr);
  FakeLaunch seen;
  ASSERT_TRUE(fake.lastLaunch(&seen));
  EXPECT_EQ(seen.cluster[0], 2u);
  EXPECT_EQ(seen.grid[0], 4u);
  EXPECT_EQ(seen.stream, stream);
  mgpuMemFree(in, stream);
  mgpuMemFree(out, stream);
  mgpuEventDestroy(event);
  mgpuStreamDestroy(stream);
  mgpuModuleUnload(module);
  EXPECT_EQ(blocksparseRtTakeError(), BLOCKSPARSE_RT_SUCCESS);
  EXPECT_EQ(fake.liveAllocations(), live);
  EXPECT_EQ(fake.liveModules(), modules);
}

TEST_F(MlirWrappersTest, TheFirstErrorSticksAndTheRestDoesNothing) {
  void *module = mgpuModuleLoadJIT(ptx.data(), 2);
  void *function = mgpuModuleGetFunction(module, "scale");
  void *kept = mgpuMemAlloc(64, nullptr, false);
  mgpuLaunchKernel(function, 1, 1, 70000, 32, 1, 1, 0, nullptr, nullptr, nullptr, 4);
  int before = fake.calls("cuMemAllocFromPoolAsync");
  EXPECT_EQ(mgpuMemAlloc(64, nullptr, false), nullptr);
  mgpuLaunchKernel(function, -1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr, 4);
  mgpuStreamSynchronize(nullptr);
  EXPECT_EQ(mgpuStreamCreate(), nullptr);
  EXPECT_EQ(fake.calls("cuMemAllocFromPoolAsync"), before);
  EXPECT_EQ(fake.calls("cuStreamSynchronize"), 0);
  EXPECT_EQ(fake.calls("cuLaunchKernel"), 0);
  // Resources that were created are still freed.
  mgpuMemFree(kept, nullptr);
  EXPECT_EQ(fake.calls("cuMemFreeAsync"), 1);
  EXPECT_FAILS(blocksparseRtTakeError(), BLOCKSPARSE_RT_LAUNCH_LIMIT,
               "kernel 'scale' with grid (1, 1, 70000)");
  EXPECT_EQ(blocksparseRtTakeError(), BLOCKSPARSE_RT_SUCCESS);
  mgpuStreamSynchronize(nullptr);
  EXPECT_EQ(fake.calls("cuStreamSynchronize"), 1);
  mgpuModuleUnload(module);
}

TEST_F(MlirWrappersTest, ArgumentCountIsChecked) {
  void *module = mgpuModuleLoadJIT(ptx.data(), 2);
  void *function = mgpuModuleGetFunction(module, "scale");
  mgpuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr, 9);
  EXPECT_FAILS(blocksparseRtTakeError(), BLOCKSPARSE_RT_INVALID_ARGUMENT,
               "expects 4 arguments, but got 9");
  mgpuModuleUnload(module);
}

// A global constructor loads the module. The thread that launches later must be told why that
// failed.
TEST_F(MlirWrappersTest, AModuleThatDidNotLoadIsExplainedToEveryThread) {
  std::string bad = ptx;
  bad.replace(bad.find("7.0"), 3, "9.9");
  EXPECT_EQ(mgpuModuleLoadJIT(bad.data(), 2), nullptr);
  EXPECT_EQ(blocksparseRtTakeError(), BLOCKSPARSE_RT_PTX_TOO_NEW);
  std::thread([] {
    EXPECT_EQ(mgpuModuleGetFunction(nullptr, "scale"), nullptr);
    EXPECT_FAILS(blocksparseRtTakeError(), BLOCKSPARSE_RT_PTX_TOO_NEW,
                 "kernel 'scale' expects a loaded module, but got NULL: expects PTX of version "
                 "8.7 or older");
  }).join();
  char binary[] = "\x7f"
                  "ELF";
  void *module = mgpuModuleLoad(binary, 4);
  EXPECT_NE(module, nullptr);
  mgpuModuleUnload(module);
}

TEST_F(MlirWrappersTest, ManagedMemoryIsNotReturnedToThePool) {
  void *pointer = mgpuMemAlloc(64, nullptr, true);
  ASSERT_NE(pointer, nullptr);
  memset(pointer, 1, 64);
  blocksparseRtMemoryKind kind;
  int32_t ordinal;
  EXPECT_OK(blocksparseRtPointerKind(pointer, &kind, &ordinal));
  EXPECT_EQ(kind, BLOCKSPARSE_RT_MEMORY_MANAGED);
  mgpuMemFree(pointer, nullptr);
  EXPECT_EQ(fake.calls("cuMemFree_v2"), 1);
  EXPECT_EQ(mgpuMemAlloc(0, nullptr, true), nullptr);
  EXPECT_EQ(mgpuMemAlloc(0, nullptr, false), nullptr);
}

TEST_F(MlirWrappersTest, HostMemRefs) {
  float data[32];
  MemRef<2> memref = {data, data, 4, {3, 4}, {8, 1}};
  mgpuMemHostRegisterMemRef(2, &memref, 4);
  blocksparseRtMemoryKind kind;
  int32_t ordinal;
  EXPECT_OK(blocksparseRtPointerKind(data + 23, &kind, &ordinal));
  EXPECT_EQ(kind, BLOCKSPARSE_RT_MEMORY_PINNED);
  EXPECT_OK(blocksparseRtPointerKind(data + 24, &kind, &ordinal));
  EXPECT_EQ(kind, BLOCKSPARSE_RT_MEMORY_HOST);
  mgpuMemHostUnregisterMemRef(2, &memref, 4);
  MemRef<1> empty = {data, data, 0, {0}, {1}};
  mgpuMemHostRegisterMemRef(1, &empty, 4);
  mgpuMemHostUnregisterMemRef(1, &empty, 4);
  EXPECT_EQ(fake.calls("cuMemHostRegister_v2"), 1);
}

TEST_F(MlirWrappersTest, DefaultDevice) {
  mgpuSetDefaultDevice(1);
  void *pointer = mgpuMemAlloc(64, nullptr, false);
  blocksparseRtMemoryKind kind;
  int32_t ordinal = -1;
  EXPECT_OK(blocksparseRtPointerKind(pointer, &kind, &ordinal));
  EXPECT_EQ(ordinal, 1);
  mgpuMemFree(pointer, nullptr);
  mgpuSetDefaultDevice(7);
  EXPECT_EQ(mgpuMemAlloc(64, nullptr, false), nullptr);
  EXPECT_FAILS(blocksparseRtTakeError(), BLOCKSPARSE_RT_INVALID_ARGUMENT,
               "expects a device ordinal from 0 to 1, but got 7");
}

TEST_F(MlirWrappersTest, TensorMapOfAMemRef) {
  void *data = mgpuMemAlloc(128 * 256 * 2, nullptr, false);
  MemRef<2> memref = {data, data, 64, {128, 64}, {256, 1}};
  int64_t box[2] = {32, 64};
  auto *map = static_cast<uint64_t *>(
      mgpuTensorMapEncodeTiledMemref(2, &memref, BLOCKSPARSE_RT_TENSOR_F16, 0, 3, 0, 0, box));
  ASSERT_NE(map, nullptr) << (blocksparseRtTakeError(), blocksparseRtLastError());
  EXPECT_EQ(map[2], reinterpret_cast<uintptr_t>(data) + 128);
  EXPECT_EQ(map[3], 64u); // innermost first
  EXPECT_EQ(map[4], 128u);
  EXPECT_EQ(map[5], 512u);
  EXPECT_EQ(map[6], 64u);
  EXPECT_EQ(map[7], 32u);
  EXPECT_OK(blocksparseRtTakeError());
  EXPECT_EQ(mgpuTensorMapEncodeTiledMemref(6, &memref, 6, 0, 3, 0, 0, box), nullptr);
  EXPECT_FAILS(blocksparseRtTakeError(), BLOCKSPARSE_RT_INVALID_ARGUMENT, "but got 6");
  mgpuMemFree(data, nullptr);
}

} // namespace
