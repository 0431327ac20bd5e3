// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Kernels that build the look-up tables of run-time patterns. Tables by block rows have one warp
// for each row, whose lanes have a block each; tables by block columns have one warp for each
// column, which reads all blocks in the order of rows, 32 at a time, so that the result is sorted
// and stable without scratch space.
//
// col_indices may have room for more blocks than crow_indices counts (in batches of unequal
// patterns). The spare entries of the tables then have block row and column, or dense block, -1 and
// a value block that no other entry lists, so that kernels can write 0 to it.

#include "../../Device/Loops.h"
#include "../../Device/Warp.h"
#include "../../OperandView.h"
#include "../Planner/WarpWork.h"
#include "SimtKernels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

namespace {

/// Reads crow_indices and col_indices of one batch.
class Indices {
public:
  Indices(Value crow, Value col, Value batch) : crow(crow), col(col), batch(batch) {}

  /// Returns the first block of a row; for the row after the last one, the number of blocks.
  Value rowStart(ImplicitLocOpBuilder &b, Value row) const { return load(b, crow, row); }
  Value column(ImplicitLocOpBuilder &b, Value block) const { return load(b, col, block); }
  Value rows(ImplicitLocOpBuilder &b) const { return Int(b, innerSize(b, crow)) - 1; }
  /// Return the number of blocks of the pattern, and of blocks that col_indices has room for.
  Value blocks(ImplicitLocOpBuilder &b) const { return rowStart(b, rows(b)); }
  Value capacity(ImplicitLocOpBuilder &b) const { return innerSize(b, col); }

private:
  static Value innerSize(ImplicitLocOpBuilder &b, Value memref) {
    return memrefDim(b, memref, cast<MemRefType>(memref.getType()).getRank() - 1);
  }
  Value load(ImplicitLocOpBuilder &b, Value memref, Value position) const {
    SmallVector<Value, 2> indices{position};
    if (cast<MemRefType>(memref.getType()).getRank() == 2)
      indices.insert(indices.begin(), batch);
    return loadIndex(b, memref, indices);
  }

  Value crow, col, batch;
};

/// Writes a result: a table [n, w] or a list [n], or one for each batch.
class ResultTable {
public:
  ResultTable(Value memref, Value batch) : memref(memref), batch(batch) {}

  /// Writes element `index` of a list.
  void set(ImplicitLocOpBuilder &b, Value index, Value value) const { store(b, {index}, value); }
  /// Writes a row of a table; see makeRow.
  void setRow(ImplicitLocOpBuilder &b, Value row, ArrayRef<Value> values) const {
    for (auto [field, value] : llvm::enumerate(values))
      store(b, {row, indexConstant(b, static_cast<int64_t>(field))}, value);
  }

private:
  void store(ImplicitLocOpBuilder &b, ValueRange position, Value value) const {
    auto type = cast<MemRefType>(memref.getType());
    SmallVector<Value, 3> indices;
    if (type.getRank() > static_cast<int64_t>(position.size()))
      indices.push_back(batch);
    llvm::append_range(indices, position);
    Value element = b.createOrFold<arith::IndexCastOp>(type.getElementType(), value);
    memref::StoreOp::create(b, element, memref, indices);
  }

  Value memref, batch;
};

/// Describes a lane of the warp of one row of a table: its batch, its row and the number of rows,
/// and the pattern of its batch.
struct RowLane {
  const IRMapping &mapping;
  Value batch, row, rows, lane;
  Indices indices;

  /// Returns a result in the kernel, of the batch of the row.
  ResultTable result(Value memref) const { return {mapping.lookup(memref), batch}; }
};

/// Describes the blocks of a column, sorted by column: the first one, and their number.
struct ColumnRun {
  Value first, count;
};

} // namespace

/// Returns the number of batches and of rows of a table of rank `rank` without a batch.
static SmallVector<Value> getSizes(ImplicitLocOpBuilder &b, Value table, int64_t rank) {
  int64_t own = cast<MemRefType>(table.getType()).getRank();
  return {own > rank ? memrefDim(b, table, 0) : indexConstant(b, 1),
          memrefDim(b, table, own - rank)};
}

