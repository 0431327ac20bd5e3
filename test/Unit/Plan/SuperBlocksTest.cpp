// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/SuperBlocks.h"
#include "PlanLayouts.h"
#include "gtest/gtest.h"

using namespace blocksparse;
using namespace blocksparse::test;

namespace {

TEST(SuperBlocks, JoinsBlocksThatFillLargerOnes) {
  const std::optional<BlockLayout> joined =
      fullSuperBlocks(layoutOf({"1100", "1100", "0011", "0011"}), 64);
  ASSERT_TRUE(joined.has_value());
  EXPECT_EQ(joined->block(), (BlockShape{32, 32}));
  EXPECT_EQ(textOf(test::maskOf(*joined)), (std::vector<std::string>{"10", "01"}));
}

TEST(SuperBlocks, StopsAtTheLargestBlock) {
  const BlockLayout dense = layoutOf({"1111", "1111", "1111", "1111"});
  EXPECT_EQ(fullSuperBlocks(dense, 64)->block(), (BlockShape{64, 64}));
  EXPECT_EQ(fullSuperBlocks(dense, 32)->block(), (BlockShape{32, 32}));
  EXPECT_FALSE(fullSuperBlocks(dense, 16).has_value());
}

TEST(SuperBlocks, MayJoinInOneDirection) {
  EXPECT_EQ(fullSuperBlocks(layoutOf({"1111", "0000", "1100"}), 64)->block(), (BlockShape{16, 32}));
}

TEST(SuperBlocks, NeverInventsABlock) { // C02
  EXPECT_FALSE(fullSuperBlocks(layoutC02(), 128).has_value());
  EXPECT_FALSE(fullSuperBlocks(layoutOf({"10", "11"}), 64).has_value());
  EXPECT_FALSE(fullSuperBlocks(layoutOf({"00", "00"}), 64).has_value());
  // Full where the grid is, but the last super-block would reach beyond it.
  EXPECT_FALSE(fullSuperBlocks(layoutOf({"111", "111", "111"}), 64).has_value());
}

} // namespace
