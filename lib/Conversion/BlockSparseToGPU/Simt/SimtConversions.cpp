// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../../Device/Elements.h"
#include "../../Device/Loops.h"
#include "../../OperandView.h"
#include "../Operands/BlockMap.h"
#include "../Operands/Epilogue.h"
#include "SimtKernels.h"
#include "blocksparse/IR/SparseTensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

//===----------------------------------------------------------------------===//
// to_dense
//===----------------------------------------------------------------------===//

/// Adds the value at (row, col) of a block for each row of the table after `first` that lists the
/// block again. Blocks are rarely listed twice; only those take this path.
static Value emitRepeated(ImplicitLocOpBuilder &b, const CoordinateView &lut,
                          const BlockMap::Coord &coord, Value first, Value sum,
                          function_ref<Value(ImplicitLocOpBuilder &, Value)> loadValue) {
  Value one = indexConstant(b, 1);
  return emitFold(
      b, Int(b, first) + one, lut.rows(), one, sum,
      [&](ImplicitLocOpBuilder &b, Value entry, Value sum) {
        auto matches = [&](CoordinateTable::Field field, Value expected) {
          return indexEqual(b, lut.field(b, coord.batch, entry, field), expected);
        };
        Value same = both(b, matches(CoordinateTable::Head, coord.head),
                          both(b, matches(CoordinateTable::BlockRow, coord.row),
                               matches(CoordinateTable::BlockCol, coord.col)));
        return emitChoice(
            b, same,
            [&](ImplicitLocOpBuilder &b) { return addNumbers(b, sum, loadValue(b, entry)); },
            [&](ImplicitLocOpBuilder &) { return sum; });
      });
}

static void emitDenseElement(ImplicitLocOpBuilder &b, PlannedToDenseOp op, const IRMapping &mapping,
                             const BlockMap &map, Value item) {
  DenseView out = DenseView::get(b, mapping.lookup(op.getInit()));
  CoordinateView lut = CoordinateView::get(b, mapping.lookup(op.getLut()));
  ValuesView values =
      ValuesView::get(b, mapping.lookup(op.getValues()), op.getLutHeads(), lut.rows(), out.heads());
  SmallVector<Value> index =
      splitIndex(b, item, {out.batches(), out.heads(), out.rows(), out.cols()});
  Value zero = indexConstant(b, 0);
  SmallVector<Value> row = splitIndex(b, index[2], {Value(), indexConstant(b, values.blockRows())});
  SmallVector<Value> col = splitIndex(b, index[3], {Value(), indexConstant(b, values.blockCols())});
  BlockMap::Coord coord{lut.isBatched() ? index[0] : zero, op.getLutHeads() == 1 ? zero : index[1],
                        row[0], col[0]};
  Type accumulator = getAccumulatorType(values.elementType());
  auto loadValue = [&](ImplicitLocOpBuilder &b, Value entry) {
    Value number = lut.field(b, coord.batch, entry, CoordinateTable::Value);
    Value block = Int(b, values.headBase(b, index[1])) + number;
    Value loaded = values.block(b, index[0], block).load(b, row[1], col[1]);
    return convertElement(b, loaded, accumulator);
  };
  Value count = map.getCount(b, mapping, coord);
  Value sum = emitChoice(
      b, indexEqual(b, count, zero),
      [&](ImplicitLocOpBuilder &b) { return zeroElement(b, accumulator); },
      [&](ImplicitLocOpBuilder &b) {
        Value first = map.getFirst(b, mapping, coord);
        Value value = loadValue(b, first);
        return emitChoice(
            b, indexEqual(b, count, indexConstant(b, 1)),
            [&](ImplicitLocOpBuilder &) { return value; },
            [&](ImplicitLocOpBuilder &b) {
              return emitRepeated(b, lut, coord, first, value, loadValue);
            });
      });
  out.matrix(b, index[0], index[1])
      .store(b, convertElement(b, sum, out.elementType()), index[2], index[3]);
}

