// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/Stages.h"
#include "RowGroups.h"

#include <algorithm>
#include <array>
#include <limits>

using namespace blocksparse;

namespace {

/// Rows and depth that one wgmma takes.
constexpr int64_t unit = 64;
constexpr int64_t bytesPerElement = 2;

std::string text(int64_t value) { return std::to_string(value); }

std::nullopt_t fail(std::string &error, std::string message) {
  error = std::move(message);
  return std::nullopt;
}

/// The segment of each (head, tile): segments[head * tiles + tile].
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
    RowSegment &place = byTile[segment.head * product.tiles + segment.tile];
    if (place.slot == -1)
      return fail(error, "expects one segment of tile " + text(segment.tile) + " of head " +
                             text(segment.head) + ", but got a second");
    place = segment;
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

bool checkSize(const StagedRows &staged, std::string &error) {
  const size_t most = std::numeric_limits<int32_t>::max();
  if (staged.records.size() <= most && staged.rows.size() <= most)
    return true;
  error = "expects at most " + text(most) + " numbers of records, but got " +
          text(staged.records.size());
  return false;
}

//===----------------------------------------------------------------------===//
// wgmma
//===----------------------------------------------------------------------===//

/// The 64 x 64 pieces of one row unit, by ascending k.
struct UnitPiece {
  int64_t k, x, y;
};

class WgmmaStager {
public:
  WgmmaStager(const RowProduct &product, const std::vector<RowSegment> &byTile, int64_t tileN)
      : product(product), byTile(byTile), tileN(tileN), parts(product.opRows() / unit) {
    staged.groupSize = 2;
    staged.recordInts = WgmmaRecordTable::columns;
    staged.firstRecord.push_back(0);
  }

  /// The groups of one head; `pairs` has the block rows whose last units share a tile.
  void addHead(int64_t head, const RowClusters *pairs) {
    for (int64_t tile = 0; tile < product.tiles; ++tile)
      for (int64_t part = 0; part + 1 < parts; part += 2)
        addGroup(head, {tile * parts + part, tile * parts + part + 1});
    if (!pairs)
      return;
    for (size_t i = 0; i < pairs->rows.size(); i += pairs->groupSize) {
      const bool second = pairs->groupSize == 2 && i + 1 < pairs->rows.size();
      addGroup(head, {lastUnit(pairs->rows[i]), second ? lastUnit(pairs->rows[i + 1]) : -1});
    }
  }

  StagedRows take() { return std::move(staged); }

private:
  int64_t lastUnit(int64_t tile) const { return tile * parts + parts - 1; }

  void collect(int64_t head, int64_t row, std::vector<UnitPiece> &pieces) const {
    pieces.clear();
    if (row < 0)
      return;
    const RowSegment &segment = byTile[head * product.tiles + row / parts];
    const int64_t m = row % parts * unit, depth = product.opDepth();
    for (const RowEntry &entry : product.entries.subspan(segment.first, segment.count))
      for (int64_t k = 0; k < depth; k += unit) {
        const int64_t y = entry.value * product.block.rows;
        pieces.push_back(product.transposeValues ? UnitPiece{entry.dense * depth + k, m, y + k}
                                                 : UnitPiece{entry.dense * depth + k, k, y + m});
      }
    std::sort(pieces.begin(), pieces.end(),
              [](const UnitPiece &a, const UnitPiece &b) { return a.k < b.k; });
  }

