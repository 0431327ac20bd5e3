// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/TileOrder.h"

#include "gtest/gtest.h"

#include <vector>

using namespace blocksparse;

namespace {

/// Returns lengths that fall from `most` to 0, and one more for a tile itself.
std::vector<double> fallingCosts(int64_t groups, double most) {
  std::vector<double> costs;
  for (int64_t group = 0; group < groups; ++group)
    costs.push_back(most * (1 - static_cast<double>(group) / static_cast<double>(groups)) + 1);
  return costs;
}

TEST(TileOrder, WorkersTakeAsManyTilesAsOthers) {
  for (int64_t groups : {1, 5, 13, 64, 150})
    for (int64_t columnTiles : {1, 6, 16})
      for (int64_t workers : {4, 66, 132})
        for (int64_t together : {1, 2})
          for (int mirrors = 0; mirrors < 4; ++mirrors) {
            if (columnTiles % together != 0)
              continue;
            const TileOrder order{together, mirrors % 2 != 0, mirrors / 2 != 0};
            const TileGrid grid{groups, columnTiles, workers};
            std::vector<int64_t> tiles(workers);
            for (int64_t group = 0; group < groups; ++group)
              for (int64_t column = 0; column < columnTiles; ++column)
                ++tiles.at(getWorker(order, grid, group, column));
            const int64_t whole = groups * columnTiles / workers;
            int64_t longer = 0;
            for (int64_t number : tiles) {
              EXPECT_TRUE(number == whole || number == whole + 1);
              longer += number - whole;
            }
            EXPECT_EQ(longer, groups * columnTiles % workers);
          }
}

TEST(TileOrder, MirrorsLongAndShortRowGroups) {
  const TileGrid grid{4, 4, 4};
  // Each turn of two column tiles is two rounds of four tiles.
  const TileOrder turns{2, /*mirrorsTurns=*/true};
  EXPECT_EQ(getWorker(turns, grid, 0, 0), 0);
  EXPECT_EQ(getWorker(turns, grid, 0, 1), 1);
  EXPECT_EQ(getWorker(turns, grid, 3, 1), 3);
  EXPECT_EQ(getWorker(turns, grid, 3, 2), 0);
  EXPECT_EQ(getWorker(turns, grid, 0, 3), 3);
  const TileOrder rounds{2, false, /*mirrorsRounds=*/true};
  EXPECT_EQ(getWorker(rounds, grid, 0, 0), 0);
  EXPECT_EQ(getWorker(rounds, grid, 3, 1), 0);
  EXPECT_EQ(getWorker(rounds, grid, 2, 0), 3);
}

TEST(TileOrder, TurnsOfFewColumnTilesAreBalanced) {
  // Products of 8192 at blocks of 64 and of 128, the latter in clusters. The longest rows are twice
  // as long as the mean.
  struct Case {
    TileGrid grid;
    int64_t least, most;
    double mean;
  };
  const Case cases[] = {{{64, 32, 132}, 4, 5, 32}, {{64, 16, 66}, 2, 2, 16}};
  for (const Case &each : cases) {
    const TileOrder order = chooseTileOrder(each.grid, each.least, each.most, each.mean);
    EXPECT_EQ(order.together, each.least);
    const std::vector<double> costs = fallingCosts(each.grid.groups, 2 * each.mean);
    EXPECT_LT(getImbalance(order, each.grid, costs), 1.08);
    const TileOrder inTurn{each.least};
    EXPECT_GT(getImbalance(inTurn, each.grid, costs), 1.1);
  }
}

TEST(TileOrder, TurnsDivideTheColumnTiles) {
  EXPECT_EQ(chooseTileOrder({32, 7, 132}, 4, 5, 8).together, 1);
  EXPECT_EQ(chooseTileOrder({32, 1, 132}, 4, 1, 8).together, 1);
  EXPECT_EQ(chooseTileOrder({1024, 4096, 132}, 2, 16, 8).together, 2);
  EXPECT_EQ(chooseTileOrder({0, 4, 132}, 2, 4, 8).together, 2);
}

} // namespace
