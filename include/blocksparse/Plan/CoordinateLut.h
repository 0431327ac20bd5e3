// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_PLAN_COORDINATELUT_H
#define BLOCKSPARSE_PLAN_COORDINATELUT_H

#include "blocksparse/Plan/Tables.h"

namespace blocksparse {

/// Holds the look-up table of an elementwise result over stored blocks (sdd, conversions).
struct CoordinateLut {
  std::vector<BlockCoordinate> lut;
  std::vector<CoordinateSegment> segments;
};

/// Selects the order of a coordinate LUT. Rows: (head, row, col), and a segment is a block row.
/// Columns: (head, col, row), and a segment is a block column, so that its worker packs one panel
/// of the second operand once.
enum class CoordinateOrder { Rows, Columns };

/// Returns the blocks of `layout` in `order`. Block rows (columns) without blocks have no segment.
/// O(nnz + grid).
CoordinateLut buildCoordinateLut(const BlockLayout &layout, CoordinateOrder order);

/// Holds the exclusive upper bounds of the indices of a coordinate LUT.
struct CoordinateLutExtents {
  int64_t heads = 1, rows = 0, cols = 0, values = 0;
};

/// Checks what every coordinate LUT must fulfil, whatever its pattern: indices are within
/// `extents`; every value block occurs once and no coordinate twice; every row of the table is in
/// exactly one segment. For a conversion, which has no segments, pass one that spans the table.
/// Returns the first fault as "expects X, but got Y", or an empty string.
std::string verifyCoordinateTables(std::span<const BlockCoordinate> lut,
                                   std::span<const CoordinateSegment> segments,
                                   const CoordinateLutExtents &extents);

/// Checks what verifyCoordinateTables checks, and that the table has each block of `layout` exactly
/// once and no other.
std::string verifyCoordinateLut(const BlockLayout &layout, std::span<const BlockCoordinate> lut,
                                std::span<const CoordinateSegment> segments);

/// Returns the permutation of value blocks of a transposition: permutation[q] is the value block of
/// `layout` that block q of its transpose has. The order is stable, and the same on every call.
std::vector<int32_t> transposePermutation(const BlockLayout &layout);

} // namespace blocksparse

#endif // BLOCKSPARSE_PLAN_COORDINATELUT_H
