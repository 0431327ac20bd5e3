// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_REFERENCE_EPILOGUE_H
#define BLOCKSPARSE_REFERENCE_EPILOGUE_H

#include "blocksparse/Support/HostTensor.h"

#include <optional>
#include <string_view>

namespace blocksparse::ref {

enum class Activation {
  none,
  relu,
  leakyRelu,
  /// x / 2 * (1 + erf(x / sqrt 2)).
  geluErf,
  /// x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))).
  geluTanh,
  /// x * sigmoid(1.702 x).
  geluQuick,
  sigmoid,
  /// x * sigmoid(x).
  silu
};

/// Returns the activation that is called `name`: "none", "relu", "leaky_relu", "gelu_erf",
/// "gelu_tanh", "gelu_quick", "sigmoid" or "silu". Empty for any other name.
std::optional<Activation> parseActivation(std::string_view name);

/// Returns the activation of one number; `slope` is leaky_relu's factor below 0. The activation of
/// NaN is NaN.
double activate(Activation activation, double x, double slope);

/// Describes what follows the sum of products `acc` of an operation with a dense result:
///   t   = left_alpha * (alpha * acc) * right_alpha + beta * input
///   out = activation(t + bias) + residual
/// Every tensor means the result as it is stored (after transpose_out):
/// `leftAlpha` [..., rows] has a factor per row, `rightAlpha` [..., cols] one per
/// column, and `bias` (such as [cols]), `input` and `residual` broadcast to it.
///
/// beta == 0: `input` is never read. alpha == 0, or nothing to sum (nnz == 0,
/// K == 0): the first term is 0 whatever the factors are.
struct Epilogue {
  double alpha = 1;
  double beta = 0;
  std::optional<HostTensor> input;
  std::optional<HostTensor> leftAlpha;
  std::optional<HostTensor> rightAlpha;
  std::optional<HostTensor> bias;
  std::optional<HostTensor> residual;
  Activation activation = Activation::none;
  double slope = 0.01;
};

} // namespace blocksparse::ref

#endif // BLOCKSPARSE_REFERENCE_EPILOGUE_H
