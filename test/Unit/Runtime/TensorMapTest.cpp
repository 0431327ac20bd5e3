// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RuntimeFixture.h"

namespace {

class TensorMapTest : public RuntimeTest {
protected:
  /// Returns the configuration of a 4096 x 4096 f16 matrix in boxes of 64 x 64 with 128-byte
  /// swizzle.
  static blocksparseRtTensorMapConfig good() {
    blocksparseRtTensorMapConfig config = {};
    config.type = BLOCKSPARSE_RT_TENSOR_F16;
    config.rank = 2;
    config.address = reinterpret_cast<void *>(uintptr_t(0x7f0000000000));
    config.sizes[0] = config.sizes[1] = 4096;
    config.strides[0] = 8192;
    config.box[0] = config.box[1] = 64;
    config.swizzle = BLOCKSPARSE_RT_SWIZZLE_128B;
    config.l2Promotion = BLOCKSPARSE_RT_L2_128B;
    return config;
  }

  /// Expects an error with the text `part` after one change of the valid configuration.
  template <typename Change>
  void expectRefused(Change change, const char *part) {
    blocksparseRtTensorMapConfig config = good();
    change(config);
    blocksparseRtTensorMap map;
    EXPECT_FAILS(blocksparseRtTensorMapEncode(device, &config, &map),
                 BLOCKSPARSE_RT_INVALID_ARGUMENT, part);
    EXPECT_EQ(fake.calls("cuTensorMapEncodeTiled"), 0);
  }
};

TEST_F(TensorMapTest, ParametersArrive) {
  blocksparseRtTensorMapConfig config = good();
  blocksparseRtTensorMap map;
  ASSERT_OK(blocksparseRtTensorMapEncode(device, &config, &map));
  const uint64_t expected[13] = {6, 2, 0x7f0000000000, 4096, 4096, 8192, 64, 64, 1, 0, 3, 2, 0};
  for (int i = 0; i < 13; ++i)
    EXPECT_EQ(map.opaque[i], expected[i]) << i;
}

// One TMA box can load a stage of several column panels: strides that grow towards the inner
// dimension are legal.
TEST_F(TensorMapTest, ThreeDimensionalPanels) {
  blocksparseRtTensorMapConfig config = good();
  config.rank = 3;
  config.sizes[0] = 64, config.sizes[1] = 4096, config.sizes[2] = 64;
  config.strides[0] = 8192, config.strides[1] = 128;
  config.box[2] = 4;
  blocksparseRtTensorMap map;
  EXPECT_OK(blocksparseRtTensorMapEncode(device, &config, &map));
}

// A batch of one may have any stride: views of other libraries do.
TEST_F(TensorMapTest, StridesOfSizeOneDoNotCount) {
  blocksparseRtTensorMapConfig config = good();
  config.rank = 3;
  config.sizes[2] = 1, config.box[2] = 1;
  config.strides[1] = 2;
  blocksparseRtTensorMap map;
  EXPECT_OK(blocksparseRtTensorMapEncode(device, &config, &map));
  config.sizes[2] = 2;
  EXPECT_FAILS(blocksparseRtTensorMapEncode(device, &config, &map), BLOCKSPARSE_RT_INVALID_ARGUMENT,
               "expects strides[1] from 16 to");
}

TEST_F(TensorMapTest, EachRuleNamesItsValue) {
  using Config = blocksparseRtTensorMapConfig;
  expectRefused([](Config &c) { c.type = 13; }, "expects type from 0 to 12, but got 13");
  expectRefused([](Config &c) { c.rank = 0; }, "expects rank from 1 to 5, but got 0");
  expectRefused([](Config &c) { c.rank = 6; }, "expects rank from 1 to 5, but got 6");
  expectRefused([](Config &c) { c.address = static_cast<char *>(c.address) + 8; },
                "aligned to 16 bytes, but got 0x7f0000000008");
  expectRefused([](Config &c) { c.address = nullptr; }, "but got 0x0");
  expectRefused([](Config &c) { c.sizes[1] = 0; },
                "expects sizes[1] from 1 to 4294967296, but got 0");
  expectRefused([](Config &c) { c.sizes[0] = (uint64_t(1) << 32) + 1; }, "but got 4294967297");
  expectRefused([](Config &c) { c.strides[0] = 8200; },
                "expects strides[0] to be a multiple of 16 bytes, but got 8200");
  expectRefused([](Config &c) { c.strides[0] = uint64_t(1) << 40; }, "but got 1099511627776");
  expectRefused([](Config &c) { c.box[1] = 257; }, "expects box[1] from 1 to 256, but got 257");
  expectRefused([](Config &c) { c.box[0] = 4; }, "a multiple of 16 bytes, but got 8 (box[0] = 4)");
  expectRefused([](Config &c) { c.box[0] = 128; },
                "at most 128 bytes for its swizzle, but got 256 (box[0] = 128)");
  expectRefused([](Config &c) { c.elementSteps[0] = 1; },
                "expects elementSteps[1] from 1 to 8, but got 0");
  expectRefused([](Config &c) { c.elementSteps[0] = c.elementSteps[1] = 9; }, "but got 9");
  expectRefused([](Config &c) { c.interleave = 3; }, "expects interleave from 0 to 2, but got 3");
  expectRefused([](Config &c) { c.interleave = BLOCKSPARSE_RT_INTERLEAVE_16B; },
                "expects rank from 3 to 5, but got 2");
  expectRefused(
      [](Config &c) {
        c.rank = 3;
        c.interleave = BLOCKSPARSE_RT_INTERLEAVE_32B;
      },
      "expects swizzle 1 (32B) with interleave 2 (32B), but got 3");
  expectRefused(
      [](Config &c) {
        c.type = BLOCKSPARSE_RT_TENSOR_U16;
        c.outOfBounds = BLOCKSPARSE_RT_FILL_NAN;
      },
      "a floating-point type to fill with NaN, but got type 1");
}

TEST_F(TensorMapTest, DriverRefusalHasTheParameters) {
  fake.fail("cuTensorMapEncodeTiled", 1, 1);
  blocksparseRtTensorMapConfig config = good();
  blocksparseRtTensorMap map;
  EXPECT_FAILS(blocksparseRtTensorMapEncode(device, &config, &map), BLOCKSPARSE_RT_DRIVER_ERROR,
               "tensor map of type 6, sizes (4096, 4096), strides (8192), box (64, 64), interleave "
               "0, swizzle 3: cuTensorMapEncodeTiled failed");
}

TEST_F(TensorMapTest, TheMapItselfMustBeAligned) {
  alignas(64) char memory[256];
  blocksparseRtTensorMapConfig config = good();
  EXPECT_FAILS(blocksparseRtTensorMapEncode(
                   device, &config, reinterpret_cast<blocksparseRtTensorMap *>(memory + 16)),
               BLOCKSPARSE_RT_INVALID_ARGUMENT, "aligned to 64 bytes");
}

} // namespace
