// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PatternRows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>

using namespace blocksparse;
using namespace blocksparse::patterns;

namespace {

/// Adds the columns `first + i` for each set bit i.
void addBits(uint64_t bits, int64_t first, RowColumns &cols) {
  for (; bits != 0; bits &= bits - 1)
    cols.add(first + std::countr_zero(bits));
}

RowFunction bernoulli(const PatternContext &context, std::string &) {
  // A draw's upper 53 bits against density * 2^53, which is exact: scaling by a
  // power of two does not round. Density 1 then stores everything.
  const uint64_t threshold =
      static_cast<uint64_t>(std::ldexp(context.arguments.real("density"), 53));
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

RowFunction balanced(const PatternContext &context, std::string &) {
  const int64_t cols = context.grid.cols;
  const int64_t count = std::llround(context.arguments.real("density") * static_cast<double>(cols));
  auto sampler = std::make_shared<ColumnSampler>(cols);
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
        "Stores each block with probability `density`, independently: column "
        "c when the upper 53 bits of its row's draw(c) are below "
        "density * 2^53.",
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
