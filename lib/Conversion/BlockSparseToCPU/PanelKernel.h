// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The one inner kernel of all products: a tile of `rows` x `cols` sums held in vectors, a
// panel of the right operand packed to `cols` columns, and the left operand read element by
// element and broadcast.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_PANELKERNEL_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_PANELKERNEL_H

#include "../OperandView.h"
#include "blocksparse/Conversion/BlockSparseToCPU.h"
#include "blocksparse/IR/BlockSparseAttrs.h"

namespace mlir::blocksparse {

/// A register tile: rows x cols sums of type `accumulator` in vectors of `lanes`.
struct TileShape {
  Type accumulator;
  int64_t rows = 8;
  int64_t cols = 32;
  int64_t lanes = 16;

  /// The schedule's tile_m and tile_n, or what fits the registers of a machine with vectors of
  /// options.vectorBits. `height` is the number of rows that tiles divide (kDynamic: many): the
  /// rows of a tile are as equal as can be. `width` is the number of columns (kDynamic: many).
  static TileShape choose(Type accumulator, ScheduleAttr schedule,
                          const CPULoweringOptions &options, int64_t height, int64_t width);

  int64_t vectorsPerRow() const { return cols / lanes; }
  VectorType vectorType() const { return VectorType::get(lanes, accumulator); }
  /// rows x cols memref of sums.
  MemRefType memrefType() const { return MemRefType::get({rows, cols}, accumulator); }
  /// [depth, cols] memref of a packed panel.
  MemRefType panelType() const {
    return MemRefType::get({ShapedType::kDynamic, cols}, accumulator);
  }
  /// Zero sums, one vector each, row by row.
  SmallVector<Value> zeroSums(ImplicitLocOpBuilder &b) const;
  /// Stores sums to / loads them from rows [row, row + rows) of `memref` [.., cols].
  void storeSums(ImplicitLocOpBuilder &b, ValueRange sums, Value memref, Value row) const;
  SmallVector<Value> loadSums(ImplicitLocOpBuilder &b, Value memref, Value row) const;
};

/// A heap buffer aligned to 64 bytes; the caller frees it with freeScratch.
Value allocateScratch(ImplicitLocOpBuilder &b, MemRefType type, ValueRange sizes);
void freeScratch(ImplicitLocOpBuilder &b, Value memref);

/// Asks for the cache lines of columns [col, col + count) of a row, as far as the matrix has
/// them. Row and matrix must not be empty.
void prefetchRow(ImplicitLocOpBuilder &b, const MatrixView &matrix, Value row, Value col,
                 int64_t count, bool write);

/// Writes `depth` rows of columns [firstCol, firstCol + tile.cols) of `source`, converted, to
/// `panel`; columns that `source` lacks become 0. Whole vectors where `unitStride` (an i1)
/// holds and all columns exist.
void packPanel(ImplicitLocOpBuilder &b, const TileShape &tile, const MatrixView &source,
               Value unitStride, Value firstCol, Value depth, Value panel);

/// Gives element (row of the tile, k) of the left operand, in the accumulation type.
using LeftElement = function_ref<Value(int64_t row, Value k)>;

/// lhs + rhs of scalars or vectors, floating-point or integer.
Value emitAdd(ImplicitLocOpBuilder &b, Value lhs, Value rhs);

/// Emits what goes along with step k of a multiplication: a prefetch.
using EachStep = function_ref<void(Value k)>;

/// sums += left[:, 0..depth) * panel[firstRow .. firstRow + depth).
SmallVector<Value> multiplyTile(ImplicitLocOpBuilder &b, const TileShape &tile, ValueRange sums,
                                Value panel, Value firstRow, Value depth, LeftElement left,
                                EachStep eachStep = nullptr);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_PANELKERNEL_H
