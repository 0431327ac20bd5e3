// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../../Device/Elements.h"
#include "../../Device/Loops.h"
#include "../../OperandView.h"
#include "../Operands/Epilogue.h"
#include "SimtKernels.h"
#include "blocksparse/IR/SparseTensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

namespace {

/// Describes a planned_sdd, on the host or in a kernel.
class SDDProblem {
public:
  SDDProblem(ImplicitLocOpBuilder &b, PlannedSDDOp op, const IRMapping &mapping);

  /// Returns the number of work items: the elements of all value blocks.
  Value items(ImplicitLocOpBuilder &b) const { return productOf(b, extents(b)); }
  void emitItem(ImplicitLocOpBuilder &b, Value item) const;

private:
  SmallVector<Value> extents(ImplicitLocOpBuilder &b) const;
  Value emitProduct(ImplicitLocOpBuilder &b, Value batch, Value head, Value row, Value col) const;

  PlannedSDDOp op;
  DenseView left, right;
  CoordinateView lut;
  Value batches, heads;
  std::optional<ValuesView> out, input;
  /// The factors that are operands; null if there are none.
  Value dynamicAlpha, dynamicBeta;
  Type accumulator;
};

} // namespace

SDDProblem::SDDProblem(ImplicitLocOpBuilder &b, PlannedSDDOp op, const IRMapping &mapping)
    : op(op), left(DenseView::get(b, mapOperand(mapping, op.getA()), op.getTransposeA())),
      right(DenseView::get(b, mapOperand(mapping, op.getB()), op.getTransposeB())),
      lut(CoordinateView::get(b, mapOperand(mapping, op.getLut()))) {
  Value init = mapOperand(mapping, op.getInit());
  int64_t rank = cast<MemRefType>(init.getType()).getRank();
  batches = rank == 4 ? memrefDim(b, init, 0) : indexConstant(b, 1);
  // If one table serves all heads, the result holds the blocks of the table once for each head.
  Value stored = memrefDim(b, init, rank - 3);
  Value divisor = indexMax(b, lut.rows(), indexConstant(b, 1));
  heads =
      op.getLutHeads() == 1 ? b.createOrFold<arith::DivUIOp>(stored, divisor) : indexConstant(b, 1);
  out = ValuesView::get(b, init, op.getLutHeads(), lut.rows(), heads);
  if (!op.getBeta().isZero() && op.getInput())
    input =
        ValuesView::get(b, mapOperand(mapping, op.getInput()), op.getLutHeads(), lut.rows(), heads);
  dynamicAlpha = mapOperand(mapping, op.getDynamicAlpha());
  dynamicBeta = mapOperand(mapping, op.getDynamicBeta());
  accumulator = getAccumulatorType(left.elementType());
}

/// Returns the extents (batch, head, table row, row, column of the block) of the work items.
SmallVector<Value> SDDProblem::extents(ImplicitLocOpBuilder &b) const {
  return {batches, heads, lut.rows(), indexConstant(b, out->blockRows()),
          indexConstant(b, out->blockCols())};
}

Value SDDProblem::emitProduct(ImplicitLocOpBuilder &b, Value batch, Value head, Value row,
                              Value col) const {
  PlannedSDDOp op = this->op;
  Value zero = zeroElement(b, accumulator);
  double alpha = op.getAlpha().convertToDouble();
  if (alpha == 0)
    return zero;
  MatrixView a = left.matrix(b, batch, head), c = right.matrix(b, batch, head);
  Value sum = emitFold(b, indexConstant(b, 0), a.cols, indexConstant(b, 1), zero,
                       [&](ImplicitLocOpBuilder &b, Value k, Value sum) {
                         Value x = convertElement(b, a.load(b, row, k), accumulator);
                         Value y = convertElement(b, c.load(b, k, col), accumulator);
                         return multiplyAdd(b, x, y, sum);
                       });
  if (dynamicAlpha)
    return scaleBy(b, loadFactor(b, dynamicAlpha), sum);
  return alpha == 1 ? sum : mulNumbers(b, numberConstant(b, accumulator, alpha), sum);
}

void SDDProblem::emitItem(ImplicitLocOpBuilder &b, Value item) const {
  PlannedSDDOp op = this->op;
  SmallVector<Value> index = splitIndex(b, item, extents(b));
  Value batch = index[0], head = index[1], entry = index[2];
  if (op.getLutHeads() != 1)
    head = lut.field(b, batch, entry, CoordinateTable::Head);
  auto position = [&](CoordinateTable::Field field, int64_t size, Value inner) {
    Value start = Int(b, lut.field(b, batch, entry, field)) * size;
    return Int(b, start) + inner;
  };
  Value row = position(CoordinateTable::BlockRow, out->blockRows(), index[3]);
  Value col = position(CoordinateTable::BlockCol, out->blockCols(), index[4]);
  Value value = Int(b, out->headBase(b, head)) + lut.field(b, batch, entry, CoordinateTable::Value);
  Value inside = both(b, indexInside(b, row, left.rows()), indexInside(b, col, right.cols()));
  Value result = emitChoice(
      b, inside,
      [&](ImplicitLocOpBuilder &b) {
        Value sum = emitProduct(b, batch, head, row, col);
        if (!input)
          return sum;
        Value index3 =
            Int(b, input->headBase(b, head)) + lut.field(b, batch, entry, CoordinateTable::Value);
        Value addend = input->block(b, batch, index3).load(b, index[3], index[4]);
        addend = convertElement(b, addend, accumulator);
        if (dynamicBeta)
          return addNumbers(b, sum, scaleBy(b, loadFactor(b, dynamicBeta), addend));
        Value beta = numberConstant(b, accumulator, op.getBeta().convertToDouble());
        return multiplyAdd(b, beta, addend, sum);
      },
      [&](ImplicitLocOpBuilder &b) { return zeroElement(b, accumulator); });
  result = convertElement(b, result, out->elementType());
  out->block(b, batch, value).store(b, result, index[3], index[4]);
}

void mlir::blocksparse::device::emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                                         PlannedSDDOp op) {
  bool readsInput = !op.getBeta().isZero();
  SmallVector<Value> operands = presentOperands({op.getA(), op.getB(), op.getLut(), op.getInit(),
                                                 readsInput ? op.getInput() : Value(),
                                                 op.getDynamicAlpha(), op.getDynamicBeta()});
  Value items = SDDProblem(host, op, IRMapping()).items(host);
  kernels.launchForEach(host, "sdd", operands, items,
                        [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value item) {
                          SDDProblem(b, op, mapping).emitItem(b, item);
                        });
}
