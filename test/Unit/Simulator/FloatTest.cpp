// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RunKernel.h"

#include <bit>

using namespace blocksparse::sim;

namespace {

uint32_t bits(float value) { return std::bit_cast<uint32_t>(value); }
constexpr uint32_t canonicalNaN = 0x7fffffff, infinity = 0x7f800000, smallestSubnormal = 1;

TEST(SimulatorFloat, RoundsToNearestEven) {
  // 1 + 2^-24 is half-way between 1 and the next f32: the even one is 1.
  EXPECT_EQ(compute("add.rn.f32 %r0, %r1, %r2;", bits(1), bits(0x1p-24f)), bits(1));
  EXPECT_EQ(compute("add.rn.f32 %r0, %r1, %r2;", bits(1 + 0x1p-23f), bits(0x1p-24f)),
            bits(1 + 0x1p-22f));
  EXPECT_EQ(compute("mul.rn.f32 %r0, %r1, %r2;", bits(3), bits(-0.5f)), bits(-1.5f));
  EXPECT_EQ(compute("div.rn.f32 %r0, %r1, %r2;", bits(1), bits(3)), 0x3eaaaaabu);
}

TEST(SimulatorFloat, FmaRoundsOnce) {
  // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24; a product that is rounded loses the last term.
  uint32_t a = bits(1 + 0x1p-12f);
  EXPECT_EQ(compute("fma.rn.f32 %r0, %r1, %r2, %r3;", a, a, bits(-1 - 0x1p-11f)), bits(0x1p-24f));
}

TEST(SimulatorFloat, NaNIsCanonical) {
  EXPECT_EQ(compute("add.rn.f32 %r0, %r1, %r2;", 0xffc12345, bits(1)), canonicalNaN);
  EXPECT_EQ(compute("mul.rn.f32 %r0, %r1, %r2;", infinity, 0), canonicalNaN);
}

TEST(SimulatorFloat, SubnormalsAreKeptUnlessFlushed) {
  EXPECT_EQ(compute("add.rn.f32 %r0, %r1, %r2;", smallestSubnormal, smallestSubnormal), 2u);
  EXPECT_EQ(compute("add.rn.ftz.f32 %r0, %r1, %r2;", smallestSubnormal, smallestSubnormal), 0u);
}

TEST(SimulatorFloat, MaximumPrefersNumbersUnlessNaNPropagates) {
  EXPECT_EQ(compute("max.f32 %r0, %r1, %r2;", 0x7fc00000, bits(2)), bits(2));
  EXPECT_EQ(compute("max.NaN.f32 %r0, %r1, %r2;", 0x7fc00000, bits(2)), canonicalNaN);
  EXPECT_EQ(compute("max.f32 %r0, %r1, %r2;", 0x80000000, 0), 0u);
  EXPECT_EQ(compute("min.f32 %r0, %r1, %r2;", 0, 0x80000000), 0x80000000u);
}

TEST(SimulatorFloat, ComparisonsWithNaN) {
  auto compare = [](const char *name) {
    return compute(std::string("setp.") + name + ".f32 %p1, %r1, %r2; selp.b32 %r0, 1, 0, %p1;",
                   0x7fc00000, bits(1));
  };
  for (const char *ordered : {"eq", "ne", "lt", "le", "gt", "ge", "num"})
    EXPECT_EQ(compare(ordered), 0u) << ordered;
  for (const char *unordered : {"equ", "neu", "ltu", "leu", "gtu", "geu", "nan"})
    EXPECT_EQ(compare(unordered), 1u) << unordered;
}

TEST(SimulatorFloat, ApproximationsAreWithinTheirBound) {
  EXPECT_EQ(compute("ex2.approx.ftz.f32 %r0, %r1;", bits(10)), bits(1024));
  EXPECT_EQ(compute("ex2.approx.ftz.f32 %r0, %r1;", bits(-140)), 0u); // the result is subnormal
  EXPECT_EQ(compute("ex2.approx.ftz.f32 %r0, %r1;", 0xff800000), 0u); // minus infinity
  EXPECT_EQ(compute("rcp.approx.ftz.f32 %r0, %r1;", bits(4)), bits(0.25f));
  EXPECT_EQ(compute("rcp.rn.f32 %r0, %r1;", 0), infinity);
  EXPECT_EQ(compute("sqrt.rn.f32 %r0, %r1;", bits(2)), 0x3fb504f3u);
}

TEST(SimulatorFloat, HalfSumsRoundOnce) {
  // 2048 + 1 is half-way between f16 values: the even one is 2048.
  EXPECT_EQ(compute("mov.b32 {%h1, %h2}, %r1; add.rn.f16 %h3, %h1, %h2; cvt.u32.u16 %r0, %h3;",
                    0x3c006800),
            0x6800u);
}

/// Returns fma.rn.<type> of three numbers of 16 bits.
uint32_t fma16(const std::string &type, uint32_t a, uint32_t b, uint32_t c) {
  return compute("mov.b32 {%h1, %h2}, %r1; cvt.u16.u32 %h3, %r2; fma.rn." + type +
                     " %h4, %h1, %h2, %h3; cvt.u32.u16 %r0, %h4;",
                 b << 16 | a, c);
}

TEST(SimulatorFloat, SixteenBitFmaRoundsOnce) {
  // bf16: 1.5 * 2 + 1 = 4.
  EXPECT_EQ(fma16("bf16", 0x3fc0, 0x4000, 0x3f80), 0x4080u);
  // bf16: (1 + 2^-7) * (1 + 2^-7) = 1 + 2^-6 + 2^-14 rounds down.
  EXPECT_EQ(fma16("bf16", 0x3f81, 0x3f81, 0x8000), 0x3f82u);
  // bf16: 7 * 37/256 = 1 + 3 * 2^-8 is a tie, which 2^-60 decides although f32 cannot hold the sum.
  EXPECT_EQ(fma16("bf16", 0x40e0, 0x3e14, 0x0000), 0x3f82u);
  EXPECT_EQ(fma16("bf16", 0x40e0, 0x3e14, 0x2180), 0x3f82u);
  EXPECT_EQ(fma16("bf16", 0x40e0, 0x3e14, 0xa180), 0x3f81u);
  // f16: 2048 + 1 is a tie, and 2^-10 above it rounds up.
  EXPECT_EQ(fma16("f16", 0x3c00, 0x3c00, 0x6800), 0x6800u);
  EXPECT_EQ(fma16("f16", 0x3c01, 0x3c00, 0x6800), 0x6801u);
  // Overflow, infinity times 0.
  EXPECT_EQ(fma16("f16", 0x7bff, 0x4000, 0), 0x7c00u);
  EXPECT_EQ(fma16("bf16", 0x7f80, 0, 0), 0x7fffu);
}

TEST(SimulatorFloat, DoublePrecision) {
  EXPECT_EQ(compute64("fma.rn.f64 %d0, %d1, %d2, %d3;", std::bit_cast<uint64_t>(3.0),
                      std::bit_cast<uint64_t>(0.5), std::bit_cast<uint64_t>(1.0)),
            std::bit_cast<uint64_t>(2.5));
}

} // namespace
