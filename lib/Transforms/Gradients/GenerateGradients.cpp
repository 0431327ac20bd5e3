// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GradientRules.h"
#include "blocksparse/IR/SparseTensor.h"
#include "blocksparse/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::blocksparse {
#define GEN_PASS_DEF_GENERATEGRADIENTSPASS
#include "blocksparse/Transforms/Passes.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;
using namespace mlir::blocksparse;

/// Returns true if a value has a gradient.
static bool isFloatTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa<FloatType>(tensor.getElementType());
}

/// Returns the bytes of a tensor; a dynamic size counts as 1. The tensor may be sparse.
static int64_t countBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return 0;
  int64_t bits = tensor.getElementType().isIndex() ? 64 : tensor.getElementTypeBitWidth();
  std::optional<SparseTensor> sparse = SparseTensor::get(tensor);
  ArrayRef<int64_t> shape = tensor.getShape();
  int64_t count = 1;
  auto multiply = [&](ArrayRef<int64_t> sizes) {
    for (int64_t size : sizes)
      count *= ShapedType::isDynamic(size) ? 1 : size;
  };
  if (sparse && sparse->isStatic()) {
    ::blocksparse::BlockShape block = sparse->getBlock();
    count = sparse->getStoredBlocks() * block.rows * block.cols;
    if (shape.size() == 4)
      multiply(shape.front());
  } else {
    multiply(shape);
  }
  return count * bits / 8;
}

/// Returns true if `op` computes a sum of products: its result is never computed again.
static bool isProduct(Operation *op) {
  return isa<SDDOp, DSDOp, DDSOp, BsrAddmmOp, SampledAddmmOp, ScatterMMOp, MatmulOp, AttentionOp,
             AttentionGradOp>(op);
}

namespace {

/// Builds the backward function of a function of one block: its arguments are those of the
/// function, its results, the values that are saved, and the cotangents of the results.
class BackwardFunction : public GradientBuilder {
public:
  BackwardFunction(func::FuncOp function, func::FuncOp backward)
      : GradientBuilder(function.getLoc(), backward.getContext()), function(function),
        backward(backward) {
    setInsertionPointToStart(&backward.getBody().front());
    for (BlockArgument argument : function.getArguments()) {
      mapping.map(argument, backward.getArgument(argument.getArgNumber()));
      if (isFloatTensor(argument.getType()))
        wanted.insert(argument);
    }
    for (Value result : getResults()) {
      Value argument = getArguments().addArgument(result.getType(), result.getLoc());
      if (!mapping.contains(result))
        mapping.map(result, argument);
    }
    for (Operation &op : function.getBody().front().without_terminator())
      for (Value result : op.getResults())
        if (isFloatTensor(result.getType()) &&
            llvm::any_of(op.getOperands(), [&](Value operand) { return isWanted(operand); }))
          wanted.insert(result);
  }

  Value getPrimal(Value value) override;
  bool isWanted(Value value) const override { return wanted.contains(value); }

  /// Adds the cotangents of everything from those of the results. Fails with an error at an
  /// operation without a rule.
  LogicalResult build();
  /// Returns the values that the function must save, in the order of the arguments.
  ArrayRef<Value> getSaved() const { return saved; }

private:
  /// Returns the bytes that must be saved to have `value`.
  int64_t getCost(Value value) const;
  /// Returns the bytes that must be saved to compute the results of `op` again; none if they are
  /// not to be.
  std::optional<int64_t> getCostOfOperands(Operation *op) const;

  /// Returns the results of the function.
  OperandRange getResults() { return function.getBody().front().getTerminator()->getOperands(); }
  /// Returns the block that has the arguments of the backward function.
  Block &getArguments() { return backward.getBody().front(); }

  func::FuncOp function, backward;
  IRMapping mapping;
  DenseSet<Value> wanted;
  SmallVector<Value> saved;
};

} // namespace

std::optional<int64_t> BackwardFunction::getCostOfOperands(Operation *op) const {
  if (isProduct(op) || op->getNumRegions() != 0 || !isPure(op))
    return std::nullopt;
  int64_t cost = 0;
  for (Value operand : op->getOperands())
    cost += getCost(operand);
  return cost;
}

int64_t BackwardFunction::getCost(Value value) const {
  if (mapping.contains(value))
    return 0;
  int64_t own = countBytes(value.getType());
  std::optional<int64_t> again = getCostOfOperands(value.getDefiningOp());
  return again ? std::min(own, *again) : own;
}

Value BackwardFunction::getPrimal(Value value) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  std::optional<int64_t> again = getCostOfOperands(op);
  if (again && (*again == 0 || *again < countBytes(value.getType()))) {
    for (Value operand : op->getOperands())
      getPrimal(operand);
    clone(*op, mapping);
    return mapping.lookup(value);
  }
  size_t index = function.getNumArguments() + function.getNumResults() + saved.size();
  Value argument =
      getArguments().insertArgument(static_cast<unsigned>(index), value.getType(), value.getLoc());
  saved.push_back(value);
  mapping.map(value, argument);
  return argument;
}

