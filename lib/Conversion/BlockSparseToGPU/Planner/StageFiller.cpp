// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "StageFiller.h"

#include "../../Device/Loops.h"
#include "../../Device/Warp.h"
#include "RowRanker.h"
#include "WarpWork.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;
using ::blocksparse::RunTimeStageMemory;
using ::blocksparse::RunTimeStages;
using ::blocksparse::StageTileTable;
using ::blocksparse::StreamRecordTable;
using ::blocksparse::StreamWord;
using ::blocksparse::WgmmaRecordTable;

static constexpr int64_t wordBytes = SharedWords::wordBytes;
/// Entries that a lane loads before it offers them.
static constexpr int64_t entriesTogether = 4;
/// Marks a place without a block.
static constexpr int64_t none = std::numeric_limits<int32_t>::max();

StageFiller::StageFiller(ImplicitLocOpBuilder &b, const RunTimeStages &stages,
                         const RowSource &source, const StageFillerTables &tables)
    : stages(stages), memory(stages), shared(b), source(source), tiles(tables.tiles),
      workers(tables.workers), records(tables.records), rows(tables.rows), order(tables.order) {
  thread = toInt(b, gpu::ThreadIdOp::create(b, gpu::Dimension::x));
  warp = makeUniform(b, Int(b, thread) / warpSize);
  lane = Int(b, thread) % warpSize;
  bundle = toInt(b, gpu::BlockIdOp::create(b, gpu::Dimension::x));
  RowRanker(b, stages, source, thread, bundle).emit(b);
  firstBlock = single(b, memory.numBefore);
  blocks = single(b, memory.numBlocks);
  // Rows that overlap may have more entries than there are.
  fits = compare(b, arith::CmpIPredicate::sge, source.capacity(b), Int(b, firstBlock) + blocks);
}

Value StageFiller::word(ImplicitLocOpBuilder &b, int64_t part, Value index) const {
  return shared.load(b, part, index);
}

void StageFiller::setWord(ImplicitLocOpBuilder &b, int64_t part, Value index, Value value) const {
  shared.store(b, part, index, value);
}

Value StageFiller::single(ImplicitLocOpBuilder &b, int64_t part) const {
  return word(b, part, constant(b, 0));
}

void StageFiller::forEach(ImplicitLocOpBuilder &b, Value number,
                          function_ref<void(ImplicitLocOpBuilder &, Value)> body) const {
  emitLoop(b, thread, number, constant(b, stages.threads()), body);
}

std::pair<Value, Value> StageFiller::foundAt(ImplicitLocOpBuilder &b, Value row,
                                             Value panel) const {
  Value value = word(b, memory.found, placeOf(b, row, panel));
  return {value, compare(b, arith::CmpIPredicate::ne, value, constant(b, none))};
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
    Value tile = word(b, memory.tile, row);
    if (slabs == 1)
      return rows.store(b, tile, bundle, row);
    for (int64_t slab = 0; slab < slabs; ++slab) {
      Value group = Int(b, bundle) * stages.bundleGroups() + slab / size;
      rows.store(b, Int(b, tile) * slabs + slab, group, slab % size);
    }
  });
}

void StageFiller::clear(ImplicitLocOpBuilder &b) const {
  forEach(b, constant(b, stages.placesOfBundle()), [&](ImplicitLocOpBuilder &b, Value place) {
    setWord(b, memory.found, place, constant(b, none));
  });
  forEach(
      b, constant(b, (memory.tile - memory.left) / wordBytes),
      [&](ImplicitLocOpBuilder &b, Value row) { setWord(b, memory.left, row, constant(b, 0)); });
}

Value StageFiller::blocksLeft(ImplicitLocOpBuilder &b) const {
  Value zero = constant(b, 0);
  return emitFold(b, zero, constant(b, stages.bundleRows()), constant(b, 1), zero,
                  [&](ImplicitLocOpBuilder &b, Value row, Value any) -> Value {
                    return arith::OrIOp::create(b, any, word(b, memory.left, row));
                  });
}

