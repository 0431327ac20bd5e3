// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../../Device/Loops.h"
#include "../../Device/Warp.h"
#include "PlannerKernels.h"
#include "StageFiller.h"
#include "WarpWork.h"
#include "blocksparse/IR/RunTimeStages.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <limits>

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;
using ::blocksparse::RankedRowTable;
using ::blocksparse::RunTimeStages;
using ::blocksparse::StageTileTable;

/// Returns the class of a length, see lengthClass.
static Value emitLengthClass(ImplicitLocOpBuilder &b, Value length) {
  Value real = arith::SIToFPOp::create(b, b.getF32Type(), length);
  Value bits = arith::BitcastOp::create(b, b.getI32Type(), real);
  return arith::ShRUIOp::create(b, bits, constant(b, ::blocksparse::lengthClassShift));
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
  /// Emits lane `lane` of the warp of the place `place` (i32), which is that of a block row before
  /// they are sorted.
  void rankRow(ImplicitLocOpBuilder &b, const SegmentReader &lut, const WordTable &ranks,
               Value place, Value lane) const;
  void fillStages();

  ImplicitLocOpBuilder &host;
  KernelBuilder &kernels;
  RunTimeStages stages;
  Value segments, entries;
  /// The tables of StageOperands, and that of RankedRow.
  Value tiles, workers, records, rows, order, ranked;
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
}

Value StagePlanner::allocate(ArrayRef<int64_t> sizes, Value open) const {
  return memref::AllocOp::create(host, MemRefType::get(sizes, host.getI32Type()),
                                 open ? ValueRange(open) : ValueRange());
}

void StagePlanner::release() {
  for (Value table : {ranked, order, rows, records, workers, tiles})
    memref::DeallocOp::create(host, table);
}

void StagePlanner::rankRow(ImplicitLocOpBuilder &b, const SegmentReader &lut,
                           const WordTable &ranks, Value place, Value lane) const {
  Value zero = constant(b, 0), one = constant(b, 1), end = constant(b, stages.tiles);
  Value isRow = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, place, end);
  // A free place stands behind all block rows: it has a class below all others.
  SmallVector<Value> own = emitChoices(
      b, isRow,
      [&](ImplicitLocOpBuilder &b) -> SmallVector<Value> {
        Value count = lut.count(b, place);
        return {lut.field(b, place, SegmentTable::Tile), lut.field(b, place, SegmentTable::First),
                count, emitLengthClass(b, count)};
      },
      [&](ImplicitLocOpBuilder &b) -> SmallVector<Value> {
        return {constant(b, -1), zero, zero, constant(b, -1)};
      });
  SmallVector<Value> sums =
      emitCarry(b, lane, end, constant(b, warpSize), {zero, zero},
                [&](ImplicitLocOpBuilder &b, Value other, ValueRange sums) -> SmallVector<Value> {
                  Value count = lut.count(b, other);
                  Value rank = emitLengthClass(b, count);
                  Value longer = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, rank, own[3]);
                  Value equal = isEqual(b, rank, own[3]);
                  Value first = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, other, place);
                  Value before = arith::OrIOp::create(b, longer, both(b, equal, first));
                  return {Int(b, sums[0]) + select(b, before, one, zero),
                          Int(b, sums[1]) + select(b, before, count, zero)};
                });
  Value row = select(b, isRow, sumOfLanes(b, sums[0]), place);
  Value before = sumOfLanes(b, sums[1]);
  emitIf(b, isEqual(b, lane, zero), [&](ImplicitLocOpBuilder &b) {
    ranks.storeRow(b, row,
                   makeRow<RankedRowTable>({{RankedRowTable::Tile, own[0]},
                                            {RankedRowTable::Before, before},
                                            {RankedRowTable::First, own[1]},
                                            {RankedRowTable::Count, own[2]}}));
  });
}

void StagePlanner::rankRows() {
  launchWarpsEarly(host, kernels, "rank_rows", {segments, entries, ranked},
                   indexConstant(host, stages.rowPlaces() + 1),
                   [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value item, Value lane) {
                     SegmentReader lut(mapping.lookup(segments), mapping.lookup(entries));
                     rankRow(b, lut, WordTable(mapping.lookup(ranked)), toInt(b, item),
                             toInt(b, lane));
                   });
}

void StagePlanner::fillStages() {
  SmallVector<Value> operands{entries, ranked, tiles, workers, records, rows, order};
  LaunchShape shape{indexConstant(host, stages.bundles()), stages.threads(), stages.sharedBytes()};
  shape.mode = LaunchMode::Early;
  kernels.launch(host, "fill_stages", operands, shape,
                 [&](ImplicitLocOpBuilder &b, const IRMapping &mapping) {
                   StageFillerTables tables{mapping.lookup(entries), mapping.lookup(ranked),
                                            mapping.lookup(tiles),   mapping.lookup(workers),
                                            mapping.lookup(records), mapping.lookup(rows),
                                            mapping.lookup(order)};
                   StageFiller(b, stages, tables).emit(b);
                 });
}

SmallVector<Value> StagePlanner::emit() {
  rankRows();
  fillStages();
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
  return hasInt32Blocks(host, op.getValues(), /*perRow=*/1);
}

Value mlir::blocksparse::device::hasInt32Blocks(ImplicitLocOpBuilder &host, Value values,
                                                int64_t perRow) {
  auto type = cast<MemRefType>(values.getType());
  const int64_t axis = type.getRank() - 3;
  if (!type.isDynamicDim(axis))
    return arith::ConstantIntOp::create(host, host.getI1Type(), 1);
  Value blocks = memrefDim(host, values, axis);
  const int64_t most = std::numeric_limits<int32_t>::max() / (type.getDimSize(axis + 1) * perRow);
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
