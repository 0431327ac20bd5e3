// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RowGroups.h"
#include "blocksparse/Plan/StageCost.h"

#include <algorithm>
#include <numeric>

using namespace blocksparse;

namespace {

constexpr int64_t bytesPerElement = 2;
/// A head is uneven if a row is longer than the mean by this factor.
constexpr double unevenRows = 1.5;
/// The lengths of the rows of one class differ at most by this factor, if groups have rows of
/// similar length.
constexpr double similarLength = 1.15;

/// Returns the time of loading the panels and value blocks of a group, in bytes.
int64_t loadedBytes(const StreamShape &shape, int64_t tileN, const RowGroupCost &size) {
  const double panels = static_cast<double>(size.panels) * shape.copyCost();
  return bytesPerElement * shape.block *
         (static_cast<int64_t>(panels * static_cast<double>(tileN)) + size.blocks * shape.block);
}

/// Returns the time of a group's stages, in bytes: what a worker could load in that time.
int64_t estimateGroup(const StreamShape &shape, int64_t tileN, const RowGroupCost &size,
                      const ChipRates &rates) {
  const int64_t bytes = loadedBytes(shape, tileN, size);
  if (shape.consumers == 0)
    return bytes;
  const int64_t warps = rates.stream16.fullWarps;
  const StageRates worker = getStreamRates(rates, shape.block, warps);
  // A warp takes as long for a block whether or not the other warps have one.
  const int64_t blocks = std::max(size.blocks, size.slowest * warps);
  const double flops = 2.0 * static_cast<double>(blocks * shape.block * shape.block * tileN);
  return std::max(
      bytes, static_cast<int64_t>(flops / worker.flopsPerSecond * worker.loadedBytesPerSecond));
}

/// Builds the row groups of one head.
class RowGrouper {
public:
  RowGrouper(const BlockLayout &layout, int64_t head, const StreamShape &shape, int64_t tileN,
             const ChipRates &rates)
      : layout(layout), head(head), shape(shape), tileN(tileN), rates(rates),
        seen(layout.grid().cols, -1), blocksOf(layout.grid().cols, 0) {}

  int64_t length(int64_t row) const {
    return row < 0 ? 0 : static_cast<int64_t>(layout.row(head, row).size());
  }

  /// Returns the groups of `clusters`; with `balance`, their rows are assigned to warps by length.
  RowGroups take(const RowClusters &clusters, bool balance) {
    RowGroups groups = start();
    const int64_t rows = clusters.rows.size();
    for (int64_t first = 0; first < rows; first += clusters.groupSize)
      add(groups,
          std::span<const int32_t>(clusters.rows)
              .subspan(first, std::min(clusters.groupSize, rows - first)),
          balance);
    return groups;
  }

  /// Returns groups of rows of similar length, the longest first.
  std::optional<RowGroups> takeByLength(std::string &error);

  double cost(const RowGroups &groups) const {
    double total = 0;
    for (const RowGroupCost &size : groups.sizes)
      total += static_cast<double>(estimateGroup(shape, tileN, size, rates));
    return total;
  }

private:
  RowGroups start() const {
    RowGroups groups;
    groups.size = shape.rows;
    return groups;
  }

  int64_t consumers() const { return std::max<int64_t>(1, shape.consumers); }
  int64_t consumerOf(int64_t index) const { return index % consumers(); }

  std::vector<int32_t> deal(std::span<const int32_t> rows) const;
  std::vector<int32_t> match(std::span<const int32_t> rows) const;
  RowGroupCost measure(std::span<const int32_t> members);
  /// Returns how many of `rows`, the longest first, make the group whose slowest warp has least
  /// work. The result is at most `spare` smaller than the number of rows.
  int64_t shorten(std::span<const int32_t> rows, int64_t spare);
  void add(RowGroups &groups, std::span<const int32_t> rows, bool balance);

  const BlockLayout &layout;
  const int64_t head;
  const StreamShape &shape;
  const int64_t tileN;
  const ChipRates &rates;
  /// For each copy: the last group that was measured with it, and its number of blocks there.
  std::vector<int64_t> seen, blocksOf;
  int64_t measured = 0;
};

/// Assigns each next longest row to the warp with the fewest blocks that can take another row.
std::vector<int32_t> RowGrouper::deal(std::span<const int32_t> rows) const {
  std::vector<int32_t> sorted(rows.begin(), rows.end()), members(shape.rows, -1);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](int32_t a, int32_t b) { return length(a) > length(b); });
  std::vector<int64_t> load(consumers(), 0);
  for (int32_t row : sorted) {
    int64_t best = -1;
    for (int64_t index = 0; index < shape.rows; ++index)
      if (members[index] < 0 && (best < 0 || load[consumerOf(index)] < load[consumerOf(best)]))
        best = index;
    members[best] = row;
    load[consumerOf(best)] += length(row);
  }
  return members;
}

