// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Float.h"
#include "Mbarrier.h"
#include "RunKernel.h"

using namespace blocksparse::sim;

namespace {

const std::string shared = ".shared .align 1024 .b8 buffer[32768];\n"
                           ".shared .align 8 .b8 barrier[16];\n";
const std::string addresses = "mov.b64 %d1, buffer; mov.b64 %d2, barrier; setp.eq.b32 %p1, %t, 0;\n"
                              "cvt.u32.u64 %r20, %d2;\n";
/// Lane 0 initialises the barrier for one arrival and announces %r21 bytes.
const std::string announce = "@%p1 mbarrier.init.shared.b64 [%d2], 1;\n"
                             "fence.mbarrier_init.release.cluster; bar.sync 0;\n"
                             "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%d2], %r21;\n";
const std::string waitForPhase0 = "WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r20], 0;\n"
                                  "@!%p2 bra WAIT;\n";

std::vector<uint16_t> numbers(size_t count) {
  std::vector<uint16_t> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = static_cast<uint16_t>(i);
  return values;
}

/// Fills a map of 16-bit elements without strides: row-major and dense.
void setMap(TensorMap &map, std::vector<uint64_t> sizes, std::vector<uint32_t> box, int swizzle) {
  uint64_t strides[5], bytes = 2;
  uint32_t steps[5] = {1, 1, 1, 1, 1};
  for (size_t i = 0; i < sizes.size(); ++i)
    strides[i] = bytes *= sizes[i];
  EXPECT_EQ(encodeTensorMap(map, 6, static_cast<uint32_t>(sizes.size()), 0, sizes.data(), strides,
                            box.data(), steps, 0, swizzle, 0),
            "");
}

TEST(SimulatorAsync, MbarrierCompletesAfterArrivalsAndBytes) {
  Mbarrier barrier = Mbarrier::initialised(2);
  EXPECT_EQ(barrier.update(1, 64), "");
  EXPECT_EQ(barrier.update(0, -32), "");
  EXPECT_EQ(barrier.update(1, 0), "");
  EXPECT_EQ(barrier.parity(), 0u);
  EXPECT_EQ(barrier.transactions(), 32);
  EXPECT_EQ(barrier.update(0, -32), "");
  EXPECT_EQ(barrier.parity(), 1u);
  EXPECT_EQ(barrier.pending(), 2u);
  // Bytes may arrive before they are announced.
  EXPECT_EQ(barrier.update(0, -16), "");
  EXPECT_EQ(barrier.transactions(), -16);
  EXPECT_EQ(barrier.update(3, 0), "expects at most 2 more arrivals in the phase of 2, but got 3");
}

// Offsets of both addresses may be negative.
TEST(SimulatorAsync, CopyArrivesAtItsWait) {
  const std::string copy =
      "mul.wide.u32 %d3, %t, 16; add.s64 %d4, %in, %d3; add.s64 %d5, %d1, %d3;\n"
      "add.s64 %d4, %d4, 32; add.s64 %d7, %d5, 16; mov.b32 %r1, 4;\n"
      "cp.async.cg.shared.global [%d7+-16], [%d4+-32], 16, %r1;\n"
      "cp.async.commit_group;\n";
  const std::string read = "ld.shared.v2.b32 {%r2, %r3}, [%d5]; add.s64 %d6, %out, %d3;\n"
                           "st.global.v2.b32 [%d6], {%r2, %r3};";
  RunKernel waits(addresses + copy + "cp.async.wait_group 0;" + read, shared);
  ASSERT_TRUE(waits.run(numbers(256))) << waits.error;
  EXPECT_EQ(waits.output<uint32_t>(4), 0x00090008u);
  EXPECT_EQ(waits.output<uint32_t>(5), 0u); // beyond the 4 source bytes
  RunKernel forgets(addresses + copy + "cp.async.wait_group 1;" + read, shared);
  EXPECT_FALSE(forgets.run(numbers(256)));
  EXPECT_NE(forgets.error.find("expects a read of written memory"), std::string::npos);
}

TEST(SimulatorAsync, LanesOfOneWaitMayWaitForDifferentPhases) {
  // Lane 0 waits for phase 0 of the first barrier, at which lane 1 arrives after it has passed the
  // second barrier, whose parity 1 is that of the phase before the first.
  RunKernel kernel(addresses + "@%p1 mbarrier.init.shared.b64 [%d2], 1;\n"
                               "@%p1 mbarrier.init.shared.b64 [%d2+8], 1; bar.sync 0;\n"
                               "setp.gt.u32 %p3, %t, 1; @%p3 bra END;\n"
                               "shl.b32 %r2, %t, 3; add.u32 %r20, %r20, %r2;\n"
                               "WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r20], %t;\n"
                               "@!%p2 bra WAIT;\n"
                               "@!%p1 mbarrier.arrive.shared.b64 _, [%d2];\n"
                               "mul.wide.u32 %d3, %t, 4; add.s64 %d4, %out, %d3; mov.b32 %r3, 7;\n"
                               "st.global.b32 [%d4], %r3;\nEND:",
                   shared);
  ASSERT_TRUE(kernel.run(numbers(1))) << kernel.error;
  EXPECT_EQ(kernel.output<uint32_t>(0), 7u);
  EXPECT_EQ(kernel.output<uint32_t>(1), 7u);
}

TEST(SimulatorAsync, BulkCopyCompletesTheBarrier) {
  RunKernel kernel(addresses + "mov.b32 %r21, 256;\n" + announce +
                       "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                       "[%d1], [%in], %r21, [%d2];\n" +
                       waitForPhase0 +
                       "mul.wide.u32 %d3, %t, 4; add.s64 %d4, %d1, %d3; ld.shared.b32 %r1, [%d4];\n"
                       "add.s64 %d5, %out, %d3; st.global.b32 [%d5], %r1;",
                   shared);
  for (uint64_t seed = 0; seed < 20; ++seed) {
    kernel.options.seed = seed;
    ASSERT_TRUE(kernel.run(numbers(128))) << kernel.error;
    EXPECT_EQ(kernel.output<uint32_t>(31), 0x003f003eu);
  }
}

/// Loads a box of a tensor of 24 x 10 elements to shared memory and copies it to the output.
std::string loadBox(const std::string &coordinates, int bytes) {
  return addresses + "mov.b32 %r21, " + std::to_string(bytes) + ";\n" + announce +
         "mov.b64 %d7, map; cvta.param.u64 %d7, %d7;\n" + coordinates +
         "@%p1 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
         "[%d1], [%d7, {%r1, %r2}], [%d2];\n" +
         waitForPhase0 +
         "mul.wide.u32 %d3, %t, 16; add.s64 %d4, %d1, %d3;\n"
         "ld.shared.v4.b32 {%r3, %r4, %r5, %r6}, [%d4];\n"
         "add.s64 %d5, %out, %d3; st.global.v4.b32 [%d5], {%r3, %r4, %r5, %r6};";
}

TEST(SimulatorAsync, TensorLoadFillsOutOfBoundsWithZeros) {
  // A box of 16 x 16 at column 16 and row -2: columns 24 and up and rows outside 0 to 9 are zero.
  RunKernel kernel(loadBox("mov.b32 %r1, 16; mov.b32 %r2, -2;\n", 512), shared);
  setMap(kernel.map, {24, 10}, {16, 16}, 0);
  ASSERT_TRUE(kernel.run(numbers(240))) << kernel.error;
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 16; ++column) {
      bool inside = row - 2 >= 0 && row - 2 < 10 && column < 8;
      EXPECT_EQ(kernel.output<uint16_t>(static_cast<size_t>(16 * row + column)),
                inside ? 24 * (row - 2) + 16 + column : 0);
    }
}

