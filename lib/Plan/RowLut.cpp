// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/RowLut.h"
#include "Fault.h"

#include <algorithm>
#include <limits>

using namespace blocksparse;

namespace {

std::string fault(const std::string &what, int64_t index, const std::string &expected,
                  int64_t got) {
  return "expects " + what + " " + text(index) + " to have " + expected + ", but got " + text(got);
}

/// Returns the fault, or an empty string if 0 <= value < bound.
std::string checkIndex(const char *table, int64_t index, const char *field, int64_t value,
                       int64_t bound) {
  if (value >= 0 && value < bound)
    return {};
  return fault(table, index, std::string(field) + " in [0, " + text(bound) + ")", value);
}

/// Returns a * b, or the largest number if that is less.
int64_t multiply(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<int64_t>::max() : product;
}

/// Says which tile and which part of its reduction a slot holds.
struct SlotOwner {
  int64_t tile = -1; // head * tiles + tile, -1: no segment writes the slot
  int64_t first = 0;
  bool combined = false;
};

/// Checks one row LUT. Each check returns the first fault, or an empty string.
///
/// Extents may be far larger than the table. A table of s segments and c combine rows has at most
/// s + c owners of tiles and s slots, so one of the first s + c + 1 tiles, or s + 1 slots, of a
/// larger extent is a fault: no more of them are looked at.
class RowTableChecker {
public:
  RowTableChecker(const RowLutView &lut, const RowLutExtents &extents)
      : lut(lut), extents(extents),
        owned(std::min<int64_t>(multiply(extents.heads, extents.tiles),
                                lut.segments.size() + lut.combine.size() + 1),
              0),
        slots(std::min<int64_t>(extents.slots, lut.segments.size() + 1)),
        covered(lut.entries.size(), 0), used(lut.entries.size(), 0) {}

  std::string run() {
    if (!lut.entries.empty() && static_cast<int64_t>(lut.entries.size()) != extents.values)
      return "expects each of the " + text(extents.values) + " value blocks once, but got " +
             text(lut.entries.size()) + " entries";
    for (size_t s = 0; s < lut.segments.size(); ++s)
      if (std::string error = checkSegment(s); !error.empty())
        return error;
    if (std::string error = checkEntries(); !error.empty())
      return error;
    for (size_t c = 0; c < lut.combine.size(); ++c)
      if (std::string error = checkCombine(c); !error.empty())
        return error;
    return checkOwners();
  }

private:
  std::string checkSegment(int64_t index) {
    const RowSegment &segment = lut.segments[index];
    if (std::string error = checkIndex("segment", index, "a head", segment.head, extents.heads);
        !error.empty())
      return error;
    if (std::string error = checkIndex("segment", index, "a tile", segment.tile, extents.tiles);
        !error.empty())
      return error;
    const int64_t entries = lut.entries.size();
    if (segment.count < 0)
      return fault("segment", index, "a count of at least 0", segment.count);
    if (segment.first < 0 || int64_t{segment.first} + segment.count > entries)
      return fault("segment", index,
                   "its " + text(segment.count) + " entries within the " + text(entries) +
                       " of the table",
                   segment.first);
    for (int64_t e = segment.first; e < int64_t{segment.first} + segment.count; ++e) {
      if (covered[e])
        return "expects entry " + text(e) + " in one segment, but got it again in segment " +
               text(index);
      covered[e] = 1;
    }
    const int64_t tile = tileOf(segment.head, segment.tile);
    if (segment.slot == -1)
      return own(tile);
    if (std::string error = checkIndex("segment", index, "a slot", segment.slot, extents.slots);
        !error.empty())
      return error;
    if (segment.slot >= static_cast<int64_t>(slots.size()))
      return {};
    if (slots[segment.slot].tile != -1)
      return "expects slot " + text(segment.slot) +
             " to be written once, but got it again in segment " + text(index);
    slots[segment.slot] = {tile, segment.first, false};
    return {};
  }

  /// Returns the index of a tile among those of all heads.
  int64_t tileOf(int64_t head, int64_t tile) const {
    const int64_t first = multiply(head, extents.tiles);
    return first + std::min(tile, std::numeric_limits<int64_t>::max() - first);
  }

  std::string own(int64_t tile) {
    if (tile >= static_cast<int64_t>(owned.size()))
      return {};
    if (!owned[tile]) {
      owned[tile] = 1;
      return {};
    }
    return "expects one owner of tile " + text(tile % extents.tiles) + " of head " +
           text(tile / extents.tiles) + ", but got a second";
  }

  std::string checkEntries() {
    for (size_t e = 0; e < lut.entries.size(); ++e) {
      const RowEntry &entry = lut.entries[e];
      if (!covered[e])
        return "expects entry " + text(e) + " in one segment, but got it in none";
      if (std::string error =
              checkIndex("entry", e, "a dense block", entry.dense, extents.denseBlocks);
          !error.empty())
        return error;
      if (std::string error = checkIndex("entry", e, "a value block", entry.value, extents.values);
          !error.empty())
        return error;
      if (used[entry.value])
        return "expects value block " + text(entry.value) + " once, but got it again in entry " +
               text(e);
      used[entry.value] = 1;
    }
    return {};
  }

