// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LookUpTables.h"
#include "PlanPatterns.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

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
                             single(adaptor.getDynamicAlpha()), single(adaptor.getDynamicBeta()),
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

/// Returns the contiguous value blocks [first, first + count) of each head. `values` holds the
/// blocks of `heads` heads (a number of the program, or of the type) with `listed` blocks each.
Value sliceEachHead(OpBuilder &builder, Location loc, Value values, OpFoldResult heads,
                    int64_t listed, int64_t first, int64_t count) {
  auto type = cast<RankedTensorType>(values.getType());
  int64_t axis = type.getRank() - 3;
  int64_t knownHeads = getConstantIntValue(heads).value_or(ShapedType::kDynamic);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, values);
  auto slice = [&](Value from, int64_t along) {
    sizes[along] = builder.getIndexAttr(count);
    SmallVector<OpFoldResult> offsets(sizes.size(), builder.getIndexAttr(0));
    SmallVector<OpFoldResult> strides(sizes.size(), builder.getIndexAttr(1));
    offsets[along] = builder.getIndexAttr(first);
    return tensor::ExtractSliceOp::create(builder, loc, from, offsets, sizes, strides).getResult();
  };
  if (knownHeads == 1)
    return slice(values, axis);
  // The heads become an axis of their own.
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    groups.push_back(dim < axis    ? ReassociationIndices{dim}
                     : dim == axis ? ReassociationIndices{dim, dim + 1}
                                   : ReassociationIndices{dim + 1});
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = knownHeads;
  shape.insert(shape.begin() + axis + 1, listed);
  sizes[axis] = heads;
  sizes.insert(sizes.begin() + axis + 1, builder.getIndexAttr(listed));
  Value wide = tensor::ExpandShapeOp::create(
      builder, loc, RankedTensorType::get(shape, type.getElementType()), values, groups, sizes);
  return tensor::CollapseShapeOp::create(builder, loc, slice(wide, axis + 1), groups);
}

/// The value blocks of a slice of block rows follow each other, in each head.
struct PlanSlice : OpConversionPattern<SliceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(SliceOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SparseStorage source = SparseStorage::get(op.getSource().getType(), adaptor.getSource());
    SparseTensor result = *SparseTensor::get(op.getType());
    if (source.type.getCols() != result.getCols())
      return op.emitOpError() << "expects a slice of block rows, as blocksparse-decompose-slices "
                                 "leaves it, but got "
                              << result.getCols() << " of " << source.type.getCols() << " columns";
    FailureOr<const ::blocksparse::BlockLayout *> layout =
        resolveLayout(op, source.type.getLayout());
    if (failed(layout))
      return failure();
    ::blocksparse::BlockGrid grid = (*layout)->grid();
    int64_t firstRow = op.getOffsets()[0] / source.type.getBlock().rows;
    auto offsetOf = [&](int64_t head, int64_t row) -> int64_t {
      return (*layout)->rowOffsets()[head * grid.rows + row];
    };
    auto blocksOf = [&](int64_t head) {
      int64_t first = offsetOf(head, firstRow);
      return std::pair(first, offsetOf(head, firstRow + result.getBlockRows()) - first);
    };
    if (auto [first, count] = blocksOf(0); grid.heads == 1 && count != 0) {
      rewriter.replaceOpWithMultiple(
          op, {{castTo(rewriter, op.getLoc(),
                       sliceEachHead(rewriter, op.getLoc(), source.values,
                                     headsOf(rewriter, op.getLoc(), source, (*layout)->nnz()),
                                     (*layout)->nnz(), first, count),
                       result.getValuesType())}});
      return success();
    }
    OperandSizes sizes(op, rewriter);
    sizes.add(source);
    FailureOr<Value> all = sizes.createValuesInit(result);
    if (failed(all))
      return failure();
    int64_t to = 0;
    for (int64_t head = 0; head < grid.heads; ++head) {
      auto [first, count] = blocksOf(head);
      if (count == 0)
        continue;
      *all = insertBlocks(rewriter, op.getLoc(), source.values, first, count, *all, to);
      to += count;
    }
    rewriter.replaceOpWithMultiple(op, {{*all}});
    return success();
  }

private:
  /// Returns the number of heads that share a layout of `listed` blocks.
  static OpFoldResult headsOf(OpBuilder &builder, Location loc, const SparseStorage &storage,
                              int64_t listed) {
    if (!ShapedType::isDynamic(storage.type.getHeads()))
      return builder.getIndexAttr(storage.type.getHeads());
    int64_t axis = cast<RankedTensorType>(storage.values.getType()).getRank() - 3;
    Value blocks = sizeOf(builder, loc, storage.values, axis);
    Value each = arith::ConstantIndexOp::create(builder, loc, listed);
    return arith::DivUIOp::create(builder, loc, blocks, each).getResult();
  }

  /// Returns `target` with the blocks [first, first + count) of `values` from block `to` on.
  static Value insertBlocks(OpBuilder &builder, Location loc, Value values, int64_t first,
                            int64_t count, Value target, int64_t to) {
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, values);
    SmallVector<OpFoldResult> from(sizes.size(), builder.getIndexAttr(0)), into(from);
    SmallVector<OpFoldResult> strides(sizes.size(), builder.getIndexAttr(1));
    size_t axis = sizes.size() - 3;
    sizes[axis] = builder.getIndexAttr(count);
    from[axis] = builder.getIndexAttr(first);
    into[axis] = builder.getIndexAttr(to);
    Value blocks = tensor::ExtractSliceOp::create(builder, loc, values, from, sizes, strides);
    return tensor::InsertSliceOp::create(builder, loc, blocks, target, into, sizes, strides);
  }
};

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
  patterns.add<PlanToDense, PlanFromDense, PlanTranspose, PlanSlice, PlanAdd, PlanAssemble,
               PlanDisassemble>(converter, patterns.getContext());
}
