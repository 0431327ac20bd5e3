// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/IR/KernelProblem.h"
#include "blocksparse/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/Sequence.h"

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

static Value createScores(OpBuilder &builder, Location loc, RankedTensorType type, Value a,
                          Value b) {
  return SDDOp::create(builder, loc, type, a, b, /*pattern=*/Value(), /*transpose_a=*/false,
                       /*transpose_b=*/true, /*transpose_out=*/false, APFloat(1.0), Precision::IEEE,
                       ScheduleAttr());
}

/// Returns true if a stored element of the scores of `op` may be forbidden. Its probability is 0,
/// and products must not multiply it with what may be NaN.
template <typename Op>
static bool mayForbid(Op op) {
  return op.getCausal() || op.getKeyPaddingMask() || op.getAttentionMask();
}

static Value createProduct(OpBuilder &builder, Location loc, Type type, Value sparse, Value dense,
                           bool transposeSparse, bool skipZeros) {
  return DSDOp::create(builder, loc, type, sparse, dense, /*bias=*/Value(), /*residual=*/Value(),
                       transposeSparse, /*transpose_b=*/false, /*transpose_out=*/false, skipZeros,
                       APFloat(1.0), ActivationAttr(), Precision::IEEE, ScheduleAttr());
}

/// Creates the softmax of the scores of `op`, in the element type of q; scores are in the
/// accumulation type. `lse` is the type of the result lse, or null; `knownLse` normalises the rows
/// if it is not null.
template <typename Op>
static SoftmaxOp createProbabilities(OpBuilder &builder, Op op, Type lse, Value knownLse) {
  Location loc = op.getLoc();
  Type element = cast<RankedTensorType>(op.getQ().getType()).getElementType();
  Value scores =
      createScores(builder, loc, scoresType(op, getAccumulatorType(element)), op.getQ(), op.getK());
  return SoftmaxOp::create(builder, loc, scoresType(op, element), lse, scores, op.getRpe(),
                           op.getKeyPaddingMask(), op.getAttentionMask(), knownLse, op.getScale(),
                           op.getCausal(), op.getKeyPaddingMaskMode(), op.getAttentionMaskMode(),
                           ScheduleAttr());
}

static void decompose(AttentionOp op) {
  OpBuilder builder(op);
  SoftmaxOp softmax = createProbabilities(builder, op, op.getLse().getType(), /*knownLse=*/Value());
  Value out = createProduct(builder, op.getLoc(), op.getOut().getType(), softmax.getY(), op.getV(),
                            /*transposeSparse=*/false, mayForbid(op));
  op->replaceAllUsesWith(ValueRange{out, softmax.getLse()});
  op->erase();
}

/// Returns, for each leading dimension (batch, heads) of the scores, whether the operand of a
/// product is broadcast in it: it lacks the dimension or has extent 1.
static SmallVector<bool> broadcastDims(ArrayRef<int64_t> leading, RankedTensorType operand) {
  ArrayRef<int64_t> own = operand.getShape().drop_back(2);
  SmallVector<bool> broadcast;
  for (size_t dim = 0; dim < leading.size(); ++dim) {
    bool missing = dim + own.size() < leading.size();
    broadcast.push_back(leading[dim] != 1 &&
                        (missing || own[dim + own.size() - leading.size()] == 1));
  }
  return broadcast;
}

/// Returns a view of `full` [.., R, C] as the matrices [S, X] or [B, S, X] whose columns are to be
/// summed over S.
static Value collapseForSum(OpBuilder &builder, Location loc, Value full,
                            ArrayRef<bool> broadcast) {
  SmallVector<ReassociationIndices> groups;
  if (broadcast.size() == 1)
    groups = {{0}, {1, 2}};
  else if (broadcast[0] && broadcast[1])
    groups = {{0, 1}, {2, 3}};
  else if (broadcast[0])
    groups = {{0}, {1, 2, 3}};
  else
    groups = {{0}, {1}, {2, 3}};
  return tensor::CollapseShapeOp::create(builder, loc, full, groups);
}

/// Returns a row of ones, one for each row of `like`.
static Value createOnes(OpBuilder &builder, Location loc, Value like) {
  auto type = cast<RankedTensorType>(like.getType());
  int64_t dim = type.getRank() - 2;
  TypedAttr one = builder.getFloatAttr(type.getElementType(), 1.0);
  if (!type.isDynamicDim(dim))
    return arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(
            RankedTensorType::get({1, type.getDimSize(dim)}, type.getElementType()), one));
  return tensor::SplatOp::create(
      builder, loc, arith::ConstantOp::create(builder, loc, one).getResult(),
      ArrayRef<OpFoldResult>{builder.getIndexAttr(1),
                             tensor::getMixedSize(builder, loc, like, dim)});
}

