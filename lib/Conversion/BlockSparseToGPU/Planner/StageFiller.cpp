// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "StageFiller.h"

#include "../../Device/Loops.h"
#include "../../Device/Warp.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <limits>

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;
using ::blocksparse::GroupRecordsTable;
using ::blocksparse::RankedRowTable;
using ::blocksparse::RunTimeStages;
using ::blocksparse::StreamRecordTable;
using ::blocksparse::StreamWord;
using ::blocksparse::WgmmaRecordTable;

static constexpr int64_t wordBytes = 4, warps = RunTimeStages::threads / warpSize;
/// Marks a place without a block.
static constexpr int64_t none = std::numeric_limits<int32_t>::max();

static Value constant(ImplicitLocOpBuilder &b, int64_t value) { return i32Constant(b, value); }

static Value compare(ImplicitLocOpBuilder &b, arith::CmpIPredicate predicate, Value lhs,
                     Value rhs) {
  return arith::CmpIOp::create(b, predicate, lhs, rhs);
}
static Value isLess(ImplicitLocOpBuilder &b, Value lhs, Value rhs) {
  return compare(b, arith::CmpIPredicate::slt, lhs, rhs);
}
static Value select(ImplicitLocOpBuilder &b, Value condition, Value yes, Value no) {
  return arith::SelectOp::create(b, condition, yes, no);
}

/// Returns the sum of `value` (i32) over the lanes up to this one.
static Value sumUpTo(ImplicitLocOpBuilder &b, Value value) {
  for (int64_t distance = 1; distance < warpSize; distance *= 2) {
    auto other = gpu::ShuffleOp::create(b, value, static_cast<int32_t>(distance), warpSize,
                                        gpu::ShuffleMode::UP);
    Value sum = Int(b, value) + other.getShuffleResult();
    value = select(b, other.getValid(), sum, value);
  }
  return value;
}

/// Returns `value` of the last lane in all lanes.
static Value ofLastLane(ImplicitLocOpBuilder &b, Value value) {
  return gpu::ShuffleOp::create(b, value, static_cast<int32_t>(warpSize - 1), warpSize,
                                gpu::ShuffleMode::IDX)
      .getShuffleResult();
}

StageFiller::StageFiller(ImplicitLocOpBuilder &b, const RunTimeStages &stages,
                         const StageFillerTables &tables)
    : stages(stages), memory(stages), shared(SharedMemory::get(b)), entries(tables.entries),
      ranked(tables.ranked), records(tables.records), rows(tables.rows), order(tables.order),
      groups(tables.groups), segments(tables.segments, tables.entries) {
  auto toInt = [&](Value index) -> Value {
    return arith::IndexCastOp::create(b, b.getI32Type(), index);
  };
  thread = toInt(gpu::ThreadIdOp::create(b, gpu::Dimension::x));
  warp = makeUniform(b, Int(b, thread) / warpSize);
  lane = Int(b, thread) % warpSize;
  bundle = toInt(gpu::BlockIdOp::create(b, gpu::Dimension::x));
  Value first = Int(b, bundle) * stages.bundleRows();
  firstBlock = ranked.load(b, first, RankedRowTable::Before);
  Value end = ranked.load(b, Int(b, first) + stages.bundleRows(), RankedRowTable::Before);
  // Segments that overlap may have more entries than there are.
  fits = compare(b, arith::CmpIPredicate::sge, entries.rows(b), end);
  blocks = Int(b, end) - firstBlock;
}

Value StageFiller::word(ImplicitLocOpBuilder &b, int64_t part, Value index) const {
  return shared.load(b, b.getI32Type(), Int(b, index) * wordBytes + part, wordBytes);
}

void StageFiller::setWord(ImplicitLocOpBuilder &b, int64_t part, Value index, Value value) const {
  shared.store(b, value, Int(b, index) * wordBytes + part, wordBytes);
}

Value StageFiller::single(ImplicitLocOpBuilder &b, int64_t part) const {
  return word(b, part, constant(b, 0));
}

void StageFiller::forEach(ImplicitLocOpBuilder &b, Value number,
                          function_ref<void(ImplicitLocOpBuilder &, Value)> body) const {
  emitLoop(b, thread, number, constant(b, RunTimeStages::threads), body);
}

