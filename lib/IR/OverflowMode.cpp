// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/IR/OverflowMode.h"

#include "blocksparse/IR/DialectAttributes.h"

using namespace mlir;
using namespace mlir::blocksparse;

FailureOr<OverflowMode> mlir::blocksparse::getOverflowMode(func::FuncOp function) {
  // The dialect's verifier accepts nothing but a string.
  auto name = function->getAttrOfType<StringAttr>(overflowModeAttr);
  if (!name || name.getValue() == "special")
    return OverflowMode::Special;
  if (name.getValue() == "saturate")
    return OverflowMode::Saturate;
  return function.emitOpError("expects ")
         << overflowModeAttr << " to be \"special\" or \"saturate\", but got " << name;
}

double mlir::blocksparse::getLargestF8(Type type) {
  return APFloat::getLargest(cast<FloatType>(type).getFloatSemantics()).convertToDouble();
}
