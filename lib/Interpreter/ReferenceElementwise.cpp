// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Evaluates operations of the arith and math dialects on tensors, element by element.

#include "ReferenceElementwise.h"
#include "ElementAccess.h"
#include "blocksparse/Execution/HostProgram.h"

#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;
using namespace mlir::blocksparse;

bool mlir::blocksparse::isElementwiseOnTensors(Operation *op) {
  return OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() == 1 &&
         isa<RankedTensorType>(op->getResult(0).getType());
}

FailureOr<ReferenceValue> mlir::blocksparse::evaluateElementwise(Operation *op,
                                                                 ReferenceLookup lookup) {
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  if (!isKnownElement(element))
    return op->emitOpError("expects element types that the reference knows, but got ") << element;
  ScalarRule rule = getScalarRule(op);
  if (!rule)
    return op->emitOpError("expects an operation that the reference knows, but got ")
           << op->getName();
  std::vector<ElementReader> operands;
  const ReferenceValue *shape = nullptr, *sparse = nullptr;
  bool isExact = isExactOperation(op);
  double range = 0;
  for (Value operand : op->getOperands()) {
    const ReferenceValue &value = lookup(operand);
    if (!shape || value.tensor.rank() > shape->tensor.rank())
      shape = &value;
    if (!sparse && value.pattern)
      sparse = &value;
    operands.emplace_back(value);
    isExact &= operands.back().isExact();
    range = std::fmax(range, value.getRange());
  }
  ElementWriter result(element, shape->tensor.shape());
  SmallVector<Number> at(operands.size());
  for (int64_t i = 0; i < result.size(); ++i) {
    for (auto [number, operand] : llvm::zip_equal(at, operands))
      number = operand.get(i);
    result[i] = rule(at);
    if (isa<FloatType>(element))
      overflow(result[i], *getHostElementType(element));
  }
  ReferenceValue value = result.finish(isExact, range);
  if (sparse)
    value.copyPattern(*sparse);
  return value;
}
