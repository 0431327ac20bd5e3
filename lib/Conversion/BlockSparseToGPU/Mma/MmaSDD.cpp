// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../../Device/Elements.h"
#include "../../Device/Loops.h"
#include "../Operands/Epilogue.h"
#include "MmaKernels.h"
#include "MmaProduct.h"
#include "blocksparse/IR/KernelProblem.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

namespace {

/// Describes a planned_sdd, on the host or in a kernel. A tile is a value block or a part of one.
class SDDView {
public:
  SDDView(ImplicitLocOpBuilder &b, PlannedSDDOp op, const IRMapping &mapping);

  /// Returns the extents (batch, head, table row, tile row, tile column of the block) of the tiles.
  SmallVector<Value> extents(ImplicitLocOpBuilder &b) const;
  void emitTile(ImplicitLocOpBuilder &b, const MmaProduct &product, Value number, Value wide) const;

  static FactorKind getKind(PlannedSDDOp op) {
    return getFactorKind(op.getA(), op.getPrecision(), op.getSchedule());
  }
  static int64_t tileM(PlannedSDDOp op) {
    return MmaProduct::divideTile(op.getBlock()[0],
                                  MmaLimits::get(op.getSchedule(), getKind(op)).m);
  }
  static int64_t tileN(PlannedSDDOp op) {
    return MmaProduct::divideTile(op.getBlock()[1],
                                  MmaLimits::get(op.getSchedule(), getKind(op)).n);
  }

private:
  /// Describes where a tile is: its value block, and its first row and column in the block and in
  /// the matrix.
  struct BlockTile {
    Value batch, head, value;
    Value blockRow, blockCol, row, col;
  };
  BlockTile getBlockTile(ImplicitLocOpBuilder &b, Value number) const;
  TileReduction getReduction(
      ImplicitLocOpBuilder &b, const BlockTile &blockTile,
      function_ref<ReductionStep(ImplicitLocOpBuilder &, Value, ValueRange)> getStep) const;
  Value finish(ImplicitLocOpBuilder &b, const BlockTile &blockTile, Value sum, Value blockRow,
               Value blockCol) const;

  PlannedSDDOp op;
  DenseView left, right;
  CoordinateView lut;
  Value batches, heads;
  std::optional<ValuesView> out, input;
  /// The factors that are operands; null if there are none.
  Value dynamicAlpha, dynamicBeta;
};

} // namespace

SDDView::SDDView(ImplicitLocOpBuilder &b, PlannedSDDOp op, const IRMapping &mapping)
    : op(op), left(DenseView::get(b, mapOperand(mapping, op.getA()), op.getTransposeA())),
      right(DenseView::get(b, mapOperand(mapping, op.getB()), op.getTransposeB())),
      lut(CoordinateView::get(b, mapOperand(mapping, op.getLut()))) {
  Value init = mapOperand(mapping, op.getInit());
  int64_t rank = cast<MemRefType>(init.getType()).getRank();
  batches = rank == 4 ? memrefDim(b, init, 0) : indexConstant(b, 1);
  heads = indexConstant(b, 1);
  // If one table serves all heads, the result holds the blocks of the table once for each head.
  if (op.getLutHeads() == 1)
    heads = b.createOrFold<arith::DivUIOp>(memrefDim(b, init, rank - 3),
                                           indexMax(b, lut.rows(), indexConstant(b, 1)));
  auto getValues = [&](Value values) {
    return ValuesView::get(b, values, op.getLutHeads(), lut.rows(), heads);
  };
  out = getValues(init);
  if (!op.getBeta().isZero() && op.getInput())
    input = getValues(mapOperand(mapping, op.getInput()));
  dynamicAlpha = mapOperand(mapping, op.getDynamicAlpha());
  dynamicBeta = mapOperand(mapping, op.getDynamicBeta());
}

SmallVector<Value> SDDView::extents(ImplicitLocOpBuilder &b) const {
  PlannedSDDOp op = this->op;
  return {batches, heads, lut.rows(), indexConstant(b, out->blockRows() / tileM(op)),
          indexConstant(b, out->blockCols() / tileN(op))};
}

SDDView::BlockTile SDDView::getBlockTile(ImplicitLocOpBuilder &b, Value number) const {
  PlannedSDDOp op = this->op;
  SmallVector<Value> index = splitIndex(b, number, extents(b));
  auto field = [&](CoordinateTable::Field which) {
    return lut.field(b, index[0], index[2], which);
  };
  BlockTile blockTile;
  blockTile.batch = index[0];
  blockTile.head = op.getLutHeads() == 1 ? index[1] : field(CoordinateTable::Head);
  blockTile.value = Int(b, out->headBase(b, blockTile.head)) + field(CoordinateTable::Value);
  blockTile.blockRow = Int(b, index[3]) * tileM(op);
  blockTile.blockCol = Int(b, index[4]) * tileN(op);
  blockTile.row = Int(b, field(CoordinateTable::BlockRow)) * out->blockRows() + blockTile.blockRow;
  blockTile.col = Int(b, field(CoordinateTable::BlockCol)) * out->blockCols() + blockTile.blockCol;
  return blockTile;
}

