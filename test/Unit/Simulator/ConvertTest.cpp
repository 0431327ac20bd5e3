// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Float8.h"
#include "RunKernel.h"

#include <bit>
#include <cmath>

using namespace blocksparse::sim;

namespace {

uint32_t bits(float value) { return std::bit_cast<uint32_t>(value); }

TEST(SimulatorConvert, HalfIsTheInverseOfItself) {
  for (uint32_t code = 0; code < 0x10000; ++code) {
    float value = halfToFloat(static_cast<uint16_t>(code));
    if (!std::isnan(value))
      EXPECT_EQ(floatToHalf(value), code);
  }
}

TEST(SimulatorConvert, HalfValuesByDefinition) {
  EXPECT_EQ(halfToFloat(0x3c00), 1.0f);
  EXPECT_EQ(halfToFloat(0x0001), 0x1p-24f);
  EXPECT_EQ(halfToFloat(0x7bff), 65504.0f);
  EXPECT_EQ(halfToFloat(0xfc00), -INFINITY);
}

TEST(SimulatorConvert, HalfRoundsToNearestEven) {
  EXPECT_EQ(floatToHalf(1 + 0x1p-11f), 0x3c00);
  EXPECT_EQ(floatToHalf(1 + 3 * 0x1p-11f), 0x3c02);
  EXPECT_EQ(floatToHalf(0x1p-25f), 0);
  EXPECT_EQ(floatToHalf(0x1.8p-25f), 1);
  EXPECT_EQ(floatToHalf(65519.0f), 0x7bff);
  EXPECT_EQ(floatToHalf(65520.0f), 0x7c00);
  EXPECT_EQ(floatToHalf(NAN), 0x7fff);
}

TEST(SimulatorConvert, Bf16RoundsToNearestEven) {
  EXPECT_EQ(floatToBf16(std::bit_cast<float>(0x3f808000u)), 0x3f80);
  EXPECT_EQ(floatToBf16(std::bit_cast<float>(0x3f818000u)), 0x3f82);
  EXPECT_EQ(floatToBf16(std::bit_cast<float>(0x7f7fffffu)), 0x7f80);
}

TEST(SimulatorConvert, Tf32TiesGoAwayFromZero) {
  EXPECT_EQ(bits(roundToTf32(std::bit_cast<float>(0x3f801000u))), 0x3f802000u);
  EXPECT_EQ(bits(roundToTf32(std::bit_cast<float>(0xbf800fffu))), 0xbf800000u);
}

TEST(SimulatorConvert, Float8IsTheInverseOfItself) {
  for (uint32_t code = 0; code < 0x100; ++code) {
    float value = e4m3ToFloat(static_cast<uint8_t>(code));
    if (std::isfinite(value))
      EXPECT_EQ(floatToE4m3(value), code);
    value = e5m2ToFloat(static_cast<uint8_t>(code));
    if (std::isfinite(value))
      EXPECT_EQ(floatToE5m2(value), code);
  }
  EXPECT_EQ(e4m3ToFloat(0x7e), 448.0f);
  EXPECT_EQ(e4m3ToFloat(0x01), 0x1p-9f);
  EXPECT_EQ(floatToE4m3(1000.0f), 0x7e);
  EXPECT_EQ(floatToE4m3(0x1p-10f), 0); // half of the smallest: to even
}

TEST(SimulatorConvert, FirstSourceIsTheUpperHalf) {
  EXPECT_EQ(compute("cvt.rn.f16x2.f32 %r0, %r1, %r2;", bits(2), bits(1)), 0x40003c00u);
  EXPECT_EQ(compute("cvt.rn.bf16x2.f32 %r0, %r1, %r2;", bits(2), bits(1)), 0x40003f80u);
  EXPECT_EQ(compute("cvt.u16.u32 %h1, %r1; cvt.rn.f16x2.e4m3x2 %r0, %h1;", 0x3840), 0x3c004000u);
}

TEST(SimulatorConvert, IntegersKeepTheirSign) {
  EXPECT_EQ(compute64("cvt.u32.u64 %r1, %d1; cvt.s64.s32 %d0, %r1;", 0xffffffff), uint64_t(-1));
  EXPECT_EQ(compute64("cvt.u32.u64 %r1, %d1; cvt.u64.u32 %d0, %r1;", 0xffffffff), 0xffffffffu);
  EXPECT_EQ(compute("cvt.u16.u32 %h1, %r1; cvt.s32.s16 %r0, %h1;", 0x18000), 0xffff8000u);
}

TEST(SimulatorConvert, FloatsToIntegersSaturate) {
  EXPECT_EQ(compute("cvt.rzi.s32.f32 %r0, %r1;", bits(-2.7f)), uint32_t(-2));
  EXPECT_EQ(compute("cvt.rni.s32.f32 %r0, %r1;", bits(2.5f)), 2u);
  EXPECT_EQ(compute("cvt.rzi.s32.f32 %r0, %r1;", bits(3e9f)), 0x7fffffffu);
  EXPECT_EQ(compute("cvt.rzi.u32.f32 %r0, %r1;", bits(-1)), 0u);
  EXPECT_EQ(compute("cvt.rzi.s32.f32 %r0, %r1;", 0x7fc00000), 0u);
  EXPECT_EQ(compute("cvt.rn.f32.s32 %r0, %r1;", 0x01000001), bits(0x1p24f));
}

} // namespace
