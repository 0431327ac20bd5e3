// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The kernels of the gradient of attention compute P and dS of 64 x 64 elements by these functions;
// AttentionGradKernel.h has the formulas.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_ATTENTION_ATTENTIONGRADTERMS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_ATTENTION_ATTENTIONGRADTERMS_H

#include "AttentionAccumulators.h"

namespace mlir::blocksparse::device {

/// Accumulators of a thread of 64 x 64 elements.
static constexpr int64_t accumulatorsOfStep = 32;

/// Return the row and the column (i32) of the first accumulator of `thread` (i32) of a warpgroup.
Value ownRow(ImplicitLocOpBuilder &b, Value thread);
Value ownCol(ImplicitLocOpBuilder &b, Value thread);

/// Returns, for each accumulator, the number of its column: `address` (i32) is that of the numbers
/// (f32) of all columns in shared memory.
SmallVector<Value> readColumnNumbers(ImplicitLocOpBuilder &b, Value thread, Value address);

/// Returns P = 2^(scores * unit * log2(e) + shifts).
SmallVector<Value> emitPowers(ImplicitLocOpBuilder &b, ArrayRef<Value> scores,
                              ArrayRef<Value> shifts, double unit);

/// Returns the weights of dS: P times the derivatives of the scores, or P if there are none.
SmallVector<Value> emitWeights(ImplicitLocOpBuilder &b, ArrayRef<Value> powers,
                               ArrayRef<Value> derivatives);

/// Returns dS = weights * (slopes - sums).
SmallVector<Value> emitScoreGradients(ImplicitLocOpBuilder &b, ArrayRef<Value> weights,
                                      ArrayRef<Value> slopes, ArrayRef<Value> sums);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_ATTENTION_ATTENTIONGRADTERMS_H
