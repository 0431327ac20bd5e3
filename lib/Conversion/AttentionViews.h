// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Views of the operands of planned_attention and of its gradient, for both backends, and what bias
// and masks mean for one element of the scores.

#ifndef BLOCKSPARSE_LIB_CONVERSION_ATTENTIONVIEWS_H
#define BLOCKSPARSE_LIB_CONVERSION_ATTENTIONVIEWS_H

#include "OperandView.h"
#include "PositionMasks.h"
#include "blocksparse/IR/BlockSparseOps.h"

namespace mlir::blocksparse {

/// Describes an operand that is added to the scores or forbids elements, for one (batch, head).
struct AttentionTerm {
  enum Kind { Bias, AddMask, MulMask } kind;
  MatrixView matrix;
  /// True if all rows have the elements of row 0.
  bool isOneRow = false;
};

/// Holds what masks and biases say of the scores.
class AttentionMasks {
public:
  /// Views the masks and biases of `op`, a PlannedAttentionOp or PlannedAttentionGradOp. `map`
  /// returns the value that an operand has where code is emitted, and null for null. If
  /// `transposed` is set, positions are those of the transpose of the scores.
  template <typename OpTy>
  AttentionMasks(ImplicitLocOpBuilder &b, OpTy op, function_ref<Value(Value)> map,
                 bool transposed = false);

  /// Returns the terms of a head of queries, whose rows are queries.
  SmallVector<AttentionTerm> getTerms(ImplicitLocOpBuilder &b, Value batch, Value head) const;

  PositionMasks positions;

private:
  struct Operand {
    AttentionTerm::Kind kind;
    DenseView view;
    bool isOneRow;
  };
  SmallVector<Operand> operands;
};

/// Returns the operands of `op`, a PlannedAttentionOp or PlannedAttentionGradOp, that its
/// AttentionMasks view; some may be null.
template <typename OpTy>
SmallVector<Value> getMaskOperands(OpTy op) {
  return {op.getRpe(),          op.getKeyPaddingMask(), op.getAttentionMask(), op.getKeyLengths(),
          op.getQueryLengths(), op.getQuerySegments(),  op.getKeySegments()};
}

class AttentionViews : public AttentionMasks {
public:
  /// Views the operands of `op`, a PlannedAttentionOp or PlannedAttentionGradOp, as AttentionMasks
  /// does.
  template <typename OpTy>
  AttentionViews(ImplicitLocOpBuilder &b, OpTy op, function_ref<Value(Value)> map);

  /// Return the matrices of a head of the queries, whose keys and values may be those of other
  /// heads, too.
  MatrixView getQueries(ImplicitLocOpBuilder &b, Value batch, Value head) const;
  MatrixView getKeys(ImplicitLocOpBuilder &b, Value batch, Value head) const;
  MatrixView getValues(ImplicitLocOpBuilder &b, Value batch, Value head) const;
  /// Returns the score of the sink of a head, or null if there is none.
  Value getSink(ImplicitLocOpBuilder &b, Value head) const;

  DenseView q, k, v, out, lse;

private:
  Value sink;
  /// Heads of queries that share one of keys, and one of values.
  int64_t sharingKeys = 1, sharingValues = 1;
};

/// Returns `score` plus the terms that are added, for an element (row, col) of the scores.
Value addTerms(ImplicitLocOpBuilder &b, ArrayRef<AttentionTerm> terms, Value score, Value row,
               Value col);

/// Returns i1: no term forbids the element (row, col); null if none can.
Value isAllowedByTerms(ImplicitLocOpBuilder &b, ArrayRef<AttentionTerm> terms, Type accumulator,
                       Value row, Value col);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_ATTENTIONVIEWS_H
