// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/AttentionPlan.h"
#include "AttentionKeys.h"
#include "RowGroups.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>

using namespace blocksparse;

namespace {

/// Selects how the 64 rows of block rows become tiles: `groups` warpgroups, whose steps may be
/// separate. Tiles of more than `mostSteps` steps are split.
struct TileForm {
  int64_t groups = 2;
  bool separate = false;
  int64_t mostSteps = std::numeric_limits<int64_t>::max();
};

/// Makes the tiles of the heads of a layout and their steps.
class TileMaker {
public:
  /// `rows` is the pattern whose block rows tiles are made of: the layout, or of joined steps that
  /// of AttentionKeys::joinRows.
  TileMaker(const AttentionKeys &units, const BlockLayout &rows, TileForm form)
      : units(units), layout(rows), form(form), slabs(rows.block().rows / attentionRows) {}

  /// Returns the tiles of a head of the layout, of batch 0 and head 0.
  std::optional<std::vector<AttentionTile>> make(int64_t head, std::string &error) {
    std::vector<AttentionTile> result;
    if (form.groups > 2) {
      for (int64_t first = 0; first < units.slabs(); first += form.groups) {
        Rows rows = {-1, -1, -1};
        for (int64_t group = 0; group < form.groups && first + group < units.slabs(); ++group)
          rows[group] = (first + group) * attentionRows;
        add(result, head, rows);
      }
      return result;
    }
    for (int64_t row = 0; row < layout.grid().rows; ++row)
      for (int64_t slab = 0; slab + 1 < slabs; slab += 2)
        add(result, head, {firstRow(row, slab), firstRow(row, slab + 1), -1});
    if (slabs % 2 == 0)
      return result;
    const std::optional<RowClusters> pairs =
        groupBlockRows(layout, head, 2, /*cluster=*/true, /*perCopy=*/1, error);
    if (!pairs)
      return std::nullopt;
    for (size_t i = 0; i < pairs->rows.size(); i += pairs->groupSize) {
      const bool second = pairs->groupSize == 2 && i + 1 < pairs->rows.size();
      add(result, head,
          {firstRow(pairs->rows[i], slabs - 1),
           second ? firstRow(pairs->rows[i + 1], slabs - 1) : -1, -1});
    }
    return result;
  }

  /// Steps of the tiles made so far and their slices, and how many units warpgroups take of them.
  std::vector<AttentionStep> steps;
  std::vector<AttentionSlices> slices;
  int64_t taken = 0;

private:
  using Rows = std::array<int64_t, AttentionTile::mostGroups>;
  using Keys = std::vector<int32_t>;

  int64_t firstRow(int64_t blockRow, int64_t slab) const {
    return blockRow * layout.block().rows + slab * attentionRows;
  }

  /// Adds a step of the keys at `at` and behind it in `of`, for the first warpgroup and the others.
  void addStep(int64_t head, const Rows &rows, const Keys &first, const Keys &others, size_t at) {
    AttentionStep step;
    AttentionSlices slice;
    const Keys *own[2] = {&first, &others};
    // Who has no keys left takes nothing; stages are loaded for the other alone.
    const bool takes[2] = {at < first.size(), at < others.size()};
    for (int side = 0; side < 2; ++side) {
      const Keys &keys = *own[takes[side] ? side : 1 - side];
      for (int64_t unit = 0; unit < units.unitsOfStep(); ++unit) {
        const int32_t key = at + unit < keys.size() ? keys[at + unit] : -1;
        if (unit % units.unitsOfHalf() == 0)
          step.keys[side][unit / units.unitsOfHalf()] = key;
        if (units.isJoined)
          slice.keys[side][unit] = key < 0 ? keys[at] : key;
      }
    }
    for (int group = 0; group < AttentionTile::mostGroups; ++group) {
      const int side = group == 0 ? 0 : 1;
      for (int64_t unit = 0; takes[side] && unit < units.unitsOfStep(); ++unit)
        if (at + unit < own[side]->size() &&
            std::binary_search(keys[group].begin(), keys[group].end(), (*own[side])[at + unit])) {
          take(step, slice, group, unit, head, rows[group], (*own[side])[at + unit]);
          ++taken;
        }
    }
    const bool same = units.isJoined
                          ? std::equal(slice.keys[0], std::end(slice.keys[0]), slice.keys[1])
                          : std::equal(step.keys[0], std::end(step.keys[0]), step.keys[1]);
    step.separate = same ? 0 : 1;
    steps.push_back(step);
    if (units.isJoined)
      slices.push_back(slice);
  }