/// Sums a gradient over the dimensions in which its operand was broadcast. The sum is a product
/// with a row of ones, so that it is accumulated like every product. `operand` has the extents of
/// the result.
static Value sumBroadcast(OpBuilder &builder, Location loc, Value full, RankedTensorType result,
                          Value operand, ArrayRef<bool> broadcast) {
  Value matrices = collapseForSum(builder, loc, full, broadcast);
  SmallVector<int64_t> shape(cast<RankedTensorType>(matrices.getType()).getShape());
  shape[shape.size() - 2] = 1;
  Value sum = MatmulOp::create(builder, loc, RankedTensorType::get(shape, result.getElementType()),
                               createOnes(builder, loc, matrices), matrices, /*bias=*/Value(),
                               /*residual=*/Value(), MatmulForm::Linear, /*transpose_a=*/false,
                               /*transpose_b=*/false, APFloat(1.0), ActivationAttr(),
                               Precision::IEEE, ScheduleAttr());
  SmallVector<ReassociationIndices> groups;
  if (shape.size() == 3 && result.getRank() == 4) {
    groups = {{0}, {1}, {2, 3}};
  } else {
    // Dimensions before the last two have extent 1.
    ReassociationIndices all = llvm::to_vector<2>(llvm::seq<int64_t>(0, shape.size()));
    sum = tensor::CollapseShapeOp::create(builder, loc, sum, ArrayRef<ReassociationIndices>{all});
    groups.push_back(llvm::to_vector<2>(llvm::seq<int64_t>(0, result.getRank())));
  }
  return tensor::ExpandShapeOp::create(builder, loc, result, sum, groups,
                                       tensor::getMixedSizes(builder, loc, operand));
}

/// Returns op(sparse) @ dense, the gradient of `operand`.
static Value createGradient(OpBuilder &builder, AttentionGradOp op, Value sparse, Value dense,
                            bool transposeSparse, Value operand, Type resultType) {
  Location loc = op.getLoc();
  auto result = cast<RankedTensorType>(resultType);
  ArrayRef<int64_t> leading = cast<RankedTensorType>(op.getLse().getType()).getShape().drop_back();
  SmallVector<bool> broadcast = broadcastDims(leading, result);
  SmallVector<int64_t> shape(leading);
  llvm::append_range(shape, result.getShape().take_back(2));
  auto full = RankedTensorType::get(shape, result.getElementType());
  Value product = createProduct(builder, loc, full, sparse, dense, transposeSparse, mayForbid(op));
  if (llvm::is_contained(broadcast, true))
    return sumBroadcast(builder, loc, product, result, operand, broadcast);
  if (full.getRank() == result.getRank())
    return product;
  // The operand lacks leading dimensions of extent 1.
  SmallVector<ReassociationIndices> groups(result.getRank());
  int64_t missing = full.getRank() - result.getRank();
  for (int64_t dim = 0; dim < full.getRank(); ++dim)
    groups[std::max<int64_t>(0, dim - missing)].push_back(dim);
  return tensor::CollapseShapeOp::create(builder, loc, result, product, groups);
}

static void decompose(AttentionGradOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Type element = cast<RankedTensorType>(op.getQ().getType()).getElementType();
  Value p = createProbabilities(builder, op, /*lse=*/Type(), op.getLse()).getY();
  Value dv = createGradient(builder, op, p, op.getDout(), /*transposeSparse=*/true, op.getV(),
                            op.getDv().getType());
  Value dp = createScores(builder, loc, scoresType(op, getAccumulatorType(element)), op.getDout(),
                          op.getV());
  auto grad = SoftmaxGradOp::create(builder, loc, scoresType(op, element),
                                    op.getDrpe() ? op.getDrpe().getType() : Type(), p, dp,
                                    op.getOut(), op.getDout(), op.getScale(), ScheduleAttr());
  Value dq = createGradient(builder, op, grad.getDx(), op.getK(), /*transposeSparse=*/false,
                            op.getQ(), op.getDq().getType());
  Value dk = createGradient(builder, op, grad.getDx(), op.getQ(), /*transposeSparse=*/true,
                            op.getK(), op.getDk().getType());
  SmallVector<Value> replacements{dq, dk, dv};
  if (op.getDrpe())
    replacements.push_back(grad.getDrpe());
  op->replaceAllUsesWith(replacements);
  op->erase();
}

/// Returns true if a fused kernel computes `op` on `target`, and its schedule, if it has one, names
/// such a kernel.
static bool staysFused(AttentionOp op, const ::blocksparse::TargetInfo &target) {
  constexpr ::blocksparse::KernelFamily fused = ::blocksparse::KernelFamily::CUDAAttention;
  if (ScheduleAttr schedule = op.getScheduleAttr(); schedule && schedule.getFamily() != fused)
    return false;
  return ::blocksparse::supports(fused, *getKernelProblem(op), target);
}

namespace {
struct DecomposeAttention
    : mlir::blocksparse::impl::DecomposeAttentionPassBase<DecomposeAttention> {
  using DecomposeAttentionPassBase::DecomposeAttentionPassBase;

  void runOnOperation() override {
    getOperation()->walk([&](Operation *op) {
      if (auto attention = dyn_cast<AttentionOp>(op)) {
        if (!staysFused(attention, target))
          decompose(attention);
      }
      if (auto grad = dyn_cast<AttentionGradOp>(op))
        decompose(grad);
    });
  }
};
} // namespace
