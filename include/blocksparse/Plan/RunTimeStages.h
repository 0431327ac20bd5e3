// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The stages and work lists of a pattern that is known when the program runs: how large their
// tables are, and where their parts stand. The device makes them with the records of
// blocksparse/Plan/Stages.h, so that the kernels that compute do not know who made their tables.
//
// Block rows are sorted by length, see lengthClass. A bundle is the block rows that one CTA of the
// planner stages together: a row group of a stream kernel; the two block rows of 64 that share a
// tile of a wgmma kernel; or one block row of 128 or more, which has several row groups. Where the
// records and the value blocks of a bundle begin follows from the number of blocks in the bundles
// before it, so that no CTA waits for another one. Each block may need a record of its own (blocks
// that occur twice do); what a bundle does not use stays free, and no tile names it.

#ifndef BLOCKSPARSE_PLAN_RUNTIMESTAGES_H
#define BLOCKSPARSE_PLAN_RUNTIMESTAGES_H

#include "blocksparse/Plan/KernelFamilies.h"
#include "blocksparse/Plan/Stages.h"
#include "blocksparse/Plan/TileOrder.h"

#include <bit>

namespace blocksparse {

/// Share of the blocks that a run-time pattern is taken to store where schedules and the order of
/// tiles are chosen: the number of its blocks is known when the program runs.
inline constexpr double runTimeDensity = 0.25;
/// Rows of a slab, and values of k of a record, of a wgmma kernel.
inline constexpr int64_t wgmmaSlabRows = 64;
/// The largest number of block rows of a row group of a stream kernel: each lane of a warp has one.
inline constexpr int64_t maxGroupRows = 32;
/// The most blocks of a bundle: a word holds their number beside that of their panels.
inline constexpr int64_t maxBundleBlocks = 0xffff;
/// Number of bits of a float behind those that tell the class of a length.
inline constexpr int64_t lengthClassShift = 20;

/// Returns the class of a block row of `length` blocks: rows of one class differ by less than an
/// eighth of their length and keep their order, so that neighbours that share panels stay together.
/// The class is the exponent and the first three bits of the mantissa of the length.
inline int32_t lengthClass(int32_t length) {
  return std::bit_cast<int32_t>(static_cast<float>(length)) >> lengthClassShift;
}

/// Returns the number of column tiles that are computed side by side, for block rows of `opRows`
/// rows and clusters of `cluster` CTAs. Two of them halve what is read of the values from memory;
/// four are better for pairs of block rows of 64 (measured, see docs/Performance.md). Pairs in
/// clusters would read more of the dense operand at a time than the L2 cache holds.
int64_t columnTilesTogether(int64_t opRows, bool stream, int64_t cluster);

/// Returns true if a reduction of `multiplyAdds` over a run-time pattern gains more by stages than
/// it takes the device to make them.
bool paysToPlanAtRunTime(BlockShape block, double multiplyAdds);

/// Returns true if the device can make stages for the blocks of a reduction: square ones of 16 or
/// 32, or multiples of 64 of which row groups hold two or an even number of slabs.
bool hasRunTimeBlocks(const KernelProblem &problem);

/// Describes the stages that the device makes of the rows of a run-time pattern.
struct RunTimeStages {
  static constexpr int64_t laneCount = 32;

  /// Shape of the stored blocks. If `transposeValues` is true, op(V) is the transpose of the
  /// values, and the block rows of op(S) are block columns of the pattern.
  BlockShape block;
  bool transposeValues = false;
  /// Block rows of op(S) and of the dense factor.
  int64_t tiles = 0, denseBlocks = 0;
  /// Most panels of a record of a stream kernel, 0 for a wgmma kernel; most value blocks of a
  /// record, block rows of a row group, and whether records have words of panels.
  int64_t panels = 0, places = 0, groupRows = 0;
  bool byPanel = false;
  TileSpace space;
  /// The order in which workers take tiles, and their number.
  TileOrder order;
  int64_t workers = 1;

  bool isStream() const { return panels > 0; }
  /// Return the threads and the warps of a CTA of the planner: a stream kernel has a warp for each
  /// of up to 32 block rows, and the blocks of columns are found among all blocks.
  int64_t threads() const { return isStream() || transposeValues ? 1024 : 256; }
  int64_t warps() const { return threads() / laneCount; }
  /// Returns the number of classes of lengths; longer rows than one with every block share the last
  /// class.
  int64_t lengthClasses() const {
    return lengthClass(static_cast<int32_t>(denseBlocks)) - lengthClass(1) + 2;
  }
  /// Returns the number of neighbouring block rows that one warp ranks, a multiple of its lanes.
  int64_t rowsOfWarp() const { return (tiles + threads() - 1) / threads() * laneCount; }
  /// Returns how many words a thread sums up of those that count the rows of each class and warp.
  /// The number is odd, so that the lanes of a warp read from different banks.
  int64_t classWordsOfThread() const {
    return (lengthClasses() * warps() + threads() - 1) / threads() | 1;
  }
  /// Returns the shape of the records of a stream kernel.
  StreamShape shape() const {
    StreamShape shape{block.rows, groupRows, panels, places};
    shape.byPanel = byPanel;
    return shape;
  }
  int64_t opRows() const { return transposeValues ? block.cols : block.rows; }
  int64_t opDepth() const { return transposeValues ? block.rows : block.cols; }
  /// Returns the slabs of 64 rows of a block row of a wgmma kernel.
  int64_t slabs() const { return opRows() / wgmmaSlabRows; }

