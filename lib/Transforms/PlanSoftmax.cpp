// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LookUpTables.h"
#include "PlanPatterns.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/IR/KernelProblem.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blocksparse;

namespace {

/// Returns the extents [M, N], which the mask of edge blocks needs. Fails with an error if they are
/// dynamic.
FailureOr<SmallVector<int64_t>> staticShape(Operation *op, const SparseTensor &type) {
  if (!ShapedType::isDynamic(type.getRows()) && !ShapedType::isDynamic(type.getCols()))
    return SmallVector<int64_t>{type.getRows(), type.getCols()};
  return op->emitOpError() << "expects static numbers of rows and columns, but got "
                           << type.getType();
}

/// Returns the destination of a dense side result whose extents are those of the sparse operand.
/// Its last dimensions are M, N if `matrix`, else M alone.
FailureOr<Value> createSideInit(Operation *op, OpBuilder &builder, RankedTensorType type,
                                const SparseStorage &sparse, bool matrix) {
  OperandSizes sizes(op, builder);
  sizes.add(sparse);
  return sizes.createInit(type, [&](int64_t dim) -> FailureOr<Value> {
    int64_t fromEnd = type.getRank() - 1 - dim + (matrix ? 0 : 1);
    return fromEnd == 0   ? sizes.cols(sparse)
           : fromEnd == 1 ? sizes.rows(sparse)
                          : sizes.leading(fromEnd);
  });
}

LogicalResult rejectFused(Operation *op) {
  return op->emitOpError() << "expects attention to be decomposed before look-up tables are made "
                              "(blocksparse-decompose-attention), but got the fused form";
}

struct PlanSoftmax : OpConversionPattern<SoftmaxOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(SoftmaxOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SparseStorage x = SparseStorage::get(op.getX().getType(), adaptor.getX());
    FailureOr<SmallVector<int64_t>> shape = staticShape(op, x.type);
    if (failed(shape))
      return failure();
    FailureOr<RowTables> tables =
        createRowTables(op, rewriter, x, /*transpose=*/false, /*empty=*/false);
    if (failed(tables))
      return failure();
    SparseTensor y = *SparseTensor::get(op.getY().getType());
    Value init = OperandSizes(op, rewriter).createInitLike(x.values, y.getElementType()), lseInit;
    if (op.getLse()) {
      FailureOr<Value> side = createSideInit(
          op, rewriter, cast<RankedTensorType>(op.getLse().getType()), x, /*matrix=*/false);
      if (failed(side))
        return failure();
      lseInit = *side;
    }
    SmallVector<Type> types{init.getType()};
    if (lseInit)
      types.push_back(lseInit.getType());
    ::blocksparse::BlockShape block = x.type.getBlock();
    auto planned = PlannedSoftmaxOp::create(
        rewriter, op.getLoc(), types, x.values, tables->segments, tables->entries,
        single(adaptor.getRpe()), single(adaptor.getKeyPaddingMask()),
        single(adaptor.getAttentionMask()), single(adaptor.getKnownLse()),
        single(adaptor.getKeyLengths()), single(adaptor.getQueryLengths()),
        single(adaptor.getQuerySegments()), single(adaptor.getKeySegments()),
        single(adaptor.getDynamicScale()), init, lseInit, ArrayRef<int64_t>{block.rows, block.cols},
        *shape, x.type.getLutHeads(), op.getScale(), op.getCausal(), op.getCausalOffset(),
        op.getWindowAttr(), op.getKeyPaddingMaskMode(), op.getAttentionMaskMode(),
        op.getScheduleAttr());
    SmallVector<SmallVector<Value>> replacements{x.withValues(planned.getResult(0))};
    if (op.getLse())
      replacements.push_back({planned.getResult(1)});
    rewriter.replaceOpWithMultiple(op, std::move(replacements));
    return success();
  }
};

