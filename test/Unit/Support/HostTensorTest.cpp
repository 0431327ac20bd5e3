// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Support/HostTensor.h"
#include "blocksparse/Support/RandomFill.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

using namespace blocksparse;

namespace {

HostTensor arange(std::initializer_list<int64_t> shape) {
  HostTensor tensor = HostTensor::zeros(ElementType::f32, shape);
  fillTensor(tensor, FillKind::arange);
  return tensor;
}

TEST(HostTensor, AllocatesAlignedZeros) {
  for (ElementType type : allElementTypes) {
    HostTensor tensor = HostTensor::zeros(type, {3, 5});
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.data()) % HostTensor::alignment, 0u);
    EXPECT_EQ(tensor.at({2, 4}), 0);
    tensor.set({2, 4}, 1);
    EXPECT_EQ(tensor.at({2, 4}), 1);
    EXPECT_EQ(tensor.at({2, 3}), 0);
  }
}

TEST(HostTensor, RankZeroHasOneElement) {
  HostTensor scalar = HostTensor::zeros(ElementType::f64, {});
  scalar.set({}, 7);
  EXPECT_EQ(scalar.at({}), 7);
  EXPECT_EQ(scalar.numElements(), 1);
  EXPECT_EQ(scalar.clone().at({}), 7);
}

TEST(HostTensor, RejectsBadShapes) {
  std::string error;
  std::vector<int64_t> negative{2, -1}, deep(6, 1), huge{int64_t(1) << 40, int64_t(1) << 40};
  EXPECT_FALSE(HostTensor::allocate(ElementType::f32, negative, error));
  EXPECT_EQ(error, "expects non-negative extents, but got [2, -1]");
  EXPECT_FALSE(HostTensor::allocate(ElementType::f32, deep, error));
  EXPECT_EQ(error, "expects rank at most 5, but got 6");
  EXPECT_FALSE(HostTensor::allocate(ElementType::f32, huge, error));
  EXPECT_NE(error.find("below 2^63 bytes"), std::string::npos);
  // A view needs no memory, but its size must fit in int64_t, too.
  HostTensor one = HostTensor::zeros(ElementType::f32, std::vector<int64_t>{1});
  EXPECT_FALSE(one.broadcastTo(huge, error));
  EXPECT_NE(error.find("below 2^63 bytes"), std::string::npos);
  EXPECT_FALSE(HostTensor::wrap(ElementType::f32, one.data(), huge, std::vector<int64_t>{0, 0},
                                nullptr, error));
  // If one extent is 0, the others may have any size.
  huge.insert(huge.begin(), 0);
  std::optional<HostTensor> empty = HostTensor::allocate(ElementType::f32, huge, error);
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->numElements(), 0);
}

TEST(HostTensor, SliceSharesElements) {
  HostTensor base = arange({4, 6});
  HostTensor view = base.slice(0, 1, 4, 2).slice(1, 2, 100);
  EXPECT_EQ(view.dim(0), 2);
  EXPECT_EQ(view.dim(1), 4);
  EXPECT_EQ(view.at({1, 0}), 20);
  EXPECT_FALSE(view.isContiguous());
  view.set({1, 0}, -1);
  EXPECT_EQ(base.at({3, 2}), -1);
  EXPECT_EQ(base.slice(0, 3, 1).dim(0), 0);
}

TEST(HostTensor, TransposeSelectUnsqueeze) {
  HostTensor base = arange({2, 3, 4});
  HostTensor view = base.transpose(0, 2);
  EXPECT_EQ(view.at({3, 1, 1}), base.at({1, 1, 3}));
  HostTensor row = base.select(1, 2);
  EXPECT_EQ(row.rank(), 2);
  EXPECT_EQ(row.at({1, 0}), 20);
  HostTensor wide = row.unsqueeze(1);
  EXPECT_EQ(formatShape(wide.shape()), "[2, 1, 4]");
  EXPECT_EQ(wide.at({1, 0, 0}), 20);
}

TEST(HostTensor, BroadcastUsesStrideZero) {
  HostTensor base = arange({3, 1});
  std::string error;
  std::vector<int64_t> shape{2, 3, 4}, wrong{2, 4, 4};
  std::optional<HostTensor> view = base.broadcastTo(shape, error);
  ASSERT_TRUE(view) << error;
  EXPECT_EQ(view->stride(0), 0);
  EXPECT_EQ(view->stride(2), 0);
  EXPECT_EQ(view->at({1, 2, 3}), 2);
  EXPECT_FALSE(base.broadcastTo(wrong, error));
  EXPECT_EQ(error, "expects a shape that broadcasts to [2, 4, 4], but got "
                   "[3, 1]");
  EXPECT_EQ(view->contiguous().at({1, 2, 3}), 2);
}

