// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On a real GPU: run with BLOCKSPARSE_TEST_REAL_DRIVER=1. The same text runs
// everywhere else, where these tests are skipped.

#include "RuntimeFixture.h"

#include "blocksparse/Runtime/Artifact.h"

#include <cstdlib>
#include <thread>

namespace {

class RealDriverTest : public ::testing::Test {
protected:
  void SetUp() override {
    ::testing::FLAGS_gtest_death_test_style = "threadsafe";
    if (!usesRealDriver())
      GTEST_SKIP() << "BLOCKSPARSE_TEST_REAL_DRIVER is not set";
    ASSERT_OK(blocksparseRtDeviceGet(0, &device));
    ASSERT_OK(blocksparseRtModuleLoadPtx(device, scalePtx.data(), scalePtx.size(), 4, &module));
    ASSERT_OK(blocksparseRtModuleGetFunction(module, "scale", &scale));
  }
  void TearDown() override { EXPECT_OK(blocksparseRtModuleUnload(module)); }

  /// Scales `count` floats on a stream of its own and checks each.
  void scaleAndCheck(uint32_t count, float factor) {
    blocksparseRtStream stream = nullptr;
    ASSERT_OK(blocksparseRtStreamCreate(device, &stream));
    std::vector<float> values(count);
    for (uint32_t i = 0; i < count; ++i)
      values[i] = static_cast<float>(i);
    void *memory = nullptr;
    ASSERT_OK(blocksparseRtAlloc(device, count * 4, stream, &memory));
    ASSERT_OK(blocksparseRtCopyToDevice(device, memory, values.data(), count * 4, stream));
    void *args[] = {&memory, &memory, &factor, &count};
    blocksparseRtLaunchConfig config = {
        {(count + 255) / 256, 1, 1}, {256, 1, 1}, {0, 0, 0}, 0, stream};
    ASSERT_OK(blocksparseRtLaunch(scale, &config, args, 4));
    ASSERT_OK(blocksparseRtCopyToHost(device, values.data(), memory, count * 4, stream));
    ASSERT_OK(blocksparseRtFree(device, memory, stream));
    ASSERT_OK(blocksparseRtStreamSynchronize(device, stream));
    for (uint32_t i = 0; i < count; ++i)
      ASSERT_EQ(values[i], static_cast<float>(i) * factor) << i;
    ASSERT_OK(blocksparseRtStreamDestroy(device, stream));
  }

