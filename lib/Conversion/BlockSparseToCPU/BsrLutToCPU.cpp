// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IndexArray.h"
#include "LowerToLoops.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::blocksparse;

//===----------------------------------------------------------------------===//
// bsr_row_lut
//===----------------------------------------------------------------------===//

/// Emits one segment for each block row, with its entries in the order of the pattern.
static void emitRowLut(ImplicitLocOpBuilder &b, const RuntimePattern &pattern,
                       const IndexArray &segments, const IndexArray &entries, Value batch) {
  Value zero = indexConstant(b, 0), one = indexConstant(b, 1), none = indexConstant(b, -1);
  emitLoop(b, zero, pattern.rows, 1, [&](ImplicitLocOpBuilder &b, Value row) {
    Value first = pattern.crow.load(b, batch, {row});
    Value end = pattern.crow.load(b, batch, {Int(b, row) + one});
    segments.storeRow(b,
                      makeRow<SegmentTable>({{SegmentTable::Tile, row},
                                             {SegmentTable::Head, zero},
                                             {SegmentTable::First, first},
                                             {SegmentTable::Count, Int(b, end) - first},
                                             {SegmentTable::Slot, none}}),
                      batch, row);
  });
  emitLoop(b, zero, pattern.used(b, batch), 1, [&](ImplicitLocOpBuilder &b, Value index) {
    entries.storeRow(b,
                     makeRow<EntryTable>({{EntryTable::Dense, pattern.col.load(b, batch, {index})},
                                          {EntryTable::Value, index}}),
                     batch, index);
  });
}

/// Emits one segment for each block column, by a stable counting sort. While entries are placed,
/// `First` of a segment is the index of its next entry.
static void emitColumnLut(ImplicitLocOpBuilder &b, const RuntimePattern &pattern,
                          const IndexArray &segments, const IndexArray &entries, Value batch) {
  Value zero = indexConstant(b, 0), none = indexConstant(b, -1);
  Value first = indexConstant(b, SegmentTable::First);
  Value count = indexConstant(b, SegmentTable::Count), cols = segments.size(b, 0);
  emitLoop(b, zero, cols, 1, [&](ImplicitLocOpBuilder &b, Value col) {
    segments.storeRow(b,
                      makeRow<SegmentTable>({{SegmentTable::Tile, col},
                                             {SegmentTable::Head, zero},
                                             {SegmentTable::First, zero},
                                             {SegmentTable::Count, zero},
                                             {SegmentTable::Slot, none}}),
                      batch, col);
  });
  pattern.forEachBlock(b, batch, [&](ImplicitLocOpBuilder &b, Value, Value col, Value) {
    segments.increment(b, batch, {col, count});
  });
  emitReduction(b, zero, cols, 1, zero, [&](ImplicitLocOpBuilder &b, Value col, Value sum) {
    segments.store(b, sum, batch, {col, first});
    return Int(b, sum) + segments.load(b, batch, {col, count});
  });
  pattern.forEachBlock(b, batch, [&](ImplicitLocOpBuilder &b, Value row, Value col, Value index) {
    Value place = segments.load(b, batch, {col, first});
    entries.storeRow(b, makeRow<EntryTable>({{EntryTable::Dense, row}, {EntryTable::Value, index}}),
                     batch, place);
    segments.increment(b, batch, {col, first});
  });
  emitLoop(b, zero, cols, 1, [&](ImplicitLocOpBuilder &b, Value col) {
    Value end = segments.load(b, batch, {col, first});
    segments.store(b, Int(b, end) - segments.load(b, batch, {col, count}), batch, {col, first});
  });
}

void mlir::blocksparse::lowerToLoops(ImplicitLocOpBuilder &b, BsrRowLutOp op,
                                     const CPULoweringOptions &) {
  RuntimePattern pattern(b, op.getCrowIndices(), op.getColIndices());
  IndexArray segments(op.getInits()[0], 2), entries(op.getInits()[1], 2);
  emitParallel(b, {pattern.batches}, [&](ImplicitLocOpBuilder &b, ValueRange at) {
    auto emit = op.getTranspose() ? emitColumnLut : emitRowLut;
    emit(b, pattern, segments, entries, at[0]);
    // No segment refers to the spare entries.
    emitLoop(b, pattern.used(b, at[0]), pattern.room, 1, [&](ImplicitLocOpBuilder &b, Value index) {
      entries.storeRow(b,
                       makeRow<EntryTable>(
                           {{EntryTable::Dense, indexConstant(b, 0)}, {EntryTable::Value, index}}),
                       at[0], index);
    });
  });
}

//===----------------------------------------------------------------------===//
// bsr_coordinate_lut
//===----------------------------------------------------------------------===//

