// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The frame of the "cuda.wgmma" kernels (sm_90a): persistent thread blocks of three warpgroups. One
// thread of the first, or one of each of its warps, starts copies into a ring of stages, the other
// two multiply what has arrived and store their halves of the result while the copies for the next
// tile run.
//
// A stage holds 64 values of k: the matrices (64 x 64) of A, then those of B. Either both
// warpgroups share all columns and have 64 rows each (two matrices of A), or, with `splitColumns`,
// they share 64 rows and have half of the columns each (one matrix of A).
//
// Registers: a block of 384 threads that was compiled for one block a multiprocessor starts with
// 168 for each thread, 64,512 in all. The producer goes down to 40 and the consumers up to 232:
// 128 * (40 + 2 * 232) = 64,512. More would never be granted, and the kernel would hang.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_WGMMA_WGMMAPRODUCT_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_WGMMA_WGMMAPRODUCT_H

#include "../KernelBuilder.h"
#include "../Kit/Pace.h"
#include "../Kit/ResultChunks.h"
#include "../Kit/StageRing.h"
#include "../Kit/TensorMap.h"
#include "../Kit/WgmmaTile.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::blocksparse::device {

struct WgmmaShape {
  /// Columns of a warpgroup: a multiple of 64 up to 256.
  int64_t cols = 256;
  bool splitColumns = false;
  int64_t stages = 4;
  Type element;
  /// How the matrices of the factors lie, see Kit/WgmmaTile.h.
  bool aAlongK = true, bAlongK = false;
  /// The result is stored with rows and columns exchanged.
  bool transposeOut = false;
  /// Tiles are read from tables, one ahead; else they are computed when they are needed.
  bool readsTiles = true;
  /// The last chunks of a result wait in registers until the next tile has begun. An epilogue with
  /// terms needs those registers.
  bool holdsResult = true;
  /// Not every half has a part in every step; which ones have, a record of `recordBytes` bytes
  /// tells.
  bool hasGaps = false;
  /// The addend of the result comes through the ring: stages behind the steps of a tile hold its
  /// chunks, of the first warpgroup and then of the second.
  bool hasInput = false;
  /// Blocks of a cluster, 1 or 2: they have the same rows and steps and other columns, and each
  /// copies one matrix of A to both. (L2 delivers 40 KB a step and block instead of 48.)
  int64_t cluster = 1;

  /// Warps that start the copies of a step, each some of them: 1 or 4. A copy takes one thread
  /// about 80 cycles, a step 1,000 to 1,300.
  int64_t copyingWarps = 1;

  /// Tiles that each of `blocks` thread blocks has at least, all of as many steps, of which it
  /// begins every `pacedSteps`th, a power of two, when the others do (see Kit/Pace.h); 0: it does
  /// not wait.
  int64_t pacedTiles = 0, blocks = 0, pacedSteps = 16;

  static constexpr int64_t threads = 384;
  static constexpr int64_t groups = 2;
  static constexpr int64_t stepDepth = 64;
  static constexpr int64_t recordBytes = 32;
  /// Chunks of the result that a warpgroup has in shared memory at a time.
  static constexpr int64_t resultBuffers = 2;

