// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tests artefacts that are loaded on a device.

#include "RuntimeFixture.h"

#include "blocksparse/Runtime/Artifact.h"

#include <cstring>

using namespace blocksparse::rt;

namespace {

class ArtifactObjectTest : public RuntimeTest {
protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    if (IsSkipped())
      return;
    addImage(ImageKind::Ptx, "sm_80", scalePtx);
    contents.luts = {{"columns", bytesOf(columns)}, {"none", {}}};
  }
  void TearDown() override {
    EXPECT_OK(blocksparseRtArtifactClose(artifact));
    RuntimeTest::TearDown();
  }

  static std::span<const uint8_t> bytesOf(std::string_view text) {
    return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
  }
  void addImage(ImageKind kind, const char *target, std::string_view image) {
    contents.images.push_back({kind, target, bytesOf(image)});
    contents.kernels.push_back({"scale", target, {64, 1, 1}, {1, 1, 1}, 50000});
  }
  void open() {
    std::string error;
    data = writeArtifact(contents, error).value_or(std::vector<uint8_t>());
    ASSERT_FALSE(data.empty()) << error;
    ASSERT_OK(blocksparseRtArtifactOpen(data.data(), data.size(), &artifact));
  }
  /// Returns the launch that the driver received, of four CTAs without an element.
  FakeLaunch launchScale() {
    const int64_t grid[3] = {4, 1, 1};
    void *pointer = nullptr;
    float factor = 0;
    uint32_t count = 0;
    void *args[] = {&pointer, &pointer, &factor, &count};
    EXPECT_OK(blocksparseRtArtifactLaunch(artifact, device, "scale", grid, nullptr, args, 4));
    FakeLaunch seen = {};
    EXPECT_TRUE(fake.lastLaunch(&seen));
    return seen;
  }
  std::string target() {
    const char *name = "";
    EXPECT_OK(blocksparseRtArtifactTarget(artifact, device, &name));
    return name;
  }

  const std::string columns = "0123456789abcdefghij";
  const std::string cubin = "\x7f"
                            "ELF fake";
  Artifact contents;
  std::vector<uint8_t> data;
  blocksparseRtArtifact artifact = nullptr;
};

TEST_F(ArtifactObjectTest, LaunchesByRecord) {
  int live = fake.liveAllocations();
  open();
  EXPECT_EQ(fake.calls("cuModuleLoadDataEx"), 0); // modules are loaded when they are needed
  blocksparseRtFunction function = nullptr;
  blocksparseRtKernelInfo info;
  ASSERT_OK(blocksparseRtArtifactGetKernel(artifact, device, "scale", &function, &info));
  EXPECT_EQ(info.threads[0], 64);
  EXPECT_EQ(info.cluster[0], 1);
  EXPECT_EQ(info.dynamicSharedBytes, 50000);
  float values[2] = {1.5f, -2.0f};
  void *memory = nullptr;
  ASSERT_OK(blocksparseRtAlloc(device, 8, nullptr, &memory));
  ASSERT_OK(blocksparseRtCopyToDevice(device, memory, values, 8, nullptr));
  float factor = 4;
  uint32_t count = 2;
  void *args[] = {&memory, &memory, &factor, &count};
  const int64_t grid[3] = {1, 1, 1};
  ASSERT_OK(blocksparseRtArtifactLaunch(artifact, device, "scale", grid, nullptr, args, 4));
  ASSERT_OK(blocksparseRtCopyToHost(device, values, memory, 8, nullptr));
  EXPECT_EQ(values[0], 6.0f);
  EXPECT_EQ(values[1], -8.0f);
  FakeLaunch seen;
  ASSERT_TRUE(fake.lastLaunch(&seen));
  EXPECT_EQ(seen.block[0], 64u);
  EXPECT_EQ(seen.sharedBytes, 50000u);
  EXPECT_FAILS(blocksparseRtArtifactLaunch(artifact, device, "gone", grid, nullptr, args, 4),
               BLOCKSPARSE_RT_NOT_FOUND, "a kernel of the artefact for sm_80, but got 'gone'");
  ASSERT_OK(blocksparseRtFree(device, memory, nullptr));
  EXPECT_EQ(fake.liveAllocations(), live);
}

TEST_F(ArtifactObjectTest, ClustersOfTheRecord) {
  contents.kernels[0].cluster = {2, 1, 1};
  open();
  FakeLaunch seen = launchScale();
  EXPECT_EQ(fake.calls("cuLaunchKernelEx"), 1);
  EXPECT_EQ(seen.cluster[0], 2u);
  EXPECT_FALSE(seen.startsEarly);
}

TEST_F(ArtifactObjectTest, StartsEarlyAsTheRecordSays) {
  contents.kernels[0].mode = ArtifactKernel::Early;
  open();
  FakeLaunch seen = launchScale();
  EXPECT_TRUE(seen.startsEarly);
  EXPECT_EQ(seen.cluster[0], 0u);
}

TEST_F(ArtifactObjectTest, StartsEarlyAsAClusterToo) {
  contents.kernels[0].mode = ArtifactKernel::Early;
  contents.kernels[0].cluster = {2, 1, 1};
  open();
  FakeLaunch seen = launchScale();
  EXPECT_TRUE(seen.startsEarly);
  EXPECT_EQ(seen.cluster[0], 2u);
}

