// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_PLAN_TILEDROWS_H
#define BLOCKSPARSE_LIB_PLAN_TILEDROWS_H

#include "blocksparse/Plan/Stages.h"

namespace blocksparse {

/// Holds the segments of a row product in the order of their tiles, and the pattern of op(S) that
/// they describe.
class TiledRows {
public:
  /// Fails if a (head, tile) does not have exactly one unsplit segment, or if an index is out of
  /// bounds. `product` must outlive the result.
  static std::optional<TiledRows> get(const RowProduct &product, std::string &error);

  /// Returns the entries of a block row of op(S).
  std::span<const RowEntry> entriesOf(int64_t head, int64_t tile) const {
    const RowSegment &segment = byTile[head * layout.grid().rows + tile];
    return entries.subspan(segment.first, segment.count);
  }

  BlockLayout layout;

private:
  TiledRows(BlockLayout layout, std::vector<RowSegment> byTile, std::span<const RowEntry> entries)
      : layout(std::move(layout)), byTile(std::move(byTile)), entries(entries) {}

  /// The segment of each (head, tile), at index head * tiles + tile.
  std::vector<RowSegment> byTile;
  std::span<const RowEntry> entries;
};

/// Fails if the tables of `staged` have more words than int32 counts.
bool checkTableSize(const StagedRows &staged, std::string &error);

} // namespace blocksparse

#endif // BLOCKSPARSE_LIB_PLAN_TILEDROWS_H
