// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AssertionsToRuntime.h"

#include "RuntimeCalls.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace mlir::blocksparse;

static Value toI64(ImplicitLocOpBuilder &b, Value number) {
  Type wide = b.getI64Type();
  if (number.getType().isIndex())
    return arith::IndexCastOp::create(b, wide, number);
  return number.getType() == wide ? number : arith::ExtSIOp::create(b, wide, number);
}

static void lowerAssertion(cf::AssertOp assertion, Value state, ModuleOp module) {
  ImplicitLocOpBuilder b(assertion.getLoc(), assertion);
  Value yes = arith::ConstantIntOp::create(b, b.getI1Type(), 1);
  Value fails = arith::XOrIOp::create(b, assertion.getArg(), yes);
  auto branch = scf::IfOp::create(b, fails, /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
  std::string message = assertion.getMsg().str();
  Value left, right;
  if (auto comparison = assertion.getArg().getDefiningOp<arith::CmpIOp>()) {
    left = toI64(b, comparison.getLhs());
    right = toI64(b, comparison.getRhs());
  } else {
    // A comparison that was folded away left no numbers.
    left = right = arith::ConstantIntOp::create(b, b.getI64Type(), 0);
    for (StringRef place : {"{0}", "{1}"})
      for (size_t at; (at = message.find(place)) != std::string::npos;)
        message.replace(at, place.size(), "?");
  }
  // Equal messages are one text.
  std::string name = "blocksparse.message." + llvm::utohexstr(llvm::xxh3_64bits(message));
  Value text = getText(b, b.getLoc(), module, name, message);
  callRuntime(b, b.getLoc(), module, "blocksparseRtCallRefuse", Type(), {state, text, left, right});
  assertion.erase();
}

void mlir::blocksparse::lowerAssertions(func::FuncOp function, Value state, ModuleOp module) {
  SmallVector<cf::AssertOp> assertions;
  function.walk([&](cf::AssertOp assertion) { assertions.push_back(assertion); });
  for (cf::AssertOp assertion : assertions)
    lowerAssertion(assertion, state, module);
}
