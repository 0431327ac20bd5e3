// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/StageCost.h"
#include "RowGroups.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>

using namespace blocksparse;

namespace {

constexpr int64_t bytesPerElement = 2;

/// Stages that measured best for groups of at most this occupancy, and the most rows of a group.
struct MeasuredShape {
  int64_t block;
  double occupancy;
  int64_t rows, panels, stages;
  enum Team { Rows, Pairs, Wgmma };
  /// Warps own one row each, or two where there are more than 20 rows or (Pairs) 16; or they
  /// multiply by wgmma, and the others serve where it is missing.
  Team team = Rows;
};

// Stages of fewer than 64 values of k wait more than they compute.
constexpr MeasuredShape measured[] = {
    {16, 0.19, 24, 8, 4},
    {16, 0.40, 24, 8, 3, MeasuredShape::Pairs},
    {16, 1.0, 24, 4, 4, MeasuredShape::Pairs},
    {32, 0.19, 12, 4, 3, MeasuredShape::Wgmma},
    {32, 0.19, 12, 4, 3},
    {32, 0.40, 12, 3, 3, MeasuredShape::Wgmma},
    {32, 1.0, 12, 2, 3, MeasuredShape::Wgmma},
    {32, 1.0, 12, 3, 3},
};
// Small groups, whose tiles leave fewer workers idle in a small problem's last round.
constexpr MeasuredShape smallGroups[] = {
    {16, 0.19, 20, 8, 4},
    {16, 0.40, 20, 6, 4, MeasuredShape::Pairs},
    {16, 1.0, 16, 4, 5, MeasuredShape::Pairs},
    {32, 0.40, 8, 3, 4},
    {32, 1.0, 8, 4, 3, MeasuredShape::Wgmma},
    {32, 1.0, 8, 3, 4},
};

// Blocks of 16 along k: the same bytes under way by copies of four panels, with room for the blocks
// that meet them (a copy that has more comes again, but then the products take longer), and by
// single panels, whose number is no multiple of four. Single ones are estimated, not measured.
constexpr MeasuredShape quads[] = {
    {16, 0.15, 24, 8, 4},
    {16, 0.40, 24, 8, 3, MeasuredShape::Pairs},
    {16, 1.0, 24, 4, 4, MeasuredShape::Pairs},
};
constexpr MeasuredShape singles[] = {
    {16, 0.19, 24, 7, 4},
    {16, 0.40, 20, 6, 4},
    {16, 1.0, 16, 5, 4},
};

const MeasuredShape *findMeasured(std::span<const MeasuredShape> shapes,
                                  const StageProblem &problem, double occupancy) {
  for (const MeasuredShape &shape : shapes)
    if (shape.block == problem.layout.block().rows && occupancy <= shape.occupancy &&
        (problem.wgmma || shape.team != MeasuredShape::Wgmma))
      return &shape;
  return nullptr;
}

/// Time of the slowest worker when `tiles` tiles of equal cost are dealt.
double estimateWaves(const StageRates &rates, int64_t tiles, int64_t workers, double tileSeconds) {
  workers = std::max<int64_t>(1, workers);
  return rates.launchSeconds + static_cast<double>((tiles + workers - 1) / workers) * tileSeconds;
}

/// The first head that has a block, or -1.
int64_t firstFilledHead(const BlockLayout &layout) {
  const int64_t rows = layout.grid().rows;
  for (int64_t head = 0; head < layout.grid().heads; ++head)
    if (layout.rowOffsets()[(head + 1) * rows] != layout.rowOffsets()[head * rows])
      return head;
  return -1;
}

/// Time of the slowest worker when tiles of `seconds`, each `copies` times, are dealt longest
/// first.
double estimateDealt(const StageRates &rates, std::vector<double> seconds, int64_t copies,
                     int64_t workers) {
  // Of many tiles the last ones make the workers equal.
  constexpr int64_t manyTiles = 16;
  workers = std::max<int64_t>(1, workers);
  const double total =
      std::accumulate(seconds.begin(), seconds.end(), 0.0) * static_cast<double>(copies);
  const int64_t tiles = static_cast<int64_t>(seconds.size()) * copies;
  if (tiles > manyTiles * workers)
    return rates.launchSeconds + total / static_cast<double>(workers);
  std::sort(seconds.begin(), seconds.end(), std::greater<>());
  std::priority_queue<double, std::vector<double>, std::greater<>> busy(
      std::greater<>(), std::vector<double>(workers, 0));
  double slowest = 0;
  for (double tile : seconds)
    for (int64_t copy = 0; copy < copies; ++copy) {
      const double end = busy.top() + tile;
      busy.pop();
      busy.push(end);
      slowest = std::max(slowest, end);
    }
  return rates.launchSeconds + slowest;
}

/// Time of a product whose rows are uneven; nothing where groups can't be made.
std::optional<double> estimateUneven(const StageProblem &problem, int64_t head,
                                     const StreamChoice &choice, const StageRates &rates) {
  const TileExtent tile{choice.shape.rows * choice.shape.block, choice.tileN};
  std::string error;
  const std::optional<RowGroups> groups =
      groupStreamRows(problem.layout, head, choice.shape, choice.tileN, /*cluster=*/true, error);
  if (!groups)
    return std::nullopt;
  std::vector<double> seconds;
  for (int64_t group = 0; group < groups->groups(); ++group) {
    const GroupSize &size = groups->sizes[group];
    const double area = static_cast<double>(size.blocks) * choice.shape.block * choice.shape.block;
    seconds.push_back(
        estimateTile(rates, tile, groups->costOf(group, choice.shape, choice.tileN), area));
  }
  return estimateDealt(rates, std::move(seconds),
                       problem.layout.grid().heads * problem.copies * (problem.cols / choice.tileN),
                       problem.workers);
}

/// Time of a product whose groups of `rows` rows of op(S) need `facts`; `copyCost` is that of a
/// StreamShape.
double estimateProduct(const StageProblem &problem, const GroupFacts &facts, TileExtent tile,
                       const StageRates &rates, double copyCost = 1) {
  const double depth = facts.panels * problem.layout.block().cols;
  const double area = depth * facts.occupancy * tile.rows;
  const int64_t tiles = facts.groups * problem.copies * (problem.cols / tile.cols);
  // A cluster takes a tile together; each of its thread blocks loads its columns and a share of the
  // values.
  const int64_t cluster = clusterSize(tile.cols);
  const TileExtent part{tile.rows, tile.cols / cluster};
  const double loaded = bytesPerElement * (depth * copyCost * part.cols + area / cluster);
  const double seconds = estimateTile(rates, part, loaded, area);
  if (cluster == 1)
    return estimateWaves(rates, tiles, problem.workers, seconds);
  return rates.clusterLaunchSeconds +
         estimateWaves(rates, tiles, problem.workers / cluster, seconds + rates.clusterSeconds);
}

/// Looks for the fastest shape of stages.
class StreamChooser {
public:
  explicit StreamChooser(const StageProblem &problem)
      : problem(problem), head(firstFilledHead(problem.layout)),
        uneven(head >= 0 && hasUnevenRows(problem.layout, head)) {}

