// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Folders and canonicalisation patterns. An op that has been given a schedule is left in
// the form that the schedule was chosen for.

#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::blocksparse;

//===----------------------------------------------------------------------===//
// Folders
//===----------------------------------------------------------------------===//

/// transpose(transpose(x)) is x.
OpFoldResult TransposeOp::fold(FoldAdaptor) {
  auto inner = getSource().getDefiningOp<TransposeOp>();
  if (inner && inner.getSource().getType() == getType())
    return inner.getSource();
  return {};
}

static bool hasStaticLayout(Type type) {
  std::optional<SparseTensor> sparse = SparseTensor::get(type);
  return sparse && sparse->isStatic();
}

/// from_dense(to_dense(x)) is x where the pattern is static, and so without duplicates.
OpFoldResult FromDenseOp::fold(FoldAdaptor) {
  auto inner = getSource().getDefiningOp<ToDenseOp>();
  if (inner && inner.getSource().getType() == getType() && hasStaticLayout(getType()))
    return inner.getSource();
  return {};
}

/// to_dense(from_dense(x)) is x where every block is stored.
OpFoldResult ToDenseOp::fold(FoldAdaptor) {
  auto inner = getSource().getDefiningOp<FromDenseOp>();
  std::optional<SparseTensor> sparse = SparseTensor::get(getSource().getType());
  if (!inner || !sparse || !sparse->isStatic() || inner.getSource().getType() != getType())
    return {};
  const ::blocksparse::BlockLayout *pattern = sparse->getLayout().resolve();
  return pattern && pattern->isDense() ? OpFoldResult(inner.getSource()) : OpFoldResult();
}

/// assemble(disassemble(x)) is x.
OpFoldResult AssembleOp::fold(FoldAdaptor) {
  auto inner = getValues().getDefiningOp<DisassembleOp>();
  if (!inner || getValues() != inner.getValues() || inner.getSource().getType() != getType())
    return {};
  if (getCrowIndices() != inner.getCrowIndices() || getColIndices() != inner.getColIndices())
    return {};
  return inner.getSource();
}

/// 1 * sparse + 0 * (a @ b) is sparse: a and b are not read.
OpFoldResult SampledAddmmOp::fold(FoldAdaptor) {
  if (getAlpha().isZero() && getBeta().isExactlyValue(1.0))
    return getSparse();
  return {};
}

//===----------------------------------------------------------------------===//
// Products of nothing
//===----------------------------------------------------------------------===//

/// Whether nothing is summed, whatever the factor holds.
static bool isEmptyFactor(Value factor) {
  auto type = cast<RankedTensorType>(factor.getType());
  if (llvm::is_contained(type.getShape().take_back(2), 0))
    return true;
  std::optional<SparseTensor> sparse = SparseTensor::get(type);
  const ::blocksparse::BlockLayout *pattern =
      sparse && sparse->isStatic() ? sparse->getLayout().resolve() : nullptr;
  return pattern && pattern->nnz() == 0;
}

/// Whether the activation keeps 0.
static bool keepsZero(std::optional<ActivationAttr> activation) {
  return !activation || activation->getKind() != ActivationKind::Sigmoid;
}

static Value createZero(OpBuilder &builder, Location loc, RankedTensorType type) {
  return arith::ConstantOp::create(builder, loc, type, cast<TypedAttr>(builder.getZeroAttr(type)));
}

namespace {

/// A product with alpha == 0 or an empty factor is 0; without an epilogue that changes 0
/// the op is a constant.
template <typename OpTy>
struct FoldZeroProduct : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    bool zero = op.getAlpha().isZero() || isEmptyFactor(op->getOperand(0)) ||
                isEmptyFactor(op->getOperand(1));
    if (!zero)
      return rewriter.notifyMatchFailure(op, "the product is not known to be 0");
    // The two factors are all there is.
    if (op->getNumOperands() != 2 || !keepsZero(op.getActivation()))
      return rewriter.notifyMatchFailure(op, "the epilogue changes 0");
    RankedTensorType type = op.getResult().getType();
    if (!type.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "the result has a dynamic shape");
    rewriter.replaceOp(op, createZero(rewriter, op.getLoc(), type));
    return success();
  }
};

/// sdd with alpha == 0 is a sparse tensor of zeros.
struct FoldZeroSDD : OpRewritePattern<SDDOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SDDOp op, PatternRewriter &rewriter) const override {
    std::optional<SparseTensor> sparse = SparseTensor::get(op.getResult().getType());
    if (!op.getAlpha().isZero() || !sparse || !sparse->isStatic() ||
        !sparse->getValuesType().hasStaticShape())
      return rewriter.notifyMatchFailure(op, "not a product of factor 0 with a static shape");
    Value zero = createZero(rewriter, op.getLoc(), sparse->getValuesType());
    rewriter.replaceOpWithNewOp<AssembleOp>(op, op.getResult().getType(), Value(), Value(), zero);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Epilogues
//===----------------------------------------------------------------------===//

/// The activation `none` says what its absence says.
template <typename OpTy>
struct DropNoActivation : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    std::optional<ActivationAttr> activation = op.getActivation();
    if (!activation || activation->getKind() != ActivationKind::None)
      return rewriter.notifyMatchFailure(op, "no activation none");
    rewriter.modifyOpInPlace(op, [&] { op.removeActivationAttr(); });
    return success();
  }
};

