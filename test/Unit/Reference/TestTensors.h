// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tensors and patterns for tests of the reference.

#ifndef BLOCKSPARSE_TEST_UNIT_REFERENCE_TESTTENSORS_H
#define BLOCKSPARSE_TEST_UNIT_REFERENCE_TESTTENSORS_H

#include "blocksparse/Reference/Pattern.h"
#include "blocksparse/Support/RandomFill.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

namespace blocksparse::ref::test {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double quietNaN = std::numeric_limits<double>::quiet_NaN();

/// Returns a tensor whose elements are all `value`.
inline HostTensor filled(ElementType type, std::initializer_list<int64_t> shape, double value) {
  HostTensor tensor = HostTensor::zeros(type, shape);
  tensor.fill(value);
  return tensor;
}

/// Returns a tensor of ones.
inline HostTensor ones(std::initializer_list<int64_t> shape, ElementType type = ElementType::f32) {
  return filled(type, shape, 1);
}

/// Returns a tensor of random elements in [-1, 1).
inline HostTensor uniform(std::initializer_list<int64_t> shape, uint64_t seed,
                          ElementType type = ElementType::f64) {
  HostTensor tensor = HostTensor::zeros(type, shape);
  fillTensor(tensor, FillKind::uniform, seed);
  return tensor;
}

/// Returns a tensor whose element at an index is fn(index).
inline HostTensor make(std::initializer_list<int64_t> shape,
                       const std::function<double(std::span<const int64_t>)> &fn,
                       ElementType type = ElementType::f64) {
  HostTensor tensor = HostTensor::zeros(type, shape);
  forEachIndex(tensor.shape(),
               [&](std::span<const int64_t> index) { tensor.set(index, fn(index)); });
  return tensor;
}

/// Returns a pattern from one mask of rows * cols digits for each head, with '1' for a stored
/// block; blanks are ignored. The pattern serves `heads` heads (0: as many as masks).
inline Pattern pattern(BlockShape block, int64_t rows, int64_t cols, const std::string &masks,
                       int64_t heads = 0) {
  std::vector<uint8_t> mask;
  for (char c : masks)
    if (c != ' ')
      mask.push_back(c == '1');
  int64_t layoutHeads = static_cast<int64_t>(mask.size()) / (rows * cols);
  std::string error;
  std::optional<BlockLayout> layout =
      BlockLayout::fromMask(block, {layoutHeads, rows, cols}, mask, error);
  EXPECT_TRUE(layout) << error;
  std::optional<Pattern> result = Pattern::fromLayout(*layout, heads ? heads : layoutHeads, error);
  EXPECT_TRUE(result) << error;
  return *result;
}

/// Returns an i32 tensor with these values.
inline HostTensor indices(std::initializer_list<int64_t> shape,
                          std::initializer_list<double> values) {
  return HostTensor::of(ElementType::i32, shape, values);
}

/// Returns a pattern of square blocks with run-time indices for one head.
inline Pattern dynamicPattern(int64_t block, int64_t rows, int64_t cols, const HostTensor &crow,
                              const HostTensor &col) {
  std::string error;
  std::optional<Pattern> result =
      Pattern::fromCsr({block, block}, {1, rows, cols}, crow, col, error);
  EXPECT_TRUE(result) << error;
  return *result;
}

/// Returns a sparse tensor with these values and no edge blocks.
inline SparseTensor sparse(const HostTensor &values, const Pattern &pattern) {
  return {values, pattern, pattern.grid().rows * pattern.block().rows,
          pattern.grid().cols * pattern.block().cols};
}

/// Returns value blocks [nnz, bm, bn] of ones.
inline HostTensor oneBlocks(const Pattern &pattern, ElementType type = ElementType::f32) {
  return ones({pattern.valueBlocks(), pattern.block().rows, pattern.block().cols}, type);
}

/// Expects that every element equals `value`.
inline void expectAll(const HostTensor &tensor, double value) {
  forEachIndex(tensor.shape(), [&](std::span<const int64_t> index) {
    ASSERT_EQ(tensor.at(index), value) << formatShape(index);
  });
}

/// Expects that two tensors have equal shapes and elements within `tolerance`.
inline void expectNear(const HostTensor &a, const HostTensor &b, double tolerance = 1e-12) {
  ASSERT_EQ(formatShape(a.shape()), formatShape(b.shape()));
  forEachIndex(a.shape(), [&](std::span<const int64_t> index) {
    ASSERT_NEAR(a.at(index), b.at(index), tolerance) << formatShape(index);
  });
}

/// Returns the sum of the products of the elements of two tensors of equal shapes.
inline double dot(const HostTensor &a, const HostTensor &b) {
  double sum = 0;
  forEachIndex(b.shape(),
               [&](std::span<const int64_t> index) { sum += a.at(index) * b.at(index); });
  return sum;
}

/// Returns d loss / d tensor[index] by central differences. `loss` reads `tensor`, which has its
/// old elements in the end.
inline double centralDifference(const HostTensor &tensor, std::span<const int64_t> index,
                                const std::function<double()> &loss) {
  constexpr double step = 1e-5;
  double old = tensor.at(index);
  tensor.set(index, old + step);
  double high = loss();
  tensor.set(index, old - step);
  double low = loss();
  tensor.set(index, old);
  return (high - low) / (2 * step);
}

/// Expects that `gradient` is within `tolerance` of the slopes of `loss` in the elements of
/// `tensor`, and no larger than `magnitude`.
inline void expectSlopes(const HostTensor &gradient, const HostTensor &tensor,
                         const HostTensor &magnitude, double tolerance, const char *name,
                         const std::function<double()> &loss) {
  ASSERT_EQ(formatShape(gradient.shape()), formatShape(tensor.shape()));
  ASSERT_EQ(formatShape(magnitude.shape()), formatShape(tensor.shape()));
  forEachIndex(tensor.shape(), [&](std::span<const int64_t> index) {
    ASSERT_NEAR(gradient.at(index), centralDifference(tensor, index, loss), tolerance)
        << name << formatShape(index);
    ASSERT_GE(magnitude.at(index), std::fabs(gradient.at(index)) * (1 - 1e-12));
  });
}

} // namespace blocksparse::ref::test

#endif // BLOCKSPARSE_TEST_UNIT_REFERENCE_TESTTENSORS_H
