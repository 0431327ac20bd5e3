// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Transforms/Bufferization/Passes.h"

#include "ElementwiseMap.h"
#include "LoopExtents.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::blocksparse {
#define GEN_PASS_DEF_CARRYINPLACEPASS
#include "blocksparse/Transforms/Bufferization/Passes.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;
using namespace mlir::blocksparse;

static Value copyInto(OpBuilder &builder, Location loc, Value source, Value target) {
  return createElementwiseMap(builder, loc, source, target,
                              [](OpBuilder &, Value element) { return element; });
}

/// Returns true if the next iteration's value can be written over this iteration's.
static bool canOverwrite(const CarriedTensor &tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.next.getType());
  if (!type || type.getEncoding() || tensor.current.getType() != type ||
      tensor.next == tensor.current)
    return false;
  return llvm::all_of(llvm::seq(type.getRank()), [&](int64_t axis) {
    return !type.isDynamicDim(axis) || keepsExtent(tensor, axis);
  });
}

/// Copies the tensors that `terminator` passes, from operand `first` on, into those that the loop
/// carries and that were `initial` at first. Tensors that are carried themselves are read first, so
/// that two can be exchanged.
static void copyCarried(Operation *terminator, unsigned first, ValueRange carried,
                        ValueRange initial) {
  OpBuilder builder(terminator);
  Location loc = terminator->getLoc();
  SmallVector<OpOperand *> operands;
  for (unsigned i = 0; i < carried.size() && first + i < terminator->getNumOperands(); ++i)
    if (OpOperand &operand = terminator->getOpOperand(first + i);
        canOverwrite({i < initial.size() ? initial[i] : Value(), carried[i], operand.get()}))
      operands.push_back(&operand);
  for (OpOperand *operand : operands) {
    if (operands.size() == 1 || !isa<BlockArgument>(operand->get()))
      continue;
    auto type = cast<RankedTensorType>(operand->get().getType());
    Value empty = tensor::EmptyOp::create(
        builder, loc, tensor::getMixedSizes(builder, loc, operand->get()), type.getElementType());
    operand->set(copyInto(builder, loc, operand->get(), empty));
  }
  for (OpOperand *operand : operands)
    operand->set(
        copyInto(builder, loc, operand->get(), carried[operand->getOperandNumber() - first]));
}

namespace {

struct CarryInPlace : public mlir::blocksparse::impl::CarryInPlacePassBase<CarryInPlace> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        copyCarried(loop.getBody()->getTerminator(), 0, loop.getRegionIterArgs(),
                    loop.getInitArgs());
      } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
        // The first operand of the terminator of the region before is the condition.
        ValueRange passed = loop.getConditionOp().getArgs(), before = loop.getBeforeArguments();
        const bool isPassedOn = passed == before;
        copyCarried(loop.getConditionOp(), 1, before, loop.getInits());
        copyCarried(loop.getYieldOp(), 0, loop.getAfterArguments(),
                    isPassedOn ? ValueRange(loop.getInits()) : ValueRange());
      }
    });
  }
};

} // namespace