TileReduction SDDView::getReduction(
    ImplicitLocOpBuilder &b, const BlockTile &blockTile,
    function_ref<ReductionStep(ImplicitLocOpBuilder &, Value, ValueRange)> getStep) const {
  PlannedSDDOp op = this->op;
  bool aKMajor = !op.getTransposeA(), bKMajor = op.getTransposeB();
  MatrixView a = left.matrix(b, blockTile.batch, blockTile.head);
  MatrixView c = right.matrix(b, blockTile.batch, blockTile.head);
  TileReduction reduction{
      {aKMajor, globalStride(b, a, aKMajor ? 0 : 1),
       MmaProduct::getLimit(b, a.rows, blockTile.row, tileM(op)), getKind(op).bytes()},
      {bKMajor, globalStride(b, c, bKMajor ? 1 : 0),
       MmaProduct::getLimit(b, c.cols, blockTile.col, tileN(op)), getKind(op).bytes()},
      indexConstant(b, 0),
      /*runs=*/1,
      nullptr,
      getStep};
  if (op.getAlpha().isZero())
    return reduction;
  // The spare blocks of run-time tables are outside of the result, at -1; their tiles have no
  // products.
  Value inside =
      both(b, indexInside(b, blockTile.row, a.rows), indexInside(b, blockTile.col, c.cols));
  Value steps = indexCeilDiv(b, a.cols, indexConstant(b, MmaProduct::getStepDepth(getKind(op))));
  reduction.steps = arith::SelectOp::create(b, inside, steps, indexConstant(b, 0));
  return reduction;
}

Value SDDView::finish(ImplicitLocOpBuilder &b, const BlockTile &blockTile, Value sum,
                      Value blockRow, Value blockCol) const {
  PlannedSDDOp op = this->op;
  Type accumulator = sum.getType();
  Value row = Int(b, blockTile.row) + (Int(b, blockRow) - blockTile.blockRow);
  Value col = Int(b, blockTile.col) + (Int(b, blockCol) - blockTile.blockCol);
  Value inside = both(b, indexInside(b, row, left.rows()), indexInside(b, col, right.cols()));
  double alpha = op.getAlpha().convertToDouble();
  if (alpha != 1)
    sum = mulNumbers(b, numberConstant(b, accumulator, alpha), sum);
  if (dynamicAlpha)
    sum = scaleBy(b, loadFactor(b, dynamicAlpha), sum);
  Value zero = zeroElement(b, accumulator);
  if (!input)
    return convertElement(b, arith::SelectOp::create(b, inside, sum, zero), out->elementType());
  Value result = emitChoice(
      b, inside,
      [&](ImplicitLocOpBuilder &b) {
        Value index = Int(b, input->headBase(b, blockTile.head)) +
                      (Int(b, blockTile.value) - out->headBase(b, blockTile.head));
        Value addend = input->block(b, blockTile.batch, index).load(b, blockRow, blockCol);
        addend = convertElement(b, addend, accumulator);
        if (dynamicBeta)
          return addNumbers(b, sum, scaleBy(b, loadFactor(b, dynamicBeta), addend));
        Value beta = numberConstant(b, accumulator, op.getBeta().convertToDouble());
        return multiplyAdd(b, beta, addend, sum);
      },
      [&](ImplicitLocOpBuilder &) { return zero; });
  return convertElement(b, result, out->elementType());
}

void SDDView::emitTile(ImplicitLocOpBuilder &b, const MmaProduct &product, Value number,
                       Value wide) const {
  PlannedSDDOp op = this->op;
  BlockTile blockTile = getBlockTile(b, number);
  int64_t stepDepth = MmaProduct::getStepDepth(getKind(op));
  auto getStep = [&](ImplicitLocOpBuilder &b, Value step, ValueRange) {
    MatrixView a = left.matrix(b, blockTile.batch, blockTile.head);
    MatrixView c = right.matrix(b, blockTile.batch, blockTile.head);
    Value k = Int(b, step) * stepDepth;
    Value depth = MmaProduct::getLimit(b, a.cols, k, stepDepth);
    ReductionStep result;
    result.a.push_back({globalAddress(b, a, blockTile.row, k), depth});
    result.b.push_back({globalAddress(b, c, k, blockTile.col), depth});
    return result;
  };
  product.emitReduction(b, getReduction(b, blockTile, getStep));
  // The table is read again, because the accumulators needed the registers meanwhile.
  blockTile = getBlockTile(b, number);
  ResultTile result{out->block(b, blockTile.batch, blockTile.value), blockTile.blockRow,
                    blockTile.blockCol, wide};
  product.emitResult(b, result, [&](ImplicitLocOpBuilder &b, Value sum, Value row, Value col) {
    return finish(b, blockTile, sum, row, col);
  });
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

bool mlir::blocksparse::device::supportsMma(const ::blocksparse::GPUFacts &facts, PlannedSDDOp op) {
  return asksForMma(facts, op);
}

Value mlir::blocksparse::device::fitsMma(ImplicitLocOpBuilder &host,
                                         const ::blocksparse::GPUFacts &, PlannedSDDOp op) {
  return both(host, isAligned16(host, op.getA()), isAligned16(host, op.getB()));
}

void mlir::blocksparse::device::emitMma(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                                        PlannedSDDOp op) {
  Value wide = isAligned16(host, op.getInit());
  bool readsInput = !op.getBeta().isZero();
  SmallVector<Value> operands = presentOperands({op.getA(), op.getB(), op.getLut(), op.getInit(),
                                                 readsInput ? op.getInput() : Value(),
                                                 op.getDynamicAlpha(), op.getDynamicBeta(), wide});
  MmaProduct product(SDDView::tileM(op), SDDView::tileN(op),
                     MmaLimits::get(op.getSchedule(), SDDView::getKind(op)).stages,
                     SDDView::getKind(op), !op.getTransposeA(), op.getTransposeB());
  Value tiles = productOf(host, SDDView(host, op, IRMapping()).extents(host));
  product.launch(host, kernels, "sdd", operands, tiles,
                 [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value number) {
                   SDDView(b, op, mapping).emitTile(b, product, number, mapping.lookup(wide));
                 });
}
