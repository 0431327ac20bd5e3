// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AttentionRows.h"
#include "BroadcastSum.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/IR/KernelProblem.h"
#include "blocksparse/IR/SparseTensor.h"
#include "blocksparse/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::blocksparse {
#define GEN_PASS_DEF_DECOMPOSEATTENTIONPASS
#include "blocksparse/Transforms/Passes.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;
using namespace mlir::blocksparse;
using llvm::APFloat;

/// Returns the type of the scores [.., M, N]: the leading dimensions and M of lse, N of k.
template <typename Op>
static RankedTensorType scoresType(Op op, Type element) {
  auto k = cast<RankedTensorType>(op.getK().getType());
  auto lse = cast<RankedTensorType>(op.getLse().getType());
  SmallVector<int64_t> shape(lse.getShape());
  shape.push_back(k.getDimSize(k.getRank() - 2));
  return RankedTensorType::get(shape, element, op.getLayout());
}

/// Returns alpha * a @ b^T at the blocks of `type`. `factor`, a tensor of rank 0, stands in place
/// of an alpha of 1 where it is not null.
static Value createScores(OpBuilder &builder, Location loc, RankedTensorType type, Value a, Value b,
                          double alpha = 1, Value factor = {}) {
  return SDDOp::create(builder, loc, type, a, b, /*pattern=*/Value(), factor, /*transpose_a=*/false,
                       /*transpose_b=*/true, /*transpose_out=*/false, APFloat(alpha),
                       Precision::IEEE, ScheduleAttr());
}

/// Returns `factor`, a tensor of rank 0, times `constant`.
static Value multiplyFactor(OpBuilder &builder, Location loc, Value factor, double constant) {
  auto type = cast<RankedTensorType>(factor.getType());
  Value other = arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(type, builder.getFloatAttr(type.getElementType(), constant)));
  return arith::MulFOp::create(builder, loc, factor, other);
}

/// Returns how many heads of q share each head of `operand`, k or v.
static int64_t countGroups(Value q, Value operand) {
  return countSharingHeads(cast<ShapedType>(q.getType()), cast<ShapedType>(operand.getType()));
}

/// Returns k or v with the heads of q.
static Value withQueryHeads(OpBuilder &builder, Location loc, Value q, Value operand) {
  int64_t groups = countGroups(q, operand);
  return groups == 1 ? operand : repeatHeads(builder, loc, operand, groups);
}

static Value createProduct(OpBuilder &builder, Location loc, Type type, Value sparse, Value dense,
                           bool transposeSparse, bool skipZeros) {
  return DSDOp::create(builder, loc, type, sparse, dense, /*bias=*/Value(), /*residual=*/Value(),
                       /*dynamic_alpha=*/Value(), transposeSparse, /*transpose_b=*/false,
                       /*transpose_out=*/false, skipZeros, APFloat(1.0), ActivationAttr(),
                       Precision::IEEE, ScheduleAttr());
}

/// Creates the softmax of the scores of `op`, in the element type of q. `k` has the heads of q.
/// With a soft cap, the scores are tanh(scale * q @ k^T / cap), and the scale of the softmax is the
/// cap. `lse` is the type of the result lse, or null; `knownLse` normalises the rows if it is not
/// null.
template <typename Op>
static SoftmaxOp createProbabilities(OpBuilder &builder, Op op, Value k, Type lse, Value knownLse) {
  Location loc = op.getLoc();
  Type element = cast<RankedTensorType>(op.getQ().getType()).getElementType();
  RankedTensorType type =
      scoresType(op, op.getScoreElement().value_or(getAccumulatorType(element)));
  APFloat scale = op.getScale();
  Value scores, dynamicScale = op.getDynamicScale();
  if (std::optional<APFloat> cap = op.getSoftCap()) {
    double bound = cap->convertToDouble();
    if (dynamicScale)
      scores = createScores(builder, loc, type, op.getQ(), k, /*alpha=*/1,
                            multiplyFactor(builder, loc, dynamicScale, 1 / bound));
    else
      scores = createScores(builder, loc, type, op.getQ(), k, scale.convertToDouble() / bound);
    scores = math::TanhOp::create(builder, loc, scores);
    scale = *cap;
    dynamicScale = Value();
  } else {
    scores = createScores(builder, loc, type, op.getQ(), k);
  }
  return SoftmaxOp::create(builder, loc, scoresType(op, element), lse, scores, op.getRpe(),
                           op.getKeyPaddingMask(), op.getAttentionMask(), knownLse,
                           op.getKeyLengths(), op.getQueryLengths(), op.getQuerySegments(),
                           op.getKeySegments(), dynamicScale, scale, op.getCausal(),
                           op.getCausalOffset(), op.getWindowAttr(), op.getKeyPaddingMaskMode(),
                           op.getAttentionMaskMode(), ScheduleAttr());
}