  std::string checkCombine(int64_t index) {
    const CombineRow &row = lut.combine[index];
    if (std::string error = checkIndex("combine row", index, "a head", row.head, extents.heads);
        !error.empty())
      return error;
    if (std::string error = checkIndex("combine row", index, "a tile", row.tile, extents.tiles);
        !error.empty())
      return error;
    if (row.slots < 1)
      return fault("combine row", index, "at least 1 slot", row.slots);
    if (row.firstSlot < 0 || int64_t{row.firstSlot} + row.slots > extents.slots)
      return fault("combine row", index,
                   "its " + text(row.slots) + " slots within the " + text(extents.slots) +
                       " of the op",
                   row.firstSlot);
    const int64_t tile = tileOf(row.head, row.tile);
    int64_t previous = -1;
    SlotOwner unwritten;
    for (int64_t s = row.firstSlot; s < int64_t{row.firstSlot} + row.slots; ++s) {
      SlotOwner &slot = s < static_cast<int64_t>(slots.size()) ? slots[s] : unwritten;
      if (slot.tile != tile)
        return "expects slot " + text(s) + " to belong to tile " + text(row.tile) + " of head " +
               text(row.head) +
               (slot.tile == -1 ? std::string(", but got a slot that no segment writes")
                                : ", but got tile " + text(slot.tile % extents.tiles) +
                                      " of head " + text(slot.tile / extents.tiles));
      if (slot.first <= previous)
        return "expects the slots of combine row " + text(index) +
               " in ascending order of their entries, but got " + text(slot.first) + " after " +
               text(previous);
      previous = slot.first;
      slot.combined = true;
    }
    return own(tile);
  }

  std::string checkOwners() {
    for (size_t s = 0; s < slots.size(); ++s)
      if (!slots[s].combined)
        return "expects slot " + text(s) + " to be combined once, but got it in no combine row";
    for (size_t tile = 0; tile < owned.size(); ++tile)
      if (!owned[tile])
        return "expects an owner of tile " + text(tile % extents.tiles) + " of head " +
               text(tile / extents.tiles) + ", but got none";
    return {};
  }

  const RowLutView &lut;
  const RowLutExtents &extents;
  std::vector<uint8_t> owned;
  std::vector<SlotOwner> slots;
  std::vector<uint8_t> covered, used;
};

} // namespace

RowLut blocksparse::buildRowLut(const BlockLayout &layout, bool transpose) {
  const BlockGrid grid = layout.grid();
  const int64_t tiles = transpose ? grid.cols : grid.rows;
  RowLut lut;
  lut.segments.reserve(grid.heads * tiles);
  lut.entries.reserve(layout.nnz());
  for (int64_t head = 0; head < grid.heads; ++head)
    for (int64_t tile = 0; tile < tiles; ++tile)
      lut.segments.push_back({static_cast<int32_t>(tile), static_cast<int32_t>(head), 0, 0, -1});
  // Entries are in the order of tiles, so a segment starts where the one before it ends.
  for (const BlockCoordinate &block :
       transpose ? layout.columnMajorCoordinates() : layout.coordinates()) {
    const int32_t tile = transpose ? block.col : block.row;
    ++lut.segments[block.head * tiles + tile].count;
    lut.entries.push_back({transpose ? block.row : block.col, block.value});
  }
  int32_t first = 0;
  for (RowSegment &segment : lut.segments) {
    segment.first = first;
    first += segment.count;
  }
  return lut;
}

std::string blocksparse::verifyRowTables(const RowLutView &lut, const RowLutExtents &extents) {
  return RowTableChecker(lut, extents).run();
}

std::string blocksparse::verifyRowLut(const BlockLayout &layout, bool transpose,
                                      const RowLutView &lut, int64_t slots) {
  const BlockGrid grid = layout.grid();
  const RowLutExtents extents{grid.heads, transpose ? grid.cols : grid.rows,
                              transpose ? grid.rows : grid.cols, layout.nnz(), slots};
  if (static_cast<int64_t>(lut.entries.size()) != layout.nnz())
    return "expects " + text(layout.nnz()) +
           " entries, one for each block of the layout, but got " + text(lut.entries.size());
  if (std::string error = verifyRowTables(lut, extents); !error.empty())
    return error;
  // No value block occurs twice, so nnz of them, each at its coordinates, are the layout.
  const std::vector<BlockCoordinate> blocks = layout.coordinates();
  for (const RowSegment &segment : lut.segments)
    for (int64_t e = segment.first; e < int64_t{segment.first} + segment.count; ++e) {
      const BlockCoordinate &block = blocks[lut.entries[e].value];
      const int32_t tile = transpose ? block.col : block.row;
      const int32_t dense = transpose ? block.row : block.col;
      if (block.head != segment.head || tile != segment.tile || dense != lut.entries[e].dense)
        return "expects value block " + text(block.value) + " at head " + text(block.head) +
               ", tile " + text(tile) + ", dense block " + text(dense) + ", but got head " +
               text(segment.head) + ", tile " + text(segment.tile) + ", dense block " +
               text(lut.entries[e].dense);
    }
  return {};
}
