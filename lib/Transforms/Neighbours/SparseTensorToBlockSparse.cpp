// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/IR/BlockSparseDialect.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/IR/SparseTensor.h"
#include "blocksparse/IR/UpstreamBsr.h"
#include "blocksparse/Transforms/Neighbours/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Matchers.h"

namespace mlir::blocksparse {
#define GEN_PASS_DEF_SPARSETENSORTOBLOCKSPARSEPASS
#include "blocksparse/Transforms/Neighbours/Passes.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;
using namespace mlir::blocksparse;

/// Returns positions or coordinates as indices of `width` bits.
static Value createIndices(OpBuilder &builder, Value upstream, unsigned width, Type wanted) {
  auto type = cast<RankedTensorType>(upstream.getType());
  Location loc = upstream.getLoc();
  RankedTensorType converted = type.clone(builder.getIntegerType(width));
  if (type.getElementType().isIndex())
    upstream = arith::IndexCastOp::create(builder, loc, converted, upstream);
  else if (type.getElementTypeBitWidth() < width)
    upstream = arith::ExtUIOp::create(builder, loc, converted, upstream);
  if (upstream.getType() != wanted)
    upstream = tensor::CastOp::create(builder, loc, wanted, upstream);
  return upstream;
}

/// Returns the values, a vector or value blocks, as the value blocks `wanted`.
static Value createValues(OpBuilder &builder, Value values, RankedTensorType wanted) {
  auto type = cast<RankedTensorType>(values.getType());
  Location loc = values.getLoc();
  if (type.getRank() == 1) {
    const int64_t blockSize = wanted.getDimSize(1) * wanted.getDimSize(2);
    const int64_t count =
        type.isDynamicDim(0) ? type.getDimSize(0) : type.getDimSize(0) / blockSize;
    auto blocks = RankedTensorType::get({count, wanted.getDimSize(1), wanted.getDimSize(2)},
                                        type.getElementType());
    values = tensor::ExpandShapeOp::create(builder, loc, blocks, values,
                                           ArrayRef<ReassociationIndices>{{0, 1, 2}});
  }
  if (values.getType() != wanted)
    values = tensor::CastOp::create(builder, loc, wanted, values);
  return values;
}

/// Returns the integers of a constant tensor.
static std::optional<std::vector<int32_t>> getIntegers(Value tensor) {
  DenseIntElementsAttr elements;
  if (!matchPattern(tensor, m_Constant(&elements)))
    return std::nullopt;
  std::vector<int32_t> integers;
  for (const APInt &integer : elements.getValues<APInt>()) {
    if (!integer.isSignedIntN(32))
      return std::nullopt;
    integers.push_back(static_cast<int32_t>(integer.getSExtValue()));
  }
  return integers;
}

/// Returns the sparse tensor of a constant pattern, or null if the pattern is not constant. Fails
/// with an error if it is not valid.
static FailureOr<Value> createStatic(OpBuilder &builder, sparse_tensor::AssembleOp op,
                                     const SparseTensor &sparse) {
  if (ShapedType::isDynamic(sparse.getRows()) || ShapedType::isDynamic(sparse.getCols()))
    return Value();
  std::optional<std::vector<int32_t>> positions = getIntegers(op.getLevels()[0]);
  std::optional<std::vector<int32_t>> coordinates = getIntegers(op.getLevels()[1]);
  if (!positions || !coordinates)
    return Value();
  std::string error;
  std::optional<::blocksparse::BlockLayout> layout = ::blocksparse::BlockLayout::fromCsr(
      sparse.getBlock(), {1, sparse.getBlockRows(), sparse.getBlockCols()}, std::move(*positions),
      std::move(*coordinates), error);
  if (!layout)
    return op.emitOpError() << error;
  auto type = RankedTensorType::get(sparse.getType().getShape(), sparse.getElementType(),
                                    LayoutAttr::get(op->getContext(), *layout));
  const RankedTensorType blocks = SparseTensor::get(type)->getValuesType();
  auto given = cast<RankedTensorType>(op.getValues().getType());
  if (given.hasStaticShape() && given.getNumElements() != blocks.getNumElements())
    return op.emitOpError("expects ") << blocks.getNumElements() << " values of " << layout->nnz()
                                      << " blocks, but got " << given.getNumElements();
  Value values = createValues(builder, op.getValues(), blocks);
  return AssembleOp::create(builder, op->getLoc(), type, Value(), Value(), values).getResult();
}

/// Returns true if an operation takes any sparse tensor of the same shape in place of another one.
static bool takesAnyPattern(Operation *user) {
  return isa<sparse_tensor::ConvertOp>(user) ||
         (isa<linalg::LinalgOp>(user) && llvm::none_of(user->getResultTypes(), isSparseTensor));
}

static LogicalResult convert(sparse_tensor::AssembleOp op) {
  const SparseTensor sparse = *SparseTensor::get(op.getResult().getType());
  OpBuilder builder(op);
  FailureOr<Value> fixed = createStatic(builder, op, sparse);
  if (failed(fixed))
    return failure();
  Value result = op.getResult();
  if (*fixed)
    result.replaceUsesWithIf(*fixed,
                             [](OpOperand &use) { return takesAnyPattern(use.getOwner()); });
  if (!result.use_empty()) {
    const unsigned width = sparse.getBsr().getIndexWidth();
    Value positions = createIndices(builder, op.getLevels()[0], width, sparse.getCrowType());
    Value coordinates = createIndices(builder, op.getLevels()[1], width, sparse.getColType());
    Value values = createValues(builder, op.getValues(), sparse.getValuesType());
    result.replaceAllUsesWith(AssembleOp::create(builder, op->getLoc(), sparse.getType(), positions,
                                                 coordinates, values));
  }
  op->erase();
  return success();
}

static LogicalResult convert(sparse_tensor::ConvertOp op) {
  auto type = cast<RankedTensorType>(op.getDest().getType());
  Value source = op.getSource();
  if (source.getType() == type) {
    op.getDest().replaceAllUsesWith(source);
  } else if (isSparseTensor(source.getType()) && !type.getEncoding()) {
    OpBuilder builder(op);
    Value dense = ToDenseOp::create(builder, op->getLoc(), source);
    if (dense.getType() != type)
      dense = tensor::CastOp::create(builder, op->getLoc(), type, dense);
    op.getDest().replaceAllUsesWith(dense);
  } else {
    return op.emitOpError("expects a conversion of a block-sparse tensor to a dense one, but got "
                          "one of ")
           << source.getType() << " to " << type;
  }
  op->erase();
  return success();
}

static bool hasUpstreamBsr(TypeRange types) {
  return llvm::any_of(types, [](Type type) { return getUpstreamBsr(type).has_value(); });
}

namespace {

struct SparseTensorToBlockSparse
    : public mlir::blocksparse::impl::SparseTensorToBlockSparsePassBase<SparseTensorToBlockSparse> {
  void runOnOperation() override {
    SmallVector<sparse_tensor::AssembleOp> assembled;
    SmallVector<sparse_tensor::ConvertOp> converted;
    WalkResult known = getOperation()->walk([&](Operation *op) -> WalkResult {
      if (!isa_and_present<sparse_tensor::SparseTensorDialect>(op->getDialect()) ||
          (!hasUpstreamBsr(op->getOperandTypes()) && !hasUpstreamBsr(op->getResultTypes())))
        return WalkResult::advance();
      if (auto assemble = dyn_cast<sparse_tensor::AssembleOp>(op))
        assembled.push_back(assemble);
      else if (auto convert = dyn_cast<sparse_tensor::ConvertOp>(op))
        converted.push_back(convert);
      else
        return op->emitOpError("expects sparse_tensor.assemble or convert of a matrix in the BSR "
                               "format, but got ")
               << op->getName();
      return WalkResult::advance();
    });
    if (known.wasInterrupted())
      return signalPassFailure();
    AttrTypeReplacer replacer;
    replacer.addReplacement([](RankedTensorType type) -> std::optional<Type> {
      Type replaced = replaceUpstreamBsr(type);
      return replaced == type ? std::nullopt : std::optional(replaced);
    });
    replacer.recursivelyReplaceElementsIn(getOperation(), /*replaceAttrs=*/true,
                                          /*replaceLocs=*/false, /*replaceTypes=*/true);
    for (sparse_tensor::AssembleOp op : assembled)
      if (failed(convert(op)))
        return signalPassFailure();
    for (sparse_tensor::ConvertOp op : converted)
      if (failed(convert(op)))
        return signalPassFailure();
  }
};

} // namespace