  /// Groups of `rows` block rows in stages of `shape`, where that is not null and takes so many.
  void consider(int64_t rows, const GroupFacts &facts, const MeasuredShape *shape);

  StreamChoice best;

private:
  const StageProblem &problem;
  const int64_t head;
  const bool uneven;
};

void StreamChooser::consider(int64_t rows, const GroupFacts &facts, const MeasuredShape *shape) {
  if (!shape || rows > shape->rows)
    return;
  const int64_t block = problem.layout.block().rows;
  StreamChoice choice;
  choice.wgmma = shape->team == MeasuredShape::Wgmma;
  const bool pairs = rows > 20 || (rows == 16 && shape->team == MeasuredShape::Pairs);
  choice.warps = choice.wgmma ? streamWgmmaWarps : pairs ? rows / 2 : rows;
  choice.stages = shape->stages;
  const std::optional<StreamShape> fits = getStreamShape(
      {block, rows, shape->panels, shape->stages, choice.warps, choice.wgmma, problem.alongK});
  if (!fits)
    return;
  choice.shape = *fits;
  for (int64_t tileN : {128, 64}) {
    if (problem.cols % tileN != 0)
      continue;
    choice.tileN = tileN;
    const StageRates rates =
        choice.wgmma ? StageRates::streamWgmma() : StageRates::stream(block, choice.warps, pairs);
    std::optional<double> dealt;
    if (uneven)
      dealt = estimateUneven(problem, head, choice, rates);
    choice.seconds = dealt ? *dealt
                           : estimateProduct(problem, facts, {rows * block, tileN}, rates,
                                             choice.shape.copyCost());
    // Choices stand in order of preference: estimates are not that good.
    if (best.stages == 0 || choice.seconds < 0.95 * best.seconds)
      best = choice;
  }
}

} // namespace

StageRates StageRates::stream(int64_t block, int64_t warps, bool pairs) {
  StageRates rates;
  // Blocks of 32 have more products for each load, as have two rows of a warp: 8 warps of 12 have
  // the same rate.
  const int64_t full = block == 32 || pairs ? 8 : fullWarps;
  const double most = block == 32 ? 4.0e12 : pairs ? 3.05e12 : 3.0e12;
  rates.flopsPerSecond = most * std::min(1.0, static_cast<double>(warps) / full);
  // Their rings are deeper.
  if (block == 32 && warps <= full)
    rates.loadedBytesPerSecond = 70e9;
  return rates;
}

