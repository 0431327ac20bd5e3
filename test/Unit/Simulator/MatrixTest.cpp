// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Float.h"
#include "RunKernel.h"

using namespace blocksparse::sim;

namespace {

const std::string shared = ".shared .align 1024 .b8 buffer[8192];\n";
/// Copies 16 bytes of the input for each lane to shared memory; %d1 is the lane's address there.
const std::string fillShared =
    "mul.wide.u32 %d0, %t, 16; add.s64 %d2, %in, %d0; mov.b64 %d1, buffer;\n"
    "add.s64 %d1, %d1, %d0; ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%d2];\n"
    "st.shared.v4.b32 [%d1], {%r1, %r2, %r3, %r4}; bar.warp.sync -1;\n";
const std::string storeFour = "add.s64 %d3, %out, %d0;\n"
                              "st.global.v4.b32 [%d3], {%r5, %r6, %r7, %r8};";

/// Element (row, column) of matrix i is 64 i + 8 row + column.
std::vector<uint16_t> numbers() {
  std::vector<uint16_t> values(256);
  for (uint16_t i = 0; i < 256; ++i)
    values[i] = i;
  return values;
}

TEST(SimulatorMatrix, LdmatrixGivesRowsToLanes) {
  RunKernel kernel(fillShared +
                       "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r5, %r6, %r7, %r8}, [%d1];" +
                       storeFour,
                   shared);
  ASSERT_TRUE(kernel.run(numbers())) << kernel.error;
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t i = 0; i < 4; ++i) {
      uint32_t first = 64 * i + 8 * (lane / 4) + 2 * (lane % 4);
      EXPECT_EQ(kernel.output<uint32_t>(4 * lane + i), first | (first + 1) << 16);
    }
}

TEST(SimulatorMatrix, LdmatrixTransposes) {
  RunKernel kernel(
      fillShared + "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r5, %r6, %r7, %r8}, [%d1];" +
          storeFour,
      shared);
  ASSERT_TRUE(kernel.run(numbers())) << kernel.error;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    uint32_t first = 64 * 3 + 8 * (2 * (lane % 4)) + lane / 4;
    EXPECT_EQ(kernel.output<uint32_t>(4 * lane + 3), first | (first + 8) << 16);
  }
}

TEST(SimulatorMatrix, StmatrixAndMovmatrixAreInverse) {
  // Transposed twice: once by movmatrix and once by the store.
  RunKernel kernel(fillShared +
                       "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%d1];\n"
                       "movmatrix.sync.aligned.m8n8.trans.b16 %r6, %r5;\n"
                       "stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%d1+1024], {%r6};\n"
                       "setp.lt.u32 %p1, %t, 8; @!%p1 bra END;\n"
                       "ld.shared.v4.b32 {%r5, %r6, %r7, %r8}, [%d1+1024];" +
                       storeFour + "\nEND:",
                   shared);
  ASSERT_TRUE(kernel.run(numbers())) << kernel.error;
  for (uint16_t i = 0; i < 64; ++i)
    EXPECT_EQ(kernel.output<uint16_t>(i), i);
}

TEST(SimulatorMatrix, MmaMultipliesF16) {
  // A[r][k] = r + k / 16, B[k][n] = 1 where k = n: D[r][n] = A[r][n] + C with C = 0.5.
  std::vector<uint16_t> input(32 * 8);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    uint32_t g = lane / 4, t = lane % 4;
    for (uint32_t j = 0; j < 4; ++j)
      for (uint32_t e = 0; e < 2; ++e)
        input[8 * lane + 2 * j + e] = floatToHalf(static_cast<float>(g + 8 * (j % 2)) +
                                                  static_cast<float>(8 * (j / 2) + 2 * t + e) / 16);
  }
  RunKernel kernel("mul.wide.u32 %d0, %t, 16; add.s64 %d2, %in, %d0;\n"
                   "ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%d2];\n"
                   // b0 holds k = 2 t and 2 t + 1 of column g = lane / 4; b1 is zero.
                   "shr.u32 %r10, %t, 2; and.b32 %r11, %t, 3; shl.b32 %r11, %r11, 1;\n"
                   "setp.eq.b32 %p1, %r10, %r11; selp.b32 %r12, 0x3c00, 0, %p1;\n"
                   "add.s32 %r11, %r11, 1; setp.eq.b32 %p1, %r10, %r11;\n"
                   "selp.b32 %r13, 0x3c000000, 0, %p1; or.b32 %r12, %r12, %r13;\n"
                   "mov.b32 %r14, 0; mov.b32 %r15, 0f3F000000;\n"
                   "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r5, %r6, %r7, %r8}, "
                   "{%r1, %r2, %r3, %r4}, {%r12, %r14}, {%r15, %r15, %r15, %r15};" +
                   storeFour);
  ASSERT_TRUE(kernel.run(input)) << kernel.error;
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t j = 0; j < 4; ++j) {
      uint32_t row = lane / 4 + 8 * (j / 2), column = 2 * (lane % 4) + j % 2;
      EXPECT_EQ(kernel.output<float>(4 * lane + j),
                static_cast<float>(row) + static_cast<float>(column) / 16 + 0.5f);
    }
}

