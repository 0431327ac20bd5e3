// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../../Device/Elements.h"
#include "../../Device/Loops.h"
#include "../../OperandView.h"
#include "SimtKernels.h"
#include "blocksparse/IR/SparseTensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

namespace {

/// Describes one element of a tile of the accumulators: its matrix, its row and column there, and
/// its row and column in the tile.
struct TileElement {
  MatrixView matrix;
  Value row, col;
  Value tileRow, tileCol;
};

/// Describes a planned_scatter_mm, on the host or in a kernel. Tiles must not overlap.
class ScatterProblem {
public:
  ScatterProblem(ImplicitLocOpBuilder &b, PlannedScatterMMOp op, const IRMapping &mapping);

  Value items(ImplicitLocOpBuilder &b) const { return productOf(b, extents(b)); }
  void emitItem(ImplicitLocOpBuilder &b, Value item) const;

private:
  SmallVector<Value> extents(ImplicitLocOpBuilder &b) const;
  Value index(ImplicitLocOpBuilder &b, unsigned table, Value position) const {
    return loadIndex(b, tables[table], position);
  }
  MatrixView getBlock(ImplicitLocOpBuilder &b, Value number) const {
    return blocks.matrix(b, Value(), number);
  }
  Value emitProduct(ImplicitLocOpBuilder &b, Value block, const MatrixView &other, Value startRow,
                    Value startCol, const TileElement &element, Value sum) const;
  Value emitPairs(ImplicitLocOpBuilder &b, Value tile, const TileElement &element) const;
  Value emitStrided(ImplicitLocOpBuilder &b, Value batch, Value head, Value tile, Value offset,
                    const TileElement &element) const;
  Value emitOffsetProduct(ImplicitLocOpBuilder &b, const MatrixView &other, Value block,
                          Value offset, const TileElement &element, Value sum) const;

  PlannedScatterMMOp op;
  DenseView blocks, others, accumulators;
  SmallVector<Value> tables;
  Type accumulator;
};

} // namespace

ScatterProblem::ScatterProblem(ImplicitLocOpBuilder &b, PlannedScatterMMOp op,
                               const IRMapping &mapping)
    : op(op), blocks(DenseView::get(b, mapOperand(mapping, op.getBlocks()))),
      others(DenseView::get(b, mapOperand(mapping, op.getOthers()))),
      accumulators(DenseView::get(b, mapOperand(mapping, op.getInit()))),
      accumulator(getAccumulatorType(blocks.elementType())) {
  for (Value table : op.getIndices())
    tables.push_back(mapOperand(mapping, table));
}

/// Returns the extents (batch, head, tile, row, column of the tile) of the work items. The plain
/// format has its tiles on the head axis of the accumulators.
SmallVector<Value> ScatterProblem::extents(ImplicitLocOpBuilder &b) const {
  PlannedScatterMMOp op = this->op;
  Value one = indexConstant(b, 1);
  if (op.getFormat() == ScatterFormat::ScatterMM)
    return {one, one, accumulators.heads(), accumulators.rows(), accumulators.cols()};
  Value split = indexConstant(b, static_cast<int64_t>(op.getSplitN()));
  Value width = b.createOrFold<arith::DivUIOp>(accumulators.cols(), split);
  return {accumulators.batches(), accumulators.heads(), memrefDim(b, tables[1], 0), blocks.rows(),
          width};
}

/// Adds row `tileRow` of a block times column `tileCol` of the tile of `other` that starts at
/// (startRow, startCol).
Value ScatterProblem::emitProduct(ImplicitLocOpBuilder &b, Value block, const MatrixView &other,
                                  Value startRow, Value startCol, const TileElement &element,
                                  Value sum) const {
  MatrixView left = getBlock(b, block);
  Value col = Int(b, startCol) + element.tileCol;
  return emitFold(b, indexConstant(b, 0), left.cols, indexConstant(b, 1), sum,
                  [&](ImplicitLocOpBuilder &b, Value k, Value sum) {
                    Value x = left.load(b, element.tileRow, k);
                    Value y = other.load(b, Int(b, startRow) + k, col);
                    return multiplyAdd(b, convertElement(b, x, accumulator),
                                       convertElement(b, y, accumulator), sum);
                  });
}