int64_t countCommon(std::span<const int32_t> a, std::span<const int32_t> b) {
  int64_t common = 0;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    common += a[i] == b[j];
    const bool first = a[i] <= b[j], second = b[j] <= a[i];
    i += first;
    j += second;
  }
  return common;
}

/// Assigns two rows to each warp: the first row that is left, and the row that shares most columns
/// with it (the first of equals).
std::vector<int32_t> RowGrouper::match(std::span<const int32_t> rows) const {
  std::vector<int32_t> left(rows.begin(), rows.end()), members(rows.size());
  for (int64_t consumer = 0; consumer < consumers(); ++consumer) {
    size_t best = 1;
    int64_t most = -1;
    for (size_t i = 1; i < left.size(); ++i) {
      const int64_t common = countCommon(layout.row(head, left[0]), layout.row(head, left[i]));
      if (common > most) {
        best = i;
        most = common;
      }
    }
    members[consumer] = left[0];
    members[consumer + consumers()] = left[best];
    left.erase(left.begin() + best);
    left.erase(left.begin());
  }
  return members;
}

RowGroupCost RowGrouper::measure(std::span<const int32_t> members) {
  const int64_t perCopy = shape.panelsPerCopy;
  RowGroupCost size;
  std::vector<int64_t> load(consumers(), 0);
  ++measured;
  for (int64_t index = 0; index < static_cast<int64_t>(members.size()); ++index) {
    if (members[index] < 0)
      continue;
    for (int32_t col : layout.row(head, members[index])) {
      const int64_t copy = col / perCopy;
      if (seen[copy] != measured)
        blocksOf[copy] = 0;
      seen[copy] = measured;
      if (blocksOf[copy]++ % shape.blocks == 0)
        size.panels += perCopy;
    }
    size.blocks += length(members[index]);
    load[consumerOf(index)] += length(members[index]);
  }
  size.slowest = *std::max_element(load.begin(), load.end());
  return size;
}

void RowGrouper::add(RowGroups &groups, std::span<const int32_t> rows, bool balance) {
  std::vector<int32_t> members(rows.begin(), rows.end());
  members.resize(shape.rows, -1);
  if (static_cast<int64_t>(rows.size()) == 2 * shape.consumers)
    members = match(rows);
  RowGroupCost size = measure(members);
  if (balance) {
    std::vector<int32_t> dealt = deal(rows);
    // If the assignment does not help, rows keep their order.
    if (RowGroupCost better = measure(dealt); better.slowest < size.slowest) {
      members = std::move(dealt);
      size = better;
    }
  }
  groups.rows.insert(groups.rows.end(), members.begin(), members.end());
  groups.sizes.push_back(size);
}

/// Returns the pattern of one head with one column for each `perCopy` neighbouring columns.
std::optional<BlockLayout> joinColumns(const BlockLayout &layout, int64_t head, int64_t perCopy,
                                       std::string &error) {
  std::vector<int32_t> offsets(1, 0), copies;
  for (int64_t row = 0; row < layout.grid().rows; ++row) {
    int64_t last = -1;
    for (int32_t col : layout.row(head, row)) {
      if (col / perCopy != last)
        copies.push_back(static_cast<int32_t>(col / perCopy));
      last = col / perCopy;
    }
    offsets.push_back(static_cast<int32_t>(copies.size()));
  }
  return BlockLayout::fromCsr(layout.block(),
                              {1, layout.grid().rows, (layout.grid().cols + perCopy - 1) / perCopy},
                              std::move(offsets), std::move(copies), error);
}

/// Returns the pattern of some rows of one head.
std::optional<BlockLayout> selectRows(const BlockLayout &layout, int64_t head,
                                      std::span<const int32_t> rows, std::string &error) {
  std::vector<int32_t> offsets(1, 0), cols;
  for (int32_t row : rows) {
    const std::span<const int32_t> more = layout.row(head, row);
    cols.insert(cols.end(), more.begin(), more.end());
    offsets.push_back(static_cast<int32_t>(cols.size()));
  }
  return BlockLayout::fromCsr(layout.block(),
                              {1, static_cast<int64_t>(rows.size()), layout.grid().cols},
                              std::move(offsets), std::move(cols), error);
}

