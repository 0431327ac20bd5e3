// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/AttentionPlan.h"
#include "AttentionTiles.h"
#include "RowGroups.h"

#include <algorithm>
#include <array>
#include <limits>

using namespace blocksparse;

namespace {

/// Returns the part of a step (a bit of `halves`, with Elements if it applies) that 64 queries from
/// `row` on take of 64 keys from `key` on in half `half`; 0 if the band forbids all elements.
int32_t takenOf(const AttentionProblem &problem, int64_t row, int64_t key, int half) {
  const int32_t taken = half == 0 ? AttentionStep::First : AttentionStep::Second;
  switch (getAllowedPart(problem, row, key)) {
  case AllowedPart::None:
    return 0;
  case AllowedPart::Some:
    return taken | AttentionStep::Elements;
  case AllowedPart::All:
    return taken;
  }
  return 0;
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
      if (takenOf(problem, row, key, 0) != 0)
        keys.push_back(static_cast<int32_t>(key));
}

/// Selects how the 64 rows of block rows become tiles: `groups` warpgroups, whose steps may be
/// separate.
struct TileForm {
  int64_t groups = 2;
  bool separate = false;
};

/// Makes the tiles of the heads of a layout and their steps.
class TileMaker {
public:
  TileMaker(const AttentionProblem &problem, TileForm form)
      : problem(problem), form(form), slabs(problem.layout.block().rows / attentionRows) {}

