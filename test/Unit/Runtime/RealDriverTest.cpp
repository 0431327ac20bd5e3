// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tests the runtime on a real GPU, if BLOCKSPARSE_TEST_REAL_DRIVER=1 is set. Otherwise these tests
// are skipped.

#include "RuntimeFixture.h"

#include "Module.h"

#include "blocksparse/Runtime/Artifact.h"

#include <array>
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

  /// Scales `count` floats on a new stream and checks each.
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

  /// Launches `scale` on no element.
  blocksparseRtStatus launchEmpty(const std::array<int64_t, 3> &grid,
                                  const std::array<int64_t, 3> &block, int64_t sharedBytes = 0) {
    void *none = nullptr;
    float factor = 1;
    uint32_t count = 0;
    void *args[] = {&none, &none, &factor, &count};
    blocksparseRtLaunchConfig config = {{grid[0], grid[1], grid[2]},
                                        {block[0], block[1], block[2]},
                                        {0, 0, 0},
                                        sharedBytes,
                                        nullptr};
    return blocksparseRtLaunch(scale, &config, args, 4);
  }

  blocksparseRtDevice device = nullptr;
  blocksparseRtModule module = nullptr;
  blocksparseRtFunction scale = nullptr;
};

std::span<const uint8_t> bytesOf(const std::string &text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

/// PTX of a kernel that copies a box of 4 rows of 8 floats, which one TMA load brings, to `out`.
/// The tensor map is a parameter by value.
const std::string loadPtx = R"(
.version 8.0
.target sm_90a
.address_size 64

.visible .entry load(.param .align 64 .b8 map[128], .param .u64 out)
{
  .reg .pred %p;
  .reg .b32 %r<8>;
  .reg .f32 %f;
  .reg .b64 %rd<8>;
  .shared .align 128 .b8 tile[128];
  .shared .align 8 .b8 barrier[8];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, barrier;
  mov.u32 %r3, tile;
  setp.ne.u32 %p, %r1, 0;
  @%p bra begun;
  mbarrier.init.shared.b64 [%r2], 1;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 128;
  mov.b64 %rd1, map;
  cvta.param.u64 %rd2, %rd1;
  mov.u32 %r4, 0;
  cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd2, {%r4, %r4}], [%r2];
begun:
  bar.sync 0;
waiting:
  mbarrier.try_wait.parity.shared.b64 %p, [%r2], 0;
  @!%p bra waiting;
  shl.b32 %r5, %r1, 2;
  add.u32 %r6, %r3, %r5;
  ld.shared.f32 %f, [%r6];
  ld.param.u64 %rd3, [out];
  cvta.to.global.u64 %rd3, %rd3;
  cvt.u64.u32 %rd4, %r5;
  add.s64 %rd5, %rd3, %rd4;
  st.global.f32 [%rd5], %f;
  ret;
}
)";

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

TEST_F(RealDriverTest, SharedMemoryOfALaunch) {
  blocksparseRtDeviceInfo info;
  ASSERT_OK(blocksparseRtDeviceGetInfo(device, &info));
  EXPECT_FAILS(launchEmpty({1, 1, 1}, {32, 1, 1}, info.maxSharedBytesPerBlock + 1),
               BLOCKSPARSE_RT_SHARED_MEMORY_LIMIT, "kernel 'scale' expects at most");
  EXPECT_OK(launchEmpty({1, 1, 1}, {32, 1, 1}, info.maxSharedBytesPerBlock));
  EXPECT_OK(blocksparseRtDeviceSynchronize(device));
}

// The limits are those of the device: launches within them run, and a refused launch has no side
// effects.
TEST_F(RealDriverTest, GridAndBlockLimits) {
  EXPECT_FAILS(launchEmpty({1, 65536, 1}, {32, 1, 1}), BLOCKSPARSE_RT_LAUNCH_LIMIT,
               "kernel 'scale' with grid (1, 65536, 1), block (32, 1, 1)");
  EXPECT_FAILS(launchEmpty({1, 1, 65536}, {32, 1, 1}), BLOCKSPARSE_RT_LAUNCH_LIMIT,
               "expects grid z from 0 to 65535, but got 65536");
  EXPECT_FAILS(launchEmpty({int64_t(1) << 31, 1, 1}, {32, 1, 1}), BLOCKSPARSE_RT_LAUNCH_LIMIT,
               "expects grid x from 0 to 2147483647, but got 2147483648");
  EXPECT_FAILS(launchEmpty({1, 1, 1}, {1025, 1, 1}), BLOCKSPARSE_RT_LAUNCH_LIMIT,
               "expects block x from 1 to 1024, but got 1025");
  EXPECT_OK(launchEmpty({1, 65535, 1}, {1, 1, 1}));
  EXPECT_OK(launchEmpty({1, 1, 65535}, {1, 1, 1}));
  EXPECT_OK(launchEmpty({int64_t(1) << 20, 1, 1}, {1, 1, 1}));
  EXPECT_OK(blocksparseRtDeviceSynchronize(device));
  scaleAndCheck(1000, 2);
}

