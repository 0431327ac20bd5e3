// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The work lists of persistent kernels of products with a row LUT. Every worker (a CTA or a cluster
// of CTAs) has a compile-time list of tiles; a tile is a row group by a column tile; its reduction
// is cut into stages, each of which fills one buffer of the kernel's stage ring. All tables are
// int32; blocksparse/Plan/Tables.h names their fields.
//
// There are two kinds of records, one for each kind of kernel:
//
// wgmma (rows and K extent of a block of op(S) are multiples of 64). A slab is 64 rows of op(S). A
// row group is the two slabs of a tile of 128 rows: halves of one block row, or two block rows that
// share panels. A record (WgmmaRecord) is 64 values of k:
//   k             first row of the dense operand, in elements
//   halves[h]     coordinates (x, y) of the 64 x 64 values of half h; y = -1: the half has no block
//                 here. Coordinates are in elements of the values seen as a matrix
//                 [stored blocks * bm, bn], without the offset of a batch or a head.
// The records of a tile ascend in k. With transposed values m runs along x and k along y, else m
// runs along y. A block row with an odd number of slabs leaves one; those are paired among block
// rows.
//
// stream (square blocks of 16 or 32). A slab is a block row; a row group has `rows` of them, a
// record at most `panels` panels and `blocks` value blocks. TMA loads bring `panelsPerCopy` (1 or
// 4) neighbouring panels, the first a multiple of it; they are called copies. A record has
//   a head        (StreamRecordHead) the packed index of the first value block; the number of value
//                 blocks, and of panels, including all panels of each copy
//   copies        first panel of each copy; padded to a multiple of 4 words
//   words         padded to a multiple of 4. Panel e of the record is panel e % panelsPerCopy of
//   copy
//                 e / panelsPerCopy.
//     of rows     for each row of the group (first << 16) | mask: bit e of the mask is set if the
//     row
//                 has a block in panel e; its blocks are in ascending e from packed index
//                 head.first + first on: blocks are packed by row, then panel.
//     of panels   (`byPanel`) for each half of the group's rows and each panel (first << 16) |
//     mask:
//                 bit i of the mask is set if the panel has a block in row i of the half; these are
//                 in ascending i from packed index head.first + first on. If the mask is 0, so is
//                 the word. The words of a half are padded to a multiple of 4. Blocks are packed by
//                 panel, then row.
// The copies of a tile ascend over its records; each has a block. The last panels of a copy may lie
// beyond the dense operand. A copy with more blocks than fit in a record occurs again in the next
// record, with the bits of later panels. One record of zeros follows the last, so that a kernel may
// read ahead.
//
// Products at the blocks of a pattern have no records: see SampledTiles.h.

#ifndef BLOCKSPARSE_PLAN_STAGES_H
#define BLOCKSPARSE_PLAN_STAGES_H

#include "blocksparse/Plan/RowLut.h"
#include "blocksparse/Plan/StreamShape.h"
#include "blocksparse/Target/ChipRates.h"

namespace blocksparse {

/// The largest number of columns that one CTA of a wgmma kernel computes. A tile of twice as many
/// is shared by a cluster of two CTAs, each of which loads half of the values for both.
inline constexpr int64_t wgmmaCtaCols = 256, wgmmaClusterSize = 2;

/// Returns the number of CTAs that share a tile of `tileN` columns.
inline int64_t clusterSize(int64_t tileN) {
  return tileN > wgmmaCtaCols ? tileN / wgmmaCtaCols : 1;
}

//===----------------------------------------------------------------------===//
// Groups and stages
//===----------------------------------------------------------------------===//

/// Describes a row LUT before its rows are split, and the sizes that it was made for.
struct RowProduct {
  /// One segment for each (head, tile), in any order, all with slot -1.
  std::span<const RowSegment> segments;
  std::span<const RowEntry> entries;
  int64_t heads = 1, tiles = 0, denseBlocks = 0;
  /// Shape of the stored blocks. If `transposeValues` is true, op(V) is the transpose of the
  /// values.
  BlockShape block;
  bool transposeValues = false;

