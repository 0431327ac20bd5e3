// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Fault.h"
#include "ListScheduler.h"
#include "blocksparse/Plan/Stages.h"

#include <algorithm>
#include <array>
#include <bit>

using namespace blocksparse;

namespace {

constexpr int64_t slabRows = 64;

std::string expected(const std::string &what, int64_t wanted, int64_t got) {
  return "expects " + what + " " + text(wanted) + ", but got " + text(got);
}

/// Checks the tables of one op. Each check returns the first fault, or an empty string.
class StageChecker {
public:
  StageChecker(const RowProduct &product, const StageTables &tables, const TileSpace &space,
               const StreamShape *shape)
      : product(product), tables(tables), space(space), shape(shape),
        parts(shape ? 1 : product.opRows() / slabRows) {}

  std::string run() {
    if (std::string error = checkShapes(); !error.empty())
      return error;
    if (std::string error =
            checkWorkerRuns(tables.workers.data(), tables.workers.size(), tables.tiles.size());
        !error.empty())
      return error;
    if (std::string error = checkTiles(); !error.empty())
      return error;
    if (std::string error = checkSlabs(); !error.empty())
      return error;
    int64_t place = 0;
    for (size_t group = 0; group < groups.size(); ++group)
      if (std::string error = shape ? checkStream(group, place) : checkWgmma(group); !error.empty())
        return "in group " + text(group) + " " + error;
    if (place != static_cast<int64_t>(tables.order.size()))
      return expected("an order of as many value blocks as the stages hold,", place,
                      tables.order.size());
    return {};
  }

private:
  struct Group {
    int64_t first = 0, count = 0, head = 0, tiles = 0;
  };

  std::string checkShapes() {
    const int64_t size = shape ? shape->rows : 2,
                  ints = shape ? shape->recordInts() : WgmmaRecordTable::columns;
    if (tables.groupSize != size)
      return expected("groups of size", size, tables.groupSize);
    if (tables.recordInts != ints)
      return expected("records of size", ints, tables.recordInts);
    if (countRecords() < 0)
      return "expects a record after the last one that a tile reads, but got none";
    groups.resize(tables.rows.size() / size);
    byTile.resize(product.heads * product.tiles);
    for (const RowSegment &segment : product.segments)
      byTile[segment.head * product.tiles + segment.tile] = segment;
    return {};
  }

  /// Returns the number of records that tiles may have. The last record of a stream kernel, which
  /// reads ahead, is in no tile.
  int64_t countRecords() const {
    const int64_t records = tables.records.size() / tables.recordInts;
    return shape ? records - 1 : records;
  }

  std::string checkTile(int64_t index, const StageTile &tile) {
    const int64_t records = countRecords();
    auto fault = [&](const char *field, int64_t bound, int64_t got) {
      return "expects tile " + text(index) + " to have a " + field + " in [0, " + text(bound) +
             "), but got " + text(got);
    };
    const std::pair<const char *, std::array<int64_t, 2>> fields[] = {
        {"group", {tile.group, static_cast<int64_t>(groups.size())}},
        {"panel", {tile.columnTile, space.columnTiles}},
        {"batch", {tile.batch, space.batches}},
        {"head", {tile.head, space.heads}},
        {"first record", {tile.first, records + 1}},
        {"number of records", {tile.count, records + 1 - tile.first}}};
    for (const auto &[name, value] : fields)
      if (value[0] < 0 || value[0] >= value[1])
        return fault(name, value[1], value[0]);
    Group &group = groups[tile.group];
    const int64_t head = space.lutHeads == 1 ? 0 : tile.head;
    if (group.tiles++ == 0) {
      group.first = tile.first;
      group.count = tile.count;
      group.head = head;
    }
    if (group.first != tile.first || group.count != tile.count || group.head != head)
      return "expects equal records and heads in all tiles of group " + text(tile.group) +
             ", but got records " + text(tile.first) + " and " + text(tile.count) +
             " following in tile " + text(index);
    return {};
  }