TEST(SimulatorAsync, SwizzleMovesChunksByTheirRow) {
  // Rows of 64 elements fill 128 bytes: chunk c of row r lies at chunk c XOR r of the row.
  RunKernel kernel(loadBox("mov.b32 %r1, 0; mov.b32 %r2, 0;\n", 512), shared);
  setMap(kernel.map, {64, 4}, {64, 4}, 3);
  ASSERT_TRUE(kernel.run(numbers(256))) << kernel.error;
  for (size_t row = 0; row < 4; ++row)
    for (size_t chunk = 0; chunk < 8; ++chunk)
      EXPECT_EQ(kernel.output<uint16_t>(64 * row + 8 * (chunk ^ row)), 64 * row + 8 * chunk);
}

TEST(SimulatorAsync, TensorStoreSkipsOutOfBounds) {
  RunKernel kernel(
      addresses + "mul.wide.u32 %d3, %t, 16; add.s64 %d4, %d1, %d3; mov.b32 %r3, 0x00070007;\n"
                  "st.shared.v4.b32 [%d4], {%r3, %r3, %r3, %r3}; bar.sync 0;\n"
                  "fence.proxy.async.shared::cta;\n"
                  "mov.b64 %d7, map; cvta.param.u64 %d7, %d7; mov.b32 %r1, 8; mov.b32 %r2, 3;\n"
                  "@%p1 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group "
                  "[%d7, {%r1, %r2}], [%d1];\n"
                  "@%p1 cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group 0;",
      shared);
  setMap(kernel.map, {16, 8}, {16, 16}, 0);
  kernel.mapsOutput = true;
  ASSERT_TRUE(kernel.run(std::vector<uint16_t>{1}, 512)) << kernel.error;
  for (size_t row = 0; row < 16; ++row)
    for (size_t column = 0; column < 16; ++column)
      EXPECT_EQ(kernel.output<uint16_t>(16 * row + column),
                row >= 3 && row < 8 && column >= 8 ? 7 : 0);
}

