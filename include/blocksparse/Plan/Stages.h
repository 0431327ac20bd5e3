// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Products as persistent kernels walk them: every worker (thread block) has a compile-time list of
// tiles; a tile is a group of row units by a panel of columns; its reduction is cut into
// stages, each what one buffer of the kernel's ring takes. All tables are int32.
//
// Two kinds of records, one for each kind of kernel:
//
// wgmma (block rows and depth multiples of 64). A row unit is 64 rows of op(S), a group is the
// two units of a tile of 128 rows: halves of one block row, or two block rows that share panels.
// A record is 64 values of k, 8 numbers:
//   [0]           first row of the dense operand (in elements)
//   [1], [2]      x, y of the 64 x 64 values of half 0; [3], [4] of half 1; y = -1: the half has
//                 no block here. Coordinates are elements of the values seen as a matrix
//                 [stored blocks * bm, bn], without the offset of a batch or a head.
//   [5] .. [7]    0
// Records of a tile ascend in [0]. With transposed values m runs along x and k along y, else m
// runs along y. A block row of an odd number of units leaves one; those are paired among block
// rows.
//
// stream (square blocks of 16 or 32). A row unit is a block row; a group has `rows` of them, a
// record at most `panels` panels (block rows of the dense operand) and `blocks` value blocks.
// Panels come in copies of `panelsPerCopy` (1 or 4) neighbours, the first a multiple of it:
//   [0]           place of the first value block in the packed order
//   [1], [2]      number of value blocks and of panels, those of whole copies
//   [3]           0
//   [4 + c]       first panel of copy c; padded to a multiple of 4 numbers
//   then the words, padded to a multiple of 4. Panel e of the record is [4 + e / panelsPerCopy] +
//                 e % panelsPerCopy.
//     of rows     for each row of the group (first << 16) | mask: bit e of the mask tells that the
//                 row has a block in panel e; its blocks stand in ascending e from place [0] +
//                 first on: blocks are packed by row, then panel.
//     of panels   (`byPanel`) for each half of the group's rows and each panel (first << 16) |
//                 mask: bit i of the mask tells that the panel has a block in row i of the half;
//                 these stand in ascending i from place [0] + first on. Where the mask is 0, so
//                 is the word. The words of a half are padded to a multiple of 4. Blocks are
//                 packed by panel, then row.
// Copies of a tile ascend over its records; each has a block. The last panels of a copy may lie
// beyond the dense operand. A copy with more blocks than a record takes comes again in the next
// record, with the bits of later panels. One record of zeros follows the last, so that a kernel may
// read ahead.
//
// Products at the blocks of a pattern have no records: see SampledTiles.h.

#ifndef BLOCKSPARSE_PLAN_STAGES_H
#define BLOCKSPARSE_PLAN_STAGES_H

#include "blocksparse/Plan/RowLut.h"

namespace blocksparse {

/// Columns that one thread block of a wgmma kernel takes at most. A tile of twice as many is
/// shared by a cluster of two thread blocks, each of which copies half of the values to both.
inline constexpr int64_t wgmmaPanelCols = 256, wgmmaClusterSize = 2;

/// Thread blocks that share a tile of `tileN` columns.
inline int64_t clusterSize(int64_t tileN) {
  return tileN > wgmmaPanelCols ? tileN / wgmmaPanelCols : 1;
}

//===----------------------------------------------------------------------===//
// Stages of stream kernels
//===----------------------------------------------------------------------===//

/// What one stage of a stream kernel holds.
struct StreamShape {
  /// Square blocks, 16 or 32.
  int64_t block = 16;
  /// Block rows of a group, panels (at most 16) and value blocks (at least `rows`) of a stage.
  int64_t rows = 0, panels = 0, blocks = 0;
  /// Warps that share the rows of a group, each with whole rows: place i is of owner i % owners. 0
  /// where warps multiply together (wgmma) or it does not matter. The two rows of an owner that has
  /// two share what is loaded of a panel that both meet.
  int64_t owners = 0;
  /// k runs along the rows of the dense operand as it is stored.
  bool alongK = false;
  /// Records have words of panels, not of rows, for either half of the rows (an even number, at
  /// most 32): for two warpgroups that multiply a panel together.
  bool byPanel = false;