std::pair<Value, Value> StageFiller::foundAt(ImplicitLocOpBuilder &b, Value row,
                                             Value panel) const {
  Value value = word(b, memory.found, placeOf(b, row, panel));
  return {value, compare(b, arith::CmpIPredicate::ne, value, constant(b, none))};
}

Value StageFiller::segmentOf(ImplicitLocOpBuilder &b, Value row) const {
  Value place = Int(b, bundle) * stages.bundleRows() + row;
  return ranked.load(b, place, RankedRowTable::Segment);
}

Value StageFiller::firstRecord(ImplicitLocOpBuilder &b, int64_t number) const {
  const int64_t perBlock = stages.recordsOfBlock(), inBundle = stages.bundleGroups();
  Value before = Int(b, firstBlock) * (perBlock * inBundle) + Int(b, bundle) * inBundle;
  return Int(b, before) + Int(b, Int(b, blocks) * perBlock + 1) * number;
}

void StageFiller::writeSlabs(ImplicitLocOpBuilder &b) const {
  const int64_t slabs = stages.isStream() ? 1 : stages.slabs();
  const int64_t size = stages.groupSize();
  forEach(b, constant(b, stages.bundleRows()), [&](ImplicitLocOpBuilder &b, Value row) {
    Value segment = segmentOf(b, row);
    Value there = compare(b, arith::CmpIPredicate::sge, segment, constant(b, 0));
    Value tile = emitChoice(
        b, there,
        [&](ImplicitLocOpBuilder &b) { return segments.field(b, segment, SegmentTable::Tile); },
        [&](ImplicitLocOpBuilder &b) { return constant(b, -1); });
    if (slabs == 1)
      return rows.store(b, tile, bundle, row);
    for (int64_t slab = 0; slab < slabs; ++slab) {
      Value group = Int(b, bundle) * stages.bundleGroups() + slab / size;
      rows.store(b, Int(b, tile) * slabs + slab, group, slab % size);
    }
  });
}

void StageFiller::clear(ImplicitLocOpBuilder &b) const {
  forEach(b, constant(b, stages.bundleRows() * stages.denseBlocks),
          [&](ImplicitLocOpBuilder &b, Value place) {
            setWord(b, memory.found, place, constant(b, none));
          });
  forEach(
      b, constant(b, (memory.found - memory.left) / wordBytes),
      [&](ImplicitLocOpBuilder &b, Value row) { setWord(b, memory.left, row, constant(b, 0)); });
}

Value StageFiller::blocksLeft(ImplicitLocOpBuilder &b) const {
  Value zero = constant(b, 0);
  return emitFold(b, zero, constant(b, stages.bundleRows()), constant(b, 1), zero,
                  [&](ImplicitLocOpBuilder &b, Value row, Value any) -> Value {
                    return arith::OrIOp::create(b, any, word(b, memory.left, row));
                  });
}

void StageFiller::offer(ImplicitLocOpBuilder &b) const {
  Value zero = constant(b, 0), capacity = entries.rows(b);
  auto update = [&](ImplicitLocOpBuilder &b, int64_t part, Value index, LLVM::AtomicBinOp kind,
                    Value value) -> Value {
    return LLVM::AtomicRMWOp::create(b, kind, shared.at(b, Int(b, index) * wordBytes, part), value,
                                     LLVM::AtomicOrdering::monotonic);
  };
  auto offerEntry = [&](ImplicitLocOpBuilder &b, Value row, Value entry) {
    Value panel = entries.load(b, entry, EntryTable::Dense);
    Value value = entries.load(b, entry, EntryTable::Value);
    auto inside = [&](Value number, Value end) {
      return compare(b, arith::CmpIPredicate::ult, number, end);
    };
    Value valid = both(b, inside(panel, constant(b, stages.denseBlocks)), inside(value, capacity));
    emitIf(b, valid, [&](ImplicitLocOpBuilder &b) {
      Value place = placeOf(b, row, panel);
      emitIf(b, isLess(b, word(b, memory.taken, place), value), [&](ImplicitLocOpBuilder &b) {
        Value before = update(b, memory.found, place, LLVM::AtomicBinOp::min, value);
        // Two blocks may have the same place: this pass takes one and leaves the other to the next.
        Value taken = compare(b, arith::CmpIPredicate::ne, before, constant(b, none));
        emitIf(b, taken, [&](ImplicitLocOpBuilder &b) {
          update(b, memory.left, row, LLVM::AtomicBinOp::max, constant(b, 1));
        });
      });
    });
  };
  emitLoop(b, warp, constant(b, stages.bundleRows()), constant(b, warps),
           [&](ImplicitLocOpBuilder &b, Value row) {
             Value segment = segmentOf(b, row);
             Value there = compare(b, arith::CmpIPredicate::sge, segment, zero);
             emitIf(b, both(b, there, fits), [&](ImplicitLocOpBuilder &b) {
               Value first = segments.field(b, segment, SegmentTable::First);
               Value end = Int(b, first) + segments.count(b, segment);
               emitLoop(b, Int(b, first) + lane, end, constant(b, warpSize),
                        [&](ImplicitLocOpBuilder &b, Value entry) { offerEntry(b, row, entry); });
             });
           });
}

