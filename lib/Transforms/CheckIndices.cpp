// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SparseStorage.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/Transforms/IndexUses.h"
#include "blocksparse/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::blocksparse {
#define GEN_PASS_DEF_CHECKINDICESPASS
#include "blocksparse/Transforms/Passes.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;
using namespace mlir::blocksparse;

namespace {
/// Holds the operations that use the indices of one source.
struct SourceUses {
  SmallVector<Operation *> users;
  bool unique = false;
};
} // namespace

/// Returns the words that messages about the indices of `source` begin with.
static std::string getSubject(func::FuncOp function, Value source) {
  if (Operation *op = source.getDefiningOp())
    return op->getName().getStringRef().str();
  auto argument = cast<BlockArgument>(source);
  Operation *parent = argument.getOwner()->getParentOp();
  if (parent != function)
    return parent->getName().getStringRef().str();
  return ("argument " + Twine(argument.getArgNumber()) + " of " + function.getName()).str();
}

/// Returns the size of a dimension that is counted from the end, 0 being the last.
static Value sizeFromEnd(ImplicitLocOpBuilder &b, Value tensor, int64_t fromEnd) {
  int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  return sizeOf(b, b.getLoc(), tensor, rank - 1 - fromEnd);
}

/// Returns N, where the type of the sparse operand leaves it open, from another operand of `op`.
/// Null where the operation needs a static N, which the planner reports.
static Value getOpenColumns(ImplicitLocOpBuilder &b, Operation *op) {
  auto rows = [&](Value matrix, bool transposed) { return sizeFromEnd(b, matrix, !transposed); };
  auto cols = [&](Value matrix, bool transposed) { return sizeFromEnd(b, matrix, transposed); };
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](DSDOp product) {
        return product.getTransposeA() ? Value() : rows(product.getB(), product.getTransposeB());
      })
      .Case([&](DDSOp product) {
        return product.getTransposeB() ? cols(product.getA(), product.getTransposeA()) : Value();
      })
      .Case([&](BsrAddmmOp product) { return rows(product.getDense(), false); })
      .Case([&](SDDOp product) {
        return product.getTransposeOut() ? rows(product.getA(), product.getTransposeA())
                                         : cols(product.getB(), product.getTransposeB());
      })
      .Case([&](SampledAddmmOp product) { return cols(product.getB(), product.getTransposeB()); })
      .Case([&](FromDenseOp conversion) { return cols(conversion.getSource(), false); })
      .Case([&](ToDenseOp conversion) {
        int64_t size = cast<RankedTensorType>(conversion.getResult().getType()).getShape().back();
        return ShapedType::isDynamic(size) ? Value()
                                           : arith::ConstantIndexOp::create(b, size).getResult();
      })
      .Default([](Operation *) { return Value(); });
}

/// Inserts the check of the indices of `sparse`, a tensor of `cols` block columns.
static void insertPatternCheck(ImplicitLocOpBuilder &b, Value sparse, Value cols, bool unique,
                               StringRef subject) {
  SparseTensor type = *SparseTensor::get(sparse.getType());
  auto parts = DisassembleOp::create(
      b, TypeRange{type.getValuesType(), type.getCrowType(), type.getColType()}, sparse);
  CheckPatternOp::create(b, parts.getCrowIndices(), parts.getColIndices(), cols, subject, unique);
}

/// Inserts the check of a source whose N is static in front of the first operation that uses its
/// indices, or of the control flow around that.
static void checkSource(func::FuncOp function, Value source, const SourceUses &uses) {
  ImplicitLocOpBuilder b(source.getLoc(), function.getContext());
  b.setInsertionPointAfterValue(source);
  Operation *first = nullptr;
  for (Operation *user : uses.users) {
    Operation *own = source.getParentBlock()->findAncestorOpInBlock(*user);
    if (own && (!first || own->isBeforeInBlock(first)))
      first = own;
  }
  if (first)
    b.setInsertionPoint(first);
  SparseTensor type = *SparseTensor::get(source.getType());
  Value cols = arith::ConstantIndexOp::create(b, type.getBlockCols());
  insertPatternCheck(b, source, cols, uses.unique, getSubject(function, source));
}

/// Inserts the check of an operand whose N is open in front of the operation.
static void checkOperand(Operation *op, const IndexUse &use) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  Value size = getOpenColumns(b, op);
  if (!size)
    return;
  int64_t width = SparseTensor::get(use.sparse.getType())->getBlock().cols;
  Value last = arith::ConstantIndexOp::create(b, width - 1);
  Value cols = b.createOrFold<arith::DivUIOp>(b.createOrFold<arith::AddIOp>(size, last),
                                              arith::ConstantIndexOp::create(b, width));
  insertPatternCheck(b, use.sparse, cols, use.unique, op->getName().getStringRef());
}

static void checkScatter(ScatterMMOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  bool tiles = op.getFormat() == ScatterFormat::ScatterMM;
  Value blocks = op.getBlocks(), accumulators = op.getAccumulators();
  CheckScatterIndicesOp::create(b, op.getIndices(), sizeFromEnd(b, blocks, 2),
                                sizeFromEnd(b, blocks, 1), sizeFromEnd(b, blocks, 0),
                                sizeFromEnd(b, op.getOthers(), tiles ? 2 : 1),
                                sizeFromEnd(b, accumulators, 1), sizeFromEnd(b, accumulators, 0),
                                op.getFormat(), op.getSplitN(), op->getName().getStringRef());
}

namespace {

struct CheckIndices : mlir::blocksparse::impl::CheckIndicesPassBase<CheckIndices> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    llvm::MapVector<Value, SourceUses> sources;
    SmallVector<std::pair<Operation *, IndexUse>> open;
    SmallVector<ScatterMMOp> scatters;
    function.walk([&](Operation *op) {
      if (auto scatter = dyn_cast<ScatterMMOp>(op))
        scatters.push_back(scatter);
      std::optional<IndexUse> use = getIndexUse(op);
      if (!use)
        return;
      Value source = getIndexSource(use->sparse);
      if (ShapedType::isDynamic(SparseTensor::get(source.getType())->getBlockCols())) {
        open.emplace_back(op, *use);
        return;
      }
      SourceUses &uses = sources[source];
      uses.users.push_back(op);
      uses.unique |= use->unique;
    });
    for (const auto &[source, uses] : sources)
      checkSource(function, source, uses);
    for (const auto &[op, use] : open)
      checkOperand(op, use);
    for (ScatterMMOp scatter : scatters)
      checkScatter(scatter);
  }
};

} // namespace
