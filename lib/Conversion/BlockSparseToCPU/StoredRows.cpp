// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "StoredRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::blocksparse;

bool mlir::blocksparse::isConstantTable(Value table) {
  while (auto view = table.getDefiningOp<ViewLikeOpInterface>())
    table = view.getViewSource();
  return table.getDefiningOp<memref::GetGlobalOp>() != nullptr;
}

Value mlir::blocksparse::countHeads(ImplicitLocOpBuilder &b, Value values, int64_t lutHeads,
                                    Value lutBlocks) {
  if (lutHeads != 1)
    return indexConstant(b, lutHeads);
  Value stored = memrefDim(b, values, cast<MemRefType>(values.getType()).getRank() - 3);
  return b.createOrFold<arith::DivUIOp>(stored, indexMax(b, lutBlocks, indexConstant(b, 1)));
}

Value mlir::blocksparse::countBatches(ImplicitLocOpBuilder &b, Value values) {
  return cast<MemRefType>(values.getType()).getRank() == 4 ? memrefDim(b, values, 0)
                                                           : indexConstant(b, 1);
}

StoredRows StoredRows::get(ImplicitLocOpBuilder &b, Value segments, Value entries,
                           ArrayRef<int64_t> block, ArrayRef<int64_t> shape, int64_t lutHeads,
                           Value values, Value batches, Value heads) {
  StoredRows table;
  table.segments = SegmentView::get(b, segments);
  table.entries = EntryView::get(b, entries);
  table.blockRows = block[0];
  table.blockCols = block[1];
  table.rows = shape[0];
  table.cols = shape[1];
  table.lutHeads = lutHeads;
  table.batches = batches ? batches : countBatches(b, values);
  table.heads = heads ? heads : countHeads(b, values, lutHeads, table.entries.rows());
  table.dynamic = !isConstantTable(segments);
  return table;
}

BlockRow mlir::blocksparse::getBlockRow(ImplicitLocOpBuilder &b, const StoredRows &table,
                                        Value batch, Value head, Value index) {
  auto field = [&](SegmentTable::Field which) {
    return table.segments.field(b, batch, index, which);
  };
  Value begin = field(SegmentTable::First);
  return {batch, head, begin, Int(b, begin) + field(SegmentTable::Count),
          field(SegmentTable::Tile)};
}

void mlir::blocksparse::forEachBlockRow(
    ImplicitLocOpBuilder &b, const StoredRows &table,
    llvm::function_ref<void(ImplicitLocOpBuilder &, const BlockRow &)> body) {
  // The rows of a table with its own heads name the head of each segment.
  Value headLoop = table.lutHeads == 1 ? table.heads : indexConstant(b, 1);
  emitParallel(b, {table.batches, headLoop, table.segments.rows()},
               [&](ImplicitLocOpBuilder &b, ValueRange at) {
                 Value head = table.lutHeads == 1
                                  ? at[1]
                                  : table.segments.field(b, at[0], at[2], SegmentTable::Head);
                 body(b, getBlockRow(b, table, at[0], head, at[2]));
               });
}

void mlir::blocksparse::forEachRow(
    ImplicitLocOpBuilder &b, const StoredRows &table, const BlockRow &blocks,
    llvm::function_ref<void(ImplicitLocOpBuilder &, StoredRow)> body,
    llvm::function_ref<void(ImplicitLocOpBuilder &, StoredRow)> padding) {
  Value limit = indexConstant(b, table.cols), rows = indexConstant(b, table.rows);
  Value base = Int(b, blocks.tile) * table.blockRows;
  auto emit = [&](ImplicitLocOpBuilder &b, Value row) {
    StoredRow stored{blocks, row, Int(b, base) + row, limit};
    Value inside;
    if (table.rows % table.blockRows != 0)
      inside = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, stored.inTensor, rows);
    auto otherwise = [&](ImplicitLocOpBuilder &b) { padding(b, stored); };
    emitIf(
        b, inside, [&](ImplicitLocOpBuilder &b) { body(b, stored); },
        padding ? llvm::function_ref<void(ImplicitLocOpBuilder &)>(otherwise) : nullptr);
  };
  emitLoop(b, indexConstant(b, 0), indexConstant(b, table.blockRows), 1, emit);
}

/// Returns true if every chunk below `limit` is complete.
static bool hasWholeChunks(const StoredRows &table, Value limit, int64_t width) {
  return knownIndex(limit) == table.cols && table.cols % table.blockCols == 0 &&
         table.blockCols % width == 0;
}

