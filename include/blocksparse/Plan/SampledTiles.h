// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Products at the blocks of a pattern (sdd) as persistent wgmma kernels walk them: a tile is 128
// rows by 256 columns of results, or 64 by 384, in pieces of 64 x 64. Large blocks are cut into
// pieces, and a tile is gathered from the blocks of one block row. Blocks smaller than a piece
// share pieces: a tile is gathered from columns that have blocks in a band of 128 rows of the
// matrix, computed in full, and its blocks alone are stored. Or rows are gathered, too: a tile is
// any block rows by any block columns that are worth it (see BlockCover.h). See Stages.h for the
// work lists.

#ifndef BLOCKSPARSE_PLAN_SAMPLEDTILES_H
#define BLOCKSPARSE_PLAN_SAMPLEDTILES_H

#include "blocksparse/Plan/CoordinateLut.h"
#include "blocksparse/Plan/StageCost.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace blocksparse {

/// Whether tiles are made of blocks of this shape: multiples of 64 x 64 of at most 512 columns, or
/// 16, 32 or 64 rows and columns.
inline bool hasSampledTiles(BlockShape block) {
  auto divides = [](int64_t size) { return size == 16 || size == 32 || size == sampledPiece; };
  if (divides(block.rows) && divides(block.cols))
    return true;
  return block.rows > 0 && block.rows % sampledPiece == 0 && block.cols > 0 &&
         block.cols % sampledPiece == 0 && block.cols <= 8 * sampledPiece;
}

/// Blocks that share a piece, and places of a tile of such blocks.
inline int64_t blocksPerPiece(BlockShape block) {
  return sampledPiece / block.rows * (sampledPiece / block.cols);
}
inline int64_t placesPerTile(BlockShape block) { return 2 * 4 * blocksPerPiece(block); }

/// Whether rows may be gathered: those of a tile are of several block rows.
inline bool canGatherRows(BlockShape block) {
  return hasSampledTiles(block) && block.rows % (2 * sampledPiece) != 0;
}

/// Whether clusters may share rows: all tiles have 128 rows of one block row.
inline bool canShareRows(BlockShape block) {
  return hasSampledTiles(block) && block.rows % (2 * sampledPiece) == 0;
}

/// How the factors lie that tiles are gathered from: A is [M, K] or transposed [K, M], B [K, N] or
/// transposed [N, K].
struct SampledFactors {
  bool transposeA = false, transposeB = false;

  /// Those of the kernel family `kernel` for operands that lie so. "cuda.wgmma" takes the operands;
  /// "cuda.wgmma_turned" first writes what lies across k transposed, so that both factors lie along
  /// it: for blocks that share pieces, which alone are gathered better then. Nothing for any other
  /// family, nor where nothing is to be turned. Planner, verifier and kernel all ask here.
  static std::optional<SampledFactors> get(std::string_view kernel, BlockShape block,
                                           SampledFactors operands);
  bool operator==(const SampledFactors &) const = default;
};

/// How tiles are made.
struct SampledForm {
  /// The transpose of the product is computed: rows are columns of the result.
  bool swapped = false;
  /// Chunks are gathered from any block columns instead of being 64 neighbouring columns.
  bool gathersColumns = false;
  /// Tiles are of any rows, pieces of 64 or smaller blocks, instead of 128 neighbouring ones.
  bool gathersRows = false;
  /// Block rows and columns that are gathered together: those of a piece where they are not
  /// contiguous in memory. (Copies of 64 bytes a row take as long as those of 128, and read
  /// neighbours from memory for nothing.)
  int64_t rowsTogether = 1, columnsTogether = 1;
  /// Workers that share the rows of their tiles, 1 or 2: thread blocks of a cluster.
  int64_t cluster = 1;

  /// Rows that can't be gathered are not, and those that can't be shared by a cluster are not.
  /// `cluster`: at least 1; more than 2 are taken as 2.
  static SampledForm get(BlockShape block, SampledFactors factors, bool gathersRows,
                         int64_t cluster = 1);
  BlockShape of(BlockShape block) const {
    return swapped ? BlockShape{block.cols, block.rows} : block;
  }
  /// Whether the two halves of a tile have their columns in common: they are gathered, or rows of a
  /// band, or of one block row, which has a multiple of 128.
  bool sharesColumns(BlockShape block) const {
    return gathersRows || sharesPieces(block) || block.rows % (2 * sampledPiece) == 0;
  }
  /// Block rows of a tile, where they are gathered: a schedule's `group`, else 1.
  int64_t groupRows(BlockShape block) const {
    return gathersRows ? std::max<int64_t>(2, 2 * sampledPiece / of(block).rows) : 1;
  }
  /// The most chunks of a tile. Of one half, 8 would move fewer bytes for each product (1.125
  /// against 1.167 pieces), but leave room for two stages only.
  int64_t chunks(BlockShape block) const { return sharesColumns(block) ? 4 : 6; }
};

/// A coordinate LUT, the heads that it was made for and the shape of its blocks.
struct SampledProduct {
  std::span<const BlockCoordinate> lut;
  int64_t heads = 1;
  BlockShape block;
  SampledForm form;
};

struct SampledWorkLists {
  std::vector<SampledTile> tiles;
  /// Worker i takes tiles[workers[i]] .. tiles[workers[i + 1] - 1]. Workers of a cluster follow
  /// each other, and have as many tiles: those at the same place have one batch, head and rows.
  std::vector<int32_t> workers;
  /// Rows of placesPerTile numbers where sharesPieces holds, else empty.
  std::vector<int32_t> places;
};

/// Tiles of every (batch, head) of `space` (its panels are not used) over a reduction of `k`.
/// The chunks of a block row or band are taken together in ascending columns, as many as a tile
/// takes or fewer where workers would go without a tile. Blocks of rows, as many as fit in half of
/// the cache, sweep the columns together; tiles of gathered rows come in the order of coverBlocks.
/// The worker with least cost so far takes the next tile; of clusters that one takes the next two
/// of a block row, the second without columns where there is none. Workers that fill no cluster
/// have no list, but there is a cluster. Deterministic. Fails where hasSampledTiles does not hold,
/// for coordinates or places beyond int32, and for more than 65,536 block columns to gather from.
/// O(nnz log nnz).
std::optional<SampledWorkLists> buildSampledTiles(const SampledProduct &product,
                                                  const TileSpace &space, int64_t k,
                                                  const WorkOptions &options, std::string &error);

/// Seconds from launch to the end of the slowest worker: the products of its tiles, which are
/// computed in full, or where it takes longer the loads of all workers together, of which each of a
/// cluster loads its share of the rows; and what clusters cost beside.
double estimateSampledTime(const SampledWorkLists &lists, const SampledProduct &product, int64_t k,
                           const StageRates &rates);

/// Seconds that writing a factor of `bytes` bytes transposed takes, its launch included: at the
/// rate of copies on an H100.
double estimateTurnTime(int64_t bytes);

/// Whether `lists` write every part of every block of the LUT, which must be verified already, once
/// for each batch and head, from the rows and columns where the block stands: every piece of 64 x
/// 64, or where blocks share pieces every block; and whether workers of a cluster share rows. Gives
/// the first fault as "expects X, but got Y", or an empty string.
std::string verifySampledTiles(const SampledProduct &product, const SampledWorkLists &lists,
                               const TileSpace &space);

} // namespace blocksparse

#endif // BLOCKSPARSE_PLAN_SAMPLEDTILES_H
