// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_PLAN_BALANCE_H
#define BLOCKSPARSE_PLAN_BALANCE_H

#include "blocksparse/Plan/CoordinateLut.h"
#include "blocksparse/Plan/RowLut.h"

namespace blocksparse {

/// In which order segments stand. LongestFirst suits workers that take the next segment when
/// they are free; Dealt suits workers that take equal contiguous shares of the table:
/// segments are dealt out by length, so that each share has about the same work.
enum class SegmentOrder { Kept, LongestFirst, Dealt };

struct BalanceOptions {
  /// Number of equal workers; at least 1.
  int64_t workers = 1;
  /// Longest run of blocks in one segment; 0 never splits.
  int64_t split = 0;
  SegmentOrder order = SegmentOrder::LongestFirst;
};

struct BalancedRows {
  std::vector<RowSegment> segments;
  /// One row for each split tile, ascending in (head, tile).
  std::vector<CombineRow> combine;
  int64_t slots = 0;
  /// Estimated time of the slowest worker, see makespan().
  int64_t makespan = 0;
};

/// Cuts every segment of more than `split` blocks into the fewest pieces of at most
/// that length, as equal as possible, and orders the result; equal lengths keep
/// their order, so equal input gives equal output. `segments` must not be split yet (slot -1).
/// Fails for a negative option, a segment that has a slot, or more slots than int32 holds. O(s log
/// s).
std::optional<BalancedRows> balanceSegments(std::span<const RowSegment> segments,
                                            const BalanceOptions &options, std::string &error);

/// The same for the runs of a coordinate LUT, which need no combining.
std::optional<std::vector<CoordinateSegment>>
balanceSegments(std::span<const CoordinateSegment> segments, const BalanceOptions &options,
                std::string &error);

/// Blocks that each of `workers` gets when the work divides evenly, at least 1: the `split`
/// beyond which one segment alone would take longer than its share.
int64_t balancedShare(std::span<const RowSegment> segments, int64_t workers);

/// Time of the slowest worker when each takes the next of `costs` as soon as it is free (list
/// scheduling); the caller chooses the unit. O(s log workers).
int64_t makespan(std::span<const int64_t> costs, int64_t workers);

} // namespace blocksparse

#endif // BLOCKSPARSE_PLAN_BALANCE_H
