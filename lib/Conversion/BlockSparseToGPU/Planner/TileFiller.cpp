// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TileFiller.h"

#include "../../Device/Elements.h"
#include "../../Device/Loops.h"
#include "../../Device/Warp.h"
#include "../Kit/AsyncCopy.h"
#include "WarpWork.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;
using ::blocksparse::GatheredIndices;
using ::blocksparse::RunTimeTileCount;
using ::blocksparse::RunTimeTiles;
using ::blocksparse::SampledTile;
using ::blocksparse::SampledTileTable;
using ::blocksparse::subtileSize;

/// Entries that a lane loads before it looks at them.
static constexpr int64_t entriesTogether = 4;
static constexpr int64_t bitsPerWord = RunTimeTiles::bitsPerWord;

static Value orOf(ImplicitLocOpBuilder &b, Value lhs, Value rhs) {
  return arith::OrIOp::create(b, lhs, rhs);
}
static Value andOf(ImplicitLocOpBuilder &b, Value lhs, Value rhs) {
  return arith::AndIOp::create(b, lhs, rhs);
}
/// Returns the word in which bit `number` % 32 is set.
static Value bitOf(ImplicitLocOpBuilder &b, Value number) {
  return arith::ShLIOp::create(b, constant(b, 1), Int(b, number) % bitsPerWord);
}
static Value hasBit(ImplicitLocOpBuilder &b, Value word, Value bit) {
  return compare(b, arith::CmpIPredicate::ne, andOf(b, word, bit), constant(b, 0));
}
static Value countBits(ImplicitLocOpBuilder &b, Value word) {
  return LLVM::CtPopOp::create(b, b.getI32Type(), word);
}

TileFiller::TileFiller(ImplicitLocOpBuilder &b, const RunTimeTiles &plan,
                       const TileFillerTables &tables)
    : plan(plan), memory(plan), shared(b), out(tables.out), lut(tables.lut),
      segments(tables.segments), tiles(tables.tiles), workers(tables.workers),
      destinations(tables.destinations), counts(tables.counts), marks(tables.marks),
      columns(tables.columns), countMemory(tables.counts), markMemory(tables.marks) {
  thread = toInt(b, gpu::ThreadIdOp::create(b, gpu::Dimension::x));
  bundle = toInt(b, gpu::BlockIdOp::create(b, gpu::Dimension::x));
  entries = lut.rows(b);
}

//===----------------------------------------------------------------------===//
// Blocks of a bundle
//===----------------------------------------------------------------------===//

void TileFiller::forEach(ImplicitLocOpBuilder &b, Value number,
                         function_ref<void(ImplicitLocOpBuilder &, Value)> body) const {
  emitLoop(b, thread, number, constant(b, plan.threads()), body);
}

void TileFiller::emitInFirstThread(ImplicitLocOpBuilder &b,
                                   function_ref<void(ImplicitLocOpBuilder &)> body) const {
  emitIf(b, isEqual(b, thread, constant(b, 0)), body);
}

std::pair<Value, Value> TileFiller::segmentOf(ImplicitLocOpBuilder &b, Value row) const {
  Value first = segments.load(b, row, CoordinateSegmentTable::First);
  Value count = segments.load(b, row, CoordinateSegmentTable::Count);
  Value zero = constant(b, 0);
  auto isAtLeast = [&](Value number, Value least) {
    return compare(b, arith::CmpIPredicate::sge, number, least);
  };
  Value fits = both(b, both(b, isAtLeast(first, zero), isAtLeast(count, zero)),
                    both(b, isAtLeast(entries, first), isAtLeast(Int(b, entries) - first, count)));
  return {first, select(b, fits, count, zero)};
}

Value TileFiller::endOfRow(ImplicitLocOpBuilder &b, Value row) const {
  auto [first, count] = segmentOf(b, row);
  return Int(b, first) + count;
}

