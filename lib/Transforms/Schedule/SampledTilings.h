// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_TRANSFORMS_SCHEDULE_SAMPLEDTILINGS_H
#define BLOCKSPARSE_LIB_TRANSFORMS_SCHEDULE_SAMPLEDTILINGS_H

#include "ProductShape.h"
#include "blocksparse/Plan/SampledTiles.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::blocksparse {

/// Describes one way to make the tiles of a sampled product for wgmma.
struct SampledTiling {
  ::blocksparse::Schedule schedule;
  ::blocksparse::SampledForm form;
  /// Seconds for writing factors transposed before the product.
  double transposeSeconds = 0;
};

/// Returns the tilings of a sampled product that "cuda.wgmma" supports on `target`, else none:
/// tiles of contiguous rows, of gathered rows, and of rows that a cluster shares, each for the
/// operands as they are and then for transposed ones, as far as the blocks allow.
SmallVector<SampledTiling, 4> getSampledTilings(const ProductShape &shape,
                                                const ::blocksparse::TargetInfo &target);

/// Returns the schedule of the tiling that takes least time by estimate. Tilings with transposed
/// factors, which take memory, and with clusters must be faster by 3 %. Returns nothing if
/// "cuda.mma" takes less time on the blocks alone, which may be for blocks of less than 64 rows or
/// columns, because tiles are computed in full. `layout` is the pattern of the result.
std::optional<::blocksparse::Schedule> selectSampledTiling(const ProductShape &shape,
                                                           const ::blocksparse::BlockLayout *layout,
                                                           const ::blocksparse::TargetInfo &target);

/// Returns the same for a pattern that is known when the program runs, of the tilings whose tiles
/// the device can make. `usual` is a pattern like those that are expected.
std::optional<::blocksparse::Schedule> selectRunTimeTiling(const ProductShape &shape,
                                                           const ::blocksparse::BlockLayout &usual,
                                                           const ::blocksparse::TargetInfo &target);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_TRANSFORMS_SCHEDULE_SAMPLEDTILINGS_H
