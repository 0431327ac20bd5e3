// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Interpreter.h"
#include "../Execution/AttributeTensor.h"
#include "../Execution/HostMemory.h"
#include "ReferenceElementwise.h"
#include "ReferenceLinalg.h"
#include "ReferenceOps.h"
#include "ReferenceSparseTensors.h"
#include "ReferenceTensors.h"
#include "blocksparse/IR/BlockSparseDialect.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/IR/SparseTensor.h"
#include "blocksparse/Interpreter/ReferenceInterpreter.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::HostTensor;

/// Returns the number that an argument holds in a tensor of one element.
static Attribute toNumber(const ReferenceValue &argument, Type type) {
  if (isa<FloatType>(type))
    return FloatAttr::get(type, argument.tensor.at({}));
  return IntegerAttr::get(type, argument.tensor.intAt({}));
}

FailureOr<std::vector<ReferenceValue>> Interpreter::run(func::FuncOp function,
                                                        ArrayRef<ReferenceValue> arguments) {
  Bounds bounds;
  for (auto [argument, type] : llvm::zip_equal(arguments, function.getArgumentTypes()))
    bounds.push_back(isa<ShapedType>(type) ? Bound{argument, {}}
                                           : Bound{std::nullopt, toNumber(argument, type)});
  FailureOr<Bounds> returned = runFunction(function, bounds);
  if (failed(returned))
    return failure();
  std::vector<ReferenceValue> results;
  for (const Bound &bound : *returned)
    results.push_back(*bound.tensor);
  return results;
}

FailureOr<Interpreter::Bounds> Interpreter::runFunction(func::FuncOp function,
                                                        ArrayRef<Bound> arguments) {
  FailureOr<OverflowMode> chosen = getOverflowMode(function);
  if (failed(chosen))
    return failure();
  // The attribute of the function that a caller sees counts: calls are inlined.
  if (!overflow)
    overflow = *chosen;
  FailureOr<Operation *> returned = runRegion(function.getBody(), arguments);
  if (failed(returned))
    return failure();
  return get((*returned)->getOperands(), *returned);
}

FailureOr<Operation *> Interpreter::runRegion(Region &region, ArrayRef<Bound> arguments) {
  Block *block = &region.front();
  Bounds bounds(arguments.begin(), arguments.end());
  for (;;) {
    if (++steps > mostSteps)
      return block->getParentOp()->emitOpError("expects at most ")
             << mostSteps << " blocks to be executed by the reference, but got more";
    for (auto [argument, bound] : llvm::zip_equal(block->getArguments(), bounds))
      set(argument, bound);
    for (Operation &op : block->without_terminator())
      if (failed(evaluate(op)))
        return failure();
    Operation *terminator = block->getTerminator();
    Block *next = nullptr;
    ValueRange passed;
    if (auto branch = dyn_cast<cf::BranchOp>(terminator)) {
      next = branch.getDest();
      passed = branch.getDestOperands();
    } else if (auto branch = dyn_cast<cf::CondBranchOp>(terminator)) {
      FailureOr<int64_t> condition = getNumber(branch.getCondition(), branch);
      if (failed(condition))
        return failure();
      next = *condition ? branch.getTrueDest() : branch.getFalseDest();
      passed = *condition ? branch.getTrueDestOperands() : branch.getFalseDestOperands();
    } else if (terminator->getNumSuccessors() != 0) {
      return terminator->emitOpError("expects an operation that the reference knows, but got ")
             << terminator->getName();
    } else {
      return terminator;
    }
    FailureOr<Bounds> operands = get(passed, terminator);
    if (failed(operands))
      return failure();
    bounds = *operands;
    block = next;
  }
}

FailureOr<Interpreter::Bound> Interpreter::get(Value value, Operation *user) {
  if (auto tensor = values.find(value); tensor != values.end())
    return Bound{tensor->second, {}};
  if (Attribute scalar = scalars.lookup(value))
    return Bound{std::nullopt, scalar};
  return user->emitOpError("expects operands that the reference knows, but got ")
         << value.getType();
}

