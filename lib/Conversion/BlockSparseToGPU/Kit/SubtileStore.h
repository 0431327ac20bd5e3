// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Stores the accumulators of a warpgroup (see Kit/WgmmaTile.h) to global memory. The consumer
// warpgroups of `cuda.wgmma` and of `cuda.stream_wgmma` end each tile with it. Accumulators are
// rounded to 16 bits and written by stmatrix to subtiles of 64 x 64 elements in shared memory,
// swizzled as in Kit/TensorMap.h; TMA stores them from there while the warpgroup goes on. There are
// buffers for one batch of subtiles.
//
// If a tile has more than one batch, the store of its last batch can be deferred: the batch stays
// in registers, rounded, until the warpgroup has started the products of its next tile. Otherwise
// the warpgroup would wait here until the TMA stores of the batch before have read the buffers.
//
// The order of events for a batch, and why each is needed:
// 1. The thread that starts the stores waits until its earlier stores have read the buffers
// (cp.async.bulk.wait_group.read), so that the buffers may be overwritten.
// 2. A named barrier of the warpgroup tells all threads that this has happened.
// 3. All threads write the batch by stmatrix and execute a proxy fence, because TMA accesses shared
// memory through another proxy than ordinary instructions.
// 4. A second named barrier: the writes and fences of all threads are complete.
// 5. One thread starts the TMA stores and commits them as a commit group.
//
// stmatrix.x4 writes four 8 x 8 matrices. Lanes 8 i .. 8 i + 7 pass the addresses of the rows of
// matrix i, and register i of lane l contains elements (l / 4, 2 (l % 4) + {0, 1}) of it. Two
// neighbouring groups of four accumulators are the matrices at (row, column) = (0, 0), (8, 0), (0,
// 8), (8, 8) of a 16 x 16 epilogue fragment. With .trans the registers contain elements of the
// transposed matrices: the rows whose addresses lanes pass are then columns of the accumulators.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_SUBTILESTORE_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_SUBTILESTORE_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse::device {

/// Emits the stores of the result of one warpgroup. All its threads run every member together
/// unless a callback says otherwise.
class SubtileStore {
public:
  /// Bytes of a subtile: 64 x 64 elements of 16 bits.
  static constexpr int64_t subtileBytes = 8192;

  /// `thread` (i32) is the index of the thread in its warpgroup. `barrier` (i32) is the index of a
  /// named barrier that only this warpgroup uses. `shared` (i32) is the address of `buffers`
  /// subtiles, aligned to 1024 bytes. `element` is the 16-bit type of the result. If `transposed`
  /// is set, subtiles are stored as [column][row] of the accumulators. If `defers` is set, the last
  /// of several batches is left to emitDeferred.
  SubtileStore(ImplicitLocOpBuilder &b, Value thread, Value barrier, Value shared, int64_t buffers,
               Type element, bool transposed, bool defers);

  /// Replaces the eight f32 accumulators of epilogue fragment `number` by the values to store.
  /// Fragments are visited in order; the four fragments of a subtile are ordered from left to
  /// right.
  using FinishFragment = function_ref<void(ImplicitLocOpBuilder &, int64_t number,
                                           MutableArrayRef<Value> accumulators)>;
  /// Starts the store of subtile `number` from shared memory at `address` (i32). One thread calls
  /// it.
  using Store = function_ref<void(ImplicitLocOpBuilder &, int64_t number, Value address)>;

  /// Returns the number of registers (i32) of a thread in which a deferred batch stays, for a tile
  /// of `accumulators` accumulators a thread. Returns 0 if there is only one batch or stores are
  /// not deferred.
  int64_t deferredRegisters(int64_t accumulators) const;

  /// Stores the subtiles of `accumulators`. If there is more than one batch and stores are
  /// deferred, the last batch is not stored but returned, rounded, for emitDeferred; otherwise the
  /// result is empty. `finish` may be null: the accumulators are then only rounded.
  SmallVector<Value> emit(ImplicitLocOpBuilder &b, ArrayRef<Value> accumulators,
                          FinishFragment finish, Store store) const;
  /// Stores the deferred batch `deferred` that `emit` returned for a tile of `accumulators`
  /// accumulators a thread.
  void emitDeferred(ImplicitLocOpBuilder &b, ArrayRef<Value> deferred, int64_t accumulators,
                    Store store) const;

