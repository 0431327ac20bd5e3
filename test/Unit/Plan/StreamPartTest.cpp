// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/StreamPart.h"
#include "gtest/gtest.h"

using namespace blocksparse;

namespace {

void expectPart(std::optional<StreamPart> part, int64_t rows, int64_t cols, bool together) {
  ASSERT_TRUE(part);
  EXPECT_EQ(part->rows, rows);
  EXPECT_EQ(part->cols, cols);
  EXPECT_EQ(part->together, together);
}

TEST(StreamPart, RowsTogetherAre64ColumnsWide) {
  expectPart(StreamPart::get(16, 24, 128, 12, 64), 4, 64, true);
  expectPart(StreamPart::get(16, 24, 128, 8, 96), 6, 64, true);
  expectPart(StreamPart::get(16, 20, 128, 8, 80), 5, 64, true);
  expectPart(StreamPart::get(16, 16, 128, 16, 32), 2, 64, true);
}

TEST(StreamPart, NarrowTilesLeaveFewerRows) {
  expectPart(StreamPart::get(16, 24, 64, 12, 64), 2, 64, true);
  expectPart(StreamPart::get(16, 16, 64, 16, 32), 1, 64, false);
  EXPECT_FALSE(StreamPart::get(16, 20, 64, 8, 80));
}

TEST(StreamPart, OthersAreWholeRows) {
  expectPart(StreamPart::get(16, 24, 128, 12, 24 * 16), 2, 128, false);
  expectPart(StreamPart::get(16, 24, 128, 12, 0), 2, 128, false);
  expectPart(StreamPart::get(16, 24, 128, 12, 32), 2, 128, false);  // would be 128 columns
  expectPart(StreamPart::get(16, 24, 128, 12, 128), 2, 128, false); // would be 32 columns
  expectPart(StreamPart::get(32, 12, 128, 12, 64), 1, 128, false);  // blocks of 32
}

TEST(StreamPart, PartsAreEqual) {
  EXPECT_FALSE(StreamPart::get(16, 24, 128, 0, 64));
  EXPECT_FALSE(StreamPart::get(16, 20, 128, 8, 320));
  EXPECT_FALSE(StreamPart::get(16, 20, 128, 8, 64));
}

} // namespace
