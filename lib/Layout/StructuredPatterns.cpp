// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Patterns that are a formula in (row, column) and equal in every head.

#include "PatternRows.h"

#include <algorithm>
#include <limits>

using namespace blocksparse;
using namespace blocksparse::patterns;

namespace {

constexpr int64_t unbounded = -1;

int64_t saturatingAdd(int64_t a, int64_t b) {
  int64_t sum;
  if (!__builtin_add_overflow(a, b, &sum))
    return sum;
  return b > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

int64_t saturatingMul(int64_t a, int64_t b) {
  int64_t product;
  if (!__builtin_mul_overflow(a, b, &product))
    return product;
  return (a < 0) == (b < 0) ? std::numeric_limits<int64_t>::max()
                            : std::numeric_limits<int64_t>::min();
}

/// Returns the block that holds element `element`, rounding down for negative ones.
int64_t floorDiv(int64_t element, int64_t size) {
  return element >= 0 ? element / size : -1 - (-1 - element) / size;
}

RowFunction dense(const PatternContext &, std::string &) {
  return [](int64_t, int64_t, RowColumns &cols) { cols.addAll(); };
}

/// Adds the blocks of a row that hold an element (i, j) with
/// i - lower <= j <= i + upper.
void addElementBand(BlockShape block, int64_t row, std::optional<int64_t> lower, int64_t upper,
                    RowColumns &cols) {
  const int64_t firstElement = saturatingMul(row, block.rows);
  const int64_t lastElement = saturatingAdd(firstElement, block.rows - 1);
  const int64_t first = lower ? floorDiv(saturatingAdd(firstElement, -*lower), block.cols) : 0;
  const int64_t last = floorDiv(saturatingAdd(lastElement, upper), block.cols);
  cols.add(first, saturatingAdd(last, 1));
}

RowFunction causal(const PatternContext &context, std::string &) {
  const int64_t offset = context.arguments.integer("offset");
  return [offset, block = context.block](int64_t, int64_t row, RowColumns &cols) {
    addElementBand(block, row, std::nullopt, offset, cols);
  };
}

RowFunction banded(const PatternContext &context, std::string &) {
  const int64_t lower = context.arguments.integer("lower");
  const int64_t upper = context.arguments.integer("upper");
  return [lower, upper, block = context.block](int64_t, int64_t row, RowColumns &cols) {
    addElementBand(block, row, lower, upper, cols);
  };
}

RowFunction diagonal(const PatternContext &context, std::string &) {
  const int64_t offset = context.arguments.integer("offset");
  return [offset](int64_t, int64_t row, RowColumns &cols) {
    const int64_t col = saturatingAdd(row, offset);
    cols.add(col, saturatingAdd(col, 1));
  };
}

RowFunction localWindow(const PatternContext &context, std::string &) {
  const int64_t left = context.arguments.integer("left");
  const int64_t right = context.arguments.integer("right");
  return [left, right](int64_t, int64_t row, RowColumns &cols) {
    cols.add(left == unbounded ? 0 : row - left,
             right == unbounded ? cols.cols() : saturatingAdd(row + 1, right));
  };
}

RowFunction checkerboard(const PatternContext &context, std::string &) {
  const int64_t parity = context.arguments.integer("parity");
  return [parity](int64_t, int64_t row, RowColumns &cols) {
    for (int64_t col = (row + parity) % 2; col < cols.cols(); col += 2)
      cols.add(col);
  };
}

RowFunction strided(const PatternContext &context, std::string &) {
  const PatternArguments &arguments = context.arguments;
  const int64_t stride = arguments.integer("stride");
  const int64_t local = arguments.integer("num_local_blocks");
  return [stride, local, unidirectional = arguments.unidirectional()](int64_t, int64_t row,
                                                                      RowColumns &cols) {
    if (unidirectional)
      cols.setLimit(row + 1);
    for (int64_t col = stride - 1; col < cols.limit(); col = saturatingAdd(col, stride))
      cols.add(col);
    cols.add(row - (local - 1), saturatingAdd(row, local));
  };
}

} // namespace

std::vector<PatternDefinition> blocksparse::patterns::structuredPatterns() {
  const PatternParameter parity = {
      "parity",
      PatternType::Integer,
      int64_t{0},
      0.0,
      1.0,
      {},
      "0 stores the block in the upper left corner, 1 its neighbours."};
  return {
      {{"dense", "", "Stores every block.", {}, parametersWithoutEffect(true)}, dense},
      {{"causal",
        "",
        "Stores the blocks that hold an element (i, j) with j <= i + offset: "
        "with square blocks and offset 0, the lower triangle of the grid.",
        {integerParameter("offset", 0, std::nullopt,
                          "Elements by which the diagonal moves to the "
                          "right.")}},
       causal},
      {{"diagonal",
        "",
        "Stores the block in column row + offset of each row.",
        {integerParameter("offset", 0, std::nullopt,
                          "Blocks by which the diagonal moves to the right.")}},
       diagonal},
      {{"banded",
        "",
        "Stores the blocks that hold an element (i, j) with "
        "i - lower <= j <= i + upper.",
        {integerParameter("lower", 0, 0, "Elements below the diagonal."),
         integerParameter("upper", 0, 0, "Elements above the diagonal.")}},
       banded},
      {{"local_window",
        "",
        "Stores columns row - left to row + right of each row.",
        {integerParameter("left", 1, unbounded, "Blocks to the left of the diagonal; -1 for all."),
         integerParameter("right", 1, unbounded,
                          "Blocks to the right of the diagonal; -1 for "
                          "all.")}},
       localWindow},
      {{"checkerboard", "", "Stores the blocks with (row + column + parity) even.", {parity}},
       checkerboard},
      {{"strided",
        "",
        "Stores the columns nearer than num_local_blocks to the row and the "
        "last of every `stride` columns.",
        {integerParameter("stride", 4, 1, "Distance of the columns that every row stores."),
         integerParameter("num_local_blocks", 4, 1,
                          "Blocks of the local window on each side, the "
                          "diagonal included."),
         attentionParameter("bidirectional")}},
       strided},
  };
}
