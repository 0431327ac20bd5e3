// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Fault.h"
#include "RowGroups.h"
#include "TiledRows.h"

#include <algorithm>

using namespace blocksparse;

namespace {

/// Fills the records of row groups, one group after another.
class StreamStager {
public:
  StreamStager(const RowProduct &product, const TiledRows &tiled, const StreamShape &shape)
      : tiled(tiled), shape(shape), byRow(shape.rows) {
    staged.groupSize = shape.rows;
    staged.recordInts = shape.recordInts();
    staged.firstRecord.push_back(0);
    staged.order.reserve(product.entries.size());
  }

  /// Adds a row group of the block rows `rows`, -1 for none. `cost` is its cost without the bytes
  /// of its records.
  void addGroup(int64_t head, std::span<const int32_t> rows, int64_t cost) {
    blocks.clear();
    for (size_t row = 0; row < rows.size(); ++row) {
      if (rows[row] < 0)
        continue;
      for (const RowEntry &entry : tiled.entriesOf(head, rows[row]))
        blocks.push_back({(static_cast<uint64_t>(entry.dense) << 32) | row, entry.value});
    }
    std::sort(blocks.begin(), blocks.end());
    const size_t before = staged.records.size();
    for (size_t begin = 0, end; begin < blocks.size(); begin = end) {
      const int64_t panel = panelOf(begin), copy = panel / shape.panelsPerCopy;
      for (end = begin; end < blocks.size() && panelOf(end) == panel;)
        ++end;
      // All blocks of a copy go to one record if they fit in one.
      size_t together = end;
      while (copy != openCopy && together < blocks.size() &&
             panelOf(together) / shape.panelsPerCopy == copy)
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
  int64_t panelOf(size_t block) const { return static_cast<int64_t>(blocks[block].first >> 32); }

  void addPanel(int64_t panel, size_t begin, size_t end) {
    const int64_t perCopy = shape.panelsPerCopy;
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
      const int64_t row = static_cast<uint32_t>(blocks[i].first);
      int32_t *const words = &staged.records[record + shape.headInts()];
      if (shape.byPanel) {
        const int64_t half = row / (shape.rows / 2), bitOfRow = row % (shape.rows / 2);
        int32_t &word = words[half * shape.halfWords() + bit];
        if (word == 0)
          word = StreamWord::startingAt(numBlocks + static_cast<int64_t>(i - begin));
        word |= 1 << bitOfRow;
        staged.order.push_back(blocks[i].second);
      } else {
        words[row] |= 1 << bit;
        byRow[row].push_back(blocks[i].second);
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
    for (int64_t row = 0; row < shape.rows && !shape.byPanel; ++row) {
      staged.records[record + shape.headInts() + row] |= StreamWord::startingAt(first);
      first += static_cast<int32_t>(byRow[row].size());
      staged.order.insert(staged.order.end(), byRow[row].begin(), byRow[row].end());
      byRow[row].clear();
    }
    numPanels = numBlocks = 0;
    openCopy = -1;
  }

  const TiledRows &tiled;
  const StreamShape &shape;
  /// ((panel, row of the group), value block) of the group that is being added.
  std::vector<std::pair<uint64_t, int32_t>> blocks;
  /// The first word of the record that is being filled, and the number of its panels and blocks.
  size_t record = 0;
  int64_t numPanels = 0, numBlocks = 0;
  /// The last copy of the record that is being filled, or -1.
  int64_t openCopy = -1;
  /// The value blocks that each row of the group has in the record, if blocks are packed by row.
  std::vector<std::vector<int32_t>> byRow;
  StagedRows staged;
};

} // namespace

std::optional<StagedRows> blocksparse::buildStreamStages(const RowProduct &product,
                                                         const StreamShape &shape, int64_t tileN,
                                                         bool cluster, const ChipRates &rates,
                                                         std::string &error) {
  if (product.block != BlockShape{shape.block, shape.block})
    return fail(error, "expects blocks of " + text(shape.block) + "x" + text(shape.block) +
                           ", but got " + text(product.block.rows) + "x" +
                           text(product.block.cols));
  if (shape.rows < 1 || shape.panels < 1 || shape.panels > 16 || shape.blocks < shape.rows)
    return fail(error, "expects stages of at least 1 row, 1 to 16 panels and a value block for "
                       "each row, but got " +
                           text(shape.rows) + " rows, " + text(shape.panels) + " panels and " +
                           text(shape.blocks) + " value blocks");
  std::optional<TiledRows> rows = TiledRows::get(product, error);
  if (!rows)
    return std::nullopt;
  StreamStager stager(product, *rows, shape);
  for (int64_t head = 0; head < product.heads; ++head) {
    std::optional<RowGroups> groups =
        groupStreamRows(rows->layout, head, shape, tileN, cluster, rates, error);
    if (!groups)
      return std::nullopt;
    for (int64_t group = 0; group < groups->groups(); ++group)
      stager.addGroup(head, groups->rowsOf(group), groups->costOf(group, shape, tileN, rates));
  }
  StagedRows staged = stager.take();
  if (!checkTableSize(staged, error))
    return std::nullopt;
  return staged;
}