int64_t RowGrouper::shorten(std::span<const int32_t> rows, int64_t spare) {
  int64_t best = rows.size();
  RowGroupCost size = measure(deal(rows));
  const int64_t least = std::max<int64_t>(1, best - spare);
  for (int64_t kept = best - 1; kept >= least; --kept) {
    const RowGroupCost less = measure(deal(rows.first(kept)));
    if (less.slowest >= size.slowest ||
        estimateGroup(shape, tileN, less, rates) >= estimateGroup(shape, tileN, size, rates))
      continue;
    best = kept;
    size = less;
  }
  return best;
}

std::optional<RowGroups> RowGrouper::takeByLength(std::string &error) {
  const int64_t rows = layout.grid().rows, size = shape.rows;
  std::vector<int32_t> sorted(rows);
  std::iota(sorted.begin(), sorted.end(), 0);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](int32_t a, int32_t b) { return length(a) > length(b); });
  // Indices that no row needs stay free beside the longest rows, so that their warps have no
  // others.
  int64_t spare = shape.consumers == 0 ? 0 : (rows + size - 1) / size * size - rows;
  RowGroups groups = start();
  for (int64_t first = 0; first < rows;) {
    const double least = static_cast<double>(length(sorted[first])) / similarLength;
    int64_t last = first;
    while (last < rows && static_cast<double>(length(sorted[last])) >= least)
      ++last;
    // A class consists of complete groups.
    last = std::min(rows, first + std::max<int64_t>(1, (last - first) / size) * size);
    if (last - first == size && last < rows) {
      const int64_t kept = shorten(std::span(sorted).subspan(first, size), spare);
      spare -= size - kept;
      last = first + kept;
    }
    // The rows of a class keep their order.
    std::vector<int32_t> members(sorted.begin() + first, sorted.begin() + last);
    std::sort(members.begin(), members.end());
    std::optional<BlockLayout> part = selectRows(layout, head, members, error);
    if (!part)
      return std::nullopt;
    std::optional<RowClusters> clusters =
        groupBlockRows(*part, 0, size, /*cluster=*/true, shape.panelsPerCopy, error);
    if (!clusters)
      return std::nullopt;
    for (int32_t &row : clusters->rows)
      row = members[row];
    RowGroups more = take(*clusters, /*balance=*/true);
    groups.rows.insert(groups.rows.end(), more.rows.begin(), more.rows.end());
    groups.sizes.insert(groups.sizes.end(), more.sizes.begin(), more.sizes.end());
    first = last;
  }
  return groups;
}

} // namespace

std::optional<RowClusters> blocksparse::groupBlockRows(const BlockLayout &layout, int64_t head,
                                                       int64_t size, bool cluster, int64_t perCopy,
                                                       std::string &error) {
  if (perCopy > 1) {
    const std::optional<BlockLayout> joined = joinColumns(layout, head, perCopy, error);
    return joined ? groupBlockRows(*joined, 0, size, cluster, 1, error) : std::nullopt;
  }
  std::optional<RowClusters> plain = consecutiveRows(layout, head, size, error);
  if (!plain || !cluster)
    return plain;
  std::optional<RowClusters> shared = clusterRows(layout, head, size, error);
  return shared && shared->numPanels() < plain->numPanels() ? shared : plain;
}

bool blocksparse::hasUnevenRows(const BlockLayout &layout, int64_t head) {
  const int64_t rows = layout.grid().rows;
  int64_t most = 0, total = 0;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t length = layout.row(head, row).size();
    most = std::max(most, length);
    total += length;
  }
  return static_cast<double>(most * rows) > unevenRows * static_cast<double>(total);
}

std::optional<RowGroups> blocksparse::groupStreamRows(const BlockLayout &layout, int64_t head,
                                                      const StreamShape &shape, int64_t tileN,
                                                      bool cluster, const ChipRates &rates,
                                                      std::string &error) {
  std::optional<RowClusters> clusters =
      groupBlockRows(layout, head, shape.rows, cluster, shape.panelsPerCopy, error);
  if (!clusters)
    return std::nullopt;
  RowGrouper grouper(layout, head, shape, tileN, rates);
  const bool uneven = cluster && hasUnevenRows(layout, head);
  RowGroups groups = grouper.take(*clusters, /*balance=*/uneven);
  if (uneven) {
    std::optional<RowGroups> byLength = grouper.takeByLength(error);
    if (!byLength)
      return std::nullopt;
    if (grouper.cost(*byLength) <= grouper.cost(groups))
      groups = std::move(*byLength);
  }
  groups.uneven = uneven;
  return groups;
}

int64_t RowGroups::costOf(int64_t group, const StreamShape &shape, int64_t tileN,
                          const ChipRates &rates) const {
  return uneven ? estimateGroup(shape, tileN, sizes[group], rates)
                : loadedBytes(shape, tileN, sizes[group]);
}