  void addGroup(int64_t head, std::array<int64_t, 2> units) {
    for (int half = 0; half < 2; ++half) {
      staged.rows.push_back(static_cast<int32_t>(units[half]));
      collect(head, units[half], pieces[half]);
    }
    std::array<size_t, 2> next = {0, 0};
    int64_t records = 0;
    while (next[0] < pieces[0].size() || next[1] < pieces[1].size()) {
      int64_t k = std::numeric_limits<int64_t>::max();
      for (int half = 0; half < 2; ++half)
        if (next[half] < pieces[half].size())
          k = std::min(k, pieces[half][next[half]].k);
      WgmmaRecord record{static_cast<int32_t>(k), {}};
      for (int half = 0; half < 2; ++half) {
        if (next[half] == pieces[half].size() || pieces[half][next[half]].k != k)
          continue;
        const UnitPiece &piece = pieces[half][next[half]++];
        record.halves[half] = {static_cast<int32_t>(piece.x), static_cast<int32_t>(piece.y)};
      }
      const std::span<const int32_t> words = flatTable(std::span<const WgmmaRecord>(&record, 1));
      staged.records.insert(staged.records.end(), words.begin(), words.end());
      ++records;
    }
    staged.heads.push_back(static_cast<int32_t>(head));
    staged.firstRecord.push_back(static_cast<int32_t>(staged.firstRecord.back() + records));
    staged.work.push_back(static_cast<int64_t>(pieces[0].size() + pieces[1].size()) * unit * unit);
    staged.cost.push_back(
        bytesPerElement * unit *
        (records * tileN + static_cast<int64_t>(pieces[0].size() + pieces[1].size()) * unit));
  }

  const RowProduct &product;
  const std::vector<RowSegment> &byTile;
  const int64_t tileN, parts;
  std::array<std::vector<UnitPiece>, 2> pieces;
  StagedRows staged;
};

bool checkWgmmaSizes(const RowProduct &product, std::string &error) {
  const int64_t rows = product.opRows(), depth = product.opDepth();
  if (rows < unit || rows % unit != 0 || depth < unit || depth % unit != 0) {
    error = "expects blocks of multiples of 64x64, but got " + text(rows) + "x" + text(depth);
    return false;
  }
  int64_t last = product.denseBlocks * depth;
  for (const RowEntry &entry : product.entries)
    last = std::max(last, (int64_t{entry.value} + 1) * product.block.rows);
  if (last <= std::numeric_limits<int32_t>::max())
    return true;
  error = "expects coordinates of at most 2147483647, but got " + text(last);
  return false;
}

//===----------------------------------------------------------------------===//
// stream
//===----------------------------------------------------------------------===//

class StreamStager {
public:
  StreamStager(const RowProduct &product, const std::vector<RowSegment> &byTile,
               const StreamShape &shape)
      : product(product), byTile(byTile), shape(shape), bySlot(shape.rows) {
    staged.groupSize = shape.rows;
    staged.recordInts = shape.recordInts();
    staged.firstRecord.push_back(0);
    staged.order.reserve(product.entries.size());
  }

  /// A group with `rows` in its places, -1 where there is none; `cost` beside its records.
  void addGroup(int64_t head, std::span<const int32_t> rows, int64_t cost) {
    blocks.clear();
    for (size_t slot = 0; slot < rows.size(); ++slot) {
      if (rows[slot] < 0)
        continue;
      const RowSegment &segment = byTile[head * product.tiles + rows[slot]];
      for (const RowEntry &entry : product.entries.subspan(segment.first, segment.count))
        blocks.push_back({(static_cast<uint64_t>(entry.dense) << 32) | slot, entry.value});
    }
    std::sort(blocks.begin(), blocks.end());
    const size_t before = staged.records.size();
    for (size_t begin = 0, end; begin < blocks.size(); begin = end) {
      const int64_t panel = panelOf(begin), copy = panel / shape.panelsPerCopy();
      for (end = begin; end < blocks.size() && panelOf(end) == panel;)
        ++end;
      // A copy goes to one record if a record can take all its blocks.
      size_t together = end;
      while (copy != openCopy && together < blocks.size() &&
             panelOf(together) / shape.panelsPerCopy() == copy)
        ++together;
      if ((copy != openCopy && numPanels == shape.panels) ||
          numBlocks + static_cast<int64_t>(together - begin) > shape.blocks)
        flush();
      addPanel(panel, begin, end);
    }
    flush();

    staged.rows.insert(staged.rows.end(), rows.begin(), rows.end());
    const int64_t records = (staged.records.size() - before) / staged.recordInts;
    staged.heads.push_back(static_cast<int32_t>(head));
    staged.firstRecord.push_back(static_cast<int32_t>(staged.firstRecord.back() + records));
    staged.work.push_back(static_cast<int64_t>(blocks.size()) * shape.block * shape.block);
    staged.cost.push_back(cost +
                          records * staged.recordInts * static_cast<int64_t>(sizeof(int32_t)));
  }