FailureOr<Interpreter::Bounds> Interpreter::get(ValueRange range, Operation *user) {
  Bounds bounds;
  for (Value value : range) {
    FailureOr<Bound> bound = get(value, user);
    if (failed(bound))
      return failure();
    bounds.push_back(std::move(*bound));
  }
  return bounds;
}

/// Returns an integer that is known; i1 is 0 or 1.
FailureOr<int64_t> Interpreter::getNumber(Value value, Operation *user) {
  auto number = dyn_cast_or_null<IntegerAttr>(scalars.lookup(value));
  if (!number && values.contains(value))
    return user->emitOpError("expects a number that rounding cannot change, but got ")
           << value.getType() << ", which depends on a comparison within the error bound";
  if (!number)
    return user->emitOpError("expects an integer that the reference knows, but got ")
           << value.getType();
  return value.getType().isInteger(1) ? static_cast<int64_t>(number.getValue().getZExtValue())
                                      : number.getValue().getSExtValue();
}

void Interpreter::set(Value value, const Bound &bound) {
  if (bound.tensor)
    values[value] = *bound.tensor;
  else
    scalars[value] = bound.scalar;
}

void Interpreter::define(Value result, ReferenceValue value) {
  if (!isa<ShapedType>(result.getType())) {
    // Integers are exact, and may count loops.
    if (!isa<FloatType>(result.getType()) && !value.unspecified)
      scalars[result] = IntegerAttr::get(result.getType(), value.tensor.intAt({}));
    else
      values[result] = std::move(value);
    return;
  }
  if (observer)
    observer(result, value);
  values[result] = std::move(value);
}

void Interpreter::defineAll(Operation &op, ArrayRef<Bound> bounds) {
  for (auto [result, bound] : llvm::zip_equal(op.getResults(), bounds)) {
    if (bound.tensor)
      define(result, *bound.tensor);
    else
      scalars[result] = bound.scalar;
  }
}

LogicalResult Interpreter::evaluateExtent(tensor::DimOp op) {
  FailureOr<Bound> source = get(op.getSource(), op);
  FailureOr<int64_t> axis = getNumber(op.getIndex(), op);
  if (failed(source) || failed(axis))
    return failure();
  if (isSparseTensor(op.getSource().getType()) || !source->tensor || *axis < 0 ||
      *axis >= source->tensor->tensor.rank())
    return op.emitOpError("expects an axis of a dense tensor to be checked, but got ") << *axis;
  scalars[op.getResult()] = IntegerAttr::get(op.getType(), source->tensor->tensor.dim(*axis));
  return success();
}

/// Evaluates an operation on numbers: by its fold where all are known exactly.
LogicalResult Interpreter::evaluateScalar(Operation &op) {
  SmallVector<Attribute> operands;
  for (Value operand : op.getOperands())
    operands.push_back(scalars.lookup(operand));
  SmallVector<OpFoldResult> folded;
  if (!llvm::all_of(operands, [](Attribute known) { return known != nullptr; }) ||
      failed(op.fold(operands, folded)) || folded.size() != op.getNumResults())
    return evaluateElements(op);
  for (auto [result, value] : llvm::zip_equal(op.getResults(), folded)) {
    auto known = dyn_cast<Attribute>(value);
    scalars[result] = known ? known : scalars.lookup(cast<Value>(value));
  }
  return success();
}

FailureOr<Interpreter::Operands> Interpreter::getOperands(Operation &op) {
  llvm::SetVector<Value> used(op.operand_begin(), op.operand_end());
  getUsedValuesDefinedAbove(op.getRegions(), used);
  Operands operands;
  for (Value operand : used) {
    FailureOr<Bound> bound = get(operand, &op);
    if (failed(bound))
      return failure();
    if (bound->tensor) {
      operands[operand] = *bound->tensor;
      continue;
    }
    auto number = dyn_cast<FloatAttr>(bound->scalar);
    ReferenceValue value;
    value.type = number ? ::blocksparse::ElementType::f64 : ::blocksparse::ElementType::i64;
    value.tensor = HostTensor::zeros(value.type, {});
    if (number) {
      value.tensor.fill(number.getValueAsDouble());
    } else {
      FailureOr<int64_t> integer = getNumber(operand, &op);
      if (failed(integer))
        return failure();
      *value.tensor.dataAs<int64_t>() = *integer;
    }
    operands[operand] = value;
  }
  return operands;
}

