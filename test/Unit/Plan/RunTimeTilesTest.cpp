// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/RunTimeTiles.h"
#include "PlanTargets.h"

#include "gtest/gtest.h"

using namespace blocksparse;

namespace {

/// Returns the tiles of a product of 4096 x 4096 at blocks of shape `block`.
RunTimeTiles makeTiles(BlockShape block, SampledFactors factors, WgmmaParams params = {}) {
  KernelProblem problem;
  problem.kind = ProblemKind::Sampled;
  problem.block = block;
  problem.rows = problem.cols = problem.depth = 4096;
  problem.transposeA = factors.transposeA;
  problem.transposeB = factors.transposeB;
  std::string reason;
  std::optional<RunTimeTiles> tiles =
      RunTimeTiles::get(problem, Schedule(KernelFamily::CUDAWgmma, params), test::hopper, reason);
  EXPECT_TRUE(tiles) << reason;
  return tiles.value_or(RunTimeTiles());
}

TEST(RunTimeTiles, BlocksThatShareSubtilesHaveBundlesOfARowTile) {
  const RunTimeTiles gathered = makeTiles({16, 16}, {false, true});
  EXPECT_EQ(gathered.bundleRows(), 8);
  EXPECT_EQ(gathered.bundles(), 32);
  EXPECT_EQ(gathered.columns(), 256);
  EXPECT_EQ(gathered.columnWords(), 8);
  EXPECT_EQ(gathered.tileColumns(), 16);
  EXPECT_EQ(gathered.firstMark(1), 8 * 8);
  EXPECT_EQ(gathered.markWords(), 2 * 8 * 8 + 8);
  EXPECT_EQ(gathered.mostClusterTiles(1600), 32 + 100);
  EXPECT_EQ(gathered.sweep, 12);

  // Rows of the form are columns of the result.
  const RunTimeTiles swapped = makeTiles({16, 32}, {false, false});
  EXPECT_EQ(swapped.block.rows, 32);
  EXPECT_EQ(swapped.blockRows, 128);
  EXPECT_EQ(swapped.blockCols, 256);
  EXPECT_EQ(swapped.threads(), 1024);

  // 64 neighbouring columns hold 4 blocks of each row.
  const RunTimeTiles chunks = makeTiles({16, 16}, {true, false});
  EXPECT_EQ(chunks.columns(), 64);
  EXPECT_EQ(chunks.blocksInColumn(), 8 * 4);
  EXPECT_EQ(chunks.tileColumns(), 4);
}

TEST(RunTimeTiles, LargerBlocksHaveBundlesOfABlockRow) {
  const RunTimeTiles halves = makeTiles({64, 64}, {});
  EXPECT_EQ(halves.bundles(), 64);
  EXPECT_EQ(halves.tileRows(), 64);
  EXPECT_EQ(halves.tileColumns(), 6);
  EXPECT_EQ(halves.sweep, 24);
  WgmmaParams pair;
  pair.cluster = 2;
  const RunTimeTiles tall = makeTiles({256, 128}, {}, pair);
  EXPECT_EQ(tall.rowTiles(), 2);
  EXPECT_EQ(tall.columnsOfBlock(), 2);
  EXPECT_EQ(tall.clusterColumns(), 8);
  EXPECT_EQ(tall.tilesTogether(), 4);
  EXPECT_EQ(tall.clusters() * 2, tall.workers);
  EXPECT_EQ(tall.mostClusterTiles(100), 16 + 25);
}

TEST(RunTimeTiles, PartsOfSharedMemoryDoNotOverlap) {
  const RunTimeTileMemory memory(makeTiles({16, 16}, {false, true}));
  EXPECT_EQ(memory.used, memory.sweep + 4 * 12);
  EXPECT_EQ(memory.before, memory.used + 4 * 8);
  EXPECT_EQ(memory.sums, memory.before + 4 * 8);
  EXPECT_EQ(memory.bytes, memory.sums + 4 * 4 * 8);
}

TEST(RunTimeTiles, SaysWhyTheDeviceMakesNone) {
  KernelProblem problem;
  problem.kind = ProblemKind::Sampled;
  problem.block = {16, 16};
  problem.rows = problem.depth = 4096;
  problem.cols = int64_t{16} << 17;
  problem.transposeB = true;
  WgmmaParams params;
  std::string reason;
  auto get = [&](KernelFamily family) {
    return RunTimeTiles::get(problem, Schedule(family, params), test::hopper, reason).has_value();
  };
  EXPECT_FALSE(get(KernelFamily::CUDAWgmma));
  EXPECT_EQ(reason, "expects at most 65536 block columns to gather from, but got 131072");
  params.gather = true;
  EXPECT_FALSE(get(KernelFamily::CUDAWgmma));
  EXPECT_EQ(reason, "expects gather = false for a pattern that is known when the program runs, but "
                    "got true");
  // There is nothing to transpose.
  EXPECT_FALSE(get(KernelFamily::CUDAWgmmaTransposed));
  EXPECT_EQ(reason, "expects a schedule with tiles, but got none");
}

TEST(RunTimeTiles, SmallProductsDoNotPay) {
  const double square = 4096.0 * 4096 * 4096 * .25, small = 512.0 * 512 * 512 * .25;
  for (int64_t block : {16, 32, 64, 128}) {
    EXPECT_TRUE(paysToTileAtRunTime({block, block}, square)) << block;
    EXPECT_FALSE(paysToTileAtRunTime({block, block}, small)) << block;
  }
}

} // namespace
