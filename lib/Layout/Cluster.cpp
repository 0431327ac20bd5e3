// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Layout/Cluster.h"

#include <algorithm>
#include <numeric>

using namespace blocksparse;

namespace {

/// Steps after which clustering goes on in smaller runs of rows.
constexpr int64_t workLimit = 20'000'000;

bool checkRequest(const BlockLayout &layout, int64_t head, int64_t groupSize, std::string &error) {
  if (head < 0 || head >= layout.grid().heads) {
    error = "expects a head in [0, " + std::to_string(layout.grid().heads) + "), but got " +
            std::to_string(head);
    return false;
  }
  if (groupSize < 1) {
    error = "expects a group size of at least 1, but got " + std::to_string(groupSize);
    return false;
  }
  return true;
}

/// The rows [begin, end) of one head, by column: rowsOf(c) ascending.
class RowsByColumn {
public:
  RowsByColumn(const BlockLayout &layout, int64_t head, int64_t begin, int64_t end)
      : offsets_(layout.grid().cols + 1) {
    for (int64_t row = begin; row < end; ++row)
      for (int32_t col : layout.row(head, row))
        ++offsets_[col + 1];
    std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
    rows_.resize(offsets_.back());
    std::vector<int32_t> next(offsets_.begin(), offsets_.end() - 1);
    for (int64_t row = begin; row < end; ++row)
      for (int32_t col : layout.row(head, row))
        rows_[next[col]++] = static_cast<int32_t>(row);
  }

  std::span<const int32_t> rowsOf(int32_t col) const {
    return std::span(rows_).subspan(offsets_[col], offsets_[col + 1] - offsets_[col]);
  }

  /// Returns an upper bound of the steps of greedy clustering: each column of a group's union
  /// touches its rows once, and each join scans the touched rows.
  double work(int64_t numRows, int64_t groupSize) const {
    double touches = 0;
    for (size_t col = 0; col + 1 < offsets_.size(); ++col) {
      const double count = offsets_[col + 1] - offsets_[col];
      touches += count * count;
    }
    const double groups = static_cast<double>(numRows) / groupSize + 1;
    touches = std::min(touches, groups * static_cast<double>(rows_.size()));
    const double scans =
        std::min(static_cast<double>(numRows) * numRows, touches * static_cast<double>(groupSize));
    return touches + scans;
  }

private:
  std::vector<int32_t> offsets_, rows_;
};

/// Orders the rows [begin, end) of one head.
class GreedyClusterer {
public:
  GreedyClusterer(const BlockLayout &layout, int64_t head, int64_t begin, int64_t end,
                  int64_t groupSize, const RowsByColumn &byColumn)
      : layout_(layout), head_(head), begin_(begin), end_(end), groupSize_(groupSize),
        byColumn_(byColumn), shared_(end - begin, 0), grouped_(end - begin, false),
        inUnion_(layout.grid().cols, false) {}

  void run(std::vector<int32_t> &order) {
    int64_t seed = begin_;
    for (int64_t placed = 0, total = end_ - begin_; placed < total;) {
      startGroup();
      const int64_t size = std::min(groupSize_, total - placed);
      for (int64_t member = 0; member < size; ++member) {
        while (seed < end_ && grouped_[seed - begin_])
          ++seed;
        const int64_t row = member == 0 ? seed : bestRow(seed);
        join(row);
        order.push_back(static_cast<int32_t>(row));
      }
      placed += size;
    }
  }

private:
  void startGroup() {
    for (int32_t row : touched_)
      shared_[row - begin_] = 0;
    touched_.clear();
    for (int32_t col : union_)
      inUnion_[col] = false;
    union_.clear();
  }

  /// Adds a row to the group and counts its new columns in every row that has
  /// them, so that shared_ is the overlap of each row with the group's union.
  void join(int64_t row) {
    grouped_[row - begin_] = true;
    for (int32_t col : layout_.row(head_, row)) {
      if (inUnion_[col])
        continue;
      inUnion_[col] = true;
      union_.push_back(col);
      for (int32_t other : byColumn_.rowsOf(col)) {
        if (grouped_[other - begin_])
          continue;
        if (shared_[other - begin_]++ == 0)
          touched_.push_back(other);
      }
    }
  }

  int64_t newColumns(int64_t row) const {
    return static_cast<int64_t>(layout_.row(head_, row).size()) - shared_[row - begin_];
  }

