// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The terms of the epilogue of a "cuda.stream" kernel come through its ring, so that nothing is
// waited for when the products have ended. An owner is what owns whole block rows of a group: a
// warp, or a warpgroup that multiplies by wgmma. A block row is cut into chunks of 64 columns.
// Behind the stages of its products a tile has stages of terms, each for some chunks of every
// owner, either of one row or all of some rows:
//   the input  [owner][chunk], each as the result is stored, [row in block][64], or [64][row in
//              block] where that is transposed; swizzled as all copies,
//   vectors    f32: of each term with an element for each row [owner][row][row in block], of each
//              with one for each column [column of the tile].
// The producer copies the input. The other warps of its warpgroup load the vectors, whatever their
// types and strides are, and fill every stage together with the producer.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_STREAM_STREAMTERMS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_STREAM_STREAMTERMS_H

#include "../Kit/StageRing.h"
#include "../Operands/StagedTiles.h"
#include "../Operands/StripEpilogue.h"
#include "blocksparse/Plan/Stages.h"

namespace mlir::blocksparse::device {

class StreamKernel;

/// What the stages of terms hold.
struct TermStages {
  /// For the rows of `shape` by `cols` columns; `owners` is a divisor of the rows.
  static TermStages get(PlannedDSDOp op, const ::blocksparse::StreamShape &shape, int64_t owners,
                        int64_t cols);

  /// Of an owner.
  int64_t ownedRows() const { return shape.rows / owners; }
  int64_t ownedChunks() const { return ownedRows() * chunks(); }
  /// Of a block row.
  int64_t chunks() const { return cols / chunkCols; }
  /// Stages of a tile.
  int64_t count() const { return perStage == 0 ? 0 : llvm::divideCeil(ownedChunks(), perStage); }
  TermSet given() const;
  int64_t chunkBytes() const { return shape.block * chunkCols * 2; }
  int64_t inputBytes() const { return hasInput ? owners * perStage * chunkBytes() : 0; }
  /// Rows of each owner that have chunks in a stage, and the first one in stage `stage`.
  int64_t rowsPerStage() const { return std::max<int64_t>(perStage / chunks(), 1); }
  int64_t firstRow(int64_t stage) const { return stage * perStage / chunks(); }
  /// Elements of a vector along rows in a stage.
  int64_t rowElements() const { return owners * rowsPerStage() * shape.block; }
  /// Where vector `number` of `ofRow` and of `ofCol` begins in a stage.
  int64_t rowVectorOffset(int64_t number) const {
    return inputBytes() + number * rowElements() * GivenTerms::elementBytes;
  }
  int64_t colVectorOffset(int64_t number) const {
    return rowVectorOffset(ofRow.size()) + number * cols * GivenTerms::elementBytes;
  }
  int64_t bytes() const { return colVectorOffset(ofCol.size()); }
  bool hasVectors() const { return !ofRow.empty() || !ofCol.empty(); }
  /// Threads that load vectors and fill stages beside the producer.
  int64_t loaders() const { return hasVectors() ? loaderWarps * 32 : 0; }
  /// Chunks of a row that one copy brings, and its box.
  int64_t perCopy() const { return perStage % chunks() == 0 ? chunks() : 1; }
  MapBox inputBox() const {
    return transposeOut ? MapBox{perCopy() * chunkCols, 1, shape.block}
                        : MapBox{shape.block, perCopy()};
  }

  static constexpr int64_t loaderWarps = 3;

  ::blocksparse::StreamShape shape;
  int64_t owners = 0, cols = 0;
  bool transposeOut = false, hasInput = false;
  /// Terms with an element for each row, or each column, of the product.
  SmallVector<Epilogue::Term> ofRow, ofCol;
  /// Chunks of each owner in a stage; 0 where there is no term.
  int64_t perStage = 0;

private:
  /// Sets that to the most that fit a stage, one at least.
  void fit();
};

/// What thread `thread` (i32) of the loaders does: it walks through the stages of all tiles of the
/// thread block.
void emitTermLoaders(ImplicitLocOpBuilder &b, const StreamKernel &kernel, Value thread);

/// The producer fills the stages of terms of a tile, from `at` on; gives the position behind them.
/// `inputMap`: that of the input, where it is copied.
StageRing::Position emitTermCopies(ImplicitLocOpBuilder &b, const StreamKernel &kernel,
                                   Value inputMap, const StagedTile &tile, StageRing::Position at);

/// The stages of terms of a tile as owner `owner` (i32) takes them, one chunk after the other. All
/// its threads call `take` and `giveBack` together.
class TermReader {
public:
  TermReader(const StreamKernel &kernel, Value owner, const StageRing::Position &start)
      : kernel(kernel), owner(owner), at(start) {}

  /// Waits for the terms of chunk `number` of the owner, in [row][chunk].
  void take(ImplicitLocOpBuilder &b, int64_t number);
  /// What is given of a corner of the chunk that was taken. `offset`: where the lane reads the
  /// input's matrices in the chunk, with a transposition or not. The corner's strip begins at row
  /// `row` of the block row and column `col` of the tile. All i32.
  GivenTerms getCorner(ImplicitLocOpBuilder &b, Value offset, bool transposed, Value row,
                       Value col) const;
  /// The chunk has been read.
  void giveBack(ImplicitLocOpBuilder &b);
  /// Of the stage behind those that were given back.
  const StageRing::Position &position() const { return at; }

private:
  /// Addresses (i32): of the stage, and of the input of the chunk.
  Value stage(ImplicitLocOpBuilder &b) const;
  Value inputChunk(ImplicitLocOpBuilder &b) const;
  /// GivenTerms::vectors.
  std::array<Value, Epilogue::numTerms> vectors(ImplicitLocOpBuilder &b, Value row,
                                                Value col) const;

  const StreamKernel &kernel;
  Value owner;
  StageRing::Position at;
  int64_t taken = 0;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_STREAM_STREAMTERMS_H
