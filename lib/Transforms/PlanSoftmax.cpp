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

/// Returns the pattern of the scores of `op`, attention or its gradient, as storage without values.
template <typename OpTy>
SparseStorage getScores(OpTy op, const ::blocksparse::KernelProblem &problem) {
  auto lse = cast<RankedTensorType>(op.getLse().getType());
  SmallVector<int64_t> shape(lse.getShape());
  shape.push_back(problem.cols);
  auto scores = RankedTensorType::get(shape, lse.getElementType(), op.getLayout());
  return {*SparseTensor::get(scores), {}, {}, {}};
}

Value createEmpty(OpBuilder &builder, Location loc, Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor::EmptyOp::create(builder, loc, tensor.getShape(), tensor.getElementType());
}

struct PlanAttention : OpConversionPattern<AttentionOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(AttentionOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!hasPlannedForm(op))
      return rejectFused(op);
    ::blocksparse::KernelProblem problem = *getKernelProblem(op);
    SparseStorage pattern = getScores(op, problem);
    FailureOr<RowTables> tables =
        createRowTables(op, rewriter, pattern, /*transpose=*/false, /*empty=*/false);
    if (failed(tables))
      return failure();
    Value outInit = createEmpty(rewriter, op.getLoc(), op.getOut().getType());
    Value lseInit = createEmpty(rewriter, op.getLoc(), op.getLse().getType());
    auto planned = PlannedAttentionOp::create(
        rewriter, op.getLoc(), op->getResultTypes(), single(adaptor.getQ()), single(adaptor.getK()),
        single(adaptor.getV()), tables->segments, tables->entries, /*lists=*/ValueRange(),
        single(adaptor.getRpe()), single(adaptor.getKeyPaddingMask()),
        single(adaptor.getAttentionMask()), single(adaptor.getKeyLengths()),
        single(adaptor.getQueryLengths()), single(adaptor.getQuerySegments()),
        single(adaptor.getKeySegments()), single(adaptor.getSink()), outInit, lseInit,
        ArrayRef<int64_t>{problem.block.rows, problem.block.cols}, pattern.type.getLutHeads(),
        op.getScale(), op.getCausal(), op.getCausalOffset(), op.getWindowAttr(),
        op.getKeyPaddingMaskMode(), op.getAttentionMaskMode(), op.getSoftCapAttr(),
        op.getScheduleAttr());
    rewriter.replaceOp(op, planned.getResults());
    return success();
  }
};

struct PlanAttentionGrad : OpConversionPattern<AttentionGradOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(AttentionGradOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!hasPlannedForm(op))
      return rejectFused(op);
    ::blocksparse::KernelProblem problem = *getKernelProblem(op);
    SparseStorage pattern = getScores(op, problem);
    FailureOr<RowTables> rows =
        createRowTables(op, rewriter, pattern, /*transpose=*/false, /*empty=*/false);
    FailureOr<RowTables> columns =
        createRowTables(op, rewriter, pattern, /*transpose=*/true, /*empty=*/false);
    if (failed(rows) || failed(columns))
      return failure();
    SmallVector<Type> types(op->getResultTypes());
    RankedTensorType lse = op.getLse().getType();
    SmallVector<int64_t> rowsShape(lse.getShape());
    rowsShape.insert(rowsShape.end() - 1, 2);
    types.push_back(RankedTensorType::get(rowsShape, lse.getElementType()));
    SmallVector<Value> inits;
    for (Type type : types)
      inits.push_back(createEmpty(rewriter, op.getLoc(), type));
    auto planned = PlannedAttentionGradOp::create(
        rewriter, op.getLoc(), types, single(adaptor.getQ()), single(adaptor.getK()),
        single(adaptor.getV()), single(adaptor.getOut()), single(adaptor.getLse()),
        single(adaptor.getDout()), rows->segments, rows->entries, columns->segments,
        columns->entries, /*lists=*/ValueRange(), single(adaptor.getRpe()),
        single(adaptor.getKeyPaddingMask()), single(adaptor.getAttentionMask()),
        single(adaptor.getKeyLengths()), single(adaptor.getQueryLengths()),
        single(adaptor.getQuerySegments()), single(adaptor.getKeySegments()),
        single(adaptor.getDlse()), inits[0], inits[1], inits[2], inits[3],
        ArrayRef<int64_t>{problem.block.rows, problem.block.cols}, pattern.type.getLutHeads(),
        op.getScale(), op.getCausal(), op.getCausalOffset(), op.getWindowAttr(),
        op.getKeyPaddingMaskMode(), op.getAttentionMaskMode(), op.getSoftCapAttr(),
        op.getScheduleAttr());
    rewriter.replaceOp(op, planned.getResults().take_front(op->getNumResults()));
    return success();
  }
};

} // namespace

void mlir::blocksparse::populatePlanSoftmaxPatterns(const TypeConverter &converter,
                                                    RewritePatternSet &patterns) {
  patterns.add<PlanSoftmax, PlanSoftmaxGrad, PlanAttention, PlanAttentionGrad>(
      converter, patterns.getContext());
}
