// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The tables between planner and kernels. A table is rows of int32: the planner writes a row as a
// struct, kernels read its words, and verifiers read either. For each table this file has the
// struct of a row and a `...Table` that names its words; the assertions at the end of the file keep
// both the same. Nothing else in the project states the index of a field.

#ifndef BLOCKSPARSE_PLAN_TABLES_H
#define BLOCKSPARSE_PLAN_TABLES_H

#include "blocksparse/Layout/BlockLayout.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace blocksparse {

//===----------------------------------------------------------------------===//
// Row LUT
//===----------------------------------------------------------------------===//

/// Describes a run `entries[first .. first + count)` of one output tile's reduction. A segment with
/// slot -1 writes its tile; another one writes partial sums to its slot, and a CombineRow adds the
/// slots of the tile.
struct RowSegment {
  int32_t tile, head, first, count, slot;
  bool operator==(const RowSegment &) const = default;
};

/// Names the words of a RowSegment.
struct SegmentTable {
  using Row = RowSegment;
  enum Field : int64_t { Tile, Head, First, Count, Slot };
  static constexpr int64_t columns = 5;
};

/// Describes one block product: the dense block and the value block that it meets.
struct RowEntry {
  int32_t dense, value;
  bool operator==(const RowEntry &) const = default;
};

/// Names the words of a RowEntry.
struct EntryTable {
  using Row = RowEntry;
  enum Field : int64_t { Dense, Value };
  static constexpr int64_t columns = 2;
};

/// Describes a split tile: the sum of the slots [firstSlot, firstSlot + slots), in that order.
struct CombineRow {
  int32_t tile, head, firstSlot, slots;
  bool operator==(const CombineRow &) const = default;
};

/// Names the words of a CombineRow.
struct CombineTable {
  using Row = CombineRow;
  enum Field : int64_t { Tile, Head, FirstSlot, Slots };
  static constexpr int64_t columns = 4;
};

//===----------------------------------------------------------------------===//
// Coordinate LUT
//===----------------------------------------------------------------------===//

/// Names the words of a BlockCoordinate, the row of a coordinate LUT.
struct CoordinateTable {
  using Row = BlockCoordinate;
  enum Field : int64_t { Head, BlockRow, BlockCol, Value };
  static constexpr int64_t columns = 4;
};

/// Describes a run `lut[first .. first + count)` for one worker.
struct CoordinateSegment {
  int32_t first, count;
  bool operator==(const CoordinateSegment &) const = default;
};

/// Names the words of a CoordinateSegment.
struct CoordinateSegmentTable {
  using Row = CoordinateSegment;
  enum Field : int64_t { First, Count };
  static constexpr int64_t columns = 2;
};

//===----------------------------------------------------------------------===//
// Stages of a planned_dsd
//===----------------------------------------------------------------------===//

/// Names the tables of the operand list `stages`. The last one exists if planned blocks are not the
/// stored ones (blocksparse/Plan/Reblock.h).
struct StageOperands {
  enum Operand : int64_t { Tiles, Workers, Records, Rows, Order, Granules };
  static constexpr int64_t count = 6;
};

/// Describes a tile: its row group and column tile, the records [first, first + count), and the
/// matrix of the result that it belongs to.
struct StageTile {
  int32_t group, columnTile, first, count, batch, head, unused0 = 0, unused1 = 0;
  bool operator==(const StageTile &) const = default;
};

/// Names the words of a StageTile. Two words are unused, so that loads of 16 bytes read a row.
struct StageTileTable {
  using Row = StageTile;
  enum Field : int64_t { Group, ColumnTile, First, Count, Batch, Head, Unused0, Unused1 };
  static constexpr int64_t columns = 8;
  /// Number of words that a kernel reads.
  static constexpr int64_t used = Head + 1;
};