  /// Return the block rows and the row groups of a bundle, and the number of bundles.
  int64_t bundleRows() const { return isStream() ? groupRows : slabs() == 1 ? 2 : 1; }
  int64_t bundleGroups() const { return isStream() || slabs() == 1 ? 1 : slabs() / 2; }
  int64_t bundles() const { return (tiles + bundleRows() - 1) / bundleRows(); }
  /// Returns the number of places for sorted block rows: the last bundle may have free ones.
  int64_t rowPlaces() const { return bundles() * bundleRows(); }
  int64_t groups() const { return bundles() * bundleGroups(); }
  /// Returns the slabs of a row group: the columns of the table `rows`.
  int64_t groupSize() const { return isStream() ? groupRows : 2; }
  int64_t recordInts() const {
    return isStream() ? shape().recordInts() : WgmmaRecordTable::columns;
  }
  /// Returns the tiles of one matrix.
  TileGrid grid() const { return {groups(), space.columnTiles, workers}; }
  /// Returns the tiles of a row group, and of all.
  int64_t tilesOfGroup() const { return space.columnTiles * space.batches * space.heads; }
  int64_t numTiles() const { return groups() * tilesOfGroup(); }

  /// Returns the most records of a row group that one of its blocks needs.
  int64_t recordsOfBlock() const { return isStream() ? 1 : opDepth() / wgmmaSlabRows; }
  /// Returns the rows of the table of records for patterns of at most `blocks` blocks: one more for
  /// each row group, which a kernel may read ahead.
  int64_t mostRecords(int64_t blocks) const {
    return blocks * recordsOfBlock() * bundleGroups() + groups();
  }
  /// Returns the words from a block row to the next one in shared memory: an odd number, so that
  /// lanes with a row each read from different banks.
  int64_t panelStride() const { return denseBlocks | 1; }
  /// Returns the places of all rows and panels of a bundle.
  int64_t placesOfBundle() const { return bundleRows() * panelStride(); }
  /// Returns the bytes of shared memory of a CTA that fills records.
  int64_t sharedBytes() const;

  /// Returns an empty string if the sizes fit each other, else the reason as "expects X, but got
  /// Y".
  std::string check() const;

  /// Returns the stages of a reduction over a run-time pattern by a kernel with stages, or nothing
  /// and the reason if the device can't make them. `schedule` is legal for the problem.
  static std::optional<RunTimeStages> get(const KernelProblem &problem, const Schedule &schedule,
                                          const TileSpace &space, const GPUFacts &gpu,
                                          std::string &reason);
};

/// Describes where the parts of a CTA of the planner stand in shared memory, as byte offsets.
struct RunTimeStageMemory {
  /// Records that one step of the walk along all of them takes.
  static constexpr int64_t recordsOfJump = 8;

  explicit RunTimeStageMemory(const RunTimeStages &stages);

  /// For each block row of the bundle, and for padding: 1 if it has blocks for another pass.
  int64_t left = 0;
  /// For each block row of the bundle: its index, or -1 for a free place, and its first entry and
  /// their number.
  int64_t tile = 0, first = 0, count = 0;
  /// If block rows are columns of the pattern, for each of them: the number of its blocks, and
  /// later its place in the bundle, or -1.
  int64_t lengths = 0;
  /// For each class of lengths, the longest first, and each warp: the number of rows, and later
  /// their first place. These words are free again when `found` is written, and share its memory.
  int64_t classes = 0;
  /// For each block row of the bundle and each panel: the value block of this pass, and that of the
  /// pass before.
  int64_t found = 0, taken = 0;
  /// For each panel that has a block, in ascending order: the panel, and the blocks before it; the
  /// latter has one word more.
  int64_t used = 0, before = 0;
  /// For each such panel: the first one of the next record, if a record begins with it, and that of
  /// the record `recordsOfJump` later. The former has one word more.
  int64_t next = 0, jumps = 0;
  /// First panel of every record whose number is a multiple of `recordsOfJump`.
  int64_t starts = 0;
  /// First panel of each record, and the end of the last one.
  int64_t cuts = 0;
  /// For each warp: what its lanes add up to.
  int64_t sums = 0;
  /// The number of panels that have a block, of records, and of `starts`.
  int64_t numUsed = 0, numRecords = 0, numStarts = 0;
  /// The number of blocks in the bundles before, and in this one.
  int64_t numBefore = 0, numBlocks = 0;
  int64_t bytes = 0;
};

} // namespace blocksparse

#endif // BLOCKSPARSE_PLAN_RUNTIMESTAGES_H
