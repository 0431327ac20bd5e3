// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Changes every word of every table of Plan/Tables.h to numbers that are just wrong, negative or
// huge. A verifier must report each change, or the tables must still describe the same product.
// What they describe is read here a second time, as a kernel reads it, with every index checked.

#include "PlanTargets.h"
#include "RowProducts.h"
#include "SampledProducts.h"
#include "blocksparse/Plan/Balance.h"
#include "gtest/gtest.h"

#include <limits>
#include <map>
#include <set>
#include <tuple>

using namespace blocksparse;
using namespace blocksparse::test;

namespace {

constexpr int64_t most = std::numeric_limits<int64_t>::max();

/// Calls `visit` after each change of a word, and undoes it.
template <typename Row, typename Visit>
void damage(std::vector<Row> &rows, Visit visit) {
  auto *words = reinterpret_cast<int32_t *>(rows.data());
  const size_t count = rows.size() * sizeof(Row) / sizeof(int32_t);
  for (size_t i = 0; i < count; ++i) {
    const int32_t good = words[i];
    for (int64_t bad :
         {int64_t{-1}, int64_t{0}, int64_t{good} - 1, int64_t{good} + 1, int64_t{good} ^ 1 << 16,
          int64_t{100}, int64_t{1} << 30, int64_t{std::numeric_limits<int32_t>::max()},
          int64_t{std::numeric_limits<int32_t>::min()}}) {
      if (static_cast<int32_t>(bad) == good)
        continue;
      words[i] = static_cast<int32_t>(bad);
      SCOPED_TRACE("word " + std::to_string(i) + ": " + std::to_string(bad));
      visit();
    }
    words[i] = good;
  }
}

//===----------------------------------------------------------------------===//
// Look-up tables
//===----------------------------------------------------------------------===//

using Entries = std::vector<std::pair<int32_t, int32_t>>;
using TileEntries = std::map<std::pair<int32_t, int32_t>, Entries>;

/// Returns the entries of each (head, tile), or nothing if an index is out of range, a tile or slot
/// is written twice, or a tile is not written.
std::optional<TileEntries> readRows(const RowLutView &lut, const RowLutExtents &extents) {
  TileEntries tiles;
  std::map<int64_t, Entries> slots;
  std::set<int32_t> values;
  const int64_t count = lut.entries.size();
  for (const RowSegment &segment : lut.segments) {
    if (segment.first < 0 || segment.count < 0 || int64_t{segment.first} + segment.count > count)
      return std::nullopt;
    Entries entries;
    for (const RowEntry &entry : lut.entries.subspan(segment.first, segment.count)) {
      if (entry.dense < 0 || entry.dense >= extents.denseBlocks || entry.value < 0 ||
          entry.value >= extents.values || !values.insert(entry.value).second)
        return std::nullopt;
      entries.emplace_back(entry.dense, entry.value);
    }
    const bool isNew = segment.slot == -1
                           ? tiles.emplace(std::pair(segment.head, segment.tile), entries).second
                           : slots.emplace(segment.slot, entries).second;
    if (!isNew || segment.slot < -1 || segment.slot >= extents.slots)
      return std::nullopt;
  }
  for (const CombineRow &row : lut.combine) {
    Entries entries;
    for (int64_t s = row.firstSlot; s < int64_t{row.firstSlot} + row.slots; ++s) {
      const auto slot = slots.find(s);
      if (slot == slots.end())
        return std::nullopt;
      entries.insert(entries.end(), slot->second.begin(), slot->second.end());
    }
    if (!tiles.emplace(std::pair(row.head, row.tile), entries).second)
      return std::nullopt;
  }
  for (const auto &[tile, entries] : tiles)
    if (tile.first < 0 || tile.first >= extents.heads || tile.second < 0 ||
        tile.second >= extents.tiles)
      return std::nullopt;
  if (static_cast<int64_t>(tiles.size()) != extents.heads * extents.tiles ||
      static_cast<int64_t>(values.size()) != extents.values)
    return std::nullopt;
  return tiles;
}

std::vector<BlockLayout> someLayouts() {
  return {layoutOf({"1101", "0110", "1011", "0000", "1111"}), layoutC02(), layoutC04(),
          layoutOf(randomMask({2, 4, 3}, 5))};
}

TEST(DamagedTables, RowLut) {
  for (const BlockLayout &layout : someLayouts())
    for (int64_t split : {0, 2}) {
      RowLut lut = buildRowLut(layout, false);
      std::string error;
      BalancedRows rows = balanceSegments(lut.segments, {2, split}, error).value();
      const BlockGrid grid = layout.grid();
      const RowLutExtents extents{grid.heads, grid.rows, grid.cols, layout.nnz(), rows.slots};
      auto view = [&] { return RowLutView{rows.segments, lut.entries, rows.combine}; };
      const std::optional<TileEntries> good = readRows(view(), extents);
      ASSERT_TRUE(good);
      auto check = [&] {
        if (verifyRowTables(view(), extents).empty()) {
          EXPECT_TRUE(readRows(view(), extents));
        }
        if (verifyRowLut(layout, false, view(), rows.slots).empty()) {
          EXPECT_EQ(readRows(view(), extents), good);
        }
      };
      damage(rows.segments, check);
      damage(lut.entries, check);
      damage(rows.combine, check);
    }
}

TEST(DamagedTables, CoordinateLut) {
  using Blocks = std::multiset<std::tuple<int32_t, int32_t, int32_t, int32_t>>;
  for (const BlockLayout &layout : someLayouts()) {
    CoordinateLut lut = buildCoordinateLut(layout, CoordinateOrder::Columns);
    const BlockGrid grid = layout.grid();
    auto read = [&]() -> std::optional<Blocks> {
      Blocks blocks;
      const int64_t count = lut.lut.size();
      for (const CoordinateSegment &segment : lut.segments) {
        if (segment.first < 0 || segment.count < 0 ||
            int64_t{segment.first} + segment.count > count)
          return std::nullopt;
        for (int64_t r = segment.first; r < segment.first + segment.count; ++r)
          blocks.emplace(lut.lut[r].head, lut.lut[r].row, lut.lut[r].col, lut.lut[r].value);
      }
      return blocks;
    };
    const std::optional<Blocks> good = read();
    ASSERT_TRUE(good);
    auto check = [&] {
      const CoordinateLutExtents extents{grid.heads, grid.rows, grid.cols, layout.nnz()};
      if (verifyCoordinateLut(layout, lut.lut, lut.segments).empty()) {
        EXPECT_EQ(read(), good);
      }
      if (!verifyCoordinateTables(lut.lut, lut.segments, extents).empty())
        return;
      const std::optional<Blocks> blocks = read();
      ASSERT_TRUE(blocks);
      std::set<int32_t> values;
      for (const auto &[head, row, col, value] : *blocks) {
        EXPECT_TRUE(head >= 0 && head < grid.heads && row >= 0 && row < grid.rows && col >= 0 &&
                    col < grid.cols && value >= 0 && value < layout.nnz());
        EXPECT_TRUE(values.insert(value).second);
      }
      EXPECT_EQ(static_cast<int64_t>(values.size()), layout.nnz());
    };
    damage(lut.lut, check);
    damage(lut.segments, check);
  }
}

TEST(DamagedTables, HugeExtentsAllocateNothing) {
  const RowLut lut = buildRowLut(layoutOf({"11", "01"}), false);
  const RowLutView view{lut.segments, lut.entries, {}};
  EXPECT_EQ(verifyRowTables(view, {1, 2, 2, 3, 0}), "");
  EXPECT_EQ(verifyRowTables(view, {1, most, 2, 3, 0}),
            "expects an owner of tile 2 of head 0, but got none");
  EXPECT_EQ(verifyRowTables(view, {most, most, 2, 3, 0}),
            "expects an owner of tile 2 of head 0, but got none");
  EXPECT_EQ(verifyRowTables(view, {most, 2, 2, 3, 0}),
            "expects an owner of tile 0 of head 1, but got none");
  EXPECT_EQ(verifyRowTables(view, {1, 2, 2, most, 0}),
            "expects each of the 9223372036854775807 value blocks once, but got 3 entries");
  EXPECT_EQ(verifyRowTables(view, {1, 2, 2, 3, most}),
            "expects slot 0 to be combined once, but got it in no combine row");
  std::vector<RowSegment> segments = lut.segments;
  segments[1].slot = std::numeric_limits<int32_t>::max();
  const std::vector<CombineRow> combine{{1, 0, segments[1].slot, 1}};
  EXPECT_EQ(verifyRowTables({segments, lut.entries, combine}, {1, 2, 2, 3, most}),
            "expects slot 2147483647 to belong to tile 1 of head 0, but got a slot that no segment "
            "writes");
  const std::vector<BlockCoordinate> blocks = layoutOf({"11", "01"}).coordinates();
  EXPECT_EQ(verifyCoordinateTables(blocks, std::vector<CoordinateSegment>{{0, 3}},
                                   {most, most, most, most}),
            "expects each of the 9223372036854775807 value blocks once, but got 3 entries");
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

/// Holds, for each (batch, head, column tile, slab), what is multiplied: (k, x, y) of wgmma
/// records, (panel, value block, 0) of stream records.
using SlabWork = std::map<std::tuple<int32_t, int32_t, int32_t, int32_t>,
                          std::multiset<std::tuple<int64_t, int64_t, int64_t>>>;

/// Adds what a stream record multiplies in its row `row`.
void readStreamRow(const StreamShape &shape, std::span<const int32_t> words, int64_t row,
                   std::span<const int32_t> order,
                   std::multiset<std::tuple<int64_t, int64_t, int64_t>> &work) {
  auto add = [&](int64_t panel, int64_t packed) {
    const int64_t copy = words[StreamRecordTable::FirstCopy + panel / shape.panelsPerCopy];
    work.emplace(copy + panel % shape.panelsPerCopy,
                 order[words[StreamRecordTable::First] + packed], 0);
  };
  if (!shape.byPanel) {
    const int32_t word = words[shape.headInts() + row];
    int64_t packed = StreamWord::firstOf(word);
    for (int64_t panel = 0; panel < 16; ++panel)
      if (StreamWord::maskOf(word) >> panel & 1)
        add(panel, packed++);
    return;
  }
  const int64_t rows = shape.rows / 2, half = row / rows, bit = row % rows;
  for (int64_t panel = 0; panel < words[StreamRecordTable::Panels]; ++panel) {
    const int32_t word = words[shape.headInts() + half * shape.halfWords() + panel];
    const uint32_t mask = StreamWord::maskOf(word);
    if (mask >> bit & 1)
      add(panel, StreamWord::firstOf(word) + std::popcount(mask & ((1u << bit) - 1)));
  }
}

/// Reads tables that the verifier accepts.
SlabWork readStages(const StageTables &tables, const StreamShape *shape) {
  SlabWork all;
  for (size_t worker = 1; worker < tables.workers.size(); ++worker)
    for (int64_t t = tables.workers[worker - 1]; t < tables.workers[worker]; ++t) {
      const StageTile &tile = tables.tiles[t];
      for (int64_t i = 0; i < tables.groupSize; ++i) {
        const int32_t slab = tables.rows[tile.group * tables.groupSize + i];
        if (slab < 0)
          continue;
        auto &work = all[{tile.batch, tile.head, tile.columnTile, slab}];
        for (int64_t r = tile.first; r < tile.first + tile.count; ++r) {
          const auto words = tables.records.subspan(r * tables.recordInts, tables.recordInts);
          if (shape)
            readStreamRow(*shape, words, i, tables.order, work);
          else if (words[WgmmaRecordTable::y(i)] >= 0)
            work.emplace(words[WgmmaRecordTable::K], words[WgmmaRecordTable::x(i)],
                         words[WgmmaRecordTable::y(i)]);
        }
      }
    }
  return all;
}

void damageStages(const BlockLayout &layout, BlockShape block, const StreamShape *shape) {
  const StagedLut product(layout, block, false);
  std::string error;
  StagedRows staged =
      (shape ? buildStreamStages(product.view, *shape, 128, true, hopper.rates, error)
             : buildWgmmaStages(product.view, 128, error))
          .value();
  const int64_t heads = layout.grid().heads;
  const TileSpace space{2, 1, heads == 1 ? 2 : heads, heads};
  WorkLists lists = buildWorkLists(staged, space, {3});
  ASSERT_EQ(verifyStages(product.view, tablesOf(staged, lists), space, shape), "");
  const SlabWork good = readStages(tablesOf(staged, lists), shape);
  auto check = [&] {
    const StageTables tables = tablesOf(staged, lists);
    if (verifyStages(product.view, tables, space, shape).empty()) {
      EXPECT_EQ(readStages(tables, shape), good);
    }
  };
  damage(lists.tiles, check);
  damage(lists.workers, check);
  damage(staged.records, check);
  damage(staged.rows, check);
  damage(staged.order, check);
}

TEST(DamagedTables, Stages) {
  StreamShape byPanel{16, 2, 2, 4};
  byPanel.byPanel = true;
  const StreamShape shapes[] = {
      {16, 2, 4, 8}, byPanel, {16, 2, 4, 7, 0, /*kMajor=*/true, /*panelsPerCopy=*/4}};
  for (const BlockLayout &layout :
       {layoutOf({"1101", "0110", "1011"}), layoutOf(randomMask({2, 3, 4}, 7))}) {
    damageStages(layout, {64, 64}, nullptr);
    damageStages(layout, {128, 64}, nullptr);
    for (const StreamShape &shape : shapes)
      damageStages(layout, {16, 16}, &shape);
  }
}

TEST(DamagedTables, ARecordFollowsThoseThatAStreamKernelReads) {
  const StagedLut product(layoutOf({"11"}), {16, 16}, false);
  const StreamShape shape{16, 1, 2, 2};
  std::string error;
  StagedRows staged =
      buildStreamStages(product.view, shape, 128, true, hopper.rates, error).value();
  const TileSpace space;
  const WorkLists lists = buildWorkLists(staged, space, {1});
  ASSERT_EQ(verifyStages(product.view, tablesOf(staged, lists), space, &shape), "");
  staged.records.resize(staged.recordInts);
  EXPECT_EQ(verifyStages(product.view, tablesOf(staged, lists), space, &shape),
            "expects tile 0 to have a number of records in [0, 1), but got 1");
  staged.records.clear();
  EXPECT_EQ(verifyStages(product.view, tablesOf(staged, lists), space, &shape),
            "expects a record after the last one that a tile reads, but got none");
}

TEST(DamagedTables, SpacesThatOverflowAreReported) {
  const StagedLut product(layoutOf({"11"}), {64, 64}, false);
  std::string error;
  const StagedRows staged = buildWgmmaStages(product.view, 128, error).value();
  const WorkLists lists = buildWorkLists(staged, TileSpace(), {1});
  EXPECT_NE(verifyStages(product.view, tablesOf(staged, lists), {most, 2, 3, 1}, nullptr), "");
  const Product sampled(layoutOf({"11"}), {64, 64});
  const SampledWorkLists tiles = build(sampled.view, TileSpace());
  EXPECT_NE(verifySampledTiles(sampled.view, tiles, {1, most, 3, 1}), "");
  EXPECT_NE(verifySampledTiles(sampled.view, tiles, {1, 1 << 30, 1, 1}), "");
}

//===----------------------------------------------------------------------===//
// Tiles of products at the blocks of a pattern
//===----------------------------------------------------------------------===//

/// Holds (batch, head, destination, row of op(A), column of op(B)) of what is stored; a destination
/// is that of a subtile, or a value block.
using Stored = std::multiset<std::tuple<int32_t, int32_t, int64_t, int64_t, int64_t>>;

Stored readTiles(const SampledProduct &product, const SampledWorkLists &lists) {
  Stored stored;
  const SampledForm &form = product.form;
  const BlockShape block = form.of(product.block);
  const bool shared = form.sharesColumns(product.block);
  for (const SampledTile &tile : lists.tiles) {
    auto store = [&](int64_t destination, int64_t row, int64_t col) {
      stored.emplace(tile.batch, tile.head, destination, row, col);
    };
    if (!sharesSubtiles(product.block)) {
      for (int64_t i = 0; i < (shared ? 8 : form.subtileColumns(product.block)); ++i)
        if (tile.destinations[i] != -1)
          store(tile.destinations[i], tile.firstRows[shared ? i / 4 : 0],
                tile.firstCols[shared ? i % 4 : i]);
      continue;
    }
    const int64_t width = destinationsPerTile(block), wide = subtileSize / block.cols,
                  high = subtileSize / block.rows;
    for (int64_t i = 0; i < width; ++i) {
      const int64_t value = lists.destinations[tile.destinationRow * width + i];
      if (value == -1)
        continue;
      const int64_t subtile = i / (wide * high), inner = i % (wide * high);
      const int64_t blockRow = subtile / 4 * high + inner / wide,
                    blockCol = subtile % 4 * wide + inner % wide;
      int64_t row = tile.firstRows[subtile / 4] + inner / wide * block.rows;
      int64_t col = tile.firstCols[subtile % 4] + inner % wide * block.cols;
      if (form.gathersRows)
        row = (tile.blockRows.get(blockRow / form.rowsTogether) * form.rowsTogether +
               blockRow % form.rowsTogether) *
              block.rows;
      if (form.gathersColumns)
        col = (tile.blockCols.get(blockCol / form.columnsTogether) * form.columnsTogether +
               blockCol % form.columnsTogether) *
              block.cols;
      store(value, row, col);
    }
  }
  return stored;
}

void damageTiles(const BlockLayout &layout, BlockShape block, const SampledForm &form) {
  const Product product(layout, block, form);
  const int64_t heads = layout.grid().heads;
  const TileSpace space{1, 1, heads == 1 ? 2 : heads, heads};
  SampledWorkLists lists = build(product.view, space);
  ASSERT_EQ(verifySampledTiles(product.view, lists, space), "");
  const Stored good = readTiles(product.view, lists);
  auto check = [&] {
    if (verifySampledTiles(product.view, lists, space).empty()) {
      EXPECT_EQ(readTiles(product.view, lists), good);
    }
  };
  damage(lists.tiles, check);
  damage(lists.workers, check);
  damage(lists.destinations, check);
}

TEST(DamagedTables, SampledTiles) {
  for (const BlockLayout &layout :
       {layoutOf({"1101", "0110", "1011"}), layoutOf(randomMask({2, 3, 4}, 7))})
    for (BlockShape block : {BlockShape{64, 64}, {128, 64}, {64, 192}, {16, 16}, {32, 64}})
      for (bool gathersRows : {false, true})
        damageTiles(layout, block, SampledForm::get(block, {false, true}, gathersRows, 2));
}

TEST(DamagedTables, ValueBlocksOfALutAreBounded) {
  Product product(layoutOf({"11"}), {64, 64});
  const SampledWorkLists lists = build(product.view, TileSpace());
  product.lut[0].value = std::numeric_limits<int32_t>::max();
  EXPECT_EQ(verifySampledTiles(product.view, lists, TileSpace()),
            "expects value blocks in [0, 2), but got 2147483647");
}

} // namespace
