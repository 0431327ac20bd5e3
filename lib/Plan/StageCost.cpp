// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/StageCost.h"
#include "MeasuredShapes.h"
#include "RowGroups.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>

using namespace blocksparse;

namespace {

constexpr int64_t bytesPerElement = 2;

/// Returns the first shape for this occupancy that the GPU can run, or null.
const MeasuredShape *findMeasured(std::span<const MeasuredShape> shapes,
                                  const StageProblem &problem, double occupancy) {
  for (const MeasuredShape &shape : shapes)
    if (shape.block == problem.layout.block().rows && occupancy <= shape.occupancy &&
        (problem.gpu.wgmma || shape.team != MeasuredShape::Wgmma))
      return &shape;
  return nullptr;
}

/// Returns the number of column tiles; the last one may extend beyond the columns.
int64_t columnTiles(int64_t cols, int64_t tileN) { return (cols + tileN - 1) / tileN; }

/// Returns true if a result of `cols` columns fills a column tile but for less than 64 columns.
bool coversColumns(int64_t cols, int64_t tileN) { return (cols + 63) / 64 * 64 >= tileN; }

/// Returns true if stream kernels load panels of `tileN` columns whole: one instruction loads 128
/// columns, but no part of a subtile of 64.
bool loadsWholePanels(const StageProblem &problem, int64_t tileN) {
  return tileN == 64 || problem.kMajor || problem.cols % 64 == 0;
}

/// Estimates the time of the slowest worker when `tiles` tiles of equal cost are assigned.
double estimateWaves(const StageRates &rates, int64_t tiles, int64_t workers, double tileSeconds) {
  workers = std::max<int64_t>(1, workers);
  return rates.launchSeconds + static_cast<double>((tiles + workers - 1) / workers) * tileSeconds;
}

/// Returns the first head that has a block, or -1.
int64_t firstFilledHead(const BlockLayout &layout) {
  const int64_t rows = layout.grid().rows;
  for (int64_t head = 0; head < layout.grid().heads; ++head)
    if (layout.rowOffsets()[(head + 1) * rows] != layout.rowOffsets()[head * rows])
      return head;
  return -1;
}

/// Estimates the time of the slowest worker when tiles of `seconds`, each `copies` times, are
/// assigned longest first.
double estimateDealt(const StageRates &rates, std::vector<double> seconds, int64_t copies,
                     int64_t workers) {
  // With this many tiles for each worker, the last ones make the workers equal.
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

/// Estimates the time of a product whose rows are uneven; returns nothing if groups can't be made.
std::optional<double> estimateUneven(const StageProblem &problem, int64_t head,
                                     const StreamChoice &choice, const StageRates &rates) {
  const TileExtent tile{choice.shape.rows * choice.shape.block, choice.tileN};
  std::string error;
  const std::optional<RowGroups> groups = groupStreamRows(
      problem.layout, head, choice.shape, choice.tileN, /*cluster=*/true, problem.gpu.rates, error);
  if (!groups)
    return std::nullopt;
  std::vector<double> seconds;
  for (int64_t group = 0; group < groups->groups(); ++group) {
    const RowGroupCost &size = groups->sizes[group];
    const double area = static_cast<double>(size.blocks) * choice.shape.block * choice.shape.block;
    seconds.push_back(estimateTile(
        rates, tile, groups->costOf(group, choice.shape, choice.tileN, problem.gpu.rates), area));
  }
  return estimateDealt(rates, std::move(seconds),
                       problem.layout.grid().heads * problem.copies *
                           columnTiles(problem.cols, choice.tileN),
                       problem.gpu.multiprocessors);
}

/// Estimates the time of a product whose groups need `facts`; `copyCost` is that of a StreamShape.
double estimateProduct(const StageProblem &problem, const RowGroupFacts &facts, TileExtent tile,
                       const StageRates &rates, double copyCost = 1) {
  const double depth = facts.panels * problem.layout.block().cols;
  const double area = depth * facts.occupancy * tile.rows;
  const int64_t tiles = facts.groups * problem.copies * columnTiles(problem.cols, tile.cols);
  // The CTAs of a cluster compute a tile together; each loads its columns and a share of the
  // values.
  const int64_t cluster = clusterSize(tile.cols);
  const TileExtent part{tile.rows, tile.cols / cluster};
  const double loaded = bytesPerElement * (depth * copyCost * part.cols + area / cluster);
  const double seconds = estimateTile(rates, part, loaded, area);
  if (cluster == 1)
    return estimateWaves(rates, tiles, problem.gpu.multiprocessors, seconds);
  return rates.clusterLaunchSeconds + estimateWaves(rates, tiles,
                                                    problem.gpu.multiprocessors / cluster,
                                                    seconds + rates.clusterSeconds);
}

/// Finds the fastest shape of stages.
class StreamChooser {
public:
  explicit StreamChooser(const StageProblem &problem)
      : problem(problem), head(firstFilledHead(problem.layout)),
        uneven(head >= 0 && hasUnevenRows(problem.layout, head)) {}

  /// Considers groups of `rows` block rows in stages of `shape`, if that is not null and has room
  /// for so many rows.
  void consider(int64_t rows, const RowGroupFacts &facts, const MeasuredShape *shape);

  StreamChoice best;

private:
  const StageProblem &problem;
  const int64_t head;
  const bool uneven;
};

void StreamChooser::consider(int64_t rows, const RowGroupFacts &facts, const MeasuredShape *shape) {
  if (!shape || rows > shape->rows)
    return;
  const int64_t block = problem.layout.block().rows;
  StreamChoice choice;
  choice.wgmma = shape->team == MeasuredShape::Wgmma;
  const bool pairs = rows > 20 || (rows == 16 && shape->team == MeasuredShape::Pairs);
  choice.warps = choice.wgmma ? streamWgmmaWarps : pairs ? rows / 2 : rows;
  choice.stages = shape->stages;
  const std::optional<StreamShape> fits =
      getStreamShape({block, rows, shape->panels, shape->stages, choice.warps, choice.wgmma,
                      problem.kMajor, problem.gpu.sharedMemoryPerBlock, shape->panelsPerCopy});
  if (!fits)
    return;
  choice.shape = *fits;
  // Without setmaxnreg all warps have equal shares of the registers, which the accumulators must
  // fit.
  constexpr int64_t warpSize = 32;
  const int64_t registers =
      problem.gpu.registersPerMultiprocessor / (warpSize * (choice.warps + streamProducerWarps));
  for (int64_t tileN : {128, 64}) {
    const int64_t accumulators = rows * block * tileN / (warpSize * choice.warps);
    const bool spills = !problem.gpu.setmaxnreg && accumulators + streamOtherRegisters > registers;
    if (!coversColumns(problem.cols, tileN) || !loadsWholePanels(problem, tileN) || spills)
      continue;
    choice.tileN = tileN;
    const StageRates rates = choice.wgmma
                                 ? problem.gpu.rates.streamWgmma
                                 : getStreamRates(problem.gpu.rates, block, choice.warps, pairs);
    std::optional<double> dealt;
    if (uneven)
      dealt = estimateUneven(problem, head, choice, rates);
    choice.seconds = dealt ? *dealt
                           : estimateProduct(problem, facts, {rows * block, tileN}, rates,
                                             choice.shape.copyCost());
    // Choices are in order of preference, because estimates are not exact.
    if (best.stages == 0 || choice.seconds < 0.95 * best.seconds)
      best = choice;
  }
}

} // namespace

StageRates blocksparse::getStreamRates(const ChipRates &rates, int64_t block, int64_t warps,
                                       bool pairs) {
  const StreamRates &stream = block == 32 ? rates.stream32
                              : pairs     ? rates.stream16Pairs
                                          : rates.stream16;
  StageRates worker = stream.rates;
  worker.flopsPerSecond *=
      std::min(1.0, static_cast<double>(warps) / static_cast<double>(stream.fullWarps));
  if (warps <= stream.fullWarps)
    worker.loadedBytesPerSecond = stream.deepRingBytesPerSecond;
  return worker;
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

RowGroupFacts blocksparse::getRowGroupFacts(const BlockLayout &layout, int64_t rows,
                                            int64_t perCopy) {
  const BlockGrid grid = layout.grid();
  RowGroupFacts facts;
  facts.groups = (grid.rows + rows - 1) / rows * grid.heads;
  const int64_t head = firstFilledHead(layout);
  if (head < 0)
    return facts;
  std::string error;
  const std::optional<RowClusters> groups =
      groupBlockRows(layout, head, rows, /*cluster=*/true, perCopy, error);
  if (!groups)
    return facts;
  // A short last group has positions without a row.
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
  const bool narrow = StreamShape::isNarrow(problem.layout.block().rows, problem.kMajor);
  const MeasuredShapes &shapes = getMeasuredShapes(problem.gpu.device);
  StreamChooser chooser(problem);
  for (int64_t rows : {24, 20, 16, 12, 8, 4}) {
    auto consider = [&](std::span<const MeasuredShape> measured, const RowGroupFacts &facts) {
      chooser.consider(rows, facts, findMeasured(measured, problem, facts.occupancy));
    };
    const RowGroupFacts facts = getRowGroupFacts(problem.layout, rows);
    if (narrow) {
      consider(shapes.quads, getRowGroupFacts(problem.layout, rows, /*perCopy=*/4));
      consider(shapes.singles, facts);
    } else {
      consider(shapes.small, facts);
      consider(shapes.large, facts);
    }
  }
  return chooser.best;
}

WgmmaChoice blocksparse::chooseWgmma(const StageProblem &problem) {
  const BlockGrid grid = problem.layout.grid();
  const int64_t rows = problem.layout.block().rows;
  const bool pairs = rows % 128 != 0;
  // A tile of 128 rows is a part of a block row, or two block rows of 64.
  RowGroupFacts facts = getRowGroupFacts(problem.layout, pairs ? 2 : 1);
  facts.groups = (grid.rows * rows + 127) / 128 * grid.heads;
  // If tiles have many k steps, three stages are faster than four by 2 to 8 %, and pairs of rows
  // without clusters by another 2 % (H100, dsd 8192).
  const bool filled = problem.layout.nnz() * 5 >= grid.heads * grid.rows * grid.cols * 2;
  WgmmaChoice best;
  best.stages = filled ? 3 : 4;
  double seconds = 0;
  for (int64_t cols : {256, 512, 128, 64}) {
    const bool cluster = clusterSize(cols) > 1;
    if (!coversColumns(problem.cols, cols) || (cluster && pairs && filled))
      continue;
    const double estimate = estimateProduct(problem, facts, {128, cols}, problem.gpu.rates.wgmma);
    // Candidates are in order of preference. A cluster is the same kernel with fewer loads.
    if (best.tileN == 0 || estimate < (cluster ? 0.97 : 0.95) * seconds) {
      best.tileN = cols;
      seconds = estimate;
    }
  }
  return best;
}
