// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_PLAN_ATTENTIONTILES_H
#define BLOCKSPARSE_LIB_PLAN_ATTENTIONTILES_H

#include "Fault.h"
#include "ListScheduler.h"
#include "blocksparse/Plan/AttentionPlan.h"

#include <algorithm>

namespace blocksparse {

/// Checks that the sizes of the blocks of the layout are multiples of `multiple`, that coordinates
/// fit in int32, and that the heads of the layout are 1 or those of the problem.
bool checkAttentionSizes(const AttentionProblem &problem, std::string &error,
                         int64_t multiple = attentionRows);

/// Selects how much of `size` queries times `size` keys is allowed.
enum class AllowedPart { None, Some, All };

/// Returns how much is allowed of `size` queries from `query` on and as many keys from `key` on:
/// none if the band forbids all elements, and all if no mask can forbid one.
inline AllowedPart getAllowedPart(const AttentionProblem &problem, int64_t query, int64_t key,
                                  int64_t size = attentionRows) {
  const int64_t lastQuery = query + size - 1, lastKey = key + size - 1;
  const AttentionBand &band = problem.band;
  if ((band.last && key > lastQuery + *band.last) || (band.first && lastKey < query + *band.first))
    return AllowedPart::None;
  const bool cuts =
      (band.last && lastKey > query + *band.last) || (band.first && key < lastQuery + *band.first);
  return cuts || problem.masked ? AllowedPart::Some : AllowedPart::All;
}

/// Returns how many heads go through the cache together: a divisor of all heads.
int64_t headsTogether(const AttentionProblem &problem, const AttentionOptions &options);

/// Returns the time of a tile of attention or of its gradient in half steps: its end takes as long
/// as one and a half steps.
template <typename Tile>
int64_t costOfTile(const Tile &tile) {
  return 2 * int64_t{tile.count} + 3;
}

/// Copies the tiles of the heads of a pattern, which are of batch 0 and head 0, to all (batch,
/// head) and assigns them to workers. Tiles that are longer than a quarter of a worker's share come
/// first, the longest first; the others follow in groups of heads, the longest of a group first.
/// Each next tile goes to the worker with the least cost so far.
template <typename Tile>
void scheduleAttentionTiles(const AttentionProblem &problem, const AttentionOptions &options,
                            const std::vector<std::vector<Tile>> &patterns,
                            std::vector<Tile> &result, std::vector<int32_t> &workers) {
  std::vector<Tile> tiles;
  const int64_t together = headsTogether(problem, options);
  int64_t total = 0;
  for (int64_t batch = 0; batch < problem.batches; ++batch)
    for (int64_t head = 0; head < problem.heads; ++head)
      for (Tile tile : patterns[patterns.size() == 1 ? 0 : head]) {
        tile.batch = static_cast<int32_t>(batch);
        tile.head = static_cast<int32_t>(head);
        total += costOfTile(tile);
        tiles.push_back(tile);
      }
  const int64_t lists = std::clamp<int64_t>(tiles.size(), 1, std::max<int64_t>(1, options.workers));
  auto orderOf = [&](const Tile &tile) {
    const bool isLong = costOfTile(tile) * 4 * lists > total;
    const int64_t heads = int64_t{tile.batch} * problem.heads + tile.head;
    return std::pair<int64_t, int64_t>(isLong ? -1 : heads / together, -costOfTile(tile));
  };
  std::stable_sort(tiles.begin(), tiles.end(),
                   [&](const Tile &a, const Tile &b) { return orderOf(a) < orderOf(b); });
  ListScheduler<Tile> scheduler(lists);
  for (const Tile &tile : tiles)
    scheduler.assign(tile, costOfTile(tile));
  scheduler.take(result, workers);
}

/// Checks what the tiles of attention and of its gradient share: their batch, their head, and that
/// their steps are some of `steps`. Returns the first fault, or an empty string.
template <typename Tile>
std::string verifyTilePlace(const AttentionProblem &problem, const Tile &tile, int64_t steps) {
  if (tile.batch < 0 || tile.batch >= problem.batches)
    return "expects a batch below " + text(problem.batches) + ", but got " + text(tile.batch);
  if (tile.head < 0 || tile.head >= problem.heads)
    return "expects a head below " + text(problem.heads) + ", but got " + text(tile.head);
  if (tile.first < 0 || tile.count < 0 || int64_t{tile.first} + tile.count > steps)
    return "expects steps below " + text(steps) + ", but got " + text(tile.count) + " from " +
           text(tile.first);
  return {};
}

} // namespace blocksparse

#endif // BLOCKSPARSE_LIB_PLAN_ATTENTIONTILES_H
