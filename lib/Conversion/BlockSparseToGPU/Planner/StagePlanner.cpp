// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../../Device/Loops.h"
#include "PlannerKernels.h"
#include "StageFiller.h"
#include "blocksparse/IR/RunTimeStages.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;
using ::blocksparse::GroupRecordsTable;
using ::blocksparse::RankedRowTable;
using ::blocksparse::RunTimeStages;
using ::blocksparse::StageTileTable;

static Value constant(ImplicitLocOpBuilder &b, int64_t value) { return i32Constant(b, value); }

static Value select(ImplicitLocOpBuilder &b, Value condition, Value yes, Value no) {
  return arith::SelectOp::create(b, condition, yes, no);
}

static Value toInt(ImplicitLocOpBuilder &b, Value index) {
  return b.createOrFold<arith::IndexCastOp>(b.getI32Type(), index);
}

/// Returns the class of a length, see lengthClass.
static Value emitLengthClass(ImplicitLocOpBuilder &b, Value length) {
  Value real = arith::SIToFPOp::create(b, b.getF32Type(), length);
  Value bits = arith::BitcastOp::create(b, b.getI32Type(), real);
  return arith::ShRUIOp::create(b, bits, constant(b, ::blocksparse::lengthClassShift));
}

/// Returns the quotient and the remainder of a non-negative i32 by a positive constant.
static std::pair<Value, Value> divide(ImplicitLocOpBuilder &b, Value number, int64_t by) {
  Value divisor = constant(b, by);
  return {b.createOrFold<arith::DivUIOp>(number, divisor),
          b.createOrFold<arith::RemUIOp>(number, divisor)};
}

namespace {

/// Makes the stages of a row LUT: allocates their tables and emits the kernels that fill them.
class StagePlanner {
public:
  StagePlanner(ImplicitLocOpBuilder &host, KernelBuilder &kernels, const RunTimeStages &stages,
               Value segments, Value entries);

  /// Emits the kernels and their launches, and returns the tables in the order of StageOperands.
  SmallVector<Value> emit();
  /// Frees the tables.
  void release();

private:
  Value allocate(ArrayRef<int64_t> sizes, Value open = {}) const;
  void rankRows();
  /// Emits the thread of the place `place`, which is that of a block row before they are sorted.
  void rankRow(ImplicitLocOpBuilder &b, const SegmentReader &lut, const WordTable &ranks,
               Value place) const;
  void fillStages();
  void listTiles();
  /// Emits the thread of tile `number` in the order in which tiles are given to workers in turn.
  void listTile(ImplicitLocOpBuilder &b, const WordTable &table, const WordTable &ofGroups,
                Value number) const;

  ImplicitLocOpBuilder &host;
  KernelBuilder &kernels;
  RunTimeStages stages;
  Value segments, entries;
  /// The tables of StageOperands, and those of RankedRow and of GroupRecords.
  Value tiles, workers, records, rows, order, ranked, groups;
};

} // namespace

StagePlanner::StagePlanner(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                           const RunTimeStages &stages, Value segments, Value entries)
    : host(host), kernels(kernels), stages(stages), segments(segments), entries(entries) {
  const int64_t open = ShapedType::kDynamic;
  Value blocks = memrefDim(host, entries, 0);
  const int64_t fixed = stages.mostRecords(0), each = stages.mostRecords(1) - fixed;
  tiles = allocate({stages.numTiles(), StageTileTable::columns});
  workers = allocate({stages.workers + 1});
  records = allocate({open, stages.recordInts()}, Int(host, blocks) * each + fixed);
  rows = allocate({stages.groups(), stages.groupSize()});
  order = stages.isStream() ? allocate({open}, blocks) : allocate({1});
  ranked = allocate({stages.rowPlaces() + 1, RankedRowTable::columns});
  groups = allocate({stages.groups(), GroupRecordsTable::columns});
}

Value StagePlanner::allocate(ArrayRef<int64_t> sizes, Value open) const {
  return memref::AllocOp::create(host, MemRefType::get(sizes, host.getI32Type()),
                                 open ? ValueRange(open) : ValueRange());
}

void StagePlanner::release() {
  for (Value table : {groups, ranked, order, rows, records, workers, tiles})
    memref::DeallocOp::create(host, table);
}