LogicalResult Interpreter::evaluateElements(Operation &op) {
  return evaluateWith(op, [&](ReferenceLookup lookup) -> FailureOr<std::vector<ReferenceValue>> {
    FailureOr<ReferenceValue> result = evaluateElementwise(&op, lookup);
    if (failed(result))
      return failure();
    return std::vector{std::move(*result)};
  });
}

LogicalResult Interpreter::evaluateWith(
    Operation &op,
    llvm::function_ref<FailureOr<std::vector<ReferenceValue>>(ReferenceLookup)> evaluate) {
  FailureOr<Operands> operands = getOperands(op);
  if (failed(operands))
    return failure();
  FailureOr<std::vector<ReferenceValue>> results = evaluate(
      [&](Value value) -> const ReferenceValue & { return operands->find(value)->second; });
  if (failed(results))
    return failure();
  for (auto [result, value] : llvm::zip_equal(op.getResults(), *results))
    define(result, std::move(value));
  return success();
}

LogicalResult
Interpreter::evaluateParts(Operation &op,
                           llvm::function_ref<FailureOr<SmallVector<Value>>(OpBuilder &)> create) {
  // The parts stand before the operation while they are evaluated.
  Operation *before = op.getPrevNode();
  Block *block = op.getBlock();
  OpBuilder builder(&op);
  FailureOr<SmallVector<Value>> made = create(builder);
  LogicalResult done = made;
  Observer outside = std::exchange(observer, Observer());
  Block::iterator first = before ? std::next(before->getIterator()) : block->begin();
  for (Operation &part : llvm::make_range(first, op.getIterator()))
    if (succeeded(done))
      done = evaluate(part);
  observer = outside;
  if (succeeded(done)) {
    FailureOr<Bounds> results = get(*made, &op);
    done = results;
    if (succeeded(results)) {
      // The program computes the padding of edge blocks like their elements.
      for (Bound &result : *results)
        if (result.tensor && result.tensor->pattern)
          result.tensor->markUnspecified(/*padding=*/true);
      defineAll(op, *results);
    }
  }
  for (Operation *part = op.getPrevNode(); part != before; part = op.getPrevNode()) {
    for (Value result : part->getResults()) {
      values.erase(result);
      scalars.erase(result);
    }
    part->erase();
  }
  return done;
}

LogicalResult Interpreter::evaluateSparse(linalg::LinalgOp op) {
  auto isPattern = [](Value value) {
    return isSparseTensor(value.getType()) && !value.getDefiningOp<tensor::EmptyOp>();
  };
  return evaluateParts(*op, [&](OpBuilder &builder) -> FailureOr<SmallVector<Value>> {
    Location loc = op.getLoc();
    auto found = llvm::find_if(op->getOperands(), isPattern);
    if (found == op->operand_end())
      return op.emitOpError("expects a sparse operand whose pattern is known, but got none");
    Value pattern = *found, like = ToDenseOp::create(builder, loc, pattern);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      if (isPattern(operand))
        operand = ToDenseOp::create(builder, loc, operand);
      else if (isSparseTensor(operand.getType()))
        operand = tensor::EmptyOp::create(builder, loc, tensor::getMixedSizes(builder, loc, like),
                                          getElementTypeOrSelf(operand.getType()));
      operands.push_back(operand);
    }
    SmallVector<Type> types;
    for (Type type : op->getResultTypes())
      types.push_back(cast<RankedTensorType>(type).dropEncoding());
    Operation *dense = clone(builder, op, types, operands);
    SmallVector<Value> results;
    for (auto [type, result] : llvm::zip_equal(op->getResultTypes(), dense->getResults())) {
      results.push_back(result);
      if (std::optional<SparseTensor> sparse = SparseTensor::get(type))
        results.back() = FromDenseOp::create(
            builder, loc, type, result, sparse->isStatic() ? Value() : pattern, ScheduleAttr());
    }
    return results;
  });
}

