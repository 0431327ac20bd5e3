// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Transforms/Bufferization/Passes.h"

#include "blocksparse/IR/BlockSparseDialect.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

namespace mlir::blocksparse {
#define GEN_PASS_DEF_REUSEINPUTSPASS
#include "blocksparse/Transforms/Bufferization/Passes.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;
using namespace mlir::blocksparse;

/// Returns true if `op` is the last user of `value` and its buffer belongs to this function.
static bool isReusable(Value value, Operation *op) {
  Operation *producer = value.getDefiningOp();
  if (!producer || producer->getBlock() != op->getBlock() ||
      !(isa<linalg::GenericOp>(producer) || isa<BlockSparseDialect>(producer->getDialect())))
    return false;
  // The operation may use the value twice: as an input and, by now, as its destination.
  if (!llvm::all_of(value.getUsers(), [&](Operation *user) { return user == op; }))
    return false;
  auto style = dyn_cast<DestinationStyleOpInterface>(producer);
  if (!style)
    return false;
  Value init = style.getTiedOpOperand(cast<OpResult>(value))->get();
  return init.getDefiningOp<tensor::EmptyOp>() ||
         // The producer may itself have reused an input.
         (init.getDefiningOp() && isReusable(init, producer));
}

/// Makes the first candidate that `op` uses last the destination of its first result.
static void reuseInput(DestinationStyleOpInterface op, ArrayRef<Value> candidates) {
  OpOperand *init = op.getDpsInitOperand(0);
  if (!init->get().getDefiningOp<tensor::EmptyOp>())
    return;
  for (Value candidate : candidates)
    if (candidate.getType() == init->get().getType() && isReusable(candidate, op)) {
      init->set(candidate);
      return;
    }
}

/// Returns the inputs of which a linalg.generic reads each element just before it writes the
/// element of its only result; none if it does anything else.
static SmallVector<Value> getElementwiseInputs(linalg::GenericOp op) {
  if (op.getNumResults() != 1 || op.getNumParallelLoops() != op.getNumLoops() ||
      op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)) ||
      !llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) { return map.isIdentity(); }))
    return {};
  return op.getDpsInputs();
}

namespace {

struct ReuseInputs : public mlir::blocksparse::impl::ReuseInputsPassBase<ReuseInputs> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      if (auto softmax = dyn_cast<PlannedSoftmaxOp>(op))
        reuseInput(softmax, {softmax.getX()});
      else if (auto grad = dyn_cast<PlannedSoftmaxGradOp>(op))
        reuseInput(grad, {grad.getDy(), grad.getY()});
      else if (auto generic = dyn_cast<linalg::GenericOp>(op))
        reuseInput(generic, getElementwiseInputs(generic));
    });
  }
};

} // namespace
