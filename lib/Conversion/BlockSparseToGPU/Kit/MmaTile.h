// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tiles of a matrix product by mma.sync: m16n8k16 of f16 or bf16 factors, m16n8k8 of tf32, f32
// sums; m16n8k32 of i8, i32 sums.
//
// Fragments and how ldmatrix loads them: see Kit/MmaFragments.h. In units of stored rows and chunks
// that makes two patterns of lane addresses, see MmaTile::laneAddress.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_MMATILE_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_MMATILE_H

#include "MmaFragments.h"
#include "SharedTile.h"
#include "blocksparse/IR/SparseTensor.h"

namespace mlir::blocksparse::device {

/// What the factors of a product are made of.
struct FactorKind {
  /// f16, bf16, i8, f8, or f32, whose numbers are rounded to tf32.
  Type element;
  /// Each f32 is the sum of two tf32, large + small; a product is that of the large ones and the
  /// two of a large and a small one.
  bool split = false;

  int64_t bytes() const { return element.getIntOrFloatBitWidth() / 8; }
  bool isF8() const { return bytes() == 1 && !element.isInteger(); }
  /// i32 or f32.
  Type sum() const { return getAccumulatorType(element); }
  /// Values of k of one mma, or of two for f8: 32 bytes of a tile stored along k.
  int64_t sliceDepth() const { return 32 / bytes(); }
};

/// The tile of a thread block: m x n sums, k values of the reduction at a time. m, n and k
/// are powers of two; m and n from 16 to 256, k a multiple of a
/// slice.
struct MmaShape {
  int64_t m, n, k;
  /// Warps along m and n.
  int64_t warpsM = 1, warpsN = 1;

  /// The tile m x n with its warps: each has at least 16 x 16 and at most 64 x 64 sums, or
  /// 64 x 32 where factors are split and take twice the registers.
  static MmaShape get(int64_t m, int64_t n, int64_t k, const FactorKind &kind);

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
  MmaTile(ImplicitLocOpBuilder &b, const MmaShape &shape, const FactorKind &kind, bool aAlongK,
          bool bAlongK, Value thread);

  const MmaShape &getShape() const { return shape; }
  SharedTile aTile() const;
  SharedTile bTile() const;

  /// The sums of this thread, kind.sum() each, all 0.
  SmallVector<Value> zeros(ImplicitLocOpBuilder &b) const;
  /// Number of slices of k that the tiles are cut into, each the depth of one mma.
  int64_t slices() const { return shape.k / kind.sliceDepth(); }
  /// This thread's words of both factors at slice `slice`, with the tiles at byte offsets
  /// `aOffset` and `bOffset` of shared memory.
  SmallVector<Value> loadSlice(ImplicitLocOpBuilder &b, const SharedMemory &memory, Value aOffset,
                               Value bOffset, int64_t slice) const;
  /// sums += A * B of a slice, of which `words` are those of loadSlice.
  void multiplySlice(ImplicitLocOpBuilder &b, ValueRange words, MutableArrayRef<Value> sums) const;

  /// The sums in shared memory: [m][n + 8], from byte 0. The 8 keep the rows of a fragment
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

  SmallVector<Value, 4> loadWords(ImplicitLocOpBuilder &b, const SharedMemory &memory,
                                  const SharedTile &tile, Value offset, Value outer,
                                  int64_t outerStep, int64_t slice, bool isA) const;
  SmallVector<Value, 4> loadBytes(ImplicitLocOpBuilder &b, const SharedMemory &memory,
                                  const SharedTile &tile, Value offset, Value outer,
                                  int64_t outerStep, int64_t slice) const;
  /// Whether a factor's words hold pairs of bytes across k, which joinWords makes fragments of.
  bool hasPairs(bool alongK) const { return kind.bytes() == 1 && !alongK; }
  SmallVector<Value> joinWords(ImplicitLocOpBuilder &b, ValueRange words) const;
  void multiplyWords(ImplicitLocOpBuilder &b, ValueRange left, ValueRange right,
                     MutableArrayRef<Value> sums) const;

  MmaShape shape;
  FactorKind kind;
  bool aAlongK, bAlongK;
  Value lane, warpRow, warpCol;
  /// Null where no words are to be joined.
  ByteSelectors selectors;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_MMATILE_H
