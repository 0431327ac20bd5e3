// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What softmax and its gradient share: the walk over the stored elements of tensor rows.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_STOREDROWS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_STOREDROWS_H

#include "../OperandView.h"
#include "VectorAccess.h"

namespace mlir::blocksparse {

/// The tables and the geometry of a row-wise operation.
struct StoredRows {
  static StoredRows get(ImplicitLocOpBuilder &b, Value segments, Value entries,
                        ArrayRef<int64_t> block, ArrayRef<int64_t> shape, int64_t lutHeads,
                        Value values, Value batches, Value heads);

  LutView segments, entries;
  int64_t blockRows, blockCols, rows, cols;
  int64_t lutHeads;
  Value batches, heads;
  /// Whether the tables were made at run time: they may list fewer blocks than there is room.
  bool dynamic;
};

/// A segment: the block row of one (batch, head) and the run of entries of its blocks.
struct BlockRow {
  Value batch, head;
  /// The segment's first entry, the entry after its last one and its block row's number.
  Value begin, end, tile;
};

/// One row of a block row.
struct StoredRow {
  BlockRow blocks;
  /// Its number in the block row and in the tensor.
  Value inBlock, inTensor;
  /// Columns at or after this one are not read (and count as forbidden).
  Value limit;
};

/// Some neighbouring elements of a stored row.
struct Chunk {
  /// The value block, without the offset of its head.
  Value block;
  /// The first column in the block and in the tensor.
  Value inBlock, inTensor;
  /// How many lanes may be read; null: all.
  Value valid;
};

/// Emits a parallel loop over the segments of all batches and heads.
void forEachBlockRow(ImplicitLocOpBuilder &b, const StoredRows &table,
                     llvm::function_ref<void(ImplicitLocOpBuilder &, const BlockRow &)> body);

/// The run of segment `index`.
BlockRow getBlockRow(ImplicitLocOpBuilder &b, const StoredRows &table, Value batch, Value head,
                     Value index);

/// Emits a loop over the rows of a block row: `body` for those of the tensor (limit = all
/// columns), `padding` (null: nothing) for those after its end.
void forEachRow(ImplicitLocOpBuilder &b, const StoredRows &table, const BlockRow &blocks,
                llvm::function_ref<void(ImplicitLocOpBuilder &, StoredRow)> body,
                llvm::function_ref<void(ImplicitLocOpBuilder &, StoredRow)> padding = nullptr);

/// Emits loops over the entries of a row and the chunks of each block, in order. `body`
/// gives the carried value (null: none). Every chunk has `valid` unless whole chunks are sure.
Value forEachChunk(ImplicitLocOpBuilder &b, const StoredRows &table, const StoredRow &row,
                   int64_t width, Value init,
                   llvm::function_ref<Value(ImplicitLocOpBuilder &, const Chunk &, Value)> body);

/// Mask of the lanes that exist in the block; null where all do.
Value storageMask(ImplicitLocOpBuilder &b, const StoredRows &table, const VectorAccess &access,
                  const Chunk &chunk);

/// Emits `body(mask)`, which makes vectors of the given types from the readable lanes of a chunk;
/// where access is contiguous, once without a mask for whole chunks.
SmallVector<Value>
readChunk(ImplicitLocOpBuilder &b, const VectorAccess &access, const Chunk &chunk, TypeRange types,
          llvm::function_ref<SmallVector<Value>(ImplicitLocOpBuilder &, Value)> body);

/// Writes 0 to one row of all the blocks of its block row.
void zeroRow(ImplicitLocOpBuilder &b, const StoredRows &table, const StoredRow &row,
             const ValuesView &values, const VectorAccess &access);

/// Writes 0 to the value blocks that run-time tables leave out: a pattern may store fewer
/// blocks than its arrays hold.
void zeroSpareBlocks(ImplicitLocOpBuilder &b, const StoredRows &table, const ValuesView &values);

/// Whether the contents of a table are known at compile time.
bool isConstantTable(Value table);

/// Number of heads of a tensor from its values and its table, see ValuesView::get.
Value countHeads(ImplicitLocOpBuilder &b, Value values, int64_t lutHeads, Value lutBlocks);

/// Extent of the batch axis of values [S, bm, bn] or [B, S, bm, bn].
Value countBatches(ImplicitLocOpBuilder &b, Value values);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_STOREDROWS_H