static void decompose(AttentionOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value k = withQueryHeads(builder, loc, op.getQ(), op.getK());
  Value v = withQueryHeads(builder, loc, op.getQ(), op.getV());
  RankedTensorType type = op.getOut().getType();
  // An lse that nobody reads gets no buffer.
  bool readsLse = op.getSink() || !op.getLse().use_empty();
  SoftmaxOp softmax = createProbabilities(builder, op, k, readsLse ? op.getLse().getType() : Type(),
                                          /*knownLse=*/Value());
  // A sink scales the sums, which are rounded after that.
  RankedTensorType sums =
      op.getSink() ? RankedTensorType::get(type.getShape(),
                                           getAccumulatorType(op.getQ().getType().getElementType()))
                   : type;
  Value out = createProduct(builder, loc, sums, softmax.getY(), v, /*transposeSparse=*/false,
                            op.mayForbid());
  Value lse = softmax.getLse();
  if (Value sink = op.getSink())
    std::tie(out, lse) = createMerge(builder, loc, type, {{out, lse}, {Value(), sink}});
  op.getOut().replaceAllUsesWith(out);
  if (readsLse)
    op.getLse().replaceAllUsesWith(lse);
  op->erase();
}

static void decompose(AttentionMergeOp op) {
  OpBuilder builder(op);
  SmallVector<AttentionPart> parts;
  for (auto [out, lse] : llvm::zip_equal(op.getParts(), op.getLses()))
    parts.push_back({out, lse});
  auto [out, lse] = createMerge(builder, op.getLoc(), op.getOut().getType(), parts);
  op->replaceAllUsesWith(ValueRange{out, lse});
  op->erase();
}

static void decompose(AttentionSinkGradOp op) {
  OpBuilder builder(op);
  op->replaceAllUsesWith(ValueRange{createSinkGradient(builder, op)});
  op->erase();
}

/// Returns op(sparse) @ dense, the gradient of `operand`.
static Value createGradient(OpBuilder &builder, AttentionGradOp op, Value sparse, Value dense,
                            bool transposeSparse, Value operand, Type resultType) {
  Location loc = op.getLoc();
  auto result = cast<RankedTensorType>(resultType);
  SmallVector<int64_t> shape(op.getLse().getType().getShape().drop_back());
  llvm::append_range(shape, result.getShape().take_back(2));
  auto full = RankedTensorType::get(shape, result.getElementType());
  Value product = createProduct(builder, loc, full, sparse, dense, transposeSparse, op.mayForbid());
  int64_t groups = countGroups(op.getQ(), operand);
  if (groups != 1)
    product = sumGroups(builder, loc, product, groups);
  return sumToOperand(builder, loc, product, result, operand);
}

/// Returns the gradient of scale * q @ k^T from that of cap * t, in the element type of q, where t
/// = tanh(scale * q @ k^T / cap): `gradient` * (1 - t^2). Where the gradient is 0, as at forbidden
/// elements, t is not used.
static Value createCapGradient(OpBuilder &builder, Location loc, Value gradient, Value t,
                               Type element) {
  auto type = cast<RankedTensorType>(gradient.getType());
  SmallVector<AffineMap> maps(
      2, builder.getMultiDimIdentityMap(static_cast<unsigned>(type.getRank())));
  SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
  Value scaled =
      linalg::GenericOp::create(
          builder, loc, type, t, gradient, maps, iterators,
          [&](OpBuilder &b, Location loc, ValueRange elements) {
            Type wide = elements[1].getType();
            auto constant = [&](double number) {
              return arith::ConstantOp::create(b, loc, b.getFloatAttr(wide, number));
            };
            Value tanh = elements[0], own = elements[1], zero = constant(0);
            if (tanh.getType() != wide)
              tanh = arith::ExtFOp::create(b, loc, wide, tanh);
            Value square = arith::MulFOp::create(b, loc, tanh, tanh);
            Value slope = arith::SubFOp::create(b, loc, constant(1), square);
            Value product = arith::MulFOp::create(b, loc, own, slope);
            Value none = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, own, zero);
            linalg::YieldOp::create(
                b, loc, arith::SelectOp::create(b, loc, none, zero, product).getResult());
          })
          .getResult(0);
  if (type.getElementType() == element)
    return scaled;
  return arith::TruncFOp::create(
      builder, loc, RankedTensorType::get(type.getShape(), element, type.getEncoding()), scaled);
}

