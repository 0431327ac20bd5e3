// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/StageCost.h"
#include "MeasuredShapes.h"
#include "RowGroups.h"
#include "blocksparse/Target/KernelTimes.h"

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
double estimateWaves(const StageRates &rates, int64_t tiles, int64_t workers, TileSeconds tile) {
  workers = std::max<int64_t>(1, workers);
  return rates.launchSeconds + static_cast<double>((tiles + workers - 1) / workers) * tile.each +
         tile.first;
}

/// Returns true if the dense operand of a head fits in the L2 cache.
bool fitsCache(const StageProblem &problem) {
  const int64_t depth = problem.layout.grid().cols * problem.layout.block().cols;
  return depth * problem.cols * bytesPerElement <= problem.gpu.l2Bytes;
}

/// Returns the rates of a worker, of which `rates` are those for operands that come from memory.
StageRates getRates(const StageProblem &problem, StageRates rates) {
  if (!fitsCache(problem))
    return rates;
  const KernelTimes &times = getKernelTimes();
  rates.loadedBytesPerSecond *= times.loads;
  rates.flopsPerSecond *= times.loads;
  rates.storedBytesPerSecond *= times.stores;
  rates.tileSeconds = times.tileSeconds;
  rates.launchSeconds = times.launchSeconds;
  return rates;
}

/// Returns what the epilogue of a tile takes beside its store.
double epilogueSeconds(const StageProblem &problem, TileExtent tile) {
  return static_cast<double>(problem.epilogueMatrices * tile.rows * tile.cols) *
         getKernelTimes().epilogueOperand;
}

/// Returns the bytes of the matrices that the epilogue of a tile adds.
double epilogueBytes(const StageProblem &problem, TileExtent tile) {
  return static_cast<double>(problem.epilogueMatrices * tile.rows * tile.cols * bytesPerElement);
}

/// Returns the bytes of the stored values of all heads, once.
double valueBytes(const StageProblem &problem) {
  const BlockShape block = problem.layout.block();
  return static_cast<double>(problem.layout.nnz() * block.rows * block.cols * bytesPerElement);
}

/// Returns the seconds of the kernel that packs values, which reads and writes them.
double packSeconds(const StageProblem &problem) {
  return problem.packs ? getKernelTimes().extraLaunch +
                             2 * valueBytes(problem) / problem.gpu.rates.memoryBytesPerSecond
                       : 0;
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

/// Returns the seconds of a stage of a stream kernel beside its bytes and multiply-adds.
double stageSeconds(const StreamChoice &choice) {
  const KernelTimes &times = getKernelTimes();
  return choice.wgmma               ? times.streamWgmmaStage
         : choice.shape.block == 32 ? times.stream32Stage
                                    : times.stream16Stage;
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
  double first = 0;
  for (int64_t group = 0; group < groups->groups(); ++group) {
    const RowGroupCost &size = groups->sizes[group];
    TileWork work;
    work.loadedBytes =
        static_cast<double>(groups->costOf(group, choice.shape, choice.tileN, problem.gpu.rates)) +
        epilogueBytes(problem, tile);
    work.multiplyAdds = static_cast<double>(size.blocks) * choice.shape.block * choice.shape.block;
    work.epilogueSeconds = epilogueSeconds(problem, tile);
    const TileSeconds times = estimateTiles(rates, tile, work);
    seconds.push_back(times.each);
    first = std::max(first, times.first);
  }
  return first + estimateDealt(rates, std::move(seconds),
                               problem.layout.grid().heads * problem.copies *
                                   columnTiles(problem.cols, choice.tileN),
                               problem.gpu.multiprocessors);
}

/// Describes the stages of a kernel: panels of each, stages of the ring, and seconds of a stage
/// beside its bytes and multiply-adds; `copyCost` is that of a StreamShape.
struct RingShape {
  double panels = 1, stages = 0, stageSeconds = 0, copyCost = 1;
};

/// Estimates the time of a product whose groups need `facts`.
double estimateProduct(const StageProblem &problem, const RowGroupFacts &facts, TileExtent tile,
                       const StageRates &rates, const RingShape &ring) {
  const double depth = facts.panels * problem.layout.block().cols;
  const double area = depth * facts.occupancy * tile.rows;
  const int64_t tiles = facts.groups * problem.copies * columnTiles(problem.cols, tile.cols);
  // The CTAs of a cluster compute a tile together; each loads its columns and a share of the
  // values.
  const int64_t cluster = clusterSize(tile.cols);
  const TileExtent part{tile.rows, tile.cols / cluster};
  TileWork work;
  work.loadedBytes = bytesPerElement * (depth * ring.copyCost * part.cols + area / cluster) +
                     epilogueBytes(problem, part);
  work.multiplyAdds = area;
  if (fitsCache(problem))
    work.ring = {facts.panels / ring.panels, ring.stageSeconds, ring.stages};
  work.epilogueSeconds = epilogueSeconds(problem, part);
  TileSeconds seconds = estimateTiles(rates, part, work);
  if (cluster == 1)
    return estimateWaves(rates, tiles, problem.gpu.multiprocessors, seconds);
  seconds.each += rates.clusterSeconds;
  return rates.clusterLaunchSeconds +
         estimateWaves(rates, tiles, problem.gpu.multiprocessors / cluster, seconds);
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
    const StageRates worker = choice.wgmma
                                  ? problem.gpu.rates.streamWgmma
                                  : getStreamRates(problem.gpu.rates, block, choice.warps, pairs);
    // Uneven rows were fitted with these rates alone: the longest row decides.
    const StageRates rates = uneven ? worker : getRates(problem, worker);
    std::optional<double> dealt;
    if (uneven)
      dealt = estimateUneven(problem, head, choice, rates);
    const RingShape ring{.panels = static_cast<double>(choice.shape.panels),
                         .stages = static_cast<double>(choice.stages),
                         .stageSeconds = stageSeconds(choice),
                         .copyCost = choice.shape.copyCost()};
    choice.seconds =
        dealt ? *dealt : estimateProduct(problem, facts, {rows * block, tileN}, rates, ring);
    // Tiles of 64 columns took 3 to 6 % longer than this estimate.
    if (tileN == 64 && !uneven)
      choice.seconds *= 1.05;
    choice.seconds += packSeconds(problem);
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

TileSeconds blocksparse::estimateTiles(const StageRates &rates, TileExtent tile,
                                       const TileWork &work) {
  const RingWork &ring = work.ring;
  const double stages = ring.fills * ring.stageSeconds;
  const double loads = work.loadedBytes / rates.loadedBytesPerSecond + stages;
  const double products = 2 * work.multiplyAdds * tile.cols / rates.flopsPerSecond + stages;
  const double epilogue = tile.rows * tile.cols * bytesPerElement / rates.storedBytesPerSecond +
                          rates.tileSeconds + work.epilogueSeconds;
  double ahead = 0;
  if (ring.stages > 0)
    ahead = ring.fills > ring.stages ? loads * ring.stages / ring.fills : loads;
  const double busy = std::max(loads - std::min(ahead, epilogue), products);
  return {busy + epilogue, std::max(0.0, loads - busy)};
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
      consider(shapes.sparse, facts);
      consider(shapes.large, facts);
    }
  }
  return chooser.best;
}