TEST_F(ArtifactObjectTest, RunsTogetherAsTheRecordSays) {
  contents.kernels[0].mode = ArtifactKernel::Together;
  open();
  FakeLaunch seen = launchScale();
  EXPECT_TRUE(seen.runsTogether);
  EXPECT_FALSE(seen.startsEarly);
}

TEST_F(ArtifactObjectTest, BlocksThatRunTogetherNeedAMultiprocessorEach) {
  contents.kernels[0].mode = ArtifactKernel::Together;
  open();
  const int64_t grid[3] = {133, 1, 1};
  void *pointer = nullptr;
  float factor = 0;
  uint32_t count = 0;
  void *args[] = {&pointer, &pointer, &factor, &count};
  EXPECT_FAILS(blocksparseRtArtifactLaunch(artifact, device, "scale", grid, nullptr, args, 4),
               BLOCKSPARSE_RT_LAUNCH_LIMIT,
               "expects a device with 133 multiprocessors for blocks that wait for each other");
}

TEST_F(ArtifactObjectTest, ExactTargetWins) {
  addImage(ImageKind::Ptx, "sm_90a", scalePtx);
  addImage(ImageKind::Ptx, "sm_100a", scalePtx);
  open();
  EXPECT_EQ(target(), "sm_90a");
}

TEST_F(ArtifactObjectTest, AnOldDriverTakesTheOlderImage) {
  std::string newer = scalePtx;
  newer.replace(newer.find("7.0"), 3, "9.9");
  addImage(ImageKind::Ptx, "sm_90a", newer);
  open();
  EXPECT_EQ(target(), "sm_80");
}

// A driver that is older than the toolkit of the machine code compiles the PTX of the same target.
// A failure of the best image must not be hidden by running slower code.
TEST_F(ArtifactObjectTest, AnOldDriverTakesThePtxOfMachineCode) {
  addImage(ImageKind::Ptx, "sm_90a", scalePtx);
  addImage(ImageKind::Cubin, "sm_90a", cubin);
  contents.kernels.pop_back();
  open();
  fake.fail("cuModuleLoadDataEx", 1, 209);
  EXPECT_EQ(target(), "sm_90a");
  EXPECT_EQ(fake.calls("cuModuleLoadDataEx"), 2);
}

// PTX of an older target is different code and must not be used instead.
TEST_F(ArtifactObjectTest, RefusedMachineCodeAloneIsAnError) {
  addImage(ImageKind::Cubin, "sm_90a", cubin);
  open();
  fake.fail("cuModuleLoadDataEx", 1, 209);
  const char *name = nullptr;
  EXPECT_FAILS(blocksparseRtArtifactTarget(artifact, device, &name), BLOCKSPARSE_RT_COMPILE_FAILED,
               "cuModuleLoadDataEx failed");
  EXPECT_EQ(fake.calls("cuModuleLoadDataEx"), 1);
}

TEST_F(ArtifactObjectTest, ABrokenImageIsAnError) {
  std::string broken = scalePtx + "syntax error";
  addImage(ImageKind::Ptx, "sm_90a", broken);
  open();
  const char *name = nullptr;
  EXPECT_FAILS(blocksparseRtArtifactTarget(artifact, device, &name), BLOCKSPARSE_RT_COMPILE_FAILED,
               "Parsing error");
}

TEST_F(ArtifactObjectTest, ForcedTarget) {
  addImage(ImageKind::Cubin, "sm_90a", cubin);
  open();
  EXPECT_FAILS(blocksparseRtArtifactSetTarget(artifact, "cpu"), BLOCKSPARSE_RT_INVALID_ARGUMENT,
               "but got 'cpu'");
  EXPECT_OK(blocksparseRtArtifactSetTarget(artifact, "sm_80"));
  EXPECT_EQ(target(), "sm_80");
  EXPECT_FAILS(blocksparseRtArtifactSetTarget(artifact, nullptr), BLOCKSPARSE_RT_INVALID_ARGUMENT,
               "before the first use");
}

TEST_F(ArtifactObjectTest, NoImageForTheDevice) {
  contents.images.clear();
  contents.kernels.clear();
  addImage(ImageKind::Ptx, "sm_100", scalePtx);
  addImage(ImageKind::Cubin, "sm_80", cubin);
  open();
  const char *name = nullptr;
  EXPECT_FAILS(blocksparseRtArtifactTarget(artifact, device, &name), BLOCKSPARSE_RT_NO_IMAGE,
               "for device 0 (Fake H100) of compute capability 9.0, but got sm_100 (PTX), sm_80 "
               "(cubin)");
  EXPECT_OK(blocksparseRtArtifactSetTarget(artifact, "sm_90a"));
  EXPECT_FAILS(blocksparseRtArtifactTarget(artifact, device, &name), BLOCKSPARSE_RT_NO_IMAGE,
               "expects an artefact image of target sm_90a");
}