  /// Adds the unit from `key` on to what a warpgroup takes of a step.
  void take(AttentionStep &step, AttentionSlices &slice, int group, int64_t unit, int64_t head,
            int64_t row, int32_t key) const {
    const int64_t half = unit / units.unitsOfHalf();
    if (!units.isJoined) {
      step.halves[group] |= units.takenOf(row, key, half);
      return;
    }
    bool cut = false;
    slice.taken[group] |= units.warpsThatTake(head, row, key, cut) << unit;
    step.halves[group] |= bitOfHalf(half) | (cut ? AttentionStep::Elements : 0);
  }

  void addSharedSteps(int64_t head, const Rows &rows) {
    Keys merged, both;
    for (const Keys &own : keys) {
      both.clear();
      std::set_union(merged.begin(), merged.end(), own.begin(), own.end(),
                     std::back_inserter(both));
      merged.swap(both);
    }
    for (size_t at = 0; at < merged.size(); at += units.unitsOfStep())
      addStep(head, rows, merged, merged, at);
  }

  /// Adds steps in which two warpgroups have the keys of `first` and of `second`.
  void addOwnSteps(int64_t head, const Rows &rows, const Keys &first, const Keys &second) {
    for (size_t at = 0; at < std::max(first.size(), second.size()); at += units.unitsOfStep())
      addStep(head, rows, first, second, at);
  }

  /// Adds steps of two warpgroups: those that both take whole, then separate ones.
  void addSeparateSteps(int64_t head, const Rows &rows) {
    Keys common, rest[2];
    std::set_intersection(keys[0].begin(), keys[0].end(), keys[1].begin(), keys[1].end(),
                          std::back_inserter(common));
    common.resize(common.size() / units.unitsOfStep() * units.unitsOfStep());
    for (int group = 0; group < 2; ++group)
      std::set_difference(keys[group].begin(), keys[group].end(), common.begin(), common.end(),
                          std::back_inserter(rest[group]));
    addOwnSteps(head, rows, common, common);
    addOwnSteps(head, rows, rest[0], rest[1]);
  }

  /// Adds a tile of the 64 queries from `row` on, whose keys two warpgroups share.
  void addSplit(std::vector<AttentionTile> &result, int64_t head, int64_t row) {
    Keys all;
    units.collect(head, row, all);
    const auto middle = all.begin() + static_cast<int64_t>(all.size() + 1) / 2;
    keys = {Keys(all.begin(), middle), Keys(middle, all.end()), Keys()};
    const Rows rows = {row, row, -1};
    const size_t first = steps.size();
    addOwnSteps(head, rows, keys[0], keys[1]);
    addTile(result, rows, first);
    result.back().split = 1;
  }

  void addTile(std::vector<AttentionTile> &result, const Rows &rows, size_t first) {
    AttentionTile tile;
    tile.first = static_cast<int32_t>(first);
    tile.count = static_cast<int32_t>(steps.size() - first);
    for (int group = 0; group < AttentionTile::mostGroups; ++group)
      tile.rows[group] = static_cast<int32_t>(rows[group]);
    result.push_back(tile);
  }

  void add(std::vector<AttentionTile> &result, int64_t head, const Rows &rows) {
    for (int group = 0; group < AttentionTile::mostGroups; ++group)
      units.collect(head, rows[group], keys[group]);
    const size_t first = steps.size();
    if (form.separate)
      addSeparateSteps(head, rows);
    else
      addSharedSteps(head, rows);
    if (static_cast<int64_t>(steps.size() - first) <= form.mostSteps)
      return addTile(result, rows, first);
    steps.resize(first);
    slices.resize(units.isJoined ? first : 0);
    for (const int64_t row : rows)
      if (row >= 0)
        addSplit(result, head, row);
  }

