// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Attention computes some things on dense rows, beside its products and its softmax: the sum of
// parts and the gradient of a sink. They are loops of linalg.

#ifndef BLOCKSPARSE_LIB_TRANSFORMS_ATTENTIONROWS_H
#define BLOCKSPARSE_LIB_TRANSFORMS_ATTENTIONROWS_H

#include "blocksparse/IR/BlockSparseOps.h"

namespace mlir::blocksparse {

/// Holds the result of an attention over some of the keys.
struct AttentionPart {
  /// [.., M, Dv]; null for a sink, whose value is 0.
  Value out;
  /// [.., M], or [H] for a sink.
  Value lse;
};

/// Creates the attention over the keys of all parts, as blocksparse.attention_merge does, and
/// returns out and lse. The first part is not a sink.
std::pair<Value, Value> createMerge(OpBuilder &builder, Location loc, RankedTensorType outType,
                                    ArrayRef<AttentionPart> parts);

/// Creates the gradient of the sink of attention.
Value createSinkGradient(OpBuilder &builder, AttentionSinkGradOp op);

/// Creates a copy of `operand` [.., H, N, D] in which each head occurs `groups` times in a row.
Value repeatHeads(OpBuilder &builder, Location loc, Value operand, int64_t groups);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_TRANSFORMS_ATTENTIONROWS_H