  /// Describes the blocks into which a subtile is divided: 16, 32 or 64 rows and columns.
  struct Blocks {
    int64_t rows = 64, cols = 64;
    int64_t perSubtile() const { return 64 / rows * (64 / cols); }
  };
  /// Starts the store of one block of batch `batch` from shared memory at `address` (i32). Up to
  /// 128 threads call it, each for its own block.
  using StoreBlock = function_ref<void(ImplicitLocOpBuilder &, int64_t batch, Value address)>;

  /// Stores the subtiles of `accumulators` block by block; otherwise it behaves as emit. The blocks
  /// of a batch, at most 128, are ordered by subtile, row of blocks and column of blocks, and
  /// thread i stores block i. In shared memory the rows of a block are contiguous, swizzled as a
  /// plain TMA box with as many columns. Rows and columns are those of stored subtiles, after a
  /// transposition.
  SmallVector<Value> emitBlocks(ImplicitLocOpBuilder &b, ArrayRef<Value> accumulators,
                                Blocks blocks, FinishFragment finish, StoreBlock store) const;
  /// Stores the deferred batch `deferred` that emitBlocks returned for a tile of `accumulators`
  /// accumulators a thread.
  void emitDeferredBlocks(ImplicitLocOpBuilder &b, ArrayRef<Value> deferred, int64_t accumulators,
                          Blocks blocks, StoreBlock store) const;

  /// Loads the elements at the positions of the 8 accumulators of epilogue fragment `number` from
  /// the subtile at shared-memory address `subtile` (i32), and returns four i32 of two 16-bit
  /// elements each. The subtile has the layout of stored subtiles. All lanes of a warp must call
  /// it.
  SmallVector<Value, 4> readFragment(ImplicitLocOpBuilder &b, Value subtile, int64_t number) const;

  /// Writes the 16 registers (i32) of a subtile, rounded as packPairs does, to shared memory at
  /// `address` (i32), and neither waits nor fences.
  void writeRegisters(ImplicitLocOpBuilder &b, ArrayRef<Value> registers, Value address) const;

  /// Makes the warpgroup wait until all its stores have read shared memory, so that the buffers may
  /// hold something else.
  void emitWaitRead(ImplicitLocOpBuilder &b) const;

  /// Makes the thread wait until all stores that it started are complete in global memory. Call it
  /// at the end of a kernel: shared memory must stay valid until then.
  void emitWait(ImplicitLocOpBuilder &b) const;

private:
  /// Returns the rounded registers (i32) of subtile `number`.
  using GetSubtile = function_ref<SmallVector<Value>(ImplicitLocOpBuilder &, int64_t number)>;
  /// Stores the batch of subtiles [first, last).
  using StoreBatch =
      function_ref<void(ImplicitLocOpBuilder &, GetSubtile, int64_t first, int64_t last)>;

  SmallVector<Value> emitBatches(ImplicitLocOpBuilder &b, ArrayRef<Value> accumulators,
                                 FinishFragment finish, StoreBatch store) const;
  void emitDeferredBatch(ImplicitLocOpBuilder &b, ArrayRef<Value> deferred, int64_t accumulators,
                         StoreBatch store) const;
  /// Returns the index of the first subtile of a deferred batch, or the number of subtiles if there
  /// is none.
  int64_t firstDeferred(int64_t accumulators) const;
  SmallVector<Value> roundSubtile(ImplicitLocOpBuilder &b, ArrayRef<Value> accumulators,
                                  int64_t number, FinishFragment finish) const;
  /// Returns the byte offset (i32), in a subtile, of the row of fragment `number` whose address
  /// this lane passes.
  Value fragmentOffset(ImplicitLocOpBuilder &b, int64_t number, Blocks blocks) const;
  void writeSubtile(ImplicitLocOpBuilder &b, ArrayRef<Value> registers, Value address,
                    Blocks blocks) const;
  /// Writes a batch to its buffers and makes it visible to TMA (steps 2 to 4 above).
  void writeBatch(ImplicitLocOpBuilder &b, GetSubtile subtile, int64_t first, int64_t last,
                  Blocks blocks) const;
  void storeBatch(ImplicitLocOpBuilder &b, GetSubtile subtile, int64_t first, int64_t last,
                  Store store) const;
  void storeBlocks(ImplicitLocOpBuilder &b, GetSubtile subtile, int64_t first, int64_t last,
                   Blocks blocks, StoreBlock store) const;
  void emitWarpgroupBarrier(ImplicitLocOpBuilder &b) const;

  Value thread, barrier, shared, isFirst, lane, warp;
  int64_t buffers;
  Type element;
  bool transposed, defers;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_SUBTILESTORE_H
