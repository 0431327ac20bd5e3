// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/IR/BlockSparseDialect.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/IR/SparseTensor.h"
#include "blocksparse/Transforms/Neighbours/LinalgProducts.h"
#include "blocksparse/Transforms/Neighbours/Passes.h"

namespace mlir::blocksparse {
#define GEN_PASS_DEF_LINALGTOBLOCKSPARSEPASS
#include "blocksparse/Transforms/Neighbours/Passes.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;
using namespace mlir::blocksparse;

template <typename OpTy>
static void replaceBy(linalg::LinalgOp op, const LinalgProduct &product) {
  OpBuilder builder(op);
  OpTy result = OpTy::create(builder, op.getLoc(), product.a, product.b, product.transposeA,
                             product.transposeB);
  result.getResult().setType(cast<RankedTensorType>(op->getResult(0).getType()));
  if (product.added)
    result.getResidualMutable().assign(product.added);
  op->getResult(0).replaceAllUsesWith(result.getResult());
  op->erase();
}

/// Returns the sparse tensor that `factor` is the dense form of, or the factor itself.
static Value getSparse(Value factor) {
  auto dense = factor.getDefiningOp<ToDenseOp>();
  return dense ? dense.getSource() : factor;
}

namespace {

struct LinalgToBlockSparse
    : public mlir::blocksparse::impl::LinalgToBlockSparsePassBase<LinalgToBlockSparse> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    for (linalg::LinalgOp op : ops) {
      std::string fault;
      FailureOr<LinalgProduct> product = matchProduct(op, fault);
      if (failed(product))
        continue;
      if (!isSparseTensor(product->b.getType()))
        product->a = getSparse(product->a);
      if (!isSparseTensor(product->a.getType()))
        product->b = getSparse(product->b);
      if (isSparseTensor(product->a.getType()))
        replaceBy<DSDOp>(op, *product);
      else if (isSparseTensor(product->b.getType()))
        replaceBy<DDSOp>(op, *product);
      else
        replaceBy<MatmulOp>(op, *product);
    }
  }
};

} // namespace
