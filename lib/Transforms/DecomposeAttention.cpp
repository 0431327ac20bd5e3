// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/Transforms/Passes.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::blocksparse {
#define GEN_PASS_DEF_DECOMPOSEATTENTIONPASS
#include "blocksparse/Transforms/Passes.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;
using namespace mlir::blocksparse;
using llvm::APFloat;

/// The type of the scores [.., M, N]: the leading dimensions and M of lse, N of k.
template <typename Op>
static RankedTensorType scoresType(Op op, Type element) {
  auto k = cast<RankedTensorType>(op.getK().getType());
  auto lse = cast<RankedTensorType>(op.getLse().getType());
  SmallVector<int64_t> shape(lse.getShape());
  shape.push_back(k.getDimSize(k.getRank() - 2));
  return RankedTensorType::get(shape, element, op.getLayout());
}

static Value createScores(OpBuilder &builder, Location loc, RankedTensorType type, Value a,
                          Value b) {
  return SDDOp::create(builder, loc, type, a, b, /*pattern=*/Value(), /*transpose_a=*/false,
                       /*transpose_b=*/true, /*transpose_out=*/false, APFloat(1.0), Precision::IEEE,
                       ScheduleAttr());
}

static Value createProduct(OpBuilder &builder, Location loc, Type type, Value sparse, Value dense,
                           bool transposeSparse) {
  return DSDOp::create(builder, loc, type, sparse, dense, /*bias=*/Value(), /*residual=*/Value(),
                       transposeSparse, /*transpose_b=*/false, /*transpose_out=*/false,
                       APFloat(1.0), ActivationAttr(), Precision::IEEE, ScheduleAttr());
}

/// softmax of the scores of `op` in the element type of q; scores are in the accumulation type.
template <typename Op>
static SoftmaxOp createProbabilities(OpBuilder &builder, Op op, Type lse) {
  Location loc = op.getLoc();
  Type element = cast<RankedTensorType>(op.getQ().getType()).getElementType();
  Value scores =
      createScores(builder, loc, scoresType(op, getAccumulatorType(element)), op.getQ(), op.getK());
  return SoftmaxOp::create(builder, loc, scoresType(op, element), lse, scores, op.getRpe(),
                           op.getKeyPaddingMask(), op.getAttentionMask(), op.getScale(),
                           op.getCausal(), op.getKeyPaddingMaskMode(), op.getAttentionMaskMode(),
                           ScheduleAttr());
}

static void decompose(AttentionOp op) {
  OpBuilder builder(op);
  SoftmaxOp softmax = createProbabilities(builder, op, op.getLse().getType());
  Value out = createProduct(builder, op.getLoc(), op.getOut().getType(), softmax.getY(), op.getV(),
                            /*transposeSparse=*/false);
  op->replaceAllUsesWith(ValueRange{out, softmax.getLse()});
  op->erase();
}

/// The leading dimensions of an operand are those of the scores, or its gradient is a sum.
static LogicalResult checkNotBroadcast(AttentionGradOp op, Value operand, StringRef name) {
  ArrayRef<int64_t> leading = cast<RankedTensorType>(op.getLse().getType()).getShape().drop_back();
  ArrayRef<int64_t> given = cast<RankedTensorType>(operand.getType()).getShape().drop_back(2);
  if (given == leading)
    return success();
  return op.emitOpError() << "expects " << name << " with the " << leading.size()
                          << " batch and head dimensions of lse to decompose its gradient, but got "
                          << operand.getType();
}

static LogicalResult decompose(AttentionGradOp op) {
  if (failed(checkNotBroadcast(op, op.getQ(), "q")) ||
      failed(checkNotBroadcast(op, op.getK(), "k")) ||
      failed(checkNotBroadcast(op, op.getV(), "v")))
    return failure();
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Type element = cast<RankedTensorType>(op.getQ().getType()).getElementType();
  Value p = createProbabilities(builder, op, /*lse=*/Type()).getY();
  Value dv = createProduct(builder, loc, op.getDv().getType(), p, op.getDout(),
                           /*transposeSparse=*/true);
  Value dp = createScores(builder, loc, scoresType(op, getAccumulatorType(element)), op.getDout(),
                          op.getV());
  auto grad = SoftmaxGradOp::create(builder, loc, scoresType(op, element),
                                    op.getDrpe() ? op.getDrpe().getType() : Type(), p, dp,
                                    op.getScale(), ScheduleAttr());
  Value dq = createProduct(builder, loc, op.getDq().getType(), grad.getDx(), op.getK(),
                           /*transposeSparse=*/false);
  Value dk = createProduct(builder, loc, op.getDk().getType(), grad.getDx(), op.getQ(),
                           /*transposeSparse=*/true);
  SmallVector<Value> replacements{dq, dk, dv};
  if (op.getDrpe())
    replacements.push_back(grad.getDrpe());
  op->replaceAllUsesWith(replacements);
  op->erase();
  return success();
}

namespace {
struct DecomposeAttention
    : mlir::blocksparse::impl::DecomposeAttentionPassBase<DecomposeAttention> {
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([](Operation *op) {
      if (auto attention = dyn_cast<AttentionOp>(op))
        decompose(attention);
      else if (auto grad = dyn_cast<AttentionGradOp>(op); grad && failed(decompose(grad)))
        return WalkResult::interrupt();
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
