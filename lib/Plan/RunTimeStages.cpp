// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/RunTimeStages.h"
#include "Fault.h"

#include <algorithm>
#include <limits>

using namespace blocksparse;

int64_t blocksparse::columnTilesTogether(int64_t opRows, bool stream, int64_t cluster) {
  if (stream)
    return 1;
  const bool pairs = opRows % 128 != 0;
  if (!pairs)
    return 2;
  return cluster > 1 ? 1 : 4;
}

/// Returns the order of the tiles of a wgmma kernel, whose column tiles have `bytes` bytes of the
/// dense operand each, and of which `least` are computed side by side in any case. A turn of column
/// tiles is read by all row groups: if it and the values stay in the L2 cache, both are read from
/// memory once. Where the whole operand almost fits, turns may be as long as they need.
static TileOrder getTileOrder(const TileGrid &grid, int64_t bytes, int64_t least, double length,
                              const GPUFacts &gpu) {
  const bool fits = grid.columnTiles * bytes <= gpu.l2Bytes * 4 / 3;
  const int64_t most = fits ? grid.columnTiles : gpu.l2Bytes * 2 / 5 / std::max<int64_t>(1, bytes);
  return chooseTileOrder(grid, least, most, length);
}

bool blocksparse::paysToPlanAtRunTime(BlockShape block, double multiplyAdds) {
  // Kernels without stages take as much longer for these products as the kernels that plan and pack
  // took together on an H200 (docs/Developer/LabNotes/run-time-plans.md).
  constexpr int64_t ofSixteen = int64_t{7} << 30, ofLarger = int64_t{11} << 30;
  return multiplyAdds >
         static_cast<double>(std::min(block.rows, block.cols) <= 16 ? ofSixteen : ofLarger);
}

bool blocksparse::hasRunTimeBlocks(const KernelProblem &problem) {
  const BlockShape block = problem.block;
  return isStreamBlock(problem) || ((block.rows == wgmmaSlabRows ||
                                     (block.rows > 0 && block.rows % (2 * wgmmaSlabRows) == 0)) &&
                                    block.cols > 0 && block.cols % wgmmaSlabRows == 0);
}

RunTimeStageMemory::RunTimeStageMemory(const RunTimeStages &stages) {
  constexpr int64_t wordBytes = sizeof(int32_t);
  auto place = [&](int64_t &offset, int64_t words) {
    offset = bytes;
    bytes += words * wordBytes;
  };
  const int64_t panels = stages.denseBlocks;
  // Neighbouring words may be read together, 16 bytes at a time.
  constexpr int64_t together = 4;
  place(left, (stages.bundleRows() + together - 1) / together * together);
  for (int64_t *field : {&tile, &first, &count})
    place(*field, stages.bundleRows());
  place(lengths, stages.transposeValues ? stages.tiles : 0);
  classes = bytes;
  place(found, stages.placesOfBundle());
  place(taken, stages.placesOfBundle());
  place(used, panels);
  place(before, panels + 1);
  place(next, panels + 1);
  place(jumps, panels);
  place(starts, (panels + recordsOfJump - 1) / recordsOfJump);
  place(cuts, panels + 1);
  // The numbers of each class stand where the parts from `found` on stand later.
  bytes = std::max(bytes, classes + stages.threads() * stages.classWordsOfThread() * wordBytes);
  place(sums, stages.warps());
  for (int64_t *number : {&numUsed, &numRecords, &numStarts, &numBefore, &numBlocks})
    place(*number, 1);
}

int64_t RunTimeStages::sharedBytes() const { return RunTimeStageMemory(*this).bytes; }

static std::string expects(const std::string &wanted, const std::string &got) {
  return "expects " + wanted + ", but got " + got;
}

/// Returns the first fault of the blocks and of the records, or an empty string.
static std::string checkRecords(const RunTimeStages &stages) {
  const BlockShape block = stages.block;
  if (!stages.isStream()) {
    const int64_t rows = stages.opRows(), depth = stages.opDepth();
    return (rows == wgmmaSlabRows || rows % (2 * wgmmaSlabRows) == 0) && depth % wgmmaSlabRows == 0
               ? std::string()
               : expects("blocks of 64 rows or a multiple of 128, and of a multiple of 64 columns",
                         text(rows) + "x" + text(depth));
  }
  if (stages.groupRows < 1 || stages.groupRows > maxGroupRows ||
      (stages.byPanel && stages.groupRows % 2 != 0))
    return expects("row groups of 1 to 32 block rows, an even number with by_panel",
                   text(stages.groupRows));
  if (block.rows != block.cols || (block.rows != 16 && block.rows != 32) || stages.panels > 16 ||
      stages.places < stages.groupRows)
    return expects("square blocks of 16 or 32 in records of 1 to 16 panels and a value block for "
                   "each block row",
                   "blocks of " + text(block.rows) + "x" + text(block.cols) + ", " +
                       text(stages.panels) + " panels and " + text(stages.places) +
                       " value blocks");
  return {};
}

