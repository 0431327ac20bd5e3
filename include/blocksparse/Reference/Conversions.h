// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_REFERENCE_CONVERSIONS_H
#define BLOCKSPARSE_REFERENCE_CONVERSIONS_H

#include "blocksparse/Reference/ErrorBound.h"
#include "blocksparse/Reference/Pattern.h"

#include <optional>
#include <string>

namespace blocksparse::ref {

/// Results of the conversions have the element type of the argument and equal its values exactly.

/// Returns the dense matrix [B, H, rows, cols]. It is 0 where no block is stored; duplicate blocks
/// are added in f64 and rounded once.
std::optional<HostTensor> toDense(const SparseTensor &sparse, std::string &error);

/// Returns the values [B, S, bm, bn] of `dense` ([.., M, N], rank 2 to 4) at the blocks of
/// `pattern`; padding is 0. Rejects duplicate blocks.
std::optional<HostTensor> fromDense(const HostTensor &dense, const Pattern &pattern,
                                    std::string &error);

/// The transposed tensor with pattern.transposed(): every value block is moved
/// and transposed. Values are [B, S, bn, bm].
std::optional<SparseTensor> transpose(const SparseTensor &sparse, std::string &error);

/// Returns the values [B, S, bm, bn] of alpha * a + beta * b, two tensors of one pattern, in f64;
/// the padding is 0. A term whose factor is 0 is left out, even if it holds infinities or NaN.
std::optional<HostTensor> add(const SparseTensor &a, const SparseTensor &b, double alpha,
                              double beta, std::string &error, ErrorScale *scale = nullptr);

} // namespace blocksparse::ref

#endif // BLOCKSPARSE_REFERENCE_CONVERSIONS_H
