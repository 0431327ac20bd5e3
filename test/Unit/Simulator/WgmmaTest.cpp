// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `wgmma` with A in registers, as fused attention uses it, its types of 8 bits, and the registers
// of its warpgroups.

#include "Float.h"
#include "Float8.h"
#include "RunKernel.h"
#include "TensorMap.h"

using namespace blocksparse::sim;

namespace {

const std::string shared = ".shared .align 1024 .b8 buffer[32768];\n";

/// Returns "{%rF, ..., %rL}".
std::string registers(unsigned first, unsigned last) {
  std::string text = "{";
  for (unsigned i = first; i <= last; ++i)
    text += (i == first ? "%r" : ", %r") + std::to_string(i);
  return text + "}";
}

/// The tile of B has 16 rows (k) of 64 columns, MN-major with a swizzle of 128 bytes; 128 threads
/// copy 16 bytes each. The fragment of A in %r80 to %r83 has ones at k = m % 16.
const std::string begin =
    "mov.b64 %d1, buffer; mul.wide.u32 %d3, %t, 16; add.s64 %d4, %in, %d3; add.s64 %d5, %d1, %d3;\n"
    "ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%d4]; st.shared.v4.b32 [%d5], {%r1, %r2, %r3, %r4};\n"
    "fence.proxy.async.shared::cta; bar.sync 0;\n"
    "and.b32 %r5, %t, 31; shr.u32 %r6, %r5, 2; and.b32 %r7, %r5, 3; shl.b32 %r7, %r7, 1;\n"
    "setp.eq.b32 %p1, %r6, %r7; selp.b32 %r8, 0x3f80, 0, %p1; add.s32 %r7, %r7, 1;\n"
    "setp.eq.b32 %p1, %r6, %r7; selp.b32 %r9, 0x3f800000, 0, %p1; or.b32 %r80, %r8, %r9;\n"
    "mov.b32 %r81, 0; mov.b32 %r82, 0; mov.b32 %r83, %r80;\n"
    // Stride 1024 bytes (64 << 32), a swizzle of 128 bytes (1 << 62).
    "shr.u64 %d6, %d1, 4; or.b64 %d6, %d6, 0x4000004000000000; setp.ne.b32 %p2, 0, 0;\n";
const std::string product = "wgmma.fence.sync.aligned;\n"
                            "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 " +
                            registers(10, 41) +
                            ", {%r80, %r81, %r82, %r83}, %d6, %p2, 1, 1, 1;\n"
                            "wgmma.commit_group.sync.aligned;\n";
const std::string wait = "wgmma.wait_group.sync.aligned 0;\n";

std::vector<uint16_t> makeTile() {
  std::vector<uint16_t> tile(1024);
  for (unsigned k = 0; k < 16; ++k)
    for (unsigned n = 0; n < 64; ++n)
      tile[swizzleAddress(2 * (64 * k + n), 3) / 2] =
          floatToBf16(static_cast<float>(n + 64 * (k % 4)));
  return tile;
}

std::string reportOn(const std::string &body, unsigned threads = 128) {
  RunKernel kernel(begin + body, shared);
  kernel.shape.block[0] = threads;
  kernel.options.checkUnwritten = false;
  kernel.run(std::vector<uint16_t>(threads * 8));
  return kernel.error;
}

TEST(SimulatorWgmma, MultipliesRegistersByATileOfRowsOfK) {
  std::string store = "mul.wide.u32 %d3, %t, 128; add.s64 %d4, %out, %d3;\n";
  for (unsigned i = 0; i < 8; ++i)
    store += "st.global.v4.b32 [%d4+" + std::to_string(16 * i) + "], " +
             registers(10 + 4 * i, 13 + 4 * i) + ";\n";
  RunKernel kernel(begin + product + wait + store, shared);
  kernel.shape.block[0] = 128;
  ASSERT_TRUE(kernel.run(makeTile(), 16384)) << kernel.error;
  for (size_t thread = 0; thread < 128; ++thread)
    for (size_t j = 0; j < 32; ++j) {
      size_t row = thread % 32 / 4 + 8 * (j % 4 / 2);
      size_t column = 8 * (j / 4) + 2 * (thread % 4) + j % 2;
      EXPECT_EQ(kernel.output<float>(32 * thread + j), static_cast<float>(column + 64 * (row % 4)));
    }
}

/// Multiplies the first 16 rows of a unit matrix, whose ones have the code `one`, by the transpose
/// of a tile of 64 rows (n) of 32 bytes along k, with a swizzle of 32 bytes. `types` names the
/// types of the sum and of the factors, `signs` are the last operands. Byte k of row n is `code(n,
/// k)`, and the result (m, n) is that of `value(code(n, m))`.
template <typename Sum>
void expectColumns(const std::string &types, const std::string &signs, unsigned one,
                   uint8_t (*code)(size_t, size_t), Sum (*value)(uint8_t)) {
  std::string body = "shr.u32 %r6, %r5, 2; and.b32 %r7, %r5, 3; shl.b32 %r7, %r7, 2;\n";
  for (unsigned half = 0; half < 2; ++half)
    body += "add.s32 %r8, %r6, " + std::to_string(8 * half) +
            "; sub.s32 %r8, %r8, %r7; setp.lt.u32 %p1, %r8, 4; shl.b32 %r8, %r8, 3;\n"
            "mov.b32 %r9, " +
            std::to_string(one) + "; shl.b32 %r9, %r9, %r8; selp.b32 %r" +
            std::to_string(80 + half) + ", %r9, 0, %p1;\n";
  body += "mov.b32 %r82, 0; mov.b32 %r83, 0; shr.u64 %d6, %d1, 4;\n"
          // Stride 256 bytes (16 << 32), a swizzle of 32 bytes (3 << 62).
          "or.b64 %d6, %d6, 0xc000001000000000; wgmma.fence.sync.aligned;\n"
          "wgmma.mma_async.sync.aligned.m64n64k32." +
          types + " " + registers(10, 41) + ", {%r80, %r81, %r82, %r83}, %d6, %p2" + signs +
          ";\nwgmma.commit_group.sync.aligned;\n" + wait +
          "mul.wide.u32 %d3, %t, 128; add.s64 %d4, %out, %d3;\n";
  for (unsigned i = 0; i < 8; ++i)
    body += "st.global.v4.b32 [%d4+" + std::to_string(16 * i) + "], " +
            registers(10 + 4 * i, 13 + 4 * i) + ";\n";
  RunKernel kernel(begin + body, shared);
  kernel.shape.block[0] = 128;
  std::vector<uint8_t> tile(2048);
  for (size_t n = 0; n < 64; ++n)
    for (size_t k = 0; k < 32; ++k)
      tile[swizzleAddress(32 * n + k, 1)] = code(n, k);
  ASSERT_TRUE(kernel.run(tile, 16384)) << kernel.error;
  for (size_t thread = 0; thread < 128; ++thread)
    for (size_t j = 0; j < 32; ++j) {
      size_t row = thread % 32 / 4 + 8 * (j % 4 / 2);
      size_t column = 8 * (j / 4) + 2 * (thread % 4) + j % 2;
      EXPECT_EQ(kernel.output<Sum>(32 * thread + j), value(code(column, row)));
    }
}

TEST(SimulatorWgmma, MultipliesBytes) {
  auto anyByte = [](size_t n, size_t k) { return static_cast<uint8_t>(7 * n + 37 * k); };
  auto finite = [](size_t n, size_t k) { return static_cast<uint8_t>((7 * n + 37 * k) % 120); };
  expectColumns<int32_t>("s32.s8.s8", "", 1, anyByte,
                         [](uint8_t code) { return int32_t{static_cast<int8_t>(code)}; });
  expectColumns<float>("f32.e4m3.e4m3", ", 1, 1", 0x38, finite, e4m3ToFloat);
  expectColumns<float>("f32.e5m2.e5m2", ", 1, 1", 0x3c, finite, e5m2ToFloat);
}

TEST(SimulatorWgmma, RegistersOfAAreKeptUntilTheWait) {
  EXPECT_EQ(reportOn(product + wait + "mov.b32 %r80, 0;"), "");
  std::string report = reportOn(product + "mov.b32 %r80, 0;\n" + wait);
  EXPECT_NE(report.find("this write of a register of A, but got commit group 1 with 0 finished"),
            std::string::npos)
      << report;
  // A may be read meanwhile.
  EXPECT_EQ(reportOn(product + "mov.b32 %r84, %r80;\n" + wait), "");
  report = reportOn("wgmma.fence.sync.aligned; mov.b32 %r83, 0;\n" + product.substr(26) + wait);
  EXPECT_NE(report.find("expects wgmma.fence between the access of line"), std::string::npos)
      << report;
}

TEST(SimulatorWgmma, WarpgroupsShareTheRegistersOfTheLaunch) {
  // 384 threads start with 168 registers: 128 (24 + 240 + 240) fit, and 128 (32 + 240 + 240) do
  // not.
  auto partition = [](const std::string &producer) {
    return "setp.lt.u32 %p3, %t, 128; @%p3 bra PRODUCER;\n"
           "setmaxnreg.inc.sync.aligned.u32 240; bra END;\n"
           "PRODUCER: setmaxnreg.dec.sync.aligned.u32 " +
           producer + ";\nEND:";
  };
  EXPECT_EQ(reportOn(partition("24"), 384), "");
  std::string report = reportOn(partition("32"), 384);
  EXPECT_NE(report.find("deadlock"), std::string::npos) << report;
  EXPECT_NE(report.find("(168 registers a thread and "), std::string::npos) << report;
}

} // namespace
