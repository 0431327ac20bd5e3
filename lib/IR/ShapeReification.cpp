// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ShapeReification.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

using namespace mlir;
using namespace mlir::blocksparse;

namespace {

/// Describes one factor of a product: op(tensor), whose last two dimensions are exchanged if it is
/// transposed.
struct ProductFactor {
  Value tensor;
  bool transposed;

  RankedTensorType type() const { return cast<RankedTensorType>(tensor.getType()); }
  /// Returns the axis of `tensor` that is the dimension `fromEnd` of op(tensor), counted from the
  /// last one, 0; -1 if there is none.
  int64_t axis(int64_t fromEnd) const {
    return type().getRank() - 1 - (transposed && fromEnd < 2 ? 1 - fromEnd : fromEnd);
  }
};

} // namespace

/// Returns an extent of a factor; null if it is an open one of a sparse tensor, which only its
/// indices know.
static OpFoldResult getExtent(OpBuilder &builder, Location loc, const ProductFactor &factor,
                              int64_t fromEnd) {
  RankedTensorType type = factor.type();
  int64_t axis = factor.axis(fromEnd);
  if (!type.isDynamicDim(axis))
    return builder.getIndexAttr(type.getDimSize(axis));
  if (type.getEncoding())
    return {};
  return Value(tensor::DimOp::create(builder, loc, factor.tensor, axis));
}

/// Returns a leading extent of a product: that of the first factor that does not broadcast it.
static OpFoldResult getLeadingExtent(OpBuilder &builder, Location loc,
                                     ArrayRef<ProductFactor> factors, int64_t fromEnd) {
  for (const ProductFactor &factor : factors) {
    int64_t axis = factor.axis(fromEnd);
    if (axis >= 0 && factor.type().getDimSize(axis) != 1)
      return getExtent(builder, loc, factor, fromEnd);
  }
  return builder.getIndexAttr(1);
}

/// Computes the extents of left @ right, stored transposed if `transposeOut`. Fails if the types
/// and the dense factors do not tell one.
static LogicalResult reifyProduct(Operation *op, OpBuilder &builder, ProductFactor left,
                                  ProductFactor right, bool transposeOut,
                                  ReifiedRankedShapedTypeDims &shapes) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<OpFoldResult> shape;
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    if (!type.isDynamicDim(axis)) {
      shape.push_back(builder.getIndexAttr(type.getDimSize(axis)));
      continue;
    }
    int64_t fromEnd = type.getRank() - 1 - axis;
    if (fromEnd > 1)
      shape.push_back(getLeadingExtent(builder, op->getLoc(), {left, right}, fromEnd));
    else
      shape.push_back((fromEnd == 1) != transposeOut
                          ? getExtent(builder, op->getLoc(), left, /*fromEnd=*/1)
                          : getExtent(builder, op->getLoc(), right, /*fromEnd=*/0));
    if (!shape.back())
      return failure();
  }
  shapes.push_back(std::move(shape));
  return success();
}

static LogicalResult reify(DSDOp op, OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  return reifyProduct(op, builder, {op.getA(), op.getTransposeA()}, {op.getB(), op.getTransposeB()},
                      op.getTransposeOut(), shapes);
}
static LogicalResult reify(DDSOp op, OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  return reifyProduct(op, builder, {op.getA(), op.getTransposeA()}, {op.getB(), op.getTransposeB()},
                      op.getTransposeOut(), shapes);
}
static LogicalResult reify(BsrAddmmOp op, OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  return reifyProduct(op, builder, {op.getSparse(), false}, {op.getDense(), false},
                      /*transposeOut=*/false, shapes);
}
static LogicalResult reify(MatmulOp op, OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  if (op.getForm() != MatmulForm::Linear)
    return failure();
  return reifyProduct(op, builder, {op.getA(), op.getTransposeA()}, {op.getB(), op.getTransposeB()},
                      /*transposeOut=*/false, shapes);
}

namespace {

template <typename OpTy>
struct ProductShape : ReifyRankedShapedTypeOpInterface::ExternalModel<ProductShape<OpTy>, OpTy> {
  LogicalResult reifyResultShapes(Operation *op, OpBuilder &builder,
                                  ReifiedRankedShapedTypeDims &shapes) const {
    return reify(cast<OpTy>(op), builder, shapes);
  }
};

} // namespace

void mlir::blocksparse::detail::attachShapeReification(MLIRContext &context) {
  DSDOp::attachInterface<ProductShape<DSDOp>>(context);
  DDSOp::attachInterface<ProductShape<DDSOp>>(context);
  BsrAddmmOp::attachInterface<ProductShape<BsrAddmmOp>>(context);
  MatmulOp::attachInterface<ProductShape<MatmulOp>>(context);
}