/// Describes one k step of a wgmma kernel. `k` is the first row of the dense operand in elements;
/// (x, y) are the coordinates of the 64 x 64 values of each half, or y = -1 if it has none there.
struct WgmmaRecord {
  struct Values {
    int32_t x = 0, y = -1;
  };
  int32_t k;
  Values halves[2];
  int32_t unused[3] = {0, 0, 0};
};

/// Names the words of a WgmmaRecord.
struct WgmmaRecordTable {
  using Row = WgmmaRecord;
  enum Field : int64_t { K, X0, Y0, X1, Y1, Unused0, Unused1, Unused2 };
  static constexpr int64_t columns = 8;
  /// Number of words that a kernel reads.
  static constexpr int64_t used = Y1 + 1;

  static constexpr Field x(int64_t half) { return half == 0 ? X0 : X1; }
  static constexpr Field y(int64_t half) { return half == 0 ? Y0 : Y1; }
};

/// Describes one stage of a stream kernel: the value blocks [first, first + blocks) of the packed
/// order and the number of panels. The first panels of its copies and the words of its rows follow;
/// their number depends on the StreamShape.
struct StreamRecordHead {
  int32_t first, blocks, panels, unused = 0;
};

/// Names the words of a StreamRecordHead, and the first of the words that follow it.
struct StreamRecordTable {
  using Row = StreamRecordHead;
  enum Field : int64_t { First, Blocks, Panels, Unused, FirstCopy };
  /// Number of words of the fixed part.
  static constexpr int64_t columns = 4;
};

//===----------------------------------------------------------------------===//
// Tiles of a planned_sdd
//===----------------------------------------------------------------------===//

/// Names the tables of the operand list `tiles`. The last one exists if blocks share subtiles.
struct SampledOperands {
  enum Operand : int64_t { Tiles, Workers, Destinations };
  static constexpr int64_t count = 3;
};

/// Rows and columns of a subtile.
inline constexpr int64_t subtileSize = 64;

/// Returns true if blocks are smaller than a subtile.
inline bool sharesSubtiles(BlockShape block) {
  return block.rows < subtileSize || block.cols < subtileSize;
}

/// Holds the indices of up to 16 gathered block columns or block rows, two in each word: the first
/// of them in the lower 16 bits.
struct GatheredIndices {
  static constexpr int64_t perWord = 2, bits = 16, mask = 0xffff;

  int64_t get(int64_t i) const {
    return static_cast<uint32_t>(words[i / perWord]) >> (bits * (i % perWord)) & mask;
  }
  void set(int64_t i, int64_t index) {
    const int64_t shift = bits * (i % perWord);
    const uint32_t kept = static_cast<uint32_t>(words[i / perWord]) & ~(uint32_t{mask} << shift);
    words[i / perWord] = static_cast<int32_t>(kept | static_cast<uint32_t>(index) << shift);
  }
  /// Returns true if each of the indices [first, first + number) but the first one follows the
  /// index before it.
  bool areContiguous(int64_t first, int64_t number) const {
    for (int64_t i = first; i + 1 < first + number; ++i)
      if (get(i + 1) != get(i) + 1)
        return false;
    return true;
  }

  int32_t words[8];
};

/// Describes a tile of a product at the blocks of a pattern.
///
/// A tile has two halves of 64 rows and up to 4 subtile columns of 64 columns that both halves
/// share; or, if SampledForm::sharesColumns is false, one half (firstRows[1] is -1) and up to 6
/// subtile columns.
///
/// If blocks share subtiles, the halves are those of a row tile of 128 rows, which may extend
/// beyond the matrix, and row `destinationRow` of the table `destinations` says which value blocks
/// the tile writes. Indices and numbers of gathered block rows (block columns) count
/// SampledForm::rowsTogether (columnsTogether) neighbouring ones as one.
/// If the operands are swapped, rows are columns of the result.
/// A tile that only completes the tiles of a cluster has rows, but no columns and no destinations.
struct SampledTile {
  /// Destinations in a row of the values: one for each 64 columns.
  static constexpr int64_t destinationsPerRow = 8;

