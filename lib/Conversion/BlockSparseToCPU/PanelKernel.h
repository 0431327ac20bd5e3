// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Emits the inner kernel of all products on the CPU. A register tile of `rows` x `cols`
// accumulators is kept in vectors. A panel of the right operand is packed to `cols` columns, and
// the elements of the left operand are read one by one and broadcast.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_PANELKERNEL_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_PANELKERNEL_H

#include "../OperandView.h"
#include "blocksparse/Conversion/BlockSparseToCPU.h"
#include "blocksparse/IR/BlockSparseAttrs.h"

namespace mlir::blocksparse {

/// Describes a register tile: rows x cols accumulators of type `accumulator`, in vectors of
/// `lanes`.
struct TileShape {
  Type accumulator;
  int64_t rows = 8;
  int64_t cols = 32;
  int64_t lanes = 16;
  /// True if an element 0 of the left operand adds nothing, whatever the panel holds.
  bool skipZeros = false;
  /// True if an element 0 of the panel adds nothing, whatever the left operand holds.
  bool skipPanelZeros = false;

  /// Returns a tile with the `tile` of `schedule`, or else one that fits the registers
  /// of a machine with vectors of options.vectorBits. `height` is the number of rows that tiles
  /// divide (kDynamic: many); all tiles get nearly the same number of rows. `width` is the number
  /// of columns (kDynamic: many).
  static TileShape choose(Type accumulator, ScheduleAttr schedule,
                          const CPULoweringOptions &options, int64_t height, int64_t width);

  /// Returns the number of lanes of a vector that fills a row of the `tile` of `schedule`, and not
  /// more than options.vectorBits.
  static int64_t chooseLanes(Type accumulator, ScheduleAttr schedule,
                             const CPULoweringOptions &options);

  int64_t vectorsPerRow() const { return cols / lanes; }
  VectorType vectorType() const { return VectorType::get(lanes, accumulator); }
  /// Returns the type of a [rows, cols] memref of accumulators.
  MemRefType memrefType() const { return MemRefType::get({rows, cols}, accumulator); }
  /// Returns the type of a [depth, cols] memref of a packed panel.
  MemRefType panelType() const {
    return MemRefType::get({ShapedType::kDynamic, cols}, accumulator);
  }
  /// Returns accumulators of value 0, one vector each, row by row.
  SmallVector<Value> zeroAccumulators(ImplicitLocOpBuilder &b) const;
  /// storeAccumulators stores the accumulators to rows [row, row + rows) of `memref` [.., cols];
  /// loadAccumulators loads and returns them.
  void storeAccumulators(ImplicitLocOpBuilder &b, ValueRange accumulators, Value memref,
                         Value row) const;
  SmallVector<Value> loadAccumulators(ImplicitLocOpBuilder &b, Value memref, Value row) const;
};

/// Allocates a heap buffer aligned to 64 bytes; the caller frees it with freeScratch.
Value allocateScratch(ImplicitLocOpBuilder &b, MemRefType type, ValueRange sizes);
void freeScratch(ImplicitLocOpBuilder &b, Value memref);

/// Prefetches the cache lines of columns [col, col + count) of a row, as far as the matrix has
/// them. Neither the row nor the matrix may be empty.
void prefetchRow(ImplicitLocOpBuilder &b, const MatrixView &matrix, Value row, Value col,
                 int64_t count, bool write);

/// Packs `depth` rows of columns [firstCol, firstCol + tile.cols) of `source` into `panel`,
/// converted to the accumulation type. Columns that `source` lacks become 0. Complete vectors are
/// copied if `unitStride` (i1) is true and all columns exist.
void packPanel(ImplicitLocOpBuilder &b, const TileShape &tile, const MatrixView &source,
               Value unitStride, Value firstCol, Value depth, Value panel);

/// Returns i1: true if none of the first `depth` rows of the panel holds NaN or infinity. Requires
/// floating-point elements.
Value isFinitePanel(ImplicitLocOpBuilder &b, const TileShape &tile, Value depth, Value panel);

/// Returns element (row of the tile, k) of the left operand, in the accumulation type.
using LeftElement = function_ref<Value(int64_t row, Value k)>;

/// Emits lhs + rhs for scalars or vectors, floating-point or integer.
Value emitAdd(ImplicitLocOpBuilder &b, Value lhs, Value rhs);

/// Emits sum + x * y for vectors, floating-point (rounded once) or integer.
Value emitMultiplyAdd(ImplicitLocOpBuilder &b, Value x, Value y, Value sum);

/// Emits operations that accompany step k of a multiplication, such as a prefetch.
using EachStep = function_ref<void(Value k)>;

/// Emits accumulators += left[:, 0..depth) * panel[firstRow .. firstRow + depth) and returns the
/// new accumulators.
SmallVector<Value> multiplyTile(ImplicitLocOpBuilder &b, const TileShape &tile,
                                ValueRange accumulators, Value panel, Value firstRow, Value depth,
                                LeftElement left, EachStep eachStep = nullptr);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_PANELKERNEL_H
