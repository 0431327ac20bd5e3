// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The work lists of persistent wgmma kernels of products at the blocks of a pattern (sdd). A tile
// is 128 rows by 256 columns of results, or 64 by 384, in subtiles of 64 x 64. Blocks that are made
// of subtiles are cut into them, and a tile is gathered from the blocks of one block row. Smaller
// blocks share subtiles: a tile is gathered from columns that have blocks in a row tile, 128 rows
// of the matrix; it is computed in full, and only its blocks are stored. If rows are gathered too,
// a tile is any block rows by any block columns that a block cover finds (see BlockCover.h). See
// Stages.h for the tables of workers and Tables.h for the fields of a tile.

#ifndef BLOCKSPARSE_PLAN_SAMPLEDTILES_H
#define BLOCKSPARSE_PLAN_SAMPLEDTILES_H

#include "blocksparse/Plan/CoordinateLut.h"
#include "blocksparse/Plan/SampledForm.h"
#include "blocksparse/Plan/StageCost.h"

namespace blocksparse {

/// Describes a coordinate LUT: the number of heads that it was made for, the shape of its blocks
/// and the form of its tiles.
struct SampledProduct {
  std::span<const BlockCoordinate> lut;
  int64_t heads = 1;
  BlockShape block;
  SampledForm form;
};

/// Holds the tables `tiles` of a planned_sdd.
struct SampledWorkLists {
  std::vector<SampledTile> tiles;
  /// Worker i computes tiles[workers[i]] .. tiles[workers[i + 1] - 1]. The workers of a cluster
  /// follow each other and have equally many tiles; tiles at the same index in their lists have the
  /// same batch, head and rows.
  std::vector<int32_t> workers;
  /// Rows of destinationsPerTile(block) destinations if sharesSubtiles(block) is true, else empty.
  /// A row is [half][subtile column][block row][block column] of the blocks of the subtiles: the
  /// value block that is stored, -1: none. All batches and heads of a pattern share the rows.
  std::vector<int32_t> destinations;
};

/// Returns the tiles of every (batch, head) of `space`, whose column tiles are not used, over a
/// reduction of `k`. The subtile columns of a block row or row tile are put together in ascending
/// order, as many as fit in a tile, or fewer if workers would otherwise get no tile. Blocks of
/// rows, as many as fit in half of the L2 cache, go through the columns together; tiles of gathered
/// rows are in the order of coverBlocks. Tiles are assigned by list scheduling; of clusters, the
/// one with the least cost so far gets the next two tiles of a block row, the second one without
/// columns if there is none. Workers that do not fill a cluster have no list, but there is at least
/// one cluster. Deterministic. Fails if hasSampledTiles(block) is false, for coordinates or
/// destinations beyond int32, and for more than 65,536 block columns to gather from. O(nnz log
/// nnz).
std::optional<SampledWorkLists> buildSampledTiles(const SampledProduct &product,
                                                  const TileSpace &space, int64_t k,
                                                  const WorkOptions &options, std::string &error);

/// Returns the seconds from the launch to the end of the slowest worker: the time of the products
/// of its tiles, which are computed in full, or, if that is longer, of the loads of all workers
/// together, and the time that clusters cost in addition. The CTAs of a cluster load each row of
/// their tiles once.
double estimateSampledTime(const SampledWorkLists &lists, const SampledProduct &product, int64_t k,
                           const StageRates &rates);

/// Returns the seconds that writing a factor of `bytes` bytes transposed takes, including its
/// launch.
double estimateTransposeTime(const ChipRates &rates, int64_t bytes);

/// Checks that `lists` store every part of every block of the LUT, which must be verified already,
/// once for each batch and head, from the rows and columns of the block; a part is a subtile, or a
/// block if blocks share subtiles. Checks also that the workers of a cluster share rows. Returns
/// the first fault as "expects X, but got Y", or an empty string.
std::string verifySampledTiles(const SampledProduct &product, const SampledWorkLists &lists,
                               const TileSpace &space);

} // namespace blocksparse

#endif // BLOCKSPARSE_PLAN_SAMPLEDTILES_H
