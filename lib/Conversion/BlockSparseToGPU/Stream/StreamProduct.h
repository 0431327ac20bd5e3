// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The frame of the "cuda.stream" kernels: persistent thread blocks in which one thread copies the
// stages of blocksparse/Plan/Stages.h into a ring and the other warps consume them.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_STREAM_STREAMPRODUCT_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_STREAM_STREAMPRODUCT_H

#include "../Kit/StageRing.h"
#include "../Operands/Epilogue.h"
#include "../Operands/StagedTiles.h"
#include "StreamPanels.h"
#include "StreamTerms.h"
#include "blocksparse/Plan/Stages.h"

namespace mlir::blocksparse::device {

/// Registers of a thread, multiples of 8; 0 where they stay as they are launched.
struct WarpRegisters {
  int64_t producer = 0, consumer = 0;
};

/// The sizes of a kernel. Shared memory: the stages, each with its panels, value blocks and record,
/// or with terms; then buffers of block x 64 results; then the barriers.
struct StreamPlan {
  static std::optional<StreamPlan> get(PlannedDSDOp op);

  int64_t blockBytes() const { return shape.block * shape.block * 2; }
  StreamPanels panels() const { return {shape, cols}; }
  bool alongK() const { return shape.alongK; }
  int64_t recordBytes() const { return shape.recordInts() * 4; }
  int64_t valuesOffset() const { return shape.panels * panels().stride(); }
  int64_t recordOffset() const { return valuesOffset() + shape.blocks * blockBytes(); }
  int64_t resultBytes() const { return shape.block * chunkCols * 2; }
  int64_t resultOffset() const { return stages * shape.stageBytes(); }
  /// Arrivals of a warp that give a stage back: of its first lane, or of all lanes where others
  /// than the copy engine write next what they have read.
  int64_t releasesOfWarp() const { return usesWgmma && terms.count() == 0 ? 1 : 32; }
  /// What owns whole block rows: warps, or warpgroups that multiply by wgmma. The place in a group
  /// of row `number` of `owner`; all i32. Rows of warps are spread.
  int64_t owners() const { return usesWgmma ? warps / 4 : warps; }
  Value placeOf(ImplicitLocOpBuilder &b, Value owner, Value number) const;
  int64_t buffers() const { return ::blocksparse::streamBuffers(usesWgmma, warps); }
  int64_t barrierOffset() const { return resultOffset() + buffers() * resultBytes(); }
  int64_t sharedBytes() const { return barrierOffset() + StageRing::bytes(stages) + 1024; }
  int64_t threads() const;
  WarpRegisters registers() const;
  /// Registers of a consumer with `sums` sums that hold neither those nor addresses and the like.
  int64_t freeRegisters(int64_t sums) const;

  ::blocksparse::StreamShape shape;
  int64_t stages, warps, cols;
  bool transposeOut;
  /// Two warpgroups multiply by wgmma, else every warp by mma.sync.
  bool usesWgmma;
  Type element;
  MapBox out;
  TermStages terms;
};

/// What every warp of the kernel under construction knows.
class StreamKernel {
public:
  /// `maps`: of the dense operand, the result, and the input where the plan's terms have one.
  StreamKernel(ImplicitLocOpBuilder &b, PlannedDSDOp op, const StreamPlan &plan,
               ArrayRef<Value> maps, Value packed, const IRMapping &mapping);

  void emit(ImplicitLocOpBuilder &b);

  /// Address (i32) of a stage.
  Value stageBase(ImplicitLocOpBuilder &b, Value stage) const;
  /// Where word `number` (i32) of the record of a stage is, !llvm.ptr<3>.
  Value wordPointer(ImplicitLocOpBuilder &b, Value stageBase, Value number) const;
  /// Address of the first value block of a stage.
  Value valuesBase(ImplicitLocOpBuilder &b, Value stageBase) const;
  /// Stores a chunk of 64 columns of block row `unit` from shared memory; one thread.
  void storeChunk(ImplicitLocOpBuilder &b, const StagedTile &tile, Value unit, int64_t chunk,
                  Value address) const;
  /// The block row at `place` (i32) of a tile's group, or any where there is none: such a place is
  /// not stored.
  Value readableRow(ImplicitLocOpBuilder &b, const StagedTile &tile, Value place) const;
  /// The sums of block row `unit` in a tile's panel, [row][column]; the lane is set.
  SumStrip getSums(ImplicitLocOpBuilder &b, const StagedTile &tile, Value unit) const;

  // Accessors of ops are not const.
  mutable PlannedDSDOp op;
  StreamPlan plan;
  StagedTiles lists;
  /// i32: number of the warp and the lane, base of shared memory.
  Value warp, lane, base;
  /// i1.
  Value isFirstLane;
  std::optional<StageRing> ring;
  Epilogue epilogue;

private:
  void emitProducer(ImplicitLocOpBuilder &b);
  void emitCopies(ImplicitLocOpBuilder &b, const StagedTile &tile, Value record,
                  ArrayRef<Value> head, Value stage);
  SmallVector<Value> readHead(ImplicitLocOpBuilder &b, Value record) const;

  Value denseMap, outMap, inputMap, packed;
  IntTable records;
  ValuesOrigin origin;
  DenseView out;
};

/// The two kinds of consumers.
void emitMmaConsumer(ImplicitLocOpBuilder &b, const StreamKernel &kernel);
void emitWgmmaConsumer(ImplicitLocOpBuilder &b, const StreamKernel &kernel);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_STREAM_STREAMPRODUCT_H
