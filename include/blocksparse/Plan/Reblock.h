// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Blocks of any shape as square blocks that a kernel family multiplies. A planned block is a
// `block` x `block` submatrix of op(S) on a grid of its own; it is kept if a stored block meets it.
// Its elements are those of the stored blocks, and 0 where none is stored. It is made of granules:
// the largest rectangles of which every stored block and every planned block holds whole ones, and
// which do not cross the end of the reduction. A stored block of 48 x 48 is nine planned blocks of
// 16 x 16, each one granule; a planned block of 16 x 16 holds up to four stored blocks of 8 x 8,
// which are granules themselves.
//
// The table of granules has a row for each planned block, in (head, block row, block column) order,
// and in it one word for each granule, row by row: value block * granules of a stored block + index
// of the granule in op(stored block), row by row; or -1 if no block is stored there. Padding beyond
// the depth of the reduction has no granule, so that what it holds is never multiplied. Padding
// beyond the last row is part of results that are not stored.

#ifndef BLOCKSPARSE_PLAN_REBLOCK_H
#define BLOCKSPARSE_PLAN_REBLOCK_H

#include "blocksparse/Plan/RowLut.h"
#include "blocksparse/Plan/Stages.h"

namespace blocksparse {

/// Describes how a reduction over stored blocks is planned with blocks of another size.
struct Reblocking {
  /// Shape of a stored block of op(S), and side of a planned block.
  BlockShape stored;
  int64_t block = 16;
  /// Rows of the result and depth of the reduction, in elements.
  int64_t rows = 0, depth = 0;

  /// Returns the shape of a granule.
  BlockShape granule() const;
  /// Return the number of granules of a row of a stored block and of a stored block, and the same
  /// of a planned block.
  int64_t granulesPerStoredRow() const { return stored.cols / granule().cols; }
  int64_t granulesPerStored() const {
    return stored.rows / granule().rows * granulesPerStoredRow();
  }
  int64_t granulesPerRow() const { return block / granule().cols; }
  int64_t granulesPerBlock() const { return block / granule().rows * granulesPerRow(); }
  /// Return the number of planned block rows and block columns of a head.
  int64_t blockRows() const { return (rows + block - 1) / block; }
  int64_t blockCols() const { return (depth + block - 1) / block; }
};

/// The largest number of words of a table of granules: 64 MiB.
inline constexpr int64_t maxGranules = int64_t{1} << 24;

/// Returns the pattern of the planned blocks of op(S), whose stored blocks have the pattern
/// `layout`. Fails if the table of granules would have more than maxGranules words.
/// O(p log p + g) for p planned blocks and g granules.
std::optional<BlockLayout> reblockLayout(const BlockLayout &layout, const Reblocking &sizes,
                                         std::string &error);

/// Holds the row LUT of planned blocks; the value block of an entry is a row of `granules`.
struct ReblockedRows {
  std::vector<RowSegment> segments;
  std::vector<RowEntry> entries;
  std::vector<int32_t> granules;

  /// Returns the product of the planned blocks in place of that of the stored ones.
  RowProduct product(const RowProduct &stored, const Reblocking &sizes) const;
};

/// Returns the planned blocks of a row product, which must have been verified. Fails if a row is
/// split, and like reblockLayout.
std::optional<ReblockedRows> reblockRows(const RowProduct &product, const Reblocking &sizes,
                                         std::string &error);

} // namespace blocksparse

#endif // BLOCKSPARSE_PLAN_REBLOCK_H
