// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The kernels that make the tiles of a sampled product (blocksparse/Plan/RunTimeTiles.h), with one
// CTA for each bundle. The first one, which blocks that share subtiles need, marks the columns that
// have blocks and counts them. The second one sums up what the bundles before it have, and writes
// its tiles and destinations.
//
// A block that has the place of another one, because its column is listed twice, gets a column of
// its own behind the others. Which of the two gets it depends on the order of threads; what is
// computed for both does not.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_PLANNER_TILEFILLER_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_PLANNER_TILEFILLER_H

#include "PlannerValues.h"
#include "WordTable.h"
#include "blocksparse/Plan/RunTimeTiles.h"

namespace mlir::blocksparse::device {

/// Holds the tables that the kernels read and write, in the kernel. `counts` has a row of
/// RunTimeTileCount for each bundle, `marks` its words of a bit for each column (see
/// RunTimeTiles::markWords), and `columns` the columns of all bundles after each other. These and
/// `destinations` are null unless blocks share subtiles.
struct TileFillerTables {
  Value lut, segments, out, tiles, workers, destinations, counts, marks, columns;
};

/// Emits the kernels of one CTA.
class TileFiller {
public:
  TileFiller(ImplicitLocOpBuilder &b, const ::blocksparse::RunTimeTiles &plan,
             const TileFillerTables &tables);

  /// Emits the kernel that marks and counts the columns of a bundle.
  void emitColumns(ImplicitLocOpBuilder &b) const;
  /// Emits the kernel that writes the tiles of a bundle.
  void emitTiles(ImplicitLocOpBuilder &b) const;

private:
  /// Describes a block of the bundle: its row in the bundle, its column and value block (i32), and
  /// its place in the marks: the index of the word and the bit.
  struct Block {
    Value row, col, value, column, word, bit;
  };
  /// Holds the tiles of a cluster in a row tile (i32) of all bundles, of those before this sweep,
  /// of those before this bundle and of this one; the columns of the bundles before and of this
  /// one.
  struct Totals {
    Value all, beforeSweep, before, tiles, columnsBefore, columns;
  };

  /// Emits `body` for each of `number` (i32) items, in turns of the threads of the CTA.
  void forEach(ImplicitLocOpBuilder &b, Value number,
               function_ref<void(ImplicitLocOpBuilder &, Value item)> body) const;
  /// Emits `body` for each block of the bundle, of those that share subtiles.
  void forEachBlock(ImplicitLocOpBuilder &b,
                    function_ref<void(ImplicitLocOpBuilder &, const Block &)> body) const;
  void emitInFirstThread(ImplicitLocOpBuilder &b,
                         function_ref<void(ImplicitLocOpBuilder &)> body) const;
  /// Marks the place of a block in pass 0 or 1, and returns i1: another block had it before.
  Value takesPlaceTwice(ImplicitLocOpBuilder &b, const Block &block, int64_t pass) const;
  /// Returns the first entry of the segment of a block row, and the number of entries, 0 if they do
  /// not lie within the table.
  std::pair<Value, Value> segmentOf(ImplicitLocOpBuilder &b, Value row) const;
  /// Returns the entry behind those of a block row.
  Value endOfRow(ImplicitLocOpBuilder &b, Value row) const;
  /// Returns the sums of `values` over all threads of the CTA, in all threads.
  SmallVector<Value> sumOfThreads(ImplicitLocOpBuilder &b, ValueRange values) const;
  /// Returns the number of columns of a bundle.
  Value countColumns(ImplicitLocOpBuilder &b, Value bundle) const;
  /// Returns the tiles of a cluster for `columns` (i32) columns.
  Value countTiles(ImplicitLocOpBuilder &b, Value columns) const;

  void readColumns(ImplicitLocOpBuilder &b) const;
  Totals sumUp(ImplicitLocOpBuilder &b) const;
  void listColumns(ImplicitLocOpBuilder &b, const Totals &totals) const;
  void writeDestinations(ImplicitLocOpBuilder &b, const Totals &totals) const;
  /// Returns the index of a block in a row of destinations, from its row and its column of blocks
  /// in the tile (i32).
  Value placeOf(ImplicitLocOpBuilder &b, Value row, Value col) const;
  void writeTiles(ImplicitLocOpBuilder &b, const Totals &totals) const;
  /// Returns the position of tile `number` (i32) of a cluster in row tile `rowTile` among all.
  Value positionOf(ImplicitLocOpBuilder &b, const Totals &totals, Value number,
                   Value rowTile) const;
  /// Returns the first position of a cluster's list of `positions`, and its length.
  std::pair<Value, Value> listOf(ImplicitLocOpBuilder &b, Value positions, Value cluster) const;
  /// Sets the words of a tile that begins with column `first` (i32).
  void setSharedColumns(ImplicitLocOpBuilder &b, const Totals &totals, Value first,
                        MutableArrayRef<Value> tile) const;
  void setOwnColumns(ImplicitLocOpBuilder &b, const Totals &totals, Value first, Value rowTile,
                     MutableArrayRef<Value> tile) const;
  void writeWorkers(ImplicitLocOpBuilder &b, const Totals &totals) const;
  /// Writes 0 to the value blocks of entries behind those of the pattern.
  void clearSpareBlocks(ImplicitLocOpBuilder &b) const;

  ::blocksparse::RunTimeTiles plan;
  ::blocksparse::RunTimeTileMemory memory;
  SharedWords shared;
  Value out;
  WordTable lut, segments, tiles, workers, destinations, counts, marks, columns;
  /// The memory of `counts` and `marks`.
  Value countMemory, markMemory;
  /// The thread and the bundle, and the number of entries (all i32).
  Value thread, bundle, entries;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_PLANNER_TILEFILLER_H
