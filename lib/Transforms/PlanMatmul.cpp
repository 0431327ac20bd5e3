// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LookUpTables.h"
#include "PlanPatterns.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::CoordinateOrder;
using llvm::APFloat;

namespace {

//===----------------------------------------------------------------------===//
// dsd, dds and bsr_addmm: reductions over the rows of a pattern
//===----------------------------------------------------------------------===//

/// Describes a planned_dsd before it has tables and a destination.
struct RowProduct {
  SparseStorage sparse;
  Value dense;
  /// op(V) in `op(V) @ op(dense)`. If transposed, its tiles are block columns of the pattern.
  bool transposeValues = false;
  bool transposeB = false;
  bool transposeOut = false;
  bool skipZeros = false;
  Value input{}, leftAlpha{}, rightAlpha{}, bias{}, residual{};
  APFloat alpha{1.0}, beta{0.0};
  Value dynamicAlpha{}, dynamicBeta{};
  ActivationAttr activation{};
  Precision precision = Precision::IEEE;
  ScheduleAttr schedule{};
};

/// Returns the extent of dimension `fromEnd` of the result, taken from an epilogue operand that has
/// the dimension and does not broadcast it; null if there is none.
Value sizeFromEpilogue(OpBuilder &builder, Location loc, const RowProduct &product,
                       int64_t fromEnd) {
  auto tell = [&](Value operand, int64_t operandFromEnd) -> Value {
    auto type = operand ? cast<RankedTensorType>(operand.getType()) : RankedTensorType();
    if (!type || type.getRank() <= operandFromEnd)
      return {};
    int64_t dim = type.getRank() - 1 - operandFromEnd;
    return type.getDimSize(dim) == 1 ? Value() : sizeOf(builder, loc, operand, dim);
  };
  for (Value matrix : {product.input, product.residual})
    if (Value size = tell(matrix, fromEnd))
      return size;
  if (fromEnd == 1)
    return tell(product.leftAlpha, 0);
  Value size = tell(product.rightAlpha, 0);
  return size ? size : tell(product.bias, 0);
}

FailureOr<Value> createRowProductInit(Operation *op, OpBuilder &builder,
                                      const RowProduct &product) {
  OperandSizes sizes(op, builder);
  for (Value dense : {product.dense, product.input, product.bias, product.residual})
    sizes.add(dense);
  sizes.add(product.sparse);
  Location loc = op->getLoc();
  auto sparseSize = [&]() -> FailureOr<Value> {
    // The indices of a dynamic pattern determine the extent only up to the block size.
    if (Value size = sizeFromEpilogue(builder, loc, product, product.transposeOut ? 0 : 1))
      return size;
    return product.transposeValues ? sizes.cols(product.sparse) : sizes.rows(product.sparse);
  };
  auto denseSize = [&]() -> FailureOr<Value> {
    int64_t rank = cast<RankedTensorType>(product.dense.getType()).getRank();
    return sizeOf(builder, loc, product.dense, rank - (product.transposeB ? 2 : 1));
  };
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  return product.transposeOut ? sizes.createMatrixInit(type, denseSize, sparseSize)
                              : sizes.createMatrixInit(type, sparseSize, denseSize);
}

LogicalResult planRowProduct(Operation *op, RowProduct product,
                             ConversionPatternRewriter &rewriter) {
  // An empty product reads nothing: neither entries nor alpha factors, which could be NaN.
  bool empty = product.alpha.isZero() || product.sparse.type.getStoredBlocks() == 0;
  FailureOr<Value> init = createRowProductInit(op, rewriter, product);
  if (failed(init))
    return failure();
  FailureOr<RowTables> tables =
      createRowTables(op, rewriter, product.sparse, product.transposeValues, empty);
  if (failed(tables))
    return failure();
  if (empty)
    product.leftAlpha = product.rightAlpha = product.dynamicAlpha = Value();
  if (product.beta.isZero() || !product.input) {
    product.input = product.dynamicBeta = Value();
    product.beta = APFloat(0.0);
  }
  ::blocksparse::BlockShape block = product.sparse.type.getBlock();
  rewriter.replaceOpWithNewOp<PlannedDSDOp>(
      op, TypeRange{init->getType()}, product.sparse.values, product.dense, tables->segments,
      tables->entries, /*combine=*/Value(), product.input, product.leftAlpha, product.rightAlpha,
      product.bias, product.residual, product.dynamicAlpha, product.dynamicBeta,
      /*stages=*/ValueRange(), /*packed=*/Value(), *init, ArrayRef<int64_t>{block.rows, block.cols},
      product.sparse.type.getLutHeads(), /*slots=*/0, product.transposeValues, product.transposeB,
      product.skipZeros, product.transposeOut, product.alpha, product.beta, product.activation,
      product.precision, product.schedule);
  return success();
}

/// Returns the product of dsd or dds, whose epilogue starts with alpha.
template <typename Op, typename Adaptor>
RowProduct productWithEpilogue(Op op, Adaptor adaptor, SparseStorage sparse, Value dense) {
  RowProduct product{sparse, dense};
  product.bias = single(adaptor.getBias());
  product.residual = single(adaptor.getResidual());
  product.alpha = op.getAlpha();
  product.dynamicAlpha = single(adaptor.getDynamicAlpha());
  product.activation = op.getActivationAttr();
  product.precision = op.getPrecision();
  product.schedule = op.getScheduleAttr();
  return product;
}

struct PlanDSD : OpConversionPattern<DSDOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(DSDOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    RowProduct product =
        productWithEpilogue(op, adaptor, SparseStorage::get(op.getA().getType(), adaptor.getA()),
                            single(adaptor.getB()));
    product.transposeValues = op.getTransposeA();
    product.transposeB = op.getTransposeB();
    product.transposeOut = op.getTransposeOut();
    product.skipZeros = op.getSkipZeros();
    return planRowProduct(op, product, rewriter);
  }
};