void TileFiller::forEachBlock(
    ImplicitLocOpBuilder &b, function_ref<void(ImplicitLocOpBuilder &, const Block &)> body) const {
  const int64_t threads = plan.threads();
  Value firstRow = Int(b, bundle) * plan.bundleRows(), first = constant(b, 0), end = entries;
  // The LUT is sorted by block rows of the pattern.
  if (!plan.form.swapsAB) {
    Value last =
        indexMin(b, Int(b, firstRow) + (plan.bundleRows() - 1), constant(b, plan.blockRows - 1));
    first = indexMax(b, segmentOf(b, firstRow).first, first);
    end = indexMin(b, endOfRow(b, last), entries);
  }
  auto readEntry = [&](ImplicitLocOpBuilder &b, Value entry) {
    Block block;
    block.row = lut.load(b, entry, CoordinateTable::BlockRow);
    block.col = lut.load(b, entry, CoordinateTable::BlockCol);
    block.value = lut.load(b, entry, CoordinateTable::Value);
    if (plan.form.swapsAB)
      std::swap(block.row, block.col);
    return block;
  };
  // The loads of all entries are under way before the first one is waited for.
  emitLoop(b, Int(b, first) + thread, end, constant(b, entriesTogether * threads),
           [&](ImplicitLocOpBuilder &b, Value start) {
             SmallVector<std::pair<Block, Value>> loaded;
             for (int64_t i = 0; i < entriesTogether; ++i) {
               Value entry = Int(b, start) + i * threads;
               Value there = isLess(b, entry, end);
               loaded.emplace_back(readEntry(b, select(b, there, entry, start)), there);
             }
             for (auto &[block, there] : loaded) {
               block.row = Int(b, block.row) - firstRow;
               Value valid = both(b, isInside(b, block.row, constant(b, plan.bundleRows())),
                                  isInside(b, block.col, constant(b, plan.blockCols)));
               const int64_t each = plan.blocksOfColumn();
               block.column = Int(b, block.col) / each;
               Value place = Int(b, block.row) * each + Int(b, block.col) % each;
               block.word = Int(b, place) * plan.columnWords() + Int(b, block.column) / bitsPerWord;
               block.bit = bitOf(b, block.column);
               emitIf(b, both(b, there, valid), [&](ImplicitLocOpBuilder &b) { body(b, block); });
             }
           });
}

/// Combines a word of a table in global memory with `value` atomically, and returns what it was
/// before. The warps of a CTA mark the places of one bundle together.
static Value update(ImplicitLocOpBuilder &b, Value table, LLVM::AtomicBinOp kind, Value value,
                    Value row, Value column) {
  constexpr int64_t wordBytes = SharedWords::wordBytes;
  const int64_t width = cast<MemRefType>(table.getType()).getDimSize(1);
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, table);
  Value word = Int(b, toIndex(b, row)) * width + toIndex(b, column);
  Value address = globalPointer(b, Int(b, base) + Int(b, word) * wordBytes);
  return LLVM::AtomicRMWOp::create(b, kind, address, value, LLVM::AtomicOrdering::monotonic);
}

Value TileFiller::takesPlaceTwice(ImplicitLocOpBuilder &b, const Block &block, int64_t pass) const {
  Value word = Int(b, block.word) + plan.firstMark(pass);
  Value before = update(b, markMemory, LLVM::AtomicBinOp::_or, block.bit, bundle, word);
  return hasBit(b, before, block.bit);
}

SmallVector<Value> TileFiller::sumOfThreads(ImplicitLocOpBuilder &b, ValueRange values) const {
  const int64_t warps = plan.threads() / warpSize;
  Value lane = Int(b, thread) % warpSize, warp = Int(b, thread) / warpSize;
  SmallVector<Value> ofWarp;
  for (Value value : values)
    ofWarp.push_back(sumOfLanes(b, value));
  emitIf(b, isEqual(b, lane, constant(b, 0)), [&](ImplicitLocOpBuilder &b) {
    for (auto [sum, value] : llvm::enumerate(ofWarp))
      shared.store(b, memory.sums, Int(b, warp) + static_cast<int64_t>(sum) * warps, value);
  });
  emitBarrier(b);
  Value isWarp = isLess(b, lane, constant(b, warps));
  Value other = select(b, isWarp, lane, constant(b, 0));
  SmallVector<Value> sums;
  for (size_t sum = 0; sum < values.size(); ++sum) {
    Value loaded = shared.load(b, memory.sums, Int(b, other) + static_cast<int64_t>(sum) * warps);
    sums.push_back(sumOfLanes(b, select(b, isWarp, loaded, constant(b, 0))));
  }
  return sums;
}

