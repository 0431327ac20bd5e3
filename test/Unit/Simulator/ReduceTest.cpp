// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vectors of `red` and `atom`, bulk reductions, and what the judge says of them.

#include "Reduce.h"
#include "Float.h"
#include "RunKernel.h"

#include <limits>

using namespace blocksparse::sim;

namespace {

const std::string shared = ".shared .align 128 .b8 buffer[4096];\n";
const float subnormal = std::numeric_limits<float>::denorm_min();

std::vector<float> floats(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(i);
  return values;
}

std::string runOn(RunKernel &kernel) {
  kernel.run(std::vector<uint32_t>(1024, 0));
  return kernel.error;
}

TEST(SimulatorReduce, VectorsOfF32AreAddedPerElement) {
  // Two lanes add to each group of four elements.
  RunKernel kernel("and.b32 %r1, %t, 15; mul.wide.u32 %d1, %r1, 16; add.s64 %d2, %in, %d1;\n"
                   "add.s64 %d3, %out, %d1; ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%d2];\n"
                   "red.global.add.v4.f32 [%d3], {%r1, %r2, %r3, %r4};\n"
                   "red.relaxed.gpu.global.add.v2.f32 [%d3], {%r1, %r2};");
  kernel.options.checkUnwritten = false;
  ASSERT_TRUE(kernel.run(floats(64))) << kernel.error;
  for (size_t i = 0; i < 64; ++i)
    EXPECT_EQ(kernel.output<float>(i), static_cast<float>((i % 4 < 2 ? 4 : 2) * i));
}

TEST(SimulatorReduce, VectorsOfHalvesAreAddedPerElement) {
  RunKernel kernel("mov.b32 %r1, 0x3c004000; mov.b32 %r2, 0x42004400; mov.b16 %h1, 0x3f80;\n"
                   "setp.lt.u32 %p1, %t, 3;\n"
                   "@%p1 red.global.add.noftz.v2.f16x2 [%out], {%r1, %r2};\n"
                   "@%p1 red.global.add.noftz.bf16 [%out+8], %h1;\n"
                   "@%p1 red.global.max.noftz.v4.bf16 [%out+16], {%h1, %h1, %h1, %h1};");
  kernel.options.checkUnwritten = false;
  ASSERT_TRUE(kernel.run(std::vector<uint32_t>{})) << kernel.error;
  const float sums[] = {6, 3, 12, 9};
  for (size_t i = 0; i < 4; ++i)
    EXPECT_EQ(halfToFloat(kernel.output<uint16_t>(i)), sums[i]);
  EXPECT_EQ(bf16ToFloat(kernel.output<uint16_t>(4)), 3.0f);
  EXPECT_EQ(bf16ToFloat(kernel.output<uint16_t>(11)), 1.0f);
}

TEST(SimulatorReduce, AVectorOfAtomGivesTheOldValues) {
  RunKernel kernel("setp.eq.b32 %p1, %t, 0; mov.b32 %r1, 0f3F800000; mov.b32 %r2, 0f40000000;\n"
                   "@%p1 atom.global.add.v2.f32 {%r3, %r4}, [%in+8], {%r1, %r2};\n"
                   "@%p1 st.global.v2.b32 [%out], {%r3, %r4};\n"
                   "@%p1 ld.global.v2.b32 {%r5, %r6}, [%in+8];\n"
                   "@%p1 st.global.v2.b32 [%out+8], {%r5, %r6};");
  ASSERT_TRUE(kernel.run(floats(4))) << kernel.error;
  const float expected[] = {2, 3, 3, 5};
  for (size_t i = 0; i < 4; ++i)
    EXPECT_EQ(kernel.output<float>(i), expected[i]);
}

TEST(SimulatorReduce, AdditionsOfF32FlushSubnormalsInGlobalMemoryAlone) {
  RunKernel kernel("setp.eq.b32 %p1, %t, 0; ld.global.b32 %r1, [%in]; mov.b64 %d1, buffer;\n"
                   "@%p1 st.shared.b32 [%d1], %r1; @%p1 st.global.b32 [%out], %r1;\n"
                   "@%p1 red.shared.add.f32 [%d1], %r1; @%p1 red.global.add.f32 [%out], %r1;\n"
                   "@%p1 ld.shared.b32 %r2, [%d1]; @%p1 st.global.b32 [%out+4], %r2;\n",
                   shared);
  ASSERT_TRUE(kernel.run(std::vector<float>{subnormal})) << kernel.error;
  EXPECT_EQ(kernel.output<float>(0), 0.0f);
  EXPECT_EQ(kernel.output<float>(1), 2 * subnormal);
}

TEST(SimulatorReduce, ATypeHasItsOperationsAlone) {
  using enum ReduceOperation;
  EXPECT_TRUE(findReduction(Min, {Type::Kind::BFloat, 16}));
  EXPECT_FALSE(findReduction(Min, {Type::Kind::Float, 32}));
  EXPECT_FALSE(findReduction(Increment, {Type::Kind::Signed, 32}));
  EXPECT_FALSE(findReduction(And, {Type::Kind::Float, 32}));
  for (const char *text :
       {"red.global.add.v4.u32 [%out], {%r1, %r1, %r1, %r1};",
        "red.shared.add.v4.f32 [%out], {%r1, %r1, %r1, %r1};", "red.global.add.f16 [%out], %h1;",
        "red.global.min.f32 [%out], %r1;", "red.global.add.v4.f32 [%out], {%r1, %r1};",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f16 [%out], "
        "[%d1], %r1;",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.exch.b32 [%out], "
        "[%d1], %r1;"}) {
    RunKernel kernel(text);
    EXPECT_NE(runOn(kernel).find("expects "), std::string::npos) << text;
  }
}

/// Each thread writes 4 and 8 bytes more to the buffer, of which thread 0 reduces 256 bytes.
const std::string fill = "mov.b64 %d1, buffer; mul.wide.u32 %d2, %t, 8; add.s64 %d3, %d1, %d2;\n"
                         "ld.global.v2.b32 {%r1, %r2}, [%in+8]; setp.eq.b32 %p1, %t, 0;\n"
                         "st.shared.v2.b32 [%d3], {%r1, %r2}; fence.proxy.async.shared::cta;\n"
                         "bar.sync 0; mov.b32 %r3, 256;\n";
const std::string wait = "@%p1 cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group 0;\n";

TEST(SimulatorReduce, BulkReductionsAddToGlobalMemory) {
  RunKernel kernel(fill +
                       "@%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 "
                       "[%in+64], [%d1], %r3;\n" +
                       wait + "bar.sync 0; add.s64 %d4, %in, %d2; add.s64 %d5, %out, %d2;\n" +
                       "ld.global.v2.b32 {%r4, %r5}, [%d4+64]; st.global.v2.b32 [%d5], {%r4, %r5};",
                   shared);
  ASSERT_TRUE(kernel.run(floats(80))) << kernel.error;
  for (size_t i = 0; i < 64; ++i)
    EXPECT_EQ(kernel.output<float>(i), static_cast<float>(16 + i + 2 + i % 2));
}

/// Fills a map of 32 x 8 elements of f32, or of another type of 32 bits, with boxes of 8 x 8.
void setMap(TensorMap &map, int type) {
  const uint64_t sizes[] = {32, 8}, strides[] = {128};
  const uint32_t box[] = {8, 8}, steps[] = {1, 1};
  EXPECT_EQ(encodeTensorMap(map, type, 2, 0, sizes, strides, box, steps, 0, /*swizzle=*/1, 0), "");
}

const std::string reduceBox = "mov.b64 %d7, map; cvta.param.u64 %d7, %d7; mov.b32 %r5, 8;\n"
                              "mov.b32 %r6, 4;\n"
                              "@%p1 cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile"
                              ".bulk_group [%d7, {%r5, %r6}], [%d1];\n";

TEST(SimulatorReduce, TensorReductionsSkipOutOfBounds) {
  RunKernel kernel(fill + reduceBox + wait, shared);
  setMap(kernel.map, /*f32*/ 7);
  kernel.mapsOutput = true;
  kernel.options.checkUnwritten = false;
  ASSERT_TRUE(kernel.run(floats(4), 1024)) << kernel.error;
  for (size_t row = 0; row < 8; ++row)
    for (size_t column = 0; column < 32; ++column)
      EXPECT_EQ(kernel.output<float>(32 * row + column),
                row >= 4 && column >= 8 && column < 16 ? static_cast<float>(2 + column % 2) : 0.0f)
          << row << ", " << column;
}

TEST(SimulatorReduce, ATensorMapHasTheTypeOfItsReduction) {
  RunKernel kernel(fill +
                       "mov.b64 %d7, map; cvta.param.u64 %d7, %d7; mov.b32 %r5, 0;\n"
                       "@%p1 cp.reduce.async.bulk.tensor.2d.global.shared::cta.and.tile"
                       ".bulk_group [%d7, {%r5, %r5}], [%d1];\n" +
                       wait,
                   shared);
  setMap(kernel.map, /*f32*/ 7);
  kernel.mapsOutput = true;
  EXPECT_FALSE(kernel.run(floats(4), 1024));
  EXPECT_NE(kernel.error.find("expects a tensor map of elements that have the reduction, but got "
                              "data type 7"),
            std::string::npos)
      << kernel.error;
}

TEST(SimulatorReduce, ReductionsOfTwoCtasDoNotRaceButAStoreDoes) {
  const std::string reduce = "@%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 "
                             "[%out], [%d1], %r3;\n";
  const std::string add = "@%p1 red.global.add.v2.f32 [%out], {%r1, %r2};\n";
  auto reportOn = [](const std::string &body) {
    RunKernel kernel(fill + body, shared);
    kernel.shape.grid[0] = 2;
    kernel.options.checkUnwritten = false;
    return runOn(kernel);
  };
  EXPECT_EQ(reportOn(reduce + wait), "");
  EXPECT_EQ(reportOn(reduce + add + wait), "");
  for (const std::string &other :
       {std::string("@%p1 st.global.b32 [%out], %r1;\n"), std::string("ld.global.b32 %r4, [%out];"),
        std::string("@%p1 cp.async.bulk.global.shared::cta.bulk_group [%out], [%d1], %r3;\n")}) {
    std::string report = reportOn(reduce + wait + other + wait);
    EXPECT_NE(report.find("expects a release and an acquire at the scope of the GPU between"),
              std::string::npos)
        << other << report;
  }
  // The data in shared memory is read until the group is waited for.
  std::string report = reportOn(reduce + "st.shared.v2.b32 [%d3], {%r1, %r2};\n" + wait);
  EXPECT_NE(report.find("expects cp.async.bulk.wait_group"), std::string::npos) << report;
  report = reportOn(reduce);
  EXPECT_NE(report.find("expects cp.async.bulk.wait_group before the end of the warp"),
            std::string::npos)
      << report;
}

TEST(SimulatorReduce, ACountedReductionIsReadByTheLastCta) {
  // Both CTAs reduce; the one that counts second reads the sums.
  auto reportOn = [](const std::string &count) {
    RunKernel kernel(fill +
                         "@%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 "
                         "[%out], [%d1], %r3;\n" +
                         wait + "mov.b32 %r7, 1; mov.b32 %r8, 0;\n" + count +
                         "setp.eq.b32 %p2, %r8, 1; @!%p2 bra END;\n"
                         "ld.global.b32 %r4, [%out+4]; st.global.b32 [%out+1028], %r4;\nEND:",
                     shared);
    kernel.shape.grid[0] = 2;
    kernel.options.checkUnwritten = false;
    kernel.run(floats(4));
    return kernel.error.empty() ? std::to_string(kernel.output<float>(257)) : kernel.error;
  };
  EXPECT_EQ(reportOn("@%p1 atom.acq_rel.gpu.global.add.u32 %r8, [%out+1024], %r7;\n"), "6.000000");
  EXPECT_NE(reportOn("@%p1 atom.relaxed.gpu.global.add.u32 %r8, [%out+1024], %r7;\n")
                .find("expects a release and an acquire"),
            std::string::npos);
}

} // namespace
