// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RunKernel.h"

using namespace blocksparse::sim;

namespace {

TEST(SimulatorInteger, SumsWrapAround) {
  EXPECT_EQ(compute("add.s32 %r0, %r1, %r2;", 0x7fffffff, 1), 0x80000000u);
  EXPECT_EQ(compute("sub.s32 %r0, %r1, %r2;", 0, 1), 0xffffffffu);
  EXPECT_EQ(compute64("add.s64 %d0, %d1, -16;", 8), uint64_t(-8));
}

TEST(SimulatorInteger, ProductsHaveLowHighAndWideForms) {
  EXPECT_EQ(compute("mul.lo.s32 %r0, %r1, %r2;", 0x10001, 0x10001), 0x20001u);
  EXPECT_EQ(compute("mul.hi.u32 %r0, %r1, %r2;", 0xffffffff, 0xffffffff), 0xfffffffeu);
  EXPECT_EQ(compute("mul.hi.s32 %r0, %r1, %r2;", uint32_t(-1), 2), 0xffffffffu);
  EXPECT_EQ(compute64("mul.hi.u64 %d0, %d1, %d2;", uint64_t(1) << 63, 6), 3u);
  EXPECT_EQ(compute64("cvt.u32.u64 %r1, %d1; mul.wide.s32 %d0, %r1, -3;", 5), uint64_t(-15));
  EXPECT_EQ(compute("cvt.u16.u32 %h1, %r1; mul.wide.u16 %r0, %h1, 5;", 0xffff), 5 * 0xffffu);
  // 100 / 40 by the reciprocal 52429 / 2^21: the form that replaces a division.
  EXPECT_EQ(compute("cvt.u16.u32 %h1, %r1; mul.hi.u16 %h2, %h1, -13107; shr.u16 %h3, %h2, 5;"
                    "cvt.u32.u16 %r0, %h3;",
                    100),
            2u);
  EXPECT_EQ(compute("mad.lo.s32 %r0, %r1, %r2, %r3;", 7, uint32_t(-2), 4), uint32_t(-10));
}

TEST(SimulatorInteger, DivisionRoundsToZero) {
  EXPECT_EQ(compute("div.s32 %r0, %r1, %r2;", uint32_t(-7), 2), uint32_t(-3));
  EXPECT_EQ(compute("rem.s32 %r0, %r1, %r2;", uint32_t(-7), 2), uint32_t(-1));
  EXPECT_EQ(compute("div.u32 %r0, %r1, %r2;", 0x80000000, 3), 0x2aaaaaaau);
  EXPECT_EQ(compute("div.s32 %r0, %r1, %r2;", 0x80000000, uint32_t(-1)), 0x80000000u);
}

TEST(SimulatorInteger, MinimumKnowsSignsAndRelu) {
  EXPECT_EQ(compute("min.s32 %r0, %r1, %r2;", uint32_t(-1), 3), uint32_t(-1));
  EXPECT_EQ(compute("min.u32 %r0, %r1, %r2;", uint32_t(-1), 3), 3u);
  EXPECT_EQ(compute("min.relu.s32 %r0, %r1, %r2;", uint32_t(-1), 3), 0u);
  EXPECT_EQ(compute("max.s32 %r0, %r1, %r2;", uint32_t(-1), 3), 3u);
}

TEST(SimulatorInteger, ShiftsAreClamped) {
  EXPECT_EQ(compute("shl.b32 %r0, %r1, %r2;", 1, 31), 0x80000000u);
  EXPECT_EQ(compute("shl.b32 %r0, %r1, %r2;", 1, 32), 0u);
  EXPECT_EQ(compute("shr.s32 %r0, %r1, %r2;", 0x80000000, 40), 0xffffffffu);
  EXPECT_EQ(compute("shr.u32 %r0, %r1, %r2;", 0x80000000, 40), 0u);
  EXPECT_EQ(compute64("shl.b64 %d0, %d1, 63;", 3), uint64_t(1) << 63);
}

TEST(SimulatorInteger, ExtractsBitFields) {
  EXPECT_EQ(compute("bfe.u32 %r0, %r1, 4, 8;", 0x12345678), 0x67u);
  EXPECT_EQ(compute("bfe.s32 %r0, %r1, 4, 4;", 0x000000f0), 0xffffffffu);
  EXPECT_EQ(compute("bfe.u32 %r0, %r1, 28, 8;", 0x12345678), 1u);
  EXPECT_EQ(compute("bfe.s32 %r0, %r1, 0, 0;", 0xffffffff), 0u);
}

TEST(SimulatorInteger, PermutesBytes) {
  EXPECT_EQ(compute("prmt.b32 %r0, %r1, %r2, 0x5410U;", 0x33221100, 0x77665544), 0x55441100u);
  EXPECT_EQ(compute("prmt.b32 %r0, %r1, %r2, %r3;", 0x000000f0, 0, 0x8888), 0xffffffffu);
}

TEST(SimulatorInteger, CountsBits) {
  EXPECT_EQ(compute("popc.b32 %r0, %r1;", 0xf0f0), 8u);
  EXPECT_EQ(compute("clz.b32 %r0, %r1;", 0x00010000), 15u);
  EXPECT_EQ(compute("brev.b32 %r0, %r1;", 1), 0x80000000u);
}

TEST(SimulatorInteger, PacksVectors) {
  EXPECT_EQ(compute("mov.b32 {%h1, %h2}, %r1; mov.b32 %r0, {%h2, %h1};", 0x11112222), 0x22221111u);
  EXPECT_EQ(compute64("mov.b64 {%r1, %r2}, %d1; mov.b64 %d0, {%r2, %r1};", 0x100000002),
            0x200000001u);
}

TEST(SimulatorInteger, ComparisonsSelect) {
  auto less = [](const char *type, uint32_t a, uint32_t b) {
    return compute(std::string("setp.lt.") + type + " %p1, %r1, %r2; selp.b32 %r0, 1, 0, %p1;", a,
                   b);
  };
  EXPECT_EQ(less("s32", uint32_t(-1), 1), 1u);
  EXPECT_EQ(less("u32", uint32_t(-1), 1), 0u);
}

} // namespace
