// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The calls of generated code, made here by hand.

#include "RuntimeFixture.h"

#include "blocksparse/Runtime/Artifact.h"

using namespace blocksparse::rt;

namespace {

/// An artefact with `scale` and the LUT `table`, and a call on memory of the device.
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

  /// A vector of `size` elements of f16.
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

// An empty tensor has no map; the driver is not asked.
TEST_F(ProgramTest, TheFirstFailureOfAMapEndsTheCall) {
  begin();
  blocksparseRtTensorMap map = {};
  blocksparseRtTensorMapConfig empty = vector(0);
  blocksparseRtCallTensorMap(&call, &empty, &map);
  blocksparseRtTensorMapConfig good = vector(512);
  blocksparseRtCallTensorMap(&call, &good, &map);
  EXPECT_EQ(blocksparseRtCallLut(&call, "table"), nullptr);
  void *none = nullptr;
  blocksparseRtCallLaunch(&call, "scale", 1, 1, 1, &none, 0);
  EXPECT_FAILS(blocksparseRtCallEnd(&call), BLOCKSPARSE_RT_INVALID_ARGUMENT,
               "tensor map expects sizes[0] from 1 to 4294967296, but got 0");
  EXPECT_EQ(fake.calls("cuTensorMapEncodeTiled"), 0);
  EXPECT_EQ(fake.calls("cuLaunchKernel"), 0);
  EXPECT_EQ(map.opaque[2], 0u);
}

} // namespace