void StageFiller::offerBlock(ImplicitLocOpBuilder &b, Value row,
                             const RowSource::Entry &block) const {
  Value valid = both(b, isInside(b, block.panel, constant(b, stages.denseBlocks)),
                     isInside(b, block.value, source.capacity(b)));
  emitIf(b, valid, [&](ImplicitLocOpBuilder &b) {
    Value place = placeOf(b, row, block.panel);
    Value isNext = isLess(b, word(b, memory.taken, place), block.value);
    emitIf(b, isNext, [&](ImplicitLocOpBuilder &b) {
      Value before = shared.update(b, memory.found, place, LLVM::AtomicBinOp::min, block.value);
      // Two blocks may have the same place: this pass takes one and leaves the other to the next.
      Value taken = compare(b, arith::CmpIPredicate::ne, before, constant(b, none));
      emitIf(b, taken, [&](ImplicitLocOpBuilder &b) {
        shared.update(b, memory.left, row, LLVM::AtomicBinOp::max, constant(b, 1));
      });
    });
  });
}

void StageFiller::offerEntries(ImplicitLocOpBuilder &b, Value row, Value first, Value end) const {
  // The loads of all entries are under way before the first one is waited for.
  SmallVector<RowSource::Entry> loaded;
  for (int64_t i = 0; i < entriesTogether; ++i) {
    Value position = Int(b, first) + i * warpSize;
    loaded.push_back(source.entry(b, select(b, isLess(b, position, end), position, first)));
  }
  for (auto [i, entry] : llvm::enumerate(loaded)) {
    Value position = Int(b, first) + static_cast<int64_t>(i) * warpSize;
    emitIf(b, isLess(b, position, end),
           [&, entry = entry](ImplicitLocOpBuilder &b) { offerBlock(b, row, entry); });
  }
}

void StageFiller::offer(ImplicitLocOpBuilder &b) const {
  Value zero = constant(b, 0), bundleRows = constant(b, stages.bundleRows());
  emitIf(b, fits, [&](ImplicitLocOpBuilder &b) {
    if (source.getKind() == RowSource::Kind::Columns)
      return forEachColumn(b, source, thread, stages.threads(),
                           [&](ImplicitLocOpBuilder &b, Value block, Value column) {
                             Value isColumn = isInside(b, column, constant(b, stages.tiles));
                             Value row = word(b, memory.lengths, select(b, isColumn, column, zero));
                             emitIf(b, both(b, isColumn, isInside(b, row, bundleRows)),
                                    [&](ImplicitLocOpBuilder &b) {
                                      offerBlock(b, row, {source.rowOf(b, block), block});
                                    });
                           });
    emitLoop(
        b, warp, bundleRows, constant(b, stages.warps()), [&](ImplicitLocOpBuilder &b, Value row) {
          Value first = word(b, memory.first, row);
          Value end = Int(b, first) + word(b, memory.count, row);
          emitLoop(b, Int(b, first) + lane, end, constant(b, entriesTogether * warpSize),
                   [&](ImplicitLocOpBuilder &b, Value entry) { offerEntries(b, row, entry, end); });
        });
  });
}

Value StageFiller::blocksOf(ImplicitLocOpBuilder &b, Value panel) const {
  Value zero = constant(b, 0), one = constant(b, 1);
  return emitFold(b, zero, constant(b, stages.bundleRows()), one, zero,
                  [&](ImplicitLocOpBuilder &b, Value row, Value sum) -> Value {
                    Value there = foundAt(b, row, panel).second;
                    return Int(b, sum) + select(b, there, one, zero);
                  });
}

void StageFiller::listPanels(ImplicitLocOpBuilder &b) const {
  // One word sums both numbers: panels in its upper half, blocks in its lower half.
  constexpr int64_t onePanel = ::blocksparse::maxBundleBlocks + 1;
  Value zero = constant(b, 0), panels = constant(b, stages.denseBlocks);
  // Each thread has one panel in a turn.
  auto listTurn = [&](ImplicitLocOpBuilder &b, Value first, Value sum) -> Value {
    Value panel = Int(b, first) + thread;
    Value number = emitChoice(
        b, isLess(b, panel, panels), [&](ImplicitLocOpBuilder &b) { return blocksOf(b, panel); },
        [&](ImplicitLocOpBuilder &b) { return constant(b, 0); });
    Value has = compare(b, arith::CmpIPredicate::ne, number, zero);
    Value own = Int(b, number) + select(b, has, constant(b, onePanel), zero);
    const ThreadSums sums = sumOverThreads(b, shared, memory.sums, thread, stages.threads(), own);
    emitIf(b, has, [&](ImplicitLocOpBuilder &b) {
      Value begin = Int(b, sum) + sums.before;
      Value index = Int(b, begin) / onePanel;
      setWord(b, memory.used, index, panel);
      setWord(b, memory.before, index, Int(b, begin) % onePanel);
    });
    // The next turn overwrites the sums.
    emitBarrier(b);
    return Int(b, sum) + sums.total;
  };
  Value total = emitFold(b, zero, panels, constant(b, stages.threads()), zero, listTurn);
  emitIf(b, isEqual(b, thread, zero), [&](ImplicitLocOpBuilder &b) {
    Value number = Int(b, total) / onePanel;
    setWord(b, memory.numUsed, zero, number);
    setWord(b, memory.before, number, Int(b, total) % onePanel);
  });
}

