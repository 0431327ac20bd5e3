// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Transforms/BufferizableOpInterfaceImpl.h"
#include "blocksparse/Transforms/Bufferization/Passes.h"

#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

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

static void passDestinations(func::FuncOp function) {
  auto returnOp = cast<func::ReturnOp>(function.front().getTerminator());
  OpBuilder builder(returnOp);
  llvm::BitVector moved(function.getNumResults());
  for (auto [i, result] : llvm::enumerate(returnOp.getOperands())) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type)
      continue;
    moved.set(i);
    unsigned position = function.getNumArguments();
    (void)function.insertArgument(position,
                                  bufferization::getMemRefTypeWithFullyDynamicLayout(type),
                                  builder.getDictionaryAttr({}), returnOp.getLoc());
    auto store = bufferization::MaterializeInDestinationOp::create(
        builder, returnOp.getLoc(), TypeRange(), result, function.getArgument(position));
    store.setRestrict(true);
    store.setWritable(true);
  }
  (void)function.eraseResults(moved);
  returnOp->eraseOperands(moved);
}

namespace {

struct ResultsToDestinations
    : public mlir::blocksparse::impl::ResultsToDestinationsPassBase<ResultsToDestinations> {
  void getDependentDialects(DialectRegistry &registry) const override {
    ResultsToDestinationsPassBase::getDependentDialects(registry);
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