  /// Returns the row that joins next, or `fallback`, the first row without a group, if no row
  /// shares a column.
  int64_t bestRow(int64_t fallback) {
    std::erase_if(touched_, [&](int32_t row) { return grouped_[row - begin_]; });
    int64_t best = fallback;
    for (int32_t row : touched_) {
      const int32_t gain = shared_[row - begin_] - shared_[best - begin_];
      if (gain < 0 || row == best)
        continue;
      const int64_t added = gain > 0 ? -1 : newColumns(row) - newColumns(best);
      if (added < 0 || (added == 0 && row < best))
        best = row;
    }
    return best;
  }

  const BlockLayout &layout_;
  const int64_t head_, begin_, end_, groupSize_;
  const RowsByColumn &byColumn_;
  /// For each row, its columns that the group's union has already.
  std::vector<int32_t> shared_;
  std::vector<bool> grouped_, inUnion_;
  std::vector<int32_t> touched_, union_;
};

/// Clusters [begin, end), in two halves where that is too much work. Halves
/// are whole groups, so that only the last group of all is short.
void clusterRange(const BlockLayout &layout, int64_t head, int64_t begin, int64_t end,
                  int64_t groupSize, double limit, std::vector<int32_t> &order) {
  const int64_t numRows = end - begin;
  {
    const RowsByColumn byColumn(layout, head, begin, end);
    const bool divisible = numRows > 2 * groupSize;
    if (!divisible || byColumn.work(numRows, groupSize) <= limit) {
      GreedyClusterer(layout, head, begin, end, groupSize, byColumn).run(order);
      return;
    }
  }
  const int64_t half = numRows / groupSize / 2 * groupSize;
  clusterRange(layout, head, begin, begin + half, groupSize, limit / 2, order);
  clusterRange(layout, head, begin + half, end, groupSize, limit / 2, order);
}

void collectColumns(const BlockLayout &layout, int64_t head, RowClusters &clusters) {
  std::vector<bool> seen(layout.grid().cols, false);
  const int64_t numRows = static_cast<int64_t>(clusters.rows.size());
  clusters.columnOffsets.assign(1, 0);
  for (int64_t first = 0; first < numRows;) {
    const int64_t last = first + std::min(clusters.groupSize, numRows - first);
    const size_t begin = clusters.columns.size();
    for (; first < last; ++first) {
      for (int32_t col : layout.row(head, clusters.rows[first])) {
        if (!seen[col])
          clusters.columns.push_back(col);
        seen[col] = true;
      }
    }
    std::sort(clusters.columns.begin() + begin, clusters.columns.end());
    for (size_t i = begin; i < clusters.columns.size(); ++i)
      seen[clusters.columns[i]] = false;
    clusters.columnOffsets.push_back(static_cast<int32_t>(clusters.columns.size()));
  }
}

} // namespace

/// Returns clusters of a size that is possible, without rows. Fails for a faulty request.
static std::optional<RowClusters> startClusters(const BlockLayout &layout, int64_t head,
                                                int64_t groupSize, std::string &error) {
  if (!checkRequest(layout, head, groupSize, error))
    return std::nullopt;
  RowClusters clusters;
  // A group cannot have more rows than there are; this also bounds arithmetic.
  clusters.groupSize = std::min(groupSize, std::max<int64_t>(1, layout.grid().rows));
  return clusters;
}

std::optional<RowClusters> blocksparse::clusterRows(const BlockLayout &layout, int64_t head,
                                                    int64_t groupSize, std::string &error) {
  std::optional<RowClusters> clusters = startClusters(layout, head, groupSize, error);
  if (!clusters)
    return std::nullopt;
  const int64_t numRows = layout.grid().rows;
  clusters->rows.reserve(numRows);
  clusterRange(layout, head, 0, numRows, clusters->groupSize, workLimit, clusters->rows);
  collectColumns(layout, head, *clusters);
  return clusters;
}

std::optional<RowClusters> blocksparse::consecutiveRows(const BlockLayout &layout, int64_t head,
                                                        int64_t groupSize, std::string &error) {
  std::optional<RowClusters> clusters = startClusters(layout, head, groupSize, error);
  if (!clusters)
    return std::nullopt;
  clusters->rows.resize(layout.grid().rows);
  std::iota(clusters->rows.begin(), clusters->rows.end(), 0);
  collectColumns(layout, head, *clusters);
  return clusters;
}
