// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BenchLayout.h"

#include "blocksparse/Layout/CounterRandom.h"
#include "blocksparse/Layout/Patterns.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace mlir::blocksparse;
using ::blocksparse::BlockGrid;
using ::blocksparse::BlockLayout;
using ::blocksparse::CounterRandom;
using ::blocksparse::PatternSpec;
using llvm::StringRef;

static constexpr StringRef families[] = {"random_balanced", "random",  "local",
                                         "banded",          "bigbird", "strided",
                                         "unbalanced",      "causal",  "dense"};

std::string mlir::blocksparse::benchLayoutFamilies() {
  return llvm::join(llvm::ArrayRef(families), ", ") + ", shuffled_<family>";
}

static BlockGrid getGrid(const BenchPoint &point) {
  auto divideUp = [](int64_t a, int64_t b) { return a / b + (a % b != 0); };
  return {1, divideUp(point.sparseRows(), point.block.rows),
          divideUp(point.sparseCols(), point.block.cols)};
}

/// Returns `count` different columns below `cols`, ascending, by Floyd's algorithm.
static std::vector<int32_t> sampleColumns(const CounterRandom &random, int64_t count,
                                          int64_t cols) {
  std::vector<bool> taken(cols);
  for (int64_t last = cols - count; last < cols; ++last) {
    auto pick = static_cast<int64_t>(random.below(last, last + 1));
    taken[taken[pick] ? last : pick] = true;
  }
  std::vector<int32_t> columns;
  for (int64_t col = 0; col < cols; ++col)
    if (taken[col])
      columns.push_back(static_cast<int32_t>(col));
  return columns;
}

static std::optional<BlockLayout> makeUnbalanced(const BenchPoint &point, std::string &error) {
  BlockGrid grid = getGrid(point);
  CounterRandom random(point.seed, 0, grid.rows);
  // Weights are 1 to 8 in random order; every 16th row has weight 0.
  std::vector<double> weights(grid.rows);
  double sum = 0;
  for (int64_t row = 0; row < grid.rows; ++row) {
    weights[row] = row % 16 == 15 ? 0 : 1 + 7 * std::ldexp(double(random.draw(row) >> 11), -53);
    sum += weights[row];
  }
  int64_t missing = std::llround(point.density * double(grid.cols)) * grid.rows;
  double unit = sum > 0 ? double(missing) / sum : 0;
  std::vector<int64_t> lengths(grid.rows);
  for (int64_t row = 0; row < grid.rows; ++row) {
    lengths[row] = std::min<int64_t>(grid.cols, std::llround(weights[row] * unit));
    missing -= lengths[row];
  }
  // Because of rounding and full rows, the number of blocks is off by a few.
  for (int64_t row = 0, idle = 0; missing != 0 && idle < grid.rows; row = (row + 1) % grid.rows) {
    int64_t step = missing > 0 ? 1 : -1, changed = lengths[row] + step;
    bool possible = weights[row] > 0 && changed >= 1 && changed <= grid.cols;
    idle = possible ? 0 : idle + 1;
    lengths[row] += possible ? step : 0;
    missing -= possible ? step : 0;
  }
  std::vector<int32_t> offsets = {0}, columns;
  for (int64_t row = 0; row < grid.rows; ++row) {
    llvm::append_range(columns,
                       sampleColumns(CounterRandom(point.seed, 1, row), lengths[row], grid.cols));
    offsets.push_back(static_cast<int32_t>(columns.size()));
  }
  return BlockLayout::fromCsr(point.block, grid, std::move(offsets), std::move(columns), error);
}

