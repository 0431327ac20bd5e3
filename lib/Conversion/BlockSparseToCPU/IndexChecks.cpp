// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IndexChecks.h"

#include "IndexArray.h"
#include "StoredRows.h"
#include "blocksparse/IR/BlockSparseDialect.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::blocksparse;

/// Emits an assertion. `{0}` and `{1}` in the message are replaced by the values of `lhs` and
/// `rhs`.
static void emitAssert(ImplicitLocOpBuilder &b, arith::CmpIPredicate predicate, Value lhs,
                       Value rhs, const Twine &message) {
  Value holds = arith::CmpIOp::create(b, predicate, lhs, rhs);
  cf::AssertOp::create(b, holds, b.getStringAttr(message));
}

/// Checks that crow_indices start at 0, never decrease, and end within the room for blocks.
static void checkOffsets(ImplicitLocOpBuilder &b, const RuntimePattern &pattern) {
  Value zero = indexConstant(b, 0), one = indexConstant(b, 1);
  emitLoop(b, zero, pattern.batches, 1, [&](ImplicitLocOpBuilder &b, Value batch) {
    emitAssert(b, arith::CmpIPredicate::eq, pattern.crow.load(b, batch, {zero}), zero,
               "expects crow_indices to start at 0, but got {0}");
    emitLoop(b, zero, pattern.rows, 1, [&](ImplicitLocOpBuilder &b, Value row) {
      Value next = pattern.crow.load(b, batch, {Int(b, row) + one});
      emitAssert(b, arith::CmpIPredicate::sle, pattern.crow.load(b, batch, {row}), next,
                 "expects crow_indices that never decrease, but got {0} and then {1}");
    });
    emitAssert(b, arith::CmpIPredicate::sle, pattern.used(b, batch), pattern.room,
               "expects crow_indices to end within the {1} value blocks, but got {0}");
  });
}

/// Checks 0 <= col < cols.
static void checkColumn(ImplicitLocOpBuilder &b, Value col, Value cols) {
  emitAssert(b, arith::CmpIPredicate::ult, col, cols,
             "expects col_indices from 0 to below {1}, the number of block columns, but got {0}");
}

/// Checks the columns of an op that builds a table by sorting: it uses them as offsets into its own
/// results.
static void checkSortedColumns(ImplicitLocOpBuilder &b, const RuntimePattern &pattern, Value cols) {
  emitLoop(b, indexConstant(b, 0), pattern.batches, 1, [&](ImplicitLocOpBuilder &b, Value batch) {
    pattern.forEachBlock(b, batch, [&](ImplicitLocOpBuilder &b, Value, Value col, Value) {
      checkColumn(b, col, cols);
    });
  });
}

namespace {

/// Records the last block row in which each column was seen.
class ColumnMarks {
public:
  ColumnMarks(ImplicitLocOpBuilder &b, Value cols) : cols(cols) {
    auto type = MemRefType::get({ShapedType::kDynamic}, b.getIndexType());
    marks = memref::AllocOp::create(b, type, ValueRange{cols});
  }

  void clear(ImplicitLocOpBuilder &b) const {
    Value none = indexConstant(b, -1);
    emitLoop(b, indexConstant(b, 0), cols, 1, [&](ImplicitLocOpBuilder &b, Value col) {
      memref::StoreOp::create(b, none, marks, ValueRange{col});
    });
  }
  void visit(ImplicitLocOpBuilder &b, Value group, Value col) const {
    Value last = memref::LoadOp::create(b, marks, ValueRange{col});
    emitAssert(b, arith::CmpIPredicate::ne, last, group, "expects no column twice in a block row");
    memref::StoreOp::create(b, group, marks, ValueRange{col});
  }
  void free(ImplicitLocOpBuilder &b) const { memref::DeallocOp::create(b, marks); }

private:
  Value cols, marks;
};

} // namespace

/// Runs `body(batch, marks)` for each table; `marks` is null unless columns must be unique.
static void
forEachTable(ImplicitLocOpBuilder &b, const LutView &table, Value memref, Value cols, bool unique,
             llvm::function_ref<void(ImplicitLocOpBuilder &, Value, const ColumnMarks *)> body) {
  std::optional<ColumnMarks> marks;
  if (unique)
    marks.emplace(b, cols);
  Value tables = table.isBatched() ? memrefDim(b, memref, 0) : indexConstant(b, 1);
  emitLoop(b, indexConstant(b, 0), tables, 1, [&](ImplicitLocOpBuilder &b, Value batch) {
    if (marks)
      marks->clear(b);
    body(b, batch, marks ? &*marks : nullptr);
  });
  if (marks)
    marks->free(b);
}

