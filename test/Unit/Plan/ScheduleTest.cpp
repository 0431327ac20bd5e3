// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/Schedule.h"

#include "gtest/gtest.h"

using namespace blocksparse;

namespace {

TEST(Schedule, NamesOfFamiliesAreReadBack) {
  for (KernelFamily family : allKernelFamilies)
    EXPECT_EQ(parseKernelFamily(getName(family)), family);
  EXPECT_FALSE(parseKernelFamily("cuda.wgmma_turned"));
  EXPECT_EQ(findRenamedFamily("cuda.wgmma_turned"), "cuda.wgmma_transposed");
  EXPECT_EQ(findRenamedFamily("cuda.wgmma"), "");
}

TEST(Schedule, TextOmitsWhatIsLeftToTheKernel) {
  EXPECT_EQ(printSchedule(Schedule(KernelFamily::CUDAWgmma)), "cuda.wgmma");
  const Schedule wgmma(KernelFamily::CUDAWgmma,
                       WgmmaParams{{128, 256}, 4, /*gather=*/true, /*cluster=*/2});
  EXPECT_EQ(printSchedule(wgmma),
            "cuda.wgmma, tile = 128x256, stages = 4, gather = true, cluster = 2");
  EXPECT_EQ(describeSchedule(wgmma), "cuda.wgmma 128x256 stages=4 gather cluster=2");
  EXPECT_EQ(
      printSchedule(Schedule(KernelFamily::CUDAStream, StreamParams{{384, 128}, 8, 4, 3, 12})),
      "cuda.stream, tile = 384x128, panels = 8, panels_per_copy = 4, stages = 3, warps = 12");
  EXPECT_EQ(printSchedule(Schedule(KernelFamily::CUDARows, RowParams{32})),
            "cuda.rows, elements_per_lane = 32");
  EXPECT_EQ(printSchedule(Schedule(KernelFamily::CUDAAttention, AttentionParams{1})),
            "cuda.attention, kernels = 1");
  EXPECT_EQ(printSchedule(Schedule(KernelFamily::CUDASkinny, SkinnyParams{{32, 8}, 4, 2})),
            "cuda.skinny, tile = 32x8, warps = 4, unroll = 2");
}

TEST(Schedule, ParametersOutOfRangeAreFound) {
  EXPECT_EQ(checkParams(Schedule(KernelFamily::CUDAMma, MmaParams{{128, 7}, 4})),
            "expects tile of cuda.mma to be powers of two from 16x16 to 128x256, but got 128x7");
  EXPECT_EQ(checkParams(Schedule(KernelFamily::CUDAMma, MmaParams{{1, 128}, 4})),
            "expects tile of cuda.mma to be powers of two from 16x16 to 128x256, but got 1x128");
  for (int64_t stages : {1, 1000})
    EXPECT_EQ(checkParams(Schedule(KernelFamily::CUDAMma, MmaParams{{}, stages})),
              "expects stages of cuda.mma to be from 2 to 4, but got " + std::to_string(stages));
  EXPECT_EQ(checkParams(Schedule(KernelFamily::CUDASimt, SimtParams{-1})),
            "expects split of cuda.simt to be at least 0, but got -1");
  EXPECT_EQ(checkParams(Schedule(KernelFamily::CPURows, VectorParams{3})),
            "expects lanes of cpu.rows to be a power of two up to 64, but got 3");
  EXPECT_EQ(checkParams(Schedule(KernelFamily::CUDAWgmma, WgmmaParams{{128, 384}})),
            "expects tile of cuda.wgmma to be 128 x a multiple of 64 up to 256, or 64 x one up to "
            "384, but got 128x384");
  EXPECT_EQ(checkParams(Schedule(KernelFamily::CUDASkinny, SkinnyParams{{16, 4}})),
            "expects tile of cuda.skinny to be powers of two from 16x8 to 128x64, but got 16x4");
  EXPECT_EQ(checkParams(Schedule(KernelFamily::CUDASkinny, SkinnyParams{{}, 3})),
            "expects warps of cuda.skinny to be a power of two up to 16, but got 3");
  EXPECT_EQ(checkParams(Schedule(KernelFamily::CUDASkinny, SkinnyParams{{}, 0, 9})),
            "expects unroll of cuda.skinny to be from 1 to 8, but got 9");
  // The stream families have no usual sizes.
  EXPECT_EQ(checkParams(Schedule(KernelFamily::CUDAStream)),
            "expects tile of cuda.stream to be whole block rows x 64 or 128, but got 0x0");
  for (KernelFamily family : allKernelFamilies)
    if (family != KernelFamily::CUDAStream && family != KernelFamily::CUDAStreamWgmma) {
      EXPECT_EQ(checkParams(Schedule(family)), "");
    }
}

TEST(Schedule, KernelsWithoutTmaTakeTilesOfAboutTheSameSize) {
  auto limits = [](const Schedule &schedule) { return getMmaLimits(schedule); };
  EXPECT_EQ(limits(Schedule(KernelFamily::CUDAMma)), (MmaParams{{128, 128}, 4}));
  EXPECT_EQ(limits(Schedule(KernelFamily::CUDAMma, MmaParams{{32, 64}, 2})),
            (MmaParams{{32, 64}, 2}));
  EXPECT_EQ(limits(Schedule(KernelFamily::CUDAWgmma, WgmmaParams{{128, 256}, 3, false, 2})),
            (MmaParams{{128, 256}, 3}));
  EXPECT_EQ(limits(Schedule(KernelFamily::CUDAWgmma, WgmmaParams{{64, 384}})),
            (MmaParams{{64, 256}, 4}));
  EXPECT_EQ(limits(Schedule(KernelFamily::CUDAWgmma, WgmmaParams{{128, 192}})),
            (MmaParams{{128, 256}, 4}));
  EXPECT_EQ(limits(Schedule(KernelFamily::CUDAStream, StreamParams{{320, 64}, 8, 1, 5, 20})),
            (MmaParams{{128, 64}, 4}));
}

} // namespace
