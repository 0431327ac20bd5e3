// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Evaluates structured operations of linalg: the body at each point of the loops.

#include "ReferenceLinalg.h"
#include "ElementAccess.h"
#include "ElementBody.h"

#include <cmath>

using namespace mlir;
using namespace mlir::blocksparse;

namespace {

/// Gives the row-major index of an element for a point of the loops.
class ElementIndex {
public:
  ElementIndex(AffineMap map, std::span<const int64_t> shape);

  int64_t get(ArrayRef<int64_t> point) const;

private:
  AffineMap map;
  SmallVector<int64_t> strides;
  /// The factor of each loop's index, and the sum at index 0; used if the map is linear.
  SmallVector<int64_t> factors;
  int64_t origin = 0;
  bool isLinear;
};

} // namespace

static bool isLinearExpression(AffineExpr expr) {
  auto isLinear = [](AffineExpr inner) {
    auto kind = inner.getKind();
    const bool jumps = kind == AffineExprKind::FloorDiv || kind == AffineExprKind::CeilDiv ||
                       kind == AffineExprKind::Mod;
    return jumps ? WalkResult::interrupt() : WalkResult::advance();
  };
  return !expr.walk(isLinear).wasInterrupted();
}

/// Returns the row-major index of the element that `map` gives for a point.
static int64_t locate(AffineMap map, ArrayRef<int64_t> strides, ArrayRef<int64_t> point) {
  int64_t index = 0;
  for (auto [at, stride] : llvm::zip_equal(map.compose(point), strides))
    index += at * stride;
  return index;
}

ElementIndex::ElementIndex(AffineMap map, std::span<const int64_t> shape)
    : map(map), strides(shape.size(), 1), factors(map.getNumDims()),
      isLinear(llvm::all_of(map.getResults(), isLinearExpression)) {
  for (size_t axis = shape.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * shape[axis];
  if (!isLinear)
    return;
  SmallVector<int64_t> point(map.getNumDims(), 0);
  origin = locate(map, strides, point);
  for (auto [loop, factor] : llvm::enumerate(factors)) {
    point[loop] = 1;
    factor = locate(map, strides, point) - origin;
    point[loop] = 0;
  }
}

int64_t ElementIndex::get(ArrayRef<int64_t> point) const {
  if (!isLinear)
    return locate(map, strides, point);
  int64_t index = origin;
  for (auto [at, factor] : llvm::zip_equal(point, factors))
    index += at * factor;
  return index;
}

bool mlir::blocksparse::isKnownStructured(linalg::LinalgOp op) {
  return op.hasPureTensorSemantics() && op.getShapesToLoopsMap() &&
         ElementBody::isKnown(*op.getBlock());
}

static SmallVector<int64_t> getExtents(linalg::LinalgOp op, ReferenceLookup lookup) {
  SmallVector<int64_t> sizes;
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()))
      llvm::append_range(sizes, lookup(operand).tensor.shape());
  return op.getShapesToLoopsMap().compose(sizes);
}

/// Goes to the next point of the loops, the last loop first; returns false after the last point.
static bool advance(SmallVectorImpl<int64_t> &point, ArrayRef<int64_t> extents) {
  for (size_t loop = extents.size(); loop-- > 0;) {
    if (++point[loop] < extents[loop])
      return true;
    point[loop] = 0;
  }
  return false;
}

FailureOr<std::vector<ReferenceValue>>
mlir::blocksparse::evaluateStructured(linalg::LinalgOp op, ReferenceLookup lookup) {
  if (!op.hasPureTensorSemantics() || !op.getShapesToLoopsMap())
    return op.emitOpError("expects tensors whose shapes tell the loops to be checked");
  FailureOr<ElementBody> body = ElementBody::create(*op.getBlock(), op.getNumDpsInputs(), lookup);
  if (failed(body))
    return failure();
  std::vector<ElementReader> operands;
  std::vector<ElementIndex> indices;
  std::vector<ElementWriter> outputs;
  std::vector<std::vector<double>> sums;
  double range = 0;
  for (OpOperand &operand : op->getOpOperands()) {
    const ReferenceValue &value = lookup(operand.get());
    AffineMap map = op.getMatchingIndexingMap(&operand);
    operands.emplace_back(value);
    indices.emplace_back(map,
                         map.getNumResults() ? value.tensor.shape() : std::span<const int64_t>());
    if (!op.isDpsInit(&operand) || op.payloadUsesValueFromOperand(&operand))
      range = std::fmax(range, value.getRange());
    if (!op.isDpsInit(&operand))
      continue;
    Type element = getElementTypeOrSelf(operand.get().getType());
    if (!isKnownElement(element))
      return op.emitOpError("expects element types that the reference knows, but got ") << element;
    ElementWriter &output = outputs.emplace_back(element, value.tensor.shape());
    for (int64_t i = 0; i < output.size(); ++i)
      output[i] = operands.back().get(i);
    sums.emplace_back(output.size(), 0.0);
  }
  const size_t inputs = op.getNumDpsInputs();
  SmallVector<int64_t> extents = getExtents(op, lookup), point(extents.size(), 0);
  bool more = !llvm::is_contained(extents, 0);
  for (; more; more = advance(point, extents)) {
    for (size_t i = 0; i < inputs; ++i)
      body->numbers[i] = operands[i].get(indices[i].get(point));
    for (auto [i, output] : llvm::enumerate(outputs)) {
      int64_t at = indices[inputs + i].get(point);
      body->numbers[inputs + i] = output[at];
      body->sums[i] = sums[i][at];
    }
    body->run(point);
    for (auto [i, output] : llvm::enumerate(outputs)) {
      int64_t at = indices[inputs + i].get(point);
      output[at] = body->numbers[body->yielded[i]];
      sums[i][at] = body->sums[i];
    }
  }
  std::vector<ReferenceValue> results;
  for (const ElementWriter &output : outputs)
    results.push_back(output.finish(/*isExact=*/false, range));
  return results;
}
