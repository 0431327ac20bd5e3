// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/AttentionPlan.h"
#include "PlanLayouts.h"

#include <array>

using namespace blocksparse;
using namespace blocksparse::test;

namespace {

AttentionLists build(const AttentionProblem &problem, const AttentionOptions &options = {}) {
  std::string error;
  std::optional<AttentionLists> lists = buildAttentionLists(problem, options, error);
  EXPECT_EQ(error, "");
  return lists.value_or(AttentionLists());
}

AttentionTile tileOf(std::array<int32_t, 3> rows, int32_t first, int32_t count) {
  AttentionTile tile;
  std::copy(rows.begin(), rows.end(), tile.rows);
  tile.first = first;
  tile.count = count;
  return tile;
}

/// Returns a step whose keys all warpgroups share.
AttentionStep stepOf(int32_t key0, int32_t key1, std::array<int32_t, 3> halves) {
  AttentionStep step{{{key0, key1}, {key0, key1}}, {}, 0};
  std::copy(halves.begin(), halves.end(), step.halves);
  return step;
}

AttentionForm formOf(const AttentionLists &lists) {
  return AttentionForm::get(lists.tiles, lists.steps, !lists.slices.empty());
}

TEST(AttentionPlan, ABlockRowOf128IsATile) {
  const BlockLayout layout = layoutOf(maskFromText({"011", "000"}), {128, 128});
  const AttentionLists lists = build({layout});
  // The tile without a step costs least.
  EXPECT_EQ(lists.tiles,
            (std::vector<AttentionTile>{tileOf({0, 64, -1}, 0, 2), tileOf({128, 192, -1}, 2, 0)}));
  EXPECT_EQ(lists.steps,
            (std::vector<AttentionStep>{stepOf(128, 192, {3, 3, 0}), stepOf(256, 320, {3, 3, 0})}));
  EXPECT_EQ(lists.workers, (std::vector<int32_t>{0, 2}));
  const AttentionForm form = formOf(lists);
  EXPECT_FALSE(form.halves || form.elements || form.separate);
}

TEST(AttentionPlan, RowsOf64ShareTheirKeys) {
  // Rows 0 and 2 have two block columns in common; row 4 is left alone.
  const BlockLayout layout =
      layoutOf(maskFromText({"11001", "00110", "11000", "00110", "00001"}), {64, 64});
  const AttentionLists lists = build({layout});
  EXPECT_EQ(verifyAttentionLists({layout}, lists), "");
  const AttentionTile &first = lists.tiles.front();
  EXPECT_EQ(first.rows[0] + first.rows[1], 128);
  ASSERT_EQ(first.count, 2);
  EXPECT_EQ(lists.steps[first.first], stepOf(0, 64, {3, 3, 0}));
  EXPECT_EQ(lists.steps[first.first + 1].keys[0][0], 256);
  EXPECT_EQ(lists.steps[first.first + 1].keys[0][1], -1);
  EXPECT_EQ(lists.tiles.back().rows[1], -1);
  EXPECT_TRUE(formOf(lists).halves);
}

TEST(AttentionPlan, RowsWithOtherKeysHaveSeparateSteps) {
  // Each row takes one key that both have, and three of its own.
  const BlockLayout layout = layoutOf(maskFromText({"1111000", "0001111"}), {64, 64});
  const AttentionLists lists = build({layout});
  EXPECT_EQ(verifyAttentionLists({layout}, lists), "");
  EXPECT_EQ(lists.steps, (std::vector<AttentionStep>{{{{0, 64}, {192, 256}}, {3, 3, 0}, 1},
                                                     {{{128, 192}, {320, 384}}, {3, 3, 0}, 1}}));
  EXPECT_TRUE(formOf(lists).separate);
}

TEST(AttentionPlan, ARowWithFewerKeysTakesNothing) {
  const BlockLayout layout = layoutOf(maskFromText({"11100000", "00011111"}), {64, 64});
  const AttentionLists lists = build({layout});
  EXPECT_EQ(verifyAttentionLists({layout}, lists), "");
  ASSERT_EQ(lists.steps.size(), 3u);
  EXPECT_EQ(lists.steps.back(), (AttentionStep{{{448, -1}, {448, -1}}, {0, 1, 0}, 0}));
}

TEST(AttentionPlan, ThreeWarpgroupsShareDenseKeys) {
  const BlockLayout layout = layoutOf(maskFromText({"111", "111", "111"}), {128, 128});
  const AttentionLists lists = build({layout}, {1, 3});
  EXPECT_EQ(lists.groups, 3);
  EXPECT_EQ(lists.tiles, (std::vector<AttentionTile>{tileOf({0, 64, 128}, 0, 3),
                                                     tileOf({192, 256, 320}, 3, 3)}));
  EXPECT_EQ(lists.steps.front(), stepOf(0, 64, {3, 3, 3}));
  EXPECT_EQ(formOf(lists).groups, 3);
  // Two share where neighbouring rows have little in common.
  const BlockLayout other = layoutOf(maskFromText({"100", "010", "001"}), {128, 128});
  EXPECT_EQ(build({other}, {1, 3}).groups, 2);
}

TEST(AttentionPlan, TheDiagonalIsMarked) {
  const BlockLayout layout = layoutOf(maskFromText({"11", "11"}), {128, 128});
  const AttentionLists lists = build({layout, 1, 1, AttentionBand::causal()});
  // Row 128 to 255 takes keys 0 to 127 whole, and the two squares on the diagonal in part.
  ASSERT_EQ(lists.tiles.front().count, 2);
  EXPECT_EQ(lists.steps[lists.tiles.front().first + 1], stepOf(128, 192, {5, 7, 0}));
  EXPECT_TRUE(formOf(lists).elements);
}

TEST(AttentionPlan, ABandLeavesOutHalves) {
  // The steps of 64 x 64 elements whose first key is 128 before to 64 behind their first row are
  // taken: 2 + 3 + 4 + 3 of them. Those on the diagonal alone are whole.
  const BlockLayout layout = layoutOf(maskFromText({"1111", "1111", "1111", "1111"}), {64, 64});
  const AttentionProblem problem{layout, 1, 1, {-128, 64}};
  const AttentionLists lists = build(problem);
  EXPECT_EQ(verifyAttentionLists(problem, lists), "");
  int taken = 0;
  for (const AttentionTile &tile : lists.tiles)
    for (int group = 0; group < 2; ++group)
      for (int32_t at = tile.first; at < tile.first + tile.count; ++at) {
        const AttentionStep &step = lists.steps[at];
        bool cut = false;
        for (int half = 0; half < 2; ++half)
          if (step.halves[group] & (half == 0 ? AttentionStep::First : AttentionStep::Second)) {
            const int64_t distance = step.keys[group][half] - tile.rows[group];
            EXPECT_TRUE(distance >= -128 && distance <= 64) << distance;
            cut |= distance != 0 && distance != -64;
            ++taken;
          }
        EXPECT_EQ((step.halves[group] & AttentionStep::Elements) != 0, cut);
      }
  EXPECT_EQ(taken, 12);
}

TEST(AttentionPlan, OtherMasksMarkEveryHalf) {
  const BlockLayout layout = layoutOf(maskFromText({"10", "11"}), {128, 128});
  const AttentionProblem problem{layout, 1, 1, {}, /*masked=*/true};
  const AttentionLists lists = build(problem);
  EXPECT_EQ(verifyAttentionLists(problem, lists), "");
  for (const AttentionStep &step : lists.steps)
    EXPECT_EQ(step, stepOf(step.keys[0][0], step.keys[0][1], {7, 7, 0}));
}

TEST(AttentionPlan, LongTilesComeFirstThenGroupsOfHeads) {
  const BlockLayout layout =
      layoutOf(maskFromText({"10000000", "01000000", "00100000", "00010000", "00001000", "00000100",
                             "00000010", "11111111"}),
               {128, 128});
  const AttentionLists lists = build({layout, 1, 4}, {4, 2, 100, 250});
  ASSERT_EQ(lists.workers, (std::vector<int32_t>{0, 8, 16, 24, 32}));
  for (int64_t worker = 0; worker < 4; ++worker) {
    const auto own = std::span<const AttentionTile>(lists.tiles).subspan(worker * 8, 8);
    EXPECT_EQ(own[0].count, 8);
    for (int64_t i = 2; i < 8; ++i)
      EXPECT_LE(own[i - 1].head / 2, own[i].head / 2) << "tile " << i;
  }
}

TEST(AttentionPlan, SmallBlocksAreJoined) {
  // Four block rows are the 64 queries of a warpgroup: slices of keys 0, 32 and 48, and one of key
  // 80 in the next 64 rows. No warp takes the slices that fill the step.
  const BlockLayout layout = layoutOf(
      maskFromText({"100000", "101000", "000100", "000000", "000001", "000000"}), {16, 16});
  const AttentionLists lists = build({layout});
  EXPECT_EQ(verifyAttentionLists({layout}, lists), "");
  ASSERT_EQ(lists.tiles.size(), 1u);
  ASSERT_EQ(lists.steps.size(), 1u);
  ASSERT_EQ(lists.slices.size(), 1u);
  EXPECT_EQ(lists.tiles.front().rows[0] + lists.tiles.front().rows[1], 64);
  const int first = lists.tiles.front().rows[0] == 0 ? 0 : 1;
  const AttentionSlices &slices = lists.slices.front();
  // All four are in one shared step.
  EXPECT_EQ(lists.steps.front().separate, 0);
  EXPECT_TRUE(std::equal(slices.keys[0], std::end(slices.keys[0]), slices.keys[1]));
  EXPECT_EQ(std::vector<int32_t>(slices.keys[0], std::end(slices.keys[0])),
            (std::vector<int32_t>{0, 32, 48, 80, 0, 0, 0, 0}));
  EXPECT_EQ(slices.taken[first], 0x00040301u);
  EXPECT_EQ(slices.taken[1 - first], 0x00000008u);
  EXPECT_EQ(lists.steps.front().halves[0], AttentionStep::First);
  EXPECT_TRUE(formOf(lists).joined);
}

TEST(AttentionPlan, JoinedStepsMayBeSeparate) {
  // The rows of two tiles take eight slices each, none in common.
  std::vector<std::string> rows(4, "1111111100000000");
  rows.insert(rows.end(), 4, "0000000011111111");
  const BlockLayout layout = layoutOf(maskFromText(rows), {16, 16});
  const AttentionLists lists = build({layout});
  EXPECT_EQ(verifyAttentionLists({layout}, lists), "");
  ASSERT_EQ(lists.steps.size(), 1u);
  EXPECT_EQ(lists.steps.front().separate, 1);
  EXPECT_EQ(lists.slices.front().taken[0], 0xffffffffu);
  EXPECT_EQ(lists.slices.front().taken[1], 0xffffffffu);
}

TEST(AttentionPlan, LongTilesAreSplitWhereThereAreFew) {
  // One block row of 16 blocks, 15 of two: the long one determines the time of 16 workers.
  std::vector<std::string> rows(16, "1100000000000000");
  rows[5] = "1111111111111111";
  const BlockLayout layout = layoutOf(maskFromText(rows), {64, 64});
  const AttentionLists lists = build({layout}, {16});
  EXPECT_EQ(verifyAttentionLists({layout}, lists), "");
  EXPECT_TRUE(formOf(lists).split);
  for (const AttentionTile &tile : lists.tiles)
    if (tile.rows[0] == 320) {
      EXPECT_EQ(tile.rows[1], 320);
      EXPECT_EQ(tile.split, 1);
      EXPECT_EQ(tile.count, 4);
    }
  // One worker gains nothing, and many tiles are not looked at.
  EXPECT_FALSE(formOf(build({layout}, {1})).split);
  EXPECT_FALSE(formOf(build({layout, 1, 1000}, {16})).split);
}

TEST(AttentionPlan, CoversRandomLayouts) {
  for (const BlockLayout &random : randomLayouts())
    for (BlockShape block : {BlockShape{64, 64},
                             {128, 128},
                             {64, 128},
                             {192, 64},
                             {128, 192},
                             {16, 16},
                             {32, 32},
                             {48, 80},
                             {16, 128},
                             {64, 32}})
      for (const AttentionBand &band : {AttentionBand(), AttentionBand::causal(),
                                        AttentionBand{-70, 30}, AttentionBand{64, std::nullopt}}) {
        std::string error;
        const BlockLayout layout =
            BlockLayout::fromCsr(block, random.grid(),
                                 {random.rowOffsets().begin(), random.rowOffsets().end()},
                                 {random.colIndices().begin(), random.colIndices().end()}, error)
                .value();
        const int64_t heads = layout.grid().heads;
        const AttentionProblem problem{layout, 2, heads == 1 ? 3 : heads, band};
        for (int64_t groups : {2, 3})
          EXPECT_EQ(verifyAttentionLists(
                        problem, build(problem, {groups == 2 ? 40 : 5, groups, 1000, 2000})),
                    "");
      }
}

template <typename Row>
void expectEveryWordCounts(const AttentionProblem &problem, const AttentionLists &lists,
                           std::vector<Row> AttentionLists::*table, int64_t words) {
  for (size_t i = 0; i < (lists.*table).size(); ++i)
    for (int64_t word = 0; word < words; ++word) {
      AttentionLists other = lists;
      reinterpret_cast<int32_t *>(&(other.*table)[i])[word] ^= 1;
      EXPECT_NE(verifyAttentionLists(problem, other), "") << "row " << i << ", word " << word;
    }
}

TEST(AttentionPlan, FaultsOfSlicesAreFound) {
  const BlockLayout layout =
      layoutOf(maskFromText({"11001100110011001101", "10100000010000000001", "01100000000000000000",
                             "11111111111111111111"}),
               {32, 16});
  for (int64_t workers : {1, 8})
    for (const AttentionBand &band : {AttentionBand(), AttentionBand{std::nullopt, 200}}) {
      const AttentionProblem problem{layout, 1, 2, band};
      const AttentionLists lists = build(problem, {workers});
      ASSERT_EQ(verifyAttentionLists(problem, lists), "");
      EXPECT_EQ(formOf(lists).split, workers > 1);
      expectEveryWordCounts(problem, lists, &AttentionLists::tiles, AttentionTileTable::columns);
      expectEveryWordCounts(problem, lists, &AttentionLists::steps, AttentionStepTable::columns);
      expectEveryWordCounts(problem, lists, &AttentionLists::slices, AttentionSliceTable::used);
      AttentionLists fewer = lists;
      fewer.slices.clear();
      EXPECT_EQ(verifyAttentionLists(problem, fewer),
                "expects slices of " + std::to_string(lists.steps.size()) + " steps, but got 0");
      // A slice that no warp takes is loaded in vain, and its NaN could reach a result.
      AttentionLists more = lists;
      for (AttentionSlices &slices : more.slices)
        for (auto &keys : slices.keys)
          keys[7] = keys[7] == keys[0] ? keys[0] + 16 : keys[7];
      EXPECT_NE(verifyAttentionLists(problem, more), "");
    }
}

TEST(AttentionPlan, FaultsAreFound) {
  const BlockLayout layout = layoutOf(maskFromText({"110", "101", "011"}), {64, 64});
  for (bool causal : {false, true}) {
    const AttentionProblem problem{layout, 2, 2,
                                   causal ? AttentionBand::causal() : AttentionBand()};
    const AttentionLists lists = build(problem, {2});
    ASSERT_EQ(verifyAttentionLists(problem, lists), "");
    expectEveryWordCounts(problem, lists, &AttentionLists::tiles, AttentionTileTable::columns);
    expectEveryWordCounts(problem, lists, &AttentionLists::steps, AttentionStepTable::columns);
    AttentionLists fewer = lists;
    fewer.tiles.pop_back();
    EXPECT_NE(verifyAttentionLists(problem, fewer), "");
    fewer.workers.back() -= 1;
    EXPECT_EQ(verifyAttentionLists(problem, fewer),
              "expects tiles for all 12 groups of 64 queries, but got " +
                  std::to_string(lists.tiles.back().rows[1] < 0 ? 11 : 10));
  }
}

TEST(AttentionPlan, RefusesWhatItCannotCut) {
  std::string error;
  const BlockLayout small = layoutOf(maskFromText({"1"}), {8, 64});
  EXPECT_FALSE(buildAttentionLists({small}, {}, error));
  EXPECT_EQ(error, "expects blocks of multiples of 16x16, but got 8x64");
  const BlockLayout heads = layoutOf(DenseMask({2, 1, 1}), {64, 64});
  EXPECT_FALSE(buildAttentionLists({heads, 1, 3}, {}, error));
  EXPECT_EQ(error, "expects a layout of 1 or 3 heads, but got 2");
}

} // namespace