void TileFiller::emitColumns(ImplicitLocOpBuilder &b) const {
  const int64_t words = plan.columnWords();
  Value zero = constant(b, 0), one = constant(b, 1);
  forEach(b, constant(b, plan.firstMark(2)),
          [&](ImplicitLocOpBuilder &b, Value word) { marks.store(b, zero, bundle, word); });
  emitInFirstThread(b, [&](ImplicitLocOpBuilder &b) {
    counts.store(b, zero, bundle, RunTimeTileCount::Columns);
    counts.store(b, zero, bundle, RunTimeTileCount::Repeated);
  });
  emitBarrier(b);
  forEachBlock(b, [&](ImplicitLocOpBuilder &b, const Block &block) {
    emitIf(b, takesPlaceTwice(b, block, 0), [&](ImplicitLocOpBuilder &b) {
      update(b, countMemory, LLVM::AtomicBinOp::add, one, bundle,
             constant(b, RunTimeTileCount::Columns));
    });
  });
  emitBarrier(b);
  Value count = emitFold(b, thread, constant(b, words), constant(b, plan.threads()), zero,
                         [&](ImplicitLocOpBuilder &b, Value word, Value count) -> Value {
                           Value any =
                               emitFold(b, zero, constant(b, plan.blocksInColumn()), one, zero,
                                        [&](ImplicitLocOpBuilder &b, Value place, Value any) {
                                          Value mark = Int(b, place) * words + word;
                                          return orOf(b, any, marks.load(b, bundle, mark));
                                        });
                           marks.store(b, any, bundle, Int(b, word) + plan.firstMark(2));
                           return Int(b, count) + countBits(b, any);
                         });
  Value all = sumOfThreads(b, count).front();
  emitInFirstThread(b, [&](ImplicitLocOpBuilder &b) {
    Value repeated = counts.load(b, bundle, RunTimeTileCount::Columns);
    counts.store(b, Int(b, all) + repeated, bundle, RunTimeTileCount::Columns);
  });
}

//===----------------------------------------------------------------------===//
// Columns and tiles before a bundle
//===----------------------------------------------------------------------===//

Value TileFiller::countColumns(ImplicitLocOpBuilder &b, Value bundle) const {
  if (plan.sharesSubtiles())
    return counts.load(b, bundle, RunTimeTileCount::Columns);
  return Int(b, segmentOf(b, bundle).second) * plan.columnsOfBlock();
}

Value TileFiller::countTiles(ImplicitLocOpBuilder &b, Value columns) const {
  const int64_t most = plan.clusterColumns();
  return divide(b, Int(b, columns) + (most - 1), most).first;
}

void TileFiller::readColumns(ImplicitLocOpBuilder &b) const {
  const int64_t words = plan.columnWords();
  Value zero = constant(b, 0);
  // One warp sums up the columns of 32 words at a time.
  emitIf(b, isLess(b, thread, constant(b, warpSize)), [&](ImplicitLocOpBuilder &b) {
    emitFold(b, zero, constant(b, words), constant(b, warpSize), zero,
             [&](ImplicitLocOpBuilder &b, Value first, Value before) -> Value {
               Value word = Int(b, first) + thread;
               Value there = isLess(b, word, constant(b, words));
               Value bits = emitChoice(
                   b, there,
                   [&](ImplicitLocOpBuilder &b) {
                     return marks.load(b, bundle, Int(b, word) + plan.firstMark(2));
                   },
                   [&](ImplicitLocOpBuilder &b) { return constant(b, 0); });
               Value own = countBits(b, bits), end = sumUpTo(b, own);
               emitIf(b, there, [&](ImplicitLocOpBuilder &b) {
                 shared.store(b, memory.used, word, bits);
                 shared.store(b, memory.before, word, Int(b, before) + (Int(b, end) - own));
               });
               return Int(b, before) + readLane(b, end, constant(b, warpSize - 1));
             });
  });
}

TileFiller::Totals TileFiller::sumUp(ImplicitLocOpBuilder &b) const {
  Value zero = constant(b, 0), sweep = constant(b, plan.sweep);
  Value firstOfSweep = Int(b, bundle) - divide(b, bundle, plan.sweep).second;
  // All tiles, those before the sweep and the bundle, and the columns before the bundle.
  SmallVector<Value> sums(4, zero);
  sums = emitCarry(
      b, thread, constant(b, plan.bundles()), constant(b, plan.threads()), sums,
      [&](ImplicitLocOpBuilder &b, Value other, ValueRange sums) -> SmallVector<Value> {
        Value columns = countColumns(b, other), number = countTiles(b, columns);
        Value inSweep = Int(b, other) - firstOfSweep;
        emitIf(b, isInside(b, inSweep, sweep),
               [&](ImplicitLocOpBuilder &b) { shared.store(b, memory.sweep, inSweep, number); });
        Value inSweepBefore = isLess(b, other, firstOfSweep), isBefore = isLess(b, other, bundle);
        return {Int(b, sums[0]) + number, Int(b, sums[1]) + select(b, inSweepBefore, number, zero),
                Int(b, sums[2]) + select(b, isBefore, number, zero),
                Int(b, sums[3]) + select(b, isBefore, columns, zero)};
      });
  sums = sumOfThreads(b, sums);
  Value columns = countColumns(b, bundle);
  Totals totals{sums[0], sums[1], sums[2], countTiles(b, columns), sums[3], columns};
  // Segments that overlap may have more blocks than there are: they get no tiles.
  Value most = divide(b, Int(b, entries) * plan.columnsOfBlock(), plan.clusterColumns()).first;
  Value fits = compare(b, arith::CmpIPredicate::sle, totals.all, Int(b, most) + plan.bundles());
  totals.all = select(b, fits, totals.all, zero);
  totals.tiles = select(b, fits, totals.tiles, zero);
  totals.columns = select(b, fits, totals.columns, zero);
  return totals;
}