  std::string checkTiles() {
    const int64_t heads = space.lutHeads == 1 ? space.heads : 1;
    int64_t wanted = 0;
    bool overflow = __builtin_mul_overflow(space.columnTiles, space.batches, &wanted);
    overflow |= __builtin_mul_overflow(wanted, heads, &wanted);
    overflow |= __builtin_mul_overflow(wanted, static_cast<int64_t>(groups.size()), &wanted);
    if (overflow)
      return "expects a number of tiles that 64 bits hold, but got " + text(space.columnTiles) +
             " panels, " + text(space.batches) + " batches and " + text(heads) + " heads";
    if (static_cast<int64_t>(tables.tiles.size()) != wanted)
      return expected("as many tiles as groups, panels, batches and heads make,", wanted,
                      tables.tiles.size());
    std::vector<uint8_t> seen(tables.tiles.size(), 0);
    for (size_t i = 0; i < tables.tiles.size(); ++i) {
      const StageTile &tile = tables.tiles[i];
      if (std::string error = checkTile(i, tile); !error.empty())
        return error;
      const int64_t head = space.lutHeads == 1 ? tile.head : 0;
      uint8_t &mark =
          seen[((tile.group * space.batches + tile.batch) * heads + head) * space.columnTiles +
               tile.columnTile];
      if (mark)
        return "expects one tile for each group, panel, batch and head, but got tile " + text(i) +
               " again";
      mark = 1;
    }
    return {};
  }

  std::string checkSlabs() {
    const int64_t slabs = product.tiles * parts;
    std::vector<uint8_t> seen(product.heads * slabs, 0);
    for (size_t i = 0; i < tables.rows.size(); ++i) {
      const int64_t row = tables.rows[i];
      if (row == -1)
        continue;
      if (row < 0 || row >= slabs)
        return "expects slabs in [-1, " + text(slabs) + "), but got " + text(row);
      uint8_t &mark = seen[groups[i / tables.groupSize].head * slabs + row];
      if (mark)
        return "expects slab " + text(row) + " in one group, but got it again in group " +
               text(i / tables.groupSize);
      mark = 1;
    }
    for (size_t i = 0; i < seen.size(); ++i)
      if (!seen[i])
        return "expects slab " + text(i % slabs) + " of head " + text(i / slabs) +
               " in a group, but got it in none";
    return {};
  }

  std::span<const RowEntry> entriesOf(const Group &group, int64_t row) const {
    if (row < 0)
      return {};
    const RowSegment &segment = byTile[group.head * product.tiles + row / parts];
    return product.entries.subspan(segment.first, segment.count);
  }

  std::span<const int32_t> record(const Group &group, int64_t index) const {
    return tables.records.subspan((group.first + index) * tables.recordInts, tables.recordInts);
  }

  //===--------------------------------------------------------------------===//
  // wgmma
  //===--------------------------------------------------------------------===//

  using Subtile = std::array<int64_t, 3>; // k, x, y

  std::vector<Subtile> subtiles(const Group &group, int64_t row) const {
    std::vector<Subtile> wanted;
    const int64_t depth = product.opDepth(), m = row % parts * slabRows;
    for (const RowEntry &entry : entriesOf(group, row))
      for (int64_t k = 0; k < depth; k += slabRows) {
        const int64_t y = entry.value * product.block.rows;
        if (product.transposeValues)
          wanted.push_back({entry.dense * depth + k, m, y + k});
        else
          wanted.push_back({entry.dense * depth + k, k, y + m});
      }
    std::sort(wanted.begin(), wanted.end());
    return wanted;
  }

  std::string checkWgmma(int64_t index) {
    const Group &group = groups[index];
    for (int64_t i = 0; i < group.count; ++i) {
      const std::span<const int32_t> words = record(group, i);
      const int64_t k = words[WgmmaRecordTable::K];
      const int64_t before = i > 0 ? record(group, i - 1)[WgmmaRecordTable::K] : -1;
      if (i > 0 && k <= before)
        return "expects records with ascending k, but got " + text(k) + " after " + text(before);
      if (words[WgmmaRecordTable::Y0] < 0 && words[WgmmaRecordTable::Y1] < 0)
        return "expects a block in each record, but got none at k " + text(k);
    }
    for (int half = 0; half < 2; ++half) {
      const std::vector<Subtile> wanted = subtiles(group, tables.rows[2 * index + half]);
      std::vector<Subtile> got;
      for (int64_t i = 0; i < group.count; ++i)
        if (const std::span<const int32_t> words = record(group, i);
            words[WgmmaRecordTable::y(half)] >= 0)
          got.push_back({words[WgmmaRecordTable::K], words[WgmmaRecordTable::x(half)],
                         words[WgmmaRecordTable::y(half)]});
      const auto [a, b] = std::mismatch(wanted.begin(), wanted.end(), got.begin(), got.end());
      if (a != wanted.end() || b != got.end()) {
        auto show = [](bool there, const Subtile &subtile) {
          return there ? "(" + text(subtile[0]) + ", " + text(subtile[1]) + ", " +
                             text(subtile[2]) + ")"
                       : std::string("none");
        };
        return "expects (k, x, y) " + show(a != wanted.end(), a != wanted.end() ? *a : Subtile()) +
               " in half " + text(half) + ", but got " +
               show(b != got.end(), b != got.end() ? *b : Subtile());
      }
    }
    return {};
  }

