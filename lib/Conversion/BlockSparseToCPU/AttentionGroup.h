// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Emits scores of attention on the CPU, transposed: a row of them is a key, and a lane of its
// vectors a query of a group. So nothing is reduced across lanes.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_ATTENTIONGROUP_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_ATTENTIONGROUP_H

#include "../AttentionViews.h"
#include "ContiguousRows.h"
#include "PanelKernel.h"

#include <optional>

namespace mlir::blocksparse {

/// Describes the keys of a chunk: the index of the first one and their number.
struct KeyChunk {
  Value first, count;
};

/// Describes how products become scores. A soft cap of 0 is none.
struct ScoreRules {
  double scale = 1, softCap = 0;
  PositionMasks positions;
  /// True if the derivatives of capped scores by the scaled products are kept.
  bool keepsSlopes = false;
};

/// Emits the scores of a group of as many queries as a register tile has columns, for one chunk of
/// keys after another.
class AttentionGroup {
public:
  /// `chunkKeys` is the most keys of a chunk. `tile` must outlive this object.
  AttentionGroup(ImplicitLocOpBuilder &b, const TileShape &tile, int64_t chunkKeys,
                 ScoreRules rules);

  /// Allocates the scratch of a task whose matrices have the terms `terms`, and frees it.
  void allocate(ArrayRef<AttentionTerm> terms);
  void release();
  /// Makes queries [row, row + count) of `batch` the group. `keys` is the number of all keys.
  void enter(Value batch, Value row, Value count, Value keys);

  /// Returns i1: the position may allow one of the keys to a query of the group; null if it may
  /// always.
  Value mayUse(KeyChunk keys);
  /// Emits products[key] = rows[key] times the columns of `panel`, which has `depth` rows, for the
  /// keys of a chunk.
  void emitProducts(KeyChunk keys, const ContiguousRows &rows, int64_t depth, Value panel,
                    Value products);
  /// Replaces the products of a chunk by scores, and those that are forbidden by -infinity. Returns
  /// the largest scores of the chunk and of `largest`, one vector for each of the tile.
  SmallVector<Value> emitScores(KeyChunk keys, Value products, ArrayRef<Value> largest);

  /// Returns the derivatives of the scores of the chunk by the scaled products, [keys, tile.cols];
  /// null if they are 1 or not kept.
  Value slopes() const { return capSlopes; }

  /// Returns i1: one of the first `rows` rows of a memref [.., tile.cols] holds NaN.
  Value hasNaN(Value memref, Value rows);
  /// Return vector `vector` of row `row` of a memref [.., tile.cols], and store it.
  Value load(Value memref, Value row, int64_t vector, VectorType type);
  void store(Value value, Value memref, Value row, int64_t vector);
  int64_t vectors() const { return tile.vectorsPerRow(); }
  VectorType vectorType() const { return tile.vectorType(); }
  Value constant(double value);
  Value lowest();

private:
  using Builder = ImplicitLocOpBuilder;

  void emitBounds();
  void emitSegments();
  void emitTerms(KeyChunk keys);
  SmallVector<Value> emitMasked(KeyChunk keys, Value products, ArrayRef<Value> largest,
                                bool bounded);
  Value emitScaled(Value product, Value key, int64_t vector);

  /// Holds the columns that the position allows: a vector of i32 for each vector of queries, and
  /// the first and last bounds of all of them.
  struct Bounds {
    SmallVector<Value> firsts, ends;
    Value leastFirst, mostFirst, leastEnd, mostEnd;
  };
  /// Holds what is known of a key for all queries. Null is nothing.
  struct KeyFacts {
    Value place, bias, allowed, segment;
  };
  KeyFacts getFacts(Value col);
  Value isAllowed(const KeyFacts &facts, Value key, int64_t vector, bool bounded);

  ImplicitLocOpBuilder &b;
  const TileShape &tile;
  int64_t chunkKeys;
  Type type;
  ScoreRules rules;

  /// State of the task: terms, what is added to scores and whether masks allow them, bounds and
  /// segments of queries, and derivatives of capped scores.
  SmallVector<AttentionTerm> rowTerms, colTerms;
  Value biases, gates, bounds, ownSegments, capSlopes;
  /// State of the group: its queries, their number, and all keys.
  Value batch, row, count, allKeys;
  Bounds group;
  SmallVector<Value> segmentVectors;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_ATTENTIONGROUP_H
