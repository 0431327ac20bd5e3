// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Transforms/ProductTiling.h"

#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/TilingInterface.h"

using namespace mlir;
using namespace mlir::blocksparse;

using Sizes = SmallVector<OpFoldResult>;

namespace {

/// Describes how the tiles of a result are computed: of each axis of an operand, the axis of the
/// result whose tiles it has, or -1 where every tile reads all of it.
class TiledProduct {
public:
  explicit TiledProduct(DSDOp op);
  explicit TiledProduct(DDSOp op);
  explicit TiledProduct(BsrAddmmOp op);
  explicit TiledProduct(MatmulOp op);

  /// Returns the axes of the result that are loops, in ascending order.
  ArrayRef<int64_t> getLoops() const { return loops; }
  RankedTensorType getType() const { return cast<RankedTensorType>(op->getResult(0).getType()); }
  /// Returns the extents of the result, some of which are computed in front of the product; fails
  /// if one is unknown.
  FailureOr<Sizes> getExtents(OpBuilder &b) const;
  /// Returns the tile of the result at `offsets`, which and `sizes` are those of all its axes.
  TilingResult getTile(OpBuilder &b, ArrayRef<OpFoldResult> offsets,
                       ArrayRef<OpFoldResult> sizes) const;

private:
  explicit TiledProduct(Operation *op) : op(op), axes(op->getNumOperands()) {}

  int64_t rank() const { return getType().getRank(); }
  /// Makes the leading axes of the result loops, if the sparse factor has none.
  void addLeadingLoops(Value sparse);
  /// Says which axes of the result `operand`, which may be absent, has.
  void map(const MutableOperandRange &operand, ArrayRef<int64_t> own);
  /// Says that the axes of `operand`, which may be absent, are the last ones of the result.
  void align(const MutableOperandRange &operand);
  /// Says that a factor has the leading axes of the result, and that its dimension `fromEnd`,
  /// counted from the last one, 0, is the axis `across` of the result.
  void mapFactor(OpOperand &factor, bool transposed, int64_t fromEnd, int64_t across);
  /// Takes in the bias and the residual. Drops the loops if the extents of the result do not follow
  /// from those of dense operands.
  template <typename OpTy>
  void finish(OpTy product, bool isLinear = true);

  Operation *op;
  SmallVector<int64_t> loops;
  SmallVector<SmallVector<int64_t>> axes;
};

} // namespace

void TiledProduct::addLeadingLoops(Value sparse) {
  if (cast<RankedTensorType>(sparse.getType()).getRank() == 2)
    llvm::append_range(loops, llvm::seq<int64_t>(0, rank() - 2));
}

void TiledProduct::map(const MutableOperandRange &operand, ArrayRef<int64_t> own) {
  if (!operand.empty())
    axes[operand[0].getOperandNumber()].assign(own.begin(), own.end());
}

void TiledProduct::align(const MutableOperandRange &operand) {
  if (operand.empty())
    return;
  int64_t own = cast<RankedTensorType>(operand[0].get().getType()).getRank();
  map(operand, llvm::to_vector(llvm::seq<int64_t>(rank() - own, rank())));
}

void TiledProduct::mapFactor(OpOperand &factor, bool transposed, int64_t fromEnd, int64_t across) {
  int64_t own = cast<RankedTensorType>(factor.get().getType()).getRank();
  SmallVector<int64_t> result = llvm::to_vector(llvm::seq<int64_t>(rank() - own, rank() - 2));
  result.append({-1, -1});
  result[own - 1 - (transposed ? 1 - fromEnd : fromEnd)] = across;
  map(factor, result);
}

template <typename OpTy>
void TiledProduct::finish(OpTy product, bool isLinear) {
  map(product.getBiasMutable(), {rank() - 1});
  align(product.getResidualMutable());
  for (int64_t axis = 0; axis < rank(); ++axis)
    if (getType().isDynamicDim(axis) && (!isLinear || !llvm::is_contained(loops, axis)))
      return loops.clear();
}