StageRates StageRates::streamWgmma() {
  StageRates rates;
  rates.flopsPerSecond = 4.5e12;
  return rates;
}

double blocksparse::estimateTile(const StageRates &rates, TileExtent tile, double loadedBytes,
                                 double multiplyAdds) {
  return std::max(loadedBytes / rates.loadedBytesPerSecond,
                  2 * multiplyAdds * tile.cols / rates.flopsPerSecond) +
         tile.rows * tile.cols * bytesPerElement / rates.storedBytesPerSecond + rates.tileSeconds;
}

double blocksparse::estimateTime(const StagedRows &staged, const WorkLists &lists, TileExtent tile,
                                 const StageRates &rates) {
  std::vector<double> byGroup;
  for (int64_t group = 0; group < staged.groups(); ++group)
    byGroup.push_back(estimateTile(rates, tile, staged.cost[group], staged.work[group]));
  double slowest = 0;
  for (size_t worker = 1; worker < lists.workers.size(); ++worker) {
    double seconds = 0;
    for (int32_t t = lists.workers[worker - 1]; t < lists.workers[worker]; ++t)
      seconds += byGroup[lists.tiles[t].group];
    slowest = std::max(slowest, seconds);
  }
  return rates.launchSeconds + slowest;
}

GroupFacts blocksparse::getGroupFacts(const BlockLayout &layout, int64_t rows, int64_t perCopy) {
  const BlockGrid grid = layout.grid();
  GroupFacts facts;
  facts.groups = (grid.rows + rows - 1) / rows * grid.heads;
  const int64_t head = firstFilledHead(layout);
  if (head < 0)
    return facts;
  std::string error;
  const std::optional<RowClusters> groups =
      groupRows(layout, head, rows, /*cluster=*/true, perCopy, error);
  if (!groups)
    return facts;
  // A short last group has places without a row.
  double places = 0;
  for (int64_t group = 0; group < groups->numGroups(); ++group)
    places += static_cast<double>(groups->columnOffsets[group + 1] - groups->columnOffsets[group]) *
              std::min(groups->groupSize, grid.rows - group * groups->groupSize) * perCopy;
  facts.panels = static_cast<double>(groups->numPanels()) * perCopy / groups->numGroups();
  facts.occupancy =
      (layout.rowOffsets()[(head + 1) * grid.rows] - layout.rowOffsets()[head * grid.rows]) /
      places;
  return facts;
}

StreamChoice blocksparse::chooseStream(const StageProblem &problem) {
  const bool narrow = StreamShape::isNarrow(problem.layout.block().rows, problem.alongK);
  StreamChooser chooser(problem);
  for (int64_t rows : {24, 20, 16, 12, 8, 4}) {
    auto consider = [&](std::span<const MeasuredShape> shapes, const GroupFacts &facts) {
      chooser.consider(rows, facts, findMeasured(shapes, problem, facts.occupancy));
    };
    const GroupFacts facts = getGroupFacts(problem.layout, rows);
    if (narrow) {
      consider(quads, getGroupFacts(problem.layout, rows, /*perCopy=*/4));
      consider(singles, facts);
    } else {
      consider(smallGroups, facts);
      consider(measured, facts);
    }
  }
  return chooser.best;
}

WgmmaChoice blocksparse::chooseWgmma(const StageProblem &problem) {
  const BlockGrid grid = problem.layout.grid();
  const int64_t rows = problem.layout.block().rows;
  const bool pairs = rows % 128 != 0;
  // A tile of 128 rows is part of a block row, or two block rows of 64.
  GroupFacts facts = getGroupFacts(problem.layout, pairs ? 2 : 1);
  facts.groups = (grid.rows * rows + 127) / 128 * grid.heads;
  // Measured on an H100 (docs/Performance.md): where tiles have many steps, three stages are faster
  // than four by 2 to 8 %, and pairs of rows without clusters by another 2 %.
  const bool filled = problem.layout.nnz() * 5 >= grid.heads * grid.rows * grid.cols * 2;
  WgmmaChoice best;
  best.stages = filled ? 3 : 4;
  double seconds = 0;
  for (int64_t cols : {256, 512, 128, 64}) {
    const bool cluster = clusterSize(cols) > 1;
    if (problem.cols % cols != 0 || (cluster && pairs && filled))
      continue;
    const double estimate = estimateProduct(problem, facts, {128, cols}, StageRates::wgmma());
    // Candidates stand in order of preference. A cluster is the same kernel with fewer copies.
    if (best.tileN == 0 || estimate < (cluster ? 0.97 : 0.95) * seconds) {
      best.tileN = cols;
      seconds = estimate;
    }
  }
  return best;
}