// A launch that passes the runtime's checks but that the driver refuses must be reported with all
// its parameters.
TEST_F(RealDriverTest, DriverRefusesTheLaunch) {
  using namespace blocksparse::rt;
  const Driver &driver = unwrap(device)->driver;
  ScopedContext context;
  ASSERT_OK(context.enter(*unwrap(device)));
  void *none = nullptr;
  float factor = 1;
  uint32_t count = 0;
  void *args[] = {&none, &none, &factor, &count};
  cuda::Result result = driver.cuLaunchKernel(unwrap(scale)->handle, 1, 65536, 1, 32, 1, 1, 0,
                                              nullptr, args, nullptr);
  EXPECT_EQ(result, cuda::errorInvalidValue);
  EXPECT_FAILS(unwrap(device)->fail(result, "launch", "kernel 'scale'"),
               BLOCKSPARSE_RT_DRIVER_ERROR, "CUDA_ERROR_INVALID_VALUE");
  EXPECT_OK(blocksparseRtDeviceSynchronize(device));
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
    // The maps are column panels of a 512 x 1024 f16 matrix, as a stage loads them.
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
  // Clusters require code for sm_90 or newer.
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
  std::string lut(100000, 'l');
  Artifact contents;
  contents.images = {{ImageKind::Ptx, "sm_80", bytesOf(scalePtx)}};
  contents.luts = {{"lut", bytesOf(lut)}};
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

/// PTX of a kernel that adds 1 to the number at `at`, long after it has read the number. It lets
/// the next kernel start at once, and waits for the kernel before it.
const std::string stepPtx = R"(
.version 7.8
.target sm_90
.address_size 64
.visible .entry step(.param .u64 at)
{
  .reg .u64 %p;
  .reg .u32 %v, %i;
  .reg .pred %more;
  griddepcontrol.launch_dependents;
  griddepcontrol.wait;
  ld.param.u64 %p, [at];
  ld.global.u32 %v, [%p];
  mov.u32 %i, 0;
again:
  nanosleep.u32 1000;
  add.u32 %i, %i, 1;
  setp.lt.u32 %more, %i, 20;
  @%more bra again;
  add.u32 %v, %v, 1;
  st.global.u32 [%p], %v;
  ret;
}
)";

/// Checks 100 kernels that start early, each of which adds 1 to a number.
class RealDriverEarlyTest : public RealDriverTest {
protected:
  static constexpr uint32_t launches = 100;

  void SetUp() override {
    RealDriverTest::SetUp();
    if (IsSkipped())
      return;
    blocksparseRtDeviceInfo info;
    ASSERT_OK(blocksparseRtDeviceGetInfo(device, &info));
    if (!info.hasClusters) // code for sm_90, whether it starts early or not
      GTEST_SKIP() << "needs a device of compute capability 9.0 or newer";
    using namespace blocksparse::rt;
    Artifact contents;
    contents.images = {{ImageKind::Ptx, "sm_90", bytesOf(stepPtx)}};
    contents.kernels = {{"step", "sm_90", {1, 1, 1}, {1, 1, 1}, 0, ArtifactKernel::Early}};
    std::string error;
    data = writeArtifact(contents, error).value_or(std::vector<uint8_t>());
    ASSERT_OK(blocksparseRtArtifactOpen(data.data(), data.size(), &artifact));
    ASSERT_OK(blocksparseRtStreamCreate(device, &stream));
    uint32_t zero = 0;
    ASSERT_OK(blocksparseRtAlloc(device, sizeof(zero), stream, &memory));
    ASSERT_OK(blocksparseRtCopyToDevice(device, memory, &zero, sizeof(zero), stream));
    // The first launch loads the module, which is not allowed during a capture.
    const int64_t none[3] = {0, 1, 1};
    void *args[] = {&memory};
    ASSERT_OK(blocksparseRtArtifactLaunch(artifact, device, "step", none, stream, args, 1));
    ASSERT_OK(blocksparseRtStreamSynchronize(device, stream));
  }
  void TearDown() override {
    if (stream) {
      EXPECT_OK(blocksparseRtFree(device, memory, stream));
      EXPECT_OK(blocksparseRtStreamDestroy(device, stream));
      EXPECT_OK(blocksparseRtArtifactClose(artifact));
    }
    if (module)
      RealDriverTest::TearDown();
  }

  void launchAll() {
    const int64_t grid[3] = {1, 1, 1};
    void *args[] = {&memory};
    for (uint32_t i = 0; i < launches; ++i)
      ASSERT_OK(blocksparseRtArtifactLaunch(artifact, device, "step", grid, stream, args, 1));
  }
  uint32_t read() {
    uint32_t number = 0;
    EXPECT_OK(blocksparseRtCopyToHost(device, &number, memory, sizeof(number), stream));
    EXPECT_OK(blocksparseRtStreamSynchronize(device, stream));
    return number;
  }

  std::vector<uint8_t> data;
  blocksparseRtArtifact artifact = nullptr;
  blocksparseRtStream stream = nullptr;
  void *memory = nullptr;
};

TEST_F(RealDriverEarlyTest, WaitsForTheKernelBefore) {
  launchAll();
  EXPECT_EQ(read(), launches);
}

