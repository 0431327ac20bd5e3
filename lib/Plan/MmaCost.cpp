// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The cost model of `cuda.mma`: CTAs of one tile each, several of which share an SM.

#include "blocksparse/Plan/KernelFamilies.h"
#include "blocksparse/Plan/StageCost.h"
#include "blocksparse/Target/KernelTimes.h"

#include <algorithm>
#include <cmath>

using namespace blocksparse;

namespace {

/// Values of k of a k step, bytes of an element, and extent of a warp tile.
constexpr int64_t stepDepth = 32, bytesPerElement = 2, warpExtent = 64;

double divide(int64_t number, int64_t by) {
  return static_cast<double>(number) / static_cast<double>(by);
}

int64_t divideCeil(int64_t number, int64_t by) { return (number + by - 1) / by; }

/// Returns the warps of a CTA, of which there are at least two.
int64_t warpsOf(TileExtent tile) {
  return std::max<int64_t>(2,
                           divideCeil(tile.rows, warpExtent) * divideCeil(tile.cols, warpExtent));
}

/// Estimates times of the tiles of one product.
class MmaEstimate {
public:
  explicit MmaEstimate(const StageProblem &problem);

  /// Returns the seconds of the product in tiles of `tile`.
  double seconds(TileExtent tile) const;

private:
  /// Returns the bytes that move between memory and the SMs.
  double memoryBytes(double tiles, TileExtent tile) const;

  const StageProblem &problem;
  const MmaTimes &times = getKernelTimes().mma;
  /// Values of k of the mean and of the longest row.
  double depth = 0, longest = 0;
};

} // namespace

MmaEstimate::MmaEstimate(const StageProblem &problem) : problem(problem) {
  const BlockLayout &layout = problem.layout;
  const BlockGrid grid = layout.grid();
  const int64_t rows = std::max<int64_t>(1, grid.heads * grid.rows);
  depth = divide(layout.nnz() * layout.block().cols, rows);
  for (int64_t row = 0; row < grid.heads * grid.rows; ++row)
    longest = std::max(
        longest, static_cast<double>((layout.rowOffsets()[row + 1] - layout.rowOffsets()[row]) *
                                     layout.block().cols));
}

double MmaEstimate::memoryBytes(double tiles, TileExtent tile) const {
  const BlockLayout &layout = problem.layout;
  const BlockGrid grid = layout.grid();
  const BlockShape block = layout.block();
  const auto heads = static_cast<double>(grid.heads * problem.copies);
  const double results = heads * static_cast<double>(grid.rows * block.rows * problem.cols) *
                         static_cast<double>(1 + problem.epilogueMatrices);
  const auto values = static_cast<double>(layout.nnz() * block.rows * block.cols);
  double dense = heads * static_cast<double>(grid.cols * block.cols * problem.cols);
  // No plan orders the tiles so that those in flight share what they load: what does not fit in L2
  // is read again by each of them.
  if (dense * bytesPerElement > static_cast<double>(problem.gpu.plannedCacheBytes()))
    dense = std::max(dense, tiles * depth * static_cast<double>(tile.cols));
  return bytesPerElement * (results + values + dense);
}

double MmaEstimate::seconds(TileExtent tile) const {
  const BlockGrid grid = problem.layout.grid();
  const int64_t perRow = divideCeil(problem.layout.block().rows, tile.rows);
  const int64_t tiles =
      grid.heads * problem.copies * grid.rows * perRow * divideCeil(problem.cols, tile.cols);
  const double area = static_cast<double>(tile.rows * tile.cols);
  const double stepBytes =
      static_cast<double>(bytesPerElement * stepDepth * (tile.rows + tile.cols));
  const StageRates &worker = problem.gpu.rates.wgmma;
  const double step = times.stepSeconds + stepBytes / (times.loads * worker.loadedBytesPerSecond) +
                      2 * stepDepth * area / (times.flops * worker.flopsPerSecond);
  const double epilogue =
      bytesPerElement * area / (times.stores * worker.storedBytesPerSecond) +
      static_cast<double>(problem.epilogueMatrices) * area * times.epilogueOperand;
  const double share = std::max(1.0, divide(tiles, problem.gpu.multiprocessors));
  // The last CTAs leave an SM partly idle, which matters while there are few of them.
  constexpr double few = 8;
  const double perSM = share < few ? std::ceil(share) : share;
  const double busy = std::min(1.0, share * static_cast<double>(warpsOf(tile)) / times.fullWarps);
  const double shared = perSM * (depth / stepDepth * step + epilogue) / busy;
  const double alone = longest / stepDepth * std::max(times.stepLatency, step) + epilogue;
  const double memory =
      memoryBytes(static_cast<double>(tiles), tile) / problem.gpu.rates.memoryBytesPerSecond;
  return times.launchSeconds + std::max({shared, alone, memory});
}

MmaChoice blocksparse::chooseMma(const StageProblem &problem) {
  const MmaEstimate estimate(problem);
  const int64_t most = divideMmaTile(problem.layout.block().rows, MmaParams::usualTile);
  MmaChoice best;
  for (int64_t rows = MmaParams::minTile; rows <= most; rows *= 2)
    for (int64_t cols = 2 * MmaParams::minTile; cols <= MmaParams::maxTileCols; cols *= 2) {
      // A warp has registers for 64 x 64 accumulators, a CTA for 128 x 128.
      if (rows * cols > MmaParams::usualTile * MmaParams::usualTile || cols / 2 >= problem.cols)
        continue;
      const double seconds = estimate.seconds({rows, cols});
      if (best.seconds == 0 || seconds < 0.97 * best.seconds)
        best = {{rows, cols}, seconds};
    }
  return best;
}
