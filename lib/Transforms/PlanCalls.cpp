// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PlanPatterns.h"
#include "blocksparse/IR/PlannedOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blocksparse;

/// Returns true for a function of tensors and numbers that returns tensors of static shapes.
static bool isPlannable(func::FuncOp function) {
  auto isResult = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape();
  };
  return llvm::all_of(function.getResultTypes(), isResult) &&
         llvm::all_of(function.getArgumentTypes(), [](Type type) {
           return isa<RankedTensorType>(type) || type.isIntOrIndexOrFloat();
         });
}

/// Gives a declaration destinations in place of results, and a status.
static void declareOnBuffers(func::FuncOp function) {
  SmallVector<Type> arguments;
  for (TypeRange types :
       {TypeRange(function.getArgumentTypes()), TypeRange(function.getResultTypes())})
    llvm::append_range(arguments, llvm::map_range(types, getExternalArgument));
  Builder builder(function.getContext());
  function.removeArgAttrsAttr();
  function.removeResAttrsAttr();
  function.setType(builder.getFunctionType(arguments, builder.getI32Type()));
}

/// Replaces a call by one that writes to new tensors. The shapes of results are static.
static void planCall(func::CallOp call) {
  OpBuilder builder(call);
  SmallVector<Value> inits;
  for (Type type : call.getResultTypes()) {
    auto tensor = cast<RankedTensorType>(type);
    inits.push_back(tensor::EmptyOp::create(builder, call.getLoc(), tensor.getShape(),
                                            tensor.getElementType()));
  }
  auto planned = PlannedCallOp::create(builder, call.getLoc(), call.getResultTypes(),
                                       call.getCalleeAttr(), call.getOperands(), inits);
  call.replaceAllUsesWith(planned);
  call.erase();
}

void mlir::blocksparse::planCalls(ModuleOp module) {
  SymbolTable symbols(module);
  llvm::SetVector<Operation *> externals;
  SmallVector<func::CallOp> calls;
  module.walk([&](func::CallOp call) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    if (!callee || !callee.isDeclaration() || !isPlannable(callee))
      return;
    externals.insert(callee);
    calls.push_back(call);
  });
  for (func::CallOp call : calls)
    planCall(call);
  for (Operation *external : externals)
    declareOnBuffers(cast<func::FuncOp>(external));
}
