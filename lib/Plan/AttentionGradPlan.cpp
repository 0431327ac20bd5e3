// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/AttentionGradPlan.h"
#include "AttentionTiles.h"

#include <limits>

using namespace blocksparse;

namespace {

/// Names the names of tiles and steps in messages.
struct SideNames {
  const char *tiles, *steps;
};

SideNames namesOf(AttentionGradSide side) {
  if (side == AttentionGradSide::Keys)
    return {"keys", "queries"};
  return {"queries", "keys"};
}

/// Checks the sizes, and that the heads share keys in groups.
bool checkGradSizes(const AttentionProblem &problem, std::string &error) {
  if (!checkAttentionSizes(problem, error))
    return false;
  if (problem.sharing < 1 || problem.heads % problem.sharing != 0 ||
      (problem.sharing != 1 && problem.layout.grid().heads != 1)) {
    error = "expects heads of one pattern in groups that share keys, but got groups of " +
            text(problem.sharing) + " of " + text(problem.heads) + " heads";
    return false;
  }
  const int64_t queries = problem.layout.grid().rows * problem.layout.block().rows;
  if (queries > std::numeric_limits<int32_t>::max() / problem.sharing) {
    error = "expects queries of the heads that share keys to be numbered by int32, but got " +
            text(problem.sharing) + " heads of " + text(queries);
    return false;
  }
  return true;
}

/// Returns the problem of the heads that tiles are of.
AttentionProblem withHeads(const AttentionProblem &problem, int64_t heads) {
  AttentionProblem own = problem;
  own.heads = heads;
  return own;
}

/// Lists the steps of tiles of one side.
class StepLister {
public:
  /// `problem` must live as long as the object.
  StepLister(const AttentionProblem &problem, AttentionGradSide side)
      : problem(problem), side(side) {
    if (side == AttentionGradSide::Keys)
      transposed = problem.layout.transposed();
  }

  /// Returns the pattern whose block rows are those of tiles.
  const BlockLayout &layout() const {
    return side == AttentionGradSide::Keys ? transposed : problem.layout;
  }
  /// Return how many tiles a head has, and how many groups of 64 its steps may be.
  int64_t tiles() const { return layout().grid().rows * layout().block().rows / attentionRows; }
  int64_t places() const { return layout().grid().cols * layout().block().cols / attentionRows; }

  /// Return how many heads have tiles, and how many heads the steps of a tile are of.
  int64_t heads() const {
    return side == AttentionGradSide::Keys ? problem.heads / problem.sharing : problem.heads;
  }
  int64_t headsOfTile() const { return side == AttentionGradSide::Keys ? problem.sharing : 1; }

  /// Appends the steps of the tile from `row` on of a head of the layout, in ascending order.
  void list(int64_t head, int64_t row, std::vector<AttentionGradStep> &steps) const {
    const int64_t rowsOfHead = places() * attentionRows;
    for (int64_t number = 0; number < headsOfTile(); ++number) {
      const size_t before = steps.size();
      listOfHead(head, row, steps);
      for (size_t i = before; i < steps.size(); ++i)
        steps[i].first += static_cast<int32_t>(number * rowsOfHead);
    }
  }

private:
  void listOfHead(int64_t head, int64_t row, std::vector<AttentionGradStep> &steps) const {
    const BlockShape block = layout().block();
    for (const int32_t col : layout().row(head, row / block.rows))
      for (int64_t first = col * block.cols; first < (col + 1) * block.cols;
           first += attentionRows) {
        const AllowedPart part = side == AttentionGradSide::Keys
                                     ? getAllowedPart(problem, first, row)
                                     : getAllowedPart(problem, row, first);
        if (part != AllowedPart::None)
          steps.push_back({static_cast<int32_t>(first), part == AllowedPart::Some ? 1 : 0});
      }
  }

  const AttentionProblem &problem;
  const AttentionGradSide side;
  BlockLayout transposed;
};

} // namespace