struct PlanSoftmaxGrad : OpConversionPattern<SoftmaxGradOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(SoftmaxGradOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SparseStorage y = SparseStorage::get(op.getY().getType(), adaptor.getY());
    SparseStorage dy = SparseStorage::get(op.getDy().getType(), adaptor.getDy());
    FailureOr<SmallVector<int64_t>> shape = staticShape(op, y.type);
    if (failed(shape))
      return failure();
    FailureOr<RowTables> tables =
        createRowTables(op, rewriter, y, /*transpose=*/false, /*empty=*/false);
    if (failed(tables))
      return failure();
    SparseTensor dx = *SparseTensor::get(op.getDx().getType());
    Value init = OperandSizes(op, rewriter).createInitLike(y.values, dx.getElementType()), drpeInit;
    if (op.getDrpe()) {
      FailureOr<Value> side = createSideInit(
          op, rewriter, cast<RankedTensorType>(op.getDrpe().getType()), y, /*matrix=*/true);
      if (failed(side))
        return failure();
      drpeInit = *side;
    }
    SmallVector<Type> types{init.getType()};
    if (drpeInit)
      types.push_back(drpeInit.getType());
    ::blocksparse::BlockShape block = y.type.getBlock();
    auto planned = PlannedSoftmaxGradOp::create(
        rewriter, op.getLoc(), types, y.values, dy.values, tables->segments, tables->entries,
        single(adaptor.getOut()), single(adaptor.getDout()), single(adaptor.getDlse()),
        single(adaptor.getDynamicScale()), init, drpeInit,
        ArrayRef<int64_t>{block.rows, block.cols}, *shape, y.type.getLutHeads(), op.getScale(),
        op.getScheduleAttr());
    SmallVector<SmallVector<Value>> replacements{y.withValues(planned.getResult(0))};
    if (op.getDrpe())
      replacements.push_back({planned.getResult(1)});
    rewriter.replaceOpWithMultiple(op, std::move(replacements));
    return success();
  }
};

/// Plans attention of static shape without masks and biases.
struct PlanAttention : OpConversionPattern<AttentionOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(AttentionOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ::blocksparse::KernelProblem problem = *getKernelProblem(op);
    if (!problem.decomposedFeature.empty() || !problem.staticShapes)
      return rejectFused(op);
    RankedTensorType out = op.getOut().getType(), lse = op.getLse().getType();
    SmallVector<int64_t> shape(lse.getShape());
    shape.push_back(problem.cols);
    auto scores = RankedTensorType::get(shape, lse.getElementType(), op.getLayout());
    SparseStorage pattern{*SparseTensor::get(scores), {}, {}, {}};
    FailureOr<RowTables> tables =
        createRowTables(op, rewriter, pattern, /*transpose=*/false, /*empty=*/false);
    if (failed(tables))
      return failure();
    auto createInit = [&](RankedTensorType type) -> Value {
      return tensor::EmptyOp::create(rewriter, op.getLoc(), type.getShape(), type.getElementType());
    };
    Value outInit = createInit(out), lseInit = createInit(lse);
    auto planned = PlannedAttentionOp::create(
        rewriter, op.getLoc(), TypeRange{out, lse}, single(adaptor.getQ()), single(adaptor.getK()),
        single(adaptor.getV()), tables->segments, tables->entries, /*lists=*/ValueRange(), outInit,
        lseInit, ArrayRef<int64_t>{problem.block.rows, problem.block.cols},
        pattern.type.getLutHeads(), op.getScale(), op.getCausal(), op.getScheduleAttr());
    rewriter.replaceOp(op, planned.getResults());
    return success();
  }
};

struct RejectAttentionGrad : OpConversionPattern<AttentionGradOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(AttentionGradOp op, OneToNOpAdaptor,
                                ConversionPatternRewriter &) const override {
    return rejectFused(op);
  }
};

} // namespace

void mlir::blocksparse::populatePlanSoftmaxPatterns(const TypeConverter &converter,
                                                    RewritePatternSet &patterns) {
  patterns.add<PlanSoftmax, PlanSoftmaxGrad, PlanAttention, RejectAttentionGrad>(
      converter, patterns.getContext());
}
