// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/AttentionPlan.h"
#include "Fault.h"
#include "ListScheduler.h"
#include "RowGroups.h"

#include <algorithm>
#include <array>
#include <limits>

using namespace blocksparse;

namespace {

constexpr int64_t most = std::numeric_limits<int32_t>::max();

/// Returns the part of a step (a bit of `halves`, with Elements if it applies) that 64 queries from
/// `row` on take of 64 keys from `key` on in half `half`; 0 if all elements are forbidden.
int32_t takenOf(int64_t row, int64_t key, int half, bool causal) {
  const int32_t taken = half == 0 ? AttentionStep::First : AttentionStep::Second;
  if (!causal || key + attentionKeys - 1 <= row)
    return taken;
  return key > row + attentionRows - 1 ? 0 : taken | AttentionStep::Elements;
}

/// Lists the first keys of the halves that 64 queries from `row` on take.
void collectKeys(const AttentionProblem &problem, int64_t head, int64_t row,
                 std::vector<int32_t> &keys) {
  keys.clear();
  if (row < 0)
    return;
  const BlockShape block = problem.layout.block();
  for (int32_t col : problem.layout.row(head, row / block.rows))
    for (int64_t key = col * block.cols; key < (col + 1) * block.cols; key += attentionKeys)
      if (takenOf(row, key, 0, problem.causal) != 0)
        keys.push_back(static_cast<int32_t>(key));
}

/// Makes the tiles of the heads of a layout and their steps.
class TileMaker {
public:
  TileMaker(const AttentionProblem &problem, std::vector<AttentionStep> &steps)
      : problem(problem), steps(steps), slabs(problem.layout.block().rows / attentionRows) {}

  /// Returns the tiles of a head of the layout, of batch 0 and head 0.
  std::optional<std::vector<AttentionTile>> make(int64_t head, std::string &error) {
    std::vector<AttentionTile> result;
    for (int64_t row = 0; row < problem.layout.grid().rows; ++row)
      for (int64_t slab = 0; slab + 1 < slabs; slab += 2)
        add(result, head, firstRow(row, slab), firstRow(row, slab + 1));
    if (slabs % 2 == 0)
      return result;
    const std::optional<RowClusters> pairs =
        groupBlockRows(problem.layout, head, 2, /*cluster=*/true, /*perCopy=*/1, error);
    if (!pairs)
      return std::nullopt;
    for (size_t i = 0; i < pairs->rows.size(); i += pairs->groupSize) {
      const bool second = pairs->groupSize == 2 && i + 1 < pairs->rows.size();
      add(result, head, firstRow(pairs->rows[i], slabs - 1),
          second ? firstRow(pairs->rows[i + 1], slabs - 1) : -1);
    }
    return result;
  }

private:
  int64_t firstRow(int64_t blockRow, int64_t slab) const {
    return blockRow * problem.layout.block().rows + slab * attentionRows;
  }

  void add(std::vector<AttentionTile> &result, int64_t head, int64_t row0, int64_t row1) {
    const std::array<int64_t, 2> rows = {row0, row1};
    for (int group = 0; group < 2; ++group)
      collectKeys(problem, head, rows[group], keys[group]);
    merged.clear();
    std::set_union(keys[0].begin(), keys[0].end(), keys[1].begin(), keys[1].end(),
                   std::back_inserter(merged));
    const size_t first = steps.size();
    for (size_t i = 0; i < merged.size(); i += 2) {
      AttentionStep step{{merged[i], i + 1 < merged.size() ? merged[i + 1] : -1}, {0, 0}};
      for (int group = 0; group < 2; ++group)
        for (int half = 0; half < 2; ++half)
          if (std::binary_search(keys[group].begin(), keys[group].end(), step.keys[half]))
            step.halves[group] |= takenOf(rows[group], step.keys[half], half, problem.causal);
      steps.push_back(step);
    }
    result.push_back({{static_cast<int32_t>(row0), static_cast<int32_t>(row1)},
                      static_cast<int32_t>(first),
                      static_cast<int32_t>(steps.size() - first),
                      0,
                      0});
  }

