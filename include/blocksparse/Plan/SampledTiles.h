// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Products at the blocks of a pattern (sdd) as persistent wgmma kernels walk them: a tile is 128
// rows by 256 columns of results, or 64 by 384, gathered from the blocks of one block row, in
// pieces of 64 x 64. See Stages.h for the work lists.

#ifndef BLOCKSPARSE_PLAN_SAMPLEDTILES_H
#define BLOCKSPARSE_PLAN_SAMPLEDTILES_H

#include "blocksparse/Plan/CoordinateLut.h"
#include "blocksparse/Plan/Stages.h"

namespace blocksparse {

/// A row of the table of tiles.
///
/// Where sharesColumns holds, a tile has two halves of 64 rows and up to 4 chunks of 64 columns
/// that both halves share, and the result of half h in chunk c has places[h * 4 + c]; else
/// it has one half (rows[1] is -1) and up to 6 chunks, with places[c].
struct SampledTile {
  /// First row of op(A) of each half and first column of op(B) of each chunk, in elements; -1:
  /// none.
  int32_t rows[2], cols[8];
  /// Where each result goes, -1: nowhere. y * 8 + x / 64 for coordinates (x, y) in elements of the
  /// values seen as a matrix [stored blocks * bm, bn], without the offset of a batch or a head.
  int32_t places[8];
  int32_t batch, head, unused[4];
  bool operator==(const SampledTile &) const = default;
};
static_assert(sizeof(SampledTile) == 24 * sizeof(int32_t));

/// Whether the two halves of a tile are rows of one block row: it has a multiple of 128.
inline bool sharesColumns(BlockShape block) { return block.rows % 128 == 0; }

/// The most chunks of a tile. Of one half, 8 would move fewer bytes for each product (1.125 against
/// 1.167 pieces), but leave room for two stages only.
inline int64_t sampledChunks(BlockShape block) { return sharesColumns(block) ? 4 : 6; }

/// A coordinate LUT, the heads that it was made for and the shape of its blocks.
struct SampledProduct {
  std::span<const BlockCoordinate> lut;
  int64_t heads = 1;
  BlockShape block;
};

struct SampledWorkLists {
  std::vector<SampledTile> tiles;
  /// Worker i takes tiles[workers[i]] .. tiles[workers[i + 1] - 1].
  std::vector<int32_t> workers;
};

/// Tiles of every (batch, head) of `space` (its panels are not used) over a reduction of `k`.
/// The chunks of a block row are taken together in ascending columns, as many as a tile takes or
/// fewer where workers would go without a tile. Blocks of rows, as many as
/// fit in half of the cache, sweep the columns together; the worker with least cost so far takes
/// the next tile. Deterministic. Fails for blocks that are not multiples of 64 x 64 of at most
/// 512 columns, and for coordinates or places beyond int32. O(nnz log nnz).
std::optional<SampledWorkLists> buildSampledTiles(const SampledProduct &product,
                                                  const TileSpace &space, int64_t k,
                                                  const WorkOptions &options, std::string &error);

/// Whether `tiles` and `workers` write every 64 x 64 piece of every block of the LUT, which must
/// be verified already, once for each batch and head, from the rows and columns where the block
/// stands. Gives the first fault as "expects X, but got Y", or an empty string.
std::string verifySampledTiles(const SampledProduct &product, std::span<const SampledTile> tiles,
                               std::span<const int32_t> workers, const TileSpace &space);

} // namespace blocksparse

#endif // BLOCKSPARSE_PLAN_SAMPLEDTILES_H
