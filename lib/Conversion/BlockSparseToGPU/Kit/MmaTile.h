// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A CTA's tile of a matrix product by mma.sync, for the kernels of `cuda.mma`: m16n8k16 of f16 or
// bf16 factors and m16n8k8 of tf32 factors with f32 accumulators, m16n8k32 of i8 factors with i32
// accumulators, m16n8k4 of f64; and by multiply-adds of the scalar units, for those of `cuda.fma`
// (Kit/FmaTile.h). Both factors are in shared memory, as SharedTiles.
//
// Kit/MmaFragments.h describes the fragments and how ldmatrix loads them. In stored rows and
// 16-byte chunks, there are two patterns of lane addresses, see MmaTile::laneAddress.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_MMATILE_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_MMATILE_H

#include "FmaTile.h"
#include "MmaFragments.h"
#include "SharedTile.h"
#include "blocksparse/IR/SparseTensor.h"

namespace mlir::blocksparse::device {

/// Describes the element type of the factors and how they are multiplied.
struct FactorKind {
  /// Element type: f16, bf16, i8, f8, f64, or f32, which is rounded to tf32.
  Type element;
  /// True if each f32 is represented as the sum of two tf32, large + small (tf32x3). A product is
  /// then large * large + large * small + small * large.
  bool split = false;
  /// True if f32 or f64 are multiplied as they are, by multiply-adds of the scalar units.
  bool exact = false;

  int64_t bytes() const { return element.getIntOrFloatBitWidth() / 8; }
  /// Returns true if tensor cores multiply f64.
  bool isF64MMA() const { return bytes() == 8 && !exact; }
  bool isF8() const { return bytes() == 1 && !element.isInteger(); }
  /// Returns the type of the accumulators: i32, f32 or f64.
  Type sum() const { return getAccumulatorType(element); }
  /// Returns the bytes of an accumulator.
  int64_t sumBytes() const { return sum().getIntOrFloatBitWidth() / 8; }
  /// Returns the number of values of k of a k slice: one mma.sync, or two for f8. A k slice is 32
  /// bytes of a row of a K-major tile, or 8 of exact factors.
  int64_t sliceDepth() const { return (exact ? 8 : 32) / bytes(); }
};

/// Describes the tile of a CTA: m x n accumulators, and k values of the reduction in each k step.
/// m, n and k are powers of two; m and n are from 16 to 256, and k is a multiple of a k slice.
struct MmaShape {
  int64_t m, n, k;
  /// Number of warps along m and along n.
  int64_t warpsM = 1, warpsN = 1;

  /// Returns the shape m x n x k with its warps. Each warp has at least 16 x 16 and at most 64 x 64
  /// accumulators, or at most 64 x 32 if factors are split or f64, because these need twice the
  /// registers.
  static MmaShape get(int64_t m, int64_t n, int64_t k, const FactorKind &kind);

  int64_t threads() const { return 32 * warpsM * warpsN; }
  /// Return the rows and the columns of a warp tile.
  int64_t warpM() const { return m / warpsM; }
  int64_t warpN() const { return n / warpsN; }
};

/// Emits the products of a CTA's tile: each warp computes a warp tile of warpM() x warpN()
/// accumulators.
class MmaTile {
public:
  /// Creates the tile for thread `thread` (i32) of the CTA. `aKMajor`: the tile of A is K-major,
  /// [m][k]; otherwise it is [k][m]. `bKMajor`: the tile of B is K-major, [n][k]; otherwise it is
  /// [k][n].
  MmaTile(ImplicitLocOpBuilder &b, const MmaShape &shape, const FactorKind &kind, bool aKMajor,
          bool bKMajor, Value thread);

  const MmaShape &getShape() const { return shape; }
  /// Return the layouts of the tiles of A and B in shared memory.
  SharedTile aTile() const;
  SharedTile bTile() const;

  /// Returns this thread's accumulators, of type kind.sum() each, all 0.
  SmallVector<Value> zeros(ImplicitLocOpBuilder &b) const;
  /// Returns the number of k slices of a k step.
  int64_t slices() const { return shape.k / kind.sliceDepth(); }
  /// Loads this thread's words of A and then of B for k slice `slice`. The tiles are at byte
  /// offsets `aOffset` and `bOffset` (i32) of shared memory.
  SmallVector<Value> loadSlice(ImplicitLocOpBuilder &b, const SharedMemory &memory, Value aOffset,
                               Value bOffset, int64_t slice) const;
  /// Updates accumulators += A * B for one k slice. `words` is the result of loadSlice.
  void multiplySlice(ImplicitLocOpBuilder &b, ValueRange words,
                     MutableArrayRef<Value> accumulators) const;

  /// Return the size in bytes of a row and of all accumulators in shared memory, [m][n + 8] from
  /// byte 0. The 8 extra columns keep the rows of a fragment in different banks.
  int64_t accumulatorRowBytes() const { return (shape.n + 8) * kind.sumBytes(); }
  int64_t accumulatorBytes() const { return shape.m * accumulatorRowBytes(); }
  /// Stores this thread's accumulators to shared memory. A barrier must follow before other
  /// threads load them.
  void storeAccumulators(ImplicitLocOpBuilder &b, const SharedMemory &memory,
                         ValueRange accumulators) const;
  /// Returns the byte offset (i32) of accumulator (row, col) of the tile.
  Value accumulatorOffset(ImplicitLocOpBuilder &b, Value row, Value col) const;

private:
  /// Returns the products of exact factors.
  FmaTile getFmaTile() const;

  struct LaneAddress {
    Value row, chunk;
  };
  LaneAddress laneAddress(ImplicitLocOpBuilder &b, bool chunksLast) const;
  SmallVector<Value, 4> loadFragments(ImplicitLocOpBuilder &b, const SharedMemory &memory,
                                      const SharedTile &tile, bool kMajor, Value offset,
                                      Value outer, int64_t outerStep, int64_t k, bool isA) const;

  SmallVector<Value, 4> loadWords(ImplicitLocOpBuilder &b, const SharedMemory &memory,
                                  const SharedTile &tile, Value offset, Value outer,
                                  int64_t outerStep, int64_t slice, bool isA) const;
  SmallVector<Value, 4> loadDoubles(ImplicitLocOpBuilder &b, const SharedMemory &memory,
                                    const SharedTile &tile, bool kMajor, Value offset, Value outer,
                                    int64_t outerStep, int64_t slice) const;
  SmallVector<Value, 4> loadBytes(ImplicitLocOpBuilder &b, const SharedMemory &memory,
                                  const SharedTile &tile, Value offset, Value outer,
                                  int64_t outerStep, int64_t slice) const;
  /// Returns true if a factor's words hold pairs of bytes of an MN-major tile, from which joinWords
  /// forms fragments.
  bool hasPairs(bool kMajor) const { return kind.bytes() == 1 && !kMajor; }
  /// Return the words of a fragment of A (16 rows) and of B (8 columns).
  int64_t leftWords() const { return kind.isF64MMA() ? 2 : 4; }
  int64_t rightWords() const { return leftWords() / 2; }
  SmallVector<Value> joinWords(ImplicitLocOpBuilder &b, ValueRange words) const;
  void multiplyWords(ImplicitLocOpBuilder &b, ValueRange left, ValueRange right,
                     MutableArrayRef<Value> accumulators) const;

  MmaShape shape;
  FactorKind kind;
  bool aKMajor, bKMajor;
  Value lane, warpRow, warpCol;
  /// The selectors for joinWords. Null if both factors need none.
  ByteSelectors selectors;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_MMATILE_H