TEST_F(RealDriverEarlyTest, CanBeCapturedInAGraph) {
  blocksparseRtGraph graph = nullptr;
  ASSERT_OK(blocksparseRtCaptureBegin(device, stream));
  launchAll();
  ASSERT_OK(blocksparseRtCaptureEnd(device, stream, &graph));
  EXPECT_EQ(read(), 0u);
  for (int i = 0; i < 100; ++i)
    EXPECT_OK(blocksparseRtGraphLaunch(device, graph, stream));
  EXPECT_EQ(read(), 100 * launches);
  EXPECT_OK(blocksparseRtGraphDestroy(device, graph));
}

// The test makes the calls of generated code, with a tensor map that the kernel receives by value.
TEST_F(RealDriverTest, ProgramWithATensorMap) {
  using namespace blocksparse::rt;
  blocksparseRtDeviceInfo info;
  ASSERT_OK(blocksparseRtDeviceGetInfo(device, &info));
  if (!info.hasTensorMaps || info.computeMajor != 9)
    GTEST_SKIP() << "needs a device of compute capability 9.0";
  Artifact contents;
  contents.images = {{ImageKind::Ptx, "sm_90a", bytesOf(loadPtx)}};
  contents.kernels = {{"load", "sm_90a", {32, 1, 1}}};
  std::string error;
  std::vector<uint8_t> data = writeArtifact(contents, error).value_or(std::vector<uint8_t>());
  std::vector<float> values(64);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(i);
  void *memory = nullptr;
  ASSERT_OK(blocksparseRtAlloc(device, 512, nullptr, &memory));
  ASSERT_OK(blocksparseRtCopyToDevice(device, memory, values.data(), 256, nullptr));

  blocksparseRtArtifact slot = nullptr;
  blocksparseRtSite site = {};
  for (int round = 0; round < 2; ++round) {
    blocksparseRtCall call;
    blocksparseRtCallBegin(&call, &slot, data.data(), static_cast<int64_t>(data.size()), &memory,
                           1);
    blocksparseRtTensorMapConfig config = {};
    config.type = BLOCKSPARSE_RT_TENSOR_F32;
    config.rank = 2;
    config.address = static_cast<float *>(memory) + 16 * round;
    config.sizes[0] = 8, config.sizes[1] = 3; // the box's fourth row is out of bounds: zeros
    config.strides[0] = 64;
    config.box[0] = 8, config.box[1] = 4;
    blocksparseRtTensorMap map;
    blocksparseRtCallTensorMap(&call, &config, &map);
    void *out = static_cast<char *>(memory) + 256;
    void *args[] = {&map, &out};
    blocksparseRtCallLaunch(&call, &site, "load", 1, 1, 1, args, 2);
    ASSERT_OK(static_cast<blocksparseRtStatus>(blocksparseRtCallEnd(&call)));
    float result[32];
    ASSERT_OK(blocksparseRtCopyToHost(device, result, out, sizeof(result), nullptr));
    ASSERT_OK(blocksparseRtStreamSynchronize(device, nullptr));
    for (int i = 0; i < 32; ++i)
      EXPECT_EQ(result[i], i < 24 ? values[16 * round + i / 8 * 16 + i % 8] : 0.0f) << i;
  }
  EXPECT_OK(blocksparseRtArtifactClose(slot));
  EXPECT_OK(blocksparseRtFree(device, memory, nullptr));
}

/// Exits with the status of a process in whose environment `name` is `value`.
[[noreturn]] void countDevicesWith(const char *name, const char *value,
                                   blocksparseRtStatus expected) {
  setenv(name, value, /*overwrite=*/1);
  int32_t count = -1;
  blocksparseRtStatus status = blocksparseRtDeviceCount(&count);
  fprintf(stderr, "%s\n", blocksparseRtLastError());
  exit(status == expected ? 0 : 1);
}

/// Runs tests in which no fixture loads the driver first.
class RealDriverLoadTest : public ::testing::Test {
protected:
  void SetUp() override {
    ::testing::FLAGS_gtest_death_test_style = "threadsafe";
    if (!usesRealDriver())
      GTEST_SKIP() << "BLOCKSPARSE_TEST_REAL_DRIVER is not set";
  }
};

TEST_F(RealDriverLoadTest, DriverIsMissing) {
  EXPECT_EXIT(countDevicesWith("BLOCKSPARSE_CUDA_DRIVER", "/nowhere/libcuda.so.1",
                               BLOCKSPARSE_RT_DRIVER_NOT_FOUND),
              ::testing::ExitedWithCode(0),
              "expects the CUDA driver library '/nowhere/libcuda.so.1', but got");
}

TEST_F(RealDriverLoadTest, DevicesAreHidden) {
  EXPECT_EXIT(countDevicesWith("CUDA_VISIBLE_DEVICES", "", BLOCKSPARSE_RT_NO_DEVICE),
              ::testing::ExitedWithCode(0), "expects at least one CUDA device");
}

/// Runs a kernel that writes to address 8, and prints the error of the next synchronisation. The
/// error destroys the context, so the test needs a process of its own.
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
