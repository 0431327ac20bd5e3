// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Bounds the propagation of errors through a row softmax and its gradient.

#ifndef BLOCKSPARSE_LIB_INTERPRETER_REFERENCEROWS_H
#define BLOCKSPARSE_LIB_INTERPRETER_REFERENCEROWS_H

#include "ReferenceValue.h"
#include "blocksparse/Reference/Softmax.h"

namespace mlir::blocksparse {

/// Holds bounds of the errors of the results of a softmax, in f64.
struct SoftmaxErrors {
  /// Errors of the probabilities, in the shape of the values.
  ::blocksparse::HostTensor values;
  /// Errors of the log-sum-exp, [B, H, M].
  ::blocksparse::HostTensor lse;
};

/// Bounds the errors of a softmax of rows whose scores are known to within D = max of `scoreErrors`
/// (values of the pattern of `probabilities`) + `bias`. The exp of each score and their sum change
/// by factors within exp(+-D), so that a probability changes by a factor within exp(+-2 D); none
/// exceeds 1. If the log-sum-exp is known, `bias` includes its error: then only the exp of each
/// score changes, a result may exceed 1, and `lse` of the result does not hold.
std::optional<SoftmaxErrors> boundSoftmax(const ::blocksparse::ref::SparseTensor &probabilities,
                                          const ::blocksparse::HostTensor &scoreErrors, double bias,
                                          bool knownLse, std::string &error);

/// Bounds the error of dS = P (dP - sum over the row of P dP), from magnitudes: with G(p, g) = p g
/// + p sum(p g) the change is at most G(upper) - G(lower). `dots`, if it is not null, has the exact
/// sums. Returns values of the pattern, in f64.
std::optional<::blocksparse::HostTensor>
boundSoftmaxGrad(const ::blocksparse::ref::SparseTensor &lowerY,
                 const ::blocksparse::HostTensor &lowerDy, const ::blocksparse::HostTensor &upperY,
                 const ::blocksparse::HostTensor &upperDy, const ::blocksparse::ref::RowDots *dots,
                 const std::optional<::blocksparse::HostTensor> &dlse, std::string &error);

/// Returns the values (f64) of the pattern, summed over the axes whose extent in `shape` is 1.
std::optional<::blocksparse::HostTensor>
reduceValues(const ::blocksparse::ref::SparseTensor &values, ArrayRef<int64_t> shape,
             std::string &error);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_INTERPRETER_REFERENCEROWS_H