  /// Words 0 to 7 hold the columns of op(B).
  union {
    /// Contiguous columns: the first column of each subtile column, in elements; -1: none.
    int32_t firstCols[8];
    /// Gathered columns: `numBlockCols` block columns in ascending order.
    GatheredIndices blockCols;
  };
  /// Words 8 to 15 hold the destinations of results, or the rows of op(A).
  union {
    /// Blocks that are made of subtiles: the destination of each subtile, -1 if it is not stored;
    /// destinations[half * 4 + column], or destinations[column] if there is one half. A
    /// destination is y * destinationsPerRow + x / 64 for coordinates (x, y) in elements of the
    /// values seen as a matrix [stored blocks * bm, bn], without the offset of a batch or a head.
    int32_t destinations[8];
    /// Gathered rows of blocks that share subtiles: `numBlockRows` block rows.
    GatheredIndices blockRows;
  };
  /// First row of op(A) of each half, in elements; -1: none, or rows are gathered.
  int32_t firstRows[2];
  int32_t batch, head, destinationRow = 0, numBlockCols = 0;
  /// Bit c is set if subtile column c is full and its gathered columns are contiguous, so that one
  /// TMA load brings them all.
  int32_t contiguous = 0;
  int32_t numBlockRows = 0;

  using Words = std::array<int32_t, 24>;
  bool operator==(const SampledTile &other) const {
    return std::bit_cast<Words>(*this) == std::bit_cast<Words>(other);
  }
};

/// Names the words of a SampledTile; FirstCol, Destination and FirstRow are the first of several.
struct SampledTileTable {
  using Row = SampledTile;
  enum Field : int64_t {
    FirstCol = 0,
    BlockCols = FirstCol,
    Destination = 8,
    BlockRows = Destination,
    FirstRow = 16,
    Batch = 18,
    Head,
    DestinationRow,
    NumBlockCols,
    Contiguous,
    NumBlockRows
  };
  static constexpr int64_t columns = 24;
};

//===----------------------------------------------------------------------===//
// Lists of a planned_attention
//===----------------------------------------------------------------------===//

/// Names the tables of the operand list `lists`. The table of slices exists for joined steps.
struct AttentionOperands {
  enum Operand : int64_t { Tiles, Workers, Steps, Slices };
  static constexpr int64_t count = 4;
};

/// Describes a tile of attention: 64 queries for each of two or three warpgroups, and its key steps
/// [first, first + count).
struct AttentionTile {
  static constexpr int64_t mostGroups = 3;

  /// First row of q of each warpgroup; -1: the warpgroup has no rows.
  int32_t rows[mostGroups] = {-1, -1, -1};
  int32_t first = 0, count = 0, batch = 0, head = 0;
  /// 1 if the tile is 64 queries alone, whose keys two warpgroups share: both then have the same
  /// rows, and the first one combines both results. Else 0.
  int32_t split = 0;
  bool operator==(const AttentionTile &) const = default;
};

/// Names the words of an AttentionTile; Row is the first of several.
struct AttentionTileTable {
  using Row = AttentionTile;
  enum Field : int64_t { FirstRow = 0, First = 3, Count, Batch, Head, Split };
  static constexpr int64_t columns = 8;
};

/// Describes a key step of a tile: two halves of 64 keys. Row i of the table of slices describes
/// step i further if steps are joined.
struct AttentionStep {
  /// Names the bits of `halves`: the warpgroup takes half 0, half 1, and elements of a half that it
  /// takes may be forbidden.
  enum Half : int32_t { First = 1, Second = 2, Both = 3, Elements = 4 };

  /// First key of each half, of the first warpgroup and of the others; -1: the half has no keys.
  /// The keys of a half of a joined step need not be neighbours.
  int32_t keys[2][2] = {{-1, -1}, {-1, -1}};
  /// Parts of the step that each warpgroup takes, as bits of Half.
  int32_t halves[AttentionTile::mostGroups] = {0, 0, 0};
  /// 1 if the keys of the warpgroups differ: the step then fills two stages of keys and two of
  /// values, one for each of two warpgroups. Else 0.
  int32_t separate = 0;
  bool operator==(const AttentionStep &) const = default;
};