void StagePlanner::rankRow(ImplicitLocOpBuilder &b, const SegmentReader &lut,
                           const WordTable &ranks, Value place) const {
  Value zero = constant(b, 0), one = constant(b, 1), end = constant(b, stages.tiles);
  Value isRow = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, place, end);
  // A free place stands behind all block rows: it has a class below all others.
  Value own = emitChoice(
      b, isRow, [&](ImplicitLocOpBuilder &b) { return emitLengthClass(b, lut.count(b, place)); },
      [&](ImplicitLocOpBuilder &b) { return constant(b, -1); });
  SmallVector<Value> sums =
      emitCarry(b, zero, end, one, {zero, zero},
                [&](ImplicitLocOpBuilder &b, Value other, ValueRange sums) -> SmallVector<Value> {
                  Value count = lut.count(b, other);
                  Value rank = emitLengthClass(b, count);
                  Value longer = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, rank, own);
                  Value equal = isEqual(b, rank, own);
                  Value first = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, other, place);
                  Value before = arith::OrIOp::create(b, longer, both(b, equal, first));
                  return {Int(b, sums[0]) + select(b, before, one, zero),
                          Int(b, sums[1]) + select(b, before, count, zero)};
                });
  Value row = select(b, isRow, sums[0], place);
  Value segment = select(b, isRow, place, constant(b, -1));
  ranks.storeRow(b, row,
                 makeRow<RankedRowTable>(
                     {{RankedRowTable::Segment, segment}, {RankedRowTable::Before, sums[1]}}));
}

void StagePlanner::rankRows() {
  // All places of the packed order name a value block, because all of them are packed.
  Value places = indexConstant(host, stages.rowPlaces() + 1);
  Value packed = stages.isStream() ? memrefDim(host, order, 0) : indexConstant(host, 0);
  kernels.launchForEach(
      host, "rank_rows", {segments, entries, ranked, order}, indexMax(host, places, packed),
      [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value item) {
        SegmentReader lut(mapping.lookup(segments), mapping.lookup(entries));
        WordTable ranks(mapping.lookup(ranked)), places(mapping.lookup(order));
        if (stages.isStream()) {
          Value end = memrefDim(b, mapping.lookup(order), 0);
          emitIf(b, indexLess(b, item, end),
                 [&](ImplicitLocOpBuilder &b) { places.store(b, constant(b, 0), toInt(b, item)); });
        }
        emitIf(b, indexLess(b, item, indexConstant(b, stages.rowPlaces() + 1)),
               [&](ImplicitLocOpBuilder &b) { rankRow(b, lut, ranks, toInt(b, item)); });
      });
}

void StagePlanner::fillStages() {
  SmallVector<Value> operands{segments, entries, ranked, records, rows, order, groups};
  LaunchShape shape{indexConstant(host, stages.bundles()), RunTimeStages::threads,
                    stages.sharedBytes()};
  kernels.launch(host, "fill_stages", operands, shape,
                 [&](ImplicitLocOpBuilder &b, const IRMapping &mapping) {
                   StageFillerTables tables{mapping.lookup(segments), mapping.lookup(entries),
                                            mapping.lookup(ranked),   mapping.lookup(records),
                                            mapping.lookup(rows),     mapping.lookup(order),
                                            mapping.lookup(groups)};
                   StageFiller(b, stages, tables).emit(b);
                 });
}