TEST(SimulatorMatrix, MmaMultipliesF64) {
  // A[r][k] = r + 100 k, B[k][n] = 1 where n = k, else 0: D[r][n] = A[r][n] + 0.5 for n < 4, and
  // 0.5 for other n.
  std::vector<double> input;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const uint32_t g = lane / 4, t = lane % 4;
    input.insert(input.end(), {g + 100.0 * t, g + 8 + 100.0 * t, g == t ? 1.0 : 0.0, 0.5});
  }
  RunKernel kernel("mul.wide.u32 %d0, %t, 32; add.s64 %d2, %in, %d0; add.s64 %d3, %out, %d0;\n"
                   "ld.global.v2.b64 {%d4, %d5}, [%d2]; ld.global.v2.b64 {%d6, %d7}, [%d2+16];\n"
                   "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%d8, %d9, %d10, %d11}, "
                   "{%d4, %d5}, {%d6}, {%d7, %d7, %d7, %d7};\n"
                   "st.global.v2.b64 [%d3], {%d8, %d9}; st.global.v2.b64 [%d3+16], {%d10, %d11};");
  ASSERT_TRUE(kernel.run(input)) << kernel.error;
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t j = 0; j < 4; ++j) {
      const uint32_t row = lane / 4 + 8 * (j / 2), column = 2 * (lane % 4) + j % 2;
      EXPECT_EQ(kernel.output<double>(4 * lane + j),
                (column < 4 ? row + 100.0 * column : 0.0) + 0.5);
    }
}

TEST(SimulatorMatrix, MmaSumsF64InAscendingOrder) {
  // All elements of A are 2^53 / 8 and those of B 1: each sum of 8 products is 2^53, of 16 2^54.
  for (const auto &[shape, words, sum] :
       {std::tuple("m16n8k8", 4, 0x1p53), std::tuple("m16n8k16", 8, 0x1p54)}) {
    std::string a = "%d4", b = "%d5";
    for (int i = 1; i < words; ++i)
      a += ", %d4";
    for (int i = 1; i < words / 2; ++i)
      b += ", %d5";
    RunKernel kernel("mul.wide.u32 %d0, %t, 8; add.s64 %d3, %out, %d0;\n"
                     "mov.b64 %d4, 0d4310000000000000; mov.b64 %d5, 0d3ff0000000000000;\n"
                     "mov.b64 %d6, 0;\n"
                     "mma.sync.aligned." +
                     std::string(shape) + ".row.col.f64.f64.f64.f64 {%d8, %d9, %d10, %d11}, {" + a +
                     "}, {" + b + "}, {%d6, %d6, %d6, %d6};\nst.global.b64 [%d3], %d9;");
    ASSERT_TRUE(kernel.run(std::vector<uint32_t>{})) << kernel.error;
    EXPECT_EQ(kernel.output<double>(31), sum);
  }
}

TEST(SimulatorMatrix, MmaSumsBytesExactly) {
  // All elements are -2 and 3: 32 products of -6.
  RunKernel kernel("mov.b32 %r1, 0xfefefefe; mov.b32 %r2, 0x03030303; mov.b32 %r3, 1000;\n"
                   "mul.wide.u32 %d0, %t, 16;\n"
                   "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r5, %r6, %r7, %r8}, "
                   "{%r1, %r1, %r1, %r1}, {%r2, %r2}, {%r3, %r3, %r3, %r3};" +
                   storeFour);
  ASSERT_TRUE(kernel.run(std::vector<uint32_t>{})) << kernel.error;
  EXPECT_EQ(kernel.output<int32_t>(77), 1000 - 6 * 32);
}

} // namespace
