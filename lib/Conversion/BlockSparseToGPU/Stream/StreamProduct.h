// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The frame of the `cuda.stream` and `cuda.stream_wgmma` kernels: persistent CTAs in which one
// producer thread loads the stages of blocksparse/Plan/Stages.h into a stage ring, and the consumer
// warps multiply them. A tile is a row group of `rows` block rows by a column tile. Each consumer
// (a warp with mma.sync, a warpgroup with wgmma) computes complete block rows, so no partial sums
// are exchanged.
//
// Warps 0 .. warps - 1 are consumers. The next four warps are the producer warpgroup: its first
// warp issues the TMA loads; the other three load vectors of the epilogue, if there are any (see
// StreamOperands.h).

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_STREAM_STREAMPRODUCT_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_STREAM_STREAMPRODUCT_H

#include "../Kit/StageRing.h"
#include "../Operands/Epilogue.h"
#include "../Operands/StagedTiles.h"
#include "StreamOperands.h"
#include "StreamPanels.h"
#include "blocksparse/Plan/Stages.h"
#include "blocksparse/Target/TargetInfo.h"

namespace mlir::blocksparse::device {

/// Holds the registers of a producer and of a consumer thread after setmaxnreg, multiples of 8. 0
/// means that the number of the launch stays.
struct WarpRegisters {
  int64_t producer = 0, consumer = 0;
};

/// Describes the sizes of a kernel. Shared memory contains the stages, each with panels, value
/// blocks and a record, or with staged operands; then buffers of block x 64 results; then the
/// barriers. Offsets and sizes are bytes.
struct StreamPlan {
  /// Returns the plan of the operation, or nothing if its schedule has no legal shape on `gpu`.
  static std::optional<StreamPlan> get(PlannedDSDOp op, const ::blocksparse::GPUFacts &gpu);

  /// Returns the size of a value block.
  int64_t blockBytes() const { return shape.block * shape.block * 2; }
  StreamPanels panels() const { return {shape, cols}; }
  bool kMajor() const { return shape.kMajor; }
  int64_t recordBytes() const { return shape.recordInts() * 4; }
  /// Return the offsets, in a stage, of the value blocks and of the record.
  int64_t valuesOffset() const { return shape.panels * panels().stride(); }
  int64_t recordOffset() const { return valuesOffset() + shape.blocks * blockBytes(); }
  /// Return the size of a buffer for a subtile of the result, and the offset of the buffers.
  int64_t resultBytes() const { return shape.block * subtileCols * 2; }
  int64_t resultOffset() const { return stages * shape.stageBytes(); }
  /// Returns the number of arrivals of a warp that release a stage: 1, of its first lane, or 32, of
  /// all lanes. Each lane has to arrive if others than TMA write next what the lanes have read with
  /// ordinary loads.
  int64_t releasesOfWarp() const { return usesWgmma && staged.count() == 0 ? 1 : 32; }
  /// Returns the number of consumers, each of which computes complete block rows: warps, or
  /// warpgroups with wgmma.
  int64_t consumers() const { return usesWgmma ? warps / 4 : warps; }
  /// Returns the index in its row group (i32) of block row `number` of consumer `consumer` (both
  /// i32). Warps take block rows in turn; a warpgroup takes consecutive ones.
  Value indexInGroup(ImplicitLocOpBuilder &b, Value consumer, Value number) const;
  /// Returns the number of buffers for subtiles of the result.
  int64_t buffers() const { return ::blocksparse::streamBuffers(usesWgmma, warps); }
  int64_t barrierOffset() const { return resultOffset() + buffers() * resultBytes(); }
  /// Returns the size of the shared memory to request, with 1024 bytes for the alignment of its
  /// base.
  int64_t sharedBytes() const { return barrierOffset() + StageRing::bytes(stages) + 1024; }
  /// Returns the number of threads of a CTA: consumers and producer warpgroup.
  int64_t threads() const;
  /// Returns the registers of producer and consumer threads.
  WarpRegisters registers() const;
  /// Returns the number of registers of a consumer with `accumulators` accumulators that hold
  /// neither these nor addresses and the like.
  int64_t freeRegisters(int64_t accumulators) const;

  ::blocksparse::StreamShape shape;
  int64_t stages, warps, cols;
  bool transposeOut;
  /// True if two warpgroups multiply by wgmma; otherwise every consumer warp multiplies by
  /// mma.sync.
  bool usesWgmma;
  /// True if warps may exchange registers. Else all keep those that they start with.
  bool hasSetmaxnreg;
  Type element;
  TensorBox out;
  OperandStages staged;
};

/// Holds what every warp knows about the kernel that is being built.
class StreamKernel {
public:
  /// Creates the kernel. `maps` are the tensor maps of the dense operand and of the result, and of
  /// C if it is staged. `packed` contains the packed values.
  StreamKernel(ImplicitLocOpBuilder &b, PlannedDSDOp op, const StreamPlan &plan,
               ArrayRef<Value> maps, Value packed, const IRMapping &mapping);

  /// Emits the complete kernel: initialises the ring and runs producer and consumers.
  void emit(ImplicitLocOpBuilder &b);

  /// Returns the shared-memory address (i32) of a stage.
  Value stageBase(ImplicitLocOpBuilder &b, Value stage) const;
  /// Returns the address (!llvm.ptr<3>) of word `number` (i32) of a stage's record, counted after
  /// the record's head.
  Value wordPointer(ImplicitLocOpBuilder &b, Value stageBase, Value number) const;
  /// Returns the shared-memory address (i32) of the first value block of a stage.
  Value valuesBase(ImplicitLocOpBuilder &b, Value stageBase) const;
  /// Starts the TMA store of a subtile of block row `slab` from shared memory. One thread calls it.
  void storeSubtile(ImplicitLocOpBuilder &b, const StagedTile &tile, Value slab, int64_t subtile,
                    Value address) const;
  /// Returns the block row (i32) at index `index` (i32) of the tile's row group. If there is none,
  /// it returns 0: such a row may be read but is not stored.
  Value readableRow(ImplicitLocOpBuilder &b, const StagedTile &tile, Value index) const;
  /// Returns the position of the accumulators of block row `slab` of a tile, [row][column]; the
  /// lane is set.
  WarpTilePosition getWarpTile(ImplicitLocOpBuilder &b, const StagedTile &tile, Value slab) const;

  PlannedDSDOp op;
  StreamPlan plan;
  StagedTiles lists;
  /// Index of the warp and of the lane, and the base of shared memory (all i32).
  Value warp, lane, base;
  /// True (i1) in lane 0.
  Value isFirstLane;
  std::optional<StageRing> ring;
  Epilogue epilogue;

private:
  /// Emits the producer thread: it fills the stages of all tiles of the CTA.
  void emitProducer(ImplicitLocOpBuilder &b);
  /// Announces the bytes of a stage and issues its loads. `head` is the head of record `record`.
  void emitCopies(ImplicitLocOpBuilder &b, const StagedTile &tile, Value record,
                  ArrayRef<Value> head, Value stage);
  /// Returns the head of record `record`: first packed block, number of blocks, number of panels,
  /// and block columns.
  SmallVector<Value> readHead(ImplicitLocOpBuilder &b, Value record) const;

  Value denseMap, outMap, inputMap, packed;
  IntTable records;
  ValuesOrigin origin;
  DenseView out;
};

/// Emit the consumers of the two families.
void emitMmaConsumer(ImplicitLocOpBuilder &b, const StreamKernel &kernel);
void emitWgmmaConsumer(ImplicitLocOpBuilder &b, const StreamKernel &kernel);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_STREAM_STREAMPRODUCT_H