  const AttentionKeys &units;
  const BlockLayout &layout;
  const TileForm form;
  /// 64 rows of a block row.
  const int64_t slabs;
  std::array<Keys, AttentionTile::mostGroups> keys;
};

/// Holds the tiles of each head of the layout and their steps.
struct Patterns {
  std::vector<std::vector<AttentionTile>> heads;
  std::vector<AttentionStep> steps;
  std::vector<AttentionSlices> slices;
  TileForm form;
  /// Share of the units of all steps that warpgroups take.
  double useful = 1;

  /// Returns the distinct numbers of steps of tiles, in descending order.
  std::set<int64_t, std::greater<>> counts() const {
    std::set<int64_t, std::greater<>> result;
    for (const std::vector<AttentionTile> &tiles : heads)
      for (const AttentionTile &tile : tiles)
        result.insert(tile.count);
    return result;
  }
};

std::optional<Patterns> makePatterns(const AttentionKeys &units, const BlockLayout &rows,
                                     TileForm form, std::string &error) {
  Patterns patterns;
  patterns.form = form;
  TileMaker maker(units, rows, form);
  for (int64_t head = 0; head < rows.grid().heads; ++head) {
    std::optional<std::vector<AttentionTile>> tiles = maker.make(head, error);
    if (!tiles)
      return std::nullopt;
    patterns.heads.push_back(std::move(*tiles));
  }
  patterns.steps = std::move(maker.steps);
  patterns.slices = std::move(maker.slices);
  if (!patterns.steps.empty())
    patterns.useful =
        static_cast<double>(maker.taken) /
        static_cast<double>(units.unitsOfStep() * form.groups * patterns.steps.size());
  return patterns;
}

/// Steps of three warpgroups are worth their registers if so much of them is useful; steps are
/// separate if less than the second number is (measured: docs/Developer/LabNotes/attention.md).
constexpr double usefulOfThree = 0.85, usefulOfShared = 0.95;

/// Returns the tiles in the form that suits the layout.
std::optional<Patterns> choosePatterns(const AttentionKeys &units, const BlockLayout &rows,
                                       int64_t mostGroups, std::string &error) {
  if (mostGroups > 2 && !units.isJoined) {
    std::optional<Patterns> three = makePatterns(units, rows, {mostGroups, false}, error);
    if (!three || three->useful >= usefulOfThree)
      return three;
  }
  std::optional<Patterns> shared = makePatterns(units, rows, {2, false}, error);
  if (!shared || shared->useful >= usefulOfShared)
    return shared;
  std::optional<Patterns> separate = makePatterns(units, rows, {2, true}, error);
  // Separate steps cost something where they are possible at all.
  const bool saves = separate && separate->steps.size() * 100 < shared->steps.size() * 95;
  return saves ? separate : shared;
}

/// Returns the cost of the longest work list.
int64_t costOfLongest(const AttentionProblem &problem, const AttentionOptions &options,
                      const Patterns &patterns) {
  std::vector<AttentionTile> tiles;
  std::vector<int32_t> workers;
  scheduleAttentionTiles(problem, options, patterns.heads, tiles, workers);
  int64_t longest = 0;
  for (size_t worker = 0; worker + 1 < workers.size(); ++worker) {
    int64_t cost = 0;
    for (int32_t tile = workers[worker]; tile < workers[worker + 1]; ++tile)
      cost += costOfTile(tiles[tile]);
    longest = std::max(longest, cost);
  }
  return longest;
}

/// Splits the tiles of `patterns` from some number of steps on if that makes the longest work list
/// shorter by 5 %: less than that does not pay for the separate steps of split tiles.
std::optional<Patterns> splitLongTiles(const AttentionProblem &problem,
                                       const AttentionOptions &options, const AttentionKeys &units,
                                       const BlockLayout &rows, Patterns patterns,
                                       std::string &error) {
  /// Numbers of steps that are tried.
  constexpr size_t mostTried = 16;
  int64_t tiles = 0;
  for (const std::vector<AttentionTile> &own : patterns.heads)
    tiles += static_cast<int64_t>(own.size());
  tiles *= problem.batches * (patterns.heads.size() == 1 ? problem.heads : 1);
  if (patterns.form.groups > 2 || tiles > mostTilesToSplit * options.workers)
    return patterns;
  int64_t least = costOfLongest(problem, options, patterns) * 95 / 100;
  size_t tried = 0;
  TileForm form = patterns.form;
  for (const int64_t count : patterns.counts()) {
    if (count < 2 || ++tried > mostTried)
      break;
    form.mostSteps = count - 1;
    std::optional<Patterns> split = makePatterns(units, rows, form, error);
    if (!split)
      return std::nullopt;
    const int64_t cost = costOfLongest(problem, options, *split);
    if (cost >= least)
      continue;
    least = cost;
    patterns = std::move(*split);
  }
  return patterns;
}

} // namespace

