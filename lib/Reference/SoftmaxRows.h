// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_REFERENCE_SOFTMAXROWS_H
#define BLOCKSPARSE_LIB_REFERENCE_SOFTMAXROWS_H

#include "Operands.h"
#include "blocksparse/Reference/Softmax.h"

#include <optional>
#include <string>

namespace blocksparse::ref {

/// Holds a softmax with what its callers need to bound errors. Errors are in units of the roundoff
/// u of the arithmetic, for a bound gamma(terms + extraTerms + 16, u) * magnitude (ErrorBound.h).
struct SoftmaxRows {
  Blocks values;
  HostTensor lse;
  /// The relative error of each probability, 1 or more, divided by the number of terms of its row:
  /// a probability P is known to P * relative, to first order. If the log-sum-exp is known, the
  /// terms are extraTerms
  /// + 16.
  Blocks relative;
  /// The error magnitude of each probability, absolute: P * relative, or what the errors of the
  /// scores make of P where that is more.
  Blocks sizes;
  /// [B, H, M]: the error magnitude of lse, absolute; 0 if lse is known.
  HostTensor lseSizes;
  /// Allowed elements of the fullest row.
  int64_t terms = 0;
};

/// Computes the softmax (see Softmax.h) of scores whose factor x is known to `errors` units of u,
/// of the shape of x's values; absent if x is exact. `extraTerms` is the length of the sums that
/// x consists of, 0 if it is exact.
///
/// Error of a probability P = exp(d) / sum exp(d), with d = score - maximum, to first order: the
/// difference, its product with log2(e) and exp2 turn d into a relative error of 4 |d| u; an error
/// of e u in the score adds e; the sum of n terms and the division add n. Through the sum, element
/// j adds P_j (4 |d_j| + e_j). Scores are exact, e = 0, where x is, where the factor is a power of
/// two, and where one summand of the score at most is not 0: no roundoff is charged for a product
/// with 1 or a sum with 0.
///
/// Where an error of s units in the difference of a score and the log-sum-exp is no longer small, P
/// may become min(1, P exp(s u)), of which first order says nothing: P is 0 where exp(d)
/// underflows, but with an error larger than d it may be 1.
///
/// Error of P = exp(d) with d = score - lse for a known lse: 4 |d| + e as above, and |lse| for the
/// rounding of an lse that is not a number of f32. Nothing is summed. No sum keeps P below 1
/// either, so that the bound is not to first order: an error of s units is one of expm1(s u) / u,
/// of which u = 2^-24 gives the largest. The error that the given lse carries is the caller's to
/// add.
std::optional<SoftmaxRows> softmaxRows(const SparseTensor &x, const std::optional<Blocks> &errors,
                                       int64_t extraTerms, const SoftmaxOptions &options,
                                       std::string &error);

} // namespace blocksparse::ref

#endif // BLOCKSPARSE_LIB_REFERENCE_SOFTMAXROWS_H
