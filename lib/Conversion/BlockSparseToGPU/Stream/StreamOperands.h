// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Staged operands of the epilogue of a stream kernel: they are loaded through the stage ring, so
// that a consumer does not wait for memory when its products have ended. A consumer is a warp
// (mma.sync) or a warpgroup (wgmma) that computes complete block rows of a row group; a block row
// is divided into subtiles of 64 columns. After the stages of its products, a tile has stages of
// operands. Each contains some subtiles of every consumer, either of a single row or all subtiles
// of some rows:
//   C          [consumer][subtile], each as the result is stored: [row in block][64], or
//              [64][row in block] if the result is stored transposed; swizzled as all loads,
//   vectors    f32: of each operand with an element for each row [consumer][row][row in block], of
//              each operand with an element for each column [column of the tile].
// The producer thread loads C by TMA. The other three warps of its warpgroup load the vectors with
// ordinary instructions, because these may have any type and stride. Both fill every stage
// together: they are the producers of the ring.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_STREAM_STREAMOPERANDS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_STREAM_STREAMOPERANDS_H

#include "../Kit/StageRing.h"
#include "../Operands/FragmentEpilogue.h"
#include "../Operands/StagedTiles.h"
#include "blocksparse/Plan/Stages.h"

namespace mlir::blocksparse::device {

class StreamKernel;

/// Describes the contents of the stages of operands. Offsets and sizes are bytes.
struct OperandStages {
  /// Returns the stages for the rows of `shape` by `cols` columns. Requires the number of
  /// `consumers` (consumers) to divide the number of rows.
  static OperandStages get(PlannedDSDOp op, const ::blocksparse::StreamShape &shape,
                           int64_t consumers, int64_t cols);

  /// Return the number of block rows and of subtiles of a consumer.
  int64_t ownedRows() const { return shape.rows / consumers; }
  int64_t ownedSubtiles() const { return ownedRows() * subtiles(); }
  /// Returns the number of subtiles of a block row.
  int64_t subtiles() const { return cols / subtileCols; }
  /// Returns the number of stages of operands of a tile; 0 if no operand is staged.
  int64_t count() const { return perStage == 0 ? 0 : llvm::divideCeil(ownedSubtiles(), perStage); }
  /// Returns the operands that are staged.
  OperandSet operands() const;
  /// Return the size of a subtile of C and of all subtiles of C in a stage.
  int64_t subtileBytes() const { return shape.block * subtileCols * 2; }
  int64_t inputBytes() const { return hasInput ? consumers * perStage * subtileBytes() : 0; }
  /// Return the number of rows of each consumer that have subtiles in a stage, and the first such
  /// row of stage `stage`.
  int64_t rowsPerStage() const { return std::max<int64_t>(perStage / subtiles(), 1); }
  int64_t firstRow(int64_t stage) const { return stage * perStage / subtiles(); }
  /// Returns the number of elements of a row vector in a stage.
  int64_t rowElements() const { return consumers * rowsPerStage() * shape.block; }
  /// Return the offset of vector `number` of `ofRow` or `ofCol` in a stage.
  int64_t rowVectorOffset(int64_t number) const {
    return inputBytes() + number * rowElements() * StagedOperands::elementBytes;
  }
  int64_t colVectorOffset(int64_t number) const {
    return rowVectorOffset(ofRow.size()) + number * cols * StagedOperands::elementBytes;
  }
  /// Returns the size of the operands in a stage.
  int64_t bytes() const { return colVectorOffset(ofCol.size()); }
  bool hasVectors() const { return !ofRow.empty() || !ofCol.empty(); }
  /// Returns the number of threads that load vectors. They arrive at the full barriers beside the
  /// producer.
  int64_t loaders() const { return hasVectors() ? loaderWarps * 32 : 0; }
  /// Return the number of subtiles of a row that one TMA load brings, and its box.
  int64_t perCopy() const { return perStage % subtiles() == 0 ? subtiles() : 1; }
  TensorBox inputBox() const {
    return transposeOut ? TensorBox{perCopy() * subtileCols, 1, shape.block}
                        : TensorBox{shape.block, perCopy()};
  }

  static constexpr int64_t loaderWarps = 3;

  ::blocksparse::StreamShape shape;
  int64_t consumers = 0, cols = 0;
  bool transposeOut = false, hasInput = false;
  /// Operands with an element for each row, or for each column, of the accumulators.
  SmallVector<Epilogue::Operand> ofRow, ofCol;
  /// Number of subtiles of each consumer in a stage; 0 if no operand is staged.
  int64_t perStage = 0;

private:
  /// Sets `perStage` to the largest number that fits in a stage, at least 1.
  void fit();
};

/// Emits the code of vector loader thread `thread` (i32): it walks through the stages of all tiles
/// of the CTA.
void emitOperandLoaders(ImplicitLocOpBuilder &b, const StreamKernel &kernel, Value thread);

/// Fills the stages of operands of a tile, from `at` on, in the producer thread, and returns the
/// pipeline state after them. `inputMap` is the tensor map of C, if it is staged.
StageRing::Position emitOperandLoads(ImplicitLocOpBuilder &b, const StreamKernel &kernel,
                                     Value inputMap, const StagedTile &tile,
                                     StageRing::Position at);

/// Gives consumer `consumer` (i32) access to the stages of operands of a tile, one subtile after
/// another. All its threads call `take` and `release` together.
class StagedOperandReader {
public:
  StagedOperandReader(const StreamKernel &kernel, Value consumer, const StageRing::Position &start)
      : kernel(kernel), consumer(consumer), at(start) {}

  /// Makes subtile `number` of the consumer, in [row][subtile] order, the current one, and waits
  /// for its operands.
  void take(ImplicitLocOpBuilder &b, int64_t number);
  /// Returns the staged operands of an epilogue fragment of the current subtile. `offset` is the
  /// lane's offset in the subtile for loading C by ldmatrix, with .trans if `transposed` is set.
  /// The warp tile of the fragment begins at row `row` of the block row and column `col` of the
  /// tile. All are i32.
  StagedOperands getFragment(ImplicitLocOpBuilder &b, Value offset, bool transposed, Value row,
                             Value col) const;
  /// Marks the current subtile as read. After the last subtile of a stage, each thread releases the
  /// stage.
  void release(ImplicitLocOpBuilder &b);
  /// Returns the pipeline state of the stage that follows the released ones.
  const StageRing::Position &position() const { return at; }

private:
  /// Return the shared-memory address (i32) of the current stage, and of C of the current subtile.
  Value stage(ImplicitLocOpBuilder &b) const;
  Value inputSubtile(ImplicitLocOpBuilder &b) const;
  /// Returns StagedOperands::vectors of a fragment.
  std::array<Value, Epilogue::numOperands> vectors(ImplicitLocOpBuilder &b, Value row,
                                                   Value col) const;

  const StreamKernel &kernel;
  Value consumer;
  StageRing::Position at;
  int64_t taken = 0;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_STREAM_STREAMOPERANDS_H