/// op(A) @ op(S) is planned as the transpose of op(S)^T @ op(A)^T: the same reduction over the
/// block columns of op(S), stored transposed.
struct PlanDDS : OpConversionPattern<DDSOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(DDSOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    RowProduct product =
        productWithEpilogue(op, adaptor, SparseStorage::get(op.getB().getType(), adaptor.getB()),
                            single(adaptor.getA()));
    product.transposeValues = !op.getTransposeB();
    product.transposeB = !op.getTransposeA();
    product.transposeOut = !op.getTransposeOut();
    return planRowProduct(op, product, rewriter);
  }
};

struct PlanBsrAddmm : OpConversionPattern<BsrAddmmOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(BsrAddmmOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    RowProduct product = productWithEpilogue(
        op, adaptor, SparseStorage::get(op.getSparse().getType(), adaptor.getSparse()),
        single(adaptor.getDense()));
    product.input = single(adaptor.getInput());
    product.leftAlpha = single(adaptor.getLeftAlpha());
    product.rightAlpha = single(adaptor.getRightAlpha());
    product.beta = op.getBeta();
    product.dynamicBeta = single(adaptor.getDynamicBeta());
    return planRowProduct(op, product, rewriter);
  }
};

//===----------------------------------------------------------------------===//
// sdd and sampled_addmm: products at the blocks of a pattern
//===----------------------------------------------------------------------===//

/// Returns a dense operand like `operand` whose dimension `inner` (counted from the end) has extent
/// 0, for a product that reads nothing.
Value dropInnerDimension(OpBuilder &builder, Location loc, Value operand, int64_t inner) {
  auto type = cast<RankedTensorType>(operand.getType());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, operand);
  sizes[type.getRank() - 1 - inner] = builder.getIndexAttr(0);
  return tensor::EmptyOp::create(builder, loc, sizes, type.getElementType());
}

/// Describes a planned_sdd before it has tables and a destination.
struct SampledProduct {
  Value a, b;
  bool transposeA = false, transposeB = false;
  APFloat alpha{1.0}, beta{0.0};
  Value input{};
  Precision precision = Precision::IEEE;
  ScheduleAttr schedule{};
  Value dynamicAlpha{}, dynamicBeta{};
};

