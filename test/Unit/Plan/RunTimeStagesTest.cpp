// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/RunTimeStages.h"
#include "PlanTargets.h"

#include "gtest/gtest.h"

using namespace blocksparse;

namespace {

/// Returns stages of 4 panels and 20 block rows for a product of 4096.
RunTimeStages makeStream() {
  RunTimeStages stages;
  stages.block = {16, 16};
  stages.tiles = stages.denseBlocks = 256;
  stages.panels = 4;
  stages.places = 36;
  stages.groupRows = 20;
  stages.space = {32, 1, 1, 1};
  stages.workers = 132;
  return stages;
}

RunTimeStages makeWgmma(BlockShape block) {
  RunTimeStages stages;
  stages.block = block;
  stages.tiles = 4096 / block.rows;
  stages.denseBlocks = 4096 / block.cols;
  stages.space = {16, 2, 1, 1};
  stages.workers = 132;
  return stages;
}

TEST(RunTimeStages, LengthsOfOneClassDifferByLessThanAnEighth) {
  for (int32_t length = 0; length < 5000; ++length) {
    EXPECT_LE(lengthClass(length), lengthClass(length + 1)) << length;
    if (lengthClass(length) == lengthClass(length + 1))
      EXPECT_GE(length, 16);
  }
  EXPECT_EQ(lengthClass(16), lengthClass(17));
  EXPECT_LT(lengthClass(16), lengthClass(18));
  EXPECT_EQ(lengthClass(64), lengthClass(71));
  EXPECT_LT(lengthClass(64), lengthClass(72));
}

TEST(RunTimeStages, CountsGroupsTilesAndRecords) {
  const RunTimeStages stream = makeStream();
  EXPECT_EQ(stream.check(), "");
  EXPECT_EQ(stream.bundles(), 13);
  EXPECT_EQ(stream.rowPlaces(), 260);
  EXPECT_EQ(stream.numTiles(), 13 * 32);
  EXPECT_EQ(stream.mostRecords(1000), 1000 + 13);

  // Two block rows of 64 share a tile; a block row of 256 has two.
  const RunTimeStages pairs = makeWgmma({64, 64}), single = makeWgmma({128, 64}),
                      tall = makeWgmma({256, 128});
  EXPECT_EQ(pairs.check() + single.check() + tall.check(), "");
  EXPECT_EQ(pairs.groups(), 32);
  EXPECT_EQ(pairs.numTiles(), 32 * 32);
  EXPECT_EQ(pairs.mostRecords(100), 100 + 32);
  EXPECT_EQ(single.groups(), 32);
  EXPECT_EQ(single.bundles(), 32);
  EXPECT_EQ(tall.bundles(), 16);
  EXPECT_EQ(tall.groups(), 32);
  EXPECT_EQ(tall.mostRecords(100), 100 * 2 * 2 + 32);

  // Values that are transposed have block rows of their columns.
  RunTimeStages transposed = makeWgmma({64, 128});
  transposed.transposeValues = true;
  EXPECT_EQ(transposed.opRows(), 128);
  EXPECT_EQ(transposed.bundleRows(), 1);
  EXPECT_EQ(transposed.recordsOfBlock(), 1);
}

TEST(RunTimeStages, PartsOfSharedMemoryDoNotOverlap) {
  const RunTimeStages stages = makeStream();
  const RunTimeStageMemory memory(stages);
  const int64_t panels = stages.denseBlocks, all = 20 * 257;
  const std::pair<int64_t, int64_t> parts[] = {
      {memory.left, 20},         {memory.tile, 20},      {memory.first, 20},
      {memory.count, 20},        {memory.lengths, 0},    {memory.found, all},
      {memory.taken, all},       {memory.used, panels},  {memory.before, panels + 1},
      {memory.next, panels + 1}, {memory.jumps, panels}, {memory.starts, panels / 8},
      {memory.cuts, panels + 1}, {memory.sums, 32},      {memory.numUsed, 1},
      {memory.numRecords, 1},    {memory.numStarts, 1},  {memory.numBefore, 1},
      {memory.numBlocks, 1}};
  int64_t end = 0;
  for (const auto &[offset, words] : parts) {
    EXPECT_EQ(offset, end);
    end = offset + words * 4;
  }
  EXPECT_EQ(memory.bytes, end);
  EXPECT_EQ(stages.sharedBytes(), end);
  // The words of the classes are used before those from `found` on, and end before the others.
  EXPECT_EQ(memory.classes, memory.found);
  EXPECT_LE(memory.classes + stages.threads() * stages.classWordsOfThread() * 4, memory.sums);

  // Few panels need less room than the classes; columns have a word each.
  RunTimeStages few = makeStream();
  few.transposeValues = true;
  few.denseBlocks = 2;
  const RunTimeStageMemory small(few);
  EXPECT_EQ(small.found - small.lengths, few.tiles * 4);
  EXPECT_EQ(small.classes + few.threads() * few.classWordsOfThread() * 4, small.sums);
}

TEST(RunTimeStages, EveryRowHasAPlaceAmongTheClasses) {
  RunTimeStages stages = makeStream();
  EXPECT_EQ(stages.threads(), 1024);
  EXPECT_EQ(stages.rowsOfWarp(), 32);
  // Lengths of 0 and of 1 to 256, of which each power of two begins eight classes.
  EXPECT_EQ(stages.lengthClasses(), 1 + 8 * 8 + 1);
  EXPECT_EQ(stages.classWordsOfThread(), 3);
  EXPECT_GE(stages.threads() * stages.classWordsOfThread(),
            stages.lengthClasses() * stages.warps());
  stages.tiles = 1025;
  EXPECT_EQ(stages.rowsOfWarp(), 64);
  RunTimeStages wgmma = makeWgmma({64, 64});
  EXPECT_EQ(wgmma.threads(), 256);
  EXPECT_EQ(wgmma.rowsOfWarp(), 32);
  EXPECT_EQ(wgmma.classWordsOfThread() % 2, 1);
  wgmma.transposeValues = true;
  EXPECT_EQ(wgmma.threads(), 1024);
}

TEST(RunTimeStages, SizesThatDoNotFitAreFaults) {
  auto faultOf = [](auto change) {
    RunTimeStages stages = makeStream();
    change(stages);
    return stages.check();
  };
  EXPECT_EQ(faultOf([](RunTimeStages &s) { s.denseBlocks = 0; }),
            "expects at least 1 block row of the dense factor, but got 0");
  EXPECT_EQ(faultOf([](RunTimeStages &s) { s.space.batches = 0; }),
            "expects a space of 3 positive sizes, but got 32, 0 and 1");
  EXPECT_EQ(faultOf([](RunTimeStages &s) { s.workers = 0; }),
            "expects at least 1 worker, but got 0");
  EXPECT_EQ(faultOf([](RunTimeStages &s) { s.order.together = 3; }),
            "expects column tiles side by side that divide 32, but got 3");
  EXPECT_EQ(faultOf([](RunTimeStages &s) { s.groupRows = 33; }),
            "expects row groups of 1 to 32 block rows, an even number with by_panel, but got 33");
  EXPECT_NE(faultOf([](RunTimeStages &s) { s.places = 19; }), "");
  EXPECT_NE(faultOf([](RunTimeStages &s) { s.panels = 17; }), "");
  EXPECT_EQ(faultOf([](RunTimeStages &s) { s.denseBlocks = 4096; }),
            "expects at most 65535 places for the blocks of a row group, but got 4096 in each of "
            "20 block rows");
  EXPECT_NE(faultOf([](RunTimeStages &s) { s.space.batches = int64_t{1} << 40; }), "");
  EXPECT_EQ(makeWgmma({192, 64}).check(),
            "expects blocks of 64 rows or a multiple of 128, and of a multiple of 64 columns, but "
            "got 192x64");
}

TEST(RunTimeStages, FollowsTheScheduleOrSaysWhyNot) {
  KernelProblem problem;
  problem.kind = ProblemKind::Reduction;
  problem.block = {16, 16};
  problem.rows = problem.cols = problem.depth = 4096;
  const GPUFacts &gpu = test::hopper;
  auto get = [&](const StreamParams &params, std::string &reason) {
    return RunTimeStages::get(problem, Schedule(KernelFamily::CUDAStream, params), {32}, gpu,
                              reason);
  };
  std::string reason;
  StreamParams params{{320, 128}, 6, 1, 4, 20, 0};
  const std::optional<RunTimeStages> stages = get(params, reason);
  ASSERT_TRUE(stages) << reason;
  EXPECT_EQ(stages->groupRows, 20);
  EXPECT_EQ(stages->panels, 6);
  EXPECT_EQ(stages->workers, gpu.multiprocessors);
  params.block = 32;
  EXPECT_FALSE(get(params, reason));
  EXPECT_EQ(reason, "expects blocks that are multiplied as they are stored, but got blocks that "
                    "are planned as 32");
  params.block = 0;
  params.panelsPerCopy = 4;
  EXPECT_FALSE(get(params, reason));
  EXPECT_EQ(reason, "expects panels_per_copy = 1, but got 4");
  params.panelsPerCopy = 1;
  problem.depth = 32768;
  EXPECT_FALSE(get(params, reason));
  EXPECT_NE(reason.find("bytes of shared memory of the planner"), std::string::npos) << reason;
}

TEST(RunTimeStages, TurnsOfColumnTilesFitTheCache) {
  KernelProblem problem;
  problem.kind = ProblemKind::Reduction;
  problem.block = {128, 128};
  auto together = [&](int64_t size, const WgmmaParams &params) {
    problem.rows = problem.cols = problem.depth = size;
    std::string reason;
    return RunTimeStages::get(problem, Schedule(KernelFamily::CUDAWgmma, params),
                              {size / (params.tile.cols * params.cluster)}, test::hopper, reason)
        .value()
        .order.together;
  };
  const WgmmaParams cluster{{128, 256}, 4, /*gather=*/false, 2}, narrow{{128, 64}, 4};
  // All of the dense operand fits, or no more than two fifths of the cache are taken.
  EXPECT_EQ(together(4096, cluster), 8);
  EXPECT_EQ(together(8192, cluster), 2);
  EXPECT_LE(together(8192, narrow), 16);
  // A single column tile is larger than the cache.
  EXPECT_EQ(together(131072, cluster), 2);
}

TEST(RunTimeStages, SmallProductsDoNotPay) {
  const double square = 4096.0 * 4096 * 4096 * .25, small = 2048.0 * 2048 * 2048 * .25;
  for (int64_t block : {16, 32, 64, 128, 256}) {
    EXPECT_TRUE(paysToPlanAtRunTime({block, block}, square)) << block;
    EXPECT_FALSE(paysToPlanAtRunTime({block, block}, small)) << block;
  }
}

} // namespace