void StageFiller::count(ImplicitLocOpBuilder &b) const {
  forEach(b, constant(b, stages.denseBlocks), [&](ImplicitLocOpBuilder &b, Value panel) {
    Value zero = constant(b, 0), one = constant(b, 1);
    Value sum = emitFold(b, zero, constant(b, stages.bundleRows()), one, zero,
                         [&](ImplicitLocOpBuilder &b, Value row, Value sum) -> Value {
                           Value there = foundAt(b, row, panel).second;
                           return Int(b, sum) + select(b, there, one, zero);
                         });
    setWord(b, memory.counts, panel, sum);
  });
}

void StageFiller::listPanels(ImplicitLocOpBuilder &b) const {
  // One word sums both numbers: panels in its upper half, blocks in its lower half.
  constexpr int64_t onePanel = ::blocksparse::maxBundleBlocks + 1;
  Value zero = constant(b, 0), panels = constant(b, stages.denseBlocks);
  emitIf(b, isEqual(b, warp, zero), [&](ImplicitLocOpBuilder &b) {
    Value total =
        emitFold(b, zero, panels, constant(b, warpSize), zero,
                 [&](ImplicitLocOpBuilder &b, Value first, Value sum) -> Value {
                   Value panel = Int(b, first) + lane;
                   Value number = emitChoice(
                       b, isLess(b, panel, panels),
                       [&](ImplicitLocOpBuilder &b) { return word(b, memory.counts, panel); },
                       [&](ImplicitLocOpBuilder &b) { return constant(b, 0); });
                   Value has = compare(b, arith::CmpIPredicate::ne, number, zero);
                   Value own = Int(b, number) + select(b, has, constant(b, onePanel), zero);
                   Value end = sumUpTo(b, own);
                   emitIf(b, has, [&](ImplicitLocOpBuilder &b) {
                     Value begin = Int(b, Int(b, end) - own) + sum;
                     Value index = Int(b, begin) / onePanel;
                     setWord(b, memory.used, index, panel);
                     setWord(b, memory.before, index, Int(b, begin) % onePanel);
                   });
                   return Int(b, sum) + ofLastLane(b, end);
                 });
    emitIf(b, isEqual(b, lane, zero), [&](ImplicitLocOpBuilder &b) {
      Value number = Int(b, total) / onePanel;
      setWord(b, memory.numUsed, zero, number);
      setWord(b, memory.before, number, Int(b, total) % onePanel);
    });
  });
}