void mlir::blocksparse::device::emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                                         PlannedToDenseOp op) {
  DenseView out = DenseView::get(host, op.getInit());
  CoordinateView lut = CoordinateView::get(host, op.getLut());
  auto blocks = [&](Value size, int64_t axis) {
    return indexCeilDiv(host, size, indexConstant(host, op.getBlock()[axis]));
  };
  Value batches = lut.isBatched() ? out.batches() : indexConstant(host, 1);
  BlockMap::Grid grid{batches, indexConstant(host, static_cast<int64_t>(op.getLutHeads())),
                      blocks(out.rows(), 0), blocks(out.cols(), 1)};
  BlockMap map = BlockMap::build(
      host, kernels, grid, op.getLut(), Int(host, batches) * lut.rows(),
      [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value item, BlockMap::Insert insert) {
        CoordinateView lut = CoordinateView::get(b, mapping.lookup(op.getLut()));
        SmallVector<Value> index = splitIndex(b, item, {Value(), lut.rows()});
        auto field = [&](CoordinateTable::Field which) {
          return lut.field(b, index[0], index[1], which);
        };
        BlockMap::Coord coord{index[0], field(CoordinateTable::Head),
                              field(CoordinateTable::BlockRow), field(CoordinateTable::BlockCol)};
        // The spare rows of a run-time table list no block.
        emitIf(b, indexLess(b, indexConstant(b, -1), coord.row),
               [&](ImplicitLocOpBuilder &b) { insert(b, coord, index[1]); });
      });
  SmallVector<Value> operands{op.getValues(), op.getLut(), op.getInit()};
  llvm::append_range(operands, map.buffers());
  Value items = productOf(host, {out.batches(), out.heads(), out.rows(), out.cols()});
  kernels.launchForEach(host, "to_dense", operands, items,
                        [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value item) {
                          emitDenseElement(b, op, mapping, map, item);
                        });
  map.release(host);
}

//===----------------------------------------------------------------------===//
// from_dense
//===----------------------------------------------------------------------===//

namespace {

/// Describes the elements of the value blocks that a coordinate LUT lists.
struct GatherExtents {
  Value batches, heads;
  CoordinateView lut;
  ValuesView values;

  SmallVector<Value> sizes(ImplicitLocOpBuilder &b) const {
    return {batches, heads, lut.rows(), indexConstant(b, values.blockRows()),
            indexConstant(b, values.blockCols())};
  }
};

} // namespace

static GatherExtents getExtents(ImplicitLocOpBuilder &b, PlannedFromDenseOp op,
                                const IRMapping &mapping) {
  Value init = mapOperand(mapping, op.getInit());
  int64_t rank = cast<MemRefType>(init.getType()).getRank();
  CoordinateView lut = CoordinateView::get(b, mapOperand(mapping, op.getLut()));
  Value one = indexConstant(b, 1), heads = one;
  if (op.getLutHeads() == 1)
    heads =
        b.createOrFold<arith::DivUIOp>(memrefDim(b, init, rank - 3), indexMax(b, lut.rows(), one));
  Value batches = rank == 4 ? memrefDim(b, init, 0) : one;
  return {batches, heads, lut, ValuesView::get(b, init, op.getLutHeads(), lut.rows(), heads)};
}

static void emitGatheredElement(ImplicitLocOpBuilder &b, PlannedFromDenseOp op,
                                const IRMapping &mapping, Value item) {
  GatherExtents extents = getExtents(b, op, mapping);
  const CoordinateView &lut = extents.lut;
  const ValuesView &values = extents.values;
  DenseView dense = DenseView::get(b, mapping.lookup(op.getDense()));
  SmallVector<Value> index = splitIndex(b, item, extents.sizes(b));
  Value batch = index[0], entry = index[2];
  Value head = op.getLutHeads() == 1 ? index[1] : lut.field(b, batch, entry, CoordinateTable::Head);
  auto position = [&](CoordinateTable::Field field, int64_t size, Value inner) {
    Value start = Int(b, lut.field(b, batch, entry, field)) * size;
    return Int(b, start) + inner;
  };
  Value row = position(CoordinateTable::BlockRow, values.blockRows(), index[3]);
  Value col = position(CoordinateTable::BlockCol, values.blockCols(), index[4]);
  Value inside = both(b, indexInside(b, row, dense.rows()), indexInside(b, col, dense.cols()));
  Value element = emitChoice(
      b, inside,
      [&](ImplicitLocOpBuilder &b) { return dense.matrix(b, batch, head).load(b, row, col); },
      [&](ImplicitLocOpBuilder &b) { return zeroElement(b, dense.elementType()); });
  Value block =
      Int(b, values.headBase(b, head)) + lut.field(b, batch, entry, CoordinateTable::Value);
  values.block(b, batch, block)
      .store(b, convertElement(b, element, values.elementType()), index[3], index[4]);
}