static void decompose(AttentionGradOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Type element = cast<RankedTensorType>(op.getQ().getType()).getElementType();
  Type accumulator = getAccumulatorType(element);
  Value k = withQueryHeads(builder, loc, op.getQ(), op.getK());
  Value v = withQueryHeads(builder, loc, op.getQ(), op.getV());
  SoftmaxOp softmax = createProbabilities(builder, op, k, /*lse=*/Type(), op.getLse());
  Value p = softmax.getY();
  Value dv = createGradient(builder, op, p, op.getDout(), /*transposeSparse=*/true, op.getV(),
                            op.getDv().getType());
  Value dp = createScores(builder, loc, scoresType(op, accumulator), op.getDout(), v);
  bool capped = op.getSoftCap().has_value();
  auto grad = SoftmaxGradOp::create(builder, loc, scoresType(op, capped ? accumulator : element),
                                    op.getDrpe() ? op.getDrpe().getType() : Type(), p, dp,
                                    op.getOut(), op.getDout(), op.getDlse(), op.getDynamicScale(),
                                    op.getScale(), ScheduleAttr());
  Value ds = grad.getDx();
  if (capped)
    ds = createCapGradient(builder, loc, ds, softmax.getX(), element);
  Value dq = createGradient(builder, op, ds, k, /*transposeSparse=*/false, op.getQ(),
                            op.getDq().getType());
  Value dk = createGradient(builder, op, ds, op.getQ(), /*transposeSparse=*/true, op.getK(),
                            op.getDk().getType());
  SmallVector<Value> replacements{dq, dk, dv};
  if (op.getDrpe())
    replacements.push_back(grad.getDrpe());
  op->replaceAllUsesWith(replacements);
  op->erase();
}

/// Returns true if a fused kernel computes `op`, attention or its gradient, on `target`, and its
/// schedule, if it has one, names such a kernel.
static bool staysFused(Operation *op, const ::blocksparse::TargetInfo &target) {
  const ::blocksparse::KernelFamily fused = target.isCPU()
                                                ? ::blocksparse::KernelFamily::CPURows
                                                : ::blocksparse::KernelFamily::CUDAAttention;
  if (auto schedule = op->getAttrOfType<ScheduleAttr>("schedule");
      schedule && schedule.getFamily() != fused)
    return false;
  return hasPlannedForm(op) && ::blocksparse::supports(fused, *getKernelProblem(op), target);
}

/// Says why the gradient of attention is decomposed on a GPU that has fused kernels for it.
static void remarkDecomposed(AttentionGradOp op, const ::blocksparse::TargetInfo &target) {
  if (target.isCPU())
    return;
  std::string reason = ::blocksparse::checkSupport(::blocksparse::KernelFamily::CUDAAttention,
                                                   *getKernelProblem(op), target);
  if (!reason.empty())
    op.emitRemark() << "is computed by several kernels: " << reason;
}

namespace {
struct DecomposeAttention
    : mlir::blocksparse::impl::DecomposeAttentionPassBase<DecomposeAttention> {
  using DecomposeAttentionPassBase::DecomposeAttentionPassBase;

  void runOnOperation() override {
    getOperation()->walk([&](Operation *op) {
      if (isa<AttentionOp, AttentionGradOp>(op) && staysFused(op, target))
        return;
      if (auto grad = dyn_cast<AttentionGradOp>(op))
        remarkDecomposed(grad, target);
      llvm::TypeSwitch<Operation *>(op)
          .Case<AttentionOp, AttentionGradOp, AttentionMergeOp, AttentionSinkGradOp>(
              [](auto attention) { decompose(attention); });
    });
  }
};
} // namespace
