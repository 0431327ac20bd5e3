// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tiles of a matrix product by mma.sync.m16n8k16 (f16 or bf16 factors, f32 sums).
//
// Fragments and how ldmatrix loads them: see Kit/MmaFragments.h. In units of stored rows and chunks
// that makes two patterns of lane addresses, see MmaTile::laneAddress.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_MMATILE_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_MMATILE_H

#include "SharedTile.h"

namespace mlir::blocksparse::device {

/// The tile of a thread block: m x n sums, k values of the reduction at a time. m, n and k
/// are powers of two; m and n from 16 to 128, k at least 16.
struct MmaShape {
  int64_t m, n, k;
  /// Warps along m and n.
  int64_t warpsM = 1, warpsN = 1;

  /// The tile m x n with its warps: each has at least 16 x 16 and at most 64 x 32 sums.
  static MmaShape get(int64_t m, int64_t n, int64_t k);

  int64_t threads() const { return 32 * warpsM * warpsN; }
  /// Sums of a warp.
  int64_t warpM() const { return m / warpsM; }
  int64_t warpN() const { return n / warpsN; }
};

/// A thread block's tile of sums and how its warps share it.
class MmaTile {
public:
  /// `aAlongK`: the tile of A is stored as [m][k], else as [k][m]; `bAlongK`: that of B is
  /// stored as [n][k], else as [k][n]. `thread` is i32.
  MmaTile(ImplicitLocOpBuilder &b, const MmaShape &shape, Type element, bool aAlongK, bool bAlongK,
          Value thread);

  const MmaShape &getShape() const { return shape; }
  SharedTile aTile() const;
  SharedTile bTile() const;

  /// The sums of this thread, f32 each, all 0.
  SmallVector<Value> zeros(ImplicitLocOpBuilder &b) const;
  /// sums += A * B, with the tiles at byte offsets `a` and `b` of shared memory.
  void multiply(ImplicitLocOpBuilder &b, const SharedMemory &memory, Value aOffset, Value bOffset,
                SmallVectorImpl<Value> &sums) const;

  /// The sums in shared memory: f32 [m][n + 8], from byte 0. The 8 keep the rows of a fragment
  /// in different banks.
  int64_t sumRowBytes() const { return (shape.n + 8) * 4; }
  int64_t sumBytes() const { return shape.m * sumRowBytes(); }
  void storeSums(ImplicitLocOpBuilder &b, const SharedMemory &memory, ValueRange sums) const;
  /// Byte offset of sum (row, col), i32.
  Value sumOffset(ImplicitLocOpBuilder &b, Value row, Value col) const;

private:
  struct LaneAddress {
    Value row, chunk;
  };
  LaneAddress laneAddress(ImplicitLocOpBuilder &b, bool chunksLast) const;
  SmallVector<Value, 4> loadFragments(ImplicitLocOpBuilder &b, const SharedMemory &memory,
                                      const SharedTile &tile, bool alongK, Value offset,
                                      Value outer, int64_t outerStep, int64_t k, bool isA) const;

  MmaShape shape;
  Type element;
  bool aAlongK, bAlongK;
  Value lane, warpRow, warpCol;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_MMATILE_H