/// Tiles are ordered by column tile, with the row groups of a block of groups in each; there is at
/// most one group for each worker in a block. All workers that need a column tile of the dense
/// operand then read it together (see WorkLists.cpp).
void StagePlanner::listTile(ImplicitLocOpBuilder &b, const WordTable &table,
                            const WordTable &ofGroups, Value number) const {
  const int64_t all = stages.groups(), columns = stages.space.columnTiles;
  const int64_t blocks = llvm::divideCeil(all, stages.workers);
  const int64_t most = llvm::divideCeil(all, blocks), together = stages.together;
  auto [matrix, inMatrix] = divide(b, number, all * columns);
  auto [batch, head] = divide(b, matrix, stages.space.heads);
  auto [block, inBlock] = divide(b, inMatrix, most * columns);
  // The last block may be smaller.
  Value first = Int(b, block) * most;
  Value size = indexMin(b, constant(b, most), Int(b, constant(b, all)) - first);
  Value inColumns = Int(b, size) * together;
  Value turn = arith::DivUIOp::create(b, inBlock, inColumns);
  Value inTurn = arith::RemUIOp::create(b, inBlock, inColumns);
  auto [inGroups, side] = divide(b, inTurn, together);
  Value group = Int(b, first) + inGroups;
  Value column = Int(b, turn) * together + side;

  // Worker w has tiles w, w + workers, ...; the first ones have one more.
  auto [position, worker] = divide(b, number, stages.workers);
  const int64_t whole = stages.numTiles() / stages.workers;
  Value longer = indexMin(b, worker, constant(b, stages.numTiles() % stages.workers));
  Value row = Int(b, Int(b, Int(b, worker) * whole) + longer) + position;
  Value zero = constant(b, 0);
  table.storeRow(b, row,
                 makeRow<StageTileTable>(
                     {{StageTileTable::Group, group},
                      {StageTileTable::ColumnTile, column},
                      {StageTileTable::First, ofGroups.load(b, group, GroupRecordsTable::First)},
                      {StageTileTable::Count, ofGroups.load(b, group, GroupRecordsTable::Count)},
                      {StageTileTable::Batch, batch},
                      {StageTileTable::Head, head},
                      {StageTileTable::Unused0, zero},
                      {StageTileTable::Unused1, zero}}));
}

void StagePlanner::listTiles() {
  const int64_t number = stages.numTiles(), lists = stages.workers;
  kernels.launchForEach(
      host, "list_tiles", {groups, tiles, workers},
      indexConstant(host, std::max(number, lists + 1)),
      [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value item) {
        WordTable ofGroups(mapping.lookup(groups)), table(mapping.lookup(tiles));
        WordTable starts(mapping.lookup(workers));
        emitIf(b, indexLess(b, item, indexConstant(b, lists + 1)), [&](ImplicitLocOpBuilder &b) {
          Value worker = toInt(b, item);
          Value longer = indexMin(b, worker, constant(b, number % lists));
          starts.store(b, Int(b, worker) * (number / lists) + longer, worker);
        });
        emitIf(b, indexLess(b, item, indexConstant(b, number)),
               [&](ImplicitLocOpBuilder &b) { listTile(b, table, ofGroups, toInt(b, item)); });
      });
}

SmallVector<Value> StagePlanner::emit() {
  rankRows();
  fillStages();
  listTiles();
  return {tiles, workers, records, rows, order};
}

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

bool mlir::blocksparse::device::hasOrMakesStages(const ::blocksparse::GPUFacts &facts,
                                                 PlannedDSDOp op) {
  std::string reason;
  return !op.getStages().empty() ||
         (isPlannedAtRunTime(op) && getRunTimeStages(op, facts, reason).has_value());
}

Value mlir::blocksparse::device::hasInt32Blocks(ImplicitLocOpBuilder &host, PlannedDSDOp op) {
  Value values = op.getValues();
  auto type = cast<MemRefType>(values.getType());
  const int64_t axis = type.getRank() - 3;
  if (!type.isDynamicDim(axis))
    return arith::ConstantIntOp::create(host, host.getI1Type(), 1);
  Value blocks = memrefDim(host, values, axis);
  const int64_t most = std::numeric_limits<int32_t>::max() / type.getDimSize(axis + 1);
  return both(host, indexLess(host, indexConstant(host, 0), blocks),
              indexLess(host, blocks, indexConstant(host, most + 1)));
}

void mlir::blocksparse::device::withMadeStages(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                                               PlannedDSDOp op,
                                               function_ref<void(PlannedDSDOp)> emit) {
  std::string reason;
  StagePlanner planner(host, kernels, *getRunTimeStages(op, kernels.getFacts(), reason),
                       op.getSegments(), op.getEntries());
  // The operation with stages is in no block: only its operands and attributes are read.
  auto staged = cast<PlannedDSDOp>(op->clone());
  staged.getStagesMutable().assign(planner.emit());
  emit(staged);
  staged->destroy();
  planner.release();
}
