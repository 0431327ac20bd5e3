// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The tiles and work lists of a product at the blocks of a pattern that is known when the program
// runs (sdd): how large their tables are, and where their parts stand. The device makes the tables
// of blocksparse/Plan/SampledTiles.h from a coordinate LUT that is sorted by block rows, so that
// the kernels that compute do not know who made their tables. Tiles of gathered rows need a search
// that only the compiler does.
//
// A bundle is the block rows whose tiles one CTA of the planner makes: those of one row tile if
// blocks share subtiles, else one block row, which may have several row tiles. If operands are
// swapped, the block rows of this file are block columns of the pattern. A column of a bundle is
// what tiles are put together from: 64 neighbouring columns, or one block column if columns are
// gathered.
//
// Several neighbouring bundles form a sweep: they go through their columns together, so that tiles
// in flight share rows and columns of the factors in the L2 cache. Every tile is computed in full,
// so workers take tiles in turn.

#ifndef BLOCKSPARSE_PLAN_RUNTIMETILES_H
#define BLOCKSPARSE_PLAN_RUNTIMETILES_H

#include "blocksparse/Plan/KernelFamilies.h"
#include "blocksparse/Plan/SampledForm.h"

#include <optional>
#include <string>

namespace blocksparse {

/// Returns true if the device can make tiles for the blocks of a sampled product.
bool hasRunTimeTiles(const KernelProblem &problem);

/// Returns true if a product of `multiplyAdds` at the blocks of a run-time pattern gains more by
/// tiles than it takes the device to make them.
bool paysToTileAtRunTime(BlockShape block, double multiplyAdds);

/// Describes the tiles that the device makes of a coordinate LUT.
struct RunTimeTiles {
  static constexpr int64_t bitsPerWord = 32;

  /// Shape of a block, block rows and block columns of the result, as the form sees them.
  BlockShape block;
  int64_t blockRows = 0, blockCols = 0;
  SampledForm form;
  int64_t workers = 1;
  /// Number of bundles of a sweep.
  int64_t sweep = 1;

  /// Returns the tiles for a problem that hasRunTimeTiles accepts, or nothing if the device can't
  /// make those that `schedule` asks for, and the reason as "expects X, but got Y". `schedule` is
  /// legal for the problem.
  static std::optional<RunTimeTiles> get(const KernelProblem &problem, const Schedule &schedule,
                                         const GPUFacts &gpu, std::string &reason);

  bool sharesSubtiles() const { return ::blocksparse::sharesSubtiles(block); }
  /// Returns true if a tile has two halves with the same columns.
  bool hasHalves() const { return form.sharesColumns(block); }
  /// Returns the rows of a tile.
  int64_t tileRows() const { return hasHalves() ? 2 * subtileSize : subtileSize; }

  /// Return the block rows and the row tiles of a bundle, and the number of bundles.
  int64_t bundleRows() const { return sharesSubtiles() ? 2 * subtileSize / block.rows : 1; }
  int64_t rowTiles() const { return sharesSubtiles() ? 1 : block.rows / tileRows(); }
  int64_t bundles() const { return (blockRows + bundleRows() - 1) / bundleRows(); }

  /// Return how many block columns a column has, and how many columns a block has. One of them is
  /// 1.
  int64_t blocksOfColumn() const {
    return sharesSubtiles() && !form.gathersColumns ? subtileSize / block.cols : 1;
  }
  int64_t columnsOfBlock() const { return sharesSubtiles() ? 1 : block.cols / subtileSize; }
  /// Returns the columns of a bundle in which it may have blocks that share subtiles.
  int64_t columns() const { return (blockCols + blocksOfColumn() - 1) / blocksOfColumn(); }
  /// Returns the words that have a bit for each column.
  int64_t columnWords() const { return (columns() + bitsPerWord - 1) / bitsPerWord; }
  /// Returns how many blocks of a bundle may lie in one column.
  int64_t blocksInColumn() const { return bundleRows() * blocksOfColumn(); }
  /// Returns the most columns of a tile, and of the tiles of a cluster.
  int64_t tileColumns() const {
    return form.subtileColumns(block) * (form.gathersColumns ? subtileSize / block.cols : 1);
  }
  int64_t clusterColumns() const { return tileColumns() * form.cluster; }

  /// Returns the first word of the marks of a bundle that belongs to pass 0 or 1 over its blocks: a
  /// pass has words of a bit for each column, for each place that a block may have in a column.
  /// The words of `pass` 2 have a bit for each column that has any block.
  int64_t firstMark(int64_t pass) const { return pass * blocksInColumn() * columnWords(); }
  int64_t markWords() const { return firstMark(2) + columnWords(); }

  /// Returns the workers of a cluster's lists: the clusters that take tiles in turn.
  int64_t clusters() const { return workers / form.cluster; }
  /// Returns the most tiles of a cluster that a pattern of `blocks` blocks needs in each row tile.
  int64_t mostClusterTiles(int64_t blocks) const {
    return bundles() + blocks * columnsOfBlock() / clusterColumns();
  }
  /// Returns how many tiles the tiles of a cluster are in all row tiles of a bundle.
  int64_t tilesTogether() const { return rowTiles() * form.cluster; }
  /// Returns the threads of a CTA of the planner. Swapped operands have one CTA read all blocks.
  int64_t threads() const { return form.swapsAB ? 1024 : 256; }
};

/// Describes where the parts of a CTA of the planner stand in shared memory, as byte offsets.
struct RunTimeTileMemory {
  explicit RunTimeTileMemory(const RunTimeTiles &tiles);

  /// For each bundle of the sweep: its tiles of a cluster in a row tile.
  int64_t sweep = 0;
  /// A bit for each column that has blocks, and for each such word the columns before it.
  int64_t used = 0, before = 0;
  /// For each warp and each of up to `mostSums` sums: what its lanes add up to.
  static constexpr int64_t mostSums = 4;
  int64_t sums = 0;
  int64_t bytes = 0;
};

/// Names what is counted of a bundle of blocks that share subtiles: its columns, and the blocks
/// that have had the place of another one so far.
struct RunTimeTileCount {
  enum Index : int64_t { Columns, Repeated };
  static constexpr int64_t count = 2;
};

} // namespace blocksparse

#endif // BLOCKSPARSE_PLAN_RUNTIMETILES_H