/// Plans the product at the blocks of `pattern`; its values have the shape of `init`.
FailureOr<Value> planSampledProduct(Operation *op, SampledProduct product,
                                    const SparseStorage &pattern, Value init,
                                    ConversionPatternRewriter &rewriter) {
  Location loc = op->getLoc();
  // In the order of columns a segment reuses one packed panel of B.
  FailureOr<CoordinateTables> tables =
      createCoordinateTables(op, rewriter, pattern, CoordinateOrder::Columns);
  if (failed(tables))
    return failure();
  if (product.alpha.isZero()) {
    product.a = dropInnerDimension(rewriter, loc, product.a, product.transposeA ? 1 : 0);
    product.b = dropInnerDimension(rewriter, loc, product.b, product.transposeB ? 0 : 1);
  }
  if (product.beta.isZero())
    product.input = product.dynamicBeta = Value();
  ::blocksparse::BlockShape block = pattern.type.getBlock();
  auto planned = PlannedSDDOp::create(
      rewriter, loc, TypeRange{init.getType()}, product.a, product.b, tables->lut, tables->segments,
      product.input, product.dynamicAlpha, product.dynamicBeta, /*tiles=*/ValueRange(), init,
      ArrayRef<int64_t>{block.rows, block.cols}, pattern.type.getLutHeads(), product.transposeA,
      product.transposeB, product.alpha, product.beta, product.precision, product.schedule);
  return planned.getResult(0);
}

struct PlanSDD : OpConversionPattern<SDDOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(SDDOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SampledProduct product{single(adaptor.getA()), single(adaptor.getB()), op.getTransposeA(),
                           op.getTransposeB()};
    product.alpha = op.getAlpha();
    product.precision = op.getPrecision();
    product.schedule = op.getScheduleAttr();
    product.dynamicAlpha = single(adaptor.getDynamicAlpha());
    if (op.getTransposeOut()) { // (op(A) @ op(B))^T = op(B)^T @ op(A)^T
      std::swap(product.a, product.b);
      std::tie(product.transposeA, product.transposeB) =
          std::pair(!product.transposeB, !product.transposeA);
    }
    OperandSizes sizes(op, rewriter);
    sizes.add(product.a);
    sizes.add(product.b);
    SparseStorage pattern{*SparseTensor::get(op.getResult().getType()), {}, {}, {}};
    FailureOr<Value> init = failure();
    if (pattern.type.isStatic()) {
      init = sizes.createValuesInit(pattern.type);
    } else if (op.getPattern()) {
      SparseStorage given = SparseStorage::get(op.getPattern().getType(), adaptor.getPattern());
      pattern.crow = given.crow;
      pattern.col = given.col;
      init = sizes.createInitLike(given.values, pattern.type.getElementType());
    } else {
      return op.emitOpError() << "expects a pattern for its dynamic result, but got none";
    }
    if (failed(init))
      return failure();
    FailureOr<Value> values = planSampledProduct(op, product, pattern, *init, rewriter);
    if (failed(values))
      return failure();
    rewriter.replaceOpWithMultiple(op, {pattern.withValues(*values)});
    return success();
  }
};

struct PlanSampledAddmm : OpConversionPattern<SampledAddmmOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(SampledAddmmOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SparseStorage sparse = SparseStorage::get(op.getSparse().getType(), adaptor.getSparse());
    SampledProduct product{single(adaptor.getA()), single(adaptor.getB()), op.getTransposeA(),
                           op.getTransposeB(),     op.getAlpha(),          op.getBeta(),
                           sparse.values,          op.getPrecision(),      op.getScheduleAttr()};
    product.dynamicAlpha = single(adaptor.getDynamicAlpha());
    product.dynamicBeta = single(adaptor.getDynamicBeta());
    Value init =
        OperandSizes(op, rewriter).createInitLike(sparse.values, sparse.type.getElementType());
    FailureOr<Value> values = planSampledProduct(op, product, sparse, init, rewriter);
    if (failed(values))
      return failure();
    rewriter.replaceOpWithMultiple(op, {sparse.withValues(*values)});
    return success();
  }
};

//===----------------------------------------------------------------------===//
// matmul and scatter_mm
//===----------------------------------------------------------------------===//

/// Holds, for each dimension of the result, the operand (0: a, 1: b) and its dimension that
/// determine the extent.
using DimensionMap = SmallVector<std::pair<int, int64_t>>;

