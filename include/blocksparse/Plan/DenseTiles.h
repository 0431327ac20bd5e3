// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tiles of dense products as persistent wgmma kernels compute them, without tables. Sizes are in
// elements; those of a result that are negative are not known at compile time.

#ifndef BLOCKSPARSE_PLAN_DENSETILES_H
#define BLOCKSPARSE_PLAN_DENSETILES_H

#include "blocksparse/Plan/Stages.h"

#include <algorithm>

namespace blocksparse {

/// Rows of a tile.
inline constexpr int64_t denseTileRows = 128;

/// Columns of a tile of a result of `n` columns: whole chunks of 64.
inline int64_t denseTileCols(int64_t n) {
  return n < 0 ? wgmmaPanelCols : std::min((n + 63) / 64 * 64, wgmmaPanelCols);
}

/// Whether clusters of two thread blocks can share the columns of two neighbouring rows of tiles of
/// an m x n result: rows of tiles come in pairs, and each block has whole chunks of 64 to copy.
inline bool canShareColumns(int64_t m, int64_t n) {
  return m > 0 && n > 0 && (m + denseTileRows - 1) / denseTileRows % wgmmaClusterSize == 0 &&
         denseTileCols(n) % (64 * wgmmaClusterSize) == 0;
}

/// Thread blocks of a cluster, 1 or 2, for a schedule whose `tile_m` is `tileM`: more than the rows
/// of a tile ask for two.
inline int64_t denseClusterSize(int64_t tileM, int64_t m, int64_t n) {
  return tileM > denseTileRows && canShareColumns(m, n) ? wgmmaClusterSize : 1;
}

} // namespace blocksparse

#endif // BLOCKSPARSE_PLAN_DENSETILES_H