/// Fails if the machine has too little memory: the reference holds a result, its magnitudes and one
/// or two copies in f64.
static LogicalResult checkMemory(Operation &op) {
  for (Type type : op.getResultTypes()) {
    std::optional<SparseTensor> sparse = SparseTensor::get(type);
    auto tensor = sparse ? sparse->getValuesType() : dyn_cast<RankedTensorType>(type);
    double bytes = 4 * sizeof(double);
    for (int64_t extent : tensor ? tensor.getShape() : ArrayRef<int64_t>())
      bytes *= ShapedType::isDynamic(extent) ? 1 : extent;
    if (bytes > getPhysicalMemory())
      return op.emitOpError("expects a result that the reference can hold in memory, but got ")
             << type;
  }
  return success();
}

/// Returns true if an operation computes numbers alone, which the reference does by folding it.
static bool computesNumbers(Operation &op) {
  return op.getNumRegions() == 0 && op.getNumResults() > 0 &&
         llvm::none_of(op.getResultTypes(), llvm::IsaPred<ShapedType>);
}

/// Clamps the numbers of an f8 value to the range of its type; NaN stays.
static void saturate(ReferenceValue &value) {
  using ::blocksparse::ElementType;
  if (value.type != ElementType::f8E4M3FN && value.type != ElementType::f8E5M2)
    return;
  const double largest = ::blocksparse::largestFinite(value.type);
  value.tensor = mapTensor(value.tensor, [&](double x) {
    return x > largest ? largest : x < -largest ? -largest : x;
  });
}

LogicalResult Interpreter::evaluate(Operation &op) {
  if (failed(checkMemory(op)))
    return failure();
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return evaluateConstant(constant);
  if (auto call = dyn_cast<func::CallOp>(op))
    return evaluateCall(call);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return evaluateLoop(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return evaluateLoop(loop);
  if (auto loop = dyn_cast<scf::ForallOp>(op))
    return evaluateLoop(loop);
  if (auto choice = dyn_cast<scf::IfOp>(op))
    return evaluateChoice(choice);
  if (isElementwiseOnTensors(&op))
    return evaluateElements(op);
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (structured && llvm::any_of(op.getOperandTypes(), isSparseTensor))
    return evaluateSparse(structured);
  if (structured)
    return evaluateWith(
        op, [&](ReferenceLookup lookup) { return evaluateStructured(structured, lookup); });
  if (auto softmax = dyn_cast<linalg::SoftmaxOp>(op))
    return evaluateParts(op,
                         [&](OpBuilder &builder) { return softmax.decomposeOperation(builder); });
  // The operation that writes to it gives an empty sparse tensor its pattern.
  if (isa<tensor::EmptyOp>(op) && isSparseTensor(op.getResult(0).getType()))
    return success();
  if (auto extent = dyn_cast<tensor::DimOp>(op))
    return evaluateExtent(extent);
  if (isKnownSparseTensorOp(&op))
    return evaluateWith(
        op, [&](ReferenceLookup lookup) { return evaluateSparseTensorOp(&op, lookup); });
  if (isKnownTensorOp(&op))
    return evaluateWith(op, [&](ReferenceLookup lookup) -> FailureOr<std::vector<ReferenceValue>> {
      FailureOr<ReferenceValue> result =
          evaluateTensorOp(&op, lookup, [&](Value value) { return getNumber(value, &op); });
      if (failed(result))
        return failure();
      return std::vector{std::move(*result)};
    });
  if (computesNumbers(op))
    return evaluateScalar(op);
  if (!isa_and_present<BlockSparseDialect>(op.getDialect()))
    return op.emitOpError("expects an operation that the reference knows, but got ")
           << op.getName();
  // Numbers may be operands, too.
  FailureOr<Operands> operands = getOperands(op);
  if (failed(operands))
    return failure();
  FailureOr<std::vector<ReferenceValue>> results = evaluateReference(
      &op, [&](Value value) -> const ReferenceValue & { return operands->find(value)->second; });
  if (failed(results))
    return failure();
  for (auto [result, value] : llvm::zip_equal(op.getResults(), *results)) {
    if (overflow == OverflowMode::Saturate)
      saturate(value);
    define(result, std::move(value));
  }
  return success();
}

/// Returns a sparse constant, all of whose stored elements are equal. One of a dynamic pattern is
/// the one element, because the other operand of its user has the pattern.
static FailureOr<ReferenceValue> makeSplat(arith::ConstantOp op, const HostTensor &elements) {
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  SparseTensor sparse = *SparseTensor::get(op.getType());
  if (!dense || !dense.isSplat() || elements.numElements() == 0)
    return op.emitOpError("expects equal elements of a sparse constant, but got ") << op.getType();
  FailureOr<ReferenceValue> value = ReferenceValue();
  if (sparse.isStatic())
    value = makePattern(op, op.getType(), nullptr);
  if (failed(value))
    return failure();
  value->tensor = HostTensor::zeros(
      elements.type(), sparse.isStatic() ? sparse.getValuesType().getShape() : ArrayRef<int64_t>());
  const SmallVector<int64_t> first(elements.rank(), 0);
  value->tensor.fill(elements.at(first));
  return value;
}

LogicalResult Interpreter::evaluateConstant(arith::ConstantOp op) {
  if (!isa<ShapedType>(op.getType())) {
    scalars[op.getResult()] = op.getValue();
    return success();
  }
  std::string error;
  std::optional<HostTensor> tensor = tensorFromAttribute(op.getValue(), error);
  if (!tensor)
    return op.emitOpError() << error;
  ReferenceValue value;
  if (isSparseTensor(op.getType())) {
    FailureOr<ReferenceValue> sparse = makeSplat(op, *tensor);
    if (failed(sparse))
      return failure();
    value = std::move(*sparse);
  } else {
    value.tensor = *tensor;
  }
  value.type = tensor->type();
  values[op.getResult()] = value;
  return success();
}

/// Returns the function that `call` executes, or null if it has no body or calls itself.
static func::FuncOp getCallee(func::CallOp call) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
  if (!callee || callee.isDeclaration() || callee == call->getParentOfType<func::FuncOp>())
    return {};
  return callee;
}