  const AttentionProblem &problem;
  std::vector<AttentionStep> &steps;
  /// 64 rows of a block row.
  const int64_t slabs;
  std::array<std::vector<int32_t>, 2> keys;
  std::vector<int32_t> merged;
};

/// Returns the time of a tile in half steps: its end takes as long as one and a half steps.
int64_t costOf(const AttentionTile &tile) { return 2 * int64_t{tile.count} + 3; }

/// Returns how many heads go through the cache together: a divisor of all heads.
int64_t headsTogether(const AttentionProblem &problem, const AttentionOptions &options) {
  int64_t together = std::max<int64_t>(1, problem.heads);
  if (options.bytesOfHead > 0)
    together = std::clamp<int64_t>(options.cacheBytes / options.bytesOfHead, 1, together);
  while (problem.heads % together != 0)
    --together;
  return together;
}

bool checkSizes(const AttentionProblem &problem, std::string &error) {
  const BlockShape block = problem.layout.block();
  const BlockGrid grid = problem.layout.grid();
  if (block.rows < attentionRows || block.rows % attentionRows != 0 || block.cols < attentionKeys ||
      block.cols % attentionKeys != 0)
    error = "expects blocks of multiples of 64x64, but got " + text(block.rows) + "x" +
            text(block.cols);
  else if (std::max(grid.rows * block.rows, grid.cols * block.cols) > most)
    error = "expects coordinates of at most 2147483647, but got " +
            text(std::max(grid.rows * block.rows, grid.cols * block.cols));
  else if (grid.heads != 1 && grid.heads != problem.heads)
    error =
        "expects a layout of 1 or " + text(problem.heads) + " heads, but got " + text(grid.heads);
  else
    return true;
  return false;
}

} // namespace

std::optional<AttentionLists> blocksparse::buildAttentionLists(const AttentionProblem &problem,
                                                               const AttentionOptions &options,
                                                               std::string &error) {
  if (!checkSizes(problem, error))
    return std::nullopt;
  AttentionLists lists;
  TileMaker maker(problem, lists.steps);
  std::vector<std::vector<AttentionTile>> patterns;
  const int64_t layoutHeads = problem.layout.grid().heads;
  for (int64_t head = 0; head < layoutHeads; ++head) {
    std::optional<std::vector<AttentionTile>> tiles = maker.make(head, error);
    if (!tiles)
      return std::nullopt;
    patterns.push_back(std::move(*tiles));
  }
  if (static_cast<int64_t>(lists.steps.size()) > most / AttentionStepTable::columns)
    return fail(error, "expects at most 536870911 steps, but got " + text(lists.steps.size()));

  std::vector<AttentionTile> tiles;
  const int64_t together = headsTogether(problem, options);
  int64_t total = 0;
  for (int64_t batch = 0; batch < problem.batches; ++batch)
    for (int64_t head = 0; head < problem.heads; ++head)
      for (AttentionTile tile : patterns[layoutHeads == 1 ? 0 : head]) {
        tile.batch = static_cast<int32_t>(batch);
        tile.head = static_cast<int32_t>(head);
        total += costOf(tile);
        tiles.push_back(tile);
      }
  const int64_t workers =
      std::clamp<int64_t>(tiles.size(), 1, std::max<int64_t>(1, options.workers));
  auto orderOf = [&](const AttentionTile &tile) {
    const bool isLong = costOf(tile) * 4 * workers > total;
    const int64_t heads = int64_t{tile.batch} * problem.heads + tile.head;
    return std::pair<int64_t, int64_t>(isLong ? -1 : heads / together, -costOf(tile));
  };
  std::stable_sort(tiles.begin(), tiles.end(), [&](const AttentionTile &a, const AttentionTile &b) {
    return orderOf(a) < orderOf(b);
  });
  ListScheduler<AttentionTile> scheduler(workers);
  for (const AttentionTile &tile : tiles)
    scheduler.assign(tile, costOf(tile));
  scheduler.take(lists.tiles, lists.workers);
  return lists;
}

namespace {

/// Checks the tiles of attention against the layout.
class ListVerifier {
public:
  ListVerifier(const AttentionProblem &problem, const AttentionLists &lists)
      : problem(problem), lists(lists),
        slabs(problem.layout.grid().rows * problem.layout.block().rows / attentionRows),
        seen(problem.batches * problem.heads * slabs, false) {}