void mlir::blocksparse::device::emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                                         PlannedFromDenseOp op) {
  Value items = productOf(host, getExtents(host, op, IRMapping()).sizes(host));
  kernels.launchForEach(host, "from_dense", op->getOperands(), items,
                        [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value item) {
                          emitGatheredElement(b, op, mapping, item);
                        });
}

//===----------------------------------------------------------------------===//
// transpose
//===----------------------------------------------------------------------===//

/// Returns the extents of value blocks: batches, blocks of all heads, rows and columns of a block.
static SmallVector<Value> getValueSizes(ImplicitLocOpBuilder &b, Value values) {
  int64_t rank = cast<MemRefType>(values.getType()).getRank();
  SmallVector<Value> sizes{rank == 4 ? memrefDim(b, values, 0) : indexConstant(b, 1)};
  for (int64_t axis = rank - 3; axis < rank; ++axis)
    sizes.push_back(memrefDim(b, values, axis));
  return sizes;
}

/// Returns the view of value blocks whose indices count the blocks of all heads.
static ValuesView getFlatView(ImplicitLocOpBuilder &b, Value values) {
  Value one = indexConstant(b, 1);
  return ValuesView::get(b, values, 1, one, one);
}

void mlir::blocksparse::device::emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                                         PlannedTransposeOp op) {
  kernels.launchForEach(
      host, "transpose", op->getOperands(), productOf(host, getValueSizes(host, op.getInit())),
      [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value item) {
        Value init = mapping.lookup(op.getInit()), table = mapping.lookup(op.getPermutation());
        SmallVector<Value> index = splitIndex(b, item, getValueSizes(b, init));
        int64_t tableRank = cast<MemRefType>(table.getType()).getRank();
        // The table lists the blocks of its heads; further heads follow in the same order.
        Value listed = memrefDim(b, table, tableRank - 1);
        Value inHead = arith::RemUIOp::create(b, index[1], listed);
        Value base = Int(b, index[1]) - inHead;
        SmallVector<Value> entry{inHead};
        if (tableRank == 2) {
          bool batched = cast<MemRefType>(table.getType()).getDimSize(0) != 1;
          entry.insert(entry.begin(), batched ? index[0] : indexConstant(b, 0));
        }
        Value source = Int(b, base) + loadIndex(b, table, entry);
        Value element = getFlatView(b, mapping.lookup(op.getValues()))
                            .block(b, index[0], source)
                            .load(b, index[3], index[2]);
        getFlatView(b, init).block(b, index[0], index[1]).store(b, element, index[2], index[3]);
      });
}

//===----------------------------------------------------------------------===//
// add
//===----------------------------------------------------------------------===//

void mlir::blocksparse::device::emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                                         PlannedAddOp op) {
  kernels.launchForEach(
      host, "add", op->getOperands(), productOf(host, getValueSizes(host, op.getInit())),
      [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value item) {
        Value init = mapping.lookup(op.getInit());
        SmallVector<Value> index = splitIndex(b, item, getValueSizes(b, init));
        auto block = [&](Value values) {
          return getFlatView(b, values).block(b, index[0], index[1]);
        };
        MatrixView target = block(init);
        Type accumulator = getAccumulatorType(target.elementType());
        Value sum;
        std::tuple<Value, APFloat, Value> terms[] = {
            {op.getA(), op.getAlpha(), op.getDynamicAlpha()},
            {op.getB(), op.getBeta(), op.getDynamicBeta()}};
        for (auto [values, factor, operand] : terms) {
          if (factor.isZero())
            continue;
          Value element = convertElement(
              b, block(mapping.lookup(values)).load(b, index[2], index[3]), accumulator);
          if (operand) {
            Value term = scaleBy(b, loadFactor(b, mapping.lookup(operand)), element);
            sum = sum ? addNumbers(b, sum, term) : term;
            continue;
          }
          Value scale = numberConstant(b, accumulator, factor.convertToDouble());
          sum = sum ? multiplyAdd(b, element, scale, sum) : mulNumbers(b, element, scale);
        }
        if (!sum)
          sum = zeroElement(b, accumulator);
        target.store(b, convertElement(b, sum, target.elementType()), index[2], index[3]);
      });
}
