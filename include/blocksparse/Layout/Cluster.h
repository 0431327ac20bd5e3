// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LAYOUT_CLUSTER_H
#define BLOCKSPARSE_LAYOUT_CLUSTER_H

#include "blocksparse/Layout/BlockLayout.h"

namespace blocksparse {

/// Holds the block rows of one head in groups of rows that share block columns, so that a tile of
/// several rows loads fewer panels of the dense operand.
struct RowClusters {
  int64_t groupSize = 1;
  /// All block rows, each once: group g is entries g * groupSize and following,
  /// the last group may be shorter.
  std::vector<int32_t> rows;
  /// The block columns that group g needs, ascending:
  /// columns[columnOffsets[g]] ... columns[columnOffsets[g + 1] - 1].
  std::vector<int32_t> columnOffsets;
  std::vector<int32_t> columns;

  int64_t numGroups() const { return static_cast<int64_t>(columnOffsets.size()) - 1; }
  /// Returns the number of panels that all groups load together, which clustering reduces.
  int64_t numPanels() const { return static_cast<int64_t>(columns.size()); }
};

/// Groups the block rows of `head` greedily: the first row without a group
/// starts one; the row that shares most columns with the group joins it until
/// it has `groupSize` rows. Rows that share equally many go by fewer new
/// columns, then by lower index. Rows that share nothing join in order, so that
/// only the last group is short.
///
/// Deterministic. The work is bounded: where the exact choice would cost more
/// than about 2 * 10^7 steps, runs of consecutive rows are clustered one by one.
/// Fails when the head is not in the grid or groupSize is not positive.
std::optional<RowClusters> clusterRows(const BlockLayout &layout, int64_t head, int64_t groupSize,
                                       std::string &error);

/// Returns groups of consecutive block rows, with the columns that each group needs, for comparison
/// with clusterRows.
std::optional<RowClusters> consecutiveRows(const BlockLayout &layout, int64_t head,
                                           int64_t groupSize, std::string &error);

} // namespace blocksparse

#endif // BLOCKSPARSE_LAYOUT_CLUSTER_H
