// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_PLAN_ROWGROUPS_H
#define BLOCKSPARSE_LIB_PLAN_ROWGROUPS_H

#include "blocksparse/Layout/Cluster.h"
#include "blocksparse/Plan/Stages.h"

namespace blocksparse {

/// Rows of one head in groups: with `cluster`, of rows that share columns where that saves panels,
/// else consecutive. Columns come in copies of `perCopy` neighbours: those are what is shared, and
/// what the columns of the clusters number.
std::optional<RowClusters> groupRows(const BlockLayout &layout, int64_t head, int64_t size,
                                     bool cluster, int64_t perCopy, std::string &error);

/// What a group of a stream kernel loads and computes. Panels are those of its copies, again for
/// each record that a copy comes to.
struct GroupSize {
  int64_t panels = 0, blocks = 0;
  /// Blocks of the warp that has most; those of all rows where warps multiply together.
  int64_t slowest = 0;
};

/// Block rows of one head as a stream kernel takes them.
struct RowGroups {
  /// Places of a group.
  int64_t size = 0;
  /// rows[g * size + i]: block row in place i of group g, or -1.
  std::vector<int32_t> rows;
  std::vector<GroupSize> sizes;
  /// Rows differ so much in length that the loads of a group do not tell its time.
  bool uneven = false;

  int64_t groups() const { return static_cast<int64_t>(sizes.size()); }
  std::span<const int32_t> rowsOf(int64_t group) const {
    return std::span<const int32_t>(rows).subspan(group * size, size);
  }
  /// The time of a group's stages in one panel of `tileN` columns, as the bytes that a worker loads
  /// in it.
  int64_t costOf(int64_t group, const StreamShape &shape, int64_t tileN) const;
};

/// Whether the longest row of a head has much more blocks than the mean.
bool hasUnevenRows(const BlockLayout &layout, int64_t head);

/// Groups for `shape` of `tileN` columns. Where rows are uneven and `cluster` is set, rows of
/// similar length are put together if the estimate says that this saves time, and the places of a
/// group are dealt so that its warps have equally much to do.
std::optional<RowGroups> groupStreamRows(const BlockLayout &layout, int64_t head,
                                         const StreamShape &shape, int64_t tileN, bool cluster,
                                         std::string &error);

} // namespace blocksparse

#endif // BLOCKSPARSE_LIB_PLAN_ROWGROUPS_H