static std::optional<BlockLayout> shuffleRows(const BlockLayout &layout, uint64_t seed,
                                              std::string &error) {
  BlockGrid grid = layout.grid();
  CounterRandom random(seed, 2, grid.rows);
  std::vector<int64_t> order(grid.rows);
  std::iota(order.begin(), order.end(), 0);
  for (int64_t row = grid.rows - 1; row > 0; --row)
    std::swap(order[row], order[random.below(row, row + 1)]);
  std::vector<int32_t> offsets = {0}, columns;
  for (int64_t row : order) {
    llvm::append_range(columns, layout.row(0, row));
    offsets.push_back(static_cast<int32_t>(columns.size()));
  }
  return BlockLayout::fromCsr(layout.block(), grid, std::move(offsets), std::move(columns), error);
}

/// Returns the dialect's pattern for a family; nullopt if `name` is not a family.
static std::optional<PatternSpec> getFamily(const BenchPoint &point, StringRef name) {
  BlockGrid grid = getGrid(point);
  auto seed = static_cast<int64_t>(point.seed);
  // Number of blocks in a row.
  int64_t length = std::max<int64_t>(1, std::llround(point.density * double(grid.cols)));
  if (name == "random_balanced" || name == "random")
    return PatternSpec{name.str(), {{"density", point.density}, {"seed", seed}}};
  if (name == "local")
    return PatternSpec{"local_window", {{"left", length / 2}, {"right", length - 1 - length / 2}}};
  if (name == "banded") {
    auto width = static_cast<int64_t>(point.density * double(point.sparseCols()));
    return PatternSpec{"banded", {{"lower", width / 2}, {"upper", width / 2}}};
  }
  if (name == "bigbird")
    return PatternSpec{"bigbird",
                       {{"num_sliding_window_blocks", int64_t(3)},
                        {"num_global_blocks", int64_t(1)},
                        {"num_random_blocks", std::max<int64_t>(0, length - 4)},
                        {"seed", seed}}};
  if (name == "strided")
    return PatternSpec{
        "strided",
        {{"stride", std::max<int64_t>(1, grid.cols / length)}, {"num_local_blocks", int64_t(1)}}};
  if (name == "causal" || name == "dense")
    return PatternSpec{name.str(), {}};
  return std::nullopt;
}

/// Parses "true", "0.25", "3", "[1, 2]" or a keyword.
static ::blocksparse::PatternValue parseValue(StringRef text) {
  int64_t integer;
  double real;
  if (text == "true" || text == "false")
    return text == "true";
  if (!text.getAsInteger(10, integer))
    return integer;
  if (!text.getAsDouble(real))
    return real;
  return text.trim('"').str();
}

/// Parses "bigbird(num_random_blocks = 3, seed = 7)".
static std::optional<PatternSpec> parsePattern(StringRef text, std::string &error) {
  auto [name, rest] = text.split('(');
  PatternSpec spec{name.trim().str(), {}};
  if (!rest.consume_back(")")) {
    error = "expects a pattern 'name(key = value, ...)', but got '" + text.str() + "'";
    return std::nullopt;
  }
  llvm::SmallVector<StringRef> parameters;
  rest.split(parameters, ',', -1, /*KeepEmpty=*/false);
  for (StringRef parameter : parameters) {
    auto [key, value] = parameter.split('=');
    spec.parameters.emplace_back(key.trim().str(), parseValue(value.trim()));
  }
  return spec;
}

std::optional<BlockLayout> mlir::blocksparse::makeBenchLayout(const BenchPoint &point,
                                                              std::string &error) {
  StringRef name = point.layout;
  bool shuffled = name.consume_front("shuffled_");
  std::optional<BlockLayout> layout;
  if (name == "unbalanced") {
    layout = makeUnbalanced(point, error);
  } else {
    std::optional<PatternSpec> spec =
        name.contains('(') ? parsePattern(name, error) : getFamily(point, name);
    if (!spec && error.empty())
      error = "expects a layout (" + benchLayoutFamilies() +
              ") or a pattern with its parameters, "
              "but got '" +
              point.layout + "'";
    if (!spec)
      return std::nullopt;
    layout = ::blocksparse::buildPattern(*spec, point.block, getGrid(point), error);
  }
  return layout && shuffled ? shuffleRows(*layout, point.seed, error) : layout;
}
