// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lowers the checks of run-time indices to one loop over their items, in order. Time and memory are
// linear in the stored blocks and in the tiles, whatever the sizes of the matrices are: a column is
// looked up once, where the last block of its column is noted, and a tile is compared with those
// that are noted beside it.

#include "../Device/Loops.h"
#include "../IndexChecks.h"
#include "../OperandView.h"
#include "LowerToLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

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

/// Holds notes, which are numbers below `capacity`, in a hash table with a list for each slot, so
/// that its memory is linear in what can be noted, however far apart the keys are.
class HashedNotes {
public:
  HashedNotes(ImplicitLocOpBuilder &b, Value slots, Value capacity) : slots(slots) {
    first = allocate(b, slots);
    next = allocate(b, capacity);
    Value none = indexConstant(b, -1);
    device::emitLoop(b, indexConstant(b, 0), slots, indexConstant(b, 1),
                     [&](ImplicitLocOpBuilder &b, Value slot) {
                       memref::StoreOp::create(b, none, first, ValueRange{slot});
                     });
  }

  /// Returns a number of slots for `capacity` notes. It is odd, because keys are often multiples of
  /// a power of two.
  static Value enough(ImplicitLocOpBuilder &b, Value capacity) {
    return Int(b, Int(b, capacity) * 2) + 1;
  }

  static Value allocate(ImplicitLocOpBuilder &b, Value size) {
    auto type = MemRefType::get({ShapedType::kDynamic}, b.getIndexType());
    return memref::AllocOp::create(b, type, ValueRange{size});
  }

  /// Returns the slot of a key.
  Value getSlot(ImplicitLocOpBuilder &b, Value key) const {
    return b.createOrFold<arith::RemUIOp>(key, slots);
  }

  /// Emits a loop over the notes of a slot with one carried value, and returns its last value.
  Value fold(ImplicitLocOpBuilder &b, Value slot, Value initial,
             function_ref<Value(ImplicitLocOpBuilder &, Value note, Value carried)> body) const {
    Value head = memref::LoadOp::create(b, first, ValueRange{slot});
    SmallVector<Value> values = {head, initial};
    auto loop = scf::WhileOp::create(
        b, TypeRange(ValueRange(values)), values,
        [](OpBuilder &builder, Location loc, ValueRange carried) {
          ImplicitLocOpBuilder b(loc, builder);
          Value zero = indexConstant(b, 0);
          Value isNoted = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, carried[0], zero);
          scf::ConditionOp::create(b, isNoted, carried);
        },
        [&](OpBuilder &builder, Location loc, ValueRange carried) {
          ImplicitLocOpBuilder b(loc, builder);
          Value value = body(b, carried[0], carried[1]);
          Value following = memref::LoadOp::create(b, next, ValueRange{carried[0]});
          scf::YieldOp::create(b, ValueRange{following, value});
        });
    return loop.getResult(1);
  }

  void insert(ImplicitLocOpBuilder &b, Value slot, Value note) const {
    Value head = memref::LoadOp::create(b, first, ValueRange{slot});
    memref::StoreOp::create(b, head, next, ValueRange{note});
    memref::StoreOp::create(b, note, first, ValueRange{slot});
  }

  void free(ImplicitLocOpBuilder &b) const {
    memref::DeallocOp::create(b, next);
    memref::DeallocOp::create(b, first);
  }

private:
  Value slots;
  /// The note that was inserted last in each slot, and for each note the one before it in its slot;
  /// -1 where there is none.
  Value first, next;
};

/// Notes the last block of each block column. Positions count over all batches, so that a note of
/// another block row or batch is below the first position of the own one. There is a slot for each
/// column, unless there are more columns than blocks.
class ColumnNotes {
public:
  ColumnNotes(ImplicitLocOpBuilder &b, const PatternCheck &check)
      : room(check.getRoom()), blocks(Int(b, check.getBatches()) * room),
        notes(b, indexMin(b, check.getCols(), HashedNotes::enough(b, blocks)), blocks),
        columns(HashedNotes::allocate(b, blocks)), last(HashedNotes::allocate(b, blocks)) {}

