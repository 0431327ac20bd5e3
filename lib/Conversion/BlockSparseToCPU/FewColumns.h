// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Emits the inner kernel of reductions over blocks whose results have few columns, such as
// matrix-vector products. Vectors along the columns would be nearly empty, so that lanes run along
// the contiguous axis of the value blocks, and each value is loaded once.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_FEWCOLUMNS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_FEWCOLUMNS_H

#include "PanelKernel.h"

#include <optional>

namespace mlir::blocksparse {

/// Describes a tile of `rows` x `cols` results and the vectors that accumulate it. If value blocks
/// are stored row by row, each result has a vector whose lanes take turns along the reduction axis
/// and are added at the end. If they are transposed, each column has rows / lanes vectors, whose
/// lanes are rows.
struct FewColumns {
  Type accumulator;
  int64_t rows, cols, lanes;
  bool transposed;

  /// Returns the tile for `width` columns (kDynamic: unknown) and blocks of op(S) of `height` rows
  /// and `depth` values of k, whose stored form is `transposed`. `lanes` is the number of lanes of
  /// a vector register. Returns nothing if vectors along the columns serve as well: where these
  /// fill more than half of a register, or the contiguous axis of a block has no whole vectors.
  static std::optional<FewColumns> choose(Type accumulator, int64_t lanes, int64_t height,
                                          int64_t depth, int64_t width, bool transposed);

  VectorType vectorType() const { return VectorType::get(lanes, accumulator); }
  /// Returns the type of a packed dense operand [cols, depth].
  MemRefType panelType() const {
    return MemRefType::get({cols, ShapedType::kDynamic}, accumulator);
  }
  /// Packs the first `depth` rows of `source` as the rows of `panel`, converted to the accumulation
  /// type; the rest of the panel, up to `paddedDepth`, becomes 0.
  void packPanel(ImplicitLocOpBuilder &b, const MatrixView &source, Value depth, Value paddedDepth,
                 Value panel) const;
  SmallVector<Value> zeroAccumulators(ImplicitLocOpBuilder &b) const;
  /// Emits accumulators += op(block)[row .. row + rows, 0 .. depth) * panel[.., firstK ..) and
  /// returns the new accumulators. `block` is the block as it is stored, with contiguous rows.
  /// `extent` values of k exist in it; elements after the first `depth` ones may have any value. A
  /// null `depth` means all. Rows after `lastRow` are read as `lastRow`; null means that all exist.
  /// `eachStep` is emitted for each multiple k of stepSize().
  SmallVector<Value> multiplyBlock(ImplicitLocOpBuilder &b, ValueRange accumulators,
                                   const MatrixView &block, Value row, Value lastRow,
                                   int64_t extent, Value depth, Value panel, Value firstK,
                                   EachStep eachStep) const;
  /// Returns the number of values of k that one step of multiplyBlock takes.
  int64_t stepSize() const { return transposed ? 1 : lanes; }
  /// Stores the results to tile [rows, >= cols]; its other columns become 0.
  void storeResults(ImplicitLocOpBuilder &b, ValueRange accumulators, Value tile) const;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_FEWCOLUMNS_H
