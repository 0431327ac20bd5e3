// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/Balance.h"
#include "Fault.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>

using namespace blocksparse;

namespace {

bool checkOptions(const BalanceOptions &options, std::string &error) {
  if (options.workers < 1)
    error = "expects at least 1 worker, but got " + std::to_string(options.workers);
  else if (options.split < 0)
    error = "expects a split of at least 0, but got " + std::to_string(options.split);
  else
    return true;
  return false;
}

int64_t pieceCount(int64_t count, int64_t split) {
  return split == 0 || count <= split ? 1 : (count + split - 1) / split;
}

/// Cuts a run and calls `visit(first, count)` for each part, in ascending order. The lengths of the
/// parts differ by at most 1.
template <typename Visit>
void cut(int64_t first, int64_t count, int64_t split, Visit visit) {
  const int64_t pieces = pieceCount(count, split);
  for (int64_t p = 0; p < pieces; ++p) {
    const int64_t begin = count * p / pieces, end = count * (p + 1) / pieces;
    visit(static_cast<int32_t>(first + begin), static_cast<int32_t>(end - begin));
  }
}

/// Sorts segments by descending length; equal lengths keep their order.
template <typename Segment>
void sortLongestFirst(std::vector<Segment> &segments) {
  std::vector<std::pair<int32_t, size_t>> order; // (-count, index)
  order.reserve(segments.size());
  for (const Segment &segment : segments)
    order.emplace_back(-segment.count, order.size());
  std::sort(order.begin(), order.end());
  std::vector<Segment> sorted;
  sorted.reserve(segments.size());
  for (const auto &[length, index] : order)
    sorted.push_back(segments[index]);
  segments = std::move(sorted);
}

/// Assigns segments, longest first, back and forth to `workers` shares of equal length. A worker
/// that takes an equal contiguous share of the table then has about the mean work.
template <typename Segment>
void deal(std::vector<Segment> &segments, int64_t workers) {
  sortLongestFirst(segments);
  const int64_t count = segments.size();
  const int64_t shares = std::min(workers, count);
  std::vector<std::vector<Segment>> hands(shares);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t round = i / shares, seat = i % shares;
    hands[round % 2 ? shares - 1 - seat : seat].push_back(segments[i]);
  }
  segments.clear();
  for (const std::vector<Segment> &hand : hands)
    segments.insert(segments.end(), hand.begin(), hand.end());
}

/// Orders segments as the options say. Segments of equal length keep their order: they would gain
/// nothing, and neighbours that share blocks of the dense operand in the cache would be separated.
template <typename Segment>
void order(std::vector<Segment> &segments, const BalanceOptions &options) {
  const bool even = std::all_of(segments.begin(), segments.end(), [&](const Segment &segment) {
    return segment.count == segments.front().count;
  });
  if (even || options.order == SegmentOrder::Kept)
    return;
  if (options.order == SegmentOrder::LongestFirst)
    sortLongestFirst(segments);
  else
    deal(segments, options.workers);
}

} // namespace

std::optional<BalancedRows> blocksparse::balanceSegments(std::span<const RowSegment> segments,
                                                         const BalanceOptions &options,
                                                         std::string &error) {
  if (!checkOptions(options, error))
    return std::nullopt;
  BalancedRows result;
  result.segments.reserve(segments.size());
  for (const RowSegment &segment : segments) {
    if (segment.slot != -1)
      return fail(error, "expects segments that are not split yet, but got slot " +
                             std::to_string(segment.slot));
    const int64_t pieces = pieceCount(segment.count, options.split);
    if (pieces == 1) {
      result.segments.push_back(segment);
      continue;
    }
    if (result.slots + pieces > std::numeric_limits<int32_t>::max())
      return fail(error, "expects at most 2147483647 reduction slots, but got more with split " +
                             std::to_string(options.split));
    result.combine.push_back({segment.tile, segment.head, static_cast<int32_t>(result.slots),
                              static_cast<int32_t>(pieces)});
    cut(segment.first, segment.count, options.split, [&](int32_t first, int32_t count) {
      result.segments.push_back(
          {segment.tile, segment.head, first, count, static_cast<int32_t>(result.slots++)});
    });
  }
  order(result.segments, options);
  std::vector<int64_t> costs;
  costs.reserve(result.segments.size());
  // Each segment reads its blocks and writes one tile.
  for (const RowSegment &segment : result.segments)
    costs.push_back(int64_t{segment.count} + 1);
  result.makespan = makespan(costs, options.workers);
  return result;
}

std::optional<std::vector<CoordinateSegment>>
blocksparse::balanceSegments(std::span<const CoordinateSegment> segments,
                             const BalanceOptions &options, std::string &error) {
  if (!checkOptions(options, error))
    return std::nullopt;
  std::vector<CoordinateSegment> result;
  result.reserve(segments.size());
  for (const CoordinateSegment &segment : segments)
    cut(segment.first, segment.count, options.split,
        [&](int32_t first, int32_t count) { result.push_back({first, count}); });
  order(result, options);
  return result;
}

int64_t blocksparse::balancedShare(std::span<const RowSegment> segments, int64_t workers) {
  int64_t total = 0;
  for (const RowSegment &segment : segments)
    total += segment.count;
  return std::max<int64_t>(1, workers < 1 ? total : (total + workers - 1) / workers);
}

int64_t blocksparse::makespan(std::span<const int64_t> costs, int64_t workers) {
  std::priority_queue<int64_t, std::vector<int64_t>, std::greater<>> busyUntil;
  int64_t latest = 0;
  for (int64_t cost : costs) {
    int64_t start = 0;
    if (static_cast<int64_t>(busyUntil.size()) >= std::max<int64_t>(workers, 1)) {
      start = busyUntil.top();
      busyUntil.pop();
    }
    busyUntil.push(start + cost);
    latest = std::max(latest, start + cost);
  }
  return latest;
}
