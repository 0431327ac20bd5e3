// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A block cover puts small blocks into large tiles. A tile is any few block rows by any few block
// columns; it computes every pair of them, also pairs that the pattern does not store. The choice
// of rows and columns decides how many pairs are stored: at density 0.25, tiles of 4 neighbouring
// block rows by 8 block columns that have a block in them are 0.37 full, those of a cover 0.66.

#ifndef BLOCKSPARSE_PLAN_BLOCKCOVER_H
#define BLOCKSPARSE_PLAN_BLOCKCOVER_H

#include "blocksparse/Plan/CoordinateLut.h"

namespace blocksparse {

/// Describes the shape of the tiles and windows of a block cover.
struct CoverShape {
  /// The largest numbers of rows and columns of a tile. A row is `rowsTogether` neighbouring block
  /// rows, the first a multiple of it; a column is `colsTogether` neighbouring block columns.
  int64_t rows, cols;
  int64_t rowsTogether = 1, colsTogether = 1;
  /// Block rows and block columns of a window of the pattern. A tile is in one window, and the
  /// tiles of a window follow each other.
  int64_t windowRows, windowCols;
};

/// Describes a tile of a block cover.
struct CoverTile {
  /// Rows (block row / rowsTogether) and columns, ascending; each row has a block of this tile.
  std::vector<int32_t> rows, cols;
  /// values[(r * rowsTogether + i) * cols.size() * colsTogether + c * colsTogether + j] is the
  /// value block at block row rows[r] * rowsTogether + i and block column cols[c] * colsTogether +
  /// j if this tile computes it, else -1.
  std::vector<int32_t> values;
};

/// Returns tiles that contain each of `blocks`, which must all have the same head, exactly once.
///
/// The algorithm is greedy. A tile starts with the row that has most blocks left, then takes, one
/// by one, the row that shares most columns with the rows before; then it chooses in turn the
/// columns with most blocks in the rows and the rows with most blocks in the columns, as long as
/// that adds blocks. Full tiles are therefore first in a window, and tiles of single blocks last.
/// Each window has rows or columns in common with the window before it. Deterministic. Windows are
/// limited to 256 block rows and 512 block columns, and to fewer rows for more than about 100,000
/// blocks, so that the time is O(nnz).
std::vector<CoverTile> coverBlocks(std::span<const BlockCoordinate> blocks,
                                   const CoverShape &shape);

} // namespace blocksparse

#endif // BLOCKSPARSE_PLAN_BLOCKCOVER_H
