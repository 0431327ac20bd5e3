// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Reference/ErrorBound.h"

#include <cmath>
#include <cstdio>
#include <limits>

using namespace blocksparse;
using namespace blocksparse::ref;

static constexpr double infinity = std::numeric_limits<double>::infinity();

/// Operations around a sum that each cost a few units; see compareToReference.
static constexpr double scalarSteps = 16;

ErrorModel ErrorModel::forOperands(ElementType type) {
  if (!isFloatType(type))
    return {};
  return {unitRoundoff(type == ElementType::f64 ? ElementType::f64 : ElementType::f32), 0};
}

double ErrorScale::getRange() const {
  if (range)
    return *range;
  return magnitude.numElements() == 0 ? 0 : largestMagnitude(magnitude);
}

double ref::largestMagnitude(const HostTensor &tensor) {
  double largest = 0;
  forEachIndex(tensor.shape(), [&](std::span<const int64_t> index) {
    double value = std::fabs(tensor.at(index));
    if (std::isfinite(value))
      largest = std::fmax(largest, value);
  });
  return largest;
}

double ref::gamma(double k, double u) {
  double product = k * u;
  return product < 1 ? product / (1 - product) : infinity;
}

namespace {

/// Holds one element's comparison: error / bound and the bound.
struct Verdict {
  double ratio = 0;
  double bound = 0;
  bool resultIsNaN = false;
  bool referenceIsNaN = false;
};

/// Describes the bound of compareToReference, with everything that is common to its elements.
struct Bound {
  ElementType type;
  double relative; // of the magnitude
  double tiny;

  /// Returns the part of the bound that does not come from the last rounding.
  double spread(double magnitude) const { return magnitude == 0 ? 0 : relative * magnitude; }
  double at(double reference, double magnitude) const {
    return spread(magnitude) + unitRoundoff(type) * std::fabs(reference) + tiny;
  }
};

} // namespace

static Verdict judgeInteger(double result, double reference) {
  return {result == reference ? 0 : infinity, 0};
}

static Verdict judgeFloat(double result, double reference, double magnitude, const Bound &bound) {
  // f8E4M3FN turns what is too large into NaN.
  bool expectNaN = std::isnan(roundToType(bound.type, reference));
  if (std::isnan(result) || expectNaN) {
    bool mismatch = std::isnan(result) != expectNaN;
    return {mismatch ? infinity : 0, 0, std::isnan(result), expectNaN};
  }
  if (std::isinf(reference))
    return {result == reference ? 0 : infinity, 0};
  double limit = bound.at(reference, magnitude);
  double error = std::fabs(result - reference);
  if (std::isinf(result)) {
    // A value rounds to infinity if it exceeds the largest finite number by half a unit or more.
    double threshold = largestFinite(bound.type) * (1 + unitRoundoff(bound.type) / 2);
    bool sameSign = std::signbit(result) == std::signbit(reference);
    error = sameSign ? std::fmax(0, threshold - std::fabs(reference)) : infinity;
  }
  // An unbounded error (sums too long for the arithmetic) does not fail, and is void; no error
  // passes, also where the bound is 0: half of the smallest f64 is.
  double ratio = std::isinf(limit) || error == 0 ? 0 : error / limit;
  return {ratio, limit};
}

std::optional<ErrorReport> ref::compareToReference(const HostTensor &result,
                                                   const HostTensor &reference,
                                                   const ErrorScale &scale, const ErrorModel &model,
                                                   std::string &error) {
  auto withoutUnits = [](const HostTensor &tensor) {
    std::vector<int64_t> extents;
    for (int64_t extent : tensor.shape())
      if (extent != 1)
        extents.push_back(extent);
    return extents;
  };
  if (withoutUnits(result) != withoutUnits(reference)) {
    error = "expects a result of shape " + formatShape(reference.shape()) + ", but got " +
            formatShape(result.shape());
    return std::nullopt;
  }
  bool hasScale = scale.magnitude.numElements() != 0;
  if (hasScale && formatShape(scale.magnitude.shape()) != formatShape(reference.shape())) {
    error = "expects magnitudes of shape " + formatShape(reference.shape()) + ", but got " +
            formatShape(scale.magnitude.shape());
    return std::nullopt;
  }
  // Equal up to extents of 1: row-major order is the same.
  HostTensor values = *result.contiguous().reshape(reference.shape(), error);

  double steps = scale.terms + scalarSteps;
  Bound bound{result.type(),
              gamma(steps, model.accumulateRoundoff) +
                  gamma(steps, unitRoundoff(ElementType::f64)) + 2 * model.operandRoundoff,
              smallestPositive(result.type()) / 2 + scale.terms * std::ldexp(1.0, -126)};
  ErrorReport report;
  report.range = scale.getRange();
  forEachIndex(reference.shape(), [&](std::span<const int64_t> index) {
    double got = values.at(index), expected = reference.at(index);
    double magnitude = hasScale ? scale.magnitude.at(index) : 0;
    Verdict verdict = isFloatType(result.type()) ? judgeFloat(got, expected, magnitude, bound)
                                                 : judgeInteger(got, expected);
    ++report.count;
    report.nanMismatches += verdict.resultIsNaN != verdict.referenceIsNaN;
    report.nanMatches += verdict.resultIsNaN && verdict.referenceIsNaN;
    report.failures += !(verdict.ratio <= 1);
    report.voids += verdict.bound != 0 && bound.spread(magnitude) > report.range;
    if (report.count == 1 || verdict.ratio > report.worstRatio) {
      report.worstRatio = verdict.ratio;
      report.worstIndex.assign(index.begin(), index.end());
      report.worstResult = got;
      report.worstReference = expected;
      report.worstBound = verdict.bound;
    }
  });
  return report;
}

std::string ErrorReport::describe() const {
  char text[256];
  std::snprintf(text, sizeof(text),
                "%s, %lld elements, %lld above the bound, %lld NaN mismatches, "
                "worst error/bound %.3g",
                inconclusive() ? "inconclusive"
                : ok()         ? "ok"
                               : "failed",
                static_cast<long long>(count), static_cast<long long>(failures),
                static_cast<long long>(nanMismatches), worstRatio);
  std::string line = text;
  if (count == 0)
    return line;
  std::snprintf(text, sizeof(text), ": got %.9g, expected %.9g, bound %.3g", worstResult,
                worstReference, worstBound);
  return line + " at " + formatShape(worstIndex) + text;
}
