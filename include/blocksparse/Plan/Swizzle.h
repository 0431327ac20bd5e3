// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The swizzle of matrices of 16-bit elements in shared memory: the planner packs constants by it,
// and kernels compute it at run time (lib/Conversion/BlockSparseToGPU/Kit/SharedTile.h).
//
// A row of the matrix is cut into chunks of 8 elements (16 bytes), the unit of cp.async and of a
// row of ldmatrix. Chunk c of row r is stored at chunk c ^ s(r) of the row. The 32 banks of shared
// memory are 8 chunks wide, and a phase of ldmatrix reads chunk c of 8 rows r0 .. r0 + 7 (r0 a
// multiple of 8), so the 8 positions r * chunks + (c ^ s(r)) must differ modulo 8:
//   8 chunks or more a row: s(r) = r & 7;   4 chunks: s(r) = (r >> 1) & 3;
//   2 chunks: s(r) = (r >> 2) & 1;  1 chunk: s(r) = 0.
// Words of 32 bits that are loaded one by one, 8 neighbours (2 chunks) of 4 rows at a time, need
// pairs of chunks that stay together: then s(r) = 2 (r & 3), with 4 chunks 2 ((r >> 1) & 1).

#ifndef BLOCKSPARSE_PLAN_SWIZZLE_H
#define BLOCKSPARSE_PLAN_SWIZZLE_H

#include <algorithm>
#include <cstdint>

namespace blocksparse {

/// Describes s(r) = r / rowsPerStep % steps * scale for rows of `chunks` chunks, a power of two.
/// All three numbers are powers of two.
struct Swizzle {
  int64_t rowsPerStep, steps, scale;

  /// `pairs`: two neighbouring chunks stay together.
  static constexpr Swizzle get(int64_t chunks, bool pairs = false) {
    const int64_t scale = pairs ? 2 : 1;
    return {chunks >= 8 ? 1 : 8 / chunks, std::min<int64_t>(chunks, 8) / scale, scale};
  }

  /// Returns s(row).
  constexpr int64_t of(int64_t row) const { return row / rowsPerStep % steps * scale; }
};

/// Returns the chunk of row `row` at which chunk `chunk` is stored. Requires `chunks`, the number
/// of chunks of a row, to be a power of two, and 0 <= chunk < chunks.
constexpr int64_t swizzleChunk(int64_t chunks, int64_t row, int64_t chunk, bool pairs = false) {
  return chunk ^ Swizzle::get(chunks, pairs).of(row);
}

} // namespace blocksparse

#endif // BLOCKSPARSE_PLAN_SWIZZLE_H
