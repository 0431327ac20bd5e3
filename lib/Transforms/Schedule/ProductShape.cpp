// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ProductShape.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::ProblemKind;

/// Returns the product of the axes in front of the last two.
static int64_t leadingSize(RankedTensorType type) {
  int64_t size = 1;
  for (int64_t dim : type.getShape().drop_back(std::min<int64_t>(2, type.getRank())))
    size = ShapedType::isDynamic(dim) || ShapedType::isDynamic(size) ? ShapedType::kDynamic
                                                                     : size * dim;
  return size;
}

static int64_t bytesOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.hasStaticShape() ? type.getNumElements() * type.getElementTypeBitWidth() / 8 : 0;
}

/// Returns the sparse factor of a reduction, and whether op(S) is its transpose.
static std::pair<Value, bool> getSparseFactor(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::pair<Value, bool>>(op)
      .Case([](DSDOp dsd) { return std::pair(dsd.getA(), dsd.getTransposeA()); })
      .Case([](DDSOp dds) { return std::pair(dds.getB(), !dds.getTransposeB()); })
      .Case([](BsrAddmmOp addmm) { return std::pair(addmm.getSparse(), false); })
      .Default([](Operation *) { return std::pair(Value(), false); });
}

bool mlir::blocksparse::isConstant(Value value) {
  if (auto assemble = value.getDefiningOp<AssembleOp>())
    return matchPattern(assemble->getOperands().back(), m_Constant());
  return matchPattern(value, m_Constant());
}

/// Returns the number of matrices of the size of the result that the epilogue of a reduction adds.
static int64_t countEpilogueMatrices(Operation *op) {
  auto count = [](Value operand) { return operand ? 1 : 0; };
  return llvm::TypeSwitch<Operation *, int64_t>(op)
      .Case<DSDOp, DDSOp>([&](auto product) { return count(product.getResidual()); })
      .Case([&](BsrAddmmOp addmm) {
        const bool adds = addmm.getDynamicBeta() || !addmm.getBeta().isZero();
        return (adds ? count(addmm.getInput()) : 0) + count(addmm.getResidual());
      })
      .Default([](Operation *) { return 0; });
}

ProductShape ProductShape::get(Operation *op) {
  ProductShape shape;
  shape.problem = *getKernelProblem(op);
  Type element = cast<RankedTensorType>(op->getOperand(0).getType()).getElementType();
  shape.elementBits = element.getIntOrFloatBitWidth();
  shape.accumulatorBits = getAccumulatorType(element).getIntOrFloatBitWidth();
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  shape.leading = leadingSize(result);
  if (result.hasStaticShape())
    shape.resultElements = result.getNumElements();
  switch (shape.problem.kind) {
  case ProblemKind::Reduction: {
    auto [sparse, transpose] = getSparseFactor(op);
    SparseTensor type = *SparseTensor::get(sparse.getType());
    shape.rows = shape.problem.block.rows;
    shape.cols = shape.problem.cols;
    shape.layout = type.isStatic() ? type.getLayout().resolve() : nullptr;
    shape.transposeLayout = transpose;
    shape.hasConstantValues = isConstant(sparse);
    shape.epilogueMatrices = countEpilogueMatrices(op);
    break;
  }
  case ProblemKind::Sampled:
    shape.rows = shape.problem.block.rows;
    shape.cols = shape.problem.block.cols;
    llvm::TypeSwitch<Operation *>(op).Case<SDDOp, SampledAddmmOp>([&](auto sampled) {
      shape.bytesA = bytesOf(sampled.getA());
      shape.bytesB = bytesOf(sampled.getB());
    });
    break;
  case ProblemKind::Dense:
    shape.rows = shape.problem.rows;
    shape.cols = shape.problem.cols;
    break;
  default:
    shape.rows = result.getDimSize(result.getRank() - 2);
    shape.cols = result.getDimSize(result.getRank() - 1);
    break;
  }
  return shape;
}

bool ProductShape::isSparse() const {
  return problem.kind == ProblemKind::Reduction || problem.kind == ProblemKind::Sampled;
}

int64_t ProductShape::copiedBlockRows() const {
  ::blocksparse::BlockGrid grid = layout->grid();
  return (transposeLayout ? grid.cols : grid.rows) * leading;
}
