// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The builder and the verifier of sampled tiles share this file; see
// blocksparse/Plan/SampledTiles.h.

#ifndef BLOCKSPARSE_LIB_PLAN_SAMPLEDBLOCKS_H
#define BLOCKSPARSE_LIB_PLAN_SAMPLEDBLOCKS_H

#include "blocksparse/Plan/SampledTiles.h"

namespace blocksparse {

/// Returns the blocks as the form of the product sees them: transposed if operands are swapped.
std::vector<BlockCoordinate> getBlocks(const SampledProduct &product);

/// Returns true if subtile column `column` of a tile of gathered columns, of which a subtile has
/// `perSubtile`, is full and its columns are contiguous.
inline bool isContiguous(const SampledTile &tile, int64_t column, int64_t perSubtile) {
  return (column + 1) * perSubtile <= tile.numBlockCols &&
         tile.blockCols.areContiguous(column * perSubtile, perSubtile);
}

} // namespace blocksparse

#endif // BLOCKSPARSE_LIB_PLAN_SAMPLEDBLOCKS_H
