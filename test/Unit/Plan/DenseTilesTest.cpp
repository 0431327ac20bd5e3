// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/DenseTiles.h"
#include "gtest/gtest.h"

using namespace blocksparse;

namespace {

constexpr int64_t unknown = -1;

TEST(DenseTiles, ColumnsAreWholeChunks) {
  EXPECT_EQ(denseTileCols(1), 64);
  EXPECT_EQ(denseTileCols(64), 64);
  EXPECT_EQ(denseTileCols(65), 128);
  EXPECT_EQ(denseTileCols(256), 256);
  EXPECT_EQ(denseTileCols(1000), 256);
  EXPECT_EQ(denseTileCols(unknown), 256);
}

TEST(DenseTiles, PairsOfRowsShareColumnsInWholeChunks) {
  EXPECT_TRUE(canShareColumns(256, 256));
  EXPECT_TRUE(canShareColumns(129, 65)); // two rows of tiles, the second short
  EXPECT_TRUE(canShareColumns(1000, 328));
  EXPECT_FALSE(canShareColumns(128, 256));
  EXPECT_FALSE(canShareColumns(257, 256));
  EXPECT_FALSE(canShareColumns(256, 64));
  EXPECT_FALSE(canShareColumns(256, 192));
  EXPECT_FALSE(canShareColumns(0, 256));
  EXPECT_FALSE(canShareColumns(256, 0));
  EXPECT_FALSE(canShareColumns(unknown, 256));
  EXPECT_FALSE(canShareColumns(256, unknown));
}

TEST(DenseTiles, SchedulesAskForClusters) {
  EXPECT_EQ(denseClusterSize(256, 256, 256), 2);
  EXPECT_EQ(denseClusterSize(512, 256, 256), 2);
  EXPECT_EQ(denseClusterSize(128, 256, 256), 1);
  EXPECT_EQ(denseClusterSize(0, 256, 256), 1);
  EXPECT_EQ(denseClusterSize(256, 128, 256), 1);
}

} // namespace
