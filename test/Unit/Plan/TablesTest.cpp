// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tables.h asserts at compile time that the struct of a row has as many words as its table has
// columns. These tests name every member of every struct: a member that is added without a field,
// or a field that names another member's word, fails one of them.

#include "blocksparse/Plan/Tables.h"
#include "blocksparse/Plan/SampledTiles.h"
#include "blocksparse/Plan/Stages.h"
#include "gtest/gtest.h"

#include <numeric>
#include <set>

using namespace blocksparse;

namespace {

/// Returns a row whose word i is i.
template <typename Table>
typename Table::Row makeNumberedRow() {
  std::array<int32_t, Table::columns> words;
  std::iota(words.begin(), words.end(), 0);
  return std::bit_cast<typename Table::Row>(words);
}

/// Expects that each (field, member) has the field's index as its value, and that the fields are
/// all columns of the table.
template <typename Table>
void expectFields(std::initializer_list<std::pair<int64_t, int32_t>> fields) {
  std::set<int64_t> named;
  for (const auto &[field, value] : fields) {
    EXPECT_EQ(field, value);
    named.insert(field);
  }
  EXPECT_EQ(static_cast<int64_t>(named.size()), Table::columns);
  EXPECT_EQ(static_cast<int64_t>(fields.size()), Table::columns);
  EXPECT_EQ(*named.rbegin(), Table::columns - 1);
}

TEST(Tables, SegmentFieldsNameTheirMembers) {
  using T = SegmentTable;
  const auto [tile, head, first, count, slot] = makeNumberedRow<T>();
  expectFields<T>(
      {{T::Tile, tile}, {T::Head, head}, {T::First, first}, {T::Count, count}, {T::Slot, slot}});
}

TEST(Tables, EntryFieldsNameTheirMembers) {
  using T = EntryTable;
  const auto [dense, value] = makeNumberedRow<T>();
  expectFields<T>({{T::Dense, dense}, {T::Value, value}});
}

TEST(Tables, CombineFieldsNameTheirMembers) {
  using T = CombineTable;
  const auto [tile, head, firstSlot, slots] = makeNumberedRow<T>();
  expectFields<T>({{T::Tile, tile}, {T::Head, head}, {T::FirstSlot, firstSlot}, {T::Slots, slots}});
}

TEST(Tables, CoordinateFieldsNameTheirMembers) {
  using T = CoordinateTable;
  const auto [head, row, col, value] = makeNumberedRow<T>();
  expectFields<T>({{T::Head, head}, {T::BlockRow, row}, {T::BlockCol, col}, {T::Value, value}});
}

TEST(Tables, CoordinateSegmentFieldsNameTheirMembers) {
  using T = CoordinateSegmentTable;
  const auto [first, count] = makeNumberedRow<T>();
  expectFields<T>({{T::First, first}, {T::Count, count}});
}

TEST(Tables, StageTileFieldsNameTheirMembers) {
  using T = StageTileTable;
  const auto [group, columnTile, first, count, batch, head, unused0, unused1] =
      makeNumberedRow<T>();
  expectFields<T>({{T::Group, group},
                   {T::ColumnTile, columnTile},
                   {T::First, first},
                   {T::Count, count},
                   {T::Batch, batch},
                   {T::Head, head},
                   {T::Unused0, unused0},
                   {T::Unused1, unused1}});
}

TEST(Tables, WgmmaRecordFieldsNameTheirMembers) {
  using T = WgmmaRecordTable;
  const auto [k, halves, unused] = makeNumberedRow<T>();
  expectFields<T>({{T::K, k},
                   {T::x(0), halves[0].x},
                   {T::y(0), halves[0].y},
                   {T::x(1), halves[1].x},
                   {T::y(1), halves[1].y},
                   {T::Unused0, unused[0]},
                   {T::Unused1, unused[1]},
                   {T::Unused2, unused[2]}});
}

TEST(Tables, StreamRecordFieldsNameTheirMembers) {
  using T = StreamRecordTable;
  const auto [first, blocks, panels, unused] = makeNumberedRow<T>();
  expectFields<T>(
      {{T::First, first}, {T::Blocks, blocks}, {T::Panels, panels}, {T::Unused, unused}});
}

TEST(Tables, StreamWordsFollowTheCopies) {
  const StreamShape shape{16, 8, 8, 8};
  EXPECT_EQ(shape.headInts(), StreamRecordTable::FirstCopy + 8);
}

TEST(Tables, SampledTileFieldsNameTheirMembers) {
  using T = SampledTileTable;
  const SampledTile tile = makeNumberedRow<T>();
  for (int64_t i = 0; i < 8; ++i) {
    EXPECT_EQ(T::FirstCol + i, tile.firstCols[i]);
    EXPECT_EQ(T::BlockCols + i, tile.blockCols.words[i]);
    EXPECT_EQ(T::Destination + i, tile.destinations[i]);
    EXPECT_EQ(T::BlockRows + i, tile.blockRows.words[i]);
  }
  EXPECT_EQ(T::FirstRow, tile.firstRows[0]);
  EXPECT_EQ(T::FirstRow + 1, tile.firstRows[1]);
  EXPECT_EQ(T::Batch, tile.batch);
  EXPECT_EQ(T::Head, tile.head);
  EXPECT_EQ(T::DestinationRow, tile.destinationRow);
  EXPECT_EQ(T::NumBlockCols, tile.numBlockCols);
  EXPECT_EQ(T::Contiguous, tile.contiguous);
  EXPECT_EQ(T::NumBlockRows, tile.numBlockRows);
  EXPECT_EQ(T::NumBlockRows + 1, T::columns);
}

TEST(Tables, GatheredIndicesAreTwoToAWord) {
  GatheredIndices indices{};
  for (int64_t i = 0; i < 16; ++i)
    indices.set(i, 0xfff0 + i);
  EXPECT_EQ(static_cast<uint32_t>(indices.words[0]), 0xfff1fff0u);
  for (int64_t i = 0; i < 16; ++i)
    EXPECT_EQ(indices.get(i), 0xfff0 + i);
  EXPECT_TRUE(indices.areContiguous(0, 16));
  indices.set(5, 7);
  EXPECT_EQ(indices.get(4), 0xfff4);
  EXPECT_EQ(indices.get(6), 0xfff6);
  EXPECT_TRUE(indices.areContiguous(0, 5));
  EXPECT_FALSE(indices.areContiguous(0, 6));
  EXPECT_FALSE(indices.areContiguous(5, 2));
}

} // namespace