/// Names the words of an AttentionStep; Key and Halves are the first of several.
struct AttentionStepTable {
  using Row = AttentionStep;
  enum Field : int64_t { Key = 0, Halves = 4, Separate = 7 };
  static constexpr int64_t columns = 8;
};

/// Describes a joined step: eight key slices of 16 keys from anywhere, four for each half, for the
/// 16 queries of each warp of two warpgroups.
struct AttentionSlices {
  static constexpr int64_t count = 8, keysOfSlice = 16, rowsOfWarp = 16;

  /// First key of each slice, of the first warpgroup and of the second. Slices beyond the last one
  /// repeat the first of the step, and no warp takes them.
  int32_t keys[2][count] = {};
  /// Bit 8 w + s: warp w of the warpgroup takes slice s.
  uint32_t taken[2] = {0, 0};
  int32_t unused[2] = {0, 0};
  bool operator==(const AttentionSlices &) const = default;
};

/// Names the words of an AttentionSlices; Key and Taken are the first of several.
struct AttentionSliceTable {
  using Row = AttentionSlices;
  enum Field : int64_t { Key = 0, Taken = 16, Unused = 18, UnusedLast };
  static constexpr int64_t columns = 20;
  /// Number of words that a kernel reads.
  static constexpr int64_t used = Unused;
};

//===----------------------------------------------------------------------===//
// Lists of a planned_attention_grad
//===----------------------------------------------------------------------===//

/// Names the tables of the operand list `lists` for two kernels: those of the kernel that walks the
/// queries of tiles of keys, and those of the kernel that walks the keys of tiles of queries.
struct AttentionGradOperands {
  enum Operand : int64_t { KeyTiles, KeyWorkers, KeySteps, QueryTiles, QueryWorkers, QuerySteps };
  static constexpr int64_t count = 6;
};

/// Names the tables of the operand list `lists` for one kernel, whose tiles of keys add to the
/// gradient of q in a planned order.
struct AttentionOrderOperands {
  enum Operand : int64_t { Tiles, Workers, Steps };
  static constexpr int64_t count = 3;
};

/// Describes a tile of the gradient of attention: 64 keys and the steps [first, first + count) of
/// queries, or 64 queries and steps of keys.
struct AttentionGradTile {
  /// First key, or first query, of the tile.
  int32_t row = 0;
  int32_t first = 0, count = 0, batch = 0, head = 0, unused[3] = {0, 0, 0};
  bool operator==(const AttentionGradTile &) const = default;
};

/// Names the words of an AttentionGradTile.
struct AttentionGradTileTable {
  using Row = AttentionGradTile;
  enum Field : int64_t { FirstRow, First, Count, Batch, Head, Unused };
  static constexpr int64_t columns = 8;
  /// Number of words that a kernel reads.
  static constexpr int64_t used = Head + 1;
};

/// Describes a step of a tile: 64 queries of a tile of keys, or 64 keys of a tile of queries.
struct AttentionGradStep {
  int32_t first = 0;
  /// 1 if the step holds forbidden elements, which lie beyond the diagonal; else 0.
  int32_t masked = 0;
  bool operator==(const AttentionGradStep &) const = default;
};

/// Names the words of an AttentionGradStep.
struct AttentionGradStepTable {
  using Row = AttentionGradStep;
  enum Field : int64_t { First, Masked };
  static constexpr int64_t columns = 2;
};

/// Describes a tile of the kernel of an ordered gradient: 64 keys for each of two warpgroups, and
/// its steps [first, first + count) of 64 queries.
struct AttentionOrderTile {
  static constexpr int64_t groups = 2;