  /// Whether a panel is 32 bytes of each stored row of the dense operand.
  static bool isNarrow(int64_t block, bool alongK) { return alongK && block == 16; }
  /// Panels that one copy brings. The copy engine and the second-level cache work in lines of 128
  /// bytes, which are four panels of 16 values along k; single panels are left to stages that don't
  /// hold whole lines.
  int64_t panelsPerCopy() const { return isNarrow(block, alongK) && panels % 4 == 0 ? 4 : 1; }
  /// Copies of 32 bytes a row take as long as those of this many times their bytes: fitted to dds
  /// on an H100 (8192, density .25), which had .77 of the speed of dsd.
  double copyCost() const { return isNarrow(block, alongK) && panelsPerCopy() == 1 ? 1.5 : 1; }
  /// Numbers of a record, in all and before the words.
  int64_t headInts() const {
    return StreamRecordTable::FirstCopy + (panels / panelsPerCopy() + 3) / 4 * 4;
  }
  /// Words of a half of the rows, of panels.
  int64_t halfWords() const { return (panels + 3) / 4 * 4; }
  int64_t words() const { return byPanel ? 2 * halfWords() : rows; }
  int64_t recordInts() const { return headInts() + (words() + 3) / 4 * 4; }
  /// Bytes of shared memory that one stage takes: panels of 128 columns of 16 bits, value blocks
  /// and the record, in whole kilobytes.
  int64_t stageBytes() const {
    return (panels * block * 256 + blocks * block * block * 2 + recordInts() * 4 + 1023) / 1024 *
           1024;
  }
};

/// Shared memory of a thread block on sm_90, and what of it stays free for barriers and alignment.
inline constexpr int64_t streamSharedBytes = 227 * 1024, streamReservedBytes = 2048;

/// Buffers of one block row by 64 columns through which results are stored: one for each warp, or
/// two for each of the two warpgroups where they multiply together (wgmma).
inline int64_t streamBuffers(bool wgmma, int64_t warps) { return wgmma ? 4 : warps; }
inline int64_t streamEpilogueBytes(int64_t block, int64_t buffers) { return buffers * block * 128; }

/// Warps that multiply by wgmma, and the rows of a result that they share at most: the sums of 128
/// columns are 192 registers of each thread, and its part of a panel 16. With 216 in all, ptxas
/// lets each product end before it starts the next.
inline constexpr int64_t streamWgmmaWarps = 8, streamWgmmaRows = 384;

/// What a schedule says of a stream kernel, and the operand that it is for.
struct StreamSizes {
  /// Square blocks; block rows of a group, and panels of a stage: the schedule's group and its
  /// tile_k / block.
  int64_t block = 0, rows = 0, panels = 0;
  /// Stages in the ring, and warps that multiply, by wgmma or each by itself.
  int64_t stages = 0, warps = 0;
  bool wgmma = false;
  /// k runs along the rows of the dense operand as it is stored.
  bool alongK = false;
};

/// The shape of stages that a schedule means; with `alongK`, blocks of 16 and a tile_k that is a
/// multiple of 64, panels come by copies of four. A stage takes as many value blocks as fit in
/// shared memory `stages` times beside the epilogue, and no more than rows * panels. Nothing where
/// `block` is not 16 or 32, `panels` is not in [1, 16], fewer than `rows` value blocks fit, or the
/// warps can't share the rows: by wgmma, streamWgmmaWarps, an even number of rows, and at most
/// streamWgmmaRows rows of elements; else a multiple of `warps`, at most 64. By wgmma a stage is
/// given back when the next one has come, so that there must be two.
std::optional<StreamShape> getStreamShape(const StreamSizes &sizes);

//===----------------------------------------------------------------------===//
// Groups and stages
//===----------------------------------------------------------------------===//

/// A row LUT before its rows are split, and the sizes that it was made for.
struct RowProduct {
  /// One segment for each (head, tile), in any order, all with slot -1.
  std::span<const RowSegment> segments;
  std::span<const RowEntry> entries;
  int64_t heads = 1, tiles = 0, denseBlocks = 0;
  /// Of the stored values; op(V) is their transpose with `transposeValues`.
  BlockShape block;
  bool transposeValues = false;

