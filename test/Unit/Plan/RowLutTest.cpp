// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/RowLut.h"
#include "PlanLayouts.h"
#include "gtest/gtest.h"

using namespace blocksparse;
using namespace blocksparse::test;

namespace {

/// Returns the blocks that a row LUT names, as a mask of the original pattern.
DenseMask maskOf(const RowLut &lut, BlockGrid grid, bool transpose) {
  DenseMask mask(grid);
  for (const RowSegment &segment : lut.segments)
    for (int32_t e = segment.first; e < segment.first + segment.count; ++e)
      ++(transpose ? mask.at(segment.head, lut.entries[e].dense, segment.tile)
                   : mask.at(segment.head, segment.tile, lut.entries[e].dense));
  return mask;
}

std::string verify(const BlockLayout &layout, const RowLut &lut,
                   std::vector<CombineRow> combine = {}, int64_t slots = 0) {
  return verifyRowLut(layout, false, {lut.segments, lut.entries, combine}, slots);
}

TEST(RowLut, SaysTheLayoutInBothDirections) {
  for (const BlockLayout &layout : randomLayouts())
    for (bool transpose : {false, true}) {
      const RowLut lut = buildRowLut(layout, transpose);
      EXPECT_EQ(maskOf(lut, layout.grid(), transpose), test::maskOf(layout));
      EXPECT_EQ(verifyRowLut(layout, transpose, {lut.segments, lut.entries, {}}, 0), "");
    }
}

TEST(RowLut, NeverInventsABlock) { // C02
  const BlockLayout layout = layoutC02();
  const RowLut lut = buildRowLut(layout, false);
  EXPECT_EQ(lut.entries.size(), 18u);
  EXPECT_EQ(lut.entries[0], (RowEntry{1, 0}));
  EXPECT_EQ(verify(layout, lut), "");
}

TEST(RowLut, WritesTilesWithoutBlocks) { // C04
  const RowLut lut = buildRowLut(layoutC04(), false);
  EXPECT_EQ(lut.segments, (std::vector<RowSegment>{{0, 0, 0, 1, -1}, {0, 1, 1, 0, -1}}));
  const RowLut empty = buildRowLut(layoutOf({"0"}), true);
  EXPECT_EQ(empty.segments, (std::vector<RowSegment>{{0, 0, 0, 0, -1}}));
  EXPECT_TRUE(empty.entries.empty());
}

TEST(RowLut, OwnsEachTileOnce) { // C05
  const BlockLayout layout = layoutOf({"1000", "0100", "0010", "0001"});
  RowLut lut = buildRowLut(layout, false);
  EXPECT_EQ(lut.segments.size(), 4u);
  lut.segments.push_back({1, 0, 1, 0, -1});
  EXPECT_EQ(verify(layout, lut), "expects one owner of tile 1 of head 0, but got a second");
}

TEST(RowLut, TransposedTableIsEqualOnEveryCall) { // C22
  const BlockLayout layout = layoutOf(randomMask({2, 40, 40}, 3));
  EXPECT_EQ(buildRowLut(layout, true).entries, buildRowLut(layout, true).entries);
}

TEST(RowLut, FindsEachFault) {
  const BlockLayout layout = layoutOf({"11", "01"});
  const RowLut good = buildRowLut(layout, false);
  RowLut bad = good;
  bad.segments.pop_back();
  EXPECT_EQ(verify(layout, bad), "expects entry 2 in one segment, but got it in none");
  bad = good;
  bad.segments[1].count = 0;
  bad.segments[1].first = 0;
  bad.entries.pop_back();
  EXPECT_EQ(verify(layout, bad), "expects 3 entries, one for each block of the layout, but got 2");
  bad = good;
  bad.segments[0].tile = 2;
  EXPECT_EQ(verify(layout, bad), "expects segment 0 to have a tile in [0, 2), but got 2");
  bad = good;
  bad.segments[1].first = 1;
  EXPECT_EQ(verify(layout, bad), "expects entry 1 in one segment, but got it again in segment 1");
  bad = good;
  bad.segments[1].count = 5;
  EXPECT_EQ(verify(layout, bad),
            "expects segment 1 to have its 5 entries within the 3 of the table, but got 2");
  bad = good;
  bad.entries[1].value = 0;
  EXPECT_EQ(verify(layout, bad), "expects value block 0 once, but got it again in entry 1");
  bad = good;
  bad.entries[1].dense = -1;
  EXPECT_EQ(verify(layout, bad), "expects entry 1 to have a dense block in [0, 2), but got -1");
  bad = good;
  bad.entries[2].dense = 0; // an invented block
  EXPECT_EQ(verify(layout, bad), "expects value block 2 at head 0, tile 1, dense block 1, but got "
                                 "head 0, tile 1, dense block 0");
}

TEST(RowLut, FindsFaultsOfSplits) {
  const BlockLayout layout = layoutOf({"1111"});
  RowLut lut = buildRowLut(layout, false);
  lut.segments = {{0, 0, 0, 2, 0}, {0, 0, 2, 2, 1}};
  EXPECT_EQ(verify(layout, lut, {{0, 0, 0, 2}}, 2), "");
  EXPECT_EQ(verify(layout, lut, {}, 2),
            "expects slot 0 to be combined once, but got it in no combine row");
  EXPECT_EQ(verify(layout, lut, {{0, 0, 0, 1}}, 2),
            "expects slot 1 to be combined once, but got it in no combine row");
  EXPECT_EQ(verify(layout, lut, {{0, 0, 0, 2}, {0, 0, 0, 2}}, 2),
            "expects one owner of tile 0 of head 0, but got a second");
  EXPECT_EQ(verify(layout, lut, {{0, 0, 0, 3}}, 3),
            "expects slot 2 to belong to tile 0 of head 0, but got a slot that no segment writes");
  EXPECT_EQ(verify(layout, lut, {{0, 0, 0, 2}}, 1),
            "expects segment 1 to have a slot in [0, 1), but got 1");
  lut.segments = {{0, 0, 0, 2, 1}, {0, 0, 2, 2, 0}};
  EXPECT_EQ(verify(layout, lut, {{0, 0, 0, 2}}, 2),
            "expects the slots of combine row 0 in ascending order of their entries, but got 0 "
            "after 2");
}

} // namespace