TEST(HostTensor, ReshapeNeedsContiguity) {
  HostTensor base = arange({2, 6});
  std::string error;
  std::vector<int64_t> shape{3, 4}, wrong{5};
  EXPECT_EQ(base.reshape(shape, error)->at({2, 1}), 9);
  EXPECT_FALSE(base.reshape(wrong, error));
  EXPECT_EQ(error, "expects a shape of 12 elements, but got [5]");
  EXPECT_FALSE(base.transpose(0, 1).reshape(shape, error));
  EXPECT_NE(error.find("expects a contiguous tensor"), std::string::npos);
}

TEST(HostTensor, ContiguityIgnoresUnitAndEmptyAxes) {
  EXPECT_TRUE(arange({4, 1}).transpose(0, 1).isContiguous());
  EXPECT_TRUE(arange({0, 3}).transpose(0, 1).isContiguous());
  EXPECT_FALSE(arange({2, 3}).transpose(0, 1).isContiguous());
}

TEST(HostTensor, CopyRoundsAndKeepsBits) {
  HostTensor wide = HostTensor::of(ElementType::f64, {2}, {1.0 / 3, 1e9});
  HostTensor narrow = wide.cast(ElementType::f16);
  EXPECT_EQ(narrow.at({0}), roundToType(ElementType::f16, 1.0 / 3));
  EXPECT_TRUE(std::isinf(narrow.at({1})));
  HostTensor large = HostTensor::zeros(ElementType::i64, {2});
  large.dataAs<int64_t>()[1] = std::numeric_limits<int64_t>::max() - 1;
  EXPECT_EQ(large.slice(0, 0, 2, 1).clone().intAt({1}), std::numeric_limits<int64_t>::max() - 1);
  EXPECT_FALSE(narrow.copyFrom(HostTensor::zeros(ElementType::f16, {3})));
}

TEST(HostTensor, WrapsForeignMemory) {
  float buffer[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  std::string error;
  std::vector<int64_t> shape{2, 2}, strides{4, -1}, tooFew{1};
  std::optional<HostTensor> view =
      HostTensor::wrap(ElementType::f32, buffer + 3, shape, strides, nullptr, error);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->at({1, 1}), 6);
  view->set({0, 1}, 20);
  EXPECT_EQ(buffer[2], 20);
  EXPECT_FALSE(HostTensor::wrap(ElementType::f32, buffer, shape, tooFew, nullptr, error));
  EXPECT_EQ(error, "expects 2 strides, but got 1");
}

TEST(HostTensor, ForEachIndexIsRowMajor) {
  std::vector<int64_t> shape{2, 2}, empty{2, 0};
  std::vector<int64_t> seen;
  forEachIndex(shape,
               [&](std::span<const int64_t> index) { seen.push_back(index[0] * 10 + index[1]); });
  EXPECT_EQ(seen, (std::vector<int64_t>{0, 1, 10, 11}));
  forEachIndex(empty, [&](auto) { FAIL(); });
}

TEST(RandomFill, DependsOnSeedAndIndexOnly) {
  HostTensor a = HostTensor::zeros(ElementType::f32, {16, 16});
  HostTensor b = HostTensor::zeros(ElementType::f32, {16, 16});
  fillTensor(a, FillKind::uniform, 3);
  fillTensor(b.transpose(0, 1), FillKind::uniform, 3);
  EXPECT_EQ(a.at({3, 5}), b.at({5, 3}));
  fillTensor(b, FillKind::uniform, 4);
  EXPECT_FALSE(bitwiseEqual(a, b));
  // The numbers were computed from the documented formula with Python's integers.
  EXPECT_EQ(randomBits(0, 0), 0xa706dd2f4d197e6fu);
  EXPECT_EQ(randomBits(1, 5), 0xc63f062c5c30e3d4u);
  double sum = 0, least = 1, most = -1;
  for (uint64_t i = 0; i < 10000; ++i) {
    double value = randomUniform(7, i);
    sum += value;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  EXPECT_NEAR(sum / 10000, 0, 0.02);
  EXPECT_GE(least, -1);
  EXPECT_LT(most, 1);
  EXPECT_LT(least, -0.99);
  EXPECT_GT(most, 0.99);
}

TEST(RandomFill, Kinds) {
  HostTensor real = HostTensor::zeros(ElementType::f16, {8});
  HostTensor whole = HostTensor::zeros(ElementType::i8, {8});
  fillTensor(real, FillKind::nan);
  fillTensor(whole, FillKind::nan);
  EXPECT_TRUE(std::isnan(real.at({7})));
  EXPECT_EQ(whole.at({7}), -128);
  fillTensor(whole, FillKind::uniform, 1);
  fillTensor(real, FillKind::integers, 1);
  for (int64_t i = 0; i < 8; ++i)
    EXPECT_EQ(real.at({i}), whole.at({i}));
  fillTensor(real, FillKind::ones);
  EXPECT_EQ(real.at({7}), 1);
  for (const char *name : {"uniform", "integers", "zeros", "ones", "arange", "nan"})
    EXPECT_EQ(fillKindName(*parseFillKind(name)), name);
  EXPECT_FALSE(parseFillKind("random"));
}

} // namespace
