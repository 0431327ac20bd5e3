// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The gradient of attention by scalar loops, for GPUs; the CPU takes its rows alone. With
// p = exp(score - lse) and ds = p * (dout . v - sum), where sum is that of out * dout over the row,
// less dlse:
//   dq[i] = scale * sum over keys j of ds * k[j]
//   dk[j] = scale * sum over queries i of ds * q[i]
//   dv[j] = sum over queries i of p * dout[i]
// ds has the factor of the soft cap, too, and the sums over queries are over the heads that share
// the key. Forbidden elements are not read, and where a mask may forbid neither is what a weight of
// 0 would multiply.

#ifndef BLOCKSPARSE_LIB_CONVERSION_ATTENTIONGRADROW_H
#define BLOCKSPARSE_LIB_CONVERSION_ATTENTIONGRADROW_H

#include "AttentionViews.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/Plan/AttentionGradPlan.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::blocksparse {

using ::blocksparse::AttentionGradSide;

/// Emits the items of a planned_attention_grad. Items are independent of each other, but those of
/// gradients read what those of rows write.
class AttentionGradItems {
public:
  /// Describes `op` on the host, or in a kernel that `mapping` maps its operands to.
  AttentionGradItems(ImplicitLocOpBuilder &b, PlannedAttentionGradOp op, const IRMapping &mapping);

  /// Returns the sizes (index) of the items of rows: batches, heads, rows.
  SmallVector<Value> rowSizes(ImplicitLocOpBuilder &b) const;
  /// Stores the shift and the sum of the row at `index`, one number below each of the row sizes.
  void emitRow(ImplicitLocOpBuilder &b, ValueRange index) const;
  /// Stores the shift and the sum of a row whose sum of out * dout is `product`, in the
  /// accumulation type.
  void storeRow(ImplicitLocOpBuilder &b, ValueRange index, Value product) const;
  /// Return the matrices of out and dout for the row at `index`.
  MatrixView outOf(ImplicitLocOpBuilder &b, ValueRange index) const;
  MatrixView doutOf(ImplicitLocOpBuilder &b, ValueRange index) const;
  /// Returns the type that gradients are accumulated in.
  Type accumulator() const;
  /// Returns how many heads of queries share a head of keys and values.
  int64_t sharingHeads() const { return sharing; }

  /// Returns the sizes of the items of dk and dv (Keys) or of dq (Queries). An item is a part of a
  /// row of these.
  SmallVector<Value> sizes(ImplicitLocOpBuilder &b, AttentionGradSide side) const;
  /// Emits the item at `index`, one number below each of the sizes. If `repairs` is set, it
  /// computes the item only if an element of it is NaN.
  void emitItem(ImplicitLocOpBuilder &b, AttentionGradSide side, ValueRange index,
                bool repairs = false) const;

private:
  /// Describes a part of a row of the gradients: the matrices of its (batch, head), its row, and
  /// its columns.
  struct Part;

  void emitPart(ImplicitLocOpBuilder &b, const Part &part) const;

  PlannedAttentionGradOp op;
  AttentionViews views;
  DenseView dout, dq, dk, dv, rows, dlse;
  int64_t sharing;
  SegmentView segments[2];
  EntryView entries[2];
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_ATTENTIONGRADROW_H
