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
// Records of a tile ascend in [0].
//
// stream (square blocks of 16 or 32). A row unit is a block row; a group has `rows` of them, a
// record at most `panels` panels (block rows of the dense operand) and `blocks` value blocks:
//   [0]           place of the first value block in the packed order
//   [1], [2]      number of value blocks and of panels
//   [3]           0
//   [4 + e]       block row of the dense operand of panel e; padded to a multiple of 4 numbers
//   then, for each row of the group, (first << 16) | mask: bit e of the mask tells that the row has
//                 a block in panel e; its blocks stand in ascending e from place [0] + first on.
//                 Padded to a multiple of 4 numbers.
// Panels of a tile ascend over its records, and within a record blocks are packed by row, then
// panel. One record of zeros follows the last, so that a kernel may read ahead.

#ifndef BLOCKSPARSE_PLAN_STAGES_H
#define BLOCKSPARSE_PLAN_STAGES_H

#include "blocksparse/Plan/RowLut.h"

namespace blocksparse {

/// The place of one tile in the tables `tiles`.
struct StageTile {
  int32_t group, panel, first, count, batch, head, unused0 = 0, unused1 = 0;
  bool operator==(const StageTile &) const = default;
};

/// What one stage of a stream kernel holds.
struct StreamShape {
  /// Square blocks, 16 or 32.
  int64_t block = 16;
  /// Block rows of a group, panels (at most 16) and value blocks (at least `rows`) of a stage.
  int64_t rows = 0, panels = 0, blocks = 0;

  /// Numbers of a record, in all and before the words of the rows.
  int64_t headInts() const { return 4 + (panels + 3) / 4 * 4; }
  int64_t recordInts() const { return headInts() + (rows + 3) / 4 * 4; }
};

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
  /// Estimated cost of a group's stages in one panel, in bytes that a worker loads.
  std::vector<int64_t> cost;

  int64_t groups() const { return static_cast<int64_t>(heads.size()); }
};

/// Tiles in the order in which the workers take them.
struct WorkLists {
  std::vector<StageTile> tiles;
  /// Worker i takes tiles[workers[i]] .. tiles[workers[i + 1] - 1].
  std::vector<int32_t> workers;
};

} // namespace blocksparse

#endif // BLOCKSPARSE_PLAN_STAGES_H
