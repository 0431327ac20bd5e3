// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RowWalk.h"

#include "../../Device/Elements.h"
#include "../../Device/Loops.h"
#include "../../Device/Warp.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

RowWalk::RowWalk(ImplicitLocOpBuilder &b, const Operands &operands)
    : segments(SegmentView::get(b, operands.segments)),
      entries(EntryView::get(b, operands.entries)), lutHeads(operands.lutHeads),
      rows(operands.shape[0]), cols(operands.shape[1]) {
  dynamic = !operands.entries.getDefiningOp<memref::GetGlobalOp>();
  auto type = cast<MemRefType>(operands.values.getType());
  int64_t rank = type.getRank();
  blockRows = type.getDimSize(rank - 2);
  blockCols = type.getDimSize(rank - 1);
  batchCount = rank == 4 ? memrefDim(b, operands.values, 0) : indexConstant(b, 1);
  // If one table serves all heads, the values hold the blocks of the table once for each head.
  Value stored = memrefDim(b, operands.values, rank - 3);
  Value listed = indexMax(b, entries.rows(), indexConstant(b, 1));
  headCount = indexConstant(b, 1);
  if (lutHeads == 1)
    headCount = operands.heads
                    ? operands.heads
                    : indexMax(b, b.createOrFold<arith::DivUIOp>(stored, listed), headCount);
}

ValuesView RowWalk::view(ImplicitLocOpBuilder &b, Value values) const {
  return ValuesView::get(b, values, lutHeads, entries.rows(), headCount);
}

Value RowWalk::totalHeads(ImplicitLocOpBuilder &b) const {
  return lutHeads == 1 ? headCount : indexConstant(b, lutHeads);
}

SmallVector<Value> RowWalk::extents(ImplicitLocOpBuilder &b) const {
  return {batchCount, headCount, segments.rows(), indexConstant(b, blockRows)};
}

Value RowWalk::items(ImplicitLocOpBuilder &b) const { return productOf(b, extents(b)); }

RowWalk::Row RowWalk::getRow(ImplicitLocOpBuilder &b, Value item) const {
  SmallVector<Value> index = splitIndex(b, item, extents(b));
  return getRow(b, index[0], index[1], index[2], index[3]);
}

RowWalk::Row RowWalk::getRowOfSegments(ImplicitLocOpBuilder &b, Value item, int64_t first) const {
  SmallVector<Value> index =
      splitIndex(b, item, {Value(), batchCount, headCount, indexConstant(b, blockRows)});
  Value segment = Int(b, index[0]) + first;
  return getRow(b, index[1], index[2], segment, index[3]);
}

Value RowWalk::rowsPerSegment(ImplicitLocOpBuilder &b) const {
  return productOf(b, {batchCount, headCount, indexConstant(b, blockRows)});
}

RowWalk::Row RowWalk::getRow(ImplicitLocOpBuilder &b, Value batch, Value head, Value segment,
                             Value blockRow) const {
  Row row{batch, head, segment, blockRow, {}, {}, {}};
  auto field = [&](SegmentTable::Field which) {
    return segments.field(b, row.batch, row.segment, which);
  };
  if (lutHeads != 1)
    row.head = field(SegmentTable::Head);
  row.row = Int(b, field(SegmentTable::Tile)) * blockRows + row.blockRow;
  row.first = field(SegmentTable::First);
  row.count = field(SegmentTable::Count);
  return row;
}

Value RowWalk::isInside(ImplicitLocOpBuilder &b, const Row &row) const {
  return indexLess(b, row.row, indexConstant(b, rows));
}

RowElement RowWalk::getElement(ImplicitLocOpBuilder &b, const Row &row, Value number) const {
  Value width = indexConstant(b, blockCols);
  Value entry = Int(b, row.first) + b.createOrFold<arith::DivUIOp>(number, width);
  RowElement element;
  element.blockRow = row.blockRow;
  element.blockCol = b.createOrFold<arith::RemUIOp>(number, width);
  element.valueBlock = entries.field(b, row.batch, entry, EntryTable::Value);
  Value start = Int(b, entries.field(b, row.batch, entry, EntryTable::Dense)) * width;
  element.col = Int(b, start) + element.blockCol;
  element.inside = both(b, isInside(b, row), indexLess(b, element.col, indexConstant(b, cols)));
  return element;
}

Value RowWalk::fold(
    ImplicitLocOpBuilder &b, const Row &row, Value lane, Value initial,
    function_ref<Value(ImplicitLocOpBuilder &, const RowElement &, Value)> body) const {
  Value end = Int(b, row.count) * blockCols;
  return emitFold(b, lane, end, laneCount(b), initial,
                  [&](ImplicitLocOpBuilder &b, Value number, Value carried) {
                    return body(b, getElement(b, row, number), carried);
                  });
}

void RowWalk::forEach(ImplicitLocOpBuilder &b, const Row &row, Value lane,
                      function_ref<void(ImplicitLocOpBuilder &, const RowElement &)> body) const {
  Value end = Int(b, row.count) * blockCols;
  emitLoop(b, lane, end, laneCount(b),
           [&](ImplicitLocOpBuilder &b, Value number) { body(b, getElement(b, row, number)); });
}

SmallVector<Value> RowWalk::valueExtents(ImplicitLocOpBuilder &b) const {
  return {batchCount, headCount, entries.rows(), indexConstant(b, blockRows),
          indexConstant(b, blockCols)};
}

Value RowWalk::valueItems(ImplicitLocOpBuilder &b) const { return productOf(b, valueExtents(b)); }

void RowWalk::zeroSpare(ImplicitLocOpBuilder &b, Value item, const ValuesView &values) const {
  SmallVector<Value> index = splitIndex(b, item, valueExtents(b));
  Value spare =
      indexLess(b, entries.field(b, index[0], index[2], EntryTable::Dense), indexConstant(b, 0));
  emitIf(b, spare, [&](ImplicitLocOpBuilder &b) {
    Value own = entries.field(b, index[0], index[2], EntryTable::Value);
    Value block = Int(b, values.headBase(b, index[1])) + own;
    values.block(b, index[0], block)
        .store(b, zeroElement(b, values.elementType()), index[3], index[4]);
  });
}
