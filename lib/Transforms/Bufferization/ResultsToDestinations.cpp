// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Transforms/BufferizableOpInterfaceImpl.h"
#include "blocksparse/Transforms/Bufferization/Passes.h"

#include "LoopExtents.h"

#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::blocksparse {
#define GEN_PASS_DEF_RESULTSTODESTINATIONSPASS
#include "blocksparse/Transforms/Bufferization/Passes.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;
using namespace mlir::blocksparse;

static void protectArguments(func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (isa<TensorType>(function.getArgument(i).getType()))
      function.setArgAttr(i, bufferization::BufferizationDialect::kWritableAttrName,
                          BoolAttr::get(function.getContext(), false));
}

/// Copies accumulators that are an argument while they are tensors, because the copy can then still
/// become the caller's destination.
static void copyAccumulators(func::FuncOp function) {
  function.walk([](PlannedScatterMMOp op) {
    auto type = dyn_cast<RankedTensorType>(op.getInit().getType());
    if (!type || !isa<BlockArgument>(op.getInit()))
      return;
    OpBuilder builder(op);
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, op.getLoc(), op.getInit());
    Value empty = tensor::EmptyOp::create(builder, op.getLoc(), sizes, type.getElementType());
    Value copy = bufferization::MaterializeInDestinationOp::create(builder, op.getLoc(), type,
                                                                   op.getInit(), empty)
                     .getResult();
    op.getInitMutable().assign(copy);
  });
}

//===----------------------------------------------------------------------===//
// Sizes of destinations
//===----------------------------------------------------------------------===//

/// Asserts that `destination`, an argument of `function`, has the open sizes of `result`.
static void checkOpenSizes(OpBuilder &builder, func::FuncOp function, Value result,
                           BlockArgument destination, SmallVectorImpl<cf::AssertOp> &checks) {
  Location loc = function.getLoc();
  auto type = cast<RankedTensorType>(result.getType());
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    if (!type.isDynamicDim(axis))
      continue;
    Value own = memref::DimOp::create(builder, loc, destination, axis);
    Value size = tensor::DimOp::create(builder, loc, result, axis);
    std::string message;
    llvm::raw_string_ostream(message)
        << "parameter " << destination.getArgNumber() << " of " << function.getName()
        << " expects dimension " << axis << " of {1}, but got {0}";
    Value same = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, own, size);
    checks.push_back(cf::AssertOp::create(builder, loc, same, message));
  }
}

/// Replaces the sizes of tensors in `function` by those of its arguments where they follow.
static void resolveSizes(func::FuncOp function) {
  RewritePatternSet patterns(function.getContext());
  memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
  memref::populateResolveShapedTypeResultDimsPatterns(patterns);
  tensor::DimOp::getCanonicalizationPatterns(patterns, function.getContext());
  FrozenRewritePatternSet frozen(std::move(patterns));
  bool changed = true;
  while (changed) {
    // A size that stays unresolved is checked where it is known.
    (void)applyPatternsGreedily(function, frozen);
    changed = false;
    function.walk([&](tensor::DimOp size) { changed |= resolveLoopSize(size); });
  }
}

static bool isNumber(Type type) { return type.isIntOrIndex(); }

/// Returns true if the results of `op` are numbers that follow from the numbers that it reads.
static bool computesNumbers(Operation *op) {
  return isPure(op) && op->getNumRegions() == 0 && llvm::all_of(op->getResultTypes(), isNumber);
}

/// Collects the operations that compute `number`, each after those that it reads. Returns false if
/// they read more than numbers and the sizes of arguments.
static bool collectComputation(Value number, llvm::SetVector<Operation *> &operations) {
  Operation *op = number.getDefiningOp();
  if (!op || operations.contains(op))
    return true;
  const bool readsArgument =
      isa<tensor::DimOp, memref::DimOp>(op) && isa<BlockArgument>(op->getOperand(0));
  if (!computesNumbers(op) || !llvm::all_of(op->getOperands(), [&](Value operand) {
        return (readsArgument && isa<BlockArgument>(operand)) ||
               (isNumber(operand.getType()) && collectComputation(operand, operations));
      }))
    return false;
  operations.insert(op);
  return true;
}

/// Returns the operation after the checks of arguments with which the function begins. `checks` are
/// none of them.
static Operation *skipArgumentChecks(func::FuncOp function, ArrayRef<cf::AssertOp> checks) {
  Operation *next = &function.front().front();
  for (Operation &op : function.front()) {
    if (auto check = dyn_cast<cf::AssertOp>(op)) {
      if (llvm::is_contained(checks, check))
        break;
      next = op.getNextNode();
    } else if (!computesNumbers(&op) && !isa<arith::ConstantOp, tensor::EmptyOp>(op)) {
      break;
    }
  }
  return next;
}

/// Moves a check in front of `start`, so that nothing is written when it fails. A check of a size
/// that only the program computes follows that size.
static void moveCheck(cf::AssertOp check, Operation *start) {
  auto same = check.getArg().getDefiningOp<arith::CmpIOp>();
  OpBuilder builder(start);
  llvm::SetVector<Operation *> operations;
  if (!collectComputation(same.getResult(), operations)) {
    builder.setInsertionPointAfterValue(same.getRhs());
    operations.clear();
    collectComputation(same.getLhs(), operations);
    operations.insert(same);
  }
  IRMapping copies;
  for (Operation *op : operations)
    builder.clone(*op, copies);
  cf::AssertOp::create(builder, check.getLoc(), copies.lookup(same.getResult()), check.getMsg());
  check.erase();
}

//===----------------------------------------------------------------------===//
// Destinations
//===----------------------------------------------------------------------===//

static void passDestinations(func::FuncOp function) {
  auto returnOp = cast<func::ReturnOp>(function.front().getTerminator());
  OpBuilder builder(returnOp);
  llvm::BitVector moved(function.getNumResults());
  SmallVector<cf::AssertOp> checks;
  for (auto [i, result] : llvm::enumerate(returnOp.getOperands())) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type)
      continue;
    moved.set(i);
    unsigned position = function.getNumArguments();
    (void)function.insertArgument(position,
                                  bufferization::getMemRefTypeWithFullyDynamicLayout(type),
                                  builder.getDictionaryAttr({}), returnOp.getLoc());
    checkOpenSizes(builder, function, result, function.getArgument(position), checks);
    auto store = bufferization::MaterializeInDestinationOp::create(
        builder, returnOp.getLoc(), TypeRange(), result, function.getArgument(position));
    store.setRestrict(true);
    store.setWritable(true);
  }
  (void)function.eraseResults(moved);
  returnOp->eraseOperands(moved);
  if (checks.empty())
    return;
  resolveSizes(function);
  Operation *start = skipArgumentChecks(function, checks);
  for (cf::AssertOp check : checks)
    moveCheck(check, start);
}

namespace {

struct ResultsToDestinations
    : public mlir::blocksparse::impl::ResultsToDestinationsPassBase<ResultsToDestinations> {
  void getDependentDialects(DialectRegistry &registry) const override {
    ResultsToDestinationsPassBase::getDependentDialects(registry);
    registry.insert<affine::AffineDialect, arith::ArithDialect, cf::ControlFlowDialect>();
    registerNeighbourModels(registry);
    registerBufferizableOpInterfaceExternalModels(registry);
  }

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal() || !function.getBody().hasOneBlock() ||
          !SymbolTable::symbolKnownUseEmpty(function, getOperation()))
        continue;
      protectArguments(function);
      copyAccumulators(function);
      passDestinations(function);
    }
  }
};

} // namespace
