// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Target/Assertions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blocksparse;

static Value widen(ImplicitLocOpBuilder &b, Value number) {
  Type wide = b.getI64Type();
  if (number.getType().isIndex())
    return arith::IndexCastOp::create(b, wide, number);
  return number.getType() == wide ? number : arith::ExtSIOp::create(b, wide, number);
}

FailedAssertion mlir::blocksparse::describeAssertion(ImplicitLocOpBuilder &b,
                                                     cf::AssertOp assertion) {
  FailedAssertion failed{assertion.getMsg().str(), Value(), Value()};
  if (auto comparison = assertion.getArg().getDefiningOp<arith::CmpIOp>()) {
    failed.left = widen(b, comparison.getLhs());
    failed.right = widen(b, comparison.getRhs());
    return failed;
  }
  for (StringRef place : {"{0}", "{1}"})
    for (size_t at; (at = failed.message.find(place)) != std::string::npos;)
      failed.message.replace(at, place.size(), "?");
  return failed;
}

void mlir::blocksparse::lowerAssertions(
    Operation *root, function_ref<void(ImplicitLocOpBuilder &, const FailedAssertion &)> report) {
  root->walk([&](cf::AssertOp assertion) {
    ImplicitLocOpBuilder b(assertion.getLoc(), assertion);
    Value yes = arith::ConstantIntOp::create(b, b.getI1Type(), 1);
    Value fails = arith::XOrIOp::create(b, assertion.getArg(), yes);
    auto branch = scf::IfOp::create(b, fails, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
    report(b, describeAssertion(b, assertion));
    assertion.erase();
  });
}
