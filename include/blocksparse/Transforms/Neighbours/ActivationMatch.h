// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TRANSFORMS_NEIGHBOURS_ACTIVATIONMATCH_H
#define BLOCKSPARSE_TRANSFORMS_NEIGHBOURS_ACTIVATIONMATCH_H

#include "blocksparse/IR/BlockSparseDialect.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/Transforms/Neighbours/ElementExpression.h"

#include <optional>
#include <string>

namespace mlir::blocksparse {

/// Describes an expression as activation(factor * input).
struct ActivationMatch {
  ActivationKind kind = ActivationKind::None;
  double slope = 0, factor = 1;
  Expression input = nullptr;
};

/// Returns the activation that an expression computes, however it is written with arith and math:
/// relu and leaky_relu by comparisons or maxima, sigmoid by exp or tanh, silu and the three gelu by
/// any order of their factors, with erf, erfc, tanh or exp. Constants may be off by the rounding of
/// their type. Returns nothing for other expressions, with a reason in `fault` if the expression is
/// an activation for numbers, but not for NaN.
std::optional<ActivationMatch> matchActivation(Expression expression, std::string &fault);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_TRANSFORMS_NEIGHBOURS_ACTIVATIONMATCH_H