/// Launches a kernel that has a warp for each row of `table`, a result of `op` that has `rank`
/// axes without a batch.
template <typename OpTy>
static void launchForTableRows(ImplicitLocOpBuilder &host, KernelBuilder &kernels, StringRef name,
                               OpTy op, Value table, int64_t rank,
                               function_ref<void(ImplicitLocOpBuilder &, const RowLane &)> body) {
  launchWarpsEarly(host, kernels, name, op->getOperands(),
                   productOf(host, getSizes(host, table, rank)),
                   [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value item, Value lane) {
                     SmallVector<Value> sizes = getSizes(b, mapping.lookup(table), rank);
                     SmallVector<Value> index = splitIndex(b, item, sizes);
                     Indices indices(mapping.lookup(op.getCrowIndices()),
                                     mapping.lookup(op.getColIndices()), index[0]);
                     body(b, {mapping, index[0], index[1], sizes[1], lane, indices});
                   });
}

/// Emits `body` in the first lane of a warp.
static void emitInFirstLane(ImplicitLocOpBuilder &b, const RowLane &at,
                            function_ref<void(ImplicitLocOpBuilder &)> body) {
  emitIf(b, indexEqual(b, at.lane, indexConstant(b, 0)), body);
}

/// Counts the blocks of the columns before that of the warp, and of this column.
static ColumnRun emitColumnRun(ImplicitLocOpBuilder &b, const RowLane &at) {
  Value zero = i32Constant(b, 0), one = i32Constant(b, 1);
  auto countWhere = [&](arith::CmpIPredicate predicate) {
    Value sum = emitFold(b, at.lane, at.indices.blocks(b), indexConstant(b, warpSize), zero,
                         [&](ImplicitLocOpBuilder &b, Value block, Value sum) -> Value {
                           Value other = at.indices.column(b, block);
                           Value counts = arith::CmpIOp::create(b, predicate, other, at.row);
                           return Int(b, sum) + arith::SelectOp::create(b, counts, one, zero);
                         });
    return toIndex(b, sumOfLanes(b, sum));
  };
  return {countWhere(arith::CmpIPredicate::slt), countWhere(arith::CmpIPredicate::eq)};
}

/// Visits the blocks of the column of the warp in row order, with the index of each among all
/// blocks sorted by column; the first one has index `first`.
static void emitColumnBlocks(
    ImplicitLocOpBuilder &b, const RowLane &at, Value first,
    function_ref<void(ImplicitLocOpBuilder &, Value position, Value row, Value block)> body) {
  Value blocks = at.indices.blocks(b);
  emitFold(b, indexConstant(b, 0), blocks, indexConstant(b, warpSize), first,
           [&](ImplicitLocOpBuilder &b, Value start, Value position) -> Value {
             Value block = Int(b, start) + at.lane;
             Value own = emitChoice(
                 b, indexLess(b, block, blocks),
                 [&](ImplicitLocOpBuilder &b) {
                   return indexEqual(b, at.indices.column(b, block), at.row);
                 },
                 [&](ImplicitLocOpBuilder &b) -> Value {
                   return arith::ConstantIntOp::create(b, b.getI1Type(), 0);
                 });
             Value number = arith::ExtUIOp::create(b, b.getI32Type(), own);
             Value summed = sumUpTo(b, number);
             emitIf(b, own, [&](ImplicitLocOpBuilder &b) {
               Value before = toIndex(b, Int(b, summed) - 1);
               Value row =
                   findRow(b, at.indices.rows(b), block, [&](ImplicitLocOpBuilder &b, Value row) {
                     return at.indices.rowStart(b, row);
                   });
               body(b, Int(b, position) + before, row, block);
             });
             Value all = readLane(b, summed, i32Constant(b, warpSize - 1));
             return Int(b, position) + toIndex(b, all);
           });
}

/// Visits the indices of spare entries: all lanes of all rows share them.
static void emitSpare(ImplicitLocOpBuilder &b, const RowLane &at,
                      function_ref<void(ImplicitLocOpBuilder &, Value position)> body) {
  Value first = Int(b, at.row) * warpSize + at.lane;
  emitLoop(b, Int(b, at.indices.blocks(b)) + first, at.indices.capacity(b),
           Int(b, at.rows) * warpSize, body);
}