bool blocksparse::checkAttentionSizes(const AttentionProblem &problem, std::string &error,
                                      int64_t multiple) {
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  const BlockShape block = problem.layout.block();
  const BlockGrid grid = problem.layout.grid();
  if (block.rows < multiple || block.rows % multiple != 0 || block.cols < multiple ||
      block.cols % multiple != 0)
    error = "expects blocks of multiples of " + text(multiple) + "x" + text(multiple) +
            ", but got " + text(block.rows) + "x" + text(block.cols);
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

int64_t blocksparse::headsTogether(const AttentionProblem &problem,
                                   const AttentionOptions &options) {
  int64_t together = std::max<int64_t>(1, problem.heads);
  if (options.bytesOfHead > 0)
    together = std::clamp<int64_t>(options.cacheBytes / options.bytesOfHead, 1, together);
  while (problem.heads % together != 0)
    --together;
  return together;
}

std::optional<AttentionLists> blocksparse::buildAttentionLists(const AttentionProblem &problem,
                                                               const AttentionOptions &options,
                                                               std::string &error) {
  if (!checkAttentionSizes(problem, error, AttentionSlices::keysOfSlice))
    return std::nullopt;
  const AttentionKeys units(problem);
  std::optional<BlockLayout> joined;
  if (units.isJoined && !(joined = units.joinRows(error)))
    return std::nullopt;
  const BlockLayout &rows = joined ? *joined : problem.layout;
  std::optional<Patterns> patterns = choosePatterns(units, rows, options.mostGroups, error);
  if (patterns)
    patterns = splitLongTiles(problem, options, units, rows, std::move(*patterns), error);
  if (!patterns)
    return std::nullopt;
  AttentionLists lists;
  lists.groups = patterns->form.groups;
  lists.steps = std::move(patterns->steps);
  lists.slices = std::move(patterns->slices);
  const int64_t columns =
      units.isJoined ? AttentionSliceTable::columns : AttentionStepTable::columns;
  const int64_t most = std::numeric_limits<int32_t>::max() / columns;
  if (static_cast<int64_t>(lists.steps.size()) > most)
    return fail(error,
                "expects at most " + text(most) + " steps, but got " + text(lists.steps.size()));

  scheduleAttentionTiles(problem, options, patterns->heads, lists.tiles, lists.workers);
  return lists;
}

AttentionForm AttentionForm::get(std::span<const AttentionTile> tiles,
                                 std::span<const AttentionStep> steps, bool joined) {
  AttentionForm form;
  form.joined = joined;
  for (const AttentionTile &tile : tiles) {
    if (tile.rows[2] != -1)
      form.groups = 3;
    form.split |= tile.split != 0;
  }
  for (const AttentionStep &step : steps) {
    form.separate |= step.separate != 0;
    form.halves |= step.separate != 0 || step.keys[0][1] != step.keys[0][0] + attentionKeys;
    for (int64_t group = 0; group < form.groups; ++group) {
      form.halves |= (step.halves[group] & AttentionStep::Both) != AttentionStep::Both;
      form.elements |= (step.halves[group] & AttentionStep::Elements) != 0;
    }
  }
  return form;
}
