// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_PLAN_BALANCE_H
#define BLOCKSPARSE_PLAN_BALANCE_H

#include "blocksparse/Plan/CoordinateLut.h"
#include "blocksparse/Plan/RowLut.h"

namespace blocksparse {

/// Selects the order of segments. LongestFirst suits workers that take the next segment when they
/// are free. Dealt suits workers that take equal contiguous shares of the table: segments are
/// assigned to the shares by length, so that each share has about the same work.
enum class SegmentOrder { Kept, LongestFirst, Dealt };

/// Holds the options of balanceSegments.
struct BalanceOptions {
  /// Number of equal workers; at least 1.
  int64_t workers = 1;
  /// The largest number of blocks in one segment; 0 never splits.
  int64_t split = 0;
  SegmentOrder order = SegmentOrder::LongestFirst;
};

/// Holds split and ordered segments, and what combines their partial sums.
struct BalancedRows {
  std::vector<RowSegment> segments;
  /// One row for each split tile, ascending in (head, tile).
  std::vector<CombineRow> combine;
  /// Number of slots.
  int64_t slots = 0;
  /// Estimated time of the slowest worker, see makespan().
  int64_t makespan = 0;
};

/// Cuts every segment of more than `split` blocks into the fewest segments of at most that length,
/// as equal as possible, and orders the result. Equal lengths keep their order, so equal input
/// gives equal output. Fails for a negative option, for a segment that is split already (its slot
/// is not -1), and for more slots than int32 holds. O(s log s) for s segments.
std::optional<BalancedRows> balanceSegments(std::span<const RowSegment> segments,
                                            const BalanceOptions &options, std::string &error);

/// Splits and orders the segments of a coordinate LUT in the same way. Their results are disjoint,
/// so no slots and no combine table are needed.
std::optional<std::vector<CoordinateSegment>>
balanceSegments(std::span<const CoordinateSegment> segments, const BalanceOptions &options,
                std::string &error);

/// Returns the number of blocks that each of `workers` workers gets if the work is divided evenly,
/// at least 1. A single segment of more blocks would take longer than a worker's share.
int64_t balancedShare(std::span<const RowSegment> segments, int64_t workers);

/// Returns the time of the slowest worker if each takes the next of `costs` as soon as it is free
/// (list scheduling); the caller chooses the unit. O(s log workers) for s costs.
int64_t makespan(std::span<const int64_t> costs, int64_t workers);

} // namespace blocksparse

#endif // BLOCKSPARSE_PLAN_BALANCE_H
