// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Makes scores of the products of a step, before a consumer warpgroup of attention or of its
// gradient computes powers, by the soft cap, the bias and the masks. Steps that are taken whole and
// hold no forbidden element are not masked. In any other the masks are looked at element by
// element: a product that is forbidden, or of columns that the consumer does not take, becomes
// -infinity.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_ATTENTION_ATTENTIONSCORES_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_ATTENTION_ATTENTIONSCORES_H

#include "../../AttentionViews.h"
#include "AttentionAccumulators.h"

namespace mlir::blocksparse::device {

/// Describes how scores are made of products, but for masks.
struct AttentionScoreForm {
  double scale = 1;
  std::optional<double> softCap;
  /// True if a bias or a mask is added.
  bool adds = false;

  /// Describes `op`, a PlannedAttentionOp or PlannedAttentionGradOp.
  template <typename OpTy>
  static AttentionScoreForm get(OpTy op) {
    AttentionScoreForm form;
    form.scale = op.getScale().convertToDouble();
    if (std::optional<APFloat> cap = op.getSoftCap())
      form.softCap = cap->convertToDouble();
    form.adds = op.getRpe() ||
                (op.getKeyPaddingMask() && op.getKeyPaddingMaskMode() == MaskMode::Add) ||
                (op.getAttentionMask() && op.getAttentionMaskMode() == MaskMode::Add);
    return form;
  }
  /// Returns what scores must be multiplied by: products are scaled before the powers if something
  /// is added to them, or if they are bounded.
  double unit() const { return softCap || adds ? 1 : scale; }
};

class AttentionScores {
public:
  /// Makes scores whose rows are queries and whose columns are some of `cols` keys; if
  /// `keysAreRows` is set, it is the other way round, and `masks` are transposed. `masks` may be
  /// null if nothing is forbidden but columns that are not taken.
  AttentionScores(const AttentionScoreForm &form, const AttentionMasks *masks, int64_t cols,
                  bool keysAreRows = false)
      : form(form), masks(masks), cols(cols), keysAreRows(keysAreRows) {}

  /// Holds what the masks say of the rows of a thread in a tile. Null or empty where they say
  /// nothing.
  struct Rows {
    /// Batch and rows (index), and the first and the last column that the position allows (i32).
    Value batch, rows[rowsOfThread], firsts[rowsOfThread], lasts[rowsOfThread];
    Value segments[rowsOfThread];
    /// Holds what is read of each element, for a head of queries.
    SmallVector<AttentionTerm> terms;
  };
  /// Returns the rows of the thread whose first one is `row` in `batch` (i32), without terms.
  Rows getRows(ImplicitLocOpBuilder &b, Value batch, Value row) const;
  /// Returns the terms of a head of queries (i32).
  SmallVector<AttentionTerm> getTerms(ImplicitLocOpBuilder &b, Value batch, Value head) const;

  /// Returns the scores of `products` without bias and masks, in units of 1 / unit of the form.
  SmallVector<Value> scale(ImplicitLocOpBuilder &b, ArrayRef<Value> products) const;
  /// Returns the derivatives of what scale returned by the scaled products; empty if all of them
  /// are 1.
  SmallVector<Value> getDerivatives(ImplicitLocOpBuilder &b, ArrayRef<Value> scores) const;

  /// Describes neighbouring columns of the accumulators: the first one (i32), and i1 whether they
  /// are taken, which is null if they are.
  struct Columns {
    Value first, taken = {};
  };
  /// Adds the bias to what scale returned, and sets forbidden scores to -infinity. The scores are
  /// those of `thread` (i32) of a warpgroup; `columns` has theirs in equal parts of a multiple of 8
  /// columns.
  SmallVector<Value> mask(ImplicitLocOpBuilder &b, Value thread, ArrayRef<Value> scores,
                          const Rows &rows, ArrayRef<Columns> columns) const;

  const AttentionScoreForm form;

private:
  const AttentionMasks *masks;
  int64_t cols;
  bool keysAreRows;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_ATTENTION_ATTENTIONSCORES_H
