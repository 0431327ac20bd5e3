// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/Target/CPU/Passes.h"
#include "blocksparse/Target/FunctionSignature.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace mlir::blocksparse {
#define GEN_PASS_DEF_ADDSIZEFUNCTIONSPASS
#include "blocksparse/Target/CPU/Passes.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;

static int64_t countDynamicExtents(func::FuncOp function) {
  int64_t count = 0;
  for (Type type : function.getResultTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      count += tensor.getNumDynamicDims();
  return count;
}

/// Makes the function return the dynamic extents of what it returned.
static void returnSizes(func::FuncOp function, int64_t count) {
  OpBuilder builder(function.getContext());
  auto type = RankedTensorType::get({count}, builder.getI64Type());
  function.walk([&](func::ReturnOp returned) {
    builder.setInsertionPoint(returned);
    Location loc = returned.getLoc();
    SmallVector<Value> sizes;
    for (Value value : returned.getOperands()) {
      auto tensor = dyn_cast<RankedTensorType>(value.getType());
      for (int64_t axis = 0; tensor && axis < tensor.getRank(); ++axis)
        if (tensor.isDynamicDim(axis))
          sizes.push_back(
              arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                         tensor::DimOp::create(builder, loc, value, axis)));
    }
    Value result = tensor::FromElementsOp::create(builder, loc, type, sizes);
    returned.getOperandsMutable().assign(result);
  });
  function.setType(builder.getFunctionType(function.getArgumentTypes(), {type}));
  function.removeResAttrsAttr();
}

/// Erases the assertions in loops, which would keep these. The function whose sizes are computed
/// has them too.
static void eraseAssertionsInLoops(func::FuncOp function) {
  function.walk([](cf::AssertOp assertion) {
    if (assertion->getParentOfType<LoopLikeOpInterface>())
      assertion.erase();
  });
}

namespace {

struct AddSizeFunctions : mlir::blocksparse::impl::AddSizeFunctionsPassBase<AddSizeFunctions> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      int64_t count = countDynamicExtents(function);
      if (!function.isPublic() || function.isDeclaration() || count == 0)
        continue;
      std::string name = mlir::blocksparse::getSizeFunctionName(function.getName());
      if (symbols.lookup(name)) {
        function.emitOpError("expects the name '")
            << name << "' to be free for its size function, but got a symbol of this name";
        return signalPassFailure();
      }
      func::FuncOp sizes = function.clone();
      sizes.setName(name);
      // The call that follows checks indices; those of a GPU are in its memory.
      sizes.walk([](Operation *op) {
        if (isa<mlir::blocksparse::CheckPatternOp, mlir::blocksparse::CheckScatterIndicesOp>(op))
          op->erase();
      });
      // External functions have results of static shape.
      sizes.walk([](mlir::blocksparse::PlannedCallOp call) {
        call->replaceAllUsesWith(call.getInits());
        call.erase();
      });
      returnSizes(sizes, count);
      eraseAssertionsInLoops(sizes);
      // Descriptors are in host memory for every target.
      sizes->setAttr(mlir::blocksparse::hostFunctionAttr, UnitAttr::get(&getContext()));
      symbols.insert(sizes, std::next(Block::iterator(function)));
    }
  }
};

} // namespace