  /// First key of each warpgroup.
  int32_t keys[groups] = {0, 0};
  int32_t first = 0, count = 0, batch = 0, head = 0, unused[2] = {0, 0};
  bool operator==(const AttentionOrderTile &) const = default;
};

/// Names the words of an AttentionOrderTile; Key is the first of several.
struct AttentionOrderTileTable {
  using Row = AttentionOrderTile;
  enum Field : int64_t { Key = 0, First = 2, Count, Batch, Head, Unused };
  static constexpr int64_t columns = 8;
  /// Number of words that a kernel reads.
  static constexpr int64_t used = Head + 1;
};

/// Describes a step of such a tile: 64 queries of its head.
struct AttentionOrderStep {
  /// First query.
  int32_t query = 0;
  /// 1 if the step holds forbidden elements, which lie beyond the diagonal; else 0.
  int32_t masked = 0;
  /// Number of steps of these queries, in all tiles, that add to the gradient before this one.
  int32_t rank = 0;
  int32_t unused = 0;
  bool operator==(const AttentionOrderStep &) const = default;
};

/// Names the words of an AttentionOrderStep.
struct AttentionOrderStepTable {
  using Row = AttentionOrderStep;
  enum Field : int64_t { Query, Masked, Rank, Unused };
  static constexpr int64_t columns = 4;
};

//===----------------------------------------------------------------------===//
// Rows as words
//===----------------------------------------------------------------------===//

/// Returns the words of a table: the view that constants and artefacts store.
template <typename Row>
std::span<const int32_t> flatTable(std::span<const Row> rows) {
  static_assert(sizeof(Row) % sizeof(int32_t) == 0 && alignof(Row) == alignof(int32_t));
  return {reinterpret_cast<const int32_t *>(rows.data()),
          rows.size() * (sizeof(Row) / sizeof(int32_t))};
}
template <typename Row>
std::span<const int32_t> flatTable(const std::vector<Row> &rows) {
  return flatTable(std::span<const Row>(rows));
}

/// Returns the number of columns of a table, which must be `stated`: documents state it as a
/// number.
template <typename Table, int64_t stated>
constexpr int64_t checkColumns() {
  static_assert(Table::columns == stated, "the table has another number of columns");
  return stated;
}

/// Returns the word of a row at `byte`.
constexpr int64_t wordAt(size_t byte) { return static_cast<int64_t>(byte / sizeof(int32_t)); }

/// True if the words of a row are the columns of its table, of which `last` is the last one.
template <typename Table>
constexpr bool hasColumns(typename Table::Field last) {
  return sizeof(typename Table::Row) == Table::columns * sizeof(int32_t) &&
         last + 1 == Table::columns;
}

#define BLOCKSPARSE_CHECK_FIELD(table, field, member)                                              \
  static_assert(table::field == wordAt(offsetof(table::Row, member)))

static_assert(hasColumns<SegmentTable>(SegmentTable::Slot));
BLOCKSPARSE_CHECK_FIELD(SegmentTable, Tile, tile);
BLOCKSPARSE_CHECK_FIELD(SegmentTable, Head, head);
BLOCKSPARSE_CHECK_FIELD(SegmentTable, First, first);
BLOCKSPARSE_CHECK_FIELD(SegmentTable, Count, count);
BLOCKSPARSE_CHECK_FIELD(SegmentTable, Slot, slot);

static_assert(hasColumns<EntryTable>(EntryTable::Value));
BLOCKSPARSE_CHECK_FIELD(EntryTable, Dense, dense);
BLOCKSPARSE_CHECK_FIELD(EntryTable, Value, value);

static_assert(hasColumns<CombineTable>(CombineTable::Slots));
BLOCKSPARSE_CHECK_FIELD(CombineTable, Tile, tile);
BLOCKSPARSE_CHECK_FIELD(CombineTable, Head, head);
BLOCKSPARSE_CHECK_FIELD(CombineTable, FirstSlot, firstSlot);
BLOCKSPARSE_CHECK_FIELD(CombineTable, Slots, slots);