void StageFiller::cutRecords(ImplicitLocOpBuilder &b) const {
  Value zero = constant(b, 0), one = constant(b, 1);
  Value numUsed = single(b, memory.numUsed);
  forEach(b, numUsed, [&](ImplicitLocOpBuilder &b, Value first) {
    Value start = word(b, memory.before, first);
    Value next = emitFold(
        b, one, constant(b, stages.panels + 1), one, first,
        [&](ImplicitLocOpBuilder &b, Value panels, Value next) -> Value {
          Value end = Int(b, first) + panels;
          Value inside = compare(b, arith::CmpIPredicate::sle, end, numUsed);
          Value blocks = Int(b, word(b, memory.before, select(b, inside, end, first))) - start;
          Value few = compare(b, arith::CmpIPredicate::sle, blocks, constant(b, stages.places));
          return select(b, both(b, inside, few), end, next);
        });
    setWord(b, memory.next, first, next);
  });
  emitBarrier(b);
  emitIf(b, isEqual(b, thread, zero), [&](ImplicitLocOpBuilder &b) {
    Type word32 = b.getI32Type();
    auto walk = scf::WhileOp::create(
        b, TypeRange{word32, word32}, ValueRange{zero, zero},
        [&](OpBuilder &builder, Location loc, ValueRange at) {
          ImplicitLocOpBuilder b(loc, builder);
          scf::ConditionOp::create(b, isLess(b, at[0], numUsed), at);
        },
        [&](OpBuilder &builder, Location loc, ValueRange at) {
          ImplicitLocOpBuilder b(loc, builder);
          setWord(b, memory.cuts, at[1], at[0]);
          Value next = word(b, memory.next, at[0]);
          scf::YieldOp::create(b, ValueRange{next, Int(b, at[1]) + 1});
        });
    setWord(b, memory.cuts, walk.getResult(1), numUsed);
    setWord(b, memory.numRecords, zero, walk.getResult(1));
  });
}

void StageFiller::writeStreamHead(ImplicitLocOpBuilder &b, const RecordPart &part) const {
  const int64_t ints = stages.shape().headInts();
  emitIf(b, isLess(b, lane, constant(b, ints)), [&](ImplicitLocOpBuilder &b) {
    Value copy = Int(b, lane) - StreamRecordTable::FirstCopy;
    Value isCopy = both(b, compare(b, arith::CmpIPredicate::sge, copy, constant(b, 0)),
                        isLess(b, copy, part.panels));
    Value own = emitChoice(
        b, isCopy,
        [&](ImplicitLocOpBuilder &b) {
          return word(b, memory.used, Int(b, part.firstPanel) + copy);
        },
        [&](ImplicitLocOpBuilder &b) { return constant(b, 0); });
    const std::pair<int64_t, Value> fields[] = {{StreamRecordTable::First, part.place},
                                                {StreamRecordTable::Blocks, part.blocks},
                                                {StreamRecordTable::Panels, part.panels}};
    for (const auto &[field, value] : fields)
      own = select(b, isEqual(b, lane, constant(b, field)), value, own);
    records.store(b, own, part.row, lane);
  });
}

void StageFiller::writeWord(
    ImplicitLocOpBuilder &b, const RecordPart &part, Value has, Value bits, Value column,
    bool always, function_ref<std::pair<Value, Value>(ImplicitLocOpBuilder &, Value)> place) const {
  Value zero = constant(b, 0), one = constant(b, 1);
  Value number = select(b, has, bits, zero);
  SmallVector<Value> sums =
      emitCarry(b, zero, number, one, {zero, zero},
                [&](ImplicitLocOpBuilder &b, Value bit, ValueRange sums) -> SmallVector<Value> {
                  auto [row, panel] = place(b, bit);
                  Value there = foundAt(b, row, panel).second;
                  Value mask = arith::ShLIOp::create(b, one, bit);
                  return {Int(b, sums[0]) + select(b, there, mask, zero),
                          Int(b, sums[1]) + select(b, there, one, zero)};
                });
  Value mask = sums[0], count = sums[1];
  Value first = Int(b, sumUpTo(b, count)) - count;
  emitIf(b, has, [&](ImplicitLocOpBuilder &b) {
    Value own = Int(b, first) * (StreamWord::mask + 1) + mask;
    if (!always)
      own = select(b, isEqual(b, mask, zero), zero, own);
    records.store(b, own, part.row, column);
  });
  emitFold(b, zero, number, one, Int(b, part.place) + first,
           [&](ImplicitLocOpBuilder &b, Value bit, Value at) -> Value {
             auto [row, panel] = place(b, bit);
             auto [value, there] = foundAt(b, row, panel);
             emitIf(b, there,
                    [&, value = value](ImplicitLocOpBuilder &b) { order.store(b, value, at); });
             return Int(b, at) + select(b, there, one, zero);
           });
}

