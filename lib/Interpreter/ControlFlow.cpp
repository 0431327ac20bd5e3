// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Evaluates the loops and choices of scf.

#include "Interpreter.h"
#include "ReferenceTensors.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blocksparse;

LogicalResult Interpreter::evaluateLoop(scf::ForOp op) {
  FailureOr<int64_t> from = getNumber(op.getLowerBound(), op),
                     to = getNumber(op.getUpperBound(), op), step = getNumber(op.getStep(), op);
  FailureOr<Bounds> carried = get(op.getInitArgs(), op);
  if (failed(from) || failed(to) || failed(step) || failed(carried))
    return failure();
  if (*step < 1)
    return op.emitOpError("expects a step of at least 1, but got ") << *step;
  Type type = op.getInductionVar().getType();
  for (int64_t i = *from; i < *to; i += *step) {
    Bounds arguments{Bound{std::nullopt, IntegerAttr::get(type, i)}};
    arguments.insert(arguments.end(), carried->begin(), carried->end());
    FailureOr<Operation *> yielded = runRegion(op.getRegion(), arguments);
    if (failed(yielded))
      return failure();
    carried = get((*yielded)->getOperands(), *yielded);
    if (failed(carried))
      return failure();
  }
  defineAll(*op, *carried);
  return success();
}

LogicalResult Interpreter::evaluateLoop(scf::WhileOp op) {
  FailureOr<Bounds> carried = get(op.getInits(), op);
  while (succeeded(carried)) {
    FailureOr<Operation *> before = runRegion(op.getBefore(), *carried);
    if (failed(before))
      return failure();
    auto condition = cast<scf::ConditionOp>(*before);
    FailureOr<int64_t> goesOn = getNumber(condition.getCondition(), condition);
    if (failed(goesOn))
      return failure();
    FailureOr<Bounds> passed = get(condition.getArgs(), condition);
    if (failed(passed))
      return failure();
    if (!*goesOn) {
      defineAll(*op, *passed);
      return success();
    }
    FailureOr<Operation *> after = runRegion(op.getAfter(), *passed);
    if (failed(after))
      return failure();
    carried = get((*after)->getOperands(), *after);
  }
  return failure();
}

FailureOr<SmallVector<int64_t>> Interpreter::getNumbers(ArrayRef<OpFoldResult> mixed,
                                                        Operation *user) {
  SmallVector<int64_t> numbers;
  for (OpFoldResult each : mixed) {
    std::optional<int64_t> constant = getConstantIntValue(each);
    FailureOr<int64_t> number = constant ? *constant : getNumber(cast<Value>(each), user);
    if (failed(number))
      return failure();
    numbers.push_back(*number);
  }
  return numbers;
}

LogicalResult Interpreter::insertResults(scf::InParallelOp op, Bounds &results) {
  auto loop = cast<scf::ForallOp>(op->getParentOp());
  for (Operation &each : op.getRegion().front()) {
    auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(each);
    if (!insert)
      return each.emitOpError("expects an operation that the reference knows, but got ")
             << each.getName();
    auto shared = cast<BlockArgument>(insert.getDest());
    Bound &result = results[shared.getArgNumber() - loop.getRank()];
    FailureOr<Bound> source = get(insert.getSource(), &each);
    if (failed(source))
      return failure();
    FailureOr<ReferenceValue> inserted = evaluateParallelInsert(
        insert, *result.tensor, [&](Value) -> const ReferenceValue & { return *source->tensor; },
        [&](Value value) { return getNumber(value, &each); });
    if (failed(inserted))
      return failure();
    result.tensor = *inserted;
  }
  return success();
}

LogicalResult Interpreter::evaluateLoop(scf::ForallOp op) {
  FailureOr<SmallVector<int64_t>> from = getNumbers(op.getMixedLowerBound(), op),
                                  to = getNumbers(op.getMixedUpperBound(), op),
                                  step = getNumbers(op.getMixedStep(), op);
  FailureOr<Bounds> shared = get(op.getOutputs(), op);
  if (failed(from) || failed(to) || failed(step) || failed(shared))
    return failure();
  int64_t count = 1;
  SmallVector<int64_t> sizes;
  for (auto [first, end, by] : llvm::zip_equal(*from, *to, *step)) {
    if (by < 1)
      return op.emitOpError("expects a step of at least 1, but got ") << by;
    sizes.push_back(first < end ? llvm::divideCeil(end - first, by) : 0);
    if (llvm::MulOverflow(count, sizes.back(), count) || count > mostSteps)
      return op.emitOpError("expects at most ")
             << mostSteps << " iterations to be executed by the reference, but got more";
  }
  Bounds results = *shared;
  Type type = IndexType::get(op.getContext());
  for (int64_t iteration = 0; iteration < count; ++iteration) {
    // Every iteration reads the tensors as they were before the loop. The last index runs fastest.
    Bounds arguments(sizes.size());
    int64_t rest = iteration;
    for (size_t axis = sizes.size(); axis-- > 0; rest /= sizes[axis])
      arguments[axis].scalar =
          IntegerAttr::get(type, (*from)[axis] + rest % sizes[axis] * (*step)[axis]);
    arguments.insert(arguments.end(), shared->begin(), shared->end());
    FailureOr<Operation *> last = runRegion(op.getRegion(), arguments);
    if (failed(last) || failed(insertResults(cast<scf::InParallelOp>(*last), results)))
      return failure();
  }
  defineAll(*op, results);
  return success();
}

LogicalResult Interpreter::evaluateChoice(scf::IfOp op) {
  FailureOr<int64_t> condition = getNumber(op.getCondition(), op);
  if (failed(condition))
    return failure();
  Region &region = *condition ? op.getThenRegion() : op.getElseRegion();
  if (region.empty())
    return success();
  FailureOr<Operation *> yielded = runRegion(region, {});
  if (failed(yielded))
    return failure();
  FailureOr<Bounds> results = get((*yielded)->getOperands(), *yielded);
  if (failed(results))
    return failure();
  defineAll(*op, *results);
  return success();
}
