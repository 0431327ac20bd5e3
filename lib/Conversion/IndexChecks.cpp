// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IndexChecks.h"

#include "Device/Loops.h"
#include "OperandView.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;
using ::blocksparse::FaultWord;
using ::blocksparse::IndexFault;

static Value compare(ImplicitLocOpBuilder &b, arith::CmpIPredicate predicate, Value lhs,
                     Value rhs) {
  return b.createOrFold<arith::CmpIOp>(predicate, lhs, rhs);
}

static Value invert(ImplicitLocOpBuilder &b, Value condition) {
  Value yes = arith::ConstantIntOp::create(b, b.getI1Type(), 1);
  return b.createOrFold<arith::XOrIOp>(condition, yes);
}

/// Returns the end of the run of entries that begins at `begin`, given the next offset: `begin`, so
/// that the run is empty, unless both are within 0 to `room`.
static Value guardedEnd(ImplicitLocOpBuilder &b, Value begin, Value next, Value room) {
  Value starts = compare(b, arith::CmpIPredicate::sge, begin, indexConstant(b, 0));
  Value ends = compare(b, arith::CmpIPredicate::sle, next, room);
  return b.createOrFold<arith::SelectOp>(both(b, starts, ends), next, begin);
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

static Value mapValue(const IRMapping &mapping, Value value) {
  return mapping.lookupOrDefault(value);
}

PatternCheck::PatternCheck(ImplicitLocOpBuilder &b, CheckPatternOp op, const IRMapping &mapping)
    : crow(mapValue(mapping, op.getCrowIndices())), col(mapValue(mapping, op.getColIndices())),
      cols(mapValue(mapping, op.getCols())), unique(op.getUnique()) {
  int64_t rank = cast<MemRefType>(crow.getType()).getRank();
  batched = rank == 2;
  // Where the two differ in their batches, the check of extents ends the call.
  batches =
      batched ? indexMin(b, memrefDim(b, crow, 0), memrefDim(b, col, 0)) : indexConstant(b, 1);
  rows = Int(b, memrefDim(b, crow, rank - 1)) - 1;
  room = memrefDim(b, col, rank - 1);
}

Value PatternCheck::load(ImplicitLocOpBuilder &b, Value indices, Value batch,
                         Value position) const {
  return batched ? loadIndex(b, indices, {batch, position}) : loadIndex(b, indices, position);
}

Value PatternCheck::items(ImplicitLocOpBuilder &b) const {
  return Int(b, batches) * (Int(b, rows) + 1);
}

/// Emits the check of one offset against the one before it.
void PatternCheck::emitOffset(ImplicitLocOpBuilder &b, Value batch, Value row,
                              ReportFault report) const {
  Value zero = indexConstant(b, 0), own = load(b, crow, batch, row);
  Value isFirst = indexEqual(b, row, zero);
  Value previous = emitChoice(
      b, isFirst, [&](ImplicitLocOpBuilder &b) { return indexConstant(b, 0); },
      [&](ImplicitLocOpBuilder &b) { return load(b, crow, batch, Int(b, row) - 1); });
  Value differs = compare(b, arith::CmpIPredicate::ne, own, zero);
  report(b, both(b, isFirst, differs), IndexFault::FirstOffset, {batch, row, row, own, zero});
  Value decreases = compare(b, arith::CmpIPredicate::slt, own, previous);
  report(b, both(b, invert(b, isFirst), decreases), IndexFault::DecreasingOffset,
         {batch, row, row, own, previous});
  report(b, compare(b, arith::CmpIPredicate::sgt, own, room), IndexFault::LastOffset,
         {batch, row, row, own, room});
}

Value PatternCheck::emitSearch(ImplicitLocOpBuilder &b, const ListedColumn &listed) const {
  return emitFold(b, listed.rowBegin, listed.position, indexConstant(b, 1), indexConstant(b, -1),
                  [&](ImplicitLocOpBuilder &b, Value other, Value found) {
                    Value equal = indexEqual(b, load(b, col, listed.batch, other), listed.col);
                    return arith::SelectOp::create(b, equal, other, found).getResult();
                  });
}

void PatternCheck::emitItem(ImplicitLocOpBuilder &b, Value item, FindEarlier findEarlier,
                            ReportFault report) const {
  Value offsets = Int(b, rows) + 1;
  SmallVector<Value> place = splitIndex(b, item, {batches, offsets});
  Value batch = place[0], row = place[1];
  emitOffset(b, batch, row, report);
  emitIf(b, indexLess(b, row, rows), [&](ImplicitLocOpBuilder &b) {
    Value begin = load(b, crow, batch, row);
    Value end = guardedEnd(b, begin, load(b, crow, batch, Int(b, row) + 1), room);
    emitLoop(b, begin, end, indexConstant(b, 1), [&](ImplicitLocOpBuilder &b, Value position) {
      Value column = load(b, col, batch, position);
      Value inside = indexInside(b, column, cols);
      report(b, invert(b, inside), IndexFault::Column, {batch, row, position, column, cols});
      if (!unique)
        return;
      emitIf(b, inside, [&](ImplicitLocOpBuilder &b) {
        Value earlier = findEarlier(b, {batch, position, begin, column});
        Value found = compare(b, arith::CmpIPredicate::sge, earlier, indexConstant(b, 0));
        report(b, found, IndexFault::RepeatedColumn, {batch, row, position, column, earlier});
      });
    });
  });
}

//===----------------------------------------------------------------------===//
// scatter_mm
//===----------------------------------------------------------------------===//

ScatterCheck::ScatterCheck(ImplicitLocOpBuilder &b, CheckScatterIndicesOp op,
                           const IRMapping &mapping)
    : format(op.getFormat()), blocks(mapValue(mapping, op.getBlocks())),
      others(mapValue(mapping, op.getOthers())),
      split(indexConstant(b, static_cast<int64_t>(op.getSplitN()))) {
  for (Value tensor : op.getIndices())
    tensors.push_back(mapValue(mapping, tensor));
  lists = Int(b, memrefDim(b, tensors[0], 0)) - 1;
  Value cols = mapValue(mapping, op.getCols());
  Value width = b.createOrFold<arith::DivUIOp>(cols, split);
  accumulators = {mapValue(mapping, op.getRows()), cols, mapValue(mapping, op.getBlockRows()),
                  width};
  factors = {others, cols, mapValue(mapping, op.getBlockCols()), width};
}

Value ScatterCheck::index(ImplicitLocOpBuilder &b, unsigned tensor, Value position) const {
  return loadIndex(b, tensors[tensor], position);
}

/// Returns the number of entries that the lists delimit.
Value ScatterCheck::listLength(ImplicitLocOpBuilder &b) const {
  switch (format) {
  case ScatterFormat::ScatterMM:
    return memrefDim(b, tensors[1], 0);
  case ScatterFormat::BsrStridedMM:
    return indexMin(b, memrefDim(b, tensors[2], 0), memrefDim(b, tensors[3], 0));
  case ScatterFormat::BsrStridedMMCompressed:
    break;
  }
  return blocks;
}

Value ScatterCheck::getTiles(ImplicitLocOpBuilder &b) const { return memrefDim(b, tensors[1], 0); }

Value ScatterCheck::items(ImplicitLocOpBuilder &b) const {
  Value offsets = Int(b, lists) + 1;
  if (format != ScatterFormat::BsrStridedMMCompressed)
    return offsets;
  return Int(b, offsets) + getTiles(b);
}

Value ScatterCheck::emitRange(ImplicitLocOpBuilder &b, IndexFault fault, const FaultPlace &place,
                              ReportFault report) const {
  Value inside = indexInside(b, place.value, place.limit);
  report(b, invert(b, inside), fault, place);
  return inside;
}

/// Returns the row and the column of element `offset` of a matrix of `cols` columns.
static std::pair<Value, Value> splitOffset(ImplicitLocOpBuilder &b, Value offset, Value cols) {
  // An empty axis must not become a division by 0.
  Value width = indexMax(b, cols, indexConstant(b, 1));
  return {b.createOrFold<arith::DivUIOp>(offset, width),
          b.createOrFold<arith::RemUIOp>(offset, width)};
}

Value ScatterCheck::emitTile(ImplicitLocOpBuilder &b, const Target &target, IndexFault fault,
                             FaultPlace place, ReportFault report) const {
  auto [row, col] = splitOffset(b, place.value, target.cols);
  place.limit = Int(b, target.rows) * target.cols;
  Value inside = indexInside(b, place.value, place.limit);
  Value endRow = Int(b, row) + target.height, endCol = Int(b, col) + target.width;
  inside = both(b, inside, compare(b, arith::CmpIPredicate::sle, endRow, target.rows));
  inside = both(b, inside, compare(b, arith::CmpIPredicate::sle, endCol, target.cols));
  report(b, invert(b, inside), fault, place);
  return inside;
}

Value ScatterCheck::emitOverlap(ImplicitLocOpBuilder &b, const PlacedTile &tile,
                                Value position) const {
  auto [row, col] = splitOffset(b, index(b, 1, position), accumulators.cols);
  auto isNear = [&](Value lhs, Value rhs, Value size) {
    return both(b, indexLess(b, Int(b, lhs) - rhs, size), indexLess(b, Int(b, rhs) - lhs, size));
  };
  return both(b, isNear(tile.row, row, accumulators.height),
              isNear(tile.col, col, accumulators.width));
}

Value ScatterCheck::emitSearch(ImplicitLocOpBuilder &b, const PlacedTile &tile) const {
  Value one = indexConstant(b, 1), own = tile.position;
  return emitFold(b, indexConstant(b, 0), own, one, own,
                  [&](ImplicitLocOpBuilder &b, Value other, Value found) {
                    Value overlaps = emitOverlap(b, tile, other);
                    Value place = arith::SelectOp::create(b, overlaps, other, own);
                    return indexMin(b, found, place);
                  });
}

/// Emits the check that the tile at `position` of r_offsets lies inside the accumulators and shares
/// no element with a tile before it. Returns i1: true if it lies inside.
Value ScatterCheck::emitAccumulatorTile(ImplicitLocOpBuilder &b, Value position,
                                        FindOverlap findOverlap, ReportFault report) const {
  Value zero = indexConstant(b, 0), offset = index(b, 1, position);
  Value inside = emitTile(b, accumulators, IndexFault::AccumulatorOffset,
                          {zero, position, position, offset, Value()}, report);
  emitIf(b, inside, [&](ImplicitLocOpBuilder &b) {
    auto [row, col] = splitOffset(b, offset, accumulators.cols);
    Value earlier = findOverlap(b, {position, row, col});
    report(b, indexLess(b, earlier, position), IndexFault::OverlappingTile,
           {zero, position, position, offset, earlier});
  });
  return inside;
}

/// Emits the check of entry `position` of a list.
void ScatterCheck::emitProduct(ImplicitLocOpBuilder &b, Value list, Value position,
                               ReportFault report) const {
  Value zero = indexConstant(b, 0);
  auto place = [&](Value value, Value limit) {
    return FaultPlace{zero, list, position, value, limit};
  };
  if (format == ScatterFormat::ScatterMM) {
    Value block = loadIndex(b, tensors[1], {position, zero});
    Value tile = loadIndex(b, tensors[1], {position, indexConstant(b, 1)});
    emitRange(b, IndexFault::Block, place(block, blocks), report);
    emitRange(b, IndexFault::Tile, place(tile, others), report);
    return;
  }
  emitRange(b, IndexFault::Block, place(index(b, 2, position), blocks), report);
  emitTile(b, factors, IndexFault::OtherOffset, place(index(b, 3, position), Value()), report);
}

/// Emits the check of one offset against the one before it and, where entries belong to lists, of
/// the entries of the list that begins there.
void ScatterCheck::emitList(ImplicitLocOpBuilder &b, Value list, FindOverlap findOverlap,
                            ReportFault report) const {
  Value zero = indexConstant(b, 0), length = listLength(b), own = index(b, 0, list);
  Value previous = emitChoice(
      b, indexEqual(b, list, zero), [&](ImplicitLocOpBuilder &b) { return indexConstant(b, 0); },
      [&](ImplicitLocOpBuilder &b) { return index(b, 0, Int(b, list) - 1); });
  report(b, compare(b, arith::CmpIPredicate::slt, own, previous), IndexFault::ListOffset,
         {zero, list, list, own, previous});
  report(b, compare(b, arith::CmpIPredicate::sgt, own, length), IndexFault::ListEnd,
         {zero, list, list, own, length});
  if (format == ScatterFormat::BsrStridedMMCompressed)
    return;
  emitIf(b, indexLess(b, list, lists), [&](ImplicitLocOpBuilder &b) {
    if (placesTiles())
      emitAccumulatorTile(b, list, findOverlap, report);
    Value end = guardedEnd(b, own, index(b, 0, Int(b, list) + 1), length);
    emitLoop(b, own, end, indexConstant(b, 1), [&](ImplicitLocOpBuilder &b, Value position) {
      emitProduct(b, list, position, report);
    });
  });
}

/// Emits the check of a tile of the compressed format: its offset, and the q_offsets of its list.
void ScatterCheck::emitCompressedTile(ImplicitLocOpBuilder &b, Value tile, FindOverlap findOverlap,
                                      ReportFault report) const {
  Value zero = indexConstant(b, 0), one = indexConstant(b, 1), offset = index(b, 1, tile);
  Value inside = emitAccumulatorTile(b, tile, findOverlap, report);
  emitIf(b, inside, [&](ImplicitLocOpBuilder &b) {
    // Block row m and column split n follow from the row and column of the tile.
    auto divide = [&](Value lhs, Value rhs) {
      return b.createOrFold<arith::DivUIOp>(lhs, indexMax(b, rhs, one));
    };
    auto [row, col] = splitOffset(b, offset, accumulators.cols);
    Value m = divide(row, accumulators.height), n = divide(col, accumulators.width);
    Value listed = emitRange(b, IndexFault::ListOfTile, {zero, tile, tile, m, lists}, report);
    emitIf(b, listed, [&](ImplicitLocOpBuilder &b) {
      Value c0 = index(b, 0, m), c1 = index(b, 0, Int(b, m) + 1);
      Value end = guardedEnd(b, c0, c1, blocks);
      Value first = Int(b, Int(b, n) * c1) + Int(b, Int(b, split) - n) * c0;
      Value shift = Int(b, first) - c0;
      emitLoop(b, c0, end, indexConstant(b, 1), [&](ImplicitLocOpBuilder &b, Value block) {
        Value place = Int(b, shift) + block, size = memrefDim(b, tensors[2], 0);
        Value known =
            emitRange(b, IndexFault::OffsetPlace, {zero, tile, block, place, size}, report);
        emitIf(b, known, [&](ImplicitLocOpBuilder &b) {
          emitTile(b, factors, IndexFault::OtherOffset,
                   {zero, tile, place, index(b, 2, place), Value()}, report);
        });
      });
    });
  });
}

void ScatterCheck::emitItem(ImplicitLocOpBuilder &b, Value item, FindOverlap findOverlap,
                            ReportFault report) const {
  if (format != ScatterFormat::BsrStridedMMCompressed)
    return emitList(b, item, findOverlap, report);
  Value isList = compare(b, arith::CmpIPredicate::sle, item, lists);
  emitIf(b, isList, [&](ImplicitLocOpBuilder &b) { emitList(b, item, findOverlap, report); });
  emitIf(b, invert(b, isList), [&](ImplicitLocOpBuilder &b) {
    emitCompressedTile(b, Int(b, Int(b, item) - lists) - 1, findOverlap, report);
  });
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

MemRefType mlir::blocksparse::getFaultRecordType(MLIRContext *context) {
  return MemRefType::get({::blocksparse::faultWords}, IntegerType::get(context, 64));
}

Value mlir::blocksparse::loadFaultWord(ImplicitLocOpBuilder &b, Value record, FaultWord word) {
  return loadIndex(b, record, indexConstant(b, word));
}

void mlir::blocksparse::storeFaultWord(ImplicitLocOpBuilder &b, Value value, Value record,
                                       FaultWord word) {
  Value wide = b.createOrFold<arith::IndexCastOp>(b.getI64Type(), value);
  memref::StoreOp::create(b, wide, record, ValueRange{indexConstant(b, word)});
}

void mlir::blocksparse::storeFault(ImplicitLocOpBuilder &b, Value record, IndexFault fault,
                                   const FaultPlace &place) {
  Value code = loadFaultWord(b, record, ::blocksparse::Code);
  emitIf(b, indexEqual(b, code, indexConstant(b, 0)), [&](ImplicitLocOpBuilder &b) {
    std::pair<FaultWord, Value> words[] = {
        {::blocksparse::Code, indexConstant(b, static_cast<int64_t>(fault))},
        {::blocksparse::Batch, place.batch},
        {::blocksparse::Row, place.row},
        {::blocksparse::Position, place.position},
        {::blocksparse::FaultyValue, place.value},
        {::blocksparse::Limit, place.limit}};
    for (auto [word, value] : words)
      storeFaultWord(b, value, record, word);
  });
}
