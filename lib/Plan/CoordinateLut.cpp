// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/CoordinateLut.h"
#include "Fault.h"

#include <algorithm>
#include <tuple>

using namespace blocksparse;

namespace {

/// Returns the fault, or an empty string if 0 <= value < bound.
std::string checkIndex(int64_t row, const char *field, int64_t value, int64_t bound) {
  if (value >= 0 && value < bound)
    return {};
  return "expects row " + text(row) + " to have a " + field + " in [0, " + text(bound) +
         "), but got " + text(value);
}

bool sameRun(CoordinateOrder order, const BlockCoordinate &a, const BlockCoordinate &b) {
  return a.head == b.head && (order == CoordinateOrder::Rows ? a.row == b.row : a.col == b.col);
}

/// Checks that segments are disjoint and cover the table.
std::string checkSegments(int64_t rows, std::span<const CoordinateSegment> segments) {
  std::vector<uint8_t> covered(rows, 0);
  int64_t total = 0;
  for (size_t s = 0; s < segments.size(); ++s) {
    const CoordinateSegment &segment = segments[s];
    if (segment.first < 0 || segment.count < 0 || int64_t{segment.first} + segment.count > rows)
      return "expects segment " + text(s) + " within the " + text(rows) +
             " rows of the table, but got rows " + text(segment.first) + " to " +
             text(int64_t{segment.first} + segment.count);
    for (int64_t r = segment.first; r < int64_t{segment.first} + segment.count; ++r) {
      if (covered[r])
        return "expects row " + text(r) + " in one segment, but got it again in segment " + text(s);
      covered[r] = 1;
    }
    total += segment.count;
  }
  if (total != rows)
    return "expects segment counts to sum to " + text(rows) + ", but got " + text(total);
  return {};
}

/// Checks that no two blocks have equal coordinates; `lut` may be in any order.
std::string checkDistinct(std::span<const BlockCoordinate> lut) {
  std::vector<BlockCoordinate> sorted(lut.begin(), lut.end());
  auto coordinates = [](const BlockCoordinate &c) { return std::tuple(c.head, c.row, c.col); };
  auto before = [&](const BlockCoordinate &a, const BlockCoordinate &b) {
    return coordinates(a) < coordinates(b);
  };
  if (!std::is_sorted(sorted.begin(), sorted.end(), before))
    std::sort(sorted.begin(), sorted.end(), before);
  auto twice = std::adjacent_find(sorted.begin(), sorted.end(),
                                  [&](const BlockCoordinate &a, const BlockCoordinate &b) {
                                    return coordinates(a) == coordinates(b);
                                  });
  if (twice == sorted.end())
    return {};
  return "expects block (" + text(twice->head) + ", " + text(twice->row) + ", " + text(twice->col) +
         ") once, but got it twice";
}

/// Checks that indices are in range and that no value block occurs twice.
std::string checkRows(std::span<const BlockCoordinate> lut, const CoordinateLutExtents &extents) {
  if (static_cast<int64_t>(lut.size()) != extents.values)
    return "expects each of the " + text(extents.values) + " value blocks once, but got " +
           text(lut.size()) + " entries";
  std::vector<uint8_t> used(lut.size(), 0);
  for (size_t r = 0; r < lut.size(); ++r) {
    const BlockCoordinate &block = lut[r];
    for (const auto &[field, value, bound] :
         {std::tuple("head", block.head, extents.heads), std::tuple("row", block.row, extents.rows),
          std::tuple("column", block.col, extents.cols),
          std::tuple("value block", block.value, extents.values)})
      if (std::string error = checkIndex(r, field, value, bound); !error.empty())
        return error;
    if (used[block.value])
      return "expects value block " + text(block.value) + " once, but got it again in row " +
             text(r);
    used[block.value] = 1;
  }
  return {};
}

} // namespace

CoordinateLut blocksparse::buildCoordinateLut(const BlockLayout &layout, CoordinateOrder order) {
  CoordinateLut result;
  result.lut =
      order == CoordinateOrder::Rows ? layout.coordinates() : layout.columnMajorCoordinates();
  for (size_t r = 0; r < result.lut.size(); ++r) {
    if (r == 0 || !sameRun(order, result.lut[r - 1], result.lut[r]))
      result.segments.push_back({static_cast<int32_t>(r), 0});
    ++result.segments.back().count;
  }
  return result;
}

std::string blocksparse::verifyCoordinateTables(std::span<const BlockCoordinate> lut,
                                                std::span<const CoordinateSegment> segments,
                                                const CoordinateLutExtents &extents) {
  if (std::string error = checkRows(lut, extents); !error.empty())
    return error;
  if (std::string error = checkSegments(lut.size(), segments); !error.empty())
    return error;
  return checkDistinct(lut);
}

std::string blocksparse::verifyCoordinateLut(const BlockLayout &layout,
                                             std::span<const BlockCoordinate> lut,
                                             std::span<const CoordinateSegment> segments) {
  const BlockGrid grid = layout.grid();
  const int64_t rows = lut.size();
  if (rows != layout.nnz())
    return "expects " + text(layout.nnz()) + " rows, one for each block of the layout, but got " +
           text(rows);
  if (std::string error = checkRows(lut, {grid.heads, grid.rows, grid.cols, layout.nnz()});
      !error.empty())
    return error;
  // No value block occurs twice, so nnz of them, each at its coordinates, are the layout.
  const std::vector<BlockCoordinate> blocks = layout.coordinates();
  for (int64_t r = 0; r < rows; ++r)
    if (const BlockCoordinate &block = blocks[lut[r].value]; block != lut[r])
      return "expects value block " + text(block.value) + " at (" + text(block.head) + ", " +
             text(block.row) + ", " + text(block.col) + "), but got (" + text(lut[r].head) + ", " +
             text(lut[r].row) + ", " + text(lut[r].col) + ")";
  return checkSegments(rows, segments);
}

std::vector<int32_t> blocksparse::transposePermutation(const BlockLayout &layout) {
  std::vector<int32_t> permutation;
  layout.transposed(&permutation);
  return permutation;
}
