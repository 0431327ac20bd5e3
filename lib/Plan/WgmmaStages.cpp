// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Fault.h"
#include "RowGroups.h"
#include "TiledRows.h"

#include <algorithm>
#include <array>
#include <limits>

using namespace blocksparse;

namespace {

/// Rows of a slab, and values of k of a record.
constexpr int64_t slabRows = 64, stepDepth = 64;
constexpr int64_t bytesPerElement = 2;

/// Describes 64 x 64 values of a slab: their first k, in elements of the reduction, and their
/// coordinates (x, y) in the matrix of the values.
struct SlabValues {
  int64_t k, x, y;
};

class WgmmaStager {
public:
  WgmmaStager(const RowProduct &product, const TiledRows &rows, int64_t tileN)
      : product(product), rows(rows), tileN(tileN), slabs(product.opRows() / slabRows) {
    staged.groupSize = 2;
    staged.recordInts = WgmmaRecordTable::columns;
    staged.firstRecord.push_back(0);
  }

  /// Adds the row groups of one head. `pairs` has the block rows whose last slabs share a tile;
  /// null if block rows have an even number of slabs.
  void addHead(int64_t head, const RowClusters *pairs) {
    for (int64_t tile = 0; tile < product.tiles; ++tile)
      for (int64_t slab = 0; slab + 1 < slabs; slab += 2)
        addGroup(head, {tile * slabs + slab, tile * slabs + slab + 1});
    if (!pairs)
      return;
    for (size_t i = 0; i < pairs->rows.size(); i += pairs->groupSize) {
      const bool second = pairs->groupSize == 2 && i + 1 < pairs->rows.size();
      addGroup(head, {lastSlab(pairs->rows[i]), second ? lastSlab(pairs->rows[i + 1]) : -1});
    }
  }

  StagedRows take() { return std::move(staged); }

private:
  int64_t lastSlab(int64_t tile) const { return tile * slabs + slabs - 1; }

  /// Stores the values of a slab in `values`, by ascending k. `slab` is -1 if there is none.
  void collect(int64_t head, int64_t slab, std::vector<SlabValues> &values) const {
    values.clear();
    if (slab < 0)
      return;
    const int64_t m = slab % slabs * slabRows, depth = product.opDepth();
    for (const RowEntry &entry : rows.entriesOf(head, slab / slabs))
      for (int64_t k = 0; k < depth; k += stepDepth) {
        const int64_t y = entry.value * product.block.rows;
        values.push_back(product.transposeValues ? SlabValues{entry.dense * depth + k, m, y + k}
                                                 : SlabValues{entry.dense * depth + k, k, y + m});
      }
    std::sort(values.begin(), values.end(),
              [](const SlabValues &a, const SlabValues &b) { return a.k < b.k; });
  }

  void addGroup(int64_t head, std::array<int64_t, 2> slabsOfGroup) {
    for (int half = 0; half < 2; ++half) {
      staged.rows.push_back(static_cast<int32_t>(slabsOfGroup[half]));
      collect(head, slabsOfGroup[half], values[half]);
    }
    std::array<size_t, 2> next = {0, 0};
    int64_t records = 0;
    while (next[0] < values[0].size() || next[1] < values[1].size()) {
      int64_t k = std::numeric_limits<int64_t>::max();
      for (int half = 0; half < 2; ++half)
        if (next[half] < values[half].size())
          k = std::min(k, values[half][next[half]].k);
      WgmmaRecord record{static_cast<int32_t>(k), {}};
      for (int half = 0; half < 2; ++half) {
        if (next[half] == values[half].size() || values[half][next[half]].k != k)
          continue;
        const SlabValues &own = values[half][next[half]++];
        record.halves[half] = {static_cast<int32_t>(own.x), static_cast<int32_t>(own.y)};
      }
      const std::span<const int32_t> words = flatTable(std::span<const WgmmaRecord>(&record, 1));
      staged.records.insert(staged.records.end(), words.begin(), words.end());
      ++records;
    }
    staged.heads.push_back(static_cast<int32_t>(head));
    staged.firstRecord.push_back(static_cast<int32_t>(staged.firstRecord.back() + records));
    const int64_t loaded = static_cast<int64_t>(values[0].size() + values[1].size());
    staged.work.push_back(loaded * slabRows * stepDepth);
    staged.cost.push_back(bytesPerElement * stepDepth * (records * tileN + loaded * slabRows));
  }

  const RowProduct &product;
  const TiledRows &rows;
  /// Columns of a column tile, and slabs of a block row.
  const int64_t tileN, slabs;
  std::array<std::vector<SlabValues>, 2> values;
  StagedRows staged;
};

bool checkWgmmaSizes(const RowProduct &product, std::string &error) {
  const int64_t rows = product.opRows(), depth = product.opDepth();
  if (rows < slabRows || rows % slabRows != 0 || depth < stepDepth || depth % stepDepth != 0) {
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

} // namespace

std::optional<StagedRows> blocksparse::buildWgmmaStages(const RowProduct &product, int64_t tileN,
                                                        std::string &error) {
  if (!checkWgmmaSizes(product, error))
    return std::nullopt;
  std::optional<TiledRows> rows = TiledRows::get(product, error);
  if (!rows)
    return std::nullopt;
  WgmmaStager stager(product, *rows, tileN);
  const bool odd = product.opRows() / slabRows % 2 != 0;
  for (int64_t head = 0; head < product.heads; ++head) {
    std::optional<RowClusters> pairs;
    if (odd &&
        !(pairs = groupBlockRows(rows->layout, head, 2, /*cluster=*/true, /*perCopy=*/1, error)))
      return std::nullopt;
    stager.addHead(head, pairs ? &*pairs : nullptr);
  }
  StagedRows staged = stager.take();
  if (!checkTableSize(staged, error))
    return std::nullopt;
  return staged;
}