TEST(SimulatorAsync, WgmmaMultipliesSwizzledTiles) {
  // A[m][k] = m + 1 (K-major, rows of 32 bytes, no swizzle), B[k][n] = k == n (K-major): the sum is
  // A[m][n] for n < 16. Core matrices of 8 rows x 16 bytes: 128 bytes along k, 256 along m and n.
  std::vector<uint16_t> input(64 * 16 + 16 * 16);
  auto place = [](size_t row, size_t k) {
    return row / 8 * 128 + k / 8 * 64 + row % 8 * 8 + k % 8;
  };
  for (size_t m = 0; m < 64; ++m)
    for (size_t k = 0; k < 16; ++k)
      input[place(m, k)] = floatToHalf(static_cast<float>(m + 1));
  for (size_t n = 0; n < 16; ++n)
    input[1024 + place(n, n)] = floatToHalf(static_cast<float>(n));
  RunKernel kernel(
      addresses +
          // 128 threads copy 20 bytes each; 2560 bytes in all.
          "mul.wide.u32 %d3, %t, 20; add.s64 %d4, %in, %d3; add.s64 %d5, %d1, %d3;\n"
          "ld.global.b32 %r1, [%d4]; st.shared.b32 [%d5], %r1;\n"
          "ld.global.b32 %r1, [%d4+4]; st.shared.b32 [%d5+4], %r1;\n"
          "ld.global.b32 %r1, [%d4+8]; st.shared.b32 [%d5+8], %r1;\n"
          "ld.global.b32 %r1, [%d4+12]; st.shared.b32 [%d5+12], %r1;\n"
          "ld.global.b32 %r1, [%d4+16]; st.shared.b32 [%d5+16], %r1;\n"
          "fence.proxy.async.shared::cta; bar.sync 0;\n"
          // Leading offset 128 bytes (8 << 16), stride 256 bytes (16 << 32).
          "shr.u64 %d6, %d1, 4; or.b64 %d6, %d6, 68720001024; add.s64 %d7, %d6, 128;\n"
          "setp.ne.b32 %p3, 0, 0; wgmma.fence.sync.aligned;\n"
          "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 "
          "{%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}, %d6, %d7, %p3, 1, 1, 0, 0;\n"
          "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"
          "mul.wide.u32 %d3, %t, 32; add.s64 %d4, %out, %d3;\n"
          "st.global.v4.b32 [%d4], {%r10, %r11, %r12, %r13};\n"
          "st.global.v4.b32 [%d4+16], {%r14, %r15, %r16, %r17};",
      shared);
  kernel.shape.block[0] = 128;
  ASSERT_TRUE(kernel.run(input)) << kernel.error;
  for (size_t thread = 0; thread < 128; ++thread)
    for (size_t j = 0; j < 8; ++j) {
      size_t row = 16 * (thread / 32) + thread % 32 / 4 + 8 * (j % 4 / 2);
      size_t column = 8 * (j / 4) + 2 * (thread % 4) + j % 2;
      EXPECT_EQ(kernel.output<float>(8 * thread + j), static_cast<float>((row + 1) * column));
    }
}

TEST(SimulatorAsync, ClusterMemoryIsShared) {
  // Each CTA of a pair writes its rank + 1 to the other's memory.
  RunKernel kernel("mov.b64 %d1, buffer; cvt.u32.u64 %r1, %d1; mov.u32 %r2, %cluster_ctarank;\n"
                   "xor.b32 %r3, %r2, 1; add.s32 %r4, %r2, 1; setp.eq.b32 %p1, %t, 0;\n"
                   "mapa.shared::cluster.u32 %r5, %r1, %r3;\n"
                   "@%p1 st.shared::cluster.b32 [%r5], %r4;\n"
                   "barrier.cluster.arrive; barrier.cluster.wait;\n"
                   "ld.shared.b32 %r6, [%d1]; mul.wide.u32 %d2, %r2, 4; add.s64 %d2, %d2, %out;\n"
                   "@%p1 st.global.b32 [%d2], %r6;",
                   shared);
  kernel.shape.grid[0] = 2;
  kernel.shape.cluster[0] = 2;
  ASSERT_TRUE(kernel.run(std::vector<uint32_t>{})) << kernel.error;
  EXPECT_EQ(kernel.output<uint32_t>(0), 2u);
  EXPECT_EQ(kernel.output<uint32_t>(1), 1u);
}

} // namespace