/// Checks the columns of the entries of a row LUT.
static void checkRowTable(ImplicitLocOpBuilder &b, Value segmentTable, Value entryTable, Value cols,
                          bool unique) {
  if (isConstantTable(entryTable))
    return;
  SegmentView segments = SegmentView::get(b, segmentTable);
  EntryView entries = EntryView::get(b, entryTable);
  forEachTable(b, segments, segmentTable, cols, unique,
               [&](ImplicitLocOpBuilder &b, Value batch, const ColumnMarks *marks) {
                 emitLoop(b, indexConstant(b, 0), segments.rows(), 1,
                          [&](ImplicitLocOpBuilder &b, Value segment) {
                            Value begin = segments.field(b, batch, segment, SegmentTable::First);
                            Value end = Int(b, begin) +
                                        segments.field(b, batch, segment, SegmentTable::Count);
                            emitLoop(b, begin, end, 1, [&](ImplicitLocOpBuilder &b, Value entry) {
                              Value col = entries.field(b, batch, entry, EntryTable::Dense);
                              checkColumn(b, col, cols);
                              if (marks)
                                marks->visit(b, segment, col);
                            });
                          });
               });
}

/// Checks the columns of a coordinate LUT.
static void checkCoordinateTable(ImplicitLocOpBuilder &b, Value table, Value cols, bool unique) {
  if (isConstantTable(table))
    return;
  CoordinateView lut = CoordinateView::get(b, table);
  Value zero = indexConstant(b, 0);
  forEachTable(b, lut, table, cols, unique,
               [&](ImplicitLocOpBuilder &b, Value batch, const ColumnMarks *marks) {
                 emitLoop(b, zero, lut.rows(), 1, [&](ImplicitLocOpBuilder &b, Value entry) {
                   Value row = lut.field(b, batch, entry, CoordinateTable::BlockRow),
                         col = lut.field(b, batch, entry, CoordinateTable::BlockCol);
                   Value present = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, row, zero);
                   emitIf(b, present, [&](ImplicitLocOpBuilder &b) {
                     checkColumn(b, col, cols);
                     if (marks)
                       marks->visit(b, row, col);
                   });
                 });
               });
}

/// Returns the number of blocks of `size` elements along an axis of a dense operand.
static Value countBlocks(ImplicitLocOpBuilder &b, Value dense, int64_t axisFromEnd, int64_t size) {
  int64_t rank = cast<MemRefType>(dense.getType()).getRank();
  return indexCeilDiv(b, memrefDim(b, dense, rank - axisFromEnd), indexConstant(b, size));
}

static void checkSoftmax(ImplicitLocOpBuilder &b, Value segments, Value entries,
                         ArrayRef<int64_t> shape, ArrayRef<int64_t> block) {
  Value cols = indexConstant(b, llvm::divideCeil(shape[1], block[1]));
  checkRowTable(b, segments, entries, cols, /*unique=*/true);
}

static void insertCheck(Operation *op) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](BsrRowLutOp lut) {
        RuntimePattern pattern(b, lut.getCrowIndices(), lut.getColIndices());
        checkOffsets(b, pattern);
        if (lut.getTranspose())
          checkSortedColumns(b, pattern, IndexArray(lut.getInits()[0], 2).size(b, 0));
      })
      .Case([&](BsrCoordinateLutOp lut) {
        checkOffsets(b, RuntimePattern(b, lut.getCrowIndices(), lut.getColIndices()));
      })
      .Case([&](BsrTransposeIndicesOp indices) {
        RuntimePattern pattern(b, indices.getCrowIndices(), indices.getColIndices());
        checkOffsets(b, pattern);
        Value size = IndexArray(indices.getInits()[0], 1).size(b, 0);
        checkSortedColumns(b, pattern, Int(b, size) - 1);
      })
      .Case([&](PlannedDSDOp dsd) {
        int64_t depth = dsd.getBlock()[dsd.getTransposeValues() ? 0 : 1];
        Value cols = countBlocks(b, dsd.getDense(), dsd.getTransposeB() ? 1 : 2, depth);
        checkRowTable(b, dsd.getSegments(), dsd.getEntries(), cols, /*unique=*/false);
      })
      .Case([&](PlannedSDDOp sdd) {
        Value cols = countBlocks(b, sdd.getB(), sdd.getTransposeB() ? 2 : 1, sdd.getBlock()[1]);
        checkCoordinateTable(b, sdd.getLut(), cols, sdd.getInput() != nullptr);
      })
      .Case([&](PlannedSoftmaxOp softmax) {
        checkSoftmax(b, softmax.getSegments(), softmax.getEntries(), softmax.getShape(),
                     softmax.getBlock());
      })
      .Case([&](PlannedSoftmaxGradOp grad) {
        checkSoftmax(b, grad.getSegments(), grad.getEntries(), grad.getShape(), grad.getBlock());
      })
      .Case([&](PlannedToDenseOp conversion) {
        Value cols = countBlocks(b, conversion.getInit(), 1, conversion.getBlock()[1]);
        checkCoordinateTable(b, conversion.getLut(), cols, /*unique=*/false);
      })
      .Case([&](PlannedFromDenseOp conversion) {
        Value cols = countBlocks(b, conversion.getDense(), 1, conversion.getBlock()[1]);
        checkCoordinateTable(b, conversion.getLut(), cols, /*unique=*/true);
      });
}

void mlir::blocksparse::insertIndexChecks(Operation *root) {
  SmallVector<Operation *> ops;
  root->walk([&](Operation *op) {
    bool buffers = llvm::all_of(op->getOperandTypes(), llvm::IsaPred<MemRefType>);
    if (buffers && isa<BlockSparseDialect>(op->getDialect()))
      ops.push_back(op);
  });
  for (Operation *op : ops)
    insertCheck(op);
}
