// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lowers the checks of run-time indices to one loop over their items, in order. The cost is linear
// in the stored blocks and in the tiles: a column is looked up once, where the last block of its
// column is noted, and a tile is compared with those that are noted beside it.

#include "../Device/Loops.h"
#include "../IndexChecks.h"
#include "../OperandView.h"
#include "LowerToLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::IndexFault;

/// Allocates an empty record in the frame of the function around `op`.
static Value allocateRecord(ImplicitLocOpBuilder &b, Operation *op) {
  OpBuilder::InsertionGuard guard(b);
  if (Operation *scope = op->getParentWithTrait<OpTrait::AutomaticAllocationScope>())
    b.setInsertionPointToStart(&scope->getRegion(0).front());
  return memref::AllocaOp::create(b, getFaultRecordType(b.getContext()));
}

/// Emits the items of `check` one after another, and ends the call if one has a fault. `emitItem`
/// emits the check of an item.
template <typename OpTy>
static void
emitItems(ImplicitLocOpBuilder &b, OpTy op, Value items,
          function_ref<void(ImplicitLocOpBuilder &, Value item, ReportFault report)> emitItem) {
  Value record = allocateRecord(b, op), zero = indexConstant(b, 0);
  storeFaultWord(b, zero, record, ::blocksparse::Code);
  auto report = [&](ImplicitLocOpBuilder &b, Value isFault, IndexFault fault,
                    const FaultPlace &place) {
    device::emitIf(b, isFault,
                   [&](ImplicitLocOpBuilder &b) { storeFault(b, record, fault, place); });
  };
  device::emitLoop(b, zero, items, indexConstant(b, 1),
                   [&](ImplicitLocOpBuilder &b, Value item) { emitItem(b, item, report); });
  RefuseOp::create(b, record, op.getSubjectAttr());
}

namespace {

/// Notes the last block of each block column. Positions count over all batches, so that a note of
/// another block row or batch is below the first position of the own one.
class ColumnNotes {
public:
  ColumnNotes(ImplicitLocOpBuilder &b, const PatternCheck &check) : room(check.getRoom()) {
    auto type = MemRefType::get({ShapedType::kDynamic}, b.getIndexType());
    notes = memref::AllocOp::create(b, type, ValueRange{check.getCols()});
    Value none = indexConstant(b, -1);
    device::emitLoop(b, indexConstant(b, 0), check.getCols(), indexConstant(b, 1),
                     [&](ImplicitLocOpBuilder &b, Value col) {
                       memref::StoreOp::create(b, none, notes, ValueRange{col});
                     });
  }

  Value findEarlier(ImplicitLocOpBuilder &b, const ListedColumn &listed) const {
    Value base = Int(b, listed.batch) * room, begin = Int(b, base) + listed.rowBegin;
    Value last = memref::LoadOp::create(b, notes, ValueRange{listed.col});
    memref::StoreOp::create(b, Int(b, base) + listed.position, notes, ValueRange{listed.col});
    Value same = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, last, begin);
    return arith::SelectOp::create(b, same, Int(b, last) - base, indexConstant(b, -1));
  }

  void free(ImplicitLocOpBuilder &b) const { memref::DeallocOp::create(b, notes); }

private:
  Value room, notes;
};

/// Notes the tiles of the accumulators by the cells of a grid in which they begin. A cell has the
/// size of a tile, so that tiles overlap only if they begin in the same cell or in neighbours, and
/// tiles that do not overlap begin in different cells.
class TileNotes {
public:
  TileNotes(ImplicitLocOpBuilder &b, const ScatterCheck &check) : check(check) {
    // An empty axis must not become a division by 0.
    Value one = indexConstant(b, 1);
    height = indexMax(b, check.getTileRows(), one);
    width = indexMax(b, check.getTileCols(), one);
    gridRows = indexCeilDiv(b, check.getRows(), height);
    gridCols = indexCeilDiv(b, check.getCols(), width);
    Value cells = Int(b, gridRows) * gridCols;
    auto type = MemRefType::get({ShapedType::kDynamic}, b.getIndexType());
    notes = memref::AllocOp::create(b, type, ValueRange{cells});
    Value none = indexConstant(b, -1);
    device::emitLoop(b, indexConstant(b, 0), cells, one, [&](ImplicitLocOpBuilder &b, Value cell) {
      memref::StoreOp::create(b, none, notes, ValueRange{cell});
    });
  }

