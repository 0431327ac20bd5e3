// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ElementwiseMap.h"
#include "blocksparse/IR/BlockSparseDialect.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/IR/OverflowMode.h"
#include "blocksparse/Transforms/Bufferization/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::blocksparse {
#define GEN_PASS_DEF_SATURATEF8PASS
#include "blocksparse/Transforms/Bufferization/Passes.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;
using namespace mlir::blocksparse;

static bool isF8(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }

/// Creates a tensor like `value` with elements of f32.
static Value createEmptyF32(OpBuilder &builder, Location loc, Value value) {
  return tensor::EmptyOp::create(builder, loc, tensor::getMixedSizes(builder, loc, value),
                                 builder.getF32Type());
}

/// Makes a product write f32 to a tensor of its own, of which the result is clamped and rounded.
static void saturate(Operation *op, OpOperand &init, OpOperand *input) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Value target = init.get();
  Type element = getElementTypeOrSelf(target.getType());
  if (input && isF8(getElementTypeOrSelf(input->get().getType())))
    input->set(
        createElementwiseMap(builder, loc, input->get(), createEmptyF32(builder, loc, input->get()),
                             [&](OpBuilder &inside, Value x) -> Value {
                               return arith::ExtFOp::create(inside, loc, inside.getF32Type(), x);
                             }));
  init.set(createEmptyF32(builder, loc, target));
  Value result = op->getResult(0);
  result.setType(init.get().getType());
  builder.setInsertionPointAfter(op);
  const double limit = getLargestF8(element);
  Value clamped =
      createElementwiseMap(builder, loc, result, target, [&](OpBuilder &inside, Value x) -> Value {
        auto constant = [&](double value) -> Value {
          return arith::ConstantOp::create(inside, loc, inside.getF32FloatAttr(value));
        };
        // Both keep NaN.
        x = arith::MaximumFOp::create(inside, loc, x, constant(-limit));
        x = arith::MinimumFOp::create(inside, loc, x, constant(limit));
        return arith::TruncFOp::create(inside, loc, element, x);
      });
  result.replaceAllUsesExcept(clamped, clamped.getDefiningOp());
}

static LogicalResult rejectSaturation(Operation *op) {
  return op->emitOpError("expects results that can saturate, but got ")
         << op->getResult(0).getType();
}

/// Saturates the result of an operation, or fails if it may be too large and has no such form.
static LogicalResult saturate(Operation *op) {
  if (op->getNumResults() == 0 || !isF8(getElementTypeOrSelf(op->getResult(0).getType())))
    return success();
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([](PlannedDSDOp op) {
        saturate(op, *op.getDpsInitOperand(0), nullptr);
        return success();
      })
      .Case([](PlannedSDDOp op) {
        MutableOperandRange input = op.getInputMutable();
        saturate(op, *op.getDpsInitOperand(0), input.empty() ? nullptr : &input[0]);
        return success();
      })
      .Case([](PlannedMatmulOp op) {
        saturate(op, *op.getDpsInitOperand(0), nullptr);
        return success();
      })
      .Case([](PlannedSoftmaxOp op) {
        // Elements of rows that something else normalises may exceed 1.
        return op.getKnownLse() ? rejectSaturation(op) : success();
      })
      .Case<PlannedSoftmaxGradOp, PlannedScatterMMOp>(rejectSaturation)
      // All others move numbers, or have results between 0 and 1.
      .Default([](Operation *) { return success(); });
}

namespace {

struct SaturateF8 : mlir::blocksparse::impl::SaturateF8PassBase<SaturateF8> {
  void runOnOperation() override {
    FailureOr<OverflowMode> mode = getOverflowMode(getOperation());
    if (failed(mode))
      return signalPassFailure();
    if (*mode == OverflowMode::Special)
      return;
    SmallVector<Operation *> ops;
    getOperation().walk([&](DestinationStyleOpInterface op) {
      if (isa<BlockSparseDialect>(op->getDialect()))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      if (failed(saturate(op)))
        return signalPassFailure();
  }
};

} // namespace
