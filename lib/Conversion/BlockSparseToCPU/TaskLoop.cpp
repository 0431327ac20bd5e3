// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TaskLoop.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blocksparse;

Value mlir::blocksparse::enterLoop(ImplicitLocOpBuilder &b, Value from, Value to, int64_t step) {
  Value stepValue = arith::ConstantIndexOp::create(b, step);
  auto loop = scf::ForOp::create(b, from, to, stepValue);
  b.setInsertionPointToStart(loop.getBody());
  return loop.getInductionVar();
}

void mlir::blocksparse::emitTaskLoop(ImplicitLocOpBuilder &b, ValueRange extents,
                                     function_ref<void(ValueRange indices)> body) {
  SmallVector<OpFoldResult> bounds = getAsOpFoldResult(extents);
  auto loop = scf::ForallOp::create(b, bounds, ValueRange(), std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop.getTerminator());
  body(loop.getInductionVars());
}