Value mlir::blocksparse::forEachChunk(
    ImplicitLocOpBuilder &b, const StoredRows &table, const StoredRow &row, int64_t width,
    Value init, llvm::function_ref<Value(ImplicitLocOpBuilder &, const Chunk &, Value)> body) {
  Value zero = indexConstant(b, 0), blockCols = indexConstant(b, table.blockCols);
  bool whole = hasWholeChunks(table, row.limit, width);
  auto emitBlock = [&](ImplicitLocOpBuilder &b, Value entry, Value carried) -> Value {
    Value batch = row.blocks.batch;
    Value col = Int(b, table.entries.field(b, batch, entry, EntryTable::Dense)) * blockCols;
    Value block = table.entries.field(b, batch, entry, EntryTable::Value);
    Value valid;
    if (!whole)
      valid = indexMin(b, Int(b, row.limit) - col, blockCols);
    auto emitChunk = [&](ImplicitLocOpBuilder &b, Value at, Value carried) -> Value {
      return body(b, {block, at, Int(b, col) + at, valid ? Int(b, valid) - at : Value()}, carried);
    };
    if (table.blockCols <= width)
      return emitChunk(b, zero, carried);
    if (!init) {
      emitLoop(b, zero, blockCols, width,
               [&](ImplicitLocOpBuilder &b, Value at) { emitChunk(b, at, nullptr); });
      return nullptr;
    }
    return emitReduction(b, zero, blockCols, width, carried, emitChunk);
  };
  if (!init) {
    emitLoop(b, row.blocks.begin, row.blocks.end, 1,
             [&](ImplicitLocOpBuilder &b, Value entry) { emitBlock(b, entry, nullptr); });
    return nullptr;
  }
  return emitReduction(b, row.blocks.begin, row.blocks.end, 1, init, emitBlock);
}

Value mlir::blocksparse::storageMask(ImplicitLocOpBuilder &b, const StoredRows &table,
                                     const VectorAccess &access, const Chunk &chunk) {
  if (table.blockCols % access.width == 0)
    return nullptr;
  return access.mask(b, Int(b, indexConstant(b, table.blockCols)) - chunk.inBlock);
}

SmallVector<Value> mlir::blocksparse::readChunk(
    ImplicitLocOpBuilder &b, const VectorAccess &access, const Chunk &chunk, TypeRange types,
    llvm::function_ref<SmallVector<Value>(ImplicitLocOpBuilder &, Value)> body) {
  if (!chunk.valid)
    return body(b, nullptr);
  if (!access.unitStride)
    return body(b, access.mask(b, chunk.valid));
  Value whole = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, chunk.valid,
                                      indexConstant(b, access.width));
  OpBuilder::InsertionGuard guard(b);
  auto branch = scf::IfOp::create(b, types, whole, /*withElseRegion=*/true);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, body(b, nullptr));
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, body(b, access.mask(b, chunk.valid)));
  return branch.getResults();
}

void mlir::blocksparse::zeroRow(ImplicitLocOpBuilder &b, const StoredRows &table,
                                const StoredRow &row, const ValuesView &values,
                                const VectorAccess &access) {
  Value zero = zeroVector(b, VectorType::get({access.width}, values.elementType()));
  Value base = values.headBase(b, row.blocks.head);
  forEachChunk(b, table, row, access.width, nullptr,
               [&](ImplicitLocOpBuilder &b, const Chunk &chunk, Value) -> Value {
                 MatrixView block = values.block(b, row.blocks.batch, Int(b, base) + chunk.block);
                 access.store(b, zero, block, row.inBlock, chunk.inBlock,
                              storageMask(b, table, access, chunk));
                 return nullptr;
               });
}

void mlir::blocksparse::zeroSpareBlocks(ImplicitLocOpBuilder &b, const StoredRows &table,
                                        const ValuesView &values) {
  if (!table.dynamic)
    return;
  Value zero = indexConstant(b, 0);
  Value element = arith::ConstantOp::create(b, b.getZeroAttr(values.elementType()));
  emitParallel(b, {table.batches, table.heads}, [&](ImplicitLocOpBuilder &b, ValueRange at) {
    Value used = emitReduction(b, zero, table.segments.rows(), 1, zero,
                               [&](ImplicitLocOpBuilder &b, Value segment, Value most) {
                                 BlockRow row = getBlockRow(b, table, at[0], at[1], segment);
                                 return indexMax(b, most, row.end);
                               });
    Value base = values.headBase(b, at[1]);
    emitLoop(b, used, table.entries.rows(), 1, [&](ImplicitLocOpBuilder &b, Value spare) {
      MatrixView block = values.block(b, at[0], Int(b, base) + spare);
      emitLoop(b, zero, block.rows, 1, [&](ImplicitLocOpBuilder &b, Value i) {
        emitLoop(b, zero, block.cols, 1,
                 [&](ImplicitLocOpBuilder &b, Value j) { block.store(b, element, i, j); });
      });
    });
  });
}