  StagedRows take() {
    staged.records.resize(staged.records.size() + staged.recordInts, 0); // read ahead
    return std::move(staged);
  }

private:
  int64_t panelOf(size_t number) const { return static_cast<int64_t>(blocks[number].first >> 32); }

  void addPanel(int64_t panel, size_t begin, size_t end) {
    const int64_t perCopy = shape.panelsPerCopy();
    if (numPanels == 0) {
      record = staged.records.size();
      staged.records.resize(record + staged.recordInts, 0);
      staged.records[record + StreamRecordTable::First] = static_cast<int32_t>(staged.order.size());
    }
    if (panel / perCopy != openCopy) {
      openCopy = panel / perCopy;
      staged.records[record + StreamRecordTable::FirstCopy + numPanels / perCopy] =
          static_cast<int32_t>(openCopy * perCopy);
      numPanels += perCopy;
    }
    const int64_t bit = numPanels - perCopy + panel % perCopy;
    for (size_t i = begin; i < end; ++i) {
      const int64_t slot = static_cast<uint32_t>(blocks[i].first);
      int32_t *const words = &staged.records[record + shape.headInts()];
      if (shape.byPanel) {
        const int64_t half = slot / (shape.rows / 2), row = slot % (shape.rows / 2);
        int32_t &word = words[half * shape.halfWords() + bit];
        if (word == 0)
          word = static_cast<int32_t>((numBlocks + static_cast<int64_t>(i - begin)) << 16);
        word |= 1 << row;
        staged.order.push_back(blocks[i].second);
      } else {
        words[slot] |= 1 << bit;
        bySlot[slot].push_back(blocks[i].second);
      }
    }
    numBlocks += static_cast<int64_t>(end - begin);
  }

  void flush() {
    if (numPanels == 0)
      return;
    staged.records[record + StreamRecordTable::Blocks] = static_cast<int32_t>(numBlocks);
    staged.records[record + StreamRecordTable::Panels] = static_cast<int32_t>(numPanels);
    int32_t first = 0;
    for (int64_t slot = 0; slot < shape.rows && !shape.byPanel; ++slot) {
      staged.records[record + shape.headInts() + slot] |= first << 16;
      first += static_cast<int32_t>(bySlot[slot].size());
      staged.order.insert(staged.order.end(), bySlot[slot].begin(), bySlot[slot].end());
      bySlot[slot].clear();
    }
    numPanels = numBlocks = 0;
    openCopy = -1;
  }

  const RowProduct &product;
  const std::vector<RowSegment> &byTile;
  const StreamShape &shape;
  /// ((panel, slot), value block) of the group at hand.
  std::vector<std::pair<uint64_t, int32_t>> blocks;
  /// Of the record at hand: where it begins, what it holds, and the value blocks of each row.
  size_t record = 0;
  int64_t numPanels = 0, numBlocks = 0;
  /// The copy that the record at hand ends with, or -1.
  int64_t openCopy = -1;
  std::vector<std::vector<int32_t>> bySlot;
  StagedRows staged;
};

} // namespace

std::optional<BlockLayout> blocksparse::layoutOfRows(const RowProduct &product,
                                                     std::string &error) {
  std::optional<std::vector<RowSegment>> byTile = segmentsByTile(product, error);
  if (!byTile)
    return std::nullopt;
  return makeLayout(product, *byTile, error);
}