static_assert(hasColumns<CoordinateTable>(CoordinateTable::Value));
BLOCKSPARSE_CHECK_FIELD(CoordinateTable, Head, head);
BLOCKSPARSE_CHECK_FIELD(CoordinateTable, BlockRow, row);
BLOCKSPARSE_CHECK_FIELD(CoordinateTable, BlockCol, col);
BLOCKSPARSE_CHECK_FIELD(CoordinateTable, Value, value);

static_assert(hasColumns<CoordinateSegmentTable>(CoordinateSegmentTable::Count));
BLOCKSPARSE_CHECK_FIELD(CoordinateSegmentTable, First, first);
BLOCKSPARSE_CHECK_FIELD(CoordinateSegmentTable, Count, count);

static_assert(hasColumns<StageTileTable>(StageTileTable::Unused1));
BLOCKSPARSE_CHECK_FIELD(StageTileTable, Group, group);
BLOCKSPARSE_CHECK_FIELD(StageTileTable, ColumnTile, columnTile);
BLOCKSPARSE_CHECK_FIELD(StageTileTable, First, first);
BLOCKSPARSE_CHECK_FIELD(StageTileTable, Count, count);
BLOCKSPARSE_CHECK_FIELD(StageTileTable, Batch, batch);
BLOCKSPARSE_CHECK_FIELD(StageTileTable, Head, head);
BLOCKSPARSE_CHECK_FIELD(StageTileTable, Unused0, unused0);
BLOCKSPARSE_CHECK_FIELD(StageTileTable, Unused1, unused1);

static_assert(hasColumns<WgmmaRecordTable>(WgmmaRecordTable::Unused2));
BLOCKSPARSE_CHECK_FIELD(WgmmaRecordTable, K, k);
BLOCKSPARSE_CHECK_FIELD(WgmmaRecordTable, X0, halves[0].x);
BLOCKSPARSE_CHECK_FIELD(WgmmaRecordTable, Y0, halves[0].y);
BLOCKSPARSE_CHECK_FIELD(WgmmaRecordTable, X1, halves[1].x);
BLOCKSPARSE_CHECK_FIELD(WgmmaRecordTable, Y1, halves[1].y);
BLOCKSPARSE_CHECK_FIELD(WgmmaRecordTable, Unused0, unused);

static_assert(hasColumns<StreamRecordTable>(StreamRecordTable::Unused));
BLOCKSPARSE_CHECK_FIELD(StreamRecordTable, First, first);
BLOCKSPARSE_CHECK_FIELD(StreamRecordTable, Blocks, blocks);
BLOCKSPARSE_CHECK_FIELD(StreamRecordTable, Panels, panels);
BLOCKSPARSE_CHECK_FIELD(StreamRecordTable, Unused, unused);
static_assert(StreamRecordTable::FirstCopy == StreamRecordTable::columns);

static_assert(hasColumns<SampledTileTable>(SampledTileTable::NumBlockRows));
BLOCKSPARSE_CHECK_FIELD(SampledTileTable, FirstCol, firstCols);
BLOCKSPARSE_CHECK_FIELD(SampledTileTable, BlockCols, blockCols);
BLOCKSPARSE_CHECK_FIELD(SampledTileTable, Destination, destinations);
BLOCKSPARSE_CHECK_FIELD(SampledTileTable, BlockRows, blockRows);
BLOCKSPARSE_CHECK_FIELD(SampledTileTable, FirstRow, firstRows);
BLOCKSPARSE_CHECK_FIELD(SampledTileTable, Batch, batch);
BLOCKSPARSE_CHECK_FIELD(SampledTileTable, Head, head);
BLOCKSPARSE_CHECK_FIELD(SampledTileTable, DestinationRow, destinationRow);
BLOCKSPARSE_CHECK_FIELD(SampledTileTable, NumBlockCols, numBlockCols);
BLOCKSPARSE_CHECK_FIELD(SampledTileTable, Contiguous, contiguous);
BLOCKSPARSE_CHECK_FIELD(SampledTileTable, NumBlockRows, numBlockRows);