  blocksparseRtDevice device = nullptr;
  blocksparseRtModule module = nullptr;
  blocksparseRtFunction scale = nullptr;
};

TEST_F(RealDriverTest, KernelIsRight) {
  blocksparseRtDeviceInfo info;
  ASSERT_OK(blocksparseRtDeviceGetInfo(device, &info));
  RecordProperty("device", info.name);
  EXPECT_GE(info.computeMajor, 8);
  EXPECT_GE(info.smCount, 1);
  EXPECT_GE(info.maxSharedBytesPerBlock, 99 * 1024);
  blocksparseRtFunctionInfo function;
  ASSERT_OK(blocksparseRtFunctionGetInfo(scale, &function));
  EXPECT_GE(function.registers, 4);
  EXPECT_EQ(function.localBytes, 0);
  EXPECT_EQ(function.argCount, 4);
  scaleAndCheck(100000, 0.5f);
}

TEST_F(RealDriverTest, Threads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([this, i] {
      for (int round = 0; round < 20; ++round)
        scaleAndCheck(static_cast<uint32_t>(1000 * (i + 1) + round), static_cast<float>(i + 2));
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST_F(RealDriverTest, PtxNewerThanTheDriver) {
  std::string text = scalePtx;
  text.replace(text.find("7.0"), 3, "99.0");
  blocksparseRtModule loaded = nullptr;
  EXPECT_FAILS(blocksparseRtModuleLoadPtx(device, text.data(), text.size(), 4, &loaded),
               BLOCKSPARSE_RT_PTX_TOO_NEW, "but got PTX version 99.0");
}

TEST_F(RealDriverTest, CompilerLog) {
  std::string text = scalePtx;
  text.replace(text.find("mul.f32"), 7, "mul.fxx");
  blocksparseRtModule loaded = nullptr;
  EXPECT_FAILS(blocksparseRtModuleLoadPtx(device, text.data(), text.size(), 4, &loaded),
               BLOCKSPARSE_RT_COMPILE_FAILED, "ptxas");
}

TEST_F(RealDriverTest, SharedMemory) {
  blocksparseRtDeviceInfo info;
  ASSERT_OK(blocksparseRtDeviceGetInfo(device, &info));
  EXPECT_OK(blocksparseRtFunctionSetMaxDynamicShared(scale, info.maxSharedBytesPerBlock));
  EXPECT_FAILS(blocksparseRtFunctionSetMaxDynamicShared(scale, info.maxSharedBytesPerBlock + 1),
               BLOCKSPARSE_RT_SHARED_MEMORY_LIMIT, "kernel 'scale' expects at most");
}

TEST_F(RealDriverTest, Events) {
  blocksparseRtEvent start = nullptr, stop = nullptr;
  ASSERT_OK(blocksparseRtEventCreate(device, 1, &start));
  ASSERT_OK(blocksparseRtEventCreate(device, 1, &stop));
  ASSERT_OK(blocksparseRtEventRecord(device, start, nullptr));
  ASSERT_OK(blocksparseRtEventRecord(device, stop, nullptr));
  ASSERT_OK(blocksparseRtEventSynchronize(device, stop));
  float time = -1;
  EXPECT_OK(blocksparseRtEventElapsed(device, start, stop, &time));
  EXPECT_GE(time, 0.0f);
  EXPECT_OK(blocksparseRtEventDestroy(device, start));
  EXPECT_OK(blocksparseRtEventDestroy(device, stop));
}

TEST_F(RealDriverTest, TensorMapsAndPointers) {
  void *memory = nullptr;
  ASSERT_OK(blocksparseRtAlloc(device, 1 << 20, nullptr, &memory));
  blocksparseRtMemoryKind kind;
  int32_t ordinal = -1;
  EXPECT_OK(blocksparseRtPointerKind(memory, &kind, &ordinal));
  EXPECT_EQ(kind, BLOCKSPARSE_RT_MEMORY_DEVICE);
  EXPECT_EQ(ordinal, 0);
  EXPECT_OK(blocksparseRtPointerKind(&kind, &kind, &ordinal));
  EXPECT_EQ(kind, BLOCKSPARSE_RT_MEMORY_HOST);
  blocksparseRtDeviceInfo info;
  ASSERT_OK(blocksparseRtDeviceGetInfo(device, &info));
  if (info.hasTensorMaps) {
    // Column panels of a 512 x 1024 f16 matrix, as a stage is loaded.
    blocksparseRtTensorMapConfig config = {};
    config.type = BLOCKSPARSE_RT_TENSOR_F16;
    config.rank = 3;
    config.address = memory;
    config.sizes[0] = 64, config.sizes[1] = 512, config.sizes[2] = 16;
    config.strides[0] = 2048, config.strides[1] = 128;
    config.box[0] = 64, config.box[1] = 64, config.box[2] = 4;
    config.swizzle = BLOCKSPARSE_RT_SWIZZLE_128B;
    blocksparseRtTensorMap map;
    EXPECT_OK(blocksparseRtTensorMapEncode(device, &config, &map));
  }
  EXPECT_OK(blocksparseRtFree(device, memory, nullptr));
  EXPECT_OK(blocksparseRtTrim(device, 0));
}

TEST_F(RealDriverTest, Clusters) {
  blocksparseRtDeviceInfo info;
  ASSERT_OK(blocksparseRtDeviceGetInfo(device, &info));
  if (!info.hasClusters)
    GTEST_SKIP() << "no clusters";
  // Clusters need code for sm_90 or newer.
  std::string text = scalePtx;
  text.replace(text.find("7.0"), 3, "7.8");
  text.replace(text.find("sm_80"), 5, "sm_90");
  blocksparseRtModule loaded = nullptr;
  blocksparseRtFunction function = nullptr;
  ASSERT_OK(blocksparseRtModuleLoadPtx(device, text.data(), text.size(), 4, &loaded));
  ASSERT_OK(blocksparseRtModuleGetFunction(loaded, "scale", &function));
  void *none = nullptr;
  float factor = 1;
  uint32_t count = 0;
  void *args[] = {&none, &none, &factor, &count};
  blocksparseRtLaunchConfig config = {{8, 1, 1}, {32, 1, 1}, {4, 1, 1}, 0, nullptr};
  EXPECT_OK(blocksparseRtLaunch(function, &config, args, 4));
  EXPECT_OK(blocksparseRtDeviceSynchronize(device));
  EXPECT_OK(blocksparseRtModuleUnload(loaded));
}

TEST_F(RealDriverTest, Artefact) {
  using namespace blocksparse::rt;
  auto bytes = [](const std::string &text) {
    return std::span<const uint8_t>(reinterpret_cast<const uint8_t *>(text.data()), text.size());
  };
  std::string lut(100000, 'l');
  Artifact contents;
  contents.images = {{ImageKind::Ptx, "sm_80", bytes(scalePtx)}};
  contents.luts = {{"lut", bytes(lut)}};
  contents.kernels = {{"scale", "sm_80", {128, 1, 1}, {1, 1, 1}, 60000}};
  std::string error;
  std::vector<uint8_t> data = writeArtifact(contents, error).value_or(std::vector<uint8_t>());
  blocksparseRtArtifact artifact = nullptr;
  ASSERT_OK(blocksparseRtArtifactOpen(data.data(), data.size(), &artifact));
  void *pointer = nullptr;
  size_t size = 0;
  ASSERT_OK(blocksparseRtArtifactGetDeviceLut(artifact, device, "lut", &pointer, &size));
  std::string back(size, ' ');
  ASSERT_OK(blocksparseRtCopyToHost(device, back.data(), pointer, size, nullptr));
  ASSERT_OK(blocksparseRtStreamSynchronize(device, nullptr));
  EXPECT_EQ(back, lut);
  float factor = 1;
  uint32_t count = 0;
  void *args[] = {&pointer, &pointer, &factor, &count};
  const int64_t grid[3] = {1, 1, 1};
  EXPECT_OK(blocksparseRtArtifactLaunch(artifact, device, "scale", grid, nullptr, args, 4));
  EXPECT_OK(blocksparseRtArtifactClose(artifact));
}

/// A kernel that writes to address 8, and what the next synchronisation says.
/// The context is lost with it, hence a process of its own.
[[noreturn]] void runBadPointer() {
  blocksparseRtDevice device = nullptr;
  blocksparseRtModule module = nullptr;
  blocksparseRtFunction scale = nullptr;
  blocksparseRtDeviceGet(0, &device);
  blocksparseRtModuleLoadPtx(device, scalePtx.data(), scalePtx.size(), 4, &module);
  if (blocksparseRtModuleGetFunction(module, "scale", &scale) != BLOCKSPARSE_RT_SUCCESS)
    exit(1);
  uint64_t bad = 8;
  float factor = 1;
  uint32_t count = 1;
  void *args[] = {&bad, &bad, &factor, &count};
  blocksparseRtLaunchConfig config = {{1, 1, 1}, {32, 1, 1}, {0, 0, 0}, 0, nullptr};
  if (blocksparseRtLaunch(scale, &config, args, 4) != BLOCKSPARSE_RT_SUCCESS)
    exit(2);
  blocksparseRtStatus status = blocksparseRtDeviceSynchronize(device);
  fprintf(stderr, "%s\n", blocksparseRtLastError());
  exit(status == BLOCKSPARSE_RT_DRIVER_ERROR ? 0 : 3);
}

TEST_F(RealDriverTest, BadPointerNamesTheKernel) {
  EXPECT_EXIT(runBadPointer(), ::testing::ExitedWithCode(0),
              "last launch: kernel 'scale' with grid .*CUDA_ERROR_ILLEGAL_ADDRESS");
}

} // namespace
