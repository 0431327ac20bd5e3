// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How the tiles of a product at the blocks of a pattern are made. Planner, verifier and kernel all
// decide by the functions of this file; see blocksparse/Plan/SampledTiles.h for the tiles.

#ifndef BLOCKSPARSE_PLAN_SAMPLEDFORM_H
#define BLOCKSPARSE_PLAN_SAMPLEDFORM_H

#include "blocksparse/Plan/Schedule.h"
#include "blocksparse/Plan/Tables.h"

#include <algorithm>
#include <optional>

namespace blocksparse {

/// Returns true if tiles can be made of blocks of this shape: multiples of 64 x 64 with at most 512
/// columns, or 16, 32 or 64 rows and columns.
inline bool hasSampledTiles(BlockShape block) {
  auto divides = [](int64_t size) { return size == 16 || size == 32 || size == subtileSize; };
  if (divides(block.rows) && divides(block.cols))
    return true;
  return block.rows > 0 && block.rows % subtileSize == 0 && block.cols > 0 &&
         block.cols % subtileSize == 0 && block.cols <= 8 * subtileSize;
}

/// Returns the number of blocks that share a subtile.
inline int64_t blocksPerSubtile(BlockShape block) {
  return subtileSize / block.rows * (subtileSize / block.cols);
}
/// Returns the number of destinations of a tile of blocks that share subtiles: two halves of four
/// subtiles.
inline int64_t destinationsPerTile(BlockShape block) { return 2 * 4 * blocksPerSubtile(block); }

/// Returns true if the rows of a tile may be gathered: they are those of several block rows.
inline bool canGatherRows(BlockShape block) {
  return hasSampledTiles(block) && block.rows % (2 * subtileSize) != 0;
}

/// Returns true if the CTAs of a cluster may share the rows of A: every tile then has 128 rows of a
/// single block row.
inline bool canShareRows(BlockShape block) {
  return hasSampledTiles(block) && block.rows % (2 * subtileSize) == 0;
}

/// Says how the factors that tiles are gathered from are stored: A is [M, K] or transposed [K, M],
/// B [K, N] or transposed [N, K].
struct SampledFactors {
  bool transposeA = false, transposeB = false;

  /// Returns the factors that kernels of `family` read if the operands are stored like `operands`.
  /// "cuda.wgmma" reads the operands; "cuda.wgmma_transposed" first writes an operand that
  /// is MN-major transposed, so that both factors are K-major. Only blocks that share subtiles are
  /// gathered faster then. Returns nothing for any other family, and if there is nothing to
  /// transpose.
  static std::optional<SampledFactors> get(KernelFamily family, BlockShape block,
                                           SampledFactors operands);
  bool operator==(const SampledFactors &) const = default;
};

/// Says how tiles are made.
struct SampledForm {
  /// True if the transpose of the product is computed: rows are then columns of the result.
  bool swapsAB = false;
  /// True if subtile columns are gathered from any block columns; else they are 64 neighbouring
  /// columns.
  bool gathersColumns = false;
  /// True if tiles have any rows, by subtiles or smaller blocks; else they have 128 neighbouring
  /// ones.
  bool gathersRows = false;
  /// Number of neighbouring block rows and block columns that are gathered together: all of a
  /// subtile if they are not contiguous in memory. (Loads of 64 bytes a row take as long as loads
  /// of 128 bytes, and would read their neighbours from memory for nothing.)
  int64_t rowsTogether = 1, columnsTogether = 1;
  /// Number of workers that share the rows of their tiles, 1 or 2: the CTAs of a cluster.
  int64_t cluster = 1;

  /// Returns the form for blocks of shape `block`. `gathersRows` is ignored if canGatherRows(block)
  /// is false, and `cluster` is reduced to 1 if canShareRows(block) is false. Requires cluster >=
  /// 1; a larger value than 2 means 2.
  static SampledForm get(BlockShape block, SampledFactors factors, bool gathersRows,
                         int64_t cluster = 1);
  /// Returns the shape of a block as the form sees it: transposed if operands are swapped.
  BlockShape of(BlockShape block) const {
    return swapsAB ? BlockShape{block.cols, block.rows} : block;
  }
  /// Returns true if the two halves of a tile have the same columns: they are gathered, or are rows
  /// of a row tile, or of one block row whose number of rows is a multiple of 128.
  bool sharesColumns(BlockShape block) const {
    return gathersRows || sharesSubtiles(block) || block.rows % (2 * subtileSize) == 0;
  }
  /// Returns the number of block rows of a tile if rows are gathered, else 1.
  int64_t groupBlockRows(BlockShape block) const {
    return gathersRows ? std::max<int64_t>(2, 2 * subtileSize / of(block).rows) : 1;
  }
  /// Returns the largest number of subtile columns of a tile. With one half, 8 of them would load
  /// fewer bytes for each product (1.125 instead of 1.167 subtiles), but leave room for two stages
  /// only.
  int64_t subtileColumns(BlockShape block) const { return sharesColumns(block) ? 4 : 6; }
};

/// Returns the tile of one CTA: 128 x 256, or 64 x 384 if the two halves of a tile have different
/// columns.
inline TileSize getSampledTile(BlockShape block, const SampledForm &form) {
  return {form.sharesColumns(block) ? 128 : 64, form.subtileColumns(block) * subtileSize};
}

} // namespace blocksparse

#endif // BLOCKSPARSE_PLAN_SAMPLEDFORM_H
