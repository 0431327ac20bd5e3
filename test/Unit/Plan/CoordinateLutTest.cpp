// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/CoordinateLut.h"
#include "PlanLayouts.h"
#include "gtest/gtest.h"

using namespace blocksparse;
using namespace blocksparse::test;

namespace {

TEST(CoordinateLut, SaysTheLayoutInBothOrders) {
  for (const BlockLayout &layout : randomLayouts())
    for (CoordinateOrder order : {CoordinateOrder::Rows, CoordinateOrder::Columns}) {
      const CoordinateLut lut = buildCoordinateLut(layout, order);
      DenseMask mask(layout.grid());
      for (const BlockCoordinate &block : lut.lut)
        ++mask.at(block.head, block.row, block.col);
      EXPECT_EQ(mask, maskOf(layout));
      EXPECT_EQ(verifyCoordinateLut(layout, lut.lut, lut.segments), "");
      EXPECT_EQ(verifyCoordinateTables(
                    lut.lut, lut.segments,
                    {layout.grid().heads, layout.grid().rows, layout.grid().cols, layout.nnz()}),
                "");
    }
}

TEST(CoordinateLut, SegmentIsOneBlockColumn) {
  const CoordinateLut lut = buildCoordinateLut(layoutOf({"101", "100"}), CoordinateOrder::Columns);
  EXPECT_EQ(lut.lut, (std::vector<BlockCoordinate>{{0, 0, 0, 0}, {0, 1, 0, 2}, {0, 0, 2, 1}}));
  EXPECT_EQ(lut.segments, (std::vector<CoordinateSegment>{{0, 2}, {2, 1}}));
}

TEST(CoordinateLut, NeverInventsABlock) { // C02
  const BlockLayout layout = layoutC02();
  for (CoordinateOrder order : {CoordinateOrder::Rows, CoordinateOrder::Columns})
    EXPECT_EQ(buildCoordinateLut(layout, order).lut.size(), 18u);
}

TEST(CoordinateLut, LayoutWithoutBlocks) { // C04
  const CoordinateLut lut = buildCoordinateLut(layoutOf({"0"}), CoordinateOrder::Rows);
  EXPECT_TRUE(lut.lut.empty());
  EXPECT_TRUE(lut.segments.empty());
  EXPECT_EQ(buildCoordinateLut(layoutC04(), CoordinateOrder::Rows).lut.size(), 1u);
}

TEST(CoordinateLut, FindsEachFault) {
  const BlockLayout layout = layoutOf({"11", "01"});
  const CoordinateLut good = buildCoordinateLut(layout, CoordinateOrder::Rows);
  auto verify = [&](const CoordinateLut &lut) {
    return verifyCoordinateLut(layout, lut.lut, lut.segments);
  };
  CoordinateLut bad = good;
  bad.lut.pop_back();
  EXPECT_EQ(verify(bad), "expects 3 rows, one for each block of the layout, but got 2");
  bad = good;
  bad.lut[2].col = 0;
  EXPECT_EQ(verify(bad), "expects value block 2 at (0, 1, 1), but got (0, 1, 0)");
  bad = good;
  bad.lut[2].value = 0;
  EXPECT_EQ(verify(bad), "expects value block 0 once, but got it again in row 2");
  bad = good;
  bad.lut[2].head = 1;
  EXPECT_EQ(verify(bad), "expects row 2 to have a head in [0, 1), but got 1");
  bad = good;
  bad.segments.pop_back();
  EXPECT_EQ(verify(bad), "expects segment counts to sum to 3, but got 2");
  bad = good;
  bad.segments[1] = {1, 2};
  EXPECT_EQ(verify(bad), "expects row 1 in one segment, but got it again in segment 1");
  bad = good;
  bad.segments[1] = {2, 2};
  EXPECT_EQ(verify(bad), "expects segment 1 within the 3 rows of the table, but got rows 2 to 4");
  bad = good;
  bad.lut[1].col = 0;
  EXPECT_EQ(verifyCoordinateTables(bad.lut, bad.segments, {1, 2, 2, 3}),
            "expects block (0, 0, 0) once, but got it twice");
}

TEST(TransposePermutation, TakesEachBlockOnceAndIsStable) {
  for (const BlockLayout &layout : randomLayouts()) {
    const std::vector<int32_t> permutation = transposePermutation(layout);
    const std::vector<BlockCoordinate> from = layout.coordinates();
    const std::vector<BlockCoordinate> to = layout.transposed().coordinates();
    ASSERT_EQ(permutation.size(), to.size());
    for (size_t q = 0; q < to.size(); ++q) {
      EXPECT_EQ(from[permutation[q]].row, to[q].col);
      EXPECT_EQ(from[permutation[q]].col, to[q].row);
      EXPECT_EQ(from[permutation[q]].head, to[q].head);
    }
    EXPECT_EQ(permutation, transposePermutation(layout)); // C22
  }
}

} // namespace
