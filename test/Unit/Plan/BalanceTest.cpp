// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/Balance.h"
#include "PlanLayouts.h"
#include "ProcessorTime.h"
#include "gtest/gtest.h"

#include <algorithm>

using namespace blocksparse;
using namespace blocksparse::test;

namespace {

BalancedRows balance(const RowLut &lut, BalanceOptions options) {
  std::string error;
  std::optional<BalancedRows> rows = balanceSegments(lut.segments, options, error);
  EXPECT_TRUE(rows.has_value()) << error;
  return rows ? *rows : BalancedRows();
}

TEST(Balance, KeepsTheLayoutWhateverTheOptions) {
  for (const BlockLayout &layout : randomLayouts())
    for (int64_t split : {0, 1, 2, 5})
      for (SegmentOrder order :
           {SegmentOrder::Kept, SegmentOrder::LongestFirst, SegmentOrder::Dealt}) {
        const RowLut lut = buildRowLut(layout, false);
        const BalancedRows rows = balance(lut, {3, split, order});
        EXPECT_EQ(
            verifyRowLut(layout, false, {rows.segments, lut.entries, rows.combine}, rows.slots),
            "");
        for (const RowSegment &segment : rows.segments)
          EXPECT_TRUE(split == 0 || segment.count <= split);
        const CoordinateLut coordinates = buildCoordinateLut(layout, CoordinateOrder::Columns);
        std::string error;
        EXPECT_EQ(verifyCoordinateLut(
                      layout, coordinates.lut,
                      balanceSegments(coordinates.segments, {3, split, order}, error).value()),
                  "");
      }
}

TEST(Balance, ShortRowsGetNoExtraSegment) { // C05
  for (const std::vector<std::string> &rows :
       {std::vector<std::string>{"1000", "0100", "0010", "0001"},
        {"1100", "0110", "0011", "1001"},
        {"1110", "0111", "1011", "1101"}}) {
    const BalancedRows balanced = balance(buildRowLut(layoutOf(rows), false), {132, 4});
    EXPECT_EQ(balanced.segments.size(), 4u);
    EXPECT_EQ(balanced.slots, 0);
  }
}

TEST(Balance, CutsLongRowsEvenlyAndCombinesInOrder) {
  const BalancedRows rows = balance(buildRowLut(layoutOf({"1111111", "1000000"}), false), {2, 3});
  EXPECT_EQ(rows.segments,
            (std::vector<RowSegment>{
                {0, 0, 4, 3, 2}, {0, 0, 0, 2, 0}, {0, 0, 2, 2, 1}, {1, 0, 7, 1, -1}}));
  EXPECT_EQ(rows.combine, (std::vector<CombineRow>{{0, 0, 0, 3}}));
  EXPECT_EQ(rows.slots, 3);
  EXPECT_EQ(rows.makespan, 6); // (3 + 1) + (1 + 1) and (2 + 1) + (2 + 1)
}

TEST(Balance, DealsEqualShares) {
  std::vector<RowSegment> segments;
  for (int32_t i = 0; i < 8; ++i)
    segments.push_back({i, 0, 0, i, -1});
  std::string error;
  const BalancedRows rows = balanceSegments(segments, {4, 0, SegmentOrder::Dealt}, error).value();
  for (int worker = 0; worker < 4; ++worker)
    EXPECT_EQ(rows.segments[2 * worker].count + rows.segments[2 * worker + 1].count, 7);
}

TEST(Balance, EqualRowsKeepTheirOrder) {
  const RowLut lut = buildRowLut(layoutOf({"1000", "0100", "0010", "0001"}), false);
  EXPECT_EQ(balance(lut, {2, 0, SegmentOrder::Dealt}).segments, lut.segments);
}

TEST(Balance, RejectsWhatItCannotBalance) {
  std::string error;
  std::vector<RowSegment> segments{{0, 0, 0, 1, 0}};
  EXPECT_FALSE(balanceSegments(segments, {1, 0}, error));
  EXPECT_EQ(error, "expects segments that are not split yet, but got slot 0");
  EXPECT_FALSE(balanceSegments(segments, {0, 0}, error));
  EXPECT_EQ(error, "expects at least 1 worker, but got 0");
  EXPECT_FALSE(balanceSegments(segments, {1, -1}, error));
  EXPECT_EQ(error, "expects a split of at least 0, but got -1");
}

TEST(Balance, SharesAreCountedIn64Bits) {
  const std::vector<RowSegment> segments{{0, 0, 0, 2147483647, -1}, {1, 0, 0, 2147483647, -1}};
  EXPECT_EQ(balancedShare(segments, 1), 4294967294);
  EXPECT_EQ(balancedShare({}, 8), 1);
}

TEST(Balance, MakespanOfListScheduling) {
  EXPECT_EQ(makespan(std::vector<int64_t>{4, 3, 3, 2}, 2), 6);
  EXPECT_EQ(makespan(std::vector<int64_t>{5}, 4), 5);
  EXPECT_EQ(makespan({}, 4), 0);
}

TEST(Balance, LargeLayoutIsPlannedInSeconds) {
  const BlockLayout layout = largeLayout();
  const RowLut rows = timed("buildRowLut", [&] { return buildRowLut(layout, false); });
  const RowLut columns = timed("buildRowLut transposed", [&] { return buildRowLut(layout, true); });
  const CoordinateLut lut = timed(
      "buildCoordinateLut", [&] { return buildCoordinateLut(layout, CoordinateOrder::Columns); });
  std::string error;
  const auto balanced = timed("balanceSegments", [&] {
    return balanceSegments(rows.segments, {132, 64, SegmentOrder::LongestFirst}, error).value();
  });
  EXPECT_EQ(timed("verifyRowLut",
                  [&] {
                    return verifyRowLut(layout, false,
                                        {balanced.segments, rows.entries, balanced.combine},
                                        balanced.slots);
                  }),
            "");
  EXPECT_EQ(timed("verifyCoordinateLut",
                  [&] { return verifyCoordinateLut(layout, lut.lut, lut.segments); }),
            "");
  EXPECT_EQ(timed("transposePermutation", [&] { return transposePermutation(layout); }).size(),
            columns.entries.size());
}

} // namespace