LogicalResult mlir::blocksparse::addGradients(Operation *op, GradientBuilder &b) {
  for (auto add : {addProductGradients, addRowGradients, addElementGradients})
    if (std::optional<LogicalResult> result = add(op, b))
      return *result;
  return op->emitError("expects an operation with a gradient, but got one without a rule");
}

LogicalResult BackwardFunction::build() {
  Block &block = function.getBody().front();
  SmallVector<Value> arguments;
  for (Value result : getResults())
    if (isFloatTensor(result.getType()))
      arguments.push_back(getArguments().addArgument(result.getType(), result.getLoc()));
  size_t next = 0;
  for (Value result : getResults()) {
    if (!isFloatTensor(result.getType()))
      continue;
    Value cotangent = arguments[next++];
    if (isWanted(result))
      addCotangent(result, cotangent);
  }
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    setLoc(op.getLoc());
    bool isUsed = llvm::any_of(
        op.getResults(), [&](Value result) { return isWanted(result) && getCotangent(result); });
    if (isUsed && failed(addGradients(&op, *this)))
      return failure();
  }

  setLoc(block.getTerminator()->getLoc());
  SmallVector<Value> gradients;
  for (BlockArgument argument : function.getArguments()) {
    if (!isWanted(argument))
      continue;
    Value gradient = getCotangent(argument);
    gradients.push_back(gradient ? gradient : createZeros(*this, mapping.lookup(argument)));
  }
  func::ReturnOp::create(*this, gradients);
  backward.setFunctionType(
      getFunctionType(getArguments().getArgumentTypes(), ValueRange(gradients).getTypes()));
  return success();
}

/// Creates a function named `name` behind `function`, with an empty body that has its arguments.
static func::FuncOp createBehind(func::FuncOp function, const Twine &name) {
  OpBuilder builder(function->getContext());
  builder.setInsertionPointAfter(function);
  auto created = func::FuncOp::create(builder, function.getLoc(), name.str(),
                                      builder.getFunctionType(function.getArgumentTypes(), {}));
  created.addEntryBlock();
  return created;
}

/// Creates the function that returns, behind the results of `function`, what is saved.
static void createForward(func::FuncOp function, ArrayRef<Value> saved) {
  func::FuncOp forward = createBehind(function, function.getName() + "_forward");
  IRMapping mapping;
  mapping.map(function.getArguments(), forward.getArguments());
  OpBuilder builder(function->getContext());
  builder.setInsertionPointToStart(&forward.getBody().front());
  Block &block = function.getBody().front();
  for (Operation &op : block.without_terminator())
    builder.clone(op, mapping);
  SmallVector<Value> results;
  for (Value result : block.getTerminator()->getOperands())
    results.push_back(mapping.lookup(result));
  for (Value value : saved)
    results.push_back(mapping.lookup(value));
  func::ReturnOp::create(builder, block.getTerminator()->getLoc(), results);
  forward.setFunctionType(
      builder.getFunctionType(function.getArgumentTypes(), ValueRange(results).getTypes()));
}

/// Creates the forward and the backward function of `function`.
static LogicalResult differentiate(func::FuncOp function) {
  if (function.isExternal() || !function.getBody().hasOneBlock())
    return function.emitError("expects a function with one block, to differentiate it, but got ")
           << (function.isExternal() ? "a declaration" : "several");
  for (const char *suffix : {"_forward", "_backward"})
    if (SymbolTable::lookupNearestSymbolFrom(
            function, StringAttr::get(function.getContext(), function.getName() + suffix)))
      return function.emitError("expects no function named ")
             << function.getName() << suffix << ", but got one";
  func::FuncOp backward = createBehind(function, function.getName() + "_backward");
  BackwardFunction builder(function, backward);
  if (failed(builder.build()))
    return failure();
  createForward(function, builder.getSaved());
  return success();
}

namespace {
struct GenerateGradients : mlir::blocksparse::impl::GenerateGradientsPassBase<GenerateGradients> {
  using GenerateGradientsPassBase::GenerateGradientsPassBase;

  void runOnOperation() override {
    SmallVector<func::FuncOp> chosen;
    for (const std::string &name : functions) {
      auto function = getOperation().lookupSymbol<func::FuncOp>(name);
      if (!function) {
        getOperation().emitError("expects functions that exist, but got '") << name << "'";
        return signalPassFailure();
      }
      chosen.push_back(function);
    }
    for (func::FuncOp function : chosen)
      if (failed(differentiate(function)))
        return signalPassFailure();
  }
};
} // namespace
