// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The kernel that plans a bundle (blocksparse/Plan/RunTimeStages.h), one CTA for each. It finds the
// block rows of the bundle (RowRanker.h), and then works in passes. A pass takes at most one block
// of each block row and panel, the one of the smallest value block that is left; blocks that occur
// twice need more passes. The records of a pass follow those of the pass before. A pass has these
// steps, with a barrier after each:
//   1. Each entry offers its value block to the place of its row and panel; the smallest wins.
//   2. The panels that have a block are listed, with the number of blocks before each.
//   3. Stream kernels: records are cut, as many panels in each as fit.
//   4. Records, and the packed order, are written.
// The number of dependent steps decides how long the kernel takes. A warp therefore has up to 128
// entries of its row in flight, all warps list panels together, and the walk along the records
// takes eight of them at a time.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_PLANNER_STAGEFILLER_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_PLANNER_STAGEFILLER_H

#include "PlannerValues.h"
#include "RowSource.h"
#include "WordTable.h"
#include "blocksparse/Plan/RunTimeStages.h"

namespace mlir::blocksparse::device {

/// Holds the tables that the kernel writes, in the kernel.
struct StageFillerTables {
  Value tiles, workers, records, rows, order;
};

/// Emits the kernel of one CTA.
class StageFiller {
public:
  /// Emits what finds the block rows of the bundle.
  StageFiller(ImplicitLocOpBuilder &b, const ::blocksparse::RunTimeStages &stages,
              const RowSource &source, const StageFillerTables &tables);

  void emit(ImplicitLocOpBuilder &b) const;

private:
  /// Holds what the passes before have made: records of each row group, and blocks (i32).
  struct Progress {
    Value records, blocks;
  };

  /// Emits a load, or with `setWord` a store, of word `index` (i32) of the part of shared memory
  /// that begins at byte `part`.
  Value word(ImplicitLocOpBuilder &b, int64_t part, Value index) const;
  void setWord(ImplicitLocOpBuilder &b, int64_t part, Value index, Value value) const;
  Value single(ImplicitLocOpBuilder &b, int64_t part) const;
  /// Emits `body` for each of `number` (i32) items, in turns of the threads of the CTA.
  void forEach(ImplicitLocOpBuilder &b, Value number,
               function_ref<void(ImplicitLocOpBuilder &, Value item)> body) const;
  /// Returns the index of the place of a row of the bundle and a panel.
  Value placeOf(ImplicitLocOpBuilder &b, Value row, Value panel) const {
    return Int(b, row) * stages.panelStride() + panel;
  }
  /// Returns the value block at a place in this pass, and i1: there is one.
  std::pair<Value, Value> foundAt(ImplicitLocOpBuilder &b, Value row, Value panel) const;

  void writeSlabs(ImplicitLocOpBuilder &b) const;
  void clear(ImplicitLocOpBuilder &b) const;
  void offer(ImplicitLocOpBuilder &b) const;
  /// Offers a block to its place, if the tables have room for it.
  void offerBlock(ImplicitLocOpBuilder &b, Value row, const RowSource::Entry &block) const;
  /// Offers the entries of row `row` from `first` to `end` that are a lane's (i32).
  void offerEntries(ImplicitLocOpBuilder &b, Value row, Value first, Value end) const;
  /// Returns a number (i32) that is not 0 if some row has blocks for another pass.
  Value blocksLeft(ImplicitLocOpBuilder &b) const;
  /// Returns the number of blocks of a panel in this pass.
  Value blocksOf(ImplicitLocOpBuilder &b, Value panel) const;
  void listPanels(ImplicitLocOpBuilder &b) const;
  void cutRecords(ImplicitLocOpBuilder &b) const;
  /// Returns the first panel of the record that is `number` (i32) records behind the one that
  /// begins with panel `first`.
  Value walk(ImplicitLocOpBuilder &b, Value first, Value number) const;
  void writeStreamRecords(ImplicitLocOpBuilder &b, const Progress &progress) const;
  /// Holds a record that a warp writes (i32): its row in the table, its first panel among those
  /// that have a block, its numbers of panels and blocks, and the packed index of its first block.
  struct RecordPart {
    Value row, firstPanel, panels, blocks, place;
  };
  void writeStreamHead(ImplicitLocOpBuilder &b, const RecordPart &part) const;
  void writeWordsOfRows(ImplicitLocOpBuilder &b, const RecordPart &part) const;
  void writeWordsOfPanels(ImplicitLocOpBuilder &b, const RecordPart &part) const;
  /// Writes the word of a lane and its blocks to the order. The word has a bit for each of `bits`
  /// (i32) places from 0 on that has a block; `place` returns the row and the panel of a bit. `has`
  /// (i1) is true for a lane that has a word, at `column` (i32) of the record; `always` tells that
  /// words without a block are not 0. All lanes of the warp call it together.
  void writeWord(ImplicitLocOpBuilder &b, const RecordPart &part, Value has, Value bits,
                 Value column, bool always,
                 function_ref<std::pair<Value, Value>(ImplicitLocOpBuilder &, Value)> place) const;
  void writeWgmmaRecords(ImplicitLocOpBuilder &b, const Progress &progress) const;
  void keepTaken(ImplicitLocOpBuilder &b) const;
  /// Writes a record of zeros behind the last one, which kernels read ahead.
  void writeEnds(ImplicitLocOpBuilder &b, const Progress &progress) const;
  /// Writes block 0 to the places of the packed order that are the bundle's and have no block: all
  /// that the order names are packed. Those behind all blocks are the last bundle's.
  void fillOrder(ImplicitLocOpBuilder &b, const Progress &progress) const;
  /// Writes the tiles of the bundle's row groups, and the lists of the workers.
  void writeTiles(ImplicitLocOpBuilder &b, const Progress &progress) const;
  /// Writes tile `number` (i32) of row group `group` (i32), whose records begin at `first`.
  void writeTile(ImplicitLocOpBuilder &b, Value group, Value number, Value first,
                 Value count) const;
  /// Returns the first tile of a worker (i32).
  Value firstTileOf(ImplicitLocOpBuilder &b, Value worker) const;
  /// Returns the number of records that a pass has made in each row group.
  Value recordsOfPass(ImplicitLocOpBuilder &b) const;
  /// Returns the first record of row group `number` of the bundle.
  Value firstRecord(ImplicitLocOpBuilder &b, int64_t number) const;

  ::blocksparse::RunTimeStages stages;
  ::blocksparse::RunTimeStageMemory memory;
  SharedWords shared;
  RowSource source;
  WordTable tiles, workers, records, rows, order;
  /// The thread, its warp and lane, the bundle, its first block and its number of blocks (all i32),
  /// and i1: its blocks lie within the tables.
  Value thread, warp, lane, bundle, firstBlock, blocks, fits;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_PLANNER_STAGEFILLER_H
