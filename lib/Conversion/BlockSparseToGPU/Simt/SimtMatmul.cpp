// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../../Device/Elements.h"
#include "../../Device/Loops.h"
#include "../Operands/Epilogue.h"
#include "../Operands/MatmulAxes.h"
#include "SimtKernels.h"
#include "blocksparse/IR/SparseTensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

MatmulAxes MatmulAxes::get(PlannedMatmulOp op) {
  DenseAxes interleaved = DenseAxes::ofInterleavedHeads(), keys = interleaved;
  std::swap(keys.row, keys.col);
  DenseAxes a = DenseAxes::ofMatrices(op.getA(), op.getTransposeA());
  DenseAxes b = DenseAxes::ofMatrices(op.getB(), op.getTransposeB());
  DenseAxes out = DenseAxes::ofMatrices(op.getInit());
  switch (op.getForm()) {
  case MatmulForm::Linear:
    return {a, b, out};
  case MatmulForm::Score:
    return {interleaved, keys, out};
  case MatmulForm::Context:
    return {a, interleaved, interleaved};
  }
  return {a, b, out};
}

namespace {

/// Describes a planned_matmul, on the host or in a kernel.
class MatmulProblem {
public:
  MatmulProblem(ImplicitLocOpBuilder &b, PlannedMatmulOp op, const IRMapping &mapping)
      : op(op), left(DenseView::get(b, mapOperand(mapping, op.getA()), MatmulAxes::get(op).a)),
        right(DenseView::get(b, mapOperand(mapping, op.getB()), MatmulAxes::get(op).b)),
        out(DenseView::get(b, mapOperand(mapping, op.getInit()), MatmulAxes::get(op).out)),
        epilogue(Epilogue::get(b, op, mapping)),
        accumulator(getAccumulatorType(left.elementType())) {}

  Value items(ImplicitLocOpBuilder &b) const { return productOf(b, extents()); }
  void emitItem(ImplicitLocOpBuilder &b, Value item) const;

private:
  /// Returns the extents (batch, head, row, column) of the work items.
  SmallVector<Value> extents() const {
    return {out.batches(), out.heads(), out.rows(), out.cols()};
  }
  Value emitSum(ImplicitLocOpBuilder &b, ArrayRef<Value> index) const;

  PlannedMatmulOp op;
  DenseView left, right, out;
  Epilogue epilogue;
  Type accumulator;
};

} // namespace

Value MatmulProblem::emitSum(ImplicitLocOpBuilder &b, ArrayRef<Value> index) const {
  PlannedMatmulOp op = this->op;
  Value zero = zeroElement(b, accumulator);
  if (op.getAlpha().isZero())
    return zero;
  MatrixView a = left.matrix(b, index[0], index[1]), c = right.matrix(b, index[0], index[1]);
  return emitFold(b, indexConstant(b, 0), a.cols, indexConstant(b, 1), zero,
                  [&](ImplicitLocOpBuilder &b, Value k, Value sum) {
                    Value x = convertElement(b, a.load(b, index[2], k), accumulator);
                    Value y = convertElement(b, c.load(b, k, index[3]), accumulator);
                    return multiplyAdd(b, x, y, sum);
                  });
}

void MatmulProblem::emitItem(ImplicitLocOpBuilder &b, Value item) const {
  PlannedMatmulOp op = this->op;
  SmallVector<Value> index = splitIndex(b, item, extents());
  Value sum = emitSum(b, index);
  Value hasProducts = indexLess(b, indexConstant(b, 0), left.cols());
  if (op.getAlpha().isZero())
    hasProducts = arith::ConstantIntOp::create(b, b.getI1Type(), 0);
  // The context form stores [B, M, H, D].
  StoredPosition position{index[0], index[1], index[2], index[3]};
  if (op.getForm() == MatmulForm::Context)
    std::swap(position.head, position.row);
  Value result =
      convertElement(b, epilogue.apply(b, sum, hasProducts, position), out.elementType());
  out.matrix(b, index[0], index[1]).store(b, result, index[2], index[3]);
}

void mlir::blocksparse::device::emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                                         PlannedMatmulOp op) {
  SmallVector<Value> operands{op.getA(), op.getB(), op.getInit()};
  llvm::append_range(operands, Epilogue::operands(op));
  Value items = MatmulProblem(host, op, IRMapping()).items(host);
  kernels.launchForEach(host, "matmul", operands, items,
                        [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value item) {
                          MatmulProblem(b, op, mapping).emitItem(b, item);
                        });
}
