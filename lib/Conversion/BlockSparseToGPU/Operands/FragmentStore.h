// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Stores the accumulators of a warp (see Operands/FragmentEpilogue.h) straight from registers, for
// results whose elements have no 16 bits, so that Kit/SubtileStore.h cannot store them. A lane has
// pairs of neighbouring columns, which are one store where they are neighbours in memory: a pair of
// 32-bit elements of each of four lanes fills a sector of 32 bytes.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_FRAGMENTSTORE_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_FRAGMENTSTORE_H

#include "FragmentEpilogue.h"

namespace mlir::blocksparse::device {

/// Emits the stores of the accumulators `accumulators` of a warp at `warpTile`, whose lane is set,
/// to `result`. Rows and columns of `result` are those of the accumulators, which have the order of
/// Kit/WgmmaTile.h. Accumulators beyond the rows and columns of `warpTile`, or above its first row,
/// are not stored.
void storeFragments(ImplicitLocOpBuilder &b, const MatrixView &result,
                    const WarpTilePosition &warpTile, ArrayRef<Value> accumulators);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_FRAGMENTSTORE_H