/// Returns the map of score: [B, M, H, D] x [B, N, H, D] -> [B, H, M, N], or of context: [B, H, M,
/// N] x [B, N, H, D] -> [B, M, H, D]. A batch or head that one operand broadcasts is that of the
/// other.
DimensionMap dimensionMap(MatmulForm form, RankedTensorType a, RankedTensorType b) {
  auto either = [&](int64_t dimA, int64_t dimB) {
    return a.isDynamicDim(dimA) ? std::pair<int, int64_t>{0, dimA}
                                : std::pair<int, int64_t>{1, dimB};
  };
  if (form == MatmulForm::Score)
    return {either(0, 0), either(2, 2), {0, 1}, {1, 1}};
  return {either(0, 0), {0, 2}, either(1, 2), {1, 3}};
}

struct PlanMatmul : OpConversionPattern<MatmulOp> {
  using OpConversionPattern::OpConversionPattern;

  FailureOr<Value> createInit(MatmulOp op, Value a, Value b, OpBuilder &builder) const {
    OperandSizes sizes(op, builder);
    sizes.add(a);
    sizes.add(b);
    auto type = cast<RankedTensorType>(op.getResult().getType());
    auto typeA = cast<RankedTensorType>(a.getType()), typeB = cast<RankedTensorType>(b.getType());
    if (op.getForm() != MatmulForm::Linear)
      return sizes.createInit(type, [&](int64_t dim) -> FailureOr<Value> {
        auto [operand, from] = dimensionMap(op.getForm(), typeA, typeB)[dim];
        return sizeOf(builder, op.getLoc(), operand == 0 ? a : b, from);
      });
    auto rows = [&]() -> FailureOr<Value> {
      return sizeOf(builder, op.getLoc(), a, typeA.getRank() - (op.getTransposeA() ? 1 : 2));
    };
    auto cols = [&]() -> FailureOr<Value> {
      return sizeOf(builder, op.getLoc(), b, typeB.getRank() - (op.getTransposeB() ? 2 : 1));
    };
    return sizes.createMatrixInit(type, rows, cols);
  }

  LogicalResult matchAndRewrite(MatmulOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value a = single(adaptor.getA()), b = single(adaptor.getB());
    FailureOr<Value> init = createInit(op, a, b, rewriter);
    if (failed(init))
      return failure();
    if (op.getAlpha().isZero()) {
      bool linear = op.getForm() == MatmulForm::Linear, score = op.getForm() == MatmulForm::Score;
      a = dropInnerDimension(rewriter, op.getLoc(), a, linear && op.getTransposeA() ? 1 : 0);
      b = dropInnerDimension(rewriter, op.getLoc(), b,
                             score || (linear && op.getTransposeB()) ? 0
                             : linear                                ? 1
                                                                     : 2);
    }
    rewriter.replaceOpWithNewOp<PlannedMatmulOp>(
        op, TypeRange{init->getType()}, a, b, single(adaptor.getBias()),
        single(adaptor.getResidual()), single(adaptor.getDynamicAlpha()), *init, op.getForm(),
        op.getTransposeA(), op.getTransposeB(), op.getAlpha(), op.getActivationAttr(),
        op.getPrecision(), op.getScheduleAttr());
    return success();
  }
};

struct PlanScatterMM : OpConversionPattern<ScatterMMOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(ScatterMMOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> indices;
    for (ValueRange index : adaptor.getIndices())
      indices.push_back(single(index));
    Value init = single(adaptor.getAccumulators());
    rewriter.replaceOpWithNewOp<PlannedScatterMMOp>(
        op, TypeRange{init.getType()}, single(adaptor.getBlocks()), single(adaptor.getOthers()),
        indices, init, op.getFormat(), op.getSplitN(), op.getPrecision(), op.getScheduleAttr());
    return success();
  }
};

} // namespace

void mlir::blocksparse::populatePlanMatmulPatterns(const TypeConverter &converter,
                                                   RewritePatternSet &patterns) {
  patterns
      .add<PlanDSD, PlanDDS, PlanBsrAddmm, PlanSDD, PlanSampledAddmm, PlanMatmul, PlanScatterMM>(
          converter, patterns.getContext());
}
