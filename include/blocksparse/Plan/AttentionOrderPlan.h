// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The work lists of the kernel that computes all gradients of attention at once. A tile is 128 keys
// of one (batch, head), whose steps are the groups of 64 queries that take these keys. One CTA
// computes a tile: the gradients of its keys and values are its own, but each step adds to the
// gradient of its queries, to which the steps of other tiles add, too. The lists name an order for
// these sums, so that results do not differ from run to run: a step of rank r adds when r steps of
// the same queries have added.
//
// The order comes from a simulation of the CTAs in which every step takes the same time. A CTA
// walks the queries of its tile in a cycle that begins at the diagonal; it takes the next one to
// which nothing was added for some time, so that in a run nobody waits long. As each step waits for
// steps that began earlier in the simulation alone, the order cannot end in a deadlock, provided
// that all CTAs run at the same time. See Tables.h for the fields.

#ifndef BLOCKSPARSE_PLAN_ATTENTIONORDERPLAN_H
#define BLOCKSPARSE_PLAN_ATTENTIONORDERPLAN_H

#include "blocksparse/Plan/AttentionPlan.h"
#include "blocksparse/Target/TargetInfo.h"

namespace blocksparse {

/// Keys of a tile.
inline constexpr int64_t attentionOrderKeys = AttentionOrderTile::groups * attentionKeys;

/// Returns why one kernel cannot compute the gradient of attention with `blockKeys` keys in a
/// block, `depth` columns of q and k, and `valueCols` of v, as "expects X, but got Y", or an empty
/// string.
std::string checkOrderedGradient(int64_t blockKeys, int64_t depth, int64_t valueCols);

/// Returns true if one kernel is expected to be faster than two. On an H200 it takes 8 to 17 % less
/// time, unless some queries take many more keys than others: the sums of their gradient wait for
/// each other (docs/Developer/LabNotes/attention.md). It is not measured on other devices. Requires
/// that checkOrderedGradient finds no reason.
bool prefersOrderedGradient(const AttentionProblem &problem, const GPUFacts &gpu);

/// Holds the tables of a planned_attention_grad in one kernel.
struct AttentionOrderLists {
  std::vector<AttentionOrderTile> tiles;
  /// Worker i computes tiles[workers[i]] .. tiles[workers[i + 1] - 1].
  std::vector<int32_t> workers;
  /// Steps of the tiles; each tile has its own.
  std::vector<AttentionOrderStep> steps;
};

/// Returns the lists of all (batch, head). Every 128 keys are one tile, including those without a
/// step. Tiles are ordered and assigned as buildAttentionLists does; `options.workers` are CTAs,
/// and `options.mostGroups` is not used. Deterministic. Fails if the keys of a block are no
/// multiple of 128 or its queries none of 64, and for more than mostAttentionOrderSteps steps. O(n
/// s) for n steps of tiles of at most s steps.
std::optional<AttentionOrderLists> buildAttentionOrderLists(const AttentionProblem &problem,
                                                            const AttentionOptions &options,
                                                            std::string &error);

/// Steps of all tiles at most: each (batch, head) has steps of its own, of 16 bytes.
inline constexpr int64_t mostAttentionOrderSteps = int64_t{1} << 20;

/// Checks that the lists take each 64 queries and 128 keys of the layout that hold an allowed
/// element once for each batch and head, and nothing else; that a step is masked exactly if it
/// holds forbidden elements; that workers take each tile once; and that workers which walk their
/// steps in order, and wait for the rank of each, come to an end. Returns the first fault as
/// "expects X, but got Y", or an empty string.
std::string verifyAttentionOrderLists(const AttentionProblem &problem,
                                      const AttentionOrderLists &lists);

} // namespace blocksparse

#endif // BLOCKSPARSE_PLAN_ATTENTIONORDERPLAN_H
