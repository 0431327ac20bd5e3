// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Attention by scalar loops. A loop walks the keys of a row once and keeps the
// largest score so far, the sum of the powers and the sums of the products with v: when the largest
// score grows, the sums are scaled down (online softmax). Forbidden keys are not read.

#ifndef BLOCKSPARSE_LIB_CONVERSION_ATTENTIONROW_H
#define BLOCKSPARSE_LIB_CONVERSION_ATTENTIONROW_H

#include "AttentionViews.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::blocksparse {

/// Describes one row of attention and the columns of v that are multiplied (index values).
struct AttentionRow {
  /// Describes row `row` (index) of `op`, a PlannedAttentionOp or PlannedAttentionGradOp.
  template <typename OpTy>
  static AttentionRow get(ImplicitLocOpBuilder &b, OpTy op, const AttentionViews &views,
                          Value batch, Value head, Value row);

  /// Holds a score with its bias and the masks that are added, and its derivative by the scaled
  /// product, which is null if it is 1.
  struct Score {
    Value value, slope;
  };
  /// Emits the score of a key (index), in `type`.
  Score emitScore(ImplicitLocOpBuilder &b, Value key, Type type) const;
  /// Returns i1: no mask forbids a key that exists; null if none can.
  Value isAllowed(ImplicitLocOpBuilder &b, Value key, Type type) const;

  MatrixView q, k, v;
  Value row;
  SmallVector<Value> cols;
  double scale = 1;
  std::optional<double> softCap;
  /// True if a key whose power is 0 adds nothing, whatever v holds there.
  bool skipsZeros = false;
  /// The bias and the masks; the columns that the position allows, and the segments of the row and
  /// of the columns. Null is no bound, and no segments.
  SmallVector<AttentionTerm> terms;
  PositionMasks::Columns columns;
  Value segment;
  MatrixView segments;
  /// The score of the sink; null if there is none.
  Value sink;
};

/// Emits `scale` times the product of row `row` of `q` and row `key` of `k`, in `type`.
Value emitAttentionScore(ImplicitLocOpBuilder &b, const MatrixView &q, const MatrixView &k,
                         Value row, Value key, double scale, Type type);

/// Holds the softmax of the keys of a row so far, in the accumulation type: the largest score, the
/// sum of the powers relative to it, and their products with the columns of v.
struct AttentionSums {
  Value largest, sum;
  SmallVector<Value> products;

  SmallVector<Value> toCarried() const;
  static AttentionSums fromCarried(ValueRange values);

  /// Returns what the powers are relative to: the largest score, or 0 if there was no score yet.
  Value shift(ImplicitLocOpBuilder &b) const;
};

/// Emits the loop over `count` keys (index) and returns their sums and that of the sink. `keyOf`
/// returns key `number` (index), or -1 for one that does not exist. Such a key, and one that a mask
/// forbids, is not read.
AttentionSums emitAttentionKeys(ImplicitLocOpBuilder &b, const AttentionRow &row, Value count,
                                function_ref<Value(ImplicitLocOpBuilder &, Value number)> keyOf);

/// Emits the items of a planned_attention: an item is a part of one row of the result, and items
/// are independent of each other.
class AttentionItems {
public:
  /// Describes `op` on the host, or in a kernel that `mapping` maps its operands to.
  AttentionItems(ImplicitLocOpBuilder &b, PlannedAttentionOp op, const IRMapping &mapping);

  /// Returns the sizes (index) whose product is the number of items.
  SmallVector<Value> sizes(ImplicitLocOpBuilder &b) const;
  /// Emits the item at `index`, one number below each of the sizes.
  void emitItem(ImplicitLocOpBuilder &b, ValueRange index) const;

private:
  void emitPart(ImplicitLocOpBuilder &b, ValueRange index, Value head, Value row) const;

  PlannedAttentionOp op;
  AttentionViews views;
  SegmentView segments;
  EntryView entries;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_ATTENTIONROW_H
