// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/RunTimeTiles.h"
#include "Fault.h"
#include "blocksparse/Plan/StageCost.h"

#include <algorithm>

using namespace blocksparse;

bool blocksparse::hasRunTimeTiles(const KernelProblem &problem) {
  return hasSampledTiles(problem.block) && problem.rows > 0 && problem.cols > 0;
}

bool blocksparse::paysToTileAtRunTime(BlockShape block, double multiplyAdds) {
  // "cuda.mma" takes 20 us longer than the product of tiles for these, by the rates of both on an
  // H200; the planner is predicted to take half of that.
  constexpr int64_t ofSixteen = int64_t{1} << 30, ofMore = int64_t{5} << 30,
                    ofLarge = int64_t{10} << 30;
  const int64_t side = std::min(block.rows, block.cols);
  const int64_t least = side <= 16 ? ofSixteen : side <= subtileSize ? ofMore : ofLarge;
  return multiplyAdds > static_cast<double>(least);
}

RunTimeTileMemory::RunTimeTileMemory(const RunTimeTiles &tiles) {
  constexpr int64_t wordBytes = sizeof(int32_t), warpLanes = 32;
  auto place = [&](int64_t &offset, int64_t words) {
    offset = bytes;
    bytes += words * wordBytes;
  };
  const int64_t words = tiles.sharesSubtiles() ? tiles.columnWords() : 0;
  place(sweep, tiles.sweep);
  place(used, words);
  place(before, words);
  place(sums, mostSums * tiles.threads() / warpLanes);
}

std::optional<RunTimeTiles> RunTimeTiles::get(const KernelProblem &problem,
                                              const Schedule &schedule, const GPUFacts &gpu,
                                              std::string &reason) {
  constexpr int64_t bytesPerElement = 2, mostGathered = int64_t{1} << 16;
  const auto *params = schedule.getIf<WgmmaParams>();
  const std::optional<SampledFactors> factors = SampledFactors::get(
      schedule.family(), problem.block, {problem.transposeA, problem.transposeB});
  if (!params || !factors) {
    reason = "expects a schedule with tiles, but got none";
    return std::nullopt;
  }
  RunTimeTiles tiles;
  tiles.form = SampledForm::get(problem.block, *factors, params->gather, params->cluster);
  if (tiles.form.gathersRows) {
    reason = "expects gather = false for a pattern that is known when the program runs, but got "
             "true";
    return std::nullopt;
  }
  tiles.block = tiles.form.of(problem.block);
  tiles.blockRows = problem.rows / problem.block.rows;
  tiles.blockCols = problem.cols / problem.block.cols;
  if (tiles.form.swapsAB)
    std::swap(tiles.blockRows, tiles.blockCols);
  if (tiles.form.gathersColumns && tiles.blockCols > mostGathered) {
    reason = "expects at most " + text(mostGathered) + " block columns to gather from, but got " +
             text(tiles.blockCols);
    return std::nullopt;
  }
  tiles.workers = std::max<int64_t>(tiles.form.cluster,
                                    gpu.multiprocessors / tiles.form.cluster * tiles.form.cluster);
  // The rows of a sweep fill half of the cache, as those of the compiler's lists do. More rows than
  // columns in flight would read more of the factors.
  constexpr int64_t leastRows = 512, mostRows = 2048;
  const int64_t rows = std::clamp(gpu.plannedCacheBytes() / 2 /
                                      std::max<int64_t>(1, problem.depth * bytesPerElement),
                                  leastRows, mostRows);
  tiles.sweep = std::clamp<int64_t>(rows / (tiles.bundleRows() * tiles.block.rows), 1,
                                    std::max<int64_t>(1, tiles.bundles()));
  if (const int64_t bytes = RunTimeTileMemory(tiles).bytes; bytes > gpu.sharedMemoryPerBlock) {
    reason = "expects block columns of which the planner marks those with blocks in " +
             text(gpu.sharedMemoryPerBlock) + " bytes of shared memory, but got " +
             text(tiles.blockCols) + ", which take " + text(bytes);
    return std::nullopt;
  }
  return tiles;
}