  int64_t opRows() const { return transposeValues ? block.cols : block.rows; }
  int64_t opDepth() const { return transposeValues ? block.rows : block.cols; }
};

/// The pattern of op(S) that the tables describe. Fails when a (head, tile) lacks its one unsplit
/// segment or an index is out of bounds.
std::optional<BlockLayout> layoutOfRows(const RowProduct &product, std::string &error);

/// Groups and their stages, before they become tiles.
struct StagedRows {
  /// Row units of a group and numbers of a record.
  int64_t groupSize = 0, recordInts = 0;
  /// rows[g * groupSize + i]: row unit, or -1.
  std::vector<int32_t> rows;
  /// LUT head of each group.
  std::vector<int32_t> heads;
  /// Group g has the records firstRecord[g] .. firstRecord[g + 1).
  std::vector<int32_t> firstRecord;
  std::vector<int32_t> records;
  /// Value block of each place of the packed values; empty where values are not packed.
  std::vector<int32_t> order;
  /// Estimated time of a group's stages in one panel, as the bytes that a worker loads in it.
  std::vector<int64_t> cost;
  /// Multiply-adds of each group for one column.
  std::vector<int64_t> work;

  int64_t groups() const { return static_cast<int64_t>(heads.size()); }
};

/// Stages for wgmma; panels have `tileN` columns of 16 bits. Every row unit is in one group, those
/// without a block too. Units of block rows of 64 are paired by the panels that they share where
/// that saves any, else consecutive. Fails for sizes of op(V) that are not multiples of 64 and for
/// coordinates beyond int32. O(nnz log nnz).
std::optional<StagedRows> buildWgmmaStages(const RowProduct &product, int64_t tileN,
                                           std::string &error);

/// Stages of `shape`, as many panels in each as fit; with `cluster`, groups are of rows that share
/// panels where that saves any, else of consecutive rows. Where rows of a head are of very
/// different length, groups are of similar rows, and their costs tell the time of the slowest
/// warp, if that is estimated to be faster. Fails for blocks that are not those of `shape`.
/// O(nnz (log nnz + rows)).
std::optional<StagedRows> buildStreamStages(const RowProduct &product, const StreamShape &shape,
                                            int64_t tileN, bool cluster, std::string &error);

//===----------------------------------------------------------------------===//
// Work lists
//===----------------------------------------------------------------------===//

/// What turns groups into tiles: a tile for each group, panel, batch and head.
struct TileSpace {
  int64_t panels = 1, batches = 1, heads = 1;
  /// 1: every head is a copy of all groups; else each head has its own groups.
  int64_t lutHeads = 1;
};

struct WorkOptions {
  int64_t workers = 132;
  /// Bytes of operands in flight that stay in the second-level cache.
  int64_t cacheBytes = 24 << 20;
  /// Cost of a tile beside its stages: prologue and epilogue.
  int64_t tileBytes = 64 << 10;
  /// Neighbouring panels that are walked side by side: the values of a group are then read from
  /// memory once for all of them.
  int64_t panelsTogether = 1;
  /// Bytes of a panel of the dense operand. Where it is not 0, and panels are not walked side by
  /// side, groups walk the panels in as many blocks as make the bytes read from memory fewest.
  int64_t panelBytes = 0;
};

/// Tiles in the order in which the workers take them.
struct WorkLists {
  std::vector<StageTile> tiles;
  /// Worker i takes tiles[workers[i]] .. tiles[workers[i + 1] - 1].
  std::vector<int32_t> workers;
};

/// Takes all groups for one panel, then all for the next (in blocks of at most one group for each
/// worker, or fewer, see WorkOptions::panelBytes), and gives each next tile to the worker with
/// least cost so far (the first of equals). Groups of very different cost go longest first.
/// Deterministic; there is at least one worker, and some may get nothing. O(t log workers).
WorkLists buildWorkLists(const StagedRows &staged, const TileSpace &space,
                         const WorkOptions &options);

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// The five tables of an op.
struct StageTables {
  std::span<const StageTile> tiles;
  std::span<const int32_t> workers, records, rows, order;
  int64_t recordInts = 0, groupSize = 0;
};

/// Whether the tables say the same as the row LUT `product`, which must be verified already: every
/// (group, panel, batch, head) of `space` is one tile; every row unit is in one group; the
/// records of a group are the entries of its rows, each once and none invented, in ascending
/// panels. `shape` is that of a stream kernel, null for wgmma. Gives the first fault as "expects X,
/// but got Y", or an empty string. O(nnz log nnz + t).
std::string verifyStages(const RowProduct &product, const StageTables &tables,
                         const TileSpace &space, const StreamShape *shape);

} // namespace blocksparse

#endif // BLOCKSPARSE_PLAN_STAGES_H
