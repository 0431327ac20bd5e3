// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The planner of attention and the check of its lists ask here which keys 64 queries take. Keys are
// counted in units: the 64 keys of a half, or the 16 keys of a slice of joined steps.

#ifndef BLOCKSPARSE_LIB_PLAN_ATTENTIONKEYS_H
#define BLOCKSPARSE_LIB_PLAN_ATTENTIONKEYS_H

#include "AttentionTiles.h"

namespace blocksparse {

/// Returns the bit of AttentionStep::halves of half `half`.
inline int32_t bitOfHalf(int64_t half) {
  return half == 0 ? AttentionStep::First : AttentionStep::Second;
}

/// Tells which keys queries take.
class AttentionKeys {
public:
  /// `problem` must live as long as the object.
  explicit AttentionKeys(const AttentionProblem &problem)
      : problem(problem), isJoined(joinsBlocks(problem.layout.block())),
        unit(isJoined ? AttentionSlices::keysOfSlice : attentionKeys) {}

  /// Returns the queries of the layout, and the groups of 64 queries, of which the last one may
  /// have fewer.
  int64_t queries() const { return problem.layout.grid().rows * problem.layout.block().rows; }
  int64_t slabs() const { return (queries() + attentionRows - 1) / attentionRows; }
  /// Returns the units of a half of a step and of a step.
  int64_t unitsOfHalf() const { return attentionKeys / unit; }
  int64_t unitsOfStep() const { return 2 * unitsOfHalf(); }

  /// Replaces `keys` by the first keys of the units that some of `count` queries from `row` on
  /// take, in ascending order. There are none for a negative row.
  void collect(int64_t head, int64_t row, std::vector<int32_t> &keys,
               int64_t count = attentionRows) const;

  /// Returns the part of a step (a bit of `halves`, with Elements if it applies) that 64 queries
  /// from `row` on take of the 64 keys from `key` on in half `half`; 0 if the band forbids all
  /// elements. Requires that steps are not joined.
  int32_t takenOf(int64_t row, int64_t key, int64_t half) const;

  /// Returns bit 8 w for each warp w of a warpgroup with the 64 queries from `row` on that takes
  /// the slice from `key` on. Sets `cut` if a mask may forbid some element of it.
  uint32_t warpsThatTake(int64_t head, int64_t row, int64_t key, bool &cut) const;

  /// Returns the pattern of the units that each 64 queries take. Fails for layouts that are too
  /// large.
  std::optional<BlockLayout> joinRows(std::string &error) const;

  const AttentionProblem &problem;
  const bool isJoined;
  /// Keys of a unit.
  const int64_t unit;
};

} // namespace blocksparse

#endif // BLOCKSPARSE_LIB_PLAN_ATTENTIONKEYS_H