TEST_F(ArtifactObjectTest, LutsAreUploadedOncePerDevice) {
  int live = fake.liveAllocations();
  open();
  const void *onHost = nullptr;
  void *first = nullptr, *second = nullptr, *other = nullptr, *none = &none;
  size_t bytes = 0;
  ASSERT_OK(blocksparseRtArtifactGetLut(artifact, "columns", &onHost, &bytes));
  EXPECT_EQ(std::string(static_cast<const char *>(onHost), bytes), columns);
  EXPECT_EQ(fake.liveAllocations(), live);
  ASSERT_OK(blocksparseRtArtifactGetDeviceLut(artifact, device, "columns", &first, &bytes));
  ASSERT_OK(blocksparseRtArtifactGetDeviceLut(artifact, device, "columns", &second, &bytes));
  EXPECT_EQ(first, second);
  EXPECT_EQ(bytes, columns.size());
  EXPECT_EQ(memcmp(first, columns.data(), columns.size()), 0);
  EXPECT_EQ(fake.calls("cuMemcpyHtoDAsync_v2"), 1);
  blocksparseRtDevice secondDevice = nullptr;
  ASSERT_OK(blocksparseRtDeviceGet(1, &secondDevice));
  ASSERT_OK(blocksparseRtArtifactGetDeviceLut(artifact, secondDevice, "columns", &other, &bytes));
  EXPECT_NE(first, other);
  EXPECT_OK(blocksparseRtArtifactGetDeviceLut(artifact, device, "none", &none, &bytes));
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(bytes, 0u);
  EXPECT_FAILS(blocksparseRtArtifactGetDeviceLut(artifact, device, "rows", &none, &bytes),
               BLOCKSPARSE_RT_NOT_FOUND, "one of the artefact's 2 LUTs, but got 'rows'");
  EXPECT_OK(blocksparseRtArtifactClose(artifact));
  artifact = nullptr;
  EXPECT_EQ(fake.liveAllocations(), live);
}

TEST_F(ArtifactObjectTest, AFailedUploadLeaksNothingAndIsTriedAgain) {
  open();
  int live = fake.liveAllocations();
  void *pointer = nullptr;
  size_t bytes = 0;
  for (const char *call :
       {"cuMemAlloc_v2", "cuStreamCreate", "cuMemcpyHtoDAsync_v2", "cuStreamSynchronize"}) {
    fake.fail(call, 1, 1);
    EXPECT_EQ(blocksparseRtArtifactGetDeviceLut(artifact, device, "columns", &pointer, &bytes),
              BLOCKSPARSE_RT_DRIVER_ERROR)
        << call;
    EXPECT_EQ(fake.liveAllocations(), live) << call;
    fake.reset();
  }
  EXPECT_OK(blocksparseRtArtifactGetDeviceLut(artifact, device, "columns", &pointer, &bytes));
}

TEST_F(ArtifactObjectTest, BadInput) {
  blocksparseRtArtifact none = nullptr;
  EXPECT_FAILS(blocksparseRtArtifactOpen("no artefact, but long enough for a header", 40, &none),
               BLOCKSPARSE_RT_INVALID_ARTIFACT, "expects an artefact that begins with");
  EXPECT_FAILS(blocksparseRtArtifactOpen("x", 1, &none), BLOCKSPARSE_RT_INVALID_ARTIFACT,
               "but got 1");
  EXPECT_EQ(none, nullptr);
  EXPECT_FAILS(blocksparseRtArtifactOpen(nullptr, 1, &none), BLOCKSPARSE_RT_INVALID_ARGUMENT,
               "got NULL");
}

TEST_F(ArtifactObjectTest, OpenOnce) {
  open();
  blocksparseRtArtifact slot = nullptr, first = nullptr, second = nullptr;
  ASSERT_OK(blocksparseRtArtifactOpenOnce(&slot, data.data(), data.size(), &first));
  ASSERT_OK(blocksparseRtArtifactOpenOnce(&slot, data.data(), data.size(), &second));
  EXPECT_NE(first, nullptr);
  EXPECT_EQ(first, second);
  EXPECT_OK(blocksparseRtArtifactClose(first));
}

TEST_F(ArtifactObjectTest, CloseSlotFreesWhatWasUploaded) {
  open();
  blocksparseRtArtifact slot = nullptr, opened = nullptr;
  blocksparseRtArtifactCloseSlot(&slot);
  ASSERT_OK(blocksparseRtArtifactOpenOnce(&slot, data.data(), data.size(), &opened));
  const auto live = fake.liveAllocations();
  void *pointer = nullptr;
  size_t bytes = 0;
  ASSERT_OK(blocksparseRtArtifactGetDeviceLut(opened, device, "columns", &pointer, &bytes));
  EXPECT_GT(fake.liveAllocations(), live);
  blocksparseRtArtifactCloseSlot(&slot);
  EXPECT_EQ(slot, nullptr);
  EXPECT_EQ(fake.liveAllocations(), live);
  // A library that is loaded again opens it again.
  ASSERT_OK(blocksparseRtArtifactOpenOnce(&slot, data.data(), data.size(), &opened));
  EXPECT_OK(blocksparseRtArtifactClose(opened));
}

} // namespace
