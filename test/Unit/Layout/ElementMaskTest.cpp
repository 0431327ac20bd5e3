// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Layout/ElementMask.h"

#include <gtest/gtest.h>

using namespace blocksparse;

namespace {

/// Returns a mask of rows x cols elements made of square blocks; `blocks` has a character for each.
std::vector<uint8_t> makeMask(int64_t rows, int64_t cols, int64_t block,
                              const std::vector<std::string> &blocks) {
  std::vector<uint8_t> mask(rows * cols);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t col = 0; col < cols; ++col)
      mask[row * cols + col] = blocks[row / block][col / block] == '1';
  return mask;
}

TEST(ElementMask, FindsTheLargestBlocks) {
  auto layout = findBlockLayout(makeMask(64, 96, 32, {"101", "010"}), 64, 96);
  ASSERT_TRUE(layout.has_value());
  EXPECT_EQ(layout->block(), (BlockShape{32, 32}));
  EXPECT_EQ(layout->grid(), (BlockGrid{1, 2, 3}));
  EXPECT_EQ(layout->nnz(), 3);
  EXPECT_TRUE(layout->contains(0, 1, 1));
}

TEST(ElementMask, TakesPartialBlocksAtTheEdges) {
  auto layout = findBlockLayout(makeMask(20, 40, 16, {"101", "011"}), 20, 40);
  ASSERT_TRUE(layout.has_value());
  EXPECT_EQ(layout->block(), (BlockShape{16, 16}));
  EXPECT_EQ(layout->grid(), (BlockGrid{1, 2, 3}));
  EXPECT_EQ(layout->nnz(), 4);
}

TEST(ElementMask, TakesNoOtherMask) {
  std::vector<uint8_t> mask = makeMask(32, 32, 16, {"10", "01"});
  EXPECT_TRUE(findBlockLayout(mask, 32, 32).has_value());
  mask[5] = 0;
  EXPECT_FALSE(findBlockLayout(mask, 32, 32).has_value());
  EXPECT_FALSE(findBlockLayout(makeMask(32, 32, 16, {"11", "11"}), 32, 32).has_value());
  EXPECT_FALSE(findBlockLayout(mask, 32, 31).has_value());
  EXPECT_FALSE(findBlockLayout({}, 0, 16).has_value());
}

} // namespace
