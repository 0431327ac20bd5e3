// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_PLAN_ROWLUT_H
#define BLOCKSPARSE_PLAN_ROWLUT_H

#include "blocksparse/Plan/Tables.h"

namespace blocksparse {

/// Holds the look-up table of a reduction over stored blocks (dsd, dds, softmax).
struct RowLut {
  std::vector<RowSegment> segments;
  std::vector<RowEntry> entries;
};

/// Returns the row LUT of a pattern. Tiles are the block rows of the pattern; with `transpose` they
/// are its block columns, and the dense block of an entry is its block row. There is one unsplit
/// segment for each (head, tile), in ascending order, also for a tile without blocks (count 0), so
/// that every tile of the result is written. The entries of a segment ascend. O(nnz + tiles).
RowLut buildRowLut(const BlockLayout &layout, bool transpose);

/// Holds the exclusive upper bounds of the indices of a row LUT.
struct RowLutExtents {
  int64_t heads = 1, tiles = 0, denseBlocks = 0, values = 0, slots = 0;
};

/// Describes a row LUT and its combine table, as an op has them.
struct RowLutView {
  std::span<const RowSegment> segments;
  std::span<const RowEntry> entries;
  std::span<const CombineRow> combine;
};

/// Checks what every row LUT must fulfil: indices are within `extents`; every entry is in exactly
/// one segment; every value block occurs once, or no entry exists; every (head, tile) is written by
/// one unsplit segment, or by one combine row whose slots belong to it, follow the reduction in
/// ascending order and are all combined once. Returns the first fault as "expects X, but got Y", or
/// an empty string. Memory is linear in the tables, whatever `extents` are.
std::string verifyRowTables(const RowLutView &lut, const RowLutExtents &extents);

/// Checks what verifyRowTables checks, and that the entries are the blocks of `layout`, each
/// exactly once in the segment of its tile, and no others.
std::string verifyRowLut(const BlockLayout &layout, bool transpose, const RowLutView &lut,
                         int64_t slots);

} // namespace blocksparse

#endif // BLOCKSPARSE_PLAN_ROWLUT_H
