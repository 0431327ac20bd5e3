// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Emits the probabilities of attention and the gradients of its scores on the CPU, transposed as
// the scores of AttentionGroup are. They are computed again from q, k and lse, so that nothing of
// their size is stored.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_ATTENTIONGRADGROUP_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_ATTENTIONGRADGROUP_H

#include "AttentionGroup.h"
#include "ContiguousRows.h"

#include <optional>

namespace mlir::blocksparse {

/// Emits, for a group of as many queries as a register tile has columns and one chunk of keys after
/// another, p = e^(score - lse) and p * (dout . v - sum), where sum is that of out * dout over the
/// row, less dlse. With a soft cap, the second one has the derivative of the capped score, too.
class AttentionGradGroup {
public:
  AttentionGradGroup(ImplicitLocOpBuilder &b, PlannedAttentionGradOp op,
                     const CPULoweringOptions &options);

  /// Allocates the scratch of head `head` of the queries of `batch`, and frees it.
  void allocate(Value batch, Value head);
  void release();
  /// Makes queries [row, row + count) the group.
  void enter(Value row, Value count);
  /// Returns i1: the position may allow one of the keys to a query of the group; null if it may
  /// always.
  Value mayUse(KeyChunk keys) { return group.mayUse(keys); }
  /// Emits probabilities() and gradients() of the keys of a chunk.
  void emitWeights(KeyChunk keys);

  /// Return memrefs with a row for each key of the chunk, and more up to a whole register tile.
  Value probabilities() const { return powers; }
  Value gradients() const { return slopes; }
  /// Returns the rows of k of the chunk.
  const ContiguousRows &keys() const { return *keyRows; }
  AttentionGroup &scores() { return group; }
  const TileShape &tile() const { return scoreTile; }
  int64_t chunkKeys() const { return mostKeys; }
  /// Return the numbers of columns of q and k, and of v.
  int64_t keyCols() const { return depth; }
  int64_t valueCols() const { return width; }

private:
  using Builder = ImplicitLocOpBuilder;

  void emitStatistics(Value row, Value count);
  Value allocateRows(int64_t rows) const;

  ImplicitLocOpBuilder &b;
  AttentionViews views;
  DenseView q, dout, rows;
  int64_t depth, width, mostKeys;
  bool forbids;
  TileShape scoreTile;
  AttentionGroup group;

  /// State of the task: its matrices, and the packed queries and rows of dout, lse and sums of a
  /// group.
  Value batch, head, queryPanel, doutPanel, statistics, powers, slopes;
  std::optional<ContiguousRows> keyRows, valueRows;
  /// State of the group: lse, whether it is -infinity, and the sums.
  SmallVector<Value> logarithms, empty, sums;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_ATTENTIONGRADGROUP_H