WgmmaChoice blocksparse::chooseWgmma(const StageProblem &problem) {
  // Values of k of a stage, and stages of the rings that measured best. A ring of narrow tiles has
  // room for more.
  constexpr int64_t stageDepth = 64, usualStages = 4, narrowCols = 128;
  const BlockGrid grid = problem.layout.grid();
  const BlockShape block = problem.layout.block();
  const bool pairs = block.rows % 128 != 0;
  // A tile of 128 rows is a part of a block row, or two block rows of 64.
  RowGroupFacts facts = getRowGroupFacts(problem.layout, pairs ? 2 : 1);
  facts.groups = (grid.rows * block.rows + 127) / 128 * grid.heads;
  // If tiles have many k steps, three stages are faster than four by 2 to 8 %, and pairs of rows
  // without clusters by another 2 % (H100, dsd 8192).
  const bool filled = problem.layout.nnz() * 5 >= grid.heads * grid.rows * grid.cols * 2;
  const double steps = facts.panels * static_cast<double>(block.cols) / stageDepth;
  const StageRates rates = getRates(problem, problem.gpu.rates.wgmma);
  WgmmaChoice best;
  for (int64_t cols : {256, 512, 128, 64}) {
    const bool cluster = clusterSize(cols) > 1;
    if (!coversColumns(problem.cols, cols) || (cluster && pairs && filled))
      continue;
    // Where a tile has more k steps than the ring, more stages are loaded behind its epilogue.
    const bool deep = cols <= narrowCols && steps > usualStages;
    WgmmaChoice choice;
    choice.tileN = cols;
    choice.stages = deep ? (cols == narrowCols ? 6 : 8) : filled ? 3 : usualStages;
    const RingShape ring{.panels = stageDepth / static_cast<double>(block.cols),
                         .stages = static_cast<double>(choice.stages),
                         .stageSeconds = getKernelTimes().wgmmaStage};
    choice.seconds = estimateProduct(problem, facts, {128, cols}, rates, ring);
    // Candidates are in order of preference. A cluster is the same kernel with fewer loads.
    if (best.tileN == 0 || choice.seconds < (cluster ? 0.97 : 0.95) * best.seconds)
      best = choice;
  }
  return best;
}