  int64_t aMatrices() const { return splitColumns ? 1 : 2; }
  int64_t bMatrices() const { return cols / chunkCols * (splitColumns ? 2 : 1); }
  int64_t stageBytes() const { return (aMatrices() + bMatrices()) * WgmmaTile::matrixBytes; }
  int64_t chunks() const { return cols / chunkCols; }
  /// Arrivals of a warp that give a stage back. Each lane that has read an input arrives for
  /// itself; what wgmma has read, one lane gives back for its warp.
  int64_t releasesOfWarp() const { return hasInput ? 32 : 1; }
  /// Stages that hold the input of a tile, and the chunks of a warpgroup in one of them.
  int64_t inputStages() const {
    int64_t most = stageBytes() / (groups * ResultChunks::chunkBytes);
    return hasInput ? llvm::divideCeil(chunks(), most) : 0;
  }
  int64_t inputChunks() const { return llvm::divideCeil(chunks(), inputStages()); }
  int64_t resultOffset() const { return stages * stageBytes(); }
  int64_t recordOffset() const {
    return resultOffset() + groups * resultBuffers * ResultChunks::chunkBytes;
  }
  int64_t barrierOffset() const { return recordOffset() + (hasGaps ? stages * recordBytes : 0); }
  /// With what rounding the base up to 1024 takes.
  int64_t sharedBytes() const { return barrierOffset() + StageRing::bytes(stages) + 1024; }
  /// Registers of a consumer that hold neither sums nor addresses and the like.
  int64_t freeRegisters() const;
  /// The most stages, at most `wanted`, that fit `limit` bytes.
  void fitStages(int64_t wanted, int64_t limit);
};

/// Where the copies of a step go.
struct StageBuffers {
  /// Addresses (i32) of the first matrix of A and of B, and of the record where the shape has gaps.
  Value a, b, record;
  /// Counts the bytes, !llvm.ptr<3>.
  Value barrier;
  /// Number (i32) of the copying warp, whose part of the copies is asked for.
  Value warp;
};

/// A tile: its number of steps and whatever else the kernel knows of it, all i32.
struct WgmmaWork {
  Value steps;
  SmallVector<Value> fields;

  /// Among the values that a loop carries.
  SmallVector<Value> toCarried() const;
  static WgmmaWork fromCarried(ValueRange values);
};

/// The chunks of a tile's input, for a warpgroup that takes them in their order. All its threads
/// call both together.
class InputChunks {
public:
  InputChunks(const WgmmaShape &shape, const StageRing &ring, Value base, Value group,
              const StageRing::Position &start)
      : shape(shape), ring(ring), base(base), group(group), at(start) {}

  /// Address (i32) of chunk `number`, when it has arrived.
  Value take(ImplicitLocOpBuilder &b, int64_t number) const;
  /// The chunk has been read.
  void giveBack(ImplicitLocOpBuilder &b, int64_t number);
  /// Of the stage behind those that were given back.
  const StageRing::Position &position() const { return at; }

private:
  WgmmaShape shape;
  StageRing ring;
  Value base, group;
  StageRing::Position at;
};

/// What a kernel does with its tiles. Every member emits code at `b`; values are i32.
class WgmmaKernel {
public:
  virtual ~WgmmaKernel() = default;

