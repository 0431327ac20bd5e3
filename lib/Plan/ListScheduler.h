// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_PLAN_LISTSCHEDULER_H
#define BLOCKSPARSE_LIB_PLAN_LISTSCHEDULER_H

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <string>
#include <vector>

namespace blocksparse {

/// Assigns each next tile to the worker with the least cost so far, the first of equals.
template <typename Tile>
class ListScheduler {
public:
  explicit ListScheduler(int64_t workers) : lists(std::max<int64_t>(1, workers)) {
    for (size_t worker = 0; worker < lists.size(); ++worker)
      queue.push({0, static_cast<int64_t>(worker)});
  }

  void assign(const Tile &tile, int64_t cost) {
    auto [busy, worker] = queue.top();
    queue.pop();
    lists[worker].push_back(tile);
    queue.push({busy + cost, worker});
  }

  /// Appends the tiles of each worker in turn to `tiles`, and stores where they begin in `workers`:
  /// worker i has tiles[workers[i]] to tiles[workers[i + 1] - 1].
  void take(std::vector<Tile> &tiles, std::vector<int32_t> &workers) const {
    workers.assign(1, 0);
    for (const std::vector<Tile> &list : lists) {
      tiles.insert(tiles.end(), list.begin(), list.end());
      workers.push_back(static_cast<int32_t>(tiles.size()));
    }
  }

private:
  using Load = std::pair<int64_t, int64_t>; // (cost, worker)
  std::priority_queue<Load, std::vector<Load>, std::greater<>> queue;
  std::vector<std::vector<Tile>> lists;
};

/// Checks that `workers` cuts `tiles` tiles into runs. Returns the first fault, or an empty string.
inline std::string checkWorkerRuns(const int32_t *workers, size_t count, int64_t tiles) {
  if (count < 2 || workers[0] != 0)
    return "expects workers from tile 0, but got " +
           (count < 2 ? std::string("none") : std::to_string(workers[0]));
  for (size_t i = 1; i < count; ++i)
    if (workers[i] < workers[i - 1])
      return "expects workers in ascending order of their tiles, but got " +
             std::to_string(workers[i]) + " after " + std::to_string(workers[i - 1]);
  if (workers[count - 1] != tiles)
    return "expects workers for all " + std::to_string(tiles) + " tiles, but got " +
           std::to_string(workers[count - 1]);
  return {};
}

} // namespace blocksparse

#endif // BLOCKSPARSE_LIB_PLAN_LISTSCHEDULER_H
