// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The frame of the `cuda.wgmma` kernels (sm_90a): persistent CTAs of three warpgroups, with warp
// specialisation. One thread of the first warpgroup, or one of each of its four warps, is a
// producer: it issues TMA loads into a stage ring. The other two warpgroups are consumers: they
// multiply what has been loaded and store their parts of the result while the producer already
// loads the k steps of the next tile. The kernels differ in what a k step loads and where results
// are stored: WgmmaKernel is the interface to that.
//
// Synchronisation (see Kit/StageRing.h for the barriers of a stage):
// - The producer waits for a stage to be empty, announces its bytes (expect-tx) and issues the
// loads.
// - A consumer waits for the stage to be full, issues its products and commits them
// (wgmma.commit_group), then waits until only this newest commit is in flight. The products of the
// previous k step have then ended, and their stage is released.
// - After the last k step, a consumer waits for all products and releases the last stage, then runs
// the epilogue.
//
// Products of f8 are promoted: a tensor core keeps only about 14 bits of a sum of f8, so that those
// of each k step are computed from 0 and then added to accumulators of f32 by ordinary
// instructions. A consumer waits for its products at once, while the other one multiplies.
//
// A stage contains 64 values of k: the subtiles (64 x 64) of A, then those of B. Normally both
// consumer warpgroups use all columns, and each has 64 rows (two subtiles of A). With
// `splitColumns`, both use the same 64 rows, and each has half of the columns (one subtile of A).
//
// Registers: a CTA of 384 threads that was compiled for one CTA per SM starts with 168 for each
// thread, 64,512 in all. setmaxnreg lowers the producer warpgroup to 40 and raises the consumers to
// 232: 128 * (40 + 2 * 232) = 64,512. A larger sum would never be granted, and the kernel would
// hang.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_WGMMA_WGMMAPRODUCT_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_WGMMA_WGMMAPRODUCT_H

#include "../KernelBuilder.h"
#include "../Kit/StageRing.h"
#include "../Kit/SubtileStore.h"
#include "../Kit/TensorMap.h"
#include "../Kit/Throttle.h"
#include "../Kit/TileRange.h"
#include "../Kit/WgmmaTile.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::blocksparse::device {

/// Describes the tile of a CTA, its stages in shared memory and the variants of the main loop.
struct WgmmaShape {
  /// Columns of a consumer warpgroup: a multiple of 64 up to 256.
  int64_t cols = 256;
  /// True if the consumer warpgroups share the rows and split the columns.
  bool splitColumns = false;
  /// Number of stages of the ring.
  int64_t stages = 4;
  /// Element type of the factors: f16 or bf16, or f8 or i8 for factors that are K-major.
  Type element;
  /// Element type of the result. Results of 16 bits are stored in subtiles by TMA, others from
  /// registers.
  Type result;
  /// True if A (B) is K-major in shared memory, see Kit/WgmmaTile.h.
  bool aKMajor = true, bKMajor = false;
  /// True if the result is stored with rows and columns exchanged.
  bool transposeOut = false;
  /// True if tiles are read from tables, one tile ahead. Otherwise they are computed when they are
  /// needed.
  bool readsTiles = true;
  /// True if the store of a tile's last subtiles is deferred: they stay in registers until the next
  /// tile has begun. False for an epilogue with operands, which needs those registers.
  bool defersStore = true;
  /// True if a half of a tile may have no block in a k step. `recordBytes` bytes of shared memory
  /// beside the stage tell which halves do; the producer thread writes them.
  bool hasGaps = false;
  /// True if C (the operand `input` of the epilogue) is staged: stages that follow the k steps of a
  /// tile hold its subtiles, those of the first consumer warpgroup before those of the second.
  bool hasInput = false;
  /// CTAs of a cluster, 1 or 2. They have the same rows and k steps and different columns; each
  /// loads one subtile of A by a multicast to both. (L2 then delivers 40 KB for each k step and CTA
  /// instead of 48 KB.)
  int64_t cluster = 1;

  /// Number of producer warps that issue the loads of a k step, each its share: 1 or 4. Issuing one
  /// TMA load takes a thread about 80 cycles; a k step takes 1,000 to 1,300 cycles.
  int64_t producerWarps = 1;

  /// Throttling (see Kit/Throttle.h): each of `blocks` CTAs has at least `throttledTiles` tiles,
  /// all with equally many k steps. In these tiles a CTA begins every `throttleInterval`th k step
  /// (a power of two) when the others do. If `throttledTiles` is 0, there is no throttling.
  int64_t throttledTiles = 0, blocks = 0, throttleInterval = 16;

