// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LookUpTables.h"
#include "PlanPatterns.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::CoordinateOrder;

namespace {

struct PlanToDense : OpConversionPattern<ToDenseOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(ToDenseOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SparseStorage source = SparseStorage::get(op.getSource().getType(), adaptor.getSource());
    OperandSizes sizes(op, rewriter);
    sizes.add(source);
    FailureOr<Value> init = sizes.createMatrixInit(
        cast<RankedTensorType>(op.getResult().getType()), [&] { return sizes.rows(source); },
        [&] { return sizes.cols(source); });
    if (failed(init))
      return failure();
    FailureOr<CoordinateTables> tables =
        createCoordinateTables(op, rewriter, source, CoordinateOrder::Rows);
    if (failed(tables))
      return failure();
    ::blocksparse::BlockShape block = source.type.getBlock();
    rewriter.replaceOpWithNewOp<PlannedToDenseOp>(
        op, TypeRange{init->getType()}, source.values, tables->lut, *init,
        ArrayRef<int64_t>{block.rows, block.cols}, source.type.getLutHeads(), op.getScheduleAttr());
    return success();
  }
};

struct PlanFromDense : OpConversionPattern<FromDenseOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(FromDenseOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value source = single(adaptor.getSource());
    OperandSizes sizes(op, rewriter);
    sizes.add(source);
    SparseStorage result{*SparseTensor::get(op.getResult().getType()), {}, {}, {}};
    FailureOr<Value> init = failure();
    if (result.type.isStatic()) {
      init = sizes.createValuesInit(result.type);
    } else if (op.getPattern()) {
      SparseStorage given = SparseStorage::get(op.getPattern().getType(), adaptor.getPattern());
      result.crow = given.crow;
      result.col = given.col;
      init = sizes.createInitLike(given.values, result.type.getElementType());
    } else {
      return op.emitOpError() << "expects a pattern for its dynamic result, but got none";
    }
    if (failed(init))
      return failure();
    FailureOr<CoordinateTables> tables =
        createCoordinateTables(op, rewriter, result, CoordinateOrder::Rows);
    if (failed(tables))
      return failure();
    ::blocksparse::BlockShape block = result.type.getBlock();
    auto planned = PlannedFromDenseOp::create(
        rewriter, op.getLoc(), TypeRange{init->getType()}, source, tables->lut, *init,
        ArrayRef<int64_t>{block.rows, block.cols}, result.type.getLutHeads(), op.getScheduleAttr());
    rewriter.replaceOpWithMultiple(op, {result.withValues(planned.getResult(0))});
    return success();
  }
};

struct PlanTranspose : OpConversionPattern<TransposeOp> {
  using OpConversionPattern::OpConversionPattern;

