// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The work lists of the persistent kernel of attention. A tile is 64 queries of one (batch, head)
// for each of two or three warpgroups; its keys come in steps of two halves of 64 keys, which are
// loaded once for all warpgroups. Of two warpgroups with an odd number of 64 rows in a block row,
// the last 64 rows share a tile with those of another block row that has many keys in common. A
// warpgroup takes those halves of a step that hold blocks of its own rows. Where that leaves many
// halves to one of two warpgroups alone, steps are separate: each warpgroup has keys of its own, so
// that neither waits for the other's.
//
// Steps of blocks whose sizes are no multiples of 64 are joined: 64 queries are those of several
// block rows, and a step holds eight key slices of 16 keys that some of these rows take. Each warp
// has a bit for each slice that its 16 queries take, and the scores of the others are masked.
//
// Where there are few tiles for the workers, long ones are split: each 64 queries become a tile,
// and each of two warpgroups takes a half of their keys. See Tables.h for the fields.

#ifndef BLOCKSPARSE_PLAN_ATTENTIONPLAN_H
#define BLOCKSPARSE_PLAN_ATTENTIONPLAN_H

#include "blocksparse/Layout/BlockLayout.h"
#include "blocksparse/Plan/Tables.h"

#include <optional>
#include <string>

namespace blocksparse {

/// Queries of a warpgroup, and keys of a half of a step.
inline constexpr int64_t attentionRows = 64, attentionKeys = 64;

/// Describes the keys that the position allows: a query of row r takes those from r + first to
/// r + last. Absent is no bound.
struct AttentionBand {
  std::optional<int64_t> first, last;

  /// Returns the band of the keys up to the row of the query.
  static AttentionBand causal() { return {std::nullopt, 0}; }
};

/// Describes the attention that lists are made for. The sizes of the blocks of the layout are
/// multiples of 64, of attention itself of 16, and the blocks cover the queries and keys exactly.
struct AttentionProblem {
  /// Pattern of the scores, of one head that all heads share or of each head.
  const BlockLayout &layout;
  int64_t batches = 1, heads = 1;
  AttentionBand band = {};
  /// True if other masks than the band may forbid any element.
  bool masked = false;
  /// Heads of queries that share a head of keys; 1 if the layout has several heads.
  int64_t sharing = 1;
};

/// Holds the options of buildAttentionLists.
struct AttentionOptions {
  /// CTAs that share the tiles.
  int64_t workers = 1;
  /// Warpgroups that a tile may have: 2 or 3. Two were faster on an H200.
  int64_t mostGroups = 2;
  /// Bytes of the keys and values of one head, and bytes of keys and values that may be in use at a
  /// time so that they stay in the L2 cache.
  int64_t bytesOfHead = 0, cacheBytes = 0;
};

/// Holds the tables `lists` of a planned_attention.
struct AttentionLists {
  std::vector<AttentionTile> tiles;
  /// Worker i computes tiles[workers[i]] .. tiles[workers[i + 1] - 1].
  std::vector<int32_t> workers;
  /// Steps of the tiles; tiles of different batches, and of heads that share a pattern, share them.
  std::vector<AttentionStep> steps;
  /// Slices of each step if steps are joined, else empty.
  std::vector<AttentionSlices> slices;
  /// Warpgroups of a tile.
  int64_t groups = 2;
};

/// Returns true if steps of blocks of this shape are joined.
inline bool joinsBlocks(BlockShape block) {
  return block.rows % attentionRows != 0 || block.cols % attentionKeys != 0;
}

/// Largest number of tiles for a worker with which long tiles may be split. With more of them, the
/// work lists differ little.
inline constexpr int64_t mostTilesToSplit = 4;

/// Returns the lists of all (batch, head). Every 64 queries are in one tile, including those
/// without a key. Tiles have three warpgroups if these share most of their steps, and else two.
/// Tiles that are longer than a quarter of a worker's share come first, the longest first; the
/// others follow in groups of heads whose keys and values fit in the cache, the longest of a group
/// first. Each next tile goes to the worker with the least cost so far. If there are at most
/// mostTilesToSplit tiles for a worker and the longest work list becomes shorter, long tiles are
/// split. Deterministic. Fails if the sizes of a block are not multiples of 16, and for tables
/// beyond int32. O(nnz log nnz + t log t) for t tiles.
std::optional<AttentionLists> buildAttentionLists(const AttentionProblem &problem,
                                                  const AttentionOptions &options,
                                                  std::string &error);

/// Checks that the lists take each 64 x 64 (of joined steps: 16 x 16) elements of the layout that
/// hold an allowed element once for each batch and head, and nothing else; that a half is marked
/// exactly if it may hold forbidden elements; that no slice is loaded that no warp takes; and that
/// workers take each tile once. Returns the first fault as "expects X, but got Y", or an empty
/// string.
std::string verifyAttentionLists(const AttentionProblem &problem, const AttentionLists &lists);

/// Describes which steps occur in lists, which decides the form of the kernel.
struct AttentionForm {
  /// True if some warpgroup takes only a part of a step, or if the halves of a step are not
  /// neighbours.
  bool halves = false;
  /// True if some half may hold forbidden elements.
  bool elements = false;
  /// True if some step is separate.
  bool separate = false;
  /// True if steps are joined, and if some tile is split.
  bool joined = false, split = false;
  /// Warpgroups of a tile.
  int64_t groups = 2;

  static AttentionForm get(std::span<const AttentionTile> tiles,
                           std::span<const AttentionStep> steps, bool joined = false);
};

} // namespace blocksparse

#endif // BLOCKSPARSE_PLAN_ATTENTIONPLAN_H
