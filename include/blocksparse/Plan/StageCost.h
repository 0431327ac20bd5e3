// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_PLAN_STAGECOST_H
#define BLOCKSPARSE_PLAN_STAGECOST_H

#include "blocksparse/Plan/Stages.h"
#include "blocksparse/Target/TargetInfo.h"

namespace blocksparse {

/// Returns the rates of a worker of a stream kernel with `warps` warps that multiply by mma.sync
/// blocks of 16 or 32; with `pairs` each warp has two rows that share what is loaded of a panel.
StageRates getStreamRates(const ChipRates &rates, int64_t block, int64_t warps, bool pairs = false);

/// Describes the extent of a tile: rows and columns of its result.
struct TileExtent {
  int64_t rows = 0, cols = 0;
};

/// Returns the seconds that a worker takes for a tile: loads and multiply-adds overlap, the store
/// does not. `multiplyAdds` are those for one column.
double estimateTile(const StageRates &rates, TileExtent tile, double loadedBytes,
                    double multiplyAdds);

/// Describes how a tile uses the ring: stages that it fills, seconds of each beside its bytes and
/// multiply-adds, and stages of the ring, 0 if nothing is known to be loaded ahead.
struct RingWork {
  double fills = 0, stageSeconds = 0, stages = 0;
};

/// Describes what a worker does for a tile beside storing it.
struct TileWork {
  /// Bytes that it loads, and multiply-adds for one column.
  double loadedBytes = 0, multiplyAdds = 0;
  RingWork ring;
  /// Seconds of the epilogue beside the store.
  double epilogueSeconds = 0;
};

/// Holds the seconds of the tiles of a worker: of each one, and what the first one takes beside
/// that. Stages of the next tile are loaded during the epilogue of a tile, as many as the ring has.
struct TileSeconds {
  double each = 0, first = 0;
};

/// Returns the seconds that a worker takes for tiles of equal work.
TileSeconds estimateTiles(const StageRates &rates, TileExtent tile, const TileWork &work);

/// Returns the seconds from the launch to the end of the slowest worker.
double estimateTime(const StagedRows &staged, const WorkLists &lists, TileExtent tile,
                    const StageRates &rates);

/// Describes what groups of block rows need, as a mean over the groups of the first head that has a
/// block.
struct RowGroupFacts {
  /// Number of panels that a group loads, those of whole copies.
  double panels = 0;
  /// Share of a group's panels that one of its rows has a block in.
  double occupancy = 0;
  /// Number of groups of all heads.
  int64_t groups = 0;
};

/// Returns the facts about groups of `rows` block rows as buildStreamStages makes them with
/// `cluster`, whose panels are loaded in copies of `perCopy`.
RowGroupFacts getRowGroupFacts(const BlockLayout &layout, int64_t rows, int64_t perCopy = 1);

/// Describes a product of op(S), whose pattern is `layout`, by a matrix of `cols` columns, `copies`
/// times for each head of the layout, on a GPU.
struct StageProblem {
  const BlockLayout &layout;
  int64_t cols, copies;
  const GPUFacts &gpu;
  /// True if the matrix is stored with k along its rows, see StreamShape.
  bool kMajor = false;
  /// True if a kernel must pack the values of a stream kernel first, because they are no constants.
  bool packs = false;
  /// Number of matrices of the size of the result that the epilogue adds.
  int64_t epilogueMatrices = 0;
};

/// Describes what a stream kernel is built for: stages in the ring, warps that compute, columns of
/// a column tile.
struct StreamChoice {
  StreamShape shape;
  int64_t stages = 0, warps = 0, tileN = 0;
  /// True if two warpgroups multiply by wgmma (blocks of 32), else every warp multiplies by
  /// mma.sync.
  bool wgmma = false;
  double seconds = 0;
};

/// Returns the fastest choice by estimate for square blocks of 16 or 32; without stages if none
/// fits the shared memory of the GPU. The sparser the groups, the more rows share a tile and the
/// more panels a stage has (shapes that measured best); there are fewer rows if workers would else
/// go without a tile. Blocks of 16 of a K-major matrix are loaded by copies of four panels unless
/// single ones are estimated to be faster. O(nnz) a candidate; there are at most 24.
StreamChoice chooseStream(const StageProblem &problem);

/// Describes what a wgmma kernel is built for.
struct WgmmaChoice {
  /// Columns of a tile, 512 (of a cluster of two CTAs), 256, 128 or 64, and stages in the ring.
  int64_t tileN = 0, stages = 4;
  double seconds = 0;
};

/// Returns the fastest choice by estimate for blocks of multiples of 64 x 64. O(nnz).
WgmmaChoice chooseWgmma(const StageProblem &problem);

/// Describes a tile of a `cuda.mma` kernel.
struct MmaChoice {
  TileExtent tile;
  double seconds = 0;
};

/// Returns the fastest tile by estimate for 16-bit factors and blocks of multiples of 16 rows and
/// columns, whose rows are not split. O(nnz).
MmaChoice chooseMma(const StageProblem &problem);

} // namespace blocksparse

#endif // BLOCKSPARSE_PLAN_STAGECOST_H
