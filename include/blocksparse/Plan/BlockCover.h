// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Small blocks as parts of large tiles: a tile is any few block rows by any few block columns, and
// what it computes for nothing are the pairs of them that the pattern does not store. Which rows
// and columns stand together decides how much that is: at a density of .25, tiles of 4
// neighbouring rows by 8 columns that have a block in them are .37 full, those found here .66.

#ifndef BLOCKSPARSE_PLAN_BLOCKCOVER_H
#define BLOCKSPARSE_PLAN_BLOCKCOVER_H

#include "blocksparse/Plan/CoordinateLut.h"

namespace blocksparse {

struct CoverShape {
  /// The most rows and columns of a tile. A row is `rowsTogether` neighbouring block rows, the
  /// first a multiple of it, and a column so many block columns.
  int64_t rows, cols;
  int64_t rowsTogether = 1, colsTogether = 1;
  /// Block rows and columns of the windows of the pattern: a tile is of one window, and those of a
  /// window follow one another.
  int64_t windowRows, windowCols;
};

struct CoverTile {
  /// Rows (block row / rowsTogether) and columns, ascending; each row has a block of this tile.
  std::vector<int32_t> rows, cols;
  /// values[(r * rowsTogether + i) * cols.size() * colsTogether + c * colsTogether + j]: the value
  /// block at block row rows[r] * rowsTogether + i and block column cols[c] * colsTogether + j
  /// where this tile is the one that computes it, else -1.
  std::vector<int32_t> values;
};

/// Tiles that have every one of `blocks`, which are all of one head, in one tile each.
///
/// Greedy: the row with most blocks left; then, one by one, the row that shares most with those
/// that were taken; then in turn the columns and the rows with most blocks among the others, while
/// that gains. Full tiles come first in a window and those of single blocks last; a window has rows
/// or columns of the one before it. Deterministic. Windows are cut to 256 rows and to 512 block
/// columns, and to fewer rows where there are more than 100,000 blocks or so, so that the time is
/// O(nnz).
std::vector<CoverTile> coverBlocks(std::span<const BlockCoordinate> blocks,
                                   const CoverShape &shape);

} // namespace blocksparse

#endif // BLOCKSPARSE_PLAN_BLOCKCOVER_H
