// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ExternalCall.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::blocksparse;

void mlir::blocksparse::emitExternalCall(ImplicitLocOpBuilder &b, PlannedCallOp op) {
  auto function = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, op.getCalleeAttr());
  SmallVector<Value> arguments;
  for (auto [value, type] : llvm::zip_equal(op->getOperands(), function.getArgumentTypes()))
    arguments.push_back(
        value.getType() == type ? value : memref::CastOp::create(b, type, value).getResult());
  Value status = func::CallOp::create(b, function, arguments).getResult(0);
  Value zero = arith::ConstantIntOp::create(b, b.getI32Type(), 0);
  Value succeeded = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, status, zero);
  cf::AssertOp::create(
      b, succeeded,
      ("expects the external function '" + op.getCallee() + "' to return {1}, but got {0}").str());
}
