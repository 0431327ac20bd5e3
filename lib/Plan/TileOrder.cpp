// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/TileOrder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace blocksparse;

static int64_t divideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t TileGrid::groupsOfBlock() const {
  return divideUp(groups, std::max<int64_t>(1, divideUp(groups, workers)));
}

int64_t blocksparse::getWorker(const TileOrder &order, const TileGrid &grid, int64_t group,
                               int64_t column) {
  const int64_t most = grid.groupsOfBlock();
  int64_t inBlock = group % most;
  const int64_t first = group - inBlock, size = std::min(most, grid.groups - first);
  const int64_t turn = column / order.together, side = column % order.together;
  if (order.mirrorsTurns && turn % 2 != 0)
    inBlock = size - 1 - inBlock;
  const int64_t position =
      first * grid.columnTiles + (turn * size + inBlock) * order.together + side;
  const int64_t round = position / grid.workers, worker = position % grid.workers;
  return order.mirrorsRounds && round % 2 != 0 ? grid.workers - 1 - worker : worker;
}

double blocksparse::getImbalance(const TileOrder &order, const TileGrid &grid,
                                 std::span<const double> costs) {
  std::vector<double> busy(grid.workers);
  double total = 0;
  for (int64_t group = 0; group < grid.groups; ++group)
    for (int64_t column = 0; column < grid.columnTiles; ++column) {
      busy[getWorker(order, grid, group, column)] += costs[group];
      total += costs[group];
    }
  return *std::ranges::max_element(busy) * static_cast<double>(grid.workers) / total;
}

/// Returns the cost of tiles whose lengths fall linearly from `1 + spread` to `1 - spread` times
/// their mean. A tile costs as much as an entry beside those that it has.
static std::vector<double> costsOfSpread(int64_t groups, double mean, double spread) {
  std::vector<double> costs;
  for (int64_t group = 0; group < groups; ++group) {
    const double place = (static_cast<double>(group) + .5) / static_cast<double>(groups);
    costs.push_back(mean * (1 + spread * (1 - 2 * place)) + 1);
  }
  return costs;
}

TileOrder blocksparse::chooseTileOrder(const TileGrid &grid, int64_t least, int64_t most,
                                       double meanLength) {
  // Two standard deviations of the length of a random row, of which a quarter is stored.
  const double random = std::min(1.0, 2 * std::sqrt(.75 / std::max(meanLength, 1.0)));
  const std::vector<double> kinds[] = {costsOfSpread(grid.groups, meanLength, random),
                                       costsOfSpread(grid.groups, meanLength, 1)};
  most = std::clamp<int64_t>(std::max(least, most), 1, grid.columnTiles);
  int64_t fewest = most;
  for (int64_t number = most; number >= std::max<int64_t>(least, 1); --number)
    if (grid.columnTiles % number == 0)
      fewest = number;
  while (grid.columnTiles % fewest != 0)
    --fewest;
  // The workers of many tiles differ little in any order.
  constexpr int64_t mostTiles = int64_t{1} << 14;
  TileOrder best{fewest, /*mirrorsTurns=*/true};
  if (grid.groups * grid.columnTiles > mostTiles)
    return best;
  double leastSum = std::numeric_limits<double>::max();
  for (int64_t together = fewest; together <= std::max(most, fewest); ++together) {
    if (grid.columnTiles % together != 0)
      continue;
    for (bool turns : {false, true})
      for (bool rounds : {false, true}) {
        const TileOrder order{together, turns, rounds};
        double sum = 0;
        for (const std::vector<double> &costs : kinds)
          sum += getImbalance(order, grid, costs);
        constexpr double worthMoreColumns = .01;
        const double margin = together > best.together ? worthMoreColumns : 0;
        if (sum < leastSum - margin) {
          best = order;
          leastSum = sum;
        }
      }
  }
  return best;
}
