// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "EpilogueApply.h"
#include "Operands.h"

#include <algorithm>
#include <cmath>
#include <iterator>

using namespace blocksparse;
using namespace blocksparse::ref;

std::optional<Activation> ref::parseActivation(std::string_view name) {
  static constexpr std::string_view names[] = {"none",      "relu",       "leaky_relu", "gelu_erf",
                                               "gelu_tanh", "gelu_quick", "sigmoid",    "silu"};
  for (size_t i = 0; i < std::size(names); ++i)
    if (names[i] == name)
      return static_cast<Activation>(i);
  return std::nullopt;
}

static double sigmoidOf(double x) { return 1 / (1 + std::exp(-x)); }

double ref::activate(Activation activation, double x, double slope) {
  constexpr double sqrtHalf = 0.70710678118654752440;
  constexpr double sqrtTwoOverPi = 0.79788456080286535588;
  switch (activation) {
  case Activation::none:
    return x;
  case Activation::relu:
    return x < 0 ? 0 : x;
  case Activation::leakyRelu:
    return x < 0 ? slope * x : x;
  // The factor is 0 far below 0, where the product is 0 and not -inf * 0.
  case Activation::geluErf:
    return x == -INFINITY ? 0 : x / 2 * std::erfc(-x * sqrtHalf);
  case Activation::geluTanh:
    return x == -INFINITY ? 0 : x / 2 * (1 + std::tanh(sqrtTwoOverPi * (x + 0.044715 * x * x * x)));
  case Activation::geluQuick:
    return x == -INFINITY ? 0 : x * sigmoidOf(1.702 * x);
  case Activation::sigmoid:
    return sigmoidOf(x);
  case Activation::silu:
    return x == -INFINITY ? 0 : x * sigmoidOf(x);
  }
  return x;
}

/// Returns an upper bound of |activation'|, by which an error of the argument grows.
static double steepness(const Epilogue &epilogue) {
  switch (epilogue.activation) {
  case Activation::leakyRelu:
    return std::max(1.0, std::fabs(epilogue.slope));
  case Activation::none:
  case Activation::relu:
  case Activation::sigmoid:
    return 1;
  case Activation::geluErf:
  case Activation::geluTanh:
  case Activation::geluQuick:
  case Activation::silu:
    return 1.13;
  }
  return 1;
}

namespace {

/// The tensors of an epilogue broadcast to the stored result.
struct Terms {
  std::optional<HostTensor> input, leftAlpha, rightAlpha, bias, residual;

  static double at(const std::optional<HostTensor> &term, std::span<const int64_t> index,
                   double missing) {
    return term ? term->at(index) : missing;
  }
};

} // namespace

/// Returns a factor per row [..., rows] as [..., rows, 1], or per column as [..., 1, cols].
static std::optional<HostTensor> asMatrix(const std::optional<HostTensor> &factors, bool perRow) {
  if (!factors || factors->rank() < 1 || factors->rank() > 3)
    return factors;
  return factors->unsqueeze(perRow ? factors->rank() : factors->rank() - 1);
}

static std::optional<Terms> bindTerms(const Epilogue &epilogue, std::span<const int64_t> shape,
                                      std::string &error) {
  if (epilogue.beta != 0 && !epilogue.input) {
    error = "expects an input when beta is not 0, but got beta = " + std::to_string(epilogue.beta) +
            " and none";
    return std::nullopt;
  }
  Terms terms;
  if (!bindTerm(epilogue.input, shape, "input", terms.input, error) ||
      !bindTerm(epilogue.residual, shape, "residual", terms.residual, error) ||
      !bindTerm(epilogue.bias, shape, "bias", terms.bias, error) ||
      !bindTerm(asMatrix(epilogue.leftAlpha, /*perRow=*/true), shape, "left_alpha", terms.leftAlpha,
                error) ||
      !bindTerm(asMatrix(epilogue.rightAlpha, /*perRow=*/false), shape, "right_alpha",
                terms.rightAlpha, error))
    return std::nullopt;
  return terms;
}

static bool isIntegral(const std::optional<HostTensor> &term) {
  return !term || !isFloatType(term->type());
}

/// Returns true if an integer sum stays an integer through the complete epilogue.
static bool keepsIntegers(const Epilogue &epilogue) {
  return epilogue.alpha == std::trunc(epilogue.alpha) &&
         epilogue.beta == std::trunc(epilogue.beta) &&
         (epilogue.activation == Activation::none || epilogue.activation == Activation::relu) &&
         isIntegral(epilogue.input) && isIntegral(epilogue.leftAlpha) &&
         isIntegral(epilogue.rightAlpha) && isIntegral(epilogue.bias) &&
         isIntegral(epilogue.residual);
}

namespace {

/// Holds one element of the result and what bounds its error.
struct Finished {
  double value = 0;
  double magnitude = 0;
};

} // namespace

static Finished finishElement(const Product &product, double sum, double magnitude,
                              const Epilogue &epilogue, const Terms &terms,
                              std::span<const int64_t> index) {
  double t = 0, size = 0;
  if (!product.empty) {
    double left = Terms::at(terms.leftAlpha, index, 1);
    double right = Terms::at(terms.rightAlpha, index, 1);
    t = left * (epilogue.alpha * sum) * right;
    size = std::fabs(left * epilogue.alpha * right) * magnitude;
  }
  if (epilogue.beta != 0) {
    double term = epilogue.beta * terms.input->at(index);
    t += term;
    size += std::fabs(term);
  }
  double bias = Terms::at(terms.bias, index, 0);
  double residual = Terms::at(terms.residual, index, 0);
  double active = activate(epilogue.activation, t + bias, epilogue.slope);
  size = steepness(epilogue) * (size + std::fabs(bias)) + std::fabs(active) + std::fabs(residual);
  return {active + residual, size};
}

std::optional<HostTensor> ref::finishDense(const Product &product, AxisSwap swap,
                                           const Epilogue &epilogue, std::string &error,
                                           ErrorScale *scale) {
  HostTensor sums = product.sum.tensor.transpose(swap.first, swap.second);
  std::optional<HostTensor> sizes;
  if (product.magnitude)
    sizes = product.magnitude->tensor.transpose(swap.first, swap.second);
  std::optional<Terms> terms = bindTerms(epilogue, sums.shape(), error);
  if (!terms)
    return std::nullopt;

  bool integer = product.integer && keepsIntegers(epilogue);
  HostTensor result =
      HostTensor::zeros(integer ? ElementType::i32 : ElementType::f64, sums.shape());
  HostTensor magnitudes;
  if (scale)
    magnitudes = HostTensor::zeros(ElementType::f64, sums.shape());
  forEachIndex(sums.shape(), [&](std::span<const int64_t> index) {
    double sum = product.integer ? wrapToInt32(sums.at(index)) : sums.at(index);
    Finished done =
        finishElement(product, sum, Terms::at(sizes, index, 0), epilogue, *terms, index);
    result.set(index, integer ? wrapToInt32(done.value) : done.value);
    if (scale)
      magnitudes.set(index, done.magnitude);
  });
  if (scale)
    *scale = {magnitudes, product.terms};
  return result;
}