static_assert(hasColumns<AttentionTileTable>(AttentionTileTable::Split));
BLOCKSPARSE_CHECK_FIELD(AttentionTileTable, FirstRow, rows);
BLOCKSPARSE_CHECK_FIELD(AttentionTileTable, First, first);
BLOCKSPARSE_CHECK_FIELD(AttentionTileTable, Count, count);
BLOCKSPARSE_CHECK_FIELD(AttentionTileTable, Batch, batch);
BLOCKSPARSE_CHECK_FIELD(AttentionTileTable, Head, head);
BLOCKSPARSE_CHECK_FIELD(AttentionTileTable, Split, split);

static_assert(hasColumns<AttentionStepTable>(AttentionStepTable::Separate));
BLOCKSPARSE_CHECK_FIELD(AttentionStepTable, Key, keys);
BLOCKSPARSE_CHECK_FIELD(AttentionStepTable, Halves, halves);
BLOCKSPARSE_CHECK_FIELD(AttentionStepTable, Separate, separate);

static_assert(hasColumns<AttentionSliceTable>(AttentionSliceTable::UnusedLast));
BLOCKSPARSE_CHECK_FIELD(AttentionSliceTable, Key, keys);
BLOCKSPARSE_CHECK_FIELD(AttentionSliceTable, Taken, taken);
BLOCKSPARSE_CHECK_FIELD(AttentionSliceTable, Unused, unused);

static_assert(sizeof(AttentionGradTile) == AttentionGradTileTable::columns * sizeof(int32_t));
BLOCKSPARSE_CHECK_FIELD(AttentionGradTileTable, FirstRow, row);
BLOCKSPARSE_CHECK_FIELD(AttentionGradTileTable, First, first);
BLOCKSPARSE_CHECK_FIELD(AttentionGradTileTable, Count, count);
BLOCKSPARSE_CHECK_FIELD(AttentionGradTileTable, Batch, batch);
BLOCKSPARSE_CHECK_FIELD(AttentionGradTileTable, Head, head);
BLOCKSPARSE_CHECK_FIELD(AttentionGradTileTable, Unused, unused);

static_assert(hasColumns<AttentionGradStepTable>(AttentionGradStepTable::Masked));
BLOCKSPARSE_CHECK_FIELD(AttentionGradStepTable, First, first);
BLOCKSPARSE_CHECK_FIELD(AttentionGradStepTable, Masked, masked);

static_assert(sizeof(AttentionOrderTile) == AttentionOrderTileTable::columns * sizeof(int32_t));
BLOCKSPARSE_CHECK_FIELD(AttentionOrderTileTable, Key, keys);
BLOCKSPARSE_CHECK_FIELD(AttentionOrderTileTable, First, first);
BLOCKSPARSE_CHECK_FIELD(AttentionOrderTileTable, Count, count);
BLOCKSPARSE_CHECK_FIELD(AttentionOrderTileTable, Batch, batch);
BLOCKSPARSE_CHECK_FIELD(AttentionOrderTileTable, Head, head);
BLOCKSPARSE_CHECK_FIELD(AttentionOrderTileTable, Unused, unused);

static_assert(hasColumns<AttentionOrderStepTable>(AttentionOrderStepTable::Unused));
BLOCKSPARSE_CHECK_FIELD(AttentionOrderStepTable, Query, query);
BLOCKSPARSE_CHECK_FIELD(AttentionOrderStepTable, Masked, masked);
BLOCKSPARSE_CHECK_FIELD(AttentionOrderStepTable, Rank, rank);
BLOCKSPARSE_CHECK_FIELD(AttentionOrderStepTable, Unused, unused);

#undef BLOCKSPARSE_CHECK_FIELD

} // namespace blocksparse

#endif // BLOCKSPARSE_PLAN_TABLES_H
