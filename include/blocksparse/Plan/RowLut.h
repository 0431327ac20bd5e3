// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_PLAN_ROWLUT_H
#define BLOCKSPARSE_PLAN_ROWLUT_H

#include "blocksparse/Plan/Tables.h"

namespace blocksparse {

/// Look-up table of a reduction over stored blocks (dsd, dds, softmax).
struct RowLut {
  std::vector<RowSegment> segments;
  std::vector<RowEntry> entries;
};

/// Tiles are the block rows of the pattern, or its block columns with `transpose`
/// (dense is then the block row, ascending). One unsplit segment for each (head,
/// tile) in ascending order, also for a tile without blocks (count 0), so that
/// every tile of the result is written. O(nnz + tiles).
RowLut buildRowLut(const BlockLayout &layout, bool transpose);

/// Numbers that every index of a row LUT must stay below.
struct RowLutExtents {
  int64_t heads = 1, tiles = 0, denseBlocks = 0, values = 0, slots = 0;
};

/// A row LUT with its split, as an op holds it.
struct RowLutView {
  std::span<const RowSegment> segments;
  std::span<const RowEntry> entries;
  std::span<const CombineRow> combine;
};

/// What a row LUT must fulfil whatever the pattern: indices within `extents`;
/// every entry in exactly one segment and every value block at most once;
/// every (head, tile) owned by exactly one unsplit segment, or by one combine row whose
/// slots belong to it, follow the reduction in ascending order and are all combined
/// once. Gives the first fault as "expects X, but got Y", or an empty string.
std::string verifyRowTables(const RowLutView &lut, const RowLutExtents &extents);

/// verifyRowTables, and: the entries are the blocks of `layout`, each exactly once and in its
/// place, none invented; segment counts sum to nnz.
std::string verifyRowLut(const BlockLayout &layout, bool transpose, const RowLutView &lut,
                         int64_t slots);

} // namespace blocksparse

#endif // BLOCKSPARSE_PLAN_ROWLUT_H