std::string RunTimeStages::check() const {
  if (denseBlocks < 1)
    return expects("at least 1 block row of the dense factor", text(denseBlocks));
  if (space.columnTiles < 1 || space.batches < 1 || space.heads < 1)
    return expects("a space of 3 positive sizes", text(space.columnTiles) + ", " +
                                                      text(space.batches) + " and " +
                                                      text(space.heads));
  if (workers < 1)
    return expects("at least 1 worker", text(workers));
  if (order.together < 1 || space.columnTiles % order.together != 0)
    return expects("column tiles side by side that divide " + text(space.columnTiles),
                   text(order.together));
  if (std::string fault = checkRecords(*this); !fault.empty())
    return fault;
  if (denseBlocks > maxBundleBlocks / bundleRows())
    return expects("at most " + text(maxBundleBlocks) + " places for the blocks of a row group",
                   text(denseBlocks) + " in each of " + text(bundleRows()) + " block rows");
  constexpr double most = std::numeric_limits<int32_t>::max();
  const double wanted = static_cast<double>(groups()) * static_cast<double>(space.columnTiles) *
                        static_cast<double>(space.batches) * static_cast<double>(space.heads);
  return wanted <= most ? std::string()
                        : expects("at most 2147483647 tiles", std::to_string(wanted));
}

std::optional<RunTimeStages> RunTimeStages::get(const KernelProblem &problem,
                                                const Schedule &schedule, const TileSpace &space,
                                                const GPUFacts &gpu, std::string &reason) {
  auto fail = [&](std::string text) {
    reason = std::move(text);
    return std::nullopt;
  };
  RunTimeStages stages;
  const BlockShape block = problem.block;
  stages.block = problem.transposedBlocks ? BlockShape{block.cols, block.rows} : block;
  stages.transposeValues = problem.transposedBlocks;
  stages.tiles = (problem.rows + block.rows - 1) / block.rows;
  stages.denseBlocks = (problem.depth + block.cols - 1) / block.cols;
  stages.space = space;
  if (space.heads != 1)
    return fail(expects("one head", text(space.heads)));
  const auto *stream = schedule.getIf<StreamParams>();
  if (stream) {
    if (stream->block != 0)
      return fail(expects("blocks that are multiplied as they are stored",
                          "blocks that are planned as " + text(stream->block)));
    if (stream->panelsPerCopy != 1)
      return fail(expects("panels_per_copy = 1", text(stream->panelsPerCopy)));
    std::optional<StreamShape> shape = getStreamShape(
        getStreamSizes(schedule, block.rows, problem.denseKMajor, gpu.sharedMemoryPerBlock),
        &reason);
    if (!shape)
      return std::nullopt;
    stages.groupRows = shape->rows;
    stages.panels = shape->panels;
    stages.places = shape->blocks;
    stages.byPanel = shape->byPanel;
  }
  const int64_t cluster = getClusterSize(schedule);
  stages.workers = std::max<int64_t>(1, gpu.multiprocessors / cluster);
  if (std::string fault = stages.check(); !fault.empty())
    return fail(fault);
  const int64_t together = columnTilesTogether(block.rows, stages.isStream(), cluster);
  if (const auto *wgmma = schedule.getIf<WgmmaParams>()) {
    constexpr int64_t bytesPerElement = 2;
    const int64_t cols = wgmma->tile.cols * wgmma->cluster;
    stages.order = getTileOrder(stages.grid(), problem.depth * cols * bytesPerElement, together,
                                runTimeDensity * static_cast<double>(stages.denseBlocks), gpu);
  }
  if (stages.sharedBytes() > gpu.sharedMemoryPerBlock)
    return fail(
        expects("a reduction whose panels fit " + text(gpu.sharedMemoryPerBlock) +
                    " bytes of shared memory of the planner",
                text(stages.denseBlocks) + " panels of " + text(stages.sharedBytes()) + " bytes"));
  return stages;
}
