// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/Transforms/Passes.h"
#include "mlir/IR/Dominance.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::blocksparse {
#define GEN_PASS_DEF_FUSEATTENTIONPASS
#include "blocksparse/Transforms/Passes.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;
using namespace mlir::blocksparse;

namespace {

/// Holds three operations that may be one attention.
struct AttentionChain {
  SDDOp scores;
  SoftmaxOp softmax;
  DSDOp product;
};

} // namespace

static RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Returns the chain that ends in `product`, if there is one.
static std::optional<AttentionChain> getChain(DSDOp product) {
  auto softmax = product.getA().getDefiningOp<SoftmaxOp>();
  auto scores = softmax ? softmax.getX().getDefiningOp<SDDOp>() : SDDOp();
  if (!scores || softmax.getY() != product.getA())
    return std::nullopt;
  return AttentionChain{scores, softmax, product};
}

/// Returns what `op` has that attention lacks; empty if there is nothing.
static std::string getUnsupported(SDDOp op) {
  if (op.getTransposeA() || !op.getTransposeB() || op.getTransposeOut())
    return "sdd with transpose_b alone, but got other transposes";
  if (!isa<LayoutAttrInterface>(tensorType(op.getResult()).getEncoding()))
    return "a static layout, but got a dynamic pattern";
  if (op.getPrecision() != Precision::IEEE)
    return "precision ieee, but got " + stringifyPrecision(op.getPrecision()).str();
  if (op.getDynamicAlpha())
    return "an alpha of sdd that is an attribute, but got an operand";
  if (op.getSchedule())
    return "operations without a schedule, but got one of sdd";
  return {};
}

static std::string getUnsupported(SoftmaxOp op) {
  if (op.getKnownLse())
    return "a softmax that normalises its rows, but got one with known_lse";
  if (op.getSchedule())
    return "operations without a schedule, but got one of softmax";
  return {};
}

static std::string getUnsupported(DSDOp op) {
  if (op.getTransposeA() || op.getTransposeB() || op.getTransposeOut())
    return "dsd without transposes, but got a transpose";
  if (op.getBias() || op.getResidual() || op.getActivation() || op.getDynamicAlpha() ||
      !op.getAlpha().isExactlyValue(1))
    return "dsd without an epilogue, but got one";
  if (op.getPrecision() != Precision::IEEE)
    return "precision ieee, but got " + stringifyPrecision(op.getPrecision()).str();
  if (op.getSchedule())
    return "operations without a schedule, but got one of dsd";
  return {};
}

/// Returns "expects X, but got Y" without its first word where the chain is not an attention.
static std::string getObstacle(AttentionChain chain, DominanceInfo &dominance) {
  auto [scores, softmax, product] = chain;
  for (std::string reason :
       {getUnsupported(scores), getUnsupported(softmax), getUnsupported(product)})
    if (!reason.empty())
      return reason;
  if (softmax.getDynamicScale() && !scores.getAlpha().isExactlyValue(1))
    return "sdd with alpha 1 where scale is an operand, but got " +
           llvm::formatv("{0}", scores.getAlpha().convertToDouble()).str();
  auto countUses = [](Value value) {
    return std::to_string(std::distance(value.use_begin(), value.use_end()));
  };
  if (!scores.getResult().hasOneUse())
    return "1 use of the scores, but got " + countUses(scores.getResult());
  if (!softmax.getY().hasOneUse())
    return "1 use of the softmax, but got " + countUses(softmax.getY());
  if (scores->getBlock() != product->getBlock() || softmax->getBlock() != product->getBlock())
    return "operations of one block, but got several";
  if (softmax.getLse())
    for (Operation *user : softmax.getLse().getUsers())
      if (!dominance.properlyDominates(product.getOperation(), user))
        return "uses of lse after dsd, but got one before it in " +
               user->getName().getStringRef().str();
  Type element = tensorType(scores.getA()).getElementType();
  auto spell = [](Type type) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return text;
  };
  if (Type own = tensorType(softmax.getY()).getElementType(); own != element)
    return "a softmax of the element type of q, " + spell(element) + ", but got " + spell(own);
  if (!isa<FloatType>(element))
    return "q of a floating-point type, but got " + spell(element);
  if (softmax.mayForbid() && !product.getSkipZeros())
    return "dsd with skip_zeros, because a mask may forbid elements, but got none";
  if (!softmax.mayForbid() && product.getSkipZeros())
    return "dsd without skip_zeros, because no mask forbids elements, but got it";
  if (tensorType(product.getResult()).getShape().drop_back(2) !=
      tensorType(softmax.getY()).getShape().drop_back(2))
    return "a result with the batches and heads of the scores, but got a broadcast of them";
  return {};
}

/// Replaces the chain by an attention.
static void fuse(AttentionChain chain) {
  auto [scores, softmax, product] = chain;
  OpBuilder builder(product);
  RankedTensorType type = tensorType(scores.getResult());
  Type element = tensorType(scores.getA()).getElementType();
  Type accumulator = getAccumulatorType(element);
  double alpha = scores.getAlpha().convertToDouble();
  // Narrow scores that are not yet scaled could overflow.
  bool keepsElement = type.getElementType() != accumulator && alpha == 1;
  Type lse = softmax.getLse() ? softmax.getLse().getType()
                              : RankedTensorType::get(type.getShape().drop_back(), accumulator);
  auto attention = AttentionOp::create(
      builder, product.getLoc(), product.getResult().getType(), lse, scores.getA(), scores.getB(),
      product.getB(), softmax.getRpe(), softmax.getKeyPaddingMask(), softmax.getAttentionMask(),
      softmax.getKeyLengths(), softmax.getQueryLengths(), softmax.getQuerySegments(),
      softmax.getKeySegments(), /*sink=*/Value(), softmax.getDynamicScale(),
      cast<LayoutAttrInterface>(type.getEncoding()),
      llvm::APFloat(alpha * softmax.getScale().convertToDouble()), softmax.getCausal(),
      softmax.getCausalOffset(), softmax.getWindowAttr(), softmax.getKeyPaddingMaskMode(),
      softmax.getAttentionMaskMode(), /*soft_cap=*/FloatAttr(),
      keepsElement ? TypeAttr::get(type.getElementType()) : TypeAttr(), ScheduleAttr());
  product.getResult().replaceAllUsesWith(attention.getOut());
  if (softmax.getLse())
    softmax.getLse().replaceAllUsesWith(attention.getLse());
  product.erase();
  softmax.erase();
  scores.erase();
}

namespace {
struct FuseAttention : mlir::blocksparse::impl::FuseAttentionPassBase<FuseAttention> {
  void runOnOperation() override {
    auto &dominance = getAnalysis<DominanceInfo>();
    SmallVector<DSDOp> products;
    getOperation()->walk([&](DSDOp product) { products.push_back(product); });
    for (DSDOp product : products) {
      std::optional<AttentionChain> chain = getChain(product);
      if (!chain)
        continue;
      std::string obstacle = getObstacle(*chain, dominance);
      if (obstacle.empty())
        fuse(*chain);
      else
        product.emitRemark("not fused to attention: expects ") << obstacle;
    }
  }
};
} // namespace
