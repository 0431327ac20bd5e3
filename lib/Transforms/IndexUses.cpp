// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Transforms/IndexUses.h"

#include "blocksparse/IR/BlockSparseOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::blocksparse;

std::optional<IndexUse> mlir::blocksparse::getIndexUse(Operation *op) {
  auto use = llvm::TypeSwitch<Operation *, IndexUse>(op)
                 .Case([](DSDOp product) { return IndexUse{product.getA(), false}; })
                 .Case([](DDSOp product) { return IndexUse{product.getB(), false}; })
                 .Case([](BsrAddmmOp product) { return IndexUse{product.getSparse(), false}; })
                 .Case([](ToDenseOp op) { return IndexUse{op.getSource(), false}; })
                 .Case([](TransposeOp op) { return IndexUse{op.getSource(), false}; })
                 .Case([](SDDOp product) { return IndexUse{product.getPattern(), true}; })
                 .Case([](SampledAddmmOp product) { return IndexUse{product.getSparse(), true}; })
                 .Case([](FromDenseOp op) { return IndexUse{op.getPattern(), true}; })
                 .Case([](SoftmaxOp softmax) { return IndexUse{softmax.getX(), true}; })
                 .Case([](SoftmaxGradOp grad) { return IndexUse{grad.getY(), true}; })
                 .Default([](Operation *) { return IndexUse{Value(), false}; });
  if (!use.sparse || SparseTensor::get(use.sparse.getType())->isStatic())
    return std::nullopt;
  return use;
}

/// Returns the operand whose pattern the result `sparse` has; null if there is none.
static Value getPatternOperand(Value sparse) {
  return llvm::TypeSwitch<Operation *, Value>(sparse.getDefiningOp())
      .Case([](SDDOp product) { return product.getPattern(); })
      .Case([](SampledAddmmOp product) { return product.getSparse(); })
      .Case([](FromDenseOp op) { return op.getPattern(); })
      .Case([](TransposeOp op) { return op.getSource(); })
      .Case([](AddOp sum) { return sum.getA(); })
      .Case([](SoftmaxOp softmax) { return softmax.getX(); })
      .Case([](SoftmaxGradOp grad) { return grad.getY(); })
      .Default([](Operation *) { return Value(); });
}

Value mlir::blocksparse::getIndexSource(Value sparse) {
  while (sparse.getDefiningOp()) {
    Value operand = getPatternOperand(sparse);
    if (!operand)
      break;
    sparse = operand;
  }
  return sparse;
}
