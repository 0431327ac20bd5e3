// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_REFERENCE_SOFTMAXROWS_H
#define BLOCKSPARSE_LIB_REFERENCE_SOFTMAXROWS_H

#include "Operands.h"
#include "blocksparse/Reference/Softmax.h"

#include <optional>
#include <string>

namespace blocksparse::ref {

/// Holds a softmax with what its callers need to bound errors.
struct SoftmaxRows {
  Blocks values;
  HostTensor lse;
  /// [B, H, M]: the largest |scale| * size of x + |rpe| + |masks| of a row.
  HostTensor scoreSizes;
  /// Allowed elements of the fullest row.
  int64_t terms = 0;
};

/// softmax (see there) where `sizes`, of the shape of x's values, bounds |x|:
/// |x| itself for a given x, the sum of absolute products for a computed one.
std::optional<SoftmaxRows> softmaxRows(const SparseTensor &x, const Blocks &sizes,
                                       const SoftmaxOptions &options, std::string &error);

/// Returns the error magnitudes of lse: m + |lse| + 1 with m from scoreSizes (see softmax).
HostTensor lseSizes(const SoftmaxRows &rows);

} // namespace blocksparse::ref

#endif // BLOCKSPARSE_LIB_REFERENCE_SOFTMAXROWS_H