/// Adds the products of a tile of the plain format, whose tables are c_offsets [R + 1] and pq [n,
/// 2].
Value ScatterProblem::emitPairs(ImplicitLocOpBuilder &b, Value tile,
                                const TileElement &element) const {
  Value one = indexConstant(b, 1), zero = indexConstant(b, 0);
  Value first = index(b, 0, tile), end = index(b, 0, Int(b, tile) + one);
  return emitFold(b, first, end, one, zeroElement(b, accumulator),
                  [&](ImplicitLocOpBuilder &b, Value pair, Value sum) {
                    Value p = loadIndex(b, tables[1], {pair, zero});
                    Value q = loadIndex(b, tables[1], {pair, one});
                    MatrixView other = others.matrix(b, Value(), q);
                    return emitProduct(b, p, other, zero, zero, element, sum);
                  });
}

/// Adds a product whose tile of `other` starts at element `offset`, counted along rows.
Value ScatterProblem::emitOffsetProduct(ImplicitLocOpBuilder &b, const MatrixView &other,
                                        Value block, Value offset, const TileElement &element,
                                        Value sum) const {
  SmallVector<Value> start = splitIndex(b, offset, {Value(), other.cols});
  return emitProduct(b, block, other, start[0], start[1], element, sum);
}

/// Adds the products of a tile of the strided formats that starts at element `offset` of the
/// accumulators.
Value ScatterProblem::emitStrided(ImplicitLocOpBuilder &b, Value batch, Value head, Value tile,
                                  Value offset, const TileElement &element) const {
  PlannedScatterMMOp op = this->op;
  Value one = indexConstant(b, 1), zero = zeroElement(b, accumulator);
  MatrixView other = others.matrix(b, batch, head);
  if (op.getFormat() == ScatterFormat::BsrStridedMM) {
    Value first = index(b, 0, tile), end = index(b, 0, Int(b, tile) + one);
    return emitFold(b, first, end, one, zero, [&](ImplicitLocOpBuilder &b, Value g, Value sum) {
      return emitOffsetProduct(b, other, index(b, 2, g), index(b, 3, g), element, sum);
    });
  }
  // Block row m and column split n follow from the row and column of the tile.
  SmallVector<Value> start = splitIndex(b, offset, {Value(), accumulators.cols()});
  Value split = indexConstant(b, static_cast<int64_t>(op.getSplitN()));
  Value width = b.createOrFold<arith::DivUIOp>(accumulators.cols(), split);
  Value m = b.createOrFold<arith::DivUIOp>(start[0], blocks.rows());
  Value n = b.createOrFold<arith::DivUIOp>(start[1], width);
  Value c0 = index(b, 0, m), c1 = index(b, 0, Int(b, m) + one);
  Value list = Int(b, n) * c1 + (Int(b, split) - n) * c0;
  return emitFold(b, c0, c1, one, zero, [&](ImplicitLocOpBuilder &b, Value p, Value sum) {
    Value q = index(b, 2, Int(b, list) + (Int(b, p) - c0));
    return emitOffsetProduct(b, other, p, q, element, sum);
  });
}

void ScatterProblem::emitItem(ImplicitLocOpBuilder &b, Value item) const {
  PlannedScatterMMOp op = this->op;
  SmallVector<Value> position = splitIndex(b, item, extents(b));
  Value batch = position[0], head = position[1], tile = position[2];
  TileElement element{{}, position[3], position[4], position[3], position[4]};
  Value sum;
  if (op.getFormat() == ScatterFormat::ScatterMM) {
    element.matrix = accumulators.matrix(b, batch, tile);
    sum = emitPairs(b, tile, element);
  } else {
    element.matrix = accumulators.matrix(b, batch, head);
    Value offset = index(b, 1, tile);
    SmallVector<Value> start = splitIndex(b, offset, {Value(), accumulators.cols()});
    element.row = Int(b, start[0]) + element.tileRow;
    element.col = Int(b, start[1]) + element.tileCol;
    sum = emitStrided(b, batch, head, tile, offset, element);
  }
  Value old = convertElement(b, element.matrix.load(b, element.row, element.col), accumulator);
  Value result = convertElement(b, addNumbers(b, old, sum), accumulators.elementType());
  element.matrix.store(b, result, element.row, element.col);
}

void mlir::blocksparse::device::emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                                         PlannedScatterMMOp op) {
  Value items = ScatterProblem(host, op, IRMapping()).items(host);
  kernels.launchForEach(host, "scatter_mm", op->getOperands(), items,
                        [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value item) {
                          ScatterProblem(b, op, mapping).emitItem(b, item);
                        });
}
