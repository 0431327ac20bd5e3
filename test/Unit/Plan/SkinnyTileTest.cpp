// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/SkinnyTile.h"

#include "gtest/gtest.h"

using namespace blocksparse;

namespace {

constexpr int64_t hopperSMs = 132;

TEST(SkinnyTile, ColumnsCoverTheResult) {
  EXPECT_EQ(fitSkinnyCols(1), 8);
  EXPECT_EQ(fitSkinnyCols(8), 8);
  EXPECT_EQ(fitSkinnyCols(9), 16);
  EXPECT_EQ(fitSkinnyCols(33), 64);
}

TEST(SkinnyTile, WarpsFillTheChipOnce) {
  // 448 tiles of 32 rows on 132 SMs with room for 16 warps each; a row has 26 steps.
  EXPECT_EQ(chooseSkinny({{64, 64}, 1, 224, 12.8}, {}, hopperSMs), (SkinnyParams{{32, 8}, 4, 4}));
  // Taller tiles would leave SMs idle.
  EXPECT_EQ(chooseSkinny({{64, 64}, 1, 64, 32}, {}, hopperSMs), (SkinnyParams{{16, 8}, 8, 4}));
  // Just enough taller tiles are better.
  EXPECT_EQ(chooseSkinny({{64, 64}, 1, 128, 6.4}, {}, hopperSMs), (SkinnyParams{{32, 8}, 4, 4}));
  // Low tiles take more warps than there is room for at once; many need few warps each.
  EXPECT_EQ(chooseSkinny({{16, 16}, 1, 896, 51}, {}, hopperSMs), (SkinnyParams{{16, 8}, 8, 4}));
  EXPECT_EQ(chooseSkinny({{16, 16}, 1, 4096, 51}, {}, hopperSMs), (SkinnyParams{{16, 8}, 2, 4}));
  // Short rows give few warps work.
  EXPECT_EQ(chooseSkinny({{64, 64}, 1, 224, 1}, {}, hopperSMs), (SkinnyParams{{32, 8}, 1, 4}));
}

TEST(SkinnyTile, ManyColumnsLeaveRegistersForFewSteps) {
  EXPECT_EQ(chooseSkinny({{64, 64}, 16}, {}, hopperSMs), (SkinnyParams{{32, 16}, 8, 3}));
  EXPECT_EQ(chooseSkinny({{64, 64}, 32}, {}, hopperSMs), (SkinnyParams{{32, 32}, 8, 2}));
  EXPECT_EQ(chooseSkinny({{64, 64}, 64}, {}, hopperSMs), (SkinnyParams{{32, 64}, 8, 1}));
}

TEST(SkinnyTile, GivenParametersStay) {
  const SkinnyParams given{{64, 8}, 2, 1};
  EXPECT_EQ(chooseSkinny({{64, 64}, 1, 224, 12.8}, given, hopperSMs), given);
  EXPECT_EQ(chooseSkinny({{64, 64}, 1}, SkinnyParams{{}, 16, 0}, hopperSMs),
            (SkinnyParams{{32, 8}, 16, 4}));
}

TEST(SkinnyTile, ManyColumnsAndFewLongRowsAreLeftToOtherFamilies) {
  auto prefers = [](const SkinnyProblem &problem) { return prefersSkinny(problem, hopperSMs); };
  EXPECT_TRUE(prefers({{64, 64}, 32, 128, 12.8}));
  EXPECT_FALSE(prefers({{64, 64}, 33, 128, 12.8}));
  EXPECT_TRUE(prefers({{64, 64}, 16, 224, 12.8}));
  EXPECT_FALSE(prefers({{64, 64}, 17, 224, 12.8}));
  EXPECT_TRUE(prefers({{16, 16}, 1, 1, 512}));
  EXPECT_FALSE(prefers({{16, 16}, 1, 1, 513}));
  EXPECT_TRUE(prefers({{16, 16}, 1, 34, 513}));
  // The number of blocks of a run-time pattern is not known.
  EXPECT_TRUE(prefers({{16, 16}, 1}));
}

TEST(SkinnyTile, SharedMemoryHoldsTheSumsOfAllWarps) {
  EXPECT_EQ(getSkinnySharedBytes({{32, 8}, 4, 4}), 4 * 32 * 8 * 4);
}

} // namespace