  int64_t opRows() const { return transposeValues ? block.cols : block.rows; }
  int64_t opDepth() const { return transposeValues ? block.rows : block.cols; }
};

/// Returns the pattern of op(S) that the tables describe. Fails if a (head, tile) does not have
/// exactly one unsplit segment, or if an index is out of bounds.
std::optional<BlockLayout> layoutOfRows(const RowProduct &product, std::string &error);

/// Holds row groups and their stages, before they become tiles.
struct StagedRows {
  /// Number of slabs of a row group, and of words of a record.
  int64_t groupSize = 0, recordInts = 0;
  /// rows[g * groupSize + i]: index of a slab, or -1.
  std::vector<int32_t> rows;
  /// LUT head of each group.
  std::vector<int32_t> heads;
  /// Group g has the records [firstRecord[g], firstRecord[g + 1]).
  std::vector<int32_t> firstRecord;
  std::vector<int32_t> records;
  /// Value block at each packed index; empty if values are not packed.
  std::vector<int32_t> order;
  /// Estimated cost of the stages of a row group in one column tile, in bytes: what a worker could
  /// load in that time.
  std::vector<int64_t> cost;
  /// Number of multiply-adds of each row group for one column.
  std::vector<int64_t> work;

  int64_t groups() const { return static_cast<int64_t>(heads.size()); }
};

/// Returns the stages of a wgmma kernel whose column tiles have `tileN` columns of 16 bits. Every
/// slab is in one row group, including slabs without a block. Slabs of block rows of 64 rows are
/// paired by the panels that they share if that saves any, else consecutive ones are paired. Fails
/// if the sizes of a block of op(V) are not multiples of 64, and for coordinates beyond int32.
/// O(nnz log nnz).
std::optional<StagedRows> buildWgmmaStages(const RowProduct &product, int64_t tileN,
                                           std::string &error);

/// Returns the stages of a stream kernel, with as many panels in each as fit. If `cluster` is true,
/// row groups have rows that share panels if that saves any, else consecutive rows. If the rows of
/// a head differ much in length, groups have rows of similar length, and their costs are the time
/// of the slowest warp, if that is estimated to be faster by the rates of the GPU. Fails if the
/// blocks are not those of `shape`. O(nnz (log nnz + rows)).
std::optional<StagedRows> buildStreamStages(const RowProduct &product, const StreamShape &shape,
                                            int64_t tileN, bool cluster, const ChipRates &rates,
                                            std::string &error);

//===----------------------------------------------------------------------===//
// Work lists
//===----------------------------------------------------------------------===//

/// Describes the iteration space of the tiles: there is one tile for each row group, column tile,
/// batch and head.
struct TileSpace {
  int64_t columnTiles = 1, batches = 1, heads = 1;
  /// 1: every head has a tile of each row group; else each head has row groups of its own.
  int64_t lutHeads = 1;
};

/// Holds the options of work lists.
struct WorkOptions {
  int64_t workers = 1;
  /// Bytes of operands in flight that stay in the L2 cache (GPUFacts::plannedCacheBytes).
  int64_t cacheBytes = 0;
  /// Cost of a tile in addition to its stages: prologue and epilogue, in bytes.
  int64_t tileBytes = 64 << 10;
  /// Number of neighbouring column tiles that are computed side by side: the values of a row group
  /// are then read from memory once for all of them.
  int64_t columnTilesTogether = 1;
  /// Bytes of a column tile of the dense operand. If it is not 0 and column tiles are not computed
  /// side by side, row groups are divided into as many blocks as make the bytes read from memory
  /// fewest.
  int64_t columnTileBytes = 0;
};

/// Holds tiles in the order in which the workers compute them.
struct WorkLists {
  std::vector<StageTile> tiles;
  /// Worker i computes tiles[workers[i]] .. tiles[workers[i + 1] - 1].
  std::vector<int32_t> workers;
};

/// Returns the work lists of a product. Tiles are ordered by column tile, with all row groups in
/// each (or with blocks of at most one group for each worker, or fewer, see
/// WorkOptions::columnTileBytes), and assigned by list scheduling: each next tile goes to the
/// worker with the least cost so far, the first of equals. Groups of very different cost are
/// ordered longest first. Deterministic. There is at least one worker, and some workers may get no
/// tile. O(t log workers) for t tiles.
WorkLists buildWorkLists(const StagedRows &staged, const TileSpace &space,
                         const WorkOptions &options);

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// Holds the five tables of an op and the widths of two of them.
struct StageTables {
  std::span<const StageTile> tiles;
  std::span<const int32_t> workers, records, rows, order;
  int64_t recordInts = 0, groupSize = 0;
};

/// Checks that the tables describe the same product as the row LUT `product`, which must be
/// verified already: every (row group, column tile, batch, head) of `space` is one tile; every slab
/// is in one group; the records of a group are the entries of its rows, each once and no others, in
/// ascending panels. `shape` is the shape of a stream kernel, null for wgmma. Returns the first
/// fault as "expects X, but got Y", or an empty string. O(nnz log nnz + t) for t tiles.
std::string verifyStages(const RowProduct &product, const StageTables &tables,
                         const TileSpace &space, const StreamShape *shape);

} // namespace blocksparse

#endif // BLOCKSPARSE_PLAN_STAGES_H