  struct Range {
    Value from, to, step;
  };
  /// The tiles of this thread block.
  virtual Range tiles(ImplicitLocOpBuilder &b) = 0;
  /// Asked by producer and consumers, for one tile ahead where the shape says that tiles are read.
  virtual WgmmaWork getTile(ImplicitLocOpBuilder &b, Value number) = 0;
  /// Tile `number` of a thread block that has `range`, or, past its end, any tile that there is.
  WgmmaWork getTileAhead(ImplicitLocOpBuilder &b, const Range &range, Value number);
  /// What the tables say of a step, for the producer. Read one step ahead, also across tiles: asked
  /// for step 0 of a tile without steps, whose answer is not used.
  virtual SmallVector<Value> readStep(ImplicitLocOpBuilder &b, const WgmmaWork &tile,
                                      Value step) = 0;
  /// Bytes that emitCopies will bring, for all copying warps together.
  virtual Value stepBytes(ImplicitLocOpBuilder &b, const WgmmaWork &tile,
                          ArrayRef<Value> entry) = 0;
  virtual void emitCopies(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value step,
                          ArrayRef<Value> entry, const StageBuffers &stage) = 0;
  /// Starts the copies of chunk `number` of the input of warpgroup `group` to address `to` (i32).
  /// Asked only where the shape has an input. A box outside of the input brings zeros.
  virtual void emitInputCopy(ImplicitLocOpBuilder &, const WgmmaWork &, int64_t /*group*/,
                             int64_t /*number*/, Value /*to*/, Value /*barrier*/) {}
  /// i1: warpgroup `group` has a part in the step whose record stands at `record` in shared memory
  /// (i32). Asked only where the shape has gaps.
  virtual Value takesPart(ImplicitLocOpBuilder &b, Value record, Value group) = 0;
  /// Warpgroup `group` begins a tile. `thread` is the thread in the warpgroup.
  virtual void beginTile(ImplicitLocOpBuilder &, const WgmmaWork &, Value /*group*/,
                         Value /*thread*/) {}
  /// All products of the tile have been started: what emitResult needs may be loaded meanwhile.
  virtual void prepareResult(ImplicitLocOpBuilder &, const WgmmaWork &, Value /*group*/,
                             Value /*thread*/) {}
  /// Stores the sums of warpgroup `group`, and gives what `chunks` holds of them. Where the shape
  /// has an input, takes all chunks of it and gives them back.
  virtual SmallVector<Value> emitResult(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value group,
                                        const ResultChunks &chunks, InputChunks &input,
                                        ArrayRef<Value> sums) = 0;
  /// Stores that, of `sums` sums.
  virtual void emitHeld(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value group,
                        const ResultChunks &chunks, ArrayRef<Value> held, int64_t sums) = 0;
};

/// What all warps of a thread block know.
struct WgmmaFrame {
  /// i32: base of shared memory, thread in the warpgroup.
  Value base, thread;
  StageRing ring;
  /// Where the shape has paced tiles.
  std::optional<Pace> pace;

  StageBuffers buffers(ImplicitLocOpBuilder &b, const WgmmaShape &shape, Value stage) const;
};

class WgmmaProduct {
public:
  explicit WgmmaProduct(const WgmmaShape &shape) : shape(shape) {}

  /// Launches `blocks` thread blocks. `maps` are tensor maps, `operands` the rest; `makeKernel`
  /// gets the mapping from both to the arguments.
  void launch(ImplicitLocOpBuilder &host, KernelBuilder &kernels, StringRef name, ValueRange maps,
              ValueRange operands, Value blocks,
              function_ref<std::unique_ptr<WgmmaKernel>(ImplicitLocOpBuilder &, const IRMapping &)>
                  makeKernel) const;

private:
  /// A tile of a copying warp: what follows it, its place (i32) in the thread block's list, and the
  /// number (i32) of the warp.
  struct TileRun {
    WgmmaWork tile, next;
    Value place, warp;
  };
  /// Fills the stages of the tile's steps. Carried: the place in the ring, and what is known of the
  /// step that comes there, at the end the first one of the next tile.
  SmallVector<Value> emitSteps(ImplicitLocOpBuilder &b, WgmmaKernel &kernel,
                               const WgmmaFrame &frame, const TileRun &run,
                               ValueRange initial) const;
  void emitProducer(ImplicitLocOpBuilder &b, WgmmaKernel &kernel, const WgmmaFrame &frame) const;
  /// The copies of a step by one of the copying warps.
  void fillStage(ImplicitLocOpBuilder &b, WgmmaKernel &kernel, const WgmmaFrame &frame,
                 const WgmmaWork &tile, Value step, ArrayRef<Value> entry, StageRing::Position at,
                 Value warp) const;
  void emitConsumer(ImplicitLocOpBuilder &b, WgmmaKernel &kernel, const WgmmaFrame &frame,
                    Value group) const;
  /// Fills the stages that hold the input of a tile, from `at` on; gives the position behind them.
  StageRing::Position emitInput(ImplicitLocOpBuilder &b, WgmmaKernel &kernel,
                                const WgmmaFrame &frame, const WgmmaWork &tile,
                                StageRing::Position at) const;

  WgmmaShape shape;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_WGMMA_WGMMAPRODUCT_H
