// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/IR/BlockSparseDialect.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/IR/SparseTensor.h"
#include "blocksparse/Transforms/Neighbours/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

namespace mlir::blocksparse {
#define GEN_PASS_DEF_ELEMENTWISETOVALUESPASS
#include "blocksparse/Transforms/Neighbours/Passes.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;
using namespace mlir::blocksparse;

static bool hasSparse(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), isSparseTensor) ||
         llvm::any_of(op->getResultTypes(), isSparseTensor);
}

/// Returns true if `op` applies one scalar operation to each element of its tensors.
static bool isMapped(Operation *op) {
  return OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() > 0 &&
         op->getNumRegions() == 0;
}

/// Returns true if operations of this kind take sparse tensors as they are.
static bool passesSparse(Operation *op) {
  return isa_and_present<BlockSparseDialect, func::FuncDialect, scf::SCFDialect>(
             op->getDialect()) ||
         isa<tensor::EmptyOp, arith::ConstantOp>(op);
}

namespace {

/// Holds the tensors that a sparse tensor consists of.
struct Parts {
  Value values, crow, col;
};

/// Rewrites elementwise operations on sparse tensors. The results of rewritten operations are known
/// by their parts, and become sparse tensors only where another operation uses them.
class Rewriter {
public:
  LogicalResult convert(Operation *op);
  LogicalResult convert(linalg::GenericOp op);
  /// Assembles the results that other operations use, and erases what was rewritten.
  LogicalResult finish();

private:
  Parts getParts(OpBuilder &builder, Value sparse);
  Value getOperand(OpBuilder &builder, Value operand, const Parts &like);
  FailureOr<Parts> getPattern(OpBuilder &builder, Operation *op);

  DenseMap<Value, Parts> known;
  SmallVector<Operation *> converted;
};

} // namespace

Parts Rewriter::getParts(OpBuilder &builder, Value sparse) {
  auto [parts, isNew] = known.try_emplace(sparse);
  if (isNew) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(sparse);
    auto taken = DisassembleOp::create(builder, sparse.getLoc(), sparse);
    parts->second = {taken.getValues(), taken.getCrowIndices(), taken.getColIndices()};
  }
  return parts->second;
}

/// Returns the parts of the first sparse operand that is not a constant. Fails with an error if the
/// tensors of the operation do not have one pattern.
FailureOr<Parts> Rewriter::getPattern(OpBuilder &builder, Operation *op) {
  Value first;
  Type pattern;
  SmallVector<Value> all(op->getOperands());
  llvm::append_range(all, op->getResults());
  for (Value value : all) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      continue;
    RankedTensorType bits = type.clone(IntegerType::get(op->getContext(), 1));
    if (!pattern)
      pattern = bits;
    if (bits != pattern)
      return op->emitOpError("expects tensors of one shape and one pattern, but got ")
             << type << " beside " << all.front().getType();
    if (!first && value.getDefiningOp() != op && !matchPattern(value, m_Constant()) &&
        !value.getDefiningOp<tensor::EmptyOp>())
      first = value;
  }
  if (!first)
    return op->emitOpError(
        "expects a sparse operand that is not a constant, but got constants alone");
  return getParts(builder, first);
}

/// Returns the values of a sparse operand, and any other operand as it is. A constant becomes one
/// of the values' shape.
Value Rewriter::getOperand(OpBuilder &builder, Value operand, const Parts &like) {
  if (!isSparseTensor(operand.getType()))
    return operand;
  DenseElementsAttr elements;
  if (!matchPattern(operand, m_Constant(&elements)) || !elements.isSplat())
    return getParts(builder, operand).values;
  auto number = elements.getSplatValue<TypedAttr>();
  auto shape = cast<RankedTensorType>(like.values.getType()).clone(number.getType());
  Location loc = operand.getLoc();
  if (shape.hasStaticShape())
    return arith::ConstantOp::create(builder, loc, SplatElementsAttr::get(shape, number));
  Value scalar = arith::ConstantOp::create(builder, loc, number);
  SmallVector<Value> sizes;
  for (auto [axis, extent] : llvm::enumerate(shape.getShape()))
    if (ShapedType::isDynamic(extent))
      sizes.push_back(tensor::DimOp::create(builder, loc, like.values, axis));
  return tensor::SplatOp::create(builder, loc, scalar, shape, sizes);
}

LogicalResult Rewriter::convert(Operation *op) {
  OpBuilder builder(op);
  FailureOr<Parts> pattern = getPattern(builder, op);
  if (failed(pattern))
    return failure();
  IRMapping operands;
  for (Value operand : op->getOperands())
    operands.map(operand, getOperand(builder, operand, *pattern));
  Operation *onValues = builder.clone(*op, operands);
  for (auto [sparse, values] : llvm::zip_equal(op->getResults(), onValues->getResults())) {
    auto shape = cast<RankedTensorType>(pattern->values.getType());
    values.setType(shape.clone(getElementTypeOrSelf(values.getType())));
    known[sparse] = {values, pattern->crow, pattern->col};
  }
  converted.push_back(op);
  return success();
}

