// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/AttentionOrderPlan.h"
#include "PlanLayouts.h"

#include <map>

using namespace blocksparse;
using namespace blocksparse::test;

namespace {

AttentionOrderLists build(const AttentionProblem &problem, int64_t workers) {
  std::string error;
  AttentionOptions options;
  options.workers = workers;
  std::optional<AttentionOrderLists> lists = buildAttentionOrderLists(problem, options, error);
  EXPECT_EQ(error, "");
  return lists.value_or(AttentionOrderLists());
}

AttentionOrderStep stepOf(int32_t query, int32_t masked, int32_t rank) {
  AttentionOrderStep step;
  step.query = query;
  step.masked = masked;
  step.rank = rank;
  return step;
}

TEST(AttentionOrderPlan, TilesStartAtTheDiagonalAndWaitInTurn) {
  const BlockLayout layout = layoutOf(maskFromText({"11", "11"}), {64, 128});
  const AttentionOrderLists lists = build({layout}, 2);
  ASSERT_EQ(lists.tiles.size(), 2u);
  EXPECT_EQ(lists.tiles[1].keys[0], 128);
  EXPECT_EQ(lists.tiles[1].keys[1], 192);
  EXPECT_EQ(lists.workers, (std::vector<int32_t>{0, 1, 2}));
  // The second tile, whose keys lie beyond all queries, would begin with the first queries, too.
  EXPECT_EQ(lists.steps, (std::vector<AttentionOrderStep>{stepOf(0, 0, 0), stepOf(64, 0, 1),
                                                          stepOf(64, 0, 0), stepOf(0, 0, 1)}));
}

TEST(AttentionOrderPlan, CausalStepsOnTheDiagonalAreMasked) {
  const BlockLayout layout = layoutOf(maskFromText({"1"}), {128, 128});
  const AttentionProblem problem{layout, 1, 1, AttentionBand::causal()};
  EXPECT_EQ(build(problem, 1).steps,
            (std::vector<AttentionOrderStep>{stepOf(0, 1, 0), stepOf(64, 1, 0)}));
}

TEST(AttentionOrderPlan, ListsOfRandomLayoutsEnd) {
  for (const int64_t workers : {1, 3, 7})
    for (const int64_t patterns : {1, 3}) {
      const BlockLayout layout = layoutOf(randomMask({patterns, 9, 7}, 11), {64, 128});
      const AttentionProblem problem{layout, 2, 3};
      const AttentionOrderLists lists = build(problem, workers);
      EXPECT_EQ(lists.tiles.size(), 42u);
      EXPECT_EQ(verifyAttentionOrderLists(problem, lists), "");
    }
}

TEST(AttentionOrderPlan, NobodyWaitsLongInTheSimulation) {
  // Sixteen tiles of sixteen queries at once: each step of the simulation takes some queries that
  // nobody else takes then.
  const BlockLayout layout =
      layoutOf(maskFromText(std::vector<std::string>(16, std::string(16, '1'))), {64, 128});
  const AttentionProblem problem{layout};
  const AttentionOrderLists lists = build(problem, 16);
  std::map<int32_t, int> firsts;
  for (const AttentionOrderTile &tile : lists.tiles)
    ++firsts[lists.steps[tile.first].query];
  // Queries from the diagonal on: keys beyond the last query begin at the first queries that are
  // free.
  EXPECT_GE(firsts.size(), 12u);
}

TEST(AttentionOrderPlan, VerifierFindsEveryFault) {
  const BlockLayout layout = layoutOf(maskFromText({"11", "11", "01"}), {64, 128});
  const AttentionProblem problem{layout, 1, 2};
  const AttentionOrderLists right = build(problem, 3);
  ASSERT_EQ(verifyAttentionOrderLists(problem, right), "");
  auto faultOf = [&](auto change) {
    AttentionOrderLists lists = right;
    change(lists);
    return verifyAttentionOrderLists(problem, lists);
  };
  EXPECT_EQ(faultOf([](AttentionOrderLists &lists) { lists.tiles[0].keys[0] = 64; }),
            "expects keys from a multiple of 128 below 256, but got 64 in tile 0");
  EXPECT_EQ(faultOf([](AttentionOrderLists &lists) { lists.tiles[0].keys[1] = 0; }),
            "expects keys from 192 for the second warpgroup, but got 0 in tile 0");
  EXPECT_EQ(faultOf([](AttentionOrderLists &lists) { lists.tiles[0].head = 2; }),
            "expects a head below 2, but got 2 in tile 0");
  EXPECT_EQ(faultOf([](AttentionOrderLists &lists) { lists.tiles[1] = lists.tiles[0]; }),
            "expects every 128 keys once, but got those from 128 again in tile 1");
  EXPECT_EQ(faultOf([](AttentionOrderLists &lists) { lists.steps[0].masked = 1; }),
            "expects masked = 0 for the queries from 128, but got 1 in tile 0");
  EXPECT_EQ(faultOf([](AttentionOrderLists &lists) { lists.steps[0].query = 64; }),
            "expects a step of the queries from 128, but got none in tile 0");
  EXPECT_NE(faultOf([](AttentionOrderLists &lists) {
              lists.steps[0].rank = 5;
            }).find("expects ranks that let every worker go on, but got rank 5"),
            std::string::npos);
  EXPECT_EQ(faultOf([](AttentionOrderLists &lists) { lists.workers.back() = 1; }).substr(0, 7),
            "expects");
}

TEST(AttentionOrderPlan, SmallBlocksAreRefused) {
  const BlockLayout layout = layoutOf(maskFromText({"1"}), {64, 64});
  std::string error;
  EXPECT_FALSE(buildAttentionOrderLists({layout}, {}, error));
  EXPECT_EQ(error, "expects blocks with a multiple of 128 keys, but got 64");
}

TEST(AttentionOrderPlan, IsPreferredWhereQueriesTakeAboutAsManyKeys) {
  auto prefers = [](const BlockLayout &layout, int64_t heads, const char *target) {
    std::string error;
    const std::optional<TargetInfo> info = TargetInfo::parse(target, error);
    return info && prefersOrderedGradient({layout, 1, heads}, info->gpuFacts());
  };
  constexpr int64_t side = 32;
  const char *measured = "cuda:sm_90a,device=h200";
  auto build = [](auto stores) {
    std::vector<std::string> rows;
    for (int64_t row = 0; row < side; ++row) {
      rows.emplace_back();
      for (int64_t col = 0; col < side; ++col)
        rows.back() += stores(row, col) ? '1' : '0';
    }
    return layoutOf(maskFromText(rows), {128, 128});
  };
  const BlockLayout even = build([](int64_t row, int64_t col) { return (row + col) % 4 == 0; });
  const BlockLayout causal = build([](int64_t row, int64_t col) { return col <= row; });
  const BlockLayout hub = build([](int64_t row, int64_t col) { return row == 0 || col < 2; });
  EXPECT_TRUE(prefers(even, 8, measured));
  EXPECT_TRUE(prefers(causal, 8, measured));
  EXPECT_FALSE(prefers(even, 2, measured)); // fewer tiles than SMs
  EXPECT_FALSE(prefers(even, 8, "cuda:sm_90a"));
  EXPECT_FALSE(prefers(hub, 8, measured));
  EXPECT_FALSE(prefers(even, 8192, measured)); // too many steps
}

} // namespace