void mlir::blocksparse::lowerToLoops(ImplicitLocOpBuilder &b, BsrCoordinateLutOp op,
                                     const CPULoweringOptions &) {
  RuntimePattern pattern(b, op.getCrowIndices(), op.getColIndices());
  IndexArray lut(op.getInits()[0], 2), segments(op.getInits()[1], 2);
  Value zero = indexConstant(b, 0), one = indexConstant(b, 1), none = indexConstant(b, -1);
  emitParallel(b, {pattern.batches}, [&](ImplicitLocOpBuilder &b, ValueRange at) {
    Value batch = at[0];
    emitLoop(b, zero, pattern.rows, 1, [&](ImplicitLocOpBuilder &b, Value row) {
      Value first = pattern.crow.load(b, batch, {row});
      Value end = pattern.crow.load(b, batch, {Int(b, row) + one});
      segments.storeRow(
          b,
          makeRow<CoordinateSegmentTable>({{CoordinateSegmentTable::First, first},
                                           {CoordinateSegmentTable::Count, Int(b, end) - first}}),
          batch, row);
    });
    pattern.forEachBlock(b, batch, [&](ImplicitLocOpBuilder &b, Value row, Value col, Value index) {
      lut.storeRow(b,
                   makeRow<CoordinateTable>({{CoordinateTable::Head, zero},
                                             {CoordinateTable::BlockRow, row},
                                             {CoordinateTable::BlockCol, col},
                                             {CoordinateTable::Value, index}}),
                   batch, index);
    });
    // Block (-1, -1) is outside of every tensor: to_dense skips it and from_dense fills it with
    // 0.
    emitLoop(b, pattern.used(b, batch), pattern.room, 1, [&](ImplicitLocOpBuilder &b, Value index) {
      lut.storeRow(b,
                   makeRow<CoordinateTable>({{CoordinateTable::Head, zero},
                                             {CoordinateTable::BlockRow, none},
                                             {CoordinateTable::BlockCol, none},
                                             {CoordinateTable::Value, index}}),
                   batch, index);
    });
  });
}

//===----------------------------------------------------------------------===//
// bsr_transpose_indices
//===----------------------------------------------------------------------===//

/// Emits a stable counting sort by column. While blocks are placed, offsets[c] is the index of the
/// next block of column c; at the end it is therefore the offset of column c + 1.
static void emitTransposedIndices(ImplicitLocOpBuilder &b, const RuntimePattern &pattern,
                                  const IndexArray &offsets, const IndexArray &columns,
                                  const IndexArray &permutation, Value batch) {
  Value zero = indexConstant(b, 0), one = indexConstant(b, 1);
  Value size = offsets.size(b, 0), cols = Int(b, size) - one;
  emitLoop(b, zero, size, 1,
           [&](ImplicitLocOpBuilder &b, Value i) { offsets.store(b, zero, batch, {i}); });
  pattern.forEachBlock(b, batch, [&](ImplicitLocOpBuilder &b, Value, Value col, Value) {
    offsets.increment(b, batch, {Int(b, col) + one});
  });
  emitReduction(b, zero, size, 1, zero, [&](ImplicitLocOpBuilder &b, Value i, Value sum) {
    Value next = Int(b, sum) + offsets.load(b, batch, {i});
    offsets.store(b, next, batch, {i});
    return next;
  });
  pattern.forEachBlock(b, batch, [&](ImplicitLocOpBuilder &b, Value row, Value col, Value index) {
    Value place = offsets.load(b, batch, {col});
    columns.store(b, row, batch, {place});
    permutation.store(b, index, batch, {place});
    offsets.increment(b, batch, {col});
  });
  emitLoop(b, zero, cols, 1, [&](ImplicitLocOpBuilder &b, Value i) {
    Value to = Int(b, cols) - i;
    offsets.store(b, offsets.load(b, batch, {Int(b, to) - one}), batch, {to});
  });
  offsets.store(b, zero, batch, {zero});
  // Spare entries keep their index.
  emitLoop(b, pattern.used(b, batch), pattern.room, 1, [&](ImplicitLocOpBuilder &b, Value index) {
    columns.store(b, zero, batch, {index});
    permutation.store(b, index, batch, {index});
  });
}

void mlir::blocksparse::lowerToLoops(ImplicitLocOpBuilder &b, BsrTransposeIndicesOp op,
                                     const CPULoweringOptions &) {
  RuntimePattern pattern(b, op.getCrowIndices(), op.getColIndices());
  IndexArray offsets(op.getInits()[0], 1), columns(op.getInits()[1], 1);
  IndexArray permutation(op.getInits()[2], 1);
  emitParallel(b, {pattern.batches}, [&](ImplicitLocOpBuilder &b, ValueRange at) {
    emitTransposedIndices(b, pattern, offsets, columns, permutation, at[0]);
  });
}
