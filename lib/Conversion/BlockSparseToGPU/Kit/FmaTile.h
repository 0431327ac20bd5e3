// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The warp tile of a product of exact f32 or f64 factors, by multiply-adds of the scalar units on
// SharedTiles. Lane l of a warp, with g = l / 4 and t = l % 4, has the accumulators of rows g, g +
// 8, g + 16, ... and of every fourth chunk of 16 bytes of columns, from chunk t on. For each value
// of k it loads one element of A for 16 or 8 products, and a chunk of B for as many as it has rows;
// lanes with equal g (or t) load the same bytes, which shared memory delivers once. A warp tile of
// 64 x 64 f32 spends one load on 16 multiply-adds.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_FMATILE_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_FMATILE_H

#include "SharedTile.h"

namespace mlir::blocksparse::device {

/// Describes a factor of a warp tile.
struct FmaFactor {
  /// The tile of the CTA: [m or n][k] if the factor is K-major, else [k][m or n].
  SharedTile tile;
  bool kMajor;
  /// First row m (or column n) of the warp tile (i32), a multiple of 16.
  Value first;
};

/// Emits the products of a warp tile of `rows` x `cols` accumulators.
struct FmaTile {
  /// f32 or f64.
  Type element;
  int64_t rows, cols;
  /// Values of k of a k slice.
  int64_t depth;
  FmaFactor a, b;
  Value lane;

  /// Loads this lane's elements of A, [row][k], and of B, [k][column], for k slice `slice`. The
  /// tiles are at byte offsets `aOffset` and `bOffset` (i32) of shared memory.
  SmallVector<Value> loadSlice(ImplicitLocOpBuilder &builder, const SharedMemory &memory,
                               Value aOffset, Value bOffset, int64_t slice) const;
  /// Updates accumulators += A * B for one k slice, in ascending order of k. `elements` is the
  /// result of loadSlice; accumulators are in the order [row][column].
  void multiplySlice(ImplicitLocOpBuilder &builder, ValueRange elements,
                     MutableArrayRef<Value> accumulators) const;
  /// Stores the accumulators to shared memory, where accumulator (row, col) of the CTA is at byte
  /// offset `offsetOf(row, col)`.
  void storeAccumulators(ImplicitLocOpBuilder &builder, const SharedMemory &memory,
                         ValueRange accumulators,
                         function_ref<Value(Value row, Value col)> offsetOf) const;

private:
  int64_t bytes() const { return element.getIntOrFloatBitWidth() / 8; }
  /// Return the elements of a chunk, and the rows and columns that a lane has.
  int64_t perChunk() const { return SharedTile::chunkBytes / bytes(); }
  int64_t ownRows() const { return rows / 8; }
  int64_t ownCols() const { return cols / 4; }
  /// Loads `count` neighbours along the rows of a stored tile, from element (row, col) on; `base`
  /// is a multiple of 16 rows and `constantRows` is added to it.
  SmallVector<Value> load(ImplicitLocOpBuilder &builder, const SharedMemory &memory,
                          const SharedTile &tile, Value offset, Value base, int64_t constantRows,
                          Value row, Value col, int64_t count) const;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_FMATILE_H
