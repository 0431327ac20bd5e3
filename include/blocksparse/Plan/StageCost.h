// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_PLAN_STAGECOST_H
#define BLOCKSPARSE_PLAN_STAGECOST_H

#include "blocksparse/Plan/Stages.h"

namespace blocksparse {

/// How fast one worker of a persistent kernel is, fitted to dsd on an H100: 132 workers that load
/// from the second-level cache together. Good to about a tenth at 4096 and 8192.
struct StageRates {
  double loadedBytesPerSecond = 62e9;
  double flopsPerSecond = 5.8e12;
  double storedBytesPerSecond = 33e9;
  /// Of a tile beside its bytes, and of a launch.
  double tileSeconds = 1.3e-6, launchSeconds = 4e-6;
  /// Of a tile that a cluster shares, for waiting for each other, and of a launch in clusters.
  double clusterSeconds = 0.5e-6, clusterLaunchSeconds = 0.4e-6;

  /// Warps that a stream kernel needs for its rate: one alone has this part of it, as it waits for
  /// each of its loads.
  static constexpr int64_t fullWarps = 12;

  /// wgmma keeps the tensor cores busy; the warps of a stream kernel wait for shared memory, less
  /// where a warp has `pairs` of rows that share panels, and wgmma with 32 columns for branches.
  static StageRates wgmma() { return {}; }
  static StageRates streamWgmma();
  static StageRates stream(int64_t block, int64_t warps, bool pairs = false);
};

/// Rows and columns of the result of one tile.
struct TileExtent {
  int64_t rows = 0, cols = 0;
};

/// Seconds that a tile takes its worker: loads and multiply-adds overlap, the store does not.
double estimateTile(const StageRates &rates, TileExtent tile, double loadedBytes,
                    double multiplyAdds);

/// Seconds from launch to the end of the slowest worker.
double estimateTime(const StagedRows &staged, const WorkLists &lists, TileExtent tile,
                    const StageRates &rates);

/// What groups of block rows need, as a mean over the groups of the first head that has a block.
struct GroupFacts {
  /// Those of all copies.
  double panels = 0;
  /// Share of a group's panels that one of its rows has a block in.
  double occupancy = 0;
  /// Of all heads.
  int64_t groups = 0;
};

/// Facts about groups of `rows` block rows as buildStreamStages makes them with `cluster`, of
/// panels that come in copies of `perCopy`.
GroupFacts getGroupFacts(const BlockLayout &layout, int64_t rows, int64_t perCopy = 1);

/// A product of op(S), whose pattern `layout` is, by a matrix of `cols` columns, a multiple of 64,
/// `copies` times for each head of the layout.
struct StageProblem {
  const BlockLayout &layout;
  int64_t cols = 0, copies = 1, workers = 132;
  /// The chip has wgmma.
  bool wgmma = true;
  /// Of the matrix as it is stored, see StreamShape.
  bool alongK = false;
};

/// What a stream kernel is built for: stages in the ring, warps that compute, columns of a panel.
struct StreamChoice {
  StreamShape shape;
  int64_t stages = 0, warps = 0, tileN = 0;
  /// Two warpgroups multiply by wgmma (blocks of 32), else every warp by mma.sync.
  bool wgmma = false;
  double seconds = 0;
};

/// The fastest choice by estimate for square blocks of 16 or 32. The sparser the groups, the more
/// rows share a tile and the more panels stand in a stage (shapes that measured best on an H100);
/// fewer rows where workers would go without a tile. Blocks of 16 along k come by copies of four
/// panels unless single ones are estimated to be faster. O(nnz) a candidate; there are at most 24.
StreamChoice chooseStream(const StageProblem &problem);

/// What a wgmma kernel is built for.
struct WgmmaChoice {
  /// Columns of a tile, 512 (of a cluster of two thread blocks), 256, 128 or 64, and stages in the
  /// ring.
  int64_t tileN = 0, stages = 4;
};

/// The fastest choice by estimate for blocks of multiples of 64 x 64. O(nnz).
WgmmaChoice chooseWgmma(const StageProblem &problem);

} // namespace blocksparse

#endif // BLOCKSPARSE_PLAN_STAGECOST_H