//===----------------------------------------------------------------------===//
// Blocks that share subtiles
//===----------------------------------------------------------------------===//

void TileFiller::listColumns(ImplicitLocOpBuilder &b, const Totals &totals) const {
  forEach(b, constant(b, plan.columns()), [&](ImplicitLocOpBuilder &b, Value column) {
    Value word = Int(b, column) / bitsPerWord, bit = bitOf(b, column);
    Value bits = shared.load(b, memory.used, word);
    emitIf(b, hasBit(b, bits, bit), [&](ImplicitLocOpBuilder &b) {
      Value below = countBits(b, andOf(b, bits, Int(b, bit) - 1));
      Value index = Int(b, shared.load(b, memory.before, word)) + below;
      columns.store(b, column, Int(b, totals.columnsBefore) + index);
    });
  });
  const int64_t width = ::blocksparse::destinationsPerTile(plan.block);
  forEach(b, Int(b, totals.tiles) * width, [&](ImplicitLocOpBuilder &b, Value place) {
    Value row = Int(b, totals.before) + Int(b, place) / width;
    destinations.store(b, constant(b, -1), row, Int(b, place) % width);
  });
}

Value TileFiller::placeOf(ImplicitLocOpBuilder &b, Value row, Value col) const {
  const int64_t wide = subtileSize / plan.block.cols, high = subtileSize / plan.block.rows;
  Value subtile = Int(b, Int(b, row) / high) * 4 + Int(b, col) / wide;
  return Int(b, subtile) * ::blocksparse::blocksPerSubtile(plan.block) +
         (Int(b, Int(b, row) % high) * wide + Int(b, col) % wide);
}

void TileFiller::writeDestinations(ImplicitLocOpBuilder &b, const Totals &totals) const {
  const int64_t each = plan.blocksOfColumn(), most = plan.tileColumns();
  Value lastWord = constant(b, plan.columnWords() - 1);
  Value marked = Int(b, shared.load(b, memory.before, lastWord)) +
                 countBits(b, shared.load(b, memory.used, lastWord));
  auto write = [&](ImplicitLocOpBuilder &b, const Block &block, Value index) {
    emitIf(b, isLess(b, index, totals.columns), [&](ImplicitLocOpBuilder &b) {
      Value inColumn = Int(b, block.col) % each;
      Value col = Int(b, Int(b, index) % most) * each + inColumn;
      destinations.store(b, block.value, Int(b, totals.before) + Int(b, index) / most,
                         placeOf(b, block.row, col));
    });
  };
  forEachBlock(b, [&](ImplicitLocOpBuilder &b, const Block &block) {
    Value twice = takesPlaceTwice(b, block, 1);
    Value index = emitChoice(
        b, twice,
        [&](ImplicitLocOpBuilder &b) -> Value {
          Value number = update(b, countMemory, LLVM::AtomicBinOp::add, constant(b, 1), bundle,
                                constant(b, RunTimeTileCount::Repeated));
          Value index = Int(b, marked) + number;
          emitIf(b, isLess(b, index, totals.columns), [&](ImplicitLocOpBuilder &b) {
            columns.store(b, block.column, Int(b, totals.columnsBefore) + index);
          });
          return index;
        },
        [&](ImplicitLocOpBuilder &b) -> Value {
          Value word = Int(b, block.column) / bitsPerWord;
          Value bits = shared.load(b, memory.used, word);
          return Int(b, shared.load(b, memory.before, word)) +
                 countBits(b, andOf(b, bits, Int(b, block.bit) - 1));
        });
    write(b, block, index);
  });
}

