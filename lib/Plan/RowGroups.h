// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_PLAN_ROWGROUPS_H
#define BLOCKSPARSE_LIB_PLAN_ROWGROUPS_H

#include "blocksparse/Layout/Cluster.h"
#include "blocksparse/Plan/StreamShape.h"
#include "blocksparse/Target/ChipRates.h"

namespace blocksparse {

/// Returns the block rows of one head in groups of `size`: with `cluster`, rows that share columns
/// if that saves panels, else consecutive rows. Columns are loaded in copies of `perCopy`
/// neighbours: rows share copies, and the columns of the result are indices of copies.
std::optional<RowClusters> groupBlockRows(const BlockLayout &layout, int64_t head, int64_t size,
                                          bool cluster, int64_t perCopy, std::string &error);

/// Describes what a row group of a stream kernel loads and computes. `panels` counts all panels of
/// its copies; a copy that is in several records counts several times.
struct RowGroupCost {
  int64_t panels = 0, blocks = 0;
  /// Number of blocks of the warp that has most; of all rows if warps multiply together.
  int64_t slowest = 0;
};

/// Holds the row groups of one head as a stream kernel computes them.
struct RowGroups {
  /// Number of block rows of a group, including missing ones.
  int64_t size = 0;
  /// rows[g * size + i]: block row at index i of group g, or -1.
  std::vector<int32_t> rows;
  std::vector<RowGroupCost> sizes;
  /// True if rows differ so much in length that the loads of a group do not determine its time.
  bool uneven = false;

  int64_t groups() const { return static_cast<int64_t>(sizes.size()); }
  std::span<const int32_t> rowsOf(int64_t group) const {
    return std::span<const int32_t>(rows).subspan(group * size, size);
  }
  /// Returns the cost of a group's stages in one column tile of `tileN` columns, in bytes: what a
  /// worker could load in that time.
  int64_t costOf(int64_t group, const StreamShape &shape, int64_t tileN,
                 const ChipRates &rates) const;
};

/// Returns true if the longest row of a head has far more blocks than the mean.
bool hasUnevenRows(const BlockLayout &layout, int64_t head);

/// Returns the row groups for `shape` and column tiles of `tileN` columns. If rows are uneven and
/// `cluster` is true, rows of similar length are put together if that is estimated to save time,
/// and the rows of a group are assigned to its warps so that these have about the same work.
std::optional<RowGroups> groupStreamRows(const BlockLayout &layout, int64_t head,
                                         const StreamShape &shape, int64_t tileN, bool cluster,
                                         const ChipRates &rates, std::string &error);

} // namespace blocksparse

#endif // BLOCKSPARSE_LIB_PLAN_ROWGROUPS_H