  Value findEarlier(ImplicitLocOpBuilder &b, const ListedColumn &listed) const {
    Value base = Int(b, listed.batch) * room, begin = Int(b, base) + listed.rowBegin;
    Value position = Int(b, base) + listed.position, none = indexConstant(b, -1);
    Value slot = notes.getSlot(b, listed.col);
    Value note = notes.fold(b, slot, none, [&](ImplicitLocOpBuilder &b, Value other, Value found) {
      Value column = memref::LoadOp::create(b, columns, ValueRange{other});
      Value equal = indexEqual(b, column, listed.col);
      return arith::SelectOp::create(b, equal, other, found).getResult();
    });
    Value isKnown = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, note, indexConstant(b, 0));
    auto replace = [&](ImplicitLocOpBuilder &b) -> Value {
      Value before = memref::LoadOp::create(b, last, ValueRange{note});
      memref::StoreOp::create(b, position, last, ValueRange{note});
      Value same = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, before, begin);
      return arith::SelectOp::create(b, same, Int(b, before) - base, indexConstant(b, -1));
    };
    auto insert = [&](ImplicitLocOpBuilder &b) -> Value {
      notes.insert(b, slot, position);
      memref::StoreOp::create(b, listed.col, columns, ValueRange{position});
      memref::StoreOp::create(b, position, last, ValueRange{position});
      return indexConstant(b, -1);
    };
    return device::emitChoice(b, isKnown, replace, insert);
  }

  void free(ImplicitLocOpBuilder &b) const {
    memref::DeallocOp::create(b, last);
    memref::DeallocOp::create(b, columns);
    notes.free(b);
  }

private:
  Value room, blocks;
  /// A note is the position of the first block of a column.
  HashedNotes notes;
  /// The column of each note, and the position of its last block.
  Value columns, last;
};

/// Notes the tiles of the accumulators by the cells of a grid in which they begin. A cell has the
/// size of a tile, so that tiles overlap only if they begin in the same cell or in neighbours.
/// Tiles that overlap with a noted one are not noted, so that no cell has two.
class TileNotes {
public:
  // An empty axis must not become a division by 0.
  TileNotes(ImplicitLocOpBuilder &b, const ScatterCheck &check)
      : check(check), height(indexMax(b, check.getTileRows(), indexConstant(b, 1))),
        width(indexMax(b, check.getTileCols(), indexConstant(b, 1))),
        gridCols(indexCeilDiv(b, check.getCols(), width)),
        notes(b, HashedNotes::enough(b, check.getTiles(b)), check.getTiles(b)) {}

  Value findOverlap(ImplicitLocOpBuilder &b, const PlacedTile &tile) const {
    Value row = b.createOrFold<arith::DivUIOp>(tile.row, height);
    Value col = b.createOrFold<arith::DivUIOp>(tile.col, width);
    Value begin = indexConstant(b, -1), end = indexConstant(b, 2), one = indexConstant(b, 1);
    Value own = tile.position;
    auto compare = [&](ImplicitLocOpBuilder &b, Value note, Value found) -> Value {
      Value overlaps = check.emitOverlap(b, tile, note);
      return arith::SelectOp::create(b, overlaps, indexMin(b, note, found), found);
    };
    Value found = device::emitFold(
        b, begin, end, one, own, [&](ImplicitLocOpBuilder &b, Value down, Value found) {
          Value besideRow = Int(b, row) + down;
          return device::emitFold(b, begin, end, one, found,
                                  [&](ImplicitLocOpBuilder &b, Value right, Value found) {
                                    Value slot = getSlot(b, besideRow, Int(b, col) + right);
                                    return notes.fold(b, slot, found, compare);
                                  });
        });
    device::emitIf(b, indexEqual(b, found, own),
                   [&](ImplicitLocOpBuilder &b) { notes.insert(b, getSlot(b, row, col), own); });
    return found;
  }

  void free(ImplicitLocOpBuilder &b) const { notes.free(b); }

private:
  /// Returns the slot of a cell, which may be outside of the grid: the comparison of tiles is
  /// exact.
  Value getSlot(ImplicitLocOpBuilder &b, Value row, Value col) const {
    return notes.getSlot(b, Int(b, Int(b, row) * gridCols) + col);
  }

  const ScatterCheck &check;
  Value height, width, gridCols;
  HashedNotes notes;
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
