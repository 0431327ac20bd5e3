// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/Stages.h"
#include "Fault.h"
#include "TiledRows.h"

#include <limits>

using namespace blocksparse;

namespace {

/// Returns the segment of each (head, tile), at index head * tiles + tile.
std::optional<std::vector<RowSegment>> segmentsByTile(const RowProduct &product,
                                                      std::string &error) {
  std::vector<RowSegment> byTile(product.heads * product.tiles, {0, 0, 0, 0, 0});
  const int64_t entries = product.entries.size();
  for (const RowSegment &segment : product.segments) {
    if (segment.slot != -1)
      return fail(error, "expects segments that are not split, but got slot " + text(segment.slot));
    if (segment.head < 0 || segment.head >= product.heads || segment.tile < 0 ||
        segment.tile >= product.tiles || segment.first < 0 || segment.count < 0 ||
        int64_t{segment.first} + segment.count > entries)
      return fail(error, "expects a segment within " + text(product.heads) + " heads, " +
                             text(product.tiles) + " tiles and " + text(entries) +
                             " entries, but got head " + text(segment.head) + ", tile " +
                             text(segment.tile) + ", entries " + text(segment.first) + " and " +
                             text(segment.count) + " following");
    RowSegment &known = byTile[segment.head * product.tiles + segment.tile];
    if (known.slot == -1)
      return fail(error, "expects one segment of tile " + text(segment.tile) + " of head " +
                             text(segment.head) + ", but got a second");
    known = segment;
  }
  if (product.segments.size() != byTile.size())
    return fail(error, "expects a segment for each of " + text(byTile.size()) + " tiles, but got " +
                           text(product.segments.size()));
  return byTile;
}

std::optional<BlockLayout> makeLayout(const RowProduct &product,
                                      const std::vector<RowSegment> &byTile, std::string &error) {
  std::vector<int32_t> offsets(1, 0), cols;
  offsets.reserve(byTile.size() + 1);
  cols.reserve(product.entries.size());
  for (const RowSegment &segment : byTile) {
    for (const RowEntry &entry : product.entries.subspan(segment.first, segment.count))
      cols.push_back(entry.dense);
    offsets.push_back(static_cast<int32_t>(cols.size()));
  }
  return BlockLayout::fromCsr({product.opRows(), product.opDepth()},
                              {product.heads, product.tiles, product.denseBlocks},
                              std::move(offsets), std::move(cols), error);
}

} // namespace

std::optional<TiledRows> TiledRows::get(const RowProduct &product, std::string &error) {
  std::optional<std::vector<RowSegment>> byTile = segmentsByTile(product, error);
  if (!byTile)
    return std::nullopt;
  std::optional<BlockLayout> layout = makeLayout(product, *byTile, error);
  if (!layout)
    return std::nullopt;
  return TiledRows(std::move(*layout), std::move(*byTile), product.entries);
}

bool blocksparse::checkTableSize(const StagedRows &staged, std::string &error) {
  const size_t most = std::numeric_limits<int32_t>::max();
  if (staged.records.size() <= most && staged.rows.size() <= most)
    return true;
  error = "expects at most " + text(most) + " numbers of records, but got " +
          text(staged.records.size());
  return false;
}

std::optional<BlockLayout> blocksparse::layoutOfRows(const RowProduct &product,
                                                     std::string &error) {
  std::optional<TiledRows> rows = TiledRows::get(product, error);
  if (!rows)
    return std::nullopt;
  return std::move(rows->layout);
}