  /// Creates crow_indices, col_indices and the permutation of the transpose of a dynamic pattern.
  FailureOr<BsrTransposeIndicesOp> transposeIndices(TransposeOp op, const SparseStorage &source,
                                                    OpBuilder &builder) const {
    FailureOr<int64_t> cols = staticBlockCols(op, source.type);
    if (failed(cols))
      return failure();
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(source.col.getType());
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, source.col);
    Value col = tensor::EmptyOp::create(builder, loc, sizes, type.getElementType());
    Value permutation = tensor::EmptyOp::create(builder, loc, sizes, builder.getI32Type());
    sizes.back() = builder.getIndexAttr(*cols + 1);
    Value crow = tensor::EmptyOp::create(builder, loc, sizes, type.getElementType());
    return BsrTransposeIndicesOp::create(
        builder, loc, TypeRange{crow.getType(), col.getType(), permutation.getType()}, source.crow,
        source.col, crow, col, permutation);
  }

  LogicalResult matchAndRewrite(TransposeOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SparseStorage source = SparseStorage::get(op.getSource().getType(), adaptor.getSource());
    SparseStorage result{*SparseTensor::get(op.getResult().getType()), {}, {}, {}};
    Value permutation;
    if (source.type.isStatic()) {
      FailureOr<const ::blocksparse::BlockLayout *> layout =
          resolveLayout(op, source.type.getLayout());
      if (failed(layout))
        return failure();
      std::vector<int32_t> order = ::blocksparse::transposePermutation(**layout);
      permutation = createTable(rewriter, loc, {static_cast<int64_t>(order.size())}, order);
    } else {
      FailureOr<BsrTransposeIndicesOp> indices = transposeIndices(op, source, rewriter);
      if (failed(indices))
        return failure();
      result.crow = indices->getResult(0);
      result.col = indices->getResult(1);
      permutation = indices->getResult(2);
    }
    // The result has the blocks of the source at the same indices, each transposed.
    RankedTensorType type = result.type.getValuesType();
    FailureOr<Value> init =
        OperandSizes(op, rewriter).createInit(type, [&](int64_t dim) -> FailureOr<Value> {
          return sizeOf(rewriter, loc, source.values, dim);
        });
    if (failed(init))
      return failure();
    ::blocksparse::BlockShape block = source.type.getBlock();
    auto planned = PlannedTransposeOp::create(
        rewriter, loc, TypeRange{type}, source.values, permutation, *init,
        ArrayRef<int64_t>{block.rows, block.cols}, source.type.getLutHeads(), op.getScheduleAttr());
    rewriter.replaceOpWithMultiple(op, {result.withValues(planned.getResult(0))});
    return success();
  }
};

struct PlanAdd : OpConversionPattern<AddOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(AddOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SparseStorage a = SparseStorage::get(op.getA().getType(), adaptor.getA());
    SparseStorage b = SparseStorage::get(op.getB().getType(), adaptor.getB());
    Value init = OperandSizes(op, rewriter).createInitLike(a.values, a.type.getElementType());
    auto planned =
        PlannedAddOp::create(rewriter, op.getLoc(), TypeRange{init.getType()}, a.values, b.values,
                             init, op.getAlpha(), op.getBeta(), op.getScheduleAttr());
    rewriter.replaceOpWithMultiple(op, {a.withValues(planned.getResult(0))});
    return success();
  }
};

/// Casts a tensor to a type with other static extents.
Value castTo(OpBuilder &builder, Location loc, Value value, Type type) {
  return value.getType() == type ? value
                                 : tensor::CastOp::create(builder, loc, type, value).getResult();
}

/// An assembled tensor is replaced by its parts, so no operation is left.
struct PlanAssemble : OpConversionPattern<AssembleOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(AssembleOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertType(op.getResult().getType(), types)))
      return failure();
    SmallVector<Value> parts;
    for (Value part : {single(adaptor.getCrowIndices()), single(adaptor.getColIndices()),
                       single(adaptor.getValues())})
      if (part)
        parts.push_back(castTo(rewriter, op.getLoc(), part, types[parts.size()]));
    rewriter.replaceOpWithMultiple(op, {parts});
    return success();
  }
};

struct PlanDisassemble : OpConversionPattern<DisassembleOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(DisassembleOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SparseStorage source = SparseStorage::get(op.getSource().getType(), adaptor.getSource());
    SmallVector<Value> parts{source.values};
    if (op.getNumResults() == 3)
      parts.append({source.crow, source.col});
    for (auto [part, type] : llvm::zip_equal(parts, op.getResultTypes()))
      part = castTo(rewriter, op.getLoc(), part, type);
    rewriter.replaceOp(op, parts);
    return success();
  }
};

} // namespace

void mlir::blocksparse::populatePlanConversionPatterns(const TypeConverter &converter,
                                                       RewritePatternSet &patterns) {
  patterns.add<PlanToDense, PlanFromDense, PlanTranspose, PlanAdd, PlanAssemble, PlanDisassemble>(
      converter, patterns.getContext());
}