void TileFiller::setSharedColumns(ImplicitLocOpBuilder &b, const Totals &totals, Value first,
                                  MutableArrayRef<Value> tile) const {
  const int64_t most = plan.tileColumns();
  Value zero = constant(b, 0);
  SmallVector<Value> listed, there;
  for (int64_t i = 0; i < most; ++i) {
    Value index = Int(b, first) + i;
    there.push_back(isLess(b, index, totals.columns));
    Value known = select(b, there.back(), index, first);
    listed.push_back(columns.load(b, Int(b, totals.columnsBefore) + known));
  }
  if (!plan.form.gathersColumns) {
    for (int64_t i = 0; i < most; ++i)
      tile[SampledTileTable::FirstCol + i] =
          select(b, there[i], Int(b, listed[i]) * subtileSize, constant(b, -1));
    return;
  }
  for (int64_t i = 0; i < most; i += GatheredIndices::perWord)
    tile[SampledTileTable::BlockCols + i / GatheredIndices::perWord] =
        Int(b, listed[i + 1]) * (GatheredIndices::mask + 1) + listed[i];
  Value number = Int(b, totals.columns) - first;
  tile[SampledTileTable::NumBlockCols] = indexMin(b, number, constant(b, most));
  const int64_t wide = subtileSize / plan.block.cols;
  Value contiguous = zero;
  for (int64_t subtile = 0; subtile < most / wide; ++subtile) {
    Value all = there[(subtile + 1) * wide - 1];
    for (int64_t i = subtile * wide; i + 1 < (subtile + 1) * wide; ++i)
      all = both(b, all, isEqual(b, listed[i + 1], Int(b, listed[i]) + 1));
    contiguous = orOf(b, contiguous, select(b, all, constant(b, 1 << subtile), zero));
  }
  tile[SampledTileTable::Contiguous] = contiguous;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

void TileFiller::setOwnColumns(ImplicitLocOpBuilder &b, const Totals &totals, Value first,
                               Value rowTile, MutableArrayRef<Value> tile) const {
  Value none = constant(b, -1), firstEntry = segmentOf(b, bundle).first;
  for (int64_t i = 0; i < plan.tileColumns(); ++i) {
    Value index = Int(b, first) + i;
    Value there = isLess(b, index, totals.columns);
    auto [block, part] = divide(b, select(b, there, index, constant(b, 0)), plan.columnsOfBlock());
    Value entry = Int(b, firstEntry) + block;
    // A tile without columns has no entry to read.
    SmallVector<Value> at = emitChoices(
        b, there,
        [&](ImplicitLocOpBuilder &b) -> SmallVector<Value> {
          return {lut.load(b, entry, CoordinateTable::BlockCol),
                  lut.load(b, entry, CoordinateTable::Value)};
        },
        [&](ImplicitLocOpBuilder &b) -> SmallVector<Value> {
          return {constant(b, -1), constant(b, -1)};
        });
    Value valid = isInside(b, at[0], constant(b, plan.blockCols));
    Value col = Int(b, at[0]) * plan.block.cols + Int(b, part) * subtileSize;
    Value row = Int(b, at[1]) * plan.block.rows + Int(b, rowTile) * plan.tileRows();
    Value destination = Int(b, row) * SampledTile::destinationsPerRow + part;
    tile[SampledTileTable::FirstCol + i] = select(b, valid, col, none);
    tile[SampledTileTable::Destination + i] = select(b, valid, destination, none);
    if (plan.hasHalves())
      tile[SampledTileTable::Destination + 4 + i] = select(
          b, valid, Int(b, destination) + subtileSize * SampledTile::destinationsPerRow, none);
  }
}

Value TileFiller::positionOf(ImplicitLocOpBuilder &b, const Totals &totals, Value number,
                             Value rowTile) const {
  Value zero = constant(b, 0), one = constant(b, 1);
  auto [sweep, own] = divide(b, bundle, plan.sweep);
  // The last sweep may be smaller.
  Value size = indexMin(b, constant(b, plan.sweep),
                        Int(b, constant(b, plan.bundles())) - Int(b, sweep) * plan.sweep);
  Value before = emitFold(b, zero, size, one, totals.beforeSweep,
                          [&, own = own](ImplicitLocOpBuilder &b, Value other, Value sum) -> Value {
                            Value tiles = shared.load(b, memory.sweep, other);
                            Value beside = both(b, isLess(b, other, own), isLess(b, number, tiles));
                            return Int(b, sum) + (Int(b, indexMin(b, tiles, number)) +
                                                  select(b, beside, one, zero));
                          });
  return Int(b, before) * plan.rowTiles() + rowTile;
}

std::pair<Value, Value> TileFiller::listOf(ImplicitLocOpBuilder &b, Value positions,
                                           Value cluster) const {
  auto [whole, rest] = divide(b, positions, plan.clusters());
  Value longer = isLess(b, cluster, rest);
  return {Int(b, cluster) * whole + indexMin(b, cluster, rest),
          Int(b, whole) + select(b, longer, constant(b, 1), constant(b, 0))};
}

void TileFiller::writeTiles(ImplicitLocOpBuilder &b, const Totals &totals) const {
  const int64_t cluster = plan.form.cluster, rowTiles = plan.rowTiles();
  Value none = constant(b, -1), zero = constant(b, 0);
  forEach(b, Int(b, totals.tiles) * plan.tilesTogether(), [&](ImplicitLocOpBuilder &b, Value item) {
    auto [ofRowTiles, rank] = divide(b, item, cluster);
    auto [number, rowTile] = divide(b, ofRowTiles, rowTiles);
    SmallVector<Value> tile(SampledTileTable::columns, zero);
    std::fill_n(tile.begin(), SampledTileTable::Batch, none);
    Value first = Int(b, Int(b, number) * cluster + rank) * plan.tileColumns();
    Value row =
        Int(b, bundle) * (plan.bundleRows() * plan.block.rows) + Int(b, rowTile) * plan.tileRows();
    tile[SampledTileTable::FirstRow] = row;
    if (plan.hasHalves())
      tile[SampledTileTable::FirstRow + 1] = Int(b, row) + subtileSize;
    if (plan.sharesSubtiles()) {
      tile[SampledTileTable::DestinationRow] = Int(b, totals.before) + number;
      setSharedColumns(b, totals, first, tile);
    } else {
      setOwnColumns(b, totals, first, rowTile, tile);
    }
    auto [turn, list] = divide(b, positionOf(b, totals, number, rowTile), plan.clusters());
    auto [start, length] = listOf(b, Int(b, totals.all) * rowTiles, list);
    Value at = Int(b, start) * cluster + Int(b, rank) * length;
    tiles.storeRow(b, Int(b, at) + turn, tile);
  });
}

void TileFiller::writeWorkers(ImplicitLocOpBuilder &b, const Totals &totals) const {
  const int64_t cluster = plan.form.cluster;
  emitIf(b, isEqual(b, bundle, constant(b, 0)), [&](ImplicitLocOpBuilder &b) {
    forEach(b, constant(b, plan.workers + 1), [&](ImplicitLocOpBuilder &b, Value worker) {
      auto [list, rank] = divide(b, worker, cluster);
      auto [start, length] = listOf(b, Int(b, totals.all) * plan.rowTiles(), list);
      workers.store(b, Int(b, start) * cluster + Int(b, rank) * length, worker);
    });
  });
}

void TileFiller::clearSpareBlocks(ImplicitLocOpBuilder &b) const {
  auto type = cast<MemRefType>(out.getType());
  const int64_t rows = type.getDimSize(1), cols = type.getDimSize(2);
  // The segments are those of block rows of the pattern.
  Value lastRow = Int(b, segments.rows(b)) - 1;
  Value end = indexMax(b, endOfRow(b, lastRow), constant(b, 0));
  emitLoop(b, Int(b, end) + bundle, entries, constant(b, plan.bundles()),
           [&](ImplicitLocOpBuilder &b, Value entry) {
             Value value = lut.load(b, entry, CoordinateTable::Value);
             emitIf(b, isInside(b, value, entries), [&](ImplicitLocOpBuilder &b) {
               forEach(b, constant(b, rows * cols), [&](ImplicitLocOpBuilder &b, Value element) {
                 auto [row, col] = divide(b, element, cols);
                 memref::StoreOp::create(
                     b, zeroElement(b, type.getElementType()), out,
                     ValueRange{toIndex(b, value), toIndex(b, row), toIndex(b, col)});
               });
             });
           });
}

void TileFiller::emitTiles(ImplicitLocOpBuilder &b) const {
  if (plan.sharesSubtiles())
    readColumns(b);
  Totals totals = sumUp(b);
  if (plan.sharesSubtiles()) {
    listColumns(b, totals);
    emitBarrier(b);
    writeDestinations(b, totals);
    emitBarrier(b);
  }
  writeTiles(b, totals);
  writeWorkers(b, totals);
  clearSpareBlocks(b);
}
