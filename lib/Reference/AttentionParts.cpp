// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Reference/AttentionParts.h"

#include "Operands.h"

#include <cmath>
#include <limits>

using namespace blocksparse;
using namespace blocksparse::ref;

static constexpr double minusInfinity = -std::numeric_limits<double>::infinity();

/// Returns the elements of a tensor in f64, row-major.
static std::vector<double> readElements(const HostTensor &tensor) {
  HostTensor copy = tensor.cast(ElementType::f64);
  const double *data = copy.dataAs<double>();
  return {data, data + copy.numElements()};
}

/// Returns the log-sum-exp of numbers, -inf if all of them are.
static double logSumExp(std::span<const double> numbers) {
  double largest = minusInfinity;
  for (double number : numbers)
    if (std::isnan(number) || number > largest)
      largest = number;
  if (largest == minusInfinity)
    return minusInfinity;
  double sum = 0;
  for (double number : numbers)
    sum += std::exp(number - largest);
  return largest + std::log(sum);
}

namespace {

/// Holds the elements of a part.
struct PartElements {
  std::vector<double> out, lse, outErrors, lseErrors;
};

/// Refers to one row of all parts and of what is computed from them. Pointers may be null.
struct MergedRow {
  std::span<const PartElements> parts;
  int64_t row, columns;
  double *out, *outSizes, *outErrors;
};

} // namespace

/// Adds up a row, whose log-sum-exp is `lse`.
static void mergeRow(const MergedRow &merged, double lse) {
  double terms = static_cast<double>(merged.parts.size()) + 16;
  for (const PartElements &part : merged.parts) {
    double own = part.lse[merged.row];
    if (own == minusInfinity)
      continue;
    double weight = std::exp(own - lse);
    // Each of the two logarithms has a rounding error of its size.
    double size = 1 + 4 * (std::fabs(own) + std::fabs(lse) + 1) / terms;
    double growth = std::fmin(std::expm1(2 * part.lseErrors[merged.row]), 1e300);
    for (int64_t column = 0; column < merged.columns; ++column) {
      int64_t at = merged.row * merged.columns + column;
      double term = weight * part.out[at];
      merged.out[column] += term;
      if (merged.outSizes)
        merged.outSizes[column] += std::fabs(term) * size;
      if (merged.outErrors)
        merged.outErrors[column] +=
            weight * (1 + growth) * part.outErrors[at] + growth * std::fabs(term);
    }
  }
}

std::optional<AttentionResult> ref::attentionMerge(std::span<const AttentionPart> parts,
                                                   std::string &error, AttentionScales *scales,
                                                   AttentionResult *errors) {
  if (parts.empty()) {
    error = "expects at least 1 part, but got 0";
    return std::nullopt;
  }
  std::vector<PartElements> elements;
  for (const AttentionPart &part : parts) {
    if (!checkEqual(parts[0].out.numElements(), part.out.numElements(), "elements of a part",
                    error) ||
        !checkEqual(parts[0].lse.numElements(), part.lse.numElements(), "elements of an lse",
                    error))
      return std::nullopt;
    elements.push_back({readElements(part.out), readElements(part.lse),
                        readElements(part.outErrors), readElements(part.lseErrors)});
  }
  auto zeros = [&](const HostTensor &like) {
    return HostTensor::zeros(ElementType::f64, like.shape());
  };
  AttentionResult result{zeros(parts[0].out), zeros(parts[0].lse)};
  HostTensor outSizes = zeros(parts[0].out), lseSizes = zeros(parts[0].lse);
  HostTensor outErrors = zeros(parts[0].out), lseErrors = zeros(parts[0].lse);
  int64_t rows = result.lse.numElements();
  int64_t columns = rows == 0 ? 0 : result.out.numElements() / rows;
  for (int64_t row = 0; row < rows; ++row) {
    std::vector<double> lses;
    double size = 1, change = 0;
    for (const PartElements &part : elements) {
      lses.push_back(part.lse[row]);
      size += std::isfinite(part.lse[row]) ? std::fabs(part.lse[row]) : 0;
      change = std::fmax(change, part.lseErrors[row]);
    }
    double lse = logSumExp(lses);
    result.lse.dataAs<double>()[row] = lse;
    lseSizes.dataAs<double>()[row] = size + (std::isfinite(lse) ? std::fabs(lse) : 0);
    lseErrors.dataAs<double>()[row] = change;
    int64_t first = row * columns;
    mergeRow({elements, row, columns, result.out.dataAs<double>() + first,
              outSizes.dataAs<double>() + first, outErrors.dataAs<double>() + first},
             lse);
  }
  int64_t terms = static_cast<int64_t>(parts.size());
  if (scales) {
    scales->out = {outSizes, terms, {}};
    scales->lse = {lseSizes, terms, {}};
  }
  if (errors)
    *errors = {outErrors, lseErrors};
  return result;
}

std::optional<HostTensor> ref::attentionSinkGrad(const HostTensor &sink,
                                                 const AttentionResult &forward,
                                                 const HostTensor &dout,
                                                 const std::optional<HostTensor> &dlse,
                                                 std::string &error, ErrorScale *scale) {
  std::optional<RowDots> dots = rowDots(forward.out, dout, error);
  if (!dots)
    return std::nullopt;
  int64_t batches = dots->sums.dim(0), heads = dots->sums.dim(1), rows = dots->sums.dim(2);
  if (!checkEqual(heads, sink.numElements(), "elements of sink", error) ||
      !checkEqual(batches * heads * rows, forward.lse.numElements(), "elements of lse", error))
    return std::nullopt;
  std::vector<double> lse = readElements(forward.lse), sinks = readElements(sink);
  std::vector<double> gradient = dlse ? readElements(*dlse) : std::vector<double>(lse.size());
  HostTensor result = HostTensor::zeros(ElementType::f64, sink.shape()), sizes = result.clone();
  for (int64_t b = 0; b < batches; ++b)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = 0; i < rows; ++i) {
        int64_t at = (b * heads + h) * rows + i;
        double weight = std::exp(sinks[h] - lse[at]);
        result.dataAs<double>()[h] -= weight * (dots->sumOf(b, h, i) - gradient[at]);
        double size = 1 + (std::fabs(sinks[h]) + std::fabs(lse[at])) / 4;
        sizes.dataAs<double>()[h] +=
            weight * size * (dots->sizeOf(b, h, i) + std::fabs(gradient[at]));
      }
  if (scale)
    *scale = {sizes, batches * rows + dots->terms, {}};
  return result;
}
