// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ElementBody.h"
#include "blocksparse/Execution/HostProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::ElementType;

/// Returns true if the reference executes an operation of a body.
static bool isKnownInBody(Operation *op) {
  if (isa<linalg::IndexOp, arith::ConstantOp, linalg::YieldOp, tensor::YieldOp>(op))
    return true;
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return isKnownElement(extract.getType());
  return op->getNumResults() == 1 && op->getNumRegions() == 0 &&
         isKnownElement(op->getResult(0).getType()) && getScalarRule(op);
}

bool ElementBody::isKnown(Block &block) {
  return llvm::all_of(block, [](Operation &op) { return isKnownInBody(&op); });
}

static Number toNumber(Attribute attribute) {
  Number number;
  if (auto value = dyn_cast<FloatAttr>(attribute))
    number.x = value.getValueAsDouble();
  else if (auto value = dyn_cast<IntegerAttr>(attribute))
    number.n = value.getType().isInteger(1) ? value.getValue().getZExtValue()
                                            : value.getValue().getSExtValue();
  return number;
}

unsigned ElementBody::getNumber(Value value, ReferenceLookup lookup) {
  auto [place, isNew] = places.try_emplace(value, numbers.size());
  if (isNew)
    numbers.push_back(ElementReader(lookup(value)).get(0));
  return place->second;
}

void ElementBody::addStep(Operation &op, ReferenceLookup lookup, unsigned inputs) {
  Step step{&op, getScalarRule(&op), {}, 0, {}, {}};
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    sources.try_emplace(&op, lookup(extract.getTensor()));
    for (Value index : extract.getIndices())
      step.operands.push_back(getNumber(index, lookup));
  } else {
    for (Value operand : op.getOperands())
      step.operands.push_back(getNumber(operand, lookup));
  }
  Value result = op.getResult(0);
  if (isa<FloatType>(result.getType()))
    step.floatType = getHostElementType(result.getType());
  if (isa<arith::AddFOp>(op)) {
    for (OpOperand &operand : op.getOpOperands()) {
      auto argument = dyn_cast<BlockArgument>(operand.get());
      if (!argument || argument.getOwner() != op.getBlock() || argument.getArgNumber() < inputs)
        continue;
      step.accumulator = operand.getOperandNumber();
      step.output = argument.getArgNumber() - inputs;
    }
  }
  step.result = numbers.size();
  places[result] = numbers.size();
  numbers.emplace_back();
  steps.push_back(std::move(step));
}

FailureOr<ElementBody> ElementBody::create(Block &block, unsigned inputs, ReferenceLookup lookup) {
  ElementBody body;
  unsigned arguments = block.getNumArguments();
  for (BlockArgument argument : block.getArguments()) {
    body.places[argument] = body.numbers.size();
    body.numbers.emplace_back();
  }
  for (Operation &inner : block.without_terminator()) {
    if (!isKnownInBody(&inner))
      return inner.emitOpError("expects an operation that the reference knows, but got ")
             << inner.getName();
    if (auto constant = dyn_cast<arith::ConstantOp>(inner)) {
      body.places[constant.getResult()] = body.numbers.size();
      body.numbers.push_back(toNumber(constant.getValue()));
      continue;
    }
    body.addStep(inner, lookup, inputs);
  }
  for (Value value : block.getTerminator()->getOperands())
    body.yielded.push_back(body.getNumber(value, lookup));
  body.sums.resize(arguments > inputs ? arguments - inputs : 0);
  return body;
}

Number ElementBody::extract(const Step &step) const {
  const ElementReader &source = sources.find(step.op)->second;
  int64_t index = 0;
  Number unknown;
  unknown.any = true;
  for (auto [operand, extent] : llvm::zip_equal(step.operands, source.shape())) {
    const Number &at = numbers[operand];
    if (at.any || at.n < 0 || at.n >= extent)
      return unknown;
    index = index * extent + at.n;
  }
  return source.get(index);
}

/// Bounds the error of a sum after one more term. Each step of a sum, in any order, rounds a number
/// of at most the sum of all magnitudes (Higham, section 3.1).
void ElementBody::addTerm(const Step &step, Numbers operands, double u) {
  const Number &before = operands[*step.accumulator], &term = operands[1 - *step.accumulator];
  Number &result = numbers[step.result];
  double &sum = sums[step.output];
  if (sum == 0)
    sum = std::fabs(before.x) + before.error;
  sum += std::fabs(term.x) + term.error;
  if (std::isfinite(result.x))
    result.error = before.error + term.error + u * sum;
}

void ElementBody::run(ArrayRef<int64_t> point) {
  SmallVector<Number> operands;
  for (const Step &step : steps) {
    Number &result = numbers[step.result];
    if (auto index = dyn_cast<linalg::IndexOp>(step.op)) {
      result.n = point[index.getDim()];
      continue;
    }
    if (isa<tensor::ExtractOp>(step.op)) {
      result = extract(step);
      continue;
    }
    operands.clear();
    for (unsigned operand : step.operands)
      operands.push_back(numbers[operand]);
    result = step.rule(operands);
    if (!step.floatType)
      continue;
    const bool isNarrow =
        *step.floatType != ElementType::f32 && *step.floatType != ElementType::f64;
    const double u = ::blocksparse::unitRoundoff(*step.floatType);
    if (step.accumulator)
      addTerm(step, operands, u);
    else if (isNarrow && !isExactOperation(step.op) && std::isfinite(result.x))
      result.error += u * std::fabs(result.x);
    overflow(result, *step.floatType);
  }
}
