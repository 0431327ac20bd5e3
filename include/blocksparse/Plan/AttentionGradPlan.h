// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The work lists of the persistent kernels of the gradient of attention. A tile is 64 keys of one
// (batch, head), whose steps are the groups of 64 queries that take these keys; or 64 queries,
// whose steps are the groups of 64 keys that they take. One warpgroup computes a tile, so that
// nobody waits for another's steps and no step holds a part that is not wanted. See Tables.h for
// the fields.
//
// Where heads of queries share a head of keys, the head of a tile of keys is that of the keys. Its
// steps are those of the first head that shares them, then those of the second, and so on, so that
// one warpgroup sums over all of them in this order. The first row of a step then counts through
// the queries of these heads: query q of the second of them is number M + q, of M queries a head.

#ifndef BLOCKSPARSE_PLAN_ATTENTIONGRADPLAN_H
#define BLOCKSPARSE_PLAN_ATTENTIONGRADPLAN_H

#include "blocksparse/Plan/AttentionPlan.h"

namespace blocksparse {

/// Warpgroups of a CTA that compute tiles, each one of its own.
inline constexpr int64_t attentionGradGroups = 2;

/// Selects what the tiles of a list are.
enum class AttentionGradSide { Keys, Queries };

/// Holds the tables of one kernel of a planned_attention_grad.
struct AttentionGradLists {
  std::vector<AttentionGradTile> tiles;
  /// Worker i computes tiles[workers[i]] .. tiles[workers[i + 1] - 1].
  std::vector<int32_t> workers;
  /// Steps of the tiles; tiles of different batches, and of heads that share a pattern, share them.
  std::vector<AttentionGradStep> steps;
};

/// Returns the lists of all (batch, head) with tiles of `side`, where the heads of tiles of keys
/// are those of keys. Every 64 keys (queries) are one tile, including those without a step. The
/// steps of a tile ascend. Tiles are ordered and assigned as buildAttentionLists does;
/// `options.workers` are warpgroups, and `options.mostGroups` is not used. Deterministic. Fails if
/// the sizes of a block are not multiples of 64, and for tables beyond int32. O(nnz + t log t) for
/// t tiles.
std::optional<AttentionGradLists> buildAttentionGradLists(const AttentionProblem &problem,
                                                          AttentionGradSide side,
                                                          const AttentionOptions &options,
                                                          std::string &error);

/// Checks that the lists take each 64 x 64 elements of the layout that hold an allowed element once
/// for each batch and head, and nothing else; that a step is masked exactly if it holds forbidden
/// elements; and that workers take each tile once. Returns the first fault as "expects X, but got
/// Y", or an empty string.
std::string verifyAttentionGradLists(const AttentionProblem &problem, AttentionGradSide side,
                                     const AttentionGradLists &lists);

} // namespace blocksparse

#endif // BLOCKSPARSE_PLAN_ATTENTIONGRADPLAN_H
