// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/IR/BlockSparseDialect.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/IR/SparseTensor.h"
#include "blocksparse/Transforms/Neighbours/LinalgProducts.h"
#include "blocksparse/Transforms/Neighbours/MaskedFactor.h"
#include "blocksparse/Transforms/Neighbours/Passes.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::blocksparse {
#define GEN_PASS_DEF_LINALGTOBLOCKSPARSEPASS
#include "blocksparse/Transforms/Neighbours/Passes.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;
using namespace mlir::blocksparse;

/// Returns the tensor with its dimensions stored in another order.
static Value store(OpBuilder &builder, Value tensor, ArrayRef<int64_t> order) {
  if (order.empty())
    return tensor;
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, tensor.getLoc(), tensor);
  SmallVector<OpFoldResult> stored;
  for (int64_t dim : order)
    stored.push_back(sizes[dim]);
  Value empty = tensor::EmptyOp::create(builder, tensor.getLoc(), stored,
                                        getElementTypeOrSelf(tensor.getType()));
  return linalg::TransposeOp::create(builder, tensor.getLoc(), tensor, empty, order)->getResult(0);
}

template <typename OpTy>
static Operation *createSparse(OpBuilder &builder, linalg::LinalgOp op,
                               const LinalgProduct &product) {
  OpTy result = OpTy::create(builder, op.getLoc(), product.a, product.b, product.transposeA,
                             product.transposeB);
  if (product.added)
    result.getResidualMutable().assign(product.added);
  return result;
}

static Operation *createDense(OpBuilder &builder, linalg::LinalgOp op,
                              const LinalgProduct &product) {
  return MatmulOp::create(
      builder, op.getLoc(), op->getResult(0).getType(), store(builder, product.a, product.orderA),
      store(builder, product.b, product.orderB), /*bias=*/Value(), product.added,
      /*dynamic_alpha=*/Value(), product.form, product.transposeA, product.transposeB, APFloat(1.0),
      ActivationAttr(), Precision::IEEE, ScheduleAttr());
}

/// Returns the sparse tensor that `factor` is the dense form of, or the factor itself.
static Value getSparse(Value factor, Operation *product) {
  if (auto dense = factor.getDefiningOp<ToDenseOp>())
    return dense.getSource();
  std::optional<MaskedFactor> masked = matchMaskedFactor(factor);
  if (!masked)
    return factor;
  OpBuilder builder(product);
  return FromDenseOp::create(builder, product->getLoc(), masked->dense, masked->layout);
}

/// Returns the product of an operation. One of more dimensions than a product has is first replaced
/// by one whose joint loops are one loop, if that is a product.
static FailureOr<LinalgProduct> getProduct(linalg::LinalgOp &op) {
  std::string fault;
  FailureOr<LinalgProduct> product = matchProduct(op, fault);
  if (succeeded(product) || !op.hasPureTensorSemantics() || !linalg::isaContractionOpInterface(op))
    return product;
  SmallVector<ReassociationIndices> joint = getJointLoops(op);
  auto isDense = [](Type type) { return !cast<RankedTensorType>(type).getEncoding(); };
  if (joint.empty() || !llvm::all_of(op->getOperandTypes(), isDense))
    return failure();
  IRRewriter rewriter(op);
  // Only the generic form can be collapsed, and it is a copy because it may not be a product.
  auto copy = cast<linalg::LinalgOp>(rewriter.clone(*op));
  if (!isa<linalg::GenericOp>(copy.getOperation())) {
    rewriter.setInsertionPoint(copy);
    copy = *linalg::generalizeNamedOp(rewriter, copy);
  }
  rewriter.setInsertionPoint(copy);
  FailureOr<linalg::CollapseResult> collapsed =
      linalg::collapseOpIterationDims(copy, joint, rewriter);
  rewriter.eraseOp(copy);
  if (failed(collapsed))
    return failure();
  product = matchProduct(collapsed->collapsedOp, fault);
  if (succeeded(product)) {
    rewriter.replaceOp(op, collapsed->results);
    op = collapsed->collapsedOp;
    return product;
  }
  SmallVector<Value> operands(collapsed->collapsedOp->getOperands());
  for (Value result : collapsed->results)
    rewriter.eraseOp(result.getDefiningOp());
  rewriter.eraseOp(collapsed->collapsedOp);
  for (Value operand : operands)
    if (auto reshape = operand.getDefiningOp<tensor::CollapseShapeOp>();
        reshape && reshape->use_empty())
      rewriter.eraseOp(reshape);
  return failure();
}

namespace {

struct LinalgToBlockSparse
    : public mlir::blocksparse::impl::LinalgToBlockSparsePassBase<LinalgToBlockSparse> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    for (linalg::LinalgOp op : ops) {
      FailureOr<LinalgProduct> product = getProduct(op);
      if (failed(product))
        continue;
      const bool isPlain =
          product->form == MatmulForm::Linear && product->orderA.empty() && product->orderB.empty();
      if (isPlain && !isSparseTensor(product->b.getType()))
        product->a = getSparse(product->a, op);
      if (isPlain && !isSparseTensor(product->a.getType()))
        product->b = getSparse(product->b, op);
      OpBuilder builder(op);
      Operation *result =
          isSparseTensor(product->a.getType())   ? createSparse<DSDOp>(builder, op, *product)
          : isSparseTensor(product->b.getType()) ? createSparse<DDSOp>(builder, op, *product)
                                                 : createDense(builder, op, *product);
      result->getResult(0).setType(op->getResult(0).getType());
      op->getResult(0).replaceAllUsesWith(result->getResult(0));
      op->erase();
    }
  }
};

} // namespace