  static constexpr int64_t threads = 384;
  static constexpr int64_t groups = 2;
  static constexpr int64_t stepDepth = 64;
  static constexpr int64_t recordBytes = 8;
  /// Subtiles of the result that a consumer warpgroup has in shared memory at a time: one batch of
  /// SubtileStore.
  static constexpr int64_t resultBuffers = 2;

  int64_t elementBytes() const { return element.getIntOrFloatBitWidth() / 8; }
  /// Returns true if products of a k step are added to the accumulators by ordinary instructions.
  bool promotes() const { return isa<FloatType>(element) && elementBytes() == 1; }
  /// Returns true if the result is stored from registers.
  bool storesRegisters() const { return result.getIntOrFloatBitWidth() != 16; }
  /// Returns the layout of a factor in shared memory, and the number of k slices of a k step.
  WgmmaFactor factor(bool kMajor) const {
    WgmmaFactor layout{kMajor};
    layout.elementBytes = elementBytes();
    return layout;
  }
  int64_t slicesOfStep() const { return stepDepth / WgmmaTile::stepDepth * elementBytes() / 2; }
  /// Returns the number of bytes of a subtile of a factor.
  int64_t matrixBytes() const { return stepDepth * subtileCols * elementBytes(); }
  /// Return the number of subtiles of A and of B in a stage, and the size of a stage in bytes.
  int64_t aMatrices() const { return splitColumns ? 1 : 2; }
  int64_t bMatrices() const { return cols / subtileCols * (splitColumns ? 2 : 1); }
  int64_t stageBytes() const { return (aMatrices() + bMatrices()) * matrixBytes(); }
  /// Returns the number of subtiles in the columns of a consumer warpgroup.
  int64_t subtiles() const { return cols / subtileCols; }
  /// Returns the number of arrivals of a warp that release a stage. If C is staged, each lane
  /// arrives for itself, because each lane reads it with ordinary loads. Otherwise only wgmma reads
  /// stages, and one lane arrives for its warp.
  int64_t releasesOfWarp() const { return hasInput ? 32 : 1; }
  /// Returns the number of stages that hold C of a tile, and the subtiles of a warpgroup in one of
  /// them.
  int64_t inputStages() const {
    int64_t most = stageBytes() / (groups * SubtileStore::subtileBytes);
    return hasInput ? llvm::divideCeil(subtiles(), most) : 0;
  }
  int64_t inputSubtiles() const { return llvm::divideCeil(subtiles(), inputStages()); }
  /// Return byte offsets from the aligned base of shared memory: of the buffers for the result, of
  /// the records and of the barriers.
  int64_t resultOffset() const { return stages * stageBytes(); }
  int64_t recordOffset() const {
    return resultOffset() +
           (storesRegisters() ? 0 : groups * resultBuffers * SubtileStore::subtileBytes);
  }
  int64_t barrierOffset() const { return recordOffset() + (hasGaps ? stages * recordBytes : 0); }
  /// Returns the size of the shared memory to request, with 1024 bytes for the alignment of its
  /// base.
  int64_t sharedBytes() const { return barrierOffset() + StageRing::bytes(stages) + 1024; }
  /// Returns the number of registers of a consumer thread that hold neither accumulators nor
  /// addresses and the like: the epilogue can use them.
  int64_t freeRegisters() const;
  /// Sets the number of stages: as many as fit in `limit` bytes of shared memory, at most `wanted`
  /// and at least 2.
  void fitStages(int64_t wanted, int64_t limit);
};

/// Holds the shared-memory addresses that the loads of a k step write.
struct StageBuffers {
  /// Addresses (i32) of the first subtile of A and of B, and of the record if the shape has gaps.
  Value a, b, record;
  /// The full barrier of the stage (!llvm.ptr<3>), which counts the bytes.
  Value barrier;
  /// Index (i32) of the producer warp whose share of the loads is requested.
  Value warp;
};

/// Describes a tile: its number of k steps and whatever else the kernel knows about it, all i32.
struct WgmmaWork {
  Value steps;
  SmallVector<Value> fields;

  /// Convert the tile to values that a loop carries, and back.
  SmallVector<Value> toCarried() const;
  static WgmmaWork fromCarried(ValueRange values);
};

/// Gives a consumer warpgroup access to the staged subtiles of C of a tile, which it reads in
/// order. All its threads call both members together.
class InputSubtiles {
public:
  /// Creates a reader for consumer warpgroup `warpgroup` (i32); `start` is the pipeline state after
  /// the last k step of the tile, `base` the base of shared memory.
  InputSubtiles(const WgmmaShape &shape, const StageRing &ring, Value base, Value warpgroup,
                const StageRing::Position &start)
      : shape(shape), ring(ring), base(base), warpgroup(warpgroup), at(start) {}