  /// Returns the tiles of a head of the layout, of batch 0 and head 0.
  std::optional<std::vector<AttentionTile>> make(int64_t head, std::string &error) {
    std::vector<AttentionTile> result;
    if (form.groups > 2) {
      const int64_t all = problem.layout.grid().rows * slabs;
      for (int64_t first = 0; first < all; first += form.groups) {
        Rows rows = {-1, -1, -1};
        for (int64_t group = 0; group < form.groups && first + group < all; ++group)
          rows[group] = (first + group) * attentionRows;
        add(result, head, rows);
      }
      return result;
    }
    for (int64_t row = 0; row < problem.layout.grid().rows; ++row)
      for (int64_t slab = 0; slab + 1 < slabs; slab += 2)
        add(result, head, {firstRow(row, slab), firstRow(row, slab + 1), -1});
    if (slabs % 2 == 0)
      return result;
    const std::optional<RowClusters> pairs =
        groupBlockRows(problem.layout, head, 2, /*cluster=*/true, /*perCopy=*/1, error);
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

  /// Steps of the tiles made so far, and how many halves warpgroups take of them.
  std::vector<AttentionStep> steps;
  int64_t taken = 0;

private:
  using Rows = std::array<int64_t, AttentionTile::mostGroups>;
  using Keys = std::vector<int32_t>;

  int64_t firstRow(int64_t blockRow, int64_t slab) const {
    return blockRow * problem.layout.block().rows + slab * attentionRows;
  }

  /// Adds a step of the keys at `at` and behind it in `of`, for the first warpgroup and the others.
  void addStep(const Rows &rows, const Keys &first, const Keys &others, size_t at) {
    AttentionStep step;
    for (size_t half = 0; half < 2; ++half) {
      step.keys[0][half] = at + half < first.size() ? first[at + half] : -1;
      step.keys[1][half] = at + half < others.size() ? others[at + half] : -1;
    }
    // Who has no keys left takes nothing; stages are loaded for the other alone.
    const bool takes[2] = {at < first.size(), at < others.size()};
    if (at >= first.size())
      std::copy(step.keys[1], step.keys[1] + 2, step.keys[0]);
    if (at >= others.size())
      std::copy(step.keys[0], step.keys[0] + 2, step.keys[1]);
    for (int group = 0; group < AttentionTile::mostGroups; ++group)
      for (int half = 0; half < 2; ++half) {
        const int32_t key = step.keys[group == 0 ? 0 : 1][half];
        if (!takes[group == 0 ? 0 : 1] || key < 0 ||
            !std::binary_search(keys[group].begin(), keys[group].end(), key))
          continue;
        step.halves[group] |= takenOf(problem, rows[group], key, half);
        ++taken;
      }
    step.separate = std::equal(step.keys[0], step.keys[0] + 2, step.keys[1]) ? 0 : 1;
    steps.push_back(step);
  }

  void addSharedSteps(const Rows &rows) {
    Keys merged, both;
    for (const Keys &own : keys) {
      both.clear();
      std::set_union(merged.begin(), merged.end(), own.begin(), own.end(),
                     std::back_inserter(both));
      merged.swap(both);
    }
    for (size_t at = 0; at < merged.size(); at += 2)
      addStep(rows, merged, merged, at);
  }

  /// Adds steps of two warpgroups: those of pairs of halves that both take, then separate ones.
  void addSeparateSteps(const Rows &rows) {
    Keys common, rest[2];
    std::set_intersection(keys[0].begin(), keys[0].end(), keys[1].begin(), keys[1].end(),
                          std::back_inserter(common));
    common.resize(common.size() / 2 * 2);
    for (int group = 0; group < 2; ++group)
      std::set_difference(keys[group].begin(), keys[group].end(), common.begin(), common.end(),
                          std::back_inserter(rest[group]));
    for (size_t at = 0; at < common.size(); at += 2)
      addStep(rows, common, common, at);
    for (size_t at = 0; at < std::max(rest[0].size(), rest[1].size()); at += 2)
      addStep(rows, rest[0], rest[1], at);
  }

  void add(std::vector<AttentionTile> &result, int64_t head, const Rows &rows) {
    for (int group = 0; group < AttentionTile::mostGroups; ++group)
      collectKeys(problem, head, rows[group], keys[group]);
    AttentionTile tile;
    tile.first = static_cast<int32_t>(steps.size());
    if (form.separate)
      addSeparateSteps(rows);
    else
      addSharedSteps(rows);
    tile.count = static_cast<int32_t>(steps.size()) - tile.first;
    for (int group = 0; group < AttentionTile::mostGroups; ++group)
      tile.rows[group] = static_cast<int32_t>(rows[group]);
    result.push_back(tile);
  }

  const AttentionProblem &problem;
  const TileForm form;
  /// 64 rows of a block row.
  const int64_t slabs;
  std::array<Keys, AttentionTile::mostGroups> keys;
};

/// Holds the tiles of each head of the layout and their steps.
struct Patterns {
  std::vector<std::vector<AttentionTile>> heads;
  std::vector<AttentionStep> steps;
  /// Share of the halves of all steps that warpgroups take.
  double useful = 1;
};

std::optional<Patterns> makePatterns(const AttentionProblem &problem, TileForm form,
                                     std::string &error) {
  Patterns patterns;
  TileMaker maker(problem, form);
  for (int64_t head = 0; head < problem.layout.grid().heads; ++head) {
    std::optional<std::vector<AttentionTile>> tiles = maker.make(head, error);
    if (!tiles)
      return std::nullopt;
    patterns.heads.push_back(std::move(*tiles));
  }
  patterns.steps = std::move(maker.steps);
  if (!patterns.steps.empty())
    patterns.useful = static_cast<double>(maker.taken) /
                      static_cast<double>(2 * form.groups * patterns.steps.size());
  return patterns;
}

/// Steps of three warpgroups are worth their registers if so much of them is useful; steps are
/// separate if less than the second number is (measured: docs/Developer/LabNotes/attention.md).
constexpr double usefulOfThree = 0.85, usefulOfShared = 0.95;

/// Returns the tiles in the form that suits the layout, and the warpgroups of a tile.
std::optional<Patterns> choosePatterns(const AttentionProblem &problem, int64_t mostGroups,
                                       int64_t &groups, std::string &error) {
  groups = mostGroups;
  if (mostGroups > 2) {
    std::optional<Patterns> three = makePatterns(problem, {mostGroups, false}, error);
    if (!three || three->useful >= usefulOfThree)
      return three;
  }
  groups = 2;
  std::optional<Patterns> shared = makePatterns(problem, {2, false}, error);
  if (!shared || shared->useful >= usefulOfShared)
    return shared;
  std::optional<Patterns> separate = makePatterns(problem, {2, true}, error);
  // Separate steps cost something where they are possible at all.
  const bool saves = separate && separate->steps.size() * 100 < shared->steps.size() * 95;
  return saves ? separate : shared;
}

} // namespace

bool blocksparse::checkAttentionSizes(const AttentionProblem &problem, std::string &error) {
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
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
  if (!checkAttentionSizes(problem, error))
    return std::nullopt;
  AttentionLists lists;
  std::optional<Patterns> patterns =
      choosePatterns(problem, options.mostGroups, lists.groups, error);
  if (!patterns)
    return std::nullopt;
  lists.steps = std::move(patterns->steps);
  if (static_cast<int64_t>(lists.steps.size()) >
      std::numeric_limits<int32_t>::max() / AttentionStepTable::columns)
    return fail(error, "expects at most 268435455 steps, but got " + text(lists.steps.size()));

  scheduleAttentionTiles(problem, options, patterns->heads, lists.tiles, lists.workers);
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
    if (std::string fault =
            verifyTilePlace(problem, tile, static_cast<int64_t>(lists.steps.size()));
        !fault.empty())
      return fault;
    for (const AttentionStep &step : span(tile))
      if (std::string fault = verifyKeys(step); !fault.empty())
        return fault;
    for (int group = 0; group < AttentionTile::mostGroups; ++group)
      if (std::string fault = verifyGroup(tile, group); !fault.empty())
        return fault;
    return {};
  }

  std::span<const AttentionStep> span(const AttentionTile &tile) const {
    return std::span<const AttentionStep>(lists.steps).subspan(tile.first, tile.count);
  }

  std::string verifyKeys(const AttentionStep &step) const {
    const int64_t keys = problem.layout.grid().cols * problem.layout.block().cols;
    for (const auto &own : step.keys)
      for (const int32_t key : own)
        if (key != -1 && (key < 0 || key % attentionKeys != 0 || key >= keys))
          return "expects a half that begins at a multiple of 64 below " + text(keys) +
                 ", but got " + text(key);
    const int32_t separate = std::equal(step.keys[0], step.keys[0] + 2, step.keys[1]) ? 0 : 1;
    if (step.separate != separate)
      return "expects separate = " + text(separate) + " for the keys of a step, but got " +
             text(step.separate);
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
          const int32_t key = step.keys[group == 0 ? 0 : 1][half];
          taken.push_back(key);
          halves |= takenOf(problem, row, key, half);
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
  if (!checkAttentionSizes(problem, error))
    return error;
  return ListVerifier(problem, lists).verify();
}

AttentionForm AttentionForm::get(std::span<const AttentionTile> tiles,
                                 std::span<const AttentionStep> steps) {
  AttentionForm form;
  for (const AttentionTile &tile : tiles)
    if (tile.rows[2] != -1)
      form.groups = 3;
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
