// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_SKINNY_SKINNYLOADS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_SKINNY_SKINNYLOADS_H

#include "../../OperandView.h"
#include "blocksparse/IR/BlockSparseOps.h"

namespace mlir::blocksparse::device {

/// Describes the tile of a planned_dsd.
struct SkinnyShape {
  /// Values of k of a lane in one step, 16 bytes; four lanes share a row.
  static constexpr int64_t laneDepth = 8, lanesPerRow = 4;

  /// Says how a lane loads its part of the dense factor: `laneDepth` values of k of one column, the
  /// columns of all fragments at one k, or single elements.
  enum class DenseLoads { AlongK, AlongColumns, Elements };

  Type element;
  /// Rows and depth of op(block), and columns of the result.
  int64_t blockRows, blockDepth, cols;
  /// Fragments of 16 rows and of 8 columns of a tile.
  int64_t rowGroups, colGroups;
  int64_t warps, unroll;
  DenseLoads denseLoads;
  /// True if every step of 32 values of k lies in one block and inside of the dense operand.
  bool wholeSteps;
  /// True if value block e is that of entry e.
  bool valuesInOrder;

  /// Returns the shape of the kernel for an operation that the family supports, on a GPU with
  /// `multiprocessors` SMs. `loadsVectors` tells whether vectors of the dense factor may be loaded,
  /// where its shape suits them.
  static SkinnyShape get(PlannedDSDOp op, int64_t multiprocessors, bool loadsVectors);

  int64_t rows() const { return 16 * rowGroups; }
  /// Returns the tiles that cover the rows of a block.
  int64_t rowTiles() const { return (blockRows + rows() - 1) / rows(); }
  int64_t lanesPerBlockRow() const { return blockDepth / laneDepth; }
  int64_t threads() const { return 32 * warps; }
  int64_t accumulators() const { return 4 * rowGroups * colGroups; }
  /// Returns the words that a lane loads in one step: of the values, and of the dense factor.
  int64_t valueWords() const { return 8 * rowGroups; }
  int64_t denseWords() const;
};

/// Holds the position of a lane in a warp: group lane / 4 and number lane % 4 in the group.
struct SkinnyLane {
  Value group, quarter;
};

/// Loads the part of a lane of the rows `firstRow` .. of `block` at column `inner`: words
/// [row group][row g, row g + 8][4]. Rows beyond `lastRow` repeat it; null if there are none.
SmallVector<Value> loadValueWords(ImplicitLocOpBuilder &b, const SkinnyShape &shape,
                                  const MatrixView &block, Value firstRow, Value lastRow,
                                  Value inner, const SkinnyLane &lane);

/// Loads the part of a lane of 8 rows of the dense factor from `start` on, as many words as
/// shape.denseWords(). `dense` is [k][column], or [column][k] for loads along k. Columns beyond the
/// last repeat it.
SmallVector<Value> loadDenseWords(ImplicitLocOpBuilder &b, const SkinnyShape &shape,
                                  const MatrixView &dense, Value start, const SkinnyLane &lane);

/// Returns the words of fragment `colGroup` from those of loadDenseWords: four words of two
/// neighbours along k.
SmallVector<Value> getDenseFragment(ImplicitLocOpBuilder &b, const SkinnyShape &shape,
                                    ArrayRef<Value> words, int64_t colGroup);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_SKINNY_SKINNYLOADS_H