  /// Returns the shared-memory address (i32) of subtile `number`, after waiting for its stage to be
  /// full.
  Value take(ImplicitLocOpBuilder &b, int64_t number) const;
  /// Marks the subtile as read. After the last subtile of a stage, each thread
  /// releases the stage.
  void release(ImplicitLocOpBuilder &b, int64_t number);
  /// Returns the pipeline state of the stage that follows the released ones.
  const StageRing::Position &position() const { return at; }

private:
  WgmmaShape shape;
  StageRing ring;
  Value base, warpgroup;
  StageRing::Position at;
};

/// Reads what the tables say about the steps of a tile. Values are i32.
class WgmmaStepTables {
public:
  virtual ~WgmmaStepTables() = default;

  /// Returns what the tables contain about a k step, for the producer. Each lane of the producer
  /// warp may ask for another step. It is called up to a record batch ahead, also across tiles: it
  /// may be called for steps that the tile does not have, and the result is then not used.
  virtual SmallVector<Value> readStep(ImplicitLocOpBuilder &b, const WgmmaWork &tile,
                                      Value step) = 0;
  /// Stores what the consumers must know about a k step at shared-memory address `record`. `entry`
  /// is the result of readStep. The producer thread calls it before its arrival at the full
  /// barrier, which makes the stores visible. Called only if the shape has gaps.
  virtual void storeStep(ImplicitLocOpBuilder &b, ArrayRef<Value> entry, Value record) = 0;
  /// Returns i1: true if warpgroup `warpgroup` multiplies in the k step that storeStep described at
  /// address `record`. Called only if the shape has gaps.
  virtual Value participates(ImplicitLocOpBuilder &b, Value record, Value warpgroup) = 0;
};

/// Loads C, the input of the epilogue, through the ring of stages.
class WgmmaInputLoads {
public:
  virtual ~WgmmaInputLoads() = default;

  /// Issues the load of subtile `number` of C for consumer warpgroup `warpgroup` to shared-memory
  /// address `to` (i32). Elements outside of C are loaded as zeros.
  virtual void emitInputCopy(ImplicitLocOpBuilder &b, const WgmmaWork &tile, int64_t warpgroup,
                             int64_t number, Value to, Value barrier) = 0;
};

/// Describes what a kernel loads in each k step and what it does with the result. Every member
/// emits code at `b`; all values are i32.
class WgmmaKernel {
public:
  virtual ~WgmmaKernel() = default;

  /// Returns the tiles of this CTA, as arguments of getTile.
  virtual TileRange tiles(ImplicitLocOpBuilder &b) = 0;
  /// Returns tile `number`. Producer and consumers call it, one tile ahead if shape.readsTiles is
  /// set.
  virtual WgmmaWork getTile(ImplicitLocOpBuilder &b, Value number) = 0;
  /// Returns tile `number` of a CTA whose tiles are `range`. Past the end of `range` it returns a
  /// tile that exists, so that it may be read; the result is not used.
  WgmmaWork getTileAhead(ImplicitLocOpBuilder &b, const TileRange &range, Value number);
  /// Returns the tables of the steps, or null if the steps of a tile need none.
  virtual WgmmaStepTables *getStepTables() { return nullptr; }
  /// Returns what loads C. Null only if the shape has no input.
  virtual WgmmaInputLoads *getInputLoads() { return nullptr; }
  /// Returns the bytes that emitCopies will load for a k step, for all producer warps together.
  virtual Value stepBytes(ImplicitLocOpBuilder &b, const WgmmaWork &tile,
                          ArrayRef<Value> entry) = 0;
  /// Issues the loads of a k step by producer warp `stage.warp`. `entry` is the result of readStep.
  virtual void emitCopies(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value step,
                          ArrayRef<Value> entry, const StageBuffers &stage) = 0;
  /// Prepares a tile. Called when consumer warpgroup `warpgroup` begins it. `thread` is the index
  /// of the thread in its warpgroup.
  virtual void beginTile(ImplicitLocOpBuilder &, const WgmmaWork &, Value /*warpgroup*/,
                         Value /*thread*/) {}
  /// Prepares the result. Called when all products of the tile have been started: operands that
  /// emitResult needs may be loaded meanwhile.
  virtual void prepareResult(ImplicitLocOpBuilder &, const WgmmaWork &, Value /*warpgroup*/,
                             Value /*thread*/) {}
  /// Stores the accumulators `accumulators` of consumer warpgroup `warpgroup` and returns the
  /// registers of the deferred batch, see SubtileStore::emit. If shape.hasInput, reads all subtiles
  /// of `input` and releases them.
  virtual SmallVector<Value> emitResult(ImplicitLocOpBuilder &b, const WgmmaWork &tile,
                                        Value warpgroup, const SubtileStore &store,
                                        InputSubtiles &input, ArrayRef<Value> accumulators) = 0;
  /// Stores the deferred batch `deferred` of a tile with `accumulators` accumulators a thread.
  virtual void emitDeferred(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value warpgroup,
                            const SubtileStore &store, ArrayRef<Value> deferred,
                            int64_t accumulators) = 0;
};