  //===--------------------------------------------------------------------===//
  // stream
  //===--------------------------------------------------------------------===//

  /// Checks the head of a record, whose blocks must begin at packed index `place`. `copy` is the
  /// first panel of the last copy before the record, and becomes the first panel of its own last
  /// copy.
  std::string checkStreamHead(std::span<const int32_t> words, int64_t place, int64_t &copy) {
    const int64_t perCopy = shape->panelsPerCopy;
    if (words[StreamRecordTable::First] != place)
      return expected("a record's blocks from packed index", place,
                      words[StreamRecordTable::First]);
    if (words[StreamRecordTable::Blocks] < 1 || words[StreamRecordTable::Blocks] > shape->blocks)
      return "expects 1 to " + text(shape->blocks) + " value blocks in a record, but got " +
             text(words[StreamRecordTable::Blocks]);
    if (words[StreamRecordTable::Panels] < 1 || words[StreamRecordTable::Panels] > shape->panels)
      return "expects 1 to " + text(shape->panels) + " panels in a record, but got " +
             text(words[StreamRecordTable::Panels]);
    if (words[StreamRecordTable::Panels] % perCopy != 0)
      return "expects whole copies of " + text(perCopy) + " panels in a record, but got " +
             text(words[StreamRecordTable::Panels]) + " panels";
    for (int64_t c = 0; c < words[StreamRecordTable::Panels] / perCopy; ++c) {
      const int64_t first = words[StreamRecordTable::FirstCopy + c];
      if (first % perCopy != 0)
        return "expects copies from multiples of " + text(perCopy) + ", but got " + text(first);
      // A copy with more blocks than fit in a record occurs again.
      const bool again = c == 0 && perCopy > 1 && first == copy;
      if (first <= copy && !again)
        return "expects ascending panels, but got " + text(first) + " after " + text(copy);
      copy = first;
    }
    return {};
  }

  /// Appends the blocks of a record, which begin at packed index `place`, to the rows of its group.
  /// `taken` counts them, and `masks` collects the panels that have a block.
  std::string takeByRow(std::span<const int32_t> words, int64_t place,
                        std::vector<std::vector<RowEntry>> &got, int64_t &taken,
                        uint32_t &masks) const {
    for (int64_t row = 0; row < shape->rows; ++row) {
      const int32_t word = words[shape->headInts() + row];
      const uint32_t mask = StreamWord::maskOf(word);
      masks |= mask;
      if (StreamWord::firstOf(word) != taken)
        return expected("the blocks of row " + text(row) + " of a record from", taken,
                        StreamWord::firstOf(word));
      if (mask >> words[StreamRecordTable::Panels] != 0)
        return "expects a mask of " + text(words[StreamRecordTable::Panels]) + " panels, but got " +
               text(mask);
      if (std::string error = checkPlaces(place + taken, mask); !error.empty())
        return error;
      for (int64_t e = 0; e < words[StreamRecordTable::Panels]; ++e)
        if (mask >> e & 1)
          got[row].push_back({panelOf(words, e), tables.order[place + taken++]});
    }
    return {};
  }

