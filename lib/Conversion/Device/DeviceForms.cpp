// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "DeviceForms.h"

#include "DeviceMath.h"
#include "Elements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

/// Returns true for the operations that emitDeviceForm emits.
static bool hasLibraryForm(Operation *op) {
  return isa<math::AbsFOp, math::ErfOp, math::ErfcOp, math::ExpOp, math::FmaOp, math::LogOp,
             math::RsqrtOp, math::SqrtOp, math::TanhOp, arith::MaxNumFOp, arith::MinNumFOp>(op);
}

bool mlir::blocksparse::device::hasDeviceForm(Operation *op) {
  if (isa<arith::ArithDialect>(op->getDialect()))
    return !isa<arith::RemFOp>(op);
  return hasLibraryForm(op);
}

Value mlir::blocksparse::device::emitDeviceForm(ImplicitLocOpBuilder &b, Operation *op,
                                                ValueRange operands) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::AbsFOp) { return deviceAbs(b, operands[0]); })
      .Case([&](math::ErfOp) { return deviceErf(b, operands[0]); })
      .Case([&](math::ErfcOp) { return deviceErfc(b, operands[0]); })
      .Case([&](math::ExpOp) { return deviceExp(b, operands[0]); })
      .Case([&](math::FmaOp) { return fusedMultiplyAdd(b, operands[0], operands[1], operands[2]); })
      .Case([&](math::LogOp) { return deviceLog(b, operands[0]); })
      .Case([&](arith::MaxNumFOp) { return deviceMaxNumber(b, operands[0], operands[1]); })
      .Case([&](arith::MinNumFOp) { return deviceMinNumber(b, operands[0], operands[1]); })
      .Case([&](math::RsqrtOp) { return deviceRsqrt(b, operands[0]); })
      .Case([&](math::SqrtOp) { return deviceSqrt(b, operands[0]); })
      .Case([&](math::TanhOp) { return deviceTanh(b, operands[0]); })
      .Default([](Operation *) { return Value(); });
}

void mlir::blocksparse::device::useDeviceForms(Operation *root) {
  SmallVector<Operation *> ops;
  root->walk([&](Operation *op) {
    if (op->getNumResults() == 1 && isa<FloatType>(op->getResult(0).getType()))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    ImplicitLocOpBuilder b(op->getLoc(), op);
    Type type = op->getResult(0).getType(), wide = type.isF64() ? type : b.getF32Type();
    if (!hasLibraryForm(op))
      continue;
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(convertElement(b, operand, wide));
    op->getResult(0).replaceAllUsesWith(convertElement(b, emitDeviceForm(b, op, operands), type));
    op->erase();
  }
}