/// Holds what all warps of a CTA know.
struct WgmmaFrame {
  /// The base of shared memory and the index of the thread in its warpgroup (both i32).
  Value base, thread;
  StageRing ring;
  /// Present if the shape has throttled tiles.
  std::optional<Throttle> throttle;

  /// Returns the addresses of stage `stage` (i32); the producer warp is not set.
  StageBuffers buffers(ImplicitLocOpBuilder &b, const WgmmaShape &shape, Value stage) const;
};

/// Launches a kernel with the frame above.
class WgmmaProduct {
public:
  explicit WgmmaProduct(const WgmmaShape &shape) : shape(shape) {}

  /// Launches `blocks` CTAs. `maps` are tensor maps and `operands` all other operands; `makeKernel`
  /// receives the mapping from both to the arguments of the kernel. The product must stay alive
  /// only during the call.
  void launch(ImplicitLocOpBuilder &host, KernelBuilder &kernels, StringRef name, ValueRange maps,
              ValueRange operands, Value blocks,
              function_ref<std::unique_ptr<WgmmaKernel>(ImplicitLocOpBuilder &, const IRMapping &)>
                  makeKernel,
              LaunchMode mode = LaunchMode::Plain) const;

private:
  /// Describes a tile of a producer warp: the tile and the next one, the position (i32) of the tile
  /// in the work list of the CTA, and the index (i32) of the warp. If the kernel has tables, all
  /// lanes of the warp run the loops: `lane` (i32) is the thread's, and `elected` (i1) is true in
  /// the one that issues loads. Otherwise only that thread is there, and both are null.
  struct TileRun {
    WgmmaWork tile, next;
    Value position, warp, lane, elected;
  };
  /// Describes the k steps [from, to) of a tile; lane i holds what readStep returns for step
  /// `from + i` in `batch`, which is empty if the kernel has no tables.
  struct StepRange {
    Value from, to;
    SmallVector<Value> batch;
  };
  /// Fills the stages of k steps, from `at` on, and returns the pipeline state after them.
  StageRing::Position emitSteps(ImplicitLocOpBuilder &b, WgmmaKernel &kernel,
                                const WgmmaFrame &frame, const TileRun &run, const StepRange &steps,
                                StageRing::Position at) const;
  /// Fills the stages of all k steps of the tile. Carried and returned values: the pipeline state
  /// and a record batch, that of the first steps of the tile and in the end of the next tile. A
  /// batch is read before the stages of the one before it are filled.
  SmallVector<Value> emitBatches(ImplicitLocOpBuilder &b, WgmmaKernel &kernel,
                                 const WgmmaFrame &frame, const TileRun &run,
                                 ValueRange initial) const;
  /// Emits the loop of producer warp `warp` (i32) over the tiles of the CTA; `elected` is that of
  /// TileRun.
  void emitTiles(ImplicitLocOpBuilder &b, WgmmaKernel &kernel, const WgmmaFrame &frame, Value warp,
                 Value elected) const;
  /// Emits the producer warpgroup.
  void emitProducer(ImplicitLocOpBuilder &b, WgmmaKernel &kernel, const WgmmaFrame &frame) const;
  /// Waits for a stage to be empty and issues one producer warp's share of the loads of a k step.
  void fillStage(ImplicitLocOpBuilder &b, WgmmaKernel &kernel, const WgmmaFrame &frame,
                 const WgmmaWork &tile, Value step, ArrayRef<Value> entry, StageRing::Position at,
                 Value warp) const;
  /// Emits consumer warpgroup `warpgroup` (i32, 0 or 1).
  void emitConsumer(ImplicitLocOpBuilder &b, WgmmaKernel &kernel, const WgmmaFrame &frame,
                    Value warpgroup) const;
  /// Fills the stages that hold C of a tile, from `at` on, and returns the pipeline state after
  /// them.
  StageRing::Position emitInput(ImplicitLocOpBuilder &b, WgmmaKernel &kernel,
                                const WgmmaFrame &frame, const TileRun &run,
                                StageRing::Position at) const;

  WgmmaShape shape;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_WGMMA_WGMMAPRODUCT_H
