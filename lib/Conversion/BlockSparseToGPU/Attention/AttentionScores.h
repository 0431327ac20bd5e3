// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Makes scores of the products of a step, before a consumer warpgroup of attention computes powers,
// by the soft cap, the bias and the masks. A step that is taken whole and holds no forbidden
// element is left alone, by one branch. In any other the masks are looked at element by element: a
// product that is forbidden, or of a half that the consumer does not take, becomes -infinity.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_ATTENTION_ATTENTIONSCORES_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_ATTENTION_ATTENTIONSCORES_H

#include "AttentionAccumulators.h"
#include "AttentionKernel.h"

namespace mlir::blocksparse::device {

/// Holds the first keys of the halves of a step, what the consumer takes, and 1 if it is separate
/// (i32). Empty if every step is taken whole.
using StepWords = SmallVector<Value>;

class AttentionScores {
public:
  explicit AttentionScores(const AttentionFrame &frame) : frame(frame) {}

  /// Holds what the masks say of the rows of a thread in a tile. Null or empty where they say
  /// nothing.
  struct Rows {
    /// Batch and rows (index), and the first and the last key that the position allows (i32).
    Value batch, rows[rowsOfThread], firsts[rowsOfThread], lasts[rowsOfThread];
    Value segments[rowsOfThread];
    SmallVector<AttentionTerm> terms;
  };
  /// Returns the rows of the thread whose first one is `row` (i32).
  Rows getRows(ImplicitLocOpBuilder &b, const AttentionWork &tile, Value row) const;

  /// Returns the scores of a step in units of 1 / unit().
  SmallVector<Value> emit(ImplicitLocOpBuilder &b, ArrayRef<Value> products, const Rows &rows,
                          const StepWords &step) const;
  /// Returns what the results of emit must be multiplied by to be scores.
  double unit() const { return isScaled() ? 1 : frame.shape.scale; }

private:
  /// Returns true if products are scaled before the powers: something is added to them, or they are
  /// bounded.
  bool isScaled() const;
  SmallVector<Value> mask(ImplicitLocOpBuilder &b, ArrayRef<Value> scores, const Rows &rows,
                          const StepWords &step) const;

  const AttentionFrame &frame;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_ATTENTION_ATTENTIONSCORES_H