LogicalResult Rewriter::convert(linalg::GenericOp op) {
  if (op.getNumParallelLoops() != op.getNumLoops() || op.hasIndexSemantics() ||
      !llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
        AffineMap map = op.getMatchingIndexingMap(&operand);
        return map.isIdentity() || map.getNumResults() == 0;
      }))
    return op.emitOpError("expects an elementwise loop over stored elements where it has sparse "
                          "tensors: identity maps, and no linalg.index");
  OpBuilder builder(op);
  FailureOr<Parts> pattern = getPattern(builder, op);
  if (failed(pattern))
    return failure();
  auto shape = cast<RankedTensorType>(pattern->values.getType());
  SmallVector<Value> inputs, outputs;
  SmallVector<Type> types;
  SmallVector<AffineMap> maps;
  for (Value input : op.getInputs()) {
    inputs.push_back(getOperand(builder, input, *pattern));
    const bool isNumber = !isa<RankedTensorType>(input.getType());
    maps.push_back(isNumber ? AffineMap::get(shape.getRank(), 0, builder.getContext())
                            : builder.getMultiDimIdentityMap(shape.getRank()));
  }
  for (OpOperand &init : op.getDpsInitsMutable()) {
    Type element = getElementTypeOrSelf(init.get().getType());
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, op.getLoc(), pattern->values);
    outputs.push_back(op.payloadUsesValueFromOperand(&init)
                          ? getOperand(builder, init.get(), *pattern)
                          : tensor::EmptyOp::create(builder, op.getLoc(), sizes, element));
    types.push_back(outputs.back().getType());
    maps.push_back(builder.getMultiDimIdentityMap(shape.getRank()));
  }
  SmallVector<utils::IteratorType> loops(shape.getRank(), utils::IteratorType::parallel);
  auto onValues =
      linalg::GenericOp::create(builder, op.getLoc(), types, inputs, outputs, maps, loops);
  IRMapping none;
  op.getRegion().cloneInto(&onValues.getRegion(), none);
  for (auto [sparse, values] : llvm::zip_equal(op->getResults(), onValues->getResults()))
    known[sparse] = {values, pattern->crow, pattern->col};
  converted.push_back(op);
  return success();
}

LogicalResult Rewriter::finish() {
  for (Operation *op : converted) {
    for (OpResult result : op->getResults()) {
      auto isRewritten = [&](Operation *user) { return llvm::is_contained(converted, user); };
      if (llvm::all_of(result.getUsers(), isRewritten))
        continue;
      Type element = getElementTypeOrSelf(result.getType());
      if (element.isInteger(1))
        return op->emitOpError("expects a result that elementwise operations alone use, because no "
                               "operation stores sparse tensors of ")
               << element;
      const Parts &parts = known[result];
      OpBuilder builder(op);
      builder.setInsertionPointAfterValue(parts.values);
      auto assembled = AssembleOp::create(builder, op->getLoc(), result.getType(), parts.crow,
                                          parts.col, parts.values);
      result.replaceUsesWithIf(assembled.getResult(),
                               [&](OpOperand &use) { return !isRewritten(use.getOwner()); });
    }
  }
  for (Operation *op : llvm::reverse(converted))
    op->erase();
  return success();
}

/// Returns the generic form of a structured operation, which replaces it.
static linalg::GenericOp generalize(linalg::LinalgOp op) {
  if (auto generic = dyn_cast<linalg::GenericOp>(op.getOperation()))
    return generic;
  IRRewriter builder(op);
  return *linalg::generalizeNamedOp(builder, op);
}

namespace {

struct ElementwiseToValues
    : public mlir::blocksparse::impl::ElementwiseToValuesPassBase<ElementwiseToValues> {
  void runOnOperation() override {
    Rewriter rewriter;
    SmallVector<Operation *> sparse;
    getOperation()->walk([&](Operation *op) {
      if (hasSparse(op) && !passesSparse(op))
        sparse.push_back(op);
    });
    for (Operation *op : sparse) {
      LogicalResult done = failure();
      if (isMapped(op))
        done = rewriter.convert(op);
      else if (auto structured = dyn_cast<linalg::LinalgOp>(op))
        done = rewriter.convert(generalize(structured));
      else
        op->emitOpError("expects dense tensors, or the values that blocksparse.disassemble gives, "
                        "but got a sparse tensor");
      if (failed(done))
        return signalPassFailure();
    }
    if (failed(rewriter.finish()))
      signalPassFailure();
  }
};

} // namespace
