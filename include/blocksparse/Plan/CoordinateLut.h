// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_PLAN_COORDINATELUT_H
#define BLOCKSPARSE_PLAN_COORDINATELUT_H

#include "blocksparse/Plan/Tables.h"

namespace blocksparse {

/// Look-up table of an elementwise result over stored blocks (sdd, conversions).
struct CoordinateLut {
  std::vector<BlockCoordinate> lut;
  std::vector<CoordinateSegment> segments;
};

/// Rows: (head, row, col) order, a segment is a block row. Columns: (head, col, row) order, a
/// segment is a block column, so that its worker packs one panel of the second operand once.
enum class CoordinateOrder { Rows, Columns };

/// The blocks of `layout` in `order`; runs without blocks have no segment. O(nnz + grid).
CoordinateLut buildCoordinateLut(const BlockLayout &layout, CoordinateOrder order);

/// Numbers that every index of a coordinate LUT must stay below.
struct CoordinateLutExtents {
  int64_t heads = 1, rows = 0, cols = 0, values = 0;
};

/// What a coordinate LUT must fulfil whatever the pattern: indices within `extents`; no value
/// block and no coordinate twice; every row of the table in exactly one segment. Without
/// segments (a conversion has none) pass one that spans the table. Gives the first
/// fault as "expects X, but got Y", or an empty string.
std::string verifyCoordinateTables(std::span<const BlockCoordinate> lut,
                                   std::span<const CoordinateSegment> segments,
                                   const CoordinateLutExtents &extents);

/// verifyCoordinateTables, and: the table is the blocks of `layout`, each exactly once.
std::string verifyCoordinateLut(const BlockLayout &layout, std::span<const BlockCoordinate> lut,
                                std::span<const CoordinateSegment> segments);

/// permutation[q] is the value block of `layout` that block q of its transpose holds;
/// a stable order, equal on every call.
std::vector<int32_t> transposePermutation(const BlockLayout &layout);

} // namespace blocksparse

#endif // BLOCKSPARSE_PLAN_COORDINATELUT_H