  /// Does the same for a record with words of panels.
  std::string takeByPanel(std::span<const int32_t> words, int64_t place,
                          std::vector<std::vector<RowEntry>> &got, int64_t &taken,
                          uint32_t &masks) const {
    const int64_t rows = shape->rows / 2;
    for (int64_t e = 0; e < shape->panels; ++e)
      for (int64_t half = 0; half < 2; ++half) {
        const int32_t word = words[shape->headInts() + half * shape->halfWords() + e];
        const uint32_t mask = StreamWord::maskOf(word);
        if (word == 0)
          continue;
        if (mask == 0)
          return expected("the word of a panel without a block to be", 0,
                          static_cast<uint32_t>(word));
        masks |= 1u << e;
        if (e >= words[StreamRecordTable::Panels])
          return "expects words of " + text(words[StreamRecordTable::Panels]) +
                 " panels, but got " + text(static_cast<uint32_t>(word)) + " for panel " + text(e);
        if (mask >> rows != 0)
          return "expects a mask of " + text(rows) + " rows, but got " + text(mask);
        if (std::string error = checkPlaces(place + taken, mask); !error.empty())
          return error;
        if (StreamWord::firstOf(word) != taken)
          return expected("a word's first value block", taken, StreamWord::firstOf(word));
        for (int64_t row = 0; row < rows; ++row)
          if (mask >> row & 1)
            got[half * rows + row].push_back({panelOf(words, e), tables.order[place + taken++]});
      }
    return {};
  }

  int32_t panelOf(std::span<const int32_t> words, int64_t e) const {
    const int64_t perCopy = shape->panelsPerCopy;
    return static_cast<int32_t>(words[StreamRecordTable::FirstCopy + e / perCopy] + e % perCopy);
  }

  /// Checks that the order has a value block for each bit of `mask`, from packed index `place` on.
  std::string checkPlaces(int64_t place, uint32_t mask) const {
    const int64_t end = place + std::popcount(mask), places = tables.order.size();
    return end <= places
               ? ""
               : "expects packed indices below " + text(places) + ", but got " + text(end - 1);
  }

  std::string checkCopies(std::span<const int32_t> words, uint32_t masks) const {
    const int64_t perCopy = shape->panelsPerCopy;
    for (int64_t c = 0; c < words[StreamRecordTable::Panels] / perCopy; ++c)
      if ((masks >> (c * perCopy) & ((1u << perCopy) - 1)) == 0)
        return "expects a block in each copy, but got none in that of panel " +
               text(words[StreamRecordTable::FirstCopy + c]);
    return {};
  }

  /// Checks the records of a group, whose blocks begin at packed index `place`, and adds their
  /// number to it.
  std::string checkStream(int64_t index, int64_t &place) {
    const Group &group = groups[index];
    std::vector<std::vector<RowEntry>> got(shape->rows);
    int64_t copy = -1;
    for (int64_t i = 0; i < group.count; ++i) {
      const std::span<const int32_t> words = record(group, i);
      if (std::string error = checkStreamHead(words, place, copy); !error.empty())
        return error;
      int64_t taken = 0;
      uint32_t masks = 0;
      if (std::string error = shape->byPanel ? takeByPanel(words, place, got, taken, masks)
                                             : takeByRow(words, place, got, taken, masks);
          !error.empty())
        return error;
      if (std::string error = checkCopies(words, masks); !error.empty())
        return error;
      if (taken != words[StreamRecordTable::Blocks])
        return expected("a record's number of value blocks to be that of its masks,", taken,
                        words[StreamRecordTable::Blocks]);
      place += taken;
    }
    for (int64_t row = 0; row < shape->rows; ++row)
      if (std::string error = compareRow(group, tables.rows[index * shape->rows + row], got[row]);
          !error.empty())
        return error;
    return {};
  }

  std::string compareRow(const Group &group, int64_t row, const std::vector<RowEntry> &got) {
    const std::span<const RowEntry> entries = entriesOf(group, row);
    std::vector<RowEntry> wanted(entries.begin(), entries.end());
    std::sort(wanted.begin(), wanted.end(),
              [](const RowEntry &a, const RowEntry &b) { return a.dense < b.dense; });
    if (wanted.size() != got.size())
      return expected("blocks of slab " + text(row) + " to number", wanted.size(), got.size());
    for (size_t i = 0; i < got.size(); ++i)
      if (!(wanted[i] == got[i]))
        return "expects value block " + text(wanted[i].value) + " with panel " +
               text(wanted[i].dense) + " in slab " + text(row) + ", but got value block " +
               text(got[i].value) + " with panel " + text(got[i].dense);
    return {};
  }

  const RowProduct &product;
  const StageTables &tables;
  const TileSpace &space;
  const StreamShape *shape;
  /// Number of slabs of a block row.
  const int64_t parts;
  std::vector<Group> groups;
  std::vector<RowSegment> byTile;
};

} // namespace

std::string blocksparse::verifyStages(const RowProduct &product, const StageTables &tables,
                                      const TileSpace &space, const StreamShape *shape) {
  return StageChecker(product, tables, space, shape).run();
}
