// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// From the sums of a warpgroup (see Kit/WgmmaTile.h) to global memory: rounded, written by stmatrix
// to chunks of 64 x 64 elements in shared memory, swizzled as in Kit/TensorMap.h, and copied from
// there while the warpgroup goes on. There are buffers for a batch of chunks. The last batch of
// more than one is held in registers, rounded, until the warpgroup has started the products of its
// next tile: it would otherwise wait here until the copies of the batch before have read theirs.
//
// stmatrix.x4 writes four 8 x 8 matrices; lanes 8 i .. 8 i + 7 give the addresses of the rows of
// matrix i, and lane l's register i holds elements (l / 4, 2 (l % 4) + {0, 1}) of it. Two
// neighbouring groups of four sums are the matrices (rows, columns) = (0, 0), (8, 0), (0, 8),
// (8, 8) of a 16 x 16 corner. With .trans the elements are those of the transposes: the
// rows whose addresses lanes give are then columns of the sums.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_RESULTCHUNKS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_RESULTCHUNKS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse::device {

class ResultChunks {
public:
  static constexpr int64_t chunkBytes = 8192;

  /// `thread` (i32) is the thread's number in its warpgroup, `barrier` (i32) the number of a
  /// named barrier of the warpgroup's own, `shared` (i32) the address of `buffers` chunks.
  /// `transposed`: chunks are [column][row] of the sums.
  /// `holds`: the last batch is left to emitHeld.
  ResultChunks(ImplicitLocOpBuilder &b, Value thread, Value barrier, Value shared, int64_t buffers,
               Type element, bool transposed, bool holds);

  /// Makes the eight sums of corner `number` (f32) what is stored. Corners come in their order:
  /// those of a chunk from left to right.
  using FinishCorner =
      function_ref<void(ImplicitLocOpBuilder &, int64_t number, MutableArrayRef<Value> sums)>;
  /// One thread stores chunk `number` from shared memory at `address` (i32).
  using Store = function_ref<void(ImplicitLocOpBuilder &, int64_t number, Value address)>;

  /// Registers (i32) of a thread that hold the last batch of `sums` sums; 0 where there is but one.
  int64_t heldRegisters(int64_t sums) const;

  /// Stores the chunks of `sums` but the last batch of several, which it gives. `finish` may be
  /// null.
  SmallVector<Value> emit(ImplicitLocOpBuilder &b, ArrayRef<Value> sums, FinishCorner finish,
                          Store store) const;
  /// Stores what `emit` gave for `sums` sums.
  void emitHeld(ImplicitLocOpBuilder &b, ArrayRef<Value> held, int64_t sums, Store store) const;

  /// Rows and columns of the blocks that a chunk is cut into: 16, 32 or 64.
  struct Blocks {
    int64_t rows = 64, cols = 64;
    int64_t perChunk() const { return 64 / rows * (64 / cols); }
  };
  /// One thread stores a block of batch `batch` from shared memory at `address` (i32).
  using StoreBlock = function_ref<void(ImplicitLocOpBuilder &, int64_t batch, Value address)>;

  /// The same block by block. The blocks of a batch, at most 128, are numbered by chunk, row and
  /// column of blocks, and block i is thread i's. In shared memory a block has its rows behind one
  /// another, swizzled as a plain box of so many columns. Rows and columns are those of chunks,
  /// transposed or not.
  SmallVector<Value> emitBlocks(ImplicitLocOpBuilder &b, ArrayRef<Value> sums, Blocks blocks,
                                FinishCorner finish, StoreBlock store) const;
  void emitHeldBlocks(ImplicitLocOpBuilder &b, ArrayRef<Value> held, int64_t sums, Blocks blocks,
                      StoreBlock store) const;

  /// Of a chunk in shared memory at `chunk` (i32) that lies as those that are stored, the elements
  /// which belong to the eight sums of corner `number`: four words (i32) of two. All lanes of a
  /// warp together.
  SmallVector<Value, 4> readCorner(ImplicitLocOpBuilder &b, Value chunk, int64_t number) const;

  /// At the end of a kernel: until everything that this thread stored is in global memory.
  void emitWait(ImplicitLocOpBuilder &b) const;

private:
  /// The registers (i32) of chunk `number`, rounded.
  using GetChunk = function_ref<SmallVector<Value>(ImplicitLocOpBuilder &, int64_t number)>;
  /// Stores the batch of chunks from number `first` on to `last`, exclusively.
  using StoreBatch =
      function_ref<void(ImplicitLocOpBuilder &, GetChunk, int64_t first, int64_t last)>;

  SmallVector<Value> emitBatches(ImplicitLocOpBuilder &b, ArrayRef<Value> sums, FinishCorner finish,
                                 StoreBatch store) const;
  void emitHeldBatch(ImplicitLocOpBuilder &b, ArrayRef<Value> held, int64_t sums,
                     StoreBatch store) const;
  /// Number of the first chunk that is held.
  int64_t firstHeld(int64_t sums) const;
  SmallVector<Value> roundChunk(ImplicitLocOpBuilder &b, ArrayRef<Value> sums, int64_t number,
                                FinishCorner finish) const;
  /// Byte offset (i32) in a chunk of the row that this lane points to, of corner `number`.
  Value cornerOffset(ImplicitLocOpBuilder &b, int64_t number, Blocks blocks) const;
  void writeChunk(ImplicitLocOpBuilder &b, ArrayRef<Value> registers, int64_t buffer,
                  Blocks blocks) const;
  /// Puts a batch in its buffers, for the copy engine to see.
  void writeBatch(ImplicitLocOpBuilder &b, GetChunk chunk, int64_t first, int64_t last,
                  Blocks blocks) const;
  void storeBatch(ImplicitLocOpBuilder &b, GetChunk chunk, int64_t first, int64_t last,
                  Store store) const;
  void storeBlocks(ImplicitLocOpBuilder &b, GetChunk chunk, int64_t first, int64_t last,
                   Blocks blocks, StoreBlock store) const;
  void emitGroupBarrier(ImplicitLocOpBuilder &b) const;

  Value thread, barrier, shared, isFirst, lane, warp;
  int64_t buffers;
  Type element;
  bool transposed, holds;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_RESULTCHUNKS_H