void mlir::blocksparse::device::emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                                         BsrRowLutOp op) {
  Value segments = op.getInits()[0], entries = op.getInits()[1];
  auto writeRow = [&](ImplicitLocOpBuilder &b, const RowLane &at) {
    const Indices &indices = at.indices;
    ResultTable segmentTable = at.result(segments), entryTable = at.result(entries);
    Value tile = at.row, zero = indexConstant(b, 0), one = indexConstant(b, 1);
    Value none = indexConstant(b, -1), lanes = indexConstant(b, warpSize);
    auto setEntry = [&](ImplicitLocOpBuilder &b, Value position, Value dense, Value value) {
      entryTable.setRow(
          b, position,
          makeRow<EntryTable>({{EntryTable::Dense, dense}, {EntryTable::Value, value}}));
    };
    auto setSegment = [&](Value first, Value count) {
      emitInFirstLane(b, at, [&](ImplicitLocOpBuilder &b) {
        segmentTable.setRow(b, tile,
                            makeRow<SegmentTable>({{SegmentTable::Tile, tile},
                                                   {SegmentTable::Head, zero},
                                                   {SegmentTable::First, first},
                                                   {SegmentTable::Count, count},
                                                   {SegmentTable::Slot, none}}));
      });
    };
    emitSpare(b, at, [&](ImplicitLocOpBuilder &b, Value position) {
      setEntry(b, position, none, position);
    });
    if (op.getTranspose()) {
      ColumnRun run = emitColumnRun(b, at);
      setSegment(run.first, run.count);
      emitColumnBlocks(b, at, run.first,
                       [&](ImplicitLocOpBuilder &b, Value position, Value row, Value block) {
                         setEntry(b, position, row, block);
                       });
      return;
    }
    Value first = indices.rowStart(b, tile), end = indices.rowStart(b, Int(b, tile) + one);
    setSegment(first, Int(b, end) - first);
    emitLoop(b, Int(b, first) + at.lane, end, lanes, [&](ImplicitLocOpBuilder &b, Value block) {
      setEntry(b, block, indices.column(b, block), block);
    });
  };
  launchForTableRows(host, kernels, "row_lut", op, segments, /*rank=*/2, writeRow);
}

void mlir::blocksparse::device::emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                                         BsrCoordinateLutOp op) {
  Value lut = op.getInits()[0], segments = op.getInits()[1];
  auto writeRow = [&](ImplicitLocOpBuilder &b, const RowLane &at) {
    const Indices &indices = at.indices;
    Value row = at.row, zero = indexConstant(b, 0), one = indexConstant(b, 1);
    Value first = indices.rowStart(b, row), end = indices.rowStart(b, Int(b, row) + one);
    emitInFirstLane(b, at, [&](ImplicitLocOpBuilder &b) {
      at.result(segments).setRow(
          b, row,
          makeRow<CoordinateSegmentTable>({{CoordinateSegmentTable::First, first},
                                           {CoordinateSegmentTable::Count, Int(b, end) - first}}));
    });
    ResultTable lutTable = at.result(lut);
    auto setBlock = [&](ImplicitLocOpBuilder &b, Value blockRow, Value blockCol, Value block) {
      lutTable.setRow(b, block,
                      makeRow<CoordinateTable>({{CoordinateTable::Head, zero},
                                                {CoordinateTable::BlockRow, blockRow},
                                                {CoordinateTable::BlockCol, blockCol},
                                                {CoordinateTable::Value, block}}));
    };
    Value lanes = indexConstant(b, warpSize);
    emitLoop(b, Int(b, first) + at.lane, end, lanes, [&](ImplicitLocOpBuilder &b, Value block) {
      setBlock(b, row, indices.column(b, block), block);
    });
    emitSpare(b, at, [&](ImplicitLocOpBuilder &b, Value position) {
      Value none = indexConstant(b, -1);
      setBlock(b, none, none, position);
    });
  };
  launchForTableRows(host, kernels, "coordinate_lut", op, segments, /*rank=*/2, writeRow);
}

void mlir::blocksparse::device::emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                                         BsrTransposeIndicesOp op) {
  Value crow = op.getInits()[0], col = op.getInits()[1], order = op.getInits()[2];
  auto writeColumn = [&](ImplicitLocOpBuilder &b, const RowLane &at) {
    ResultTable colTable = at.result(col), permutation = at.result(order);
    emitSpare(b, at, [&](ImplicitLocOpBuilder &b, Value position) {
      Value zero = indexConstant(b, 0);
      colTable.set(b, position, zero);
      permutation.set(b, position, position);
    });
    // The column after the last one has no block, only the end of the offsets.
    Value first = emitColumnRun(b, at).first;
    emitInFirstLane(b, at, [&](ImplicitLocOpBuilder &b) { at.result(crow).set(b, at.row, first); });
    emitColumnBlocks(b, at, first,
                     [&](ImplicitLocOpBuilder &b, Value position, Value row, Value block) {
                       colTable.set(b, position, row);
                       permutation.set(b, position, block);
                     });
  };
  launchForTableRows(host, kernels, "transpose_indices", op, crow, /*rank=*/1, writeColumn);
}