TiledProduct::TiledProduct(DSDOp op) : TiledProduct(op.getOperation()) {
  const int64_t cols = rank() - (op.getTransposeOut() ? 2 : 1);
  addLeadingLoops(op.getA());
  loops.push_back(cols);
  mapFactor(op.getBMutable(), op.getTransposeB(), /*fromEnd=*/0, cols);
  finish(op);
}

TiledProduct::TiledProduct(DDSOp op) : TiledProduct(op.getOperation()) {
  const int64_t rows = rank() - (op.getTransposeOut() ? 1 : 2);
  addLeadingLoops(op.getB());
  loops.push_back(rows);
  mapFactor(op.getAMutable(), op.getTransposeA(), /*fromEnd=*/1, rows);
  finish(op);
}

TiledProduct::TiledProduct(BsrAddmmOp op) : TiledProduct(op.getOperation()) {
  addLeadingLoops(op.getSparse());
  loops.push_back(rank() - 1);
  mapFactor(op.getDenseMutable(), /*transposed=*/false, /*fromEnd=*/0, rank() - 1);
  align(op.getInputMutable());
  map(op.getLeftAlphaMutable(), {rank() - 2});
  map(op.getRightAlphaMutable(), {rank() - 1});
  finish(op);
}

TiledProduct::TiledProduct(MatmulOp op) : TiledProduct(op.getOperation()) {
  llvm::append_range(loops, llvm::seq<int64_t>(0, rank()));
  switch (op.getForm()) {
  case MatmulForm::Linear:
    mapFactor(op.getAMutable(), op.getTransposeA(), /*fromEnd=*/1, rank() - 2);
    mapFactor(op.getBMutable(), op.getTransposeB(), /*fromEnd=*/0, rank() - 1);
    break;
  case MatmulForm::Score: // [B, M, H, D] x [B, N, H, D] -> [B, H, M, N]
    map(op.getAMutable(), {0, 2, 1, -1});
    map(op.getBMutable(), {0, 3, 1, -1});
    break;
  case MatmulForm::Context: // [B, H, M, N] x [B, N, H, D] -> [B, M, H, D]
    map(op.getAMutable(), {0, 2, 1, -1});
    map(op.getBMutable(), {0, -1, 2, 3});
    break;
  }
  finish(op, op.getForm() == MatmulForm::Linear);
}

FailureOr<Sizes> TiledProduct::getExtents(OpBuilder &b) const {
  if (getType().hasStaticShape())
    return getAsIndexOpFoldResult(op->getContext(), getType().getShape());
  ReifiedRankedShapedTypeDims shapes;
  if (failed(reifyResultShapes(b, op, shapes)))
    return failure();
  return shapes.front();
}

TilingResult TiledProduct::getTile(OpBuilder &b, ArrayRef<OpFoldResult> offsets,
                                   ArrayRef<OpFoldResult> sizes) const {
  Location loc = op->getLoc();
  TilingResult result;
  SmallVector<Value> operands(op->getOperands());
  for (auto [operand, own] : llvm::zip_equal(operands, axes)) {
    auto type = cast<RankedTensorType>(operand.getType());
    // An extent of 1 is read by every tile of a longer axis, and an axis may be one tile.
    auto hasTiles = [&](int64_t axis) {
      return llvm::is_contained(loops, own[axis]) &&
             (type.getDimSize(axis) != 1 || getType().getDimSize(own[axis]) == 1) &&
             !(isZeroInteger(offsets[own[axis]]) &&
               getConstantIntValue(sizes[own[axis]]) == type.getDimSize(axis));
    };
    if (own.empty() || !llvm::any_of(llvm::seq<int64_t>(0, type.getRank()), hasTiles))
      continue;
    Sizes from(type.getRank(), b.getIndexAttr(0)), strides(type.getRank(), b.getIndexAttr(1));
    Sizes count = tensor::getMixedSizes(b, loc, operand);
    for (int64_t axis = 0; axis < type.getRank(); ++axis)
      if (hasTiles(axis)) {
        from[axis] = offsets[own[axis]];
        count[axis] = sizes[own[axis]];
      }
    auto slice = tensor::ExtractSliceOp::create(b, loc, operand, from, count, strides);
    result.generatedSlices.push_back(slice);
    operand = slice;
  }
  SmallVector<int64_t> shape;
  SmallVector<Value> open;
  dispatchIndexOpFoldResults(sizes, open, shape);
  Operation *tile = clone(b, op, TypeRange{getType().clone(shape)}, operands);
  result.tiledOps.push_back(tile);
  result.tiledValues.push_back(tile->getResult(0));
  return result;
}