void StageFiller::writeWordsOfRows(ImplicitLocOpBuilder &b, const RecordPart &part) const {
  const ::blocksparse::StreamShape shape = stages.shape();
  // The words behind the last row are padding.
  const int64_t padded = shape.recordInts() - shape.headInts();
  Value isRow = isLess(b, lane, constant(b, stages.groupRows));
  Value column = Int(b, lane) + shape.headInts();
  auto place = [&](ImplicitLocOpBuilder &b, Value bit) {
    return std::pair<Value, Value>(lane, word(b, memory.used, Int(b, part.firstPanel) + bit));
  };
  writeWord(b, part, isRow, part.panels, column, /*always=*/true, place);
  if (padded == stages.groupRows)
    return;
  Value isPadding =
      both(b, compare(b, arith::CmpIPredicate::sge, lane, constant(b, stages.groupRows)),
           isLess(b, lane, constant(b, padded)));
  emitIf(b, isPadding,
         [&](ImplicitLocOpBuilder &b) { records.store(b, constant(b, 0), part.row, column); });
}

void StageFiller::writeWordsOfPanels(ImplicitLocOpBuilder &b, const RecordPart &part) const {
  const ::blocksparse::StreamShape shape = stages.shape();
  // The blocks of a panel are packed for both halves, then those of the next panel.
  Value panelBit = Int(b, lane) / 2, half = Int(b, lane) % 2;
  Value inRecord = isLess(b, panelBit, constant(b, shape.halfWords()));
  Value isUsed = isLess(b, panelBit, part.panels);
  Value column = Int(b, half) * shape.halfWords() + panelBit;
  column = Int(b, column) + shape.headInts();
  Value index = Int(b, part.firstPanel) + select(b, isUsed, panelBit, constant(b, 0));
  Value panel = word(b, memory.used, index);
  Value firstRow = Int(b, half) * (stages.groupRows / 2);
  auto place = [&](ImplicitLocOpBuilder &b, Value bit) {
    return std::pair<Value, Value>(Int(b, firstRow) + bit, panel);
  };
  Value bits = select(b, isUsed, constant(b, stages.groupRows / 2), constant(b, 0));
  writeWord(b, part, inRecord, bits, column, /*always=*/false, place);
}

void StageFiller::writeStreamRecords(ImplicitLocOpBuilder &b, const Progress &progress) const {
  Value base = Int(b, firstRecord(b, 0)) + progress.records;
  Value placed = Int(b, firstBlock) + progress.blocks;
  emitLoop(b, warp, single(b, memory.numRecords), constant(b, warps),
           [&](ImplicitLocOpBuilder &b, Value record) {
             RecordPart part;
             part.row = Int(b, base) + record;
             part.firstPanel = word(b, memory.cuts, record);
             Value end = word(b, memory.cuts, Int(b, record) + 1);
             Value begin = word(b, memory.before, part.firstPanel);
             part.panels = Int(b, end) - part.firstPanel;
             part.blocks = Int(b, word(b, memory.before, end)) - begin;
             part.place = Int(b, placed) + begin;
             writeStreamHead(b, part);
             if (stages.byPanel)
               writeWordsOfPanels(b, part);
             else
               writeWordsOfRows(b, part);
           });
}

void StageFiller::writeWgmmaRecords(ImplicitLocOpBuilder &b, const Progress &progress) const {
  constexpr int64_t slabRows = ::blocksparse::wgmmaSlabRows;
  const int64_t steps = stages.recordsOfBlock();
  Value zero = constant(b, 0);
  Value number = Int(b, single(b, memory.numUsed)) * steps;
  for (int64_t group = 0; group < stages.bundleGroups(); ++group) {
    Value base = Int(b, firstRecord(b, group)) + progress.records;
    forEach(b, number, [&](ImplicitLocOpBuilder &b, Value item) {
      Value divisor = constant(b, steps);
      Value panel = word(b, memory.used, b.createOrFold<arith::DivUIOp>(item, divisor));
      Value inBlock = Int(b, b.createOrFold<arith::RemUIOp>(item, divisor)) * slabRows;
      SmallVector<Value> row(WgmmaRecordTable::columns, zero);
      row[WgmmaRecordTable::K] = Int(b, panel) * stages.opDepth() + inBlock;
      for (int64_t half = 0; half < 2; ++half) {
        // Both halves of a bundle of one block row are slabs of it.
        const bool isPair = stages.bundleRows() == 2;
        const int64_t m = isPair ? 0 : (2 * group + half) * slabRows;
        auto [value, there] = foundAt(b, constant(b, isPair ? half : 0), panel);
        Value y = Int(b, value) * stages.block.rows;
        Value x = stages.transposeValues ? constant(b, m) : inBlock;
        y = stages.transposeValues ? Value(Int(b, y) + inBlock) : Value(Int(b, y) + m);
        row[WgmmaRecordTable::x(half)] = select(b, there, x, zero);
        row[WgmmaRecordTable::y(half)] = select(b, there, y, constant(b, -1));
      }
      records.storeRow(b, Int(b, base) + item, row);
    });
  }
}

