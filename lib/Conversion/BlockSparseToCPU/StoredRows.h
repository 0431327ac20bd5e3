// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Loops over the stored elements of tensor rows, shared by softmax and its gradient.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_STOREDROWS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_STOREDROWS_H

#include "../OperandView.h"
#include "VectorAccess.h"

namespace mlir::blocksparse {

/// Describes the tables and the geometry of an op that works row by row on stored blocks.
struct StoredRows {
  /// Views the tables of an op on tensors of shape `shape` [M, N] in blocks of shape `block`.
  static StoredRows get(ImplicitLocOpBuilder &b, Value segments, Value entries,
                        ArrayRef<int64_t> block, ArrayRef<int64_t> shape, int64_t lutHeads,
                        Value values, Value batches, Value heads);

  SegmentView segments;
  EntryView entries;
  int64_t blockRows, blockCols, rows, cols;
  int64_t lutHeads;
  Value batches, heads;
  /// True if the tables are built at run time: they may then list fewer blocks than the values have
  /// room for.
  bool dynamic;
};

/// Describes a segment: the block row of one (batch, head) and the range of entries of its blocks.
struct BlockRow {
  Value batch, head;
  /// Index of the segment's first entry, of the entry after its last one, and of its block row.
  Value begin, end, tile;
};

/// Describes one row of a block row.
struct StoredRow {
  BlockRow blocks;
  /// Index of the row in its block row and in the tensor.
  Value inBlock, inTensor;
  /// First column that is not read: columns from here on count as forbidden.
  Value limit;
};

/// Describes neighbouring elements of a stored row that are processed as one vector.
struct Chunk {
  /// The value block, without the offset of its head.
  Value block;
  /// The first column in the block and in the tensor.
  Value inBlock, inTensor;
  /// Number of lanes that may be read; null if all may.
  Value valid;
};

/// Emits a parallel loop over the segments of all batches and heads.
void forEachBlockRow(ImplicitLocOpBuilder &b, const StoredRows &table,
                     llvm::function_ref<void(ImplicitLocOpBuilder &, const BlockRow &)> body);

/// Returns the block row of segment `index`.
BlockRow getBlockRow(ImplicitLocOpBuilder &b, const StoredRows &table, Value batch, Value head,
                     Value index);

/// Emits a loop over the rows of a block row. `body` is called for the rows of the tensor, with
/// `limit` = all columns; `padding` (may be null) for rows beyond the end of the tensor.
void forEachRow(ImplicitLocOpBuilder &b, const StoredRows &table, const BlockRow &blocks,
                llvm::function_ref<void(ImplicitLocOpBuilder &, StoredRow)> body,
                llvm::function_ref<void(ImplicitLocOpBuilder &, StoredRow)> padding = nullptr);

/// Emits loops over the entries of a row and the chunks of each block, in order. `body` returns the
/// next carried value (null: nothing is carried), and forEachChunk the last one. `valid` is set in
/// each chunk unless all chunks are known to be complete.
Value forEachChunk(ImplicitLocOpBuilder &b, const StoredRows &table, const StoredRow &row,
                   int64_t width, Value init,
                   llvm::function_ref<Value(ImplicitLocOpBuilder &, const Chunk &, Value)> body);

/// Returns the mask of the lanes that exist in the block; null if all do.
Value storageMask(ImplicitLocOpBuilder &b, const StoredRows &table, const VectorAccess &access,
                  const Chunk &chunk);

/// Emits `body(mask)`, which returns vectors of types `types` made from the readable lanes of a
/// chunk, and returns these vectors. If access is contiguous, a second version without a mask is
/// emitted for complete chunks.
SmallVector<Value>
readChunk(ImplicitLocOpBuilder &b, const VectorAccess &access, const Chunk &chunk, TypeRange types,
          llvm::function_ref<SmallVector<Value>(ImplicitLocOpBuilder &, Value)> body);

/// Writes 0 to one row of all the blocks of its block row.
void zeroRow(ImplicitLocOpBuilder &b, const StoredRows &table, const StoredRow &row,
             const ValuesView &values, const VectorAccess &access);

/// Writes 0 to the value blocks that run-time tables do not list, because a pattern may store fewer
/// blocks than its arrays have room for.
void zeroSpareBlocks(ImplicitLocOpBuilder &b, const StoredRows &table, const ValuesView &values);

/// Returns true if the contents of `table` are known at compile time.
bool isConstantTable(Value table);

/// Returns the number of heads of a tensor, derived from its values and its table as
/// ValuesView::get describes.
Value countHeads(ImplicitLocOpBuilder &b, Value values, int64_t lutHeads, Value lutBlocks);

/// Returns the extent of the batch axis of values [S, bm, bn] (then 1) or [B, S, bm, bn].
Value countBatches(ImplicitLocOpBuilder &b, Value values);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_STOREDROWS_H
