// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BroadcastSum.h"

#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace mlir::blocksparse;

/// Returns, for each leading dimension (batch, heads) of a product, whether the operand of a
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

Value mlir::blocksparse::createOnes(OpBuilder &builder, Location loc, Value like) {
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

/// Returns the sum of the rows of `matrices` [.., R, C] as `type` [.., 1, C].
static Value sumRows(OpBuilder &builder, Location loc, Value matrices, RankedTensorType type) {
  return MatmulOp::create(builder, loc, type, createOnes(builder, loc, matrices), matrices,
                          /*bias=*/Value(), /*residual=*/Value(), /*dynamic_alpha=*/Value(),
                          MatmulForm::Linear,
                          /*transpose_a=*/false, /*transpose_b=*/false, llvm::APFloat(1.0),
                          ActivationAttr(), Precision::IEEE, ScheduleAttr());
}

/// Sums a gradient over the dimensions in which its operand was broadcast. `operand` has the
/// extents of the result.
static Value sumBroadcast(OpBuilder &builder, Location loc, Value full, RankedTensorType result,
                          Value operand, ArrayRef<bool> broadcast) {
  Value matrices = collapseForSum(builder, loc, full, broadcast);
  SmallVector<int64_t> shape(cast<RankedTensorType>(matrices.getType()).getShape());
  shape[shape.size() - 2] = 1;
  Value sum =
      sumRows(builder, loc, matrices, RankedTensorType::get(shape, result.getElementType()));
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

Value mlir::blocksparse::sumGroups(OpBuilder &builder, Location loc, Value full, int64_t groups) {
  auto type = cast<RankedTensorType>(full.getType());
  int64_t rank = type.getRank(), head = rank - 3;
  SmallVector<int64_t> split(type.getShape());
  split[head] /= groups;
  SmallVector<int64_t> summed(split);
  split.insert(split.begin() + head + 1, groups);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, full);
  sizes[head] = builder.getIndexAttr(split[head]);
  SmallVector<OpFoldResult> summedSizes(sizes);
  sizes.insert(sizes.begin() + head + 1, builder.getIndexAttr(groups));
  SmallVector<ReassociationIndices> grouping;
  for (int64_t dim = 0; dim < rank; ++dim)
    grouping.push_back(dim < head    ? ReassociationIndices{dim}
                       : dim == head ? ReassociationIndices{dim, dim + 1}
                                     : ReassociationIndices{dim + 1});
  Value expanded = tensor::ExpandShapeOp::create(
      builder, loc, RankedTensorType::get(split, type.getElementType()), full, grouping, sizes);
  // The heads [.., H / groups, groups, R, C] as a stack of matrices [groups, R * C].
  ReassociationIndices stack = llvm::to_vector<2>(llvm::seq<int64_t>(0, head + 1));
  Value matrices = tensor::CollapseShapeOp::create(
      builder, loc, expanded,
      ArrayRef<ReassociationIndices>{stack, {head + 1}, {head + 2, head + 3}});
  SmallVector<int64_t> shape(cast<RankedTensorType>(matrices.getType()).getShape());
  shape[1] = 1;
  Value sum = sumRows(builder, loc, matrices, RankedTensorType::get(shape, type.getElementType()));
  Value flat = tensor::CollapseShapeOp::create(builder, loc, sum,
                                               ArrayRef<ReassociationIndices>{{0}, {1, 2}});
  return tensor::ExpandShapeOp::create(
      builder, loc, RankedTensorType::get(summed, type.getElementType()), flat,
      ArrayRef<ReassociationIndices>{stack, {head + 1, head + 2}}, summedSizes);
}

Value mlir::blocksparse::sumToOperand(OpBuilder &builder, Location loc, Value full,
                                      RankedTensorType result, Value operand) {
  auto type = cast<RankedTensorType>(full.getType());
  SmallVector<bool> broadcast = broadcastDims(type.getShape().drop_back(2), result);
  if (llvm::is_contained(broadcast, true))
    return sumBroadcast(builder, loc, full, result, operand, broadcast);
  if (type.getRank() == result.getRank())
    return full;
  // The operand lacks leading dimensions of extent 1.
  SmallVector<ReassociationIndices> groups(result.getRank());
  int64_t missing = type.getRank() - result.getRank();
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    groups[std::max<int64_t>(0, dim - missing)].push_back(dim);
  return tensor::CollapseShapeOp::create(builder, loc, result, full, groups);
}
