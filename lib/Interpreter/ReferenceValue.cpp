// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ReferenceValue.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::ElementType;
using ::blocksparse::HostTensor;
using namespace ::blocksparse::ref;

/// Returns the factor by which compareToReference multiplies the magnitude.
static double getRelativeBound(int64_t terms, const ErrorModel &model) {
  double steps = terms + 16;
  return gamma(steps, model.accumulateRoundoff) +
         gamma(steps, ::blocksparse::unitRoundoff(ElementType::f64)) + 2 * model.operandRoundoff;
}

HostTensor ReferenceValue::getErrorBound() const {
  if (isExact())
    return mapTensor(tensor, [](double) { return 0.0; });
  double relative = getRelativeBound(scale->terms, model);
  double unit = ::blocksparse::unitRoundoff(type);
  double tiny = ::blocksparse::smallestPositive(type) / 2 + scale->terms * std::ldexp(1.0, -126);
  return zipTensors(tensor, scale->magnitude, [&](double x, double magnitude) {
    double bound = (magnitude == 0 ? 0 : relative * magnitude) + unit * std::fabs(x) + tiny;
    return std::isnan(bound) ? 0 : bound;
  });
}

ReferenceValue ReferenceValue::getMagnitude() const {
  ReferenceValue result = *this;
  if (::blocksparse::isFloatType(tensor.type()))
    result.tensor = mapTensor(tensor, [](double x) { return std::fabs(x); });
  return result;
}

ReferenceValue ReferenceValue::getUpperMagnitude() const {
  if (isExact() || !::blocksparse::isFloatType(tensor.type()))
    return getMagnitude();
  ReferenceValue result = *this;
  result.tensor =
      zipTensors(tensor, getErrorBound(), [](double x, double e) { return std::fabs(x) + e; });
  return result;
}

double ReferenceValue::getRange() const {
  return scale ? scale->getRange() : largestMagnitude(tensor);
}

void ReferenceValue::addError(const HostTensor &error) {
  double range = getRange();
  if (!scale)
    scale.emplace();
  scale->range = range;
  if (scale->magnitude.numElements() != tensor.numElements())
    scale->magnitude = mapTensor(tensor, [](double) { return 0.0; });
  double relative = getRelativeBound(scale->terms, model);
  scale->magnitude = zipTensors(scale->magnitude, error, [&](double magnitude, double e) {
    return e > 0 ? magnitude + e / relative : magnitude;
  });
}

void ReferenceValue::markUnspecified(bool padding) {
  bool batched = tensor.rank() == 4;
  int64_t batches = batched ? tensor.dim(0) : 1, marked = 0;
  HostTensor marks = HostTensor::zeros(ElementType::i8, tensor.shape());
  for (int64_t batch = 0; batch < batches; ++batch) {
    HostTensor blocks = batched ? marks.select(0, batch) : marks;
    blocks.fill(1);
    marked += blocks.dim(0);
    for (int64_t head = 0; head < pattern->grid().heads; ++head)
      for (const ::blocksparse::ref::Pattern::Entry &entry : pattern->entries(batch, head)) {
        HostTensor block = blocks.select(0, entry.value);
        int64_t rowsInside = rows - entry.row * block.dim(0);
        int64_t colsInside = cols - entry.col * block.dim(1);
        block.fill(0);
        --marked;
        if (!padding || (rowsInside >= block.dim(0) && colsInside >= block.dim(1)))
          continue;
        ++marked;
        block.fill(1);
        block.slice(0, 0, std::min(rowsInside, block.dim(0)))
            .slice(1, 0, std::min(colsInside, block.dim(1)))
            .fill(0);
      }
  }
  if (unspecified)
    marks = zipTensors(marks, *unspecified, [](double a, double b) {
              return a != 0 || b != 0;
            }).cast(ElementType::i8);
  else if (!marked)
    return;
  unspecified = marks;
}

void ReferenceValue::copyPattern(const ReferenceValue &other) {
  pattern = other.pattern;
  rows = other.rows;
  cols = other.cols;
  crowIndices = other.crowIndices;
  colIndices = other.colIndices;
}
