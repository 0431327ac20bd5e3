// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lowers planned_matmul. One task packs a panel of the right operand and multiplies a share of the
// rows of the left operand with it. `precision` has no effect, because exact f32 products satisfy
// every precision.

#include "Epilogue.h"
#include "LeftOperand.h"
#include "LowerToLoops.h"
#include "PanelKernel.h"
#include "TaskLoop.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blocksparse;

namespace {

/// Holds the roles of the axes of the three matrices: left (m, k), right (k, n), result (m, n).
struct MatmulAxes {
  DenseAxes left, right, result;
};

class DenseMatmulLowering {
public:
  DenseMatmulLowering(ImplicitLocOpBuilder &b, PlannedMatmulOp op,
                      const CPULoweringOptions &options);
  void run();

private:
  Value taskGroups();
  void emitTask(Value batch, Value head, Value panelIndex, Value group, Value groups);
  void emitTile(const MatrixView &leftMatrix, const EpilogueMatrices &matrices, LeftOperand &left,
                Value row, Value firstCol, Value panel, Value accumulators);

  ImplicitLocOpBuilder &b;
  PlannedMatmulOp op;
  TileShape tile;
  DenseView leftView, rightView;
  std::optional<Epilogue> epilogue;
  bool multiplies;
  Value batches, heads, rows, cols, depth, panels, rowTiles, rightUnitStride;
};

} // namespace

static MatmulAxes axesOf(PlannedMatmulOp op) {
  switch (op.getForm()) {
  case MatmulForm::Score: {
    DenseAxes right = DenseAxes::ofInterleavedHeads();
    std::swap(right.row, right.col);
    return {DenseAxes::ofInterleavedHeads(), right, DenseAxes::ofMatrices(4)};
  }
  case MatmulForm::Context:
    return {DenseAxes::ofMatrices(4), DenseAxes::ofInterleavedHeads(),
            DenseAxes::ofInterleavedHeads()};
  case MatmulForm::Linear:
    break;
  }
  return {DenseAxes::ofMatrices(op.getA(), op.getTransposeA()),
          DenseAxes::ofMatrices(op.getB(), op.getTransposeB()), DenseAxes::ofMatrices(4)};
}

DenseMatmulLowering::DenseMatmulLowering(ImplicitLocOpBuilder &b, PlannedMatmulOp op,
                                         const CPULoweringOptions &options)
    : b(b), op(op), multiplies(op.getAlpha().convertToDouble() != 0) {
  MatmulAxes axes = axesOf(op);
  leftView = DenseView::get(b, op.getA(), axes.left);
  rightView = DenseView::get(b, op.getB(), axes.right);
  int64_t resultRank = cast<MemRefType>(op.getInit().getType()).getRank();
  DenseView result = DenseView::get(b, op.getInit(), axes.result.alignedTo(resultRank));
  batches = result.batches();
  heads = result.heads();
  rows = result.rows();
  cols = result.cols();
  depth = rightView.rows();
  rightUnitStride = rightView.hasUnitStride(b);
  tile = TileShape::choose(getAccumulatorType(leftView.elementType()), op.getScheduleAttr(),
                           options, knownIndex(rows), knownIndex(cols));
  panels = indexCeilDiv(b, cols, indexConstant(b, tile.cols));
  rowTiles = indexCeilDiv(b, rows, indexConstant(b, tile.rows));
  Epilogue::Attributes attributes{op.getAlpha().convertToDouble(), 0, op.getActivationAttr()};
  Epilogue::Operands operands;
  operands.bias = op.getBias();
  operands.residual = op.getResidual();
  operands.dynamicAlpha = op.getDynamicAlpha();
  epilogue.emplace(b, attributes, operands, op.getInit(), axes.result, Value());
}

/// Returns the number of tasks that share a panel. As in planned_dsd it is enough to occupy many
/// threads, but each task computes at least 16 row tiles for one packing of the panel, if there are
/// so many.
Value DenseMatmulLowering::taskGroups() {
  Value one = indexConstant(b, 1);
  Value others = indexMax(b, Int(b, batches) * heads * panels, one);
  Value wanted = indexCeilDiv(b, indexConstant(b, 128), others);
  Value worthwhile = b.createOrFold<arith::DivUIOp>(rowTiles, indexConstant(b, 16));
  return indexMax(b, indexMin(b, wanted, worthwhile), one);
}

void DenseMatmulLowering::run() {
  Value groups = taskGroups();
  emitTaskLoop(b, {batches, heads, panels, groups},
               [&](ValueRange ids) { emitTask(ids[0], ids[1], ids[2], ids[3], groups); });
}

void DenseMatmulLowering::emitTask(Value batch, Value head, Value panelIndex, Value group,
                                   Value groups) {
  Value firstCol = Int(b, panelIndex) * tile.cols;
  Value accumulators = allocateScratch(b, tile.memrefType(), {});
  LeftOperand left(b, tile, leftView.elementType());
  Value panel;
  if (multiplies) {
    panel = allocateScratch(b, tile.panelType(), {depth});
    packPanel(b, tile, rightView.matrix(b, batch, head), rightUnitStride, firstCol, depth, panel);
  }
  MatrixView leftMatrix = leftView.matrix(b, batch, head);
  EpilogueMatrices matrices = epilogue->matrices(b, batch, head);
  {
    OpBuilder::InsertionGuard guard(b);
    auto loop = scf::ForOp::create(b, group, rowTiles, groups);
    b.setInsertionPointToStart(loop.getBody());
    Value row = Int(b, loop.getInductionVar()) * tile.rows;
    emitTile(leftMatrix, matrices, left, row, firstCol, panel, accumulators);
  }
  if (multiplies)
    freeScratch(b, panel);
  left.release(b);
  freeScratch(b, accumulators);
}

void DenseMatmulLowering::emitTile(const MatrixView &leftMatrix, const EpilogueMatrices &matrices,
                                   LeftOperand &left, Value row, Value firstCol, Value panel,
                                   Value accumulators) {
  Value zero = indexConstant(b, 0);
  bool wholeTiles = knownIndex(rows) != ShapedType::kDynamic && knownIndex(rows) % tile.rows == 0;
  Value lastRow = wholeTiles ? Value() : Int(b, rows) - 1;
  SmallVector<Value> products = tile.zeroAccumulators(b);
  if (multiplies)
    products = left.multiply(b, products, leftMatrix, row, lastRow, depth, panel, zero,
                             op.getTransposeA());
  tile.storeAccumulators(b, products, accumulators, zero);
  Value validRows = indexMin(b, indexConstant(b, tile.rows), Int(b, rows) - row);
  Value validCols = indexMin(b, indexConstant(b, tile.cols), Int(b, cols) - firstCol);
  epilogue->storeTile(b, matrices, accumulators, row, firstCol, validRows, validCols, tile.lanes);
}

void mlir::blocksparse::lowerToLoops(ImplicitLocOpBuilder &b, PlannedMatmulOp op,
                                     const CPULoweringOptions &options) {
  DenseMatmulLowering(b, op, options).run();
}