  std::string verify() {
    std::string fault =
        checkWorkerRuns(lists.workers.data(), lists.workers.size(), lists.tiles.size());
    for (size_t i = 0; i < lists.tiles.size() && fault.empty(); ++i)
      if (fault = verifyTile(lists.tiles[i]); !fault.empty())
        fault += " in tile " + text(i);
    if (!fault.empty())
      return fault;
    const int64_t count = std::count(seen.begin(), seen.end(), true);
    if (count != static_cast<int64_t>(seen.size()))
      return "expects tiles for all " + text(seen.size()) + " groups of 64 queries, but got " +
             text(count);
    return {};
  }

private:
  std::string verifyTile(const AttentionTile &tile) {
    if (tile.batch < 0 || tile.batch >= problem.batches)
      return "expects a batch below " + text(problem.batches) + ", but got " + text(tile.batch);
    if (tile.head < 0 || tile.head >= problem.heads)
      return "expects a head below " + text(problem.heads) + ", but got " + text(tile.head);
    const int64_t steps = lists.steps.size();
    if (tile.first < 0 || tile.count < 0 || int64_t{tile.first} + tile.count > steps)
      return "expects steps below " + text(steps) + ", but got " + text(tile.count) + " from " +
             text(tile.first);
    for (const AttentionStep &step : span(tile))
      if (std::string fault = verifyKeys(step); !fault.empty())
        return fault;
    for (int group = 0; group < 2; ++group)
      if (std::string fault = verifyGroup(tile, group); !fault.empty())
        return fault;
    return {};
  }

  std::span<const AttentionStep> span(const AttentionTile &tile) const {
    return std::span<const AttentionStep>(lists.steps).subspan(tile.first, tile.count);
  }

  std::string verifyKeys(const AttentionStep &step) const {
    const int64_t keys = problem.layout.grid().cols * problem.layout.block().cols;
    for (int half = 0; half < 2; ++half) {
      const int32_t key = step.keys[half];
      if (key != -1 && (key < 0 || key % attentionKeys != 0 || key >= keys))
        return "expects a half that begins at a multiple of 64 below " + text(keys) + ", but got " +
               text(key);
    }
    return {};
  }

  /// Checks the rows of a warpgroup, and that it takes exactly the keys of its rows.
  std::string verifyGroup(const AttentionTile &tile, int group) {
    const int64_t row = tile.rows[group];
    if (row != -1) {
      if (row < 0 || row % attentionRows != 0 || row / attentionRows >= slabs)
        return "expects rows from a multiple of 64 below " + text(slabs * attentionRows) +
               ", but got " + text(row);
      const int64_t index =
          (int64_t{tile.batch} * problem.heads + tile.head) * slabs + row / attentionRows;
      if (seen[index])
        return "expects every 64 queries once, but got those from " + text(row) + " again";
      seen[index] = true;
    }
    std::vector<int32_t> expected, taken;
    const int64_t head = problem.layout.grid().heads == 1 ? 0 : tile.head;
    collectKeys(problem, head, row, expected);
    for (const AttentionStep &step : span(tile)) {
      int32_t halves = 0;
      for (int half = 0; half < 2; ++half)
        if (step.halves[group] & (half == 0 ? AttentionStep::First : AttentionStep::Second)) {
          taken.push_back(step.keys[half]);
          halves |= takenOf(row, step.keys[half], half, problem.causal);
        }
      if (halves != step.halves[group])
        return "expects a part " + text(halves) + " of a step, but got " + text(step.halves[group]);
    }
    std::sort(taken.begin(), taken.end());
    if (taken != expected)
      return "expects the " + text(expected.size()) + " groups of 64 keys of the rows from " +
             text(row) + ", but got " + text(taken.size()) + " that differ from them";
    return {};
  }

  const AttentionProblem &problem;
  const AttentionLists &lists;
  const int64_t slabs;
  std::vector<bool> seen;
};

} // namespace

std::string blocksparse::verifyAttentionLists(const AttentionProblem &problem,
                                              const AttentionLists &lists) {
  std::string error;
  if (!checkSizes(problem, error))
    return error;
  return ListVerifier(problem, lists).verify();
}

AttentionForm AttentionForm::get(std::span<const AttentionStep> steps) {
  AttentionForm form;
  for (const AttentionStep &step : steps) {
    form.halves |= step.keys[1] != step.keys[0] + attentionKeys;
    for (int32_t halves : step.halves) {
      form.halves |= (halves & AttentionStep::Both) != AttentionStep::Both;
      form.elements |= (halves & AttentionStep::Elements) != 0;
    }
  }
  return form;
}
