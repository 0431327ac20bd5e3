// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PatternRows.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <memory>

using namespace blocksparse;
using namespace blocksparse::patterns;

namespace {

/// Largest grid, in positions over all heads, for which `random` draws once for each position
/// whatever the density.
constexpr int64_t maxDrawnPositions = int64_t{1} << 26;

/// Adds the columns `first + i` for each set bit i.
void addBits(uint64_t bits, int64_t first, RowColumns &cols) {
  for (; bits != 0; bits &= bits - 1)
    cols.add(first + std::countr_zero(bits));
}

/// Draws the number of columns between stored ones, which has the geometric distribution. It uses
/// integers alone, because the logarithm of the usual inversion differs between C libraries.
class GapSampler {
public:
  /// A column is stored with probability `threshold` / 2^53. Requires 0 < threshold < 2^53.
  explicit GapSampler(uint64_t threshold) {
    empty_[0] = ((uint64_t{1} << 53) - threshold) << 11;
    for (size_t k = 1; k < empty_.size(); ++k)
      empty_[k] = multiply(empty_[k - 1], empty_[k - 1]);
  }

  /// Returns the largest n for which `draw` / 2^64 is below the probability that n columns are
  /// empty. It takes O(log n) steps: the powers of two of n are found from the highest one down.
  int64_t gap(uint64_t draw) const {
    size_t level = 0;
    while (level < empty_.size() && draw < empty_[level])
      ++level;
    if (level == 0)
      return 0;
    int64_t columns = int64_t{1} << --level;
    uint64_t probability = empty_[level];
    while (level-- > 0) {
      const uint64_t longer = multiply(probability, empty_[level]);
      if (draw >= longer)
        continue;
      probability = longer;
      columns += int64_t{1} << level;
    }
    return columns;
  }

private:
  /// Returns the product of two fractions of 2^64, rounded down.
  static uint64_t multiply(uint64_t a, uint64_t b) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(a) * b) >> 64);
  }

  /// Entry k is the probability that 2^k columns are empty, as a fraction of 2^64. The longest gap,
  /// 2^28 - 1 columns, exceeds every row.
  std::array<uint64_t, 28> empty_;
  static_assert(BlockLayout::maxBlocks < (int64_t{1} << 28));
};

/// Draws each gap of a row, in time proportional to its blocks.
RowFunction bernoulliByGaps(uint64_t threshold, uint64_t seed) {
  return [sampler = GapSampler(threshold), seed](int64_t head, int64_t row, RowColumns &cols) {
    const CounterRandom random(seed, head, row);
    uint64_t counter = 0;
    for (int64_t col = sampler.gap(random.draw(counter)); col < cols.cols();
         col += 1 + sampler.gap(random.draw(++counter)))
      cols.add(col);
  };
}

RowFunction bernoulli(const PatternContext &context, std::string &error) {
  // A draw's upper 53 bits against density * 2^53, which is exact: scaling by a
  // power of two does not round. Density 1 then stores everything.
  const double density = context.arguments.real("density");
  const uint64_t threshold = static_cast<uint64_t>(std::ldexp(density, 53));
  if (threshold == 0)
    return [](int64_t, int64_t, RowColumns &) {};
  // One draw for each position is the older definition; it stays where it costs little, so that
  // seeds keep their layouts. From density 1/8 on it is linear in blocks, too.
  const BlockGrid grid = context.grid;
  const int64_t positions = grid.heads * grid.rows * grid.cols;
  // The blocks of so many positions are their mean within a part in thousands: a layout that is
  // far above the limit is refused before any is drawn.
  const double mean = density * static_cast<double>(positions);
  if (mean > 1.25 * static_cast<double>(BlockLayout::maxBlocks) &&
      !checkBlockCount(static_cast<int64_t>(mean), error, "about"))
    return {};
  if (positions > maxDrawnPositions && density < 0.125)
    return bernoulliByGaps(threshold, context.arguments.seed());
  return [threshold, seed = context.arguments.seed()](int64_t head, int64_t row, RowColumns &cols) {
    const CounterRandom random(seed, head, row);
    for (int64_t first = 0; first < cols.cols(); first += 64) {
      const int64_t size = std::min<int64_t>(64, cols.cols() - first);
      uint64_t bits = 0;
      for (int64_t i = 0; i < size; ++i)
        bits |= uint64_t{(random.draw(first + i) >> 11) < threshold} << i;
      addBits(bits, first, cols);
    }
  };
}

RowFunction balanced(const PatternContext &context, std::string &error) {
  const BlockGrid grid = context.grid;
  const int64_t cols = grid.cols;
  const int64_t count = std::llround(context.arguments.real("density") * static_cast<double>(cols));
  if (!checkBlockCount(count * grid.heads * grid.rows, error))
    return {};
  auto sampler = std::make_shared<ColumnSampler>();
  return [count, sampler, seed = context.arguments.seed()](int64_t head, int64_t row,
                                                           RowColumns &cols) {
    sampler->sample(CounterRandom(seed, head, row), count, cols.cols(), cols);
  };
}

} // namespace

std::vector<PatternDefinition> blocksparse::patterns::randomPatterns() {
  return {
      {{"random",
        "",
        "Stores each block with probability `density`, independently. Column c is stored if the "
        "upper 53 bits of its row's draw(c) are below density * 2^53. In a grid of more than 2^26 "
        "positions (heads x rows x columns) with a density below 1/8, draw(i) of a row gives the "
        "number of columns that are skipped before its block i instead, so that the time is "
        "proportional to the stored blocks.",
        {densityParameter(), seedParameter(), differentLayoutPerHeadParameter(true)}},
       bernoulli},
      {{"random_balanced",
        "",
        "Stores the same number of random columns in each row: density * block "
        "columns, rounded to the nearest integer.",
        {densityParameter(), seedParameter(), differentLayoutPerHeadParameter(true)}},
       balanced},
  };
}