namespace {

template <typename OpTy>
struct ProductTiling : TilingInterface::ExternalModel<ProductTiling<OpTy>, OpTy> {
  SmallVector<utils::IteratorType> getLoopIteratorTypes(Operation *op) const {
    return SmallVector<utils::IteratorType>(TiledProduct(cast<OpTy>(op)).getLoops().size(),
                                            utils::IteratorType::parallel);
  }

  SmallVector<Range> getIterationDomain(Operation *op, OpBuilder &b) const {
    TiledProduct product(cast<OpTy>(op));
    SmallVector<Range> domain;
    // MLIR takes no loops for the answer that there is nothing to tile.
    FailureOr<Sizes> extents = product.getExtents(b);
    for (int64_t axis : product.getLoops())
      if (succeeded(extents))
        domain.push_back({b.getIndexAttr(0), (*extents)[axis], b.getIndexAttr(1)});
    return domain;
  }

  /// Gives the axes that are no loops whole.
  LogicalResult getResultTilePosition(Operation *op, OpBuilder &b, unsigned,
                                      ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
                                      Sizes &resultOffsets, Sizes &resultSizes) const {
    TiledProduct product(cast<OpTy>(op));
    FailureOr<Sizes> extents = product.getExtents(b);
    if (failed(extents))
      return failure();
    resultSizes = *extents;
    resultOffsets.assign(extents->size(), b.getIndexAttr(0));
    for (auto [loop, axis] : llvm::enumerate(product.getLoops())) {
      resultOffsets[axis] = offsets[loop];
      resultSizes[axis] = sizes[loop];
    }
    return success();
  }

  FailureOr<TilingResult> getTiledImplementation(Operation *op, OpBuilder &b,
                                                 ArrayRef<OpFoldResult> offsets,
                                                 ArrayRef<OpFoldResult> sizes) const {
    Sizes resultOffsets, resultSizes;
    if (failed(getResultTilePosition(op, b, 0, offsets, sizes, resultOffsets, resultSizes)))
      return failure();
    return TiledProduct(cast<OpTy>(op)).getTile(b, resultOffsets, resultSizes);
  }

  LogicalResult
  getIterationDomainTileFromResultTile(Operation *op, OpBuilder &, unsigned,
                                       ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
                                       SmallVectorImpl<OpFoldResult> &loopOffsets,
                                       SmallVectorImpl<OpFoldResult> &loopSizes) const {
    for (int64_t axis : TiledProduct(cast<OpTy>(op)).getLoops()) {
      loopOffsets.push_back(offsets[axis]);
      loopSizes.push_back(sizes[axis]);
    }
    return success();
  }

  /// Fails for a tile that cuts an axis which is no loop.
  FailureOr<TilingResult> generateResultTileValue(Operation *op, OpBuilder &b, unsigned,
                                                  ArrayRef<OpFoldResult> offsets,
                                                  ArrayRef<OpFoldResult> sizes) const {
    TiledProduct product(cast<OpTy>(op));
    FailureOr<Sizes> extents = product.getExtents(b);
    if (failed(extents))
      return failure();
    for (int64_t axis = 0; axis < product.getType().getRank(); ++axis)
      if (!llvm::is_contained(product.getLoops(), axis) &&
          (!isZeroInteger(offsets[axis]) ||
           !isEqualConstantIntOrValue(sizes[axis], (*extents)[axis])))
        return failure();
    return product.getTile(b, offsets, sizes);
  }
};

} // namespace

void mlir::blocksparse::registerProductTiling(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, BlockSparseDialect *) {
    DSDOp::attachInterface<ProductTiling<DSDOp>>(*context);
    DDSOp::attachInterface<ProductTiling<DDSOp>>(*context);
    BsrAddmmOp::attachInterface<ProductTiling<BsrAddmmOp>>(*context);
    MatmulOp::attachInterface<ProductTiling<MatmulOp>>(*context);
  });
}