Value StageFiller::walk(ImplicitLocOpBuilder &b, Value first, Value number) const {
  return emitFold(
      b, constant(b, 0), number, constant(b, 1), first,
      [&](ImplicitLocOpBuilder &b, Value, Value at) { return word(b, memory.next, at); });
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
  Value isFirst = isEqual(b, thread, zero);
  emitIf(b, isFirst, [&](ImplicitLocOpBuilder &b) { setWord(b, memory.next, numUsed, numUsed); });
  emitBarrier(b);
  constexpr int64_t jump = RunTimeStageMemory::recordsOfJump;
  forEach(b, numUsed, [&](ImplicitLocOpBuilder &b, Value first) {
    setWord(b, memory.jumps, first, walk(b, first, constant(b, jump)));
  });
  emitBarrier(b);
  emitIf(b, isFirst, [&](ImplicitLocOpBuilder &b) {
    Type word32 = b.getI32Type();
    auto jumps = scf::WhileOp::create(
        b, TypeRange{word32, word32}, ValueRange{zero, zero},
        [&](OpBuilder &builder, Location loc, ValueRange at) {
          ImplicitLocOpBuilder b(loc, builder);
          scf::ConditionOp::create(b, isLess(b, at[0], numUsed), at);
        },
        [&](OpBuilder &builder, Location loc, ValueRange at) {
          ImplicitLocOpBuilder b(loc, builder);
          setWord(b, memory.starts, at[1], at[0]);
          Value next = word(b, memory.jumps, at[0]);
          scf::YieldOp::create(b, ValueRange{next, Int(b, at[1]) + 1});
        });
    setWord(b, memory.numStarts, zero, jumps.getResult(1));
    setWord(b, memory.numRecords, zero, zero);
  });
  emitBarrier(b);
  Value most = Int(b, single(b, memory.numStarts)) * jump;
  forEach(b, most, [&](ImplicitLocOpBuilder &b, Value record) {
    Value start = word(b, memory.starts, Int(b, record) / jump);
    Value first = walk(b, start, Int(b, record) % jump);
    emitIf(b, isLess(b, first, numUsed), [&](ImplicitLocOpBuilder &b) {
      setWord(b, memory.cuts, record, first);
      Value next = word(b, memory.next, first);
      emitIf(b, isEqual(b, next, numUsed), [&](ImplicitLocOpBuilder &b) {
        Value number = Int(b, record) + 1;
        setWord(b, memory.cuts, number, numUsed);
        setWord(b, memory.numRecords, zero, number);
      });
    });
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
  emitLoop(b, warp, single(b, memory.numRecords), constant(b, stages.warps()),
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
  forEach(b, constant(b, stages.placesOfBundle()), [&](ImplicitLocOpBuilder &b, Value place) {
    setWord(b, memory.taken, place, word(b, memory.found, place));
  });
}

Value StageFiller::recordsOfPass(ImplicitLocOpBuilder &b) const {
  if (stages.isStream())
    return single(b, memory.numRecords);
  return Int(b, single(b, memory.numUsed)) * stages.recordsOfBlock();
}

void StageFiller::writeEnds(ImplicitLocOpBuilder &b, const Progress &progress) const {
  emitIf(b, fits, [&](ImplicitLocOpBuilder &b) {
    for (int64_t group = 0; group < stages.bundleGroups(); ++group) {
      Value end = Int(b, firstRecord(b, group)) + progress.records;
      forEach(b, constant(b, stages.recordInts()), [&](ImplicitLocOpBuilder &b, Value column) {
        records.store(b, constant(b, 0), end, column);
      });
    }
  });
}

void StageFiller::fillOrder(ImplicitLocOpBuilder &b, const Progress &progress) const {
  Value capacity = source.capacity(b), end = indexMin(b, Int(b, firstBlock) + blocks, capacity);
  Value isLast = isEqual(b, bundle, constant(b, stages.bundles() - 1));
  Value first = Int(b, firstBlock) + progress.blocks;
  emitLoop(b, Int(b, first) + thread, select(b, isLast, capacity, end),
           constant(b, stages.threads()),
           [&](ImplicitLocOpBuilder &b, Value at) { order.store(b, constant(b, 0), at); });
}

Value StageFiller::firstTileOf(ImplicitLocOpBuilder &b, Value worker) const {
  const int64_t whole = stages.numTiles() / stages.workers,
                rest = stages.numTiles() % stages.workers;
  // The workers that are first in the last round have one tile more.
  Value longer = stages.order.mirrorsRounds && whole % 2 != 0
                     ? indexMax(b, Int(b, worker) - (stages.workers - rest), constant(b, 0))
                     : indexMin(b, worker, constant(b, rest));
  return Int(b, worker) * whole + longer;
}

/// The order is that of getWorker, matrix after matrix.
void StageFiller::writeTile(ImplicitLocOpBuilder &b, Value group, Value number, Value first,
                            Value count) const {
  const int64_t all = stages.groups(), columns = stages.space.columnTiles;
  const ::blocksparse::TileOrder &tileOrder = stages.order;
  const int64_t most = stages.grid().groupsOfBlock(), together = tileOrder.together;
  Value zero = constant(b, 0);
  auto isOdd = [&](Value value) {
    return compare(b, arith::CmpIPredicate::ne, Int(b, value) % 2, zero);
  };
  auto [matrix, column] = divide(b, number, columns);
  auto [batch, head] = divide(b, matrix, stages.space.heads);
  auto [turn, side] = divide(b, column, together);
  Value inBlock = divide(b, group, most).second;
  Value firstGroup = Int(b, group) - inBlock;
  // The last block may be smaller.
  Value size = indexMin(b, constant(b, most), Int(b, constant(b, all)) - firstGroup);
  if (tileOrder.mirrorsTurns)
    inBlock = select(b, isOdd(turn), Int(b, Int(b, size) - 1) - inBlock, inBlock);
  Value before = Int(b, Int(b, matrix) * all + firstGroup) * columns;
  Value position = Int(b, Int(b, Int(b, turn) * size + inBlock) * together + before) + side;
  auto [round, worker] = divide(b, position, stages.workers);
  if (tileOrder.mirrorsRounds)
    worker = select(b, isOdd(round), Int(b, constant(b, stages.workers - 1)) - worker, worker);
  tiles.storeRow(b, Int(b, firstTileOf(b, worker)) + round,
                 makeRow<StageTileTable>({{StageTileTable::Group, group},
                                          {StageTileTable::ColumnTile, column},
                                          {StageTileTable::First, first},
                                          {StageTileTable::Count, count},
                                          {StageTileTable::Batch, batch},
                                          {StageTileTable::Head, head},
                                          {StageTileTable::Unused0, zero},
                                          {StageTileTable::Unused1, zero}}));
}

void StageFiller::writeTiles(ImplicitLocOpBuilder &b, const Progress &progress) const {
  for (int64_t inBundle = 0; inBundle < stages.bundleGroups(); ++inBundle) {
    Value first = select(b, fits, firstRecord(b, inBundle), constant(b, 0));
    Value group = Int(b, bundle) * stages.bundleGroups() + inBundle;
    forEach(b, constant(b, stages.tilesOfGroup()), [&](ImplicitLocOpBuilder &b, Value number) {
      writeTile(b, group, number, first, progress.records);
    });
  }
  emitIf(b, isEqual(b, bundle, constant(b, 0)), [&](ImplicitLocOpBuilder &b) {
    forEach(b, constant(b, stages.workers + 1), [&](ImplicitLocOpBuilder &b, Value worker) {
      workers.store(b, firstTileOf(b, worker), worker);
    });
  });
}

void StageFiller::emit(ImplicitLocOpBuilder &b) const {
  writeSlabs(b);
  forEach(b, constant(b, stages.placesOfBundle()), [&](ImplicitLocOpBuilder &b, Value place) {
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
        emitIf(b, compare(b, arith::CmpIPredicate::ne, left, zero), [&](ImplicitLocOpBuilder &b) {
          keepTaken(b);
          emitBarrier(b);
        });
        scf::YieldOp::create(b, ValueRange{made, placed, left});
      });
  const Progress made{passes.getResult(0), passes.getResult(1)};
  writeEnds(b, made);
  if (stages.isStream())
    fillOrder(b, made);
  writeTiles(b, made);
}
