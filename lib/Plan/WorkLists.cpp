// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ListScheduler.h"
#include "blocksparse/Plan/Stages.h"

#include <algorithm>

using namespace blocksparse;

namespace {

int64_t divideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Holds the row groups of one LUT head in the order in which tiles take them.
struct GroupOrder {
  std::vector<int32_t> groups;
  bool uneven = false;
};

/// Orders the row groups of a LUT head. Groups of similar cost keep their order, so that neighbours
/// still share panels; groups of very different cost are sorted, the most expensive first.
GroupOrder orderGroups(const StagedRows &staged, int64_t lutHead) {
  GroupOrder order;
  int64_t total = 0, most = 0;
  for (int64_t group = 0; group < staged.groups(); ++group) {
    if (staged.heads[group] != lutHead)
      continue;
    order.groups.push_back(static_cast<int32_t>(group));
    total += staged.cost[group];
    most = std::max(most, staged.cost[group]);
  }
  order.uneven = most * static_cast<int64_t>(order.groups.size()) > total + total / 4;
  if (order.uneven)
    std::stable_sort(order.groups.begin(), order.groups.end(),
                     [&](int32_t a, int32_t b) { return staged.cost[a] > staged.cost[b]; });
  return order;
}

/// Number of tiles for each worker that end the order, longest first across column tiles and heads,
/// if row groups are uneven: enough to even out what the tiles before left unequal.
constexpr int64_t tilesOfTail = 4;

/// Returns an estimate of the bytes that are read from memory if `groups` row groups, whose values
/// have `valueBytes` bytes, go through `panels` column tiles in `blocks` blocks of groups. Every
/// block reads the whole dense operand. The workers have the groups of a block and some column
/// tiles in flight; values stay in the cache from one column tile to the next if both fit, and else
/// are read again. The estimate is 850 MB for 1 block and 626 MB for 2 blocks (dsd, blocks of 32,
/// 8192, density 0.5); an H200 read 991 MB and 702 MB.
double estimateReadBytes(int64_t groups, double valueBytes, int64_t panels, int64_t blocks,
                         const WorkOptions &options) {
  const double rows = static_cast<double>(divideUp(groups, blocks));
  const double inFlight = std::max(1.0, static_cast<double>(options.workers) / rows);
  const double blockValues = valueBytes * rows / static_cast<double>(groups);
  const double columnTileBytes = static_cast<double>(options.columnTileBytes);
  const bool fits =
      blockValues + inFlight * columnTileBytes <= static_cast<double>(options.cacheBytes);
  const double rounds = fits ? 1 : std::max(1.0, static_cast<double>(panels) / inFlight);
  return static_cast<double>(blocks * panels) * columnTileBytes + rounds * valueBytes;
}

/// Returns the number of row groups that go through the column tiles together: at most one for each
/// worker. Blocks of groups are of equal size, because a short last one would have more column
/// tiles in flight. Without columnTileBytes blocks are as large as possible: a column tile of the
/// dense operand is then read from memory once, by all workers that need it. Smaller blocks, which
/// read the values once but the dense operand several times, cost 5 to 50 % (H100, dsd 8192, blocks
/// of 64 and 128).
int64_t blockOfGroups(const StagedRows &staged, std::span<const int32_t> groups, int64_t panels,
                      const WorkOptions &options) {
  const int64_t count = groups.size(),
                least = divideUp(count, std::max<int64_t>(1, options.workers));
  int64_t blocks = std::max<int64_t>(1, least);
  if (options.columnTileBytes > 0 && options.columnTilesTogether <= 1) {
    constexpr int64_t mostBlocks = 8, bytesPerElement = 2;
    double valueBytes = 0;
    for (int32_t group : groups)
      valueBytes += static_cast<double>(staged.work[group] * bytesPerElement);
    auto bytes = [&](int64_t candidate) {
      return estimateReadBytes(count, valueBytes, panels, candidate, options);
    };
    for (int64_t more = blocks + 1; more <= std::min(mostBlocks * least, count); ++more)
      if (bytes(more) < bytes(blocks))
        blocks = more;
  }
  return std::max<int64_t>(1, divideUp(count, blocks));
}

} // namespace

WorkLists blocksparse::buildWorkLists(const StagedRows &staged, const TileSpace &space,
                                      const WorkOptions &options) {
  std::vector<GroupOrder> orders;
  bool uneven = false;
  for (int64_t head = 0; head < space.lutHeads; ++head) {
    orders.push_back(orderGroups(staged, head));
    uneven |= orders.back().uneven;
  }
  std::vector<StageTile> tiles;
  auto addBlock = [&](std::span<const int32_t> groups, int64_t batch, int64_t head) {
    const int64_t together = std::max<int64_t>(1, options.columnTilesTogether);
    for (int64_t from = 0; from < space.columnTiles; from += together)
      for (int32_t group : groups)
        for (int64_t panel = from; panel < std::min(from + together, space.columnTiles); ++panel) {
          const int32_t first = staged.firstRecord[group];
          tiles.push_back({group, static_cast<int32_t>(panel), first,
                           staged.firstRecord[group + 1] - first, static_cast<int32_t>(batch),
                           static_cast<int32_t>(head)});
        }
  };
  for (int64_t batch = 0; batch < space.batches; ++batch)
    for (int64_t head = 0; head < space.heads; ++head) {
      const std::span<const int32_t> order = orders[space.lutHeads == 1 ? 0 : head].groups;
      const size_t size = blockOfGroups(staged, order, space.columnTiles, options);
      for (size_t first = 0; first < order.size(); first += size)
        addBlock(order.subspan(first, std::min(size, order.size() - first)), batch, head);
    }
  if (uneven) {
    const int64_t tail =
        std::min<int64_t>(tiles.size(), tilesOfTail * std::max<int64_t>(1, options.workers));
    std::stable_sort(tiles.end() - tail, tiles.end(), [&](const StageTile &a, const StageTile &b) {
      return staged.cost[a.group] > staged.cost[b.group];
    });
  }
  ListScheduler<StageTile> scheduler(options.workers);
  for (const StageTile &tile : tiles)
    scheduler.assign(tile, staged.cost[tile.group] + options.tileBytes);
  WorkLists lists;
  scheduler.take(lists.tiles, lists.workers);
  return lists;
}
