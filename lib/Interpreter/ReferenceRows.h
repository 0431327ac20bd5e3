// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How errors go through a row softmax and its gradient.

#ifndef BLOCKSPARSE_LIB_INTERPRETER_REFERENCEROWS_H
#define BLOCKSPARSE_LIB_INTERPRETER_REFERENCEROWS_H

#include "ReferenceValue.h"

namespace mlir::blocksparse {

/// Errors of the results of a softmax, f64.
struct SoftmaxErrors {
  /// Of the probabilities, with the shape of the values.
  ::blocksparse::HostTensor values;
  /// Of the log-sum-exp, [B, H, M].
  ::blocksparse::HostTensor lse;
};

/// A row whose scores are known to D = max of `scoreErrors` (values of `probabilities`'
/// pattern, plus `bias` everywhere): exp of each and their sum change by factors within
/// exp(+-D), the probability within exp(+-2 D), and none exceeds 1.
std::optional<SoftmaxErrors> boundSoftmax(const ::blocksparse::ref::SparseTensor &probabilities,
                                          const ::blocksparse::HostTensor &scoreErrors, double bias,
                                          std::string &error);

/// dS = P (dP - sum over the row of P dP), on magnitudes: with G(p, g) = p g + p sum(p g) the
/// change is at most G(upper) - G(lower). Values of the pattern, f64.
std::optional<::blocksparse::HostTensor>
boundSoftmaxGrad(const ::blocksparse::ref::SparseTensor &lowerY,
                 const ::blocksparse::HostTensor &lowerDy, const ::blocksparse::HostTensor &upperY,
                 const ::blocksparse::HostTensor &upperDy, std::string &error);

/// Values (f64) of the pattern summed over the extents in which `shape` is 1.
std::optional<::blocksparse::HostTensor>
reduceValues(const ::blocksparse::ref::SparseTensor &values, ArrayRef<int64_t> shape,
             std::string &error);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_INTERPRETER_REFERENCEROWS_H