std::optional<StagedRows> blocksparse::buildWgmmaStages(const RowProduct &product, int64_t tileN,
                                                        std::string &error) {
  if (!checkWgmmaSizes(product, error))
    return std::nullopt;
  std::optional<std::vector<RowSegment>> byTile = segmentsByTile(product, error);
  if (!byTile)
    return std::nullopt;
  std::optional<BlockLayout> layout = makeLayout(product, *byTile, error);
  if (!layout)
    return std::nullopt;
  WgmmaStager stager(product, *byTile, tileN);
  const bool odd = product.opRows() / unit % 2 != 0;
  for (int64_t head = 0; head < product.heads; ++head) {
    std::optional<RowClusters> pairs;
    if (odd && !(pairs = groupRows(*layout, head, 2, /*cluster=*/true, /*perCopy=*/1, error)))
      return std::nullopt;
    stager.addHead(head, pairs ? &*pairs : nullptr);
  }
  StagedRows staged = stager.take();
  if (!checkSize(staged, error))
    return std::nullopt;
  return staged;
}

std::optional<StagedRows> blocksparse::buildStreamStages(const RowProduct &product,
                                                         const StreamShape &shape, int64_t tileN,
                                                         bool cluster, std::string &error) {
  if (product.block != BlockShape{shape.block, shape.block})
    return fail(error, "expects blocks of " + text(shape.block) + "x" + text(shape.block) +
                           ", but got " + text(product.block.rows) + "x" +
                           text(product.block.cols));
  if (shape.rows < 1 || shape.panels < 1 || shape.panels > 16 || shape.blocks < shape.rows)
    return fail(error, "expects stages of at least 1 row, 1 to 16 panels and a value block for "
                       "each row, but got " +
                           text(shape.rows) + " rows, " + text(shape.panels) + " panels and " +
                           text(shape.blocks) + " value blocks");
  std::optional<std::vector<RowSegment>> byTile = segmentsByTile(product, error);
  if (!byTile)
    return std::nullopt;
  std::optional<BlockLayout> layout = makeLayout(product, *byTile, error);
  if (!layout)
    return std::nullopt;
  StreamStager stager(product, *byTile, shape);
  for (int64_t head = 0; head < product.heads; ++head) {
    std::optional<RowGroups> groups = groupStreamRows(*layout, head, shape, tileN, cluster, error);
    if (!groups)
      return std::nullopt;
    for (int64_t group = 0; group < groups->groups(); ++group)
      stager.addGroup(head, groups->rowsOf(group), groups->costOf(group, shape, tileN));
  }
  StagedRows staged = stager.take();
  if (!checkSize(staged, error))
    return std::nullopt;
  return staged;
}

std::optional<StreamShape> blocksparse::getStreamShape(const StreamSizes &sizes) {
  const auto [block, rows, panels, stages, warps, wgmma, alongK] = sizes;
  if ((block != 16 && block != 32) || rows < 1 || rows > 64 || panels < 1 || panels > 16 ||
      stages < 1 || warps < 1)
    return std::nullopt;
  if (wgmma ? warps != streamWgmmaWarps || stages < 2 || rows % 2 != 0 ||
                  rows * block > streamWgmmaRows
            : rows % warps != 0)
    return std::nullopt;
  StreamShape shape{block, rows, panels, 0};
  shape.owners = wgmma ? 0 : warps;
  shape.alongK = alongK;
  shape.byPanel = wgmma;
  const int64_t free = streamSharedBytes - streamReservedBytes -
                       streamEpilogueBytes(block, streamBuffers(wgmma, warps));
  const int64_t left = free / stages / 1024 * 1024 - panels * block * 256 - shape.recordInts() * 4;
  shape.blocks = std::min(rows * panels, left / (block * block * bytesPerElement));
  if (left < 0 || shape.blocks < rows)
    return std::nullopt;
  return shape;
}