  Value findOverlap(ImplicitLocOpBuilder &b, const PlacedTile &tile) const {
    Value ownRow = b.createOrFold<arith::DivUIOp>(tile.row, height);
    Value ownCol = b.createOrFold<arith::DivUIOp>(tile.col, width);
    Value begin = indexConstant(b, -1), end = indexConstant(b, 2), one = indexConstant(b, 1);
    Value found = device::emitFold(
        b, begin, end, one, tile.position, [&](ImplicitLocOpBuilder &b, Value down, Value found) {
          Value row = Int(b, ownRow) + down;
          return device::emitFold(b, begin, end, one, found,
                                  [&](ImplicitLocOpBuilder &b, Value right, Value found) {
                                    Value col = Int(b, ownCol) + right;
                                    return indexMin(b, found, compareCell(b, tile, row, col));
                                  });
        });
    Value cell = Int(b, Int(b, ownRow) * gridCols) + ownCol;
    memref::StoreOp::create(b, found, notes, ValueRange{cell});
    return found;
  }

  void free(ImplicitLocOpBuilder &b) const { memref::DeallocOp::create(b, notes); }

private:
  /// Returns the tile that is noted in a cell if `tile` overlaps with it, otherwise `tile`'s own
  /// position.
  Value compareCell(ImplicitLocOpBuilder &b, const PlacedTile &tile, Value row, Value col) const {
    auto own = [&](ImplicitLocOpBuilder &) { return tile.position; };
    Value exists = device::both(b, device::indexInside(b, row, gridRows),
                                device::indexInside(b, col, gridCols));
    auto compare = [&](ImplicitLocOpBuilder &b) {
      Value cell = Int(b, Int(b, row) * gridCols) + col;
      Value note = memref::LoadOp::create(b, notes, ValueRange{cell});
      Value isNoted =
          arith::CmpIOp::create(b, arith::CmpIPredicate::sge, note, indexConstant(b, 0));
      auto compareNoted = [&](ImplicitLocOpBuilder &b) {
        Value overlaps = check.emitOverlap(b, tile, note);
        return arith::SelectOp::create(b, overlaps, note, tile.position).getResult();
      };
      return device::emitChoice(b, isNoted, compareNoted, own);
    };
    return device::emitChoice(b, exists, compare, own);
  }

  const ScatterCheck &check;
  Value height, width, gridRows, gridCols, notes;
};

} // namespace

void mlir::blocksparse::lowerToLoops(ImplicitLocOpBuilder &b, CheckPatternOp op,
                                     const CPULoweringOptions &) {
  PatternCheck check(b, op, IRMapping());
  std::optional<ColumnNotes> notes;
  if (check.isUnique())
    notes.emplace(b, check);
  auto findEarlier = [&](ImplicitLocOpBuilder &b, const ListedColumn &listed) {
    return notes->findEarlier(b, listed);
  };
  emitItems(b, op, check.items(b), [&](ImplicitLocOpBuilder &b, Value item, ReportFault report) {
    check.emitItem(b, item, findEarlier, report);
  });
  if (notes)
    notes->free(b);
}

void mlir::blocksparse::lowerToLoops(ImplicitLocOpBuilder &b, CheckScatterIndicesOp op,
                                     const CPULoweringOptions &) {
  ScatterCheck check(b, op, IRMapping());
  std::optional<TileNotes> notes;
  if (check.placesTiles())
    notes.emplace(b, check);
  auto findOverlap = [&](ImplicitLocOpBuilder &b, const PlacedTile &tile) {
    return notes->findOverlap(b, tile);
  };
  emitItems(b, op, check.items(b), [&](ImplicitLocOpBuilder &b, Value item, ReportFault report) {
    check.emitItem(b, item, findOverlap, report);
  });
  if (notes)
    notes->free(b);
}