std::optional<AttentionGradLists>
blocksparse::buildAttentionGradLists(const AttentionProblem &problem, AttentionGradSide side,
                                     const AttentionOptions &options, std::string &error) {
  static_assert(attentionRows == attentionKeys);
  if (!checkGradSizes(problem, error))
    return std::nullopt;
  AttentionGradLists lists;
  const StepLister lister(problem, side);
  std::vector<std::vector<AttentionGradTile>> patterns(problem.layout.grid().heads);
  for (int64_t head = 0; head < problem.layout.grid().heads; ++head)
    for (int64_t tile = 0; tile < lister.tiles(); ++tile) {
      const size_t first = lists.steps.size();
      lister.list(head, tile * attentionRows, lists.steps);
      AttentionGradTile made;
      made.row = static_cast<int32_t>(tile * attentionRows);
      made.first = static_cast<int32_t>(first);
      made.count = static_cast<int32_t>(lists.steps.size() - first);
      patterns[head].push_back(made);
      constexpr int64_t most =
          std::numeric_limits<int32_t>::max() / AttentionGradStepTable::columns;
      if (static_cast<int64_t>(lists.steps.size()) > most)
        return fail(error, "expects at most " + text(most) + " steps, but got more");
    }
  scheduleAttentionTiles(withHeads(problem, lister.heads()), options, patterns, lists.tiles,
                         lists.workers);
  return lists;
}

std::string blocksparse::verifyAttentionGradLists(const AttentionProblem &problem,
                                                  AttentionGradSide side,
                                                  const AttentionGradLists &lists) {
  std::string fault;
  if (!checkGradSizes(problem, fault))
    return fault;
  fault = checkWorkerRuns(lists.workers.data(), lists.workers.size(),
                          static_cast<int64_t>(lists.tiles.size()));
  if (!fault.empty())
    return fault;
  const StepLister lister(problem, side);
  const SideNames names = namesOf(side);
  const int64_t tilesOfHead = lister.tiles();
  const AttentionProblem own = withHeads(problem, lister.heads());
  std::vector<bool> seen(own.batches * own.heads * tilesOfHead, false);
  auto verifyTile = [&](const AttentionGradTile &tile) -> std::string {
    std::string fault = verifyTilePlace(own, tile, static_cast<int64_t>(lists.steps.size()));
    if (!fault.empty())
      return fault;
    if (tile.row < 0 || tile.row % attentionRows != 0 || tile.row / attentionRows >= tilesOfHead)
      return std::string("expects ") + names.tiles + " from a multiple of 64 below " +
             text(tilesOfHead * attentionRows) + ", but got " + text(tile.row);
    const int64_t index =
        (int64_t{tile.batch} * own.heads + tile.head) * tilesOfHead + tile.row / attentionRows;
    if (seen[index])
      return std::string("expects every 64 ") + names.tiles + " once, but got those from " +
             text(tile.row) + " again";
    seen[index] = true;
    std::vector<AttentionGradStep> expected;
    lister.list(problem.layout.grid().heads == 1 ? 0 : tile.head, tile.row, expected);
    const auto steps =
        std::span<const AttentionGradStep>(lists.steps)
            .subspan(static_cast<size_t>(tile.first), static_cast<size_t>(tile.count));
    if (steps.size() != expected.size())
      return "expects " + text(static_cast<int64_t>(expected.size())) + " steps of " + names.steps +
             ", but got " + text(tile.count);
    for (size_t i = 0; i < steps.size(); ++i)
      if (!(steps[i] == expected[i]))
        return std::string("expects a step of the ") + names.steps + " from " +
               text(expected[i].first) + " with masked = " + text(expected[i].masked) +
               ", but got " + text(steps[i].first) + " with " + text(steps[i].masked);
    return {};
  };
  for (size_t i = 0; i < lists.tiles.size(); ++i)
    if (fault = verifyTile(lists.tiles[i]); !fault.empty())
      return fault + " in tile " + text(static_cast<int64_t>(i));
  const int64_t count = std::count(seen.begin(), seen.end(), true);
  if (count != static_cast<int64_t>(seen.size()))
    return "expects tiles for all " + text(static_cast<int64_t>(seen.size())) + " groups of 64 " +
           names.tiles + ", but got " + text(count);
  return {};
}