LogicalResult Interpreter::evaluateCall(func::CallOp op) {
  func::FuncOp callee = getCallee(op);
  if (!callee)
    return op.emitOpError("expects a callee with a body that does not call itself, but got '")
           << op.getCallee() << "'";
  FailureOr<Bounds> arguments = get(op.getOperands(), op);
  if (failed(arguments))
    return failure();
  Interpreter inner;
  inner.overflow = overflow;
  FailureOr<Bounds> results = inner.runFunction(callee, *arguments);
  if (failed(results))
    return failure();
  defineAll(*op, *results);
  return success();
}

static Operation *findUnknownOperation(func::FuncOp function,
                                       SmallPtrSetImpl<Operation *> &visited) {
  if (!visited.insert(function).second)
    return nullptr;
  Operation *unknown = nullptr;
  function.getBody().walk([&](Operation *op) {
    if (auto call = dyn_cast<func::CallOp>(op)) {
      func::FuncOp callee = getCallee(call);
      unknown = callee ? findUnknownOperation(callee, visited) : op;
    } else if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
      if (isKnownStructured(structured))
        return WalkResult::skip();
      unknown = op;
    } else if (isKnownTensorOp(op) || isKnownSparseTensorOp(op)) {
      return WalkResult::skip();
    } else if (!isa<arith::ConstantOp, scf::ForOp, scf::WhileOp, scf::ForallOp, scf::InParallelOp,
                    tensor::ParallelInsertSliceOp, scf::IfOp, cf::BranchOp, cf::CondBranchOp>(op) &&
               !op->hasTrait<OpTrait::ReturnLike>() && !isa<scf::ConditionOp>(op) &&
               !isa_and_present<BlockSparseDialect>(op->getDialect()) &&
               !isElementwiseOnTensors(op) && !computesNumbers(*op) &&
               !isa<linalg::SoftmaxOp, tensor::EmptyOp>(op)) {
      unknown = op;
    }
    return unknown ? WalkResult::interrupt() : WalkResult::advance();
  });
  return unknown;
}

Operation *mlir::blocksparse::findUnknownOperation(func::FuncOp function) {
  SmallPtrSet<Operation *, 4> visited;
  return ::findUnknownOperation(function, visited);
}
