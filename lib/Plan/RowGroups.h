// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_PLAN_ROWGROUPS_H
#define BLOCKSPARSE_LIB_PLAN_ROWGROUPS_H

#include "blocksparse/Layout/Cluster.h"

namespace blocksparse {

/// Rows of one head in groups: with `cluster`, of rows that share columns where that saves panels,
/// else consecutive.
inline std::optional<RowClusters> groupRows(const BlockLayout &layout, int64_t head, int64_t size,
                                            bool cluster, std::string &error) {
  std::optional<RowClusters> plain = consecutiveRows(layout, head, size, error);
  if (!plain || !cluster)
    return plain;
  std::optional<RowClusters> shared = clusterRows(layout, head, size, error);
  return shared && shared->numPanels() < plain->numPanels() ? shared : plain;
}

} // namespace blocksparse

#endif // BLOCKSPARSE_LIB_PLAN_ROWGROUPS_H