/// beta == 0: input is never read.
struct DropUnreadInput : OpRewritePattern<BsrAddmmOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(BsrAddmmOp op, PatternRewriter &rewriter) const override {
    if (!op.getInput() || !op.getBeta().isZero())
      return rewriter.notifyMatchFailure(op, "no input or it is read");
    rewriter.modifyOpInPlace(op, [&] { op.getInputMutable().clear(); });
    return success();
  }
};

/// An empty product plus 1 * input is the input.
struct FoldEmptyAddmm : OpRewritePattern<BsrAddmmOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(BsrAddmmOp op, PatternRewriter &rewriter) const override {
    bool zero =
        op.getAlpha().isZero() || isEmptyFactor(op.getSparse()) || isEmptyFactor(op.getDense());
    bool plain = op.getInput() && op.getBeta().isExactlyValue(1.0) && !op.getBias() &&
                 !op.getResidual() && !op.getActivation();
    if (!zero || !plain || op.getInput().getType() != op.getResult().getType())
      return rewriter.notifyMatchFailure(op, "the result is not the input");
    rewriter.replaceOp(op, op.getInput());
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Transposes
//===----------------------------------------------------------------------===//

/// A transposed sparse factor becomes a flag of dsd.
struct FoldTransposeIntoDSD : OpRewritePattern<DSDOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(DSDOp op, PatternRewriter &rewriter) const override {
    auto transpose = op.getA().getDefiningOp<TransposeOp>();
    if (!transpose || op.getSchedule())
      return rewriter.notifyMatchFailure(op, "no transposed factor or a schedule");
    rewriter.modifyOpInPlace(op, [&] {
      op.getAMutable().assign(transpose.getSource());
      op.setTransposeA(!op.getTransposeA());
    });
    return success();
  }
};

/// The same for dds.
struct FoldTransposeIntoDDS : OpRewritePattern<DDSOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(DDSOp op, PatternRewriter &rewriter) const override {
    auto transpose = op.getB().getDefiningOp<TransposeOp>();
    if (!transpose || op.getSchedule())
      return rewriter.notifyMatchFailure(op, "no transposed factor or a schedule");
    rewriter.modifyOpInPlace(op, [&] {
      op.getBMutable().assign(transpose.getSource());
      op.setTransposeB(!op.getTransposeB());
    });
    return success();
  }
};

/// The transpose of an sdd that nobody else reads is an sdd with the other transpose_out.
struct FoldTransposeOfSDD : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto sdd = op.getSource().getDefiningOp<SDDOp>();
    if (!sdd || !sdd->hasOneUse() || sdd.getSchedule() || sdd.getPattern())
      return rewriter.notifyMatchFailure(op, "no sdd of its own with a static layout");
    rewriter.setInsertionPoint(sdd);
    SDDOp flipped = cast<SDDOp>(rewriter.clone(*sdd));
    rewriter.modifyOpInPlace(flipped, [&] {
      flipped.getResult().setType(op.getResult().getType());
      flipped.setTransposeOut(!sdd.getTransposeOut());
    });
    rewriter.replaceOp(op, flipped.getResult());
    rewriter.eraseOp(sdd);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// disassemble(assemble(parts)) is the parts.
struct FoldDisassembledParts : OpRewritePattern<DisassembleOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(DisassembleOp op, PatternRewriter &rewriter) const override {
    auto assemble = op.getSource().getDefiningOp<AssembleOp>();
    if (!assemble)
      return rewriter.notifyMatchFailure(op, "no assembled source");
    SmallVector<Value> parts{assemble.getValues()};
    if (op.getCrowIndices())
      parts.append({assemble.getCrowIndices(), assemble.getColIndices()});
    // Sizes may be known on one side alone.
    if (TypeRange(ValueRange(parts)) != op.getResultTypes())
      return rewriter.notifyMatchFailure(op, "types differ");
    rewriter.replaceOp(op, parts);
    return success();
  }
};

} // namespace

void SDDOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<FoldZeroSDD>(context);
}
void DSDOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<FoldTransposeIntoDSD, FoldZeroProduct<DSDOp>, DropNoActivation<DSDOp>>(context);
}
void DDSOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<FoldTransposeIntoDDS, FoldZeroProduct<DDSOp>, DropNoActivation<DDSOp>>(context);
}
void BsrAddmmOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<FoldEmptyAddmm, DropUnreadInput, FoldZeroProduct<BsrAddmmOp>,
               DropNoActivation<BsrAddmmOp>>(context);
}
void MatmulOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<FoldZeroProduct<MatmulOp>, DropNoActivation<MatmulOp>>(context);
}
void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<FoldTransposeOfSDD>(context);
}
void DisassembleOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<FoldDisassembledParts>(context);
}
