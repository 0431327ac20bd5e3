// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AttentionKeys.h"

#include <algorithm>
#include <iterator>

using namespace blocksparse;

namespace {

/// Checks the tiles of attention against the layout.
class ListVerifier {
public:
  ListVerifier(const AttentionProblem &problem, const AttentionLists &lists)
      : problem(problem), lists(lists), units(problem),
        seen(problem.batches * problem.heads * units.slabs(), false) {}

  std::string verify() {
    if (lists.slices.size() != (units.isJoined ? lists.steps.size() : 0))
      return "expects slices of " + text(units.isJoined ? lists.steps.size() : 0) +
             " steps, but got " + text(lists.slices.size());
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
  using Keys = std::vector<int32_t>;

  /// Returns which of the two lists of keys of a step a warpgroup has.
  static int sideOf(int group) { return group == 0 ? 0 : 1; }

  int64_t headOf(const AttentionTile &tile) const {
    return problem.layout.grid().heads == 1 ? 0 : tile.head;
  }

  std::string verifyTile(const AttentionTile &tile) {
    if (std::string fault =
            verifyTilePlace(problem, tile, static_cast<int64_t>(lists.steps.size()));
        !fault.empty())
      return fault;
    for (int32_t at = tile.first; at < tile.first + tile.count; ++at)
      if (std::string fault = units.isJoined ? verifySlices(lists.steps[at], lists.slices[at])
                                             : verifyKeys(lists.steps[at]);
          !fault.empty())
        return fault;
    if (tile.split < 0 || tile.split > 1)
      return "expects split = 0 or 1, but got " + text(tile.split);
    if (tile.split != 0 && (tile.rows[0] < 0 || tile.rows[1] != tile.rows[0] || tile.rows[2] != -1))
      return "expects the same rows for two warpgroups of a split tile, but got " +
             text(tile.rows[0]) + ", " + text(tile.rows[1]) + " and " + text(tile.rows[2]);
    for (int group = 0; group < AttentionTile::mostGroups; ++group)
      if (std::string fault = verifyGroup(tile, group); !fault.empty())
        return fault;
    return {};
  }

  std::string verifyKeys(const AttentionStep &step) const {
    const int64_t keys = problem.layout.grid().cols * problem.layout.block().cols;
    for (const auto &own : step.keys)
      for (const int32_t key : own)
        if (key != -1 && (key < 0 || key % attentionKeys != 0 || key >= keys))
          return "expects a half that begins at a multiple of 64 below " + text(keys) +
                 ", but got " + text(key);
    return verifySeparate(step, std::equal(step.keys[0], step.keys[0] + 2, step.keys[1]));
  }

  static std::string verifySeparate(const AttentionStep &step, bool same) {
    const int32_t separate = same ? 0 : 1;
    if (step.separate == separate)
      return {};
    return "expects separate = " + text(separate) + " for the keys of a step, but got " +
           text(step.separate);
  }

  /// Checks that the slices of a joined step exist, that some warp takes each one, and that the
  /// words of the step agree with them.
  std::string verifySlices(const AttentionStep &step, const AttentionSlices &slices) const {
    constexpr int64_t count = AttentionSlices::count, keysOfSlice = AttentionSlices::keysOfSlice;
    const int64_t keys = problem.layout.grid().cols * problem.layout.block().cols;
    const bool same = std::equal(slices.keys[0], std::end(slices.keys[0]), slices.keys[1]);
    for (int side = 0; side < 2; ++side) {
      uint32_t taken = slices.taken[side] | (same ? slices.taken[1 - side] : 0);
      taken |= taken >> 16;
      taken = (taken | taken >> 8) & 0xff;
      for (int64_t slice = 0; slice < count; ++slice) {
        const int32_t key = slices.keys[side][slice];
        if (key < 0 || key % keysOfSlice != 0 || key >= keys)
          return "expects a slice that begins at a multiple of 16 below " + text(keys) +
                 ", but got " + text(key);
        const bool isTaken = (taken >> slice & 1) != 0;
        if (!isTaken && key != slices.keys[side][0])
          return "expects slices that some warp takes, but got one from key " + text(key);
        if (slice % (count / 2) != 0)
          continue;
        const int32_t first = step.keys[side][slice / (count / 2)];
        if (first != (isTaken ? key : -1))
          return "expects a half from key " + text(isTaken ? key : -1) + ", but got " + text(first);
      }
    }
    return verifySeparate(step, same);
  }

  /// Checks the rows of a warpgroup, and that it takes exactly the keys of its rows.
  std::string verifyGroup(const AttentionTile &tile, int group) {
    const int64_t row = tile.rows[group];
    const bool isSecond = tile.split != 0 && group == 1;
    if (row != -1) {
      if (row < 0 || row % attentionRows != 0 || row / attentionRows >= units.slabs())
        return "expects rows from a multiple of 64 below " + text(units.slabs() * attentionRows) +
               ", but got " + text(row);
      const int64_t index =
          (int64_t{tile.batch} * problem.heads + tile.head) * units.slabs() + row / attentionRows;
      if (seen[index] && !isSecond)
        return "expects every 64 queries once, but got those from " + text(row) + " again";
      seen[index] = true;
    }
    if (std::string fault = verifyHalves(tile, group); !fault.empty())
      return fault;
    // The keys of both warpgroups of a split tile are checked together.
    return isSecond ? "" : verifyTaken(tile, group);
  }

  /// Checks that the halves of the steps that a warpgroup takes are marked as the masks say.
  std::string verifyHalves(const AttentionTile &tile, int group) const {
    for (int32_t at = tile.first; at < tile.first + tile.count; ++at) {
      const AttentionStep &step = lists.steps[at];
      int32_t expected = 0;
      for (int half = 0; half < 2; ++half)
        if (units.isJoined)
          expected |= halfOfSlices(tile, group, at, half);
        else if (step.halves[group] & bitOfHalf(half))
          expected |= units.takenOf(tile.rows[group], step.keys[sideOf(group)][half], half);
      if (expected != step.halves[group])
        return "expects a part " + text(expected) + " of a step, but got " +
               text(step.halves[group]);
    }
    return {};
  }

  /// Returns the bits of a half of a joined step by its slices.
  int32_t halfOfSlices(const AttentionTile &tile, int group, int32_t at, int half) const {
    constexpr int64_t ofHalf = AttentionSlices::count / 2;
    if (group > 1)
      return 0;
    const AttentionSlices &slices = lists.slices[at];
    int32_t result = 0;
    for (int64_t slice = half * ofHalf; slice < (half + 1) * ofHalf; ++slice) {
      if ((slices.taken[group] >> slice & warpBits) == 0)
        continue;
      bool cut = false;
      units.warpsThatTake(headOf(tile), tile.rows[group], slices.keys[group][slice], cut);
      result |= bitOfHalf(half) | (cut ? AttentionStep::Elements : 0);
    }
    return result;
  }

  /// Checks that the rows of a warpgroup, or of a split tile, take exactly their keys.
  std::string verifyTaken(const AttentionTile &tile, int group) const {
    const int64_t rows = units.isJoined ? AttentionSlices::rowsOfWarp : attentionRows;
    for (int64_t first = 0; first < attentionRows; first += rows) {
      const int64_t row = tile.rows[group] < 0 ? -1 : tile.rows[group] + first;
      Keys expected, taken;
      units.collect(headOf(tile), row, expected, rows);
      for (int other = group; other < (tile.split != 0 ? 2 : group + 1); ++other)
        for (int32_t at = tile.first; at < tile.first + tile.count; ++at)
          addTaken(other, at, first / AttentionSlices::rowsOfWarp, taken);
      std::sort(taken.begin(), taken.end());
      if (taken != expected)
        return "expects the " + text(expected.size()) + " groups of " + text(units.unit) +
               " keys of the rows from " + text(row) + ", but got " + text(taken.size()) +
               " that differ from them";
    }
    return {};
  }

  /// Adds the first keys of what warp `warp` of a warpgroup takes of a step.
  void addTaken(int group, int32_t at, int64_t warp, Keys &taken) const {
    const AttentionStep &step = lists.steps[at];
    for (int64_t unit = 0; unit < units.unitsOfStep(); ++unit) {
      if (!units.isJoined && (step.halves[group] & bitOfHalf(unit)))
        taken.push_back(step.keys[sideOf(group)][unit]);
      if (units.isJoined && group < 2 &&
          (lists.slices[at].taken[group] >> (warp * AttentionSlices::count + unit) & 1))
        taken.push_back(lists.slices[at].keys[group][unit]);
    }
  }

  /// The first bit of each warp in AttentionSlices::taken.
  static constexpr uint32_t warpBits = 0x01010101;

  const AttentionProblem &problem;
  const AttentionLists &lists;
  const AttentionKeys units;
  std::vector<bool> seen;
};

} // namespace

std::string blocksparse::verifyAttentionLists(const AttentionProblem &problem,
                                              const AttentionLists &lists) {
  std::string error;
  if (!checkAttentionSizes(problem, error, AttentionSlices::keysOfSlice))
    return error;
  return ListVerifier(problem, lists).verify();
}
