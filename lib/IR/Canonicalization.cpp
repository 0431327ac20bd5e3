// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Folders and canonicalisation patterns. An operation with a schedule keeps the form for which the
// schedule was chosen.

#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::blocksparse;

//===----------------------------------------------------------------------===//
// Folders
//===----------------------------------------------------------------------===//

/// Folds transpose(transpose(x)) to x.
OpFoldResult TransposeOp::fold(FoldAdaptor) {
  auto inner = getSource().getDefiningOp<TransposeOp>();
  if (inner && inner.getSource().getType() == getType())
    return inner.getSource();
  return {};
}

/// Folds a slice that is the whole source.
OpFoldResult SliceOp::fold(FoldAdaptor) {
  return getSource().getType() == getType() ? getSource() : Value();
}

static bool hasStaticLayout(Type type) {
  std::optional<SparseTensor> sparse = SparseTensor::get(type);
  return sparse && sparse->isStatic();
}

/// Folds from_dense(to_dense(x)) to x if the pattern is static, and therefore has no duplicates.
OpFoldResult FromDenseOp::fold(FoldAdaptor) {
  auto inner = getSource().getDefiningOp<ToDenseOp>();
  if (inner && inner.getSource().getType() == getType() && hasStaticLayout(getType()))
    return inner.getSource();
  return {};
}

/// Returns x for to_dense(from_dense(x)) if the pattern stores every block.
OpFoldResult ToDenseOp::fold(FoldAdaptor) {
  auto inner = getSource().getDefiningOp<FromDenseOp>();
  std::optional<SparseTensor> sparse = SparseTensor::get(getSource().getType());
  if (!inner || !sparse || !sparse->isStatic() || inner.getSource().getType() != getType())
    return {};
  const ::blocksparse::BlockLayout *pattern = sparse->getLayout().resolve();
  return pattern && pattern->isDense() ? OpFoldResult(inner.getSource()) : OpFoldResult();
}

/// Folds assemble(disassemble(x)) to x.
OpFoldResult AssembleOp::fold(FoldAdaptor) {
  auto inner = getValues().getDefiningOp<DisassembleOp>();
  if (!inner || getValues() != inner.getValues() || inner.getSource().getType() != getType())
    return {};
  if (getCrowIndices() != inner.getCrowIndices() || getColIndices() != inner.getColIndices())
    return {};
  return inner.getSource();
}

/// Folds 1 * sparse + 0 * (a @ b) to sparse: a and b are not read.
OpFoldResult SampledAddmmOp::fold(FoldAdaptor) {
  if (getAlpha().isZero() && getBeta().isExactlyValue(1.0) && !getDynamicBeta())
    return getSparse();
  return {};
}

//===----------------------------------------------------------------------===//
// Products that are 0
//===----------------------------------------------------------------------===//

/// Returns true if `factor` has no rows, no columns or no stored block, so that its product is 0.
static bool isEmptyFactor(Value factor) {
  auto type = cast<RankedTensorType>(factor.getType());
  if (llvm::is_contained(type.getShape().take_back(2), 0))
    return true;
  std::optional<SparseTensor> sparse = SparseTensor::get(type);
  const ::blocksparse::BlockLayout *pattern =
      sparse && sparse->isStatic() ? sparse->getLayout().resolve() : nullptr;
  return pattern && pattern->nnz() == 0;
}

/// Returns true if the activation maps 0 to 0.
static bool keepsZero(std::optional<ActivationAttr> activation) {
  return !activation || activation->getKind() != ActivationKind::Sigmoid;
}

static Value createZero(OpBuilder &builder, Location loc, RankedTensorType type) {
  return arith::ConstantOp::create(builder, loc, type, cast<TypedAttr>(builder.getZeroAttr(type)));
}

namespace {

/// Replaces a product with alpha == 0 or an empty factor by a constant 0, unless its epilogue
/// changes 0.
template <typename OpTy>
struct FoldZeroProduct : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    bool zero = op.getAlpha().isZero() || isEmptyFactor(op->getOperand(0)) ||
                isEmptyFactor(op->getOperand(1));
    if (!zero)
      return rewriter.notifyMatchFailure(op, "the product is not known to be 0");
    // An operation with two operands has no epilogue operand.
    if (op->getNumOperands() != 2 || !keepsZero(op.getActivation()))
      return rewriter.notifyMatchFailure(op, "the epilogue changes 0");
    RankedTensorType type = op.getResult().getType();
    if (!type.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "the result has a dynamic shape");
    rewriter.replaceOp(op, createZero(rewriter, op.getLoc(), type));
    return success();
  }
};

/// Replaces an sdd with alpha == 0 by a sparse tensor of zeros.
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

/// Removes the activation `none`, which means the same as no activation.
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

/// Removes the input of a bsr_addmm with beta == 0, which never reads it.
struct DropUnreadInput : OpRewritePattern<BsrAddmmOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(BsrAddmmOp op, PatternRewriter &rewriter) const override {
    if (!op.getInput() || !op.getBeta().isZero())
      return rewriter.notifyMatchFailure(op, "no input or it is read");
    rewriter.modifyOpInPlace(op, [&] { op.getInputMutable().clear(); });
    return success();
  }
};

/// Replaces an empty product plus 1 * input by the input.
struct FoldEmptyAddmm : OpRewritePattern<BsrAddmmOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(BsrAddmmOp op, PatternRewriter &rewriter) const override {
    bool zero =
        op.getAlpha().isZero() || isEmptyFactor(op.getSparse()) || isEmptyFactor(op.getDense());
    bool plain = op.getInput() && op.getBeta().isExactlyValue(1.0) && !op.getDynamicBeta() &&
                 !op.getBias() && !op.getResidual() && !op.getActivation();
    if (!zero || !plain || op.getInput().getType() != op.getResult().getType())
      return rewriter.notifyMatchFailure(op, "the result is not the input");
    rewriter.replaceOp(op, op.getInput());
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Transposes
//===----------------------------------------------------------------------===//

/// Turns a transpose of the sparse factor of dsd into its flag transpose_a.
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

/// Turns a transpose of the sparse factor of dds into its flag transpose_b.
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

/// Turns the transpose of an sdd that has no other use into an sdd with the opposite transpose_out.
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

/// Replaces the results of disassemble(assemble(parts)) by the parts.
struct FoldDisassembledParts : OpRewritePattern<DisassembleOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(DisassembleOp op, PatternRewriter &rewriter) const override {
    auto assemble = op.getSource().getDefiningOp<AssembleOp>();
    if (!assemble)
      return rewriter.notifyMatchFailure(op, "no assembled source");
    SmallVector<Value> parts{assemble.getValues()};
    if (op.getCrowIndices())
      parts.append({assemble.getCrowIndices(), assemble.getColIndices()});
    // The types may differ in sizes that only one of them knows.
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
