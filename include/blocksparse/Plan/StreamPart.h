// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_PLAN_STREAMPART_H
#define BLOCKSPARSE_PLAN_STREAMPART_H

#include <cstdint>
#include <optional>

namespace blocksparse {

/// What a warp of a stream kernel by mma.sync computes of a tile: `rows` block rows by `cols`
/// columns.
struct StreamPart {
  int64_t rows = 0, cols = 0;
  /// What a warp loads of a panel serves all its rows that have a block there; else one row follows
  /// another.
  bool together = false;

  /// The part of each of `warps` warps in a tile of `tileRows` block rows by `tileCols` columns, 64
  /// or 128. `wanted` is the tile_m of a schedule: with blocks of 16, that many rows go together,
  /// 64 columns wide, where this makes equal parts; fewer where a tile is as narrow as that. All
  /// rows of the tile mean whole rows, one after another, as does what can't be had. Blocks of 32
  /// use what they load of a panel twice as it is. Nothing where there are no equal parts.
  static std::optional<StreamPart> get(int64_t block, int64_t tileRows, int64_t tileCols,
                                       int64_t warps, int64_t wanted) {
    constexpr int64_t width = 64;
    if (warps < 1)
      return std::nullopt;
    const int64_t rows = wanted / block;
    const bool together = block == 16 && rows > 1 && rows < tileRows;
    if (together && tileRows % rows == 0 && tileRows * tileCols == warps * rows * width)
      return StreamPart{rows, width, true};
    if (tileRows % warps != 0)
      return std::nullopt;
    const int64_t whole = tileRows / warps;
    return StreamPart{whole, tileCols, together && tileCols == width && whole > 1};
  }
};

} // namespace blocksparse

#endif // BLOCKSPARSE_PLAN_STREAMPART_H