void StageFiller::keepTaken(ImplicitLocOpBuilder &b) const {
  forEach(b, constant(b, stages.bundleRows() * stages.denseBlocks),
          [&](ImplicitLocOpBuilder &b, Value place) {
            setWord(b, memory.taken, place, word(b, memory.found, place));
          });
}

Value StageFiller::recordsOfPass(ImplicitLocOpBuilder &b) const {
  if (stages.isStream())
    return single(b, memory.numRecords);
  return Int(b, single(b, memory.numUsed)) * stages.recordsOfBlock();
}

void StageFiller::finish(ImplicitLocOpBuilder &b, const Progress &progress) const {
  emitIf(b, fits, [&](ImplicitLocOpBuilder &b) {
    for (int64_t group = 0; group < stages.bundleGroups(); ++group) {
      Value end = Int(b, firstRecord(b, group)) + progress.records;
      forEach(b, constant(b, stages.recordInts()), [&](ImplicitLocOpBuilder &b, Value column) {
        records.store(b, constant(b, 0), end, column);
      });
    }
  });
  Value zero = constant(b, 0);
  emitIf(b, isEqual(b, thread, zero), [&](ImplicitLocOpBuilder &b) {
    for (int64_t group = 0; group < stages.bundleGroups(); ++group) {
      Value first = select(b, fits, firstRecord(b, group), zero);
      groups.storeRow(b, Int(b, bundle) * stages.bundleGroups() + group,
                      makeRow<GroupRecordsTable>({{GroupRecordsTable::First, first},
                                                  {GroupRecordsTable::Count, progress.records}}));
    }
  });
}

void StageFiller::emit(ImplicitLocOpBuilder &b) const {
  writeSlabs(b);
  forEach(b, constant(b, stages.bundleRows() * stages.denseBlocks),
          [&](ImplicitLocOpBuilder &b, Value place) {
            setWord(b, memory.taken, place, constant(b, -1));
          });
  Value zero = constant(b, 0), one = constant(b, 1);
  Type word32 = b.getI32Type();
  auto passes = scf::WhileOp::create(
      b, TypeRange{word32, word32, word32}, ValueRange{zero, zero, one},
      [&](OpBuilder &builder, Location loc, ValueRange state) {
        ImplicitLocOpBuilder b(loc, builder);
        scf::ConditionOp::create(b, compare(b, arith::CmpIPredicate::ne, state[2], zero), state);
      },
      [&](OpBuilder &builder, Location loc, ValueRange state) {
        ImplicitLocOpBuilder b(loc, builder);
        Progress progress{state[0], state[1]};
        clear(b);
        emitBarrier(b);
        offer(b);
        emitBarrier(b);
        count(b);
        emitBarrier(b);
        listPanels(b);
        emitBarrier(b);
        if (stages.isStream()) {
          cutRecords(b);
          emitBarrier(b);
          writeStreamRecords(b, progress);
        } else {
          writeWgmmaRecords(b, progress);
        }
        Value left = blocksLeft(b);
        Value made = Int(b, progress.records) + recordsOfPass(b);
        Value total = word(b, memory.before, single(b, memory.numUsed));
        Value placed = Int(b, progress.blocks) + total;
        keepTaken(b);
        emitBarrier(b);
        scf::YieldOp::create(b, ValueRange{made, placed, left});
      });
  finish(b, {passes.getResult(0), passes.getResult(1)});
}
