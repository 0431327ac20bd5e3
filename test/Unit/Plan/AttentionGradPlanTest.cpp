// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/AttentionGradPlan.h"
#include "PlanLayouts.h"

using namespace blocksparse;
using namespace blocksparse::test;

namespace {

constexpr AttentionGradSide keys = AttentionGradSide::Keys, queries = AttentionGradSide::Queries;

AttentionGradLists build(const AttentionProblem &problem, AttentionGradSide side,
                         const AttentionOptions &options = {}) {
  std::string error;
  std::optional<AttentionGradLists> lists = buildAttentionGradLists(problem, side, options, error);
  EXPECT_EQ(error, "");
  return lists.value_or(AttentionGradLists());
}

AttentionGradTile tileOf(int32_t row, int32_t first, int32_t count) {
  AttentionGradTile tile;
  tile.row = row;
  tile.first = first;
  tile.count = count;
  return tile;
}

TEST(AttentionGradPlan, TilesOfQueriesWalkTheirKeys) {
  const BlockLayout layout = layoutOf(maskFromText({"011", "000"}), {64, 128});
  const AttentionGradLists lists = build({layout}, queries);
  EXPECT_EQ(lists.tiles, (std::vector<AttentionGradTile>{tileOf(0, 0, 4), tileOf(64, 4, 0)}));
  EXPECT_EQ(lists.steps, (std::vector<AttentionGradStep>{{128, 0}, {192, 0}, {256, 0}, {320, 0}}));
  EXPECT_EQ(lists.workers, (std::vector<int32_t>{0, 2}));
}

TEST(AttentionGradPlan, TilesOfKeysWalkTheirQueries) {
  const BlockLayout layout = layoutOf(maskFromText({"01", "11"}), {128, 64});
  const AttentionGradLists lists = build({layout}, keys);
  // The longest tile comes first.
  EXPECT_EQ(lists.tiles, (std::vector<AttentionGradTile>{tileOf(64, 2, 4), tileOf(0, 0, 2)}));
  EXPECT_EQ(lists.steps, (std::vector<AttentionGradStep>{
                             {128, 0}, {192, 0}, {0, 0}, {64, 0}, {128, 0}, {192, 0}}));
}

TEST(AttentionGradPlan, CausalStepsOnTheDiagonalAreMasked) {
  const BlockLayout layout = layoutOf(maskFromText({"1"}), {128, 128});
  const AttentionProblem problem{layout, 1, 1, AttentionBand::causal()};
  EXPECT_EQ(build(problem, queries).steps,
            (std::vector<AttentionGradStep>{{0, 1}, {0, 0}, {64, 1}}));
  EXPECT_EQ(build(problem, keys).steps, (std::vector<AttentionGradStep>{{0, 1}, {64, 0}, {64, 1}}));
}

TEST(AttentionGradPlan, TilesOfSharedKeysWalkTheQueriesOfAllHeads) {
  const BlockLayout layout = layoutOf(maskFromText({"10", "11"}), {64, 64});
  AttentionProblem problem{layout, 1, 4, AttentionBand::causal()};
  problem.sharing = 2;
  AttentionOptions options;
  options.workers = 3;
  const AttentionGradLists lists = build(problem, keys, options);
  EXPECT_EQ(lists.tiles.size(), 4u);
  // The second head begins at query 128.
  EXPECT_EQ(lists.steps, (std::vector<AttentionGradStep>{
                             {0, 1}, {64, 0}, {128, 1}, {192, 0}, {64, 1}, {192, 1}}));
  EXPECT_EQ(verifyAttentionGradLists(problem, keys, lists), "");
  // Queries have tiles of all heads, and their keys are numbered as they are.
  const AttentionGradLists others = build(problem, queries, options);
  EXPECT_EQ(others.tiles.size(), 8u);
  EXPECT_EQ(others.steps, (std::vector<AttentionGradStep>{{0, 1}, {0, 0}, {64, 1}}));
  EXPECT_EQ(verifyAttentionGradLists(problem, queries, others), "");

  AttentionGradLists wrong = lists;
  wrong.steps[2].first = 0;
  EXPECT_EQ(verifyAttentionGradLists(problem, keys, wrong),
            "expects a step of the queries from 128 with masked = 1, but got 0 with 1 in tile 0");
  problem.sharing = 3;
  std::string error;
  EXPECT_FALSE(buildAttentionGradLists(problem, keys, options, error));
  EXPECT_EQ(error, "expects heads of one pattern in groups that share keys, but got groups of 3 of "
                   "4 heads");
}

TEST(AttentionGradPlan, WindowsCutStepsOnBothSides) {
  const BlockLayout layout = layoutOf(maskFromText({"111", "111", "111"}), {64, 64});
  // Query r takes the keys from r - 32 to r + 63.
  const AttentionProblem problem{layout, 1, 1, {-32, 63}};
  EXPECT_EQ(build(problem, queries).steps,
            (std::vector<AttentionGradStep>{
                {0, 1}, {64, 1}, {0, 1}, {64, 1}, {128, 1}, {64, 1}, {128, 1}}));
  EXPECT_EQ(build(problem, keys).steps,
            (std::vector<AttentionGradStep>{
                {0, 1}, {64, 1}, {0, 1}, {64, 1}, {128, 1}, {64, 1}, {128, 1}}));
}

TEST(AttentionGradPlan, HeadsAndBatchesShareSteps) {
  const BlockLayout layout = layoutOf(maskFromText({"11", "01"}), {64, 64});
  const AttentionProblem problem{layout, 2, 3};
  AttentionOptions options;
  options.workers = 5;
  for (const AttentionGradSide side : {keys, queries}) {
    const AttentionGradLists lists = build(problem, side, options);
    EXPECT_EQ(lists.tiles.size(), 12u);
    EXPECT_EQ(lists.steps.size(), 3u);
    EXPECT_EQ(lists.workers.size(), 6u);
    EXPECT_EQ(verifyAttentionGradLists(problem, side, lists), "");
  }
}

TEST(AttentionGradPlan, ListsOfRandomLayoutsAreRight) {
  for (const int64_t block : {64, 128, 192})
    for (const bool causal : {false, true}) {
      const BlockLayout layout = layoutOf(randomMask({2, 9, 7}, 11), {block, 64});
      const AttentionProblem problem{layout, 2, 2,
                                     causal ? AttentionBand::causal() : AttentionBand()};
      AttentionOptions options;
      options.workers = 7;
      for (const AttentionGradSide side : {keys, queries})
        EXPECT_EQ(verifyAttentionGradLists(problem, side, build(problem, side, options)), "");
    }
}

TEST(AttentionGradPlan, FaultsAreFound) {
  const BlockLayout layout = layoutOf(maskFromText({"11", "01"}), {64, 64});
  const AttentionProblem problem{layout, 1, 1, AttentionBand::causal()};
  const AttentionGradLists right = build(problem, queries);
  auto faultOf = [&](auto change) {
    AttentionGradLists lists = right;
    change(lists);
    return verifyAttentionGradLists(problem, queries, lists);
  };
  EXPECT_EQ(faultOf([](auto &) {}), "");
  EXPECT_EQ(faultOf([](auto &lists) { lists.tiles[0].batch = 1; }),
            "expects a batch below 1, but got 1 in tile 0");
  EXPECT_EQ(faultOf([](auto &lists) { lists.tiles[1].head = -1; }),
            "expects a head below 1, but got -1 in tile 1");
  EXPECT_EQ(faultOf([](auto &lists) { lists.tiles[1].count = 3; }),
            "expects steps below 2, but got 3 from " + std::to_string(right.tiles[1].first) +
                " in tile 1");
  EXPECT_EQ(faultOf([](auto &lists) { lists.tiles[1].row = 128; }),
            "expects queries from a multiple of 64 below 128, but got 128 in tile 1");
  EXPECT_EQ(faultOf([](auto &lists) { lists.tiles[1] = lists.tiles[0]; }),
            "expects every 64 queries once, but got those from " +
                std::to_string(right.tiles[0].row) + " again in tile 1");
  EXPECT_EQ(faultOf([](auto &lists) { lists.tiles[0].count = 0; }),
            "expects 1 steps of keys, but got 0 in tile 0");
  EXPECT_EQ(faultOf([](auto &lists) { lists.steps[0].masked = 0; }),
            "expects a step of the keys from 0 with masked = 1, but got 0 with 0 in tile 0");
  EXPECT_EQ(faultOf([](auto &lists) {
              lists.tiles.pop_back();
              lists.workers.back() = 1;
            }),
            "expects tiles for all 2 groups of 64 queries, but got 1");
  EXPECT_EQ(faultOf([](auto &lists) { lists.workers.back() = 1; }),
            "expects workers for all 2 tiles, but got 1");
}

TEST(AttentionGradPlan, OtherBlocksAreRefused) {
  const BlockLayout layout = layoutOf(maskFromText({"1"}), {32, 64});
  std::string error;
  EXPECT_FALSE(buildAttentionGradLists({layout}, keys, {}, error));
  EXPECT_EQ(error, "expects blocks of multiples of 64x64, but got 32x64");
}

} // namespace
