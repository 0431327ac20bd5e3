// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TestTensors.h"
#include "blocksparse/Reference/Conversions.h"

using namespace blocksparse;
using namespace blocksparse::ref;
using namespace blocksparse::ref::test;

namespace {

using Entries = std::vector<Pattern::Entry>;

Entries entriesOf(const Pattern &p, int64_t batch, int64_t head) {
  auto span = p.entries(batch, head);
  return Entries(span.begin(), span.end());
}

TEST(Pattern, SharedLayoutNumbersValuesHeadAfterHead) {
  Pattern p = pattern({4, 4}, 2, 2, "10 11", /*heads=*/3);
  EXPECT_EQ(p.valueBlocks(), 9);
  EXPECT_EQ(p.nnz(0), 9);
  EXPECT_EQ(entriesOf(p, 0, 0), (Entries{{0, 0, 0}, {1, 0, 1}, {1, 1, 2}}));
  EXPECT_EQ(entriesOf(p, 5, 2), (Entries{{0, 0, 6}, {1, 0, 7}, {1, 1, 8}}));
}

TEST(Pattern, LayoutPerHead) {
  Pattern p = pattern({4, 4}, 1, 2, "01 11");
  EXPECT_EQ(p.valueBlocks(), 3);
  EXPECT_EQ(entriesOf(p, 0, 1), (Entries{{0, 0, 1}, {0, 1, 2}}));
  std::string error;
  std::vector<uint8_t> mask{1, 1};
  auto layout = BlockLayout::fromMask({4, 4}, {2, 1, 1}, mask, error);
  EXPECT_FALSE(Pattern::fromLayout(*layout, 3, error));
  EXPECT_EQ(error, "expects a layout of 1 or 3 heads, but got 2");
}

TEST(Pattern, RunTimeIndicesPerBatchAndUnsorted) {
  Pattern p = dynamicPattern(4, 2, 3, indices({2, 3}, {0, 2, 2, 0, 1, 2}),
                             indices({2, 3}, {2, 0, 9, 1, 1, 9}));
  EXPECT_EQ(p.batches(), 2);
  EXPECT_EQ(p.valueBlocks(), 3);
  EXPECT_EQ(entriesOf(p, 0, 0), (Entries{{0, 2, 0}, {0, 0, 1}}));
  EXPECT_EQ(entriesOf(p, 1, 0), (Entries{{0, 1, 0}, {1, 1, 1}}));
}

TEST(Pattern, RunTimeIndicesShareOrOwnHeads) {
  std::string error;
  auto shared = Pattern::fromCsr({4, 4}, {2, 1, 2}, indices({2}, {0, 1}), indices({1}, {1}), error);
  ASSERT_TRUE(shared) << error;
  EXPECT_EQ(entriesOf(*shared, 0, 1), (Entries{{0, 1, 1}}));
  auto own = Pattern::fromCsr({4, 4}, {2, 1, 2}, indices({1, 2, 2}, {0, 1, 0, 2}),
                              indices({1, 2, 2}, {1, 0, 0, 1}), error);
  ASSERT_TRUE(own) << error;
  EXPECT_EQ(entriesOf(*own, 0, 1), (Entries{{0, 0, 2}, {0, 1, 3}}));
}

// C36 tests indices that are invalid.
TEST(Pattern, C36RejectsInvalidIndices) {
  struct Case {
    HostTensor crow, col;
    const char *error;
  } cases[] = {
      {indices({3}, {0, 2, 1}), indices({2}, {0, 1}),
       "expects crow indices that never decrease, but got 1 after 2"},
      {indices({2}, {0, 1}), indices({1}, {0}), "expects 3 crow indices, but got 2"},
      {indices({3}, {0, 1, 1}), indices({1}, {2}), "expects col indices in [0, 2), but got 2"},
      {indices({3}, {0, 1, 3}), indices({2}, {0, 1}),
       "expects a last crow index of at most 2 (the stored blocks), but got 3"},
      {indices({3}, {1, 1, 1}), indices({2}, {0, 1}), "expects crow indices from 0, but got 1"},
      {indices({3}, {0, 1, 1}), indices({1, 1}, {0}),
       "expects crow and col indices of one rank in 1..3, but got i32[3] and "
       "i32[1, 1]"},
      {ones({3}), indices({1}, {0}),
       "expects integer crow and col indices, but got f32[3] and i32[1]"},
  };
  for (const Case &c : cases) {
    std::string error;
    EXPECT_FALSE(Pattern::fromCsr({16, 16}, {1, 2, 2}, c.crow, c.col, error));
    EXPECT_EQ(error, c.error);
  }
}

TEST(Pattern, FindsDuplicates) {
  std::string error;
  EXPECT_TRUE(pattern({1, 1}, 1, 2, "11").checkUnique(error));
  EXPECT_FALSE(
      dynamicPattern(1, 2, 3, indices({3}, {0, 0, 3}), indices({3}, {2, 0, 2})).checkUnique(error));
  EXPECT_EQ(error, "expects each block column once in a block row, but got "
                   "column 2 twice in row 1");
}

TEST(Conversions, DenseRoundTripDropsPadding) {
  // The matrix is 5 x 7 in 2 x 3 blocks, so the grid is 3 x 3.
  Pattern p = pattern({2, 3}, 3, 3, "101 010 101");
  HostTensor dense = uniform({5, 7}, 1);
  std::string error;
  auto values = fromDense(dense, p, error);
  ASSERT_TRUE(values) << error;
  EXPECT_EQ(formatShape(values->shape()), "[1, 5, 2, 3]");
  // Block 4 is (2, 2): only its first element is inside of the matrix.
  EXPECT_EQ(values->at({0, 4, 0, 0}), dense.at({4, 6}));
  EXPECT_EQ(values->at({0, 4, 0, 1}), 0);
  EXPECT_EQ(values->at({0, 4, 1, 0}), 0);
  values->set({0, 4, 1, 2}, quietNaN); // padding
  auto back = toDense({*values, p, 5, 7}, error);
  ASSERT_TRUE(back) << error;
  for (int64_t i = 0; i < 5; ++i)
    for (int64_t j = 0; j < 7; ++j)
      EXPECT_EQ(back->at({0, 0, i, j}), (i / 2 + j / 3) % 2 == 0 ? dense.at({i, j}) : 0);
}

TEST(Conversions, KeepTypesAndAddDuplicates) {
  Pattern p = dynamicPattern(1, 1, 2, indices({2}, {0, 3}), indices({3}, {1, 0, 1}));
  std::string error;
  auto dense = toDense(sparse(HostTensor::of(ElementType::i8, {3, 1, 1}, {1, 2, 4}), p), error);
  ASSERT_TRUE(dense) << error;
  EXPECT_EQ(dense->type(), ElementType::i8);
  EXPECT_EQ(dense->at({0, 0, 0, 0}), 2);
  EXPECT_EQ(dense->at({0, 0, 0, 1}), 5);
  EXPECT_FALSE(fromDense(*dense, p, error));
}

TEST(Conversions, TransposeAgreesWithTheLayout) {
  Pattern p = pattern({2, 3}, 2, 3, "011 101 110 001");
  HostTensor values = uniform({2, p.valueBlocks(), 2, 3}, 2);
  std::string error;
  SparseTensor tensor{values, p, 4, 8};
  auto transposed = transpose(tensor, error);
  ASSERT_TRUE(transposed) << error;
  EXPECT_EQ(transposed->rows, 8);
  auto dense = toDense(tensor, error);
  auto transposedDense = toDense(*transposed, error);
  ASSERT_TRUE(transposedDense) << error;
  EXPECT_TRUE(bitwiseEqual(dense->transpose(2, 3).contiguous(), *transposedDense));
  // The result is canonical: columns ascend in each row, and values are permuted with them.
  EXPECT_EQ(entriesOf(transposed->pattern, 0, 1), (Entries{{0, 0, 4}, {1, 0, 5}, {2, 1, 6}}));
}

TEST(Conversions, TransposeOfRaggedBatches) {
  Pattern p = dynamicPattern(2, 2, 2, indices({2, 3}, {0, 2, 3, 0, 0, 1}),
                             indices({2, 3}, {1, 0, 0, 1, 0, 0}));
  HostTensor values = uniform({2, 3, 2, 2}, 3);
  std::string error;
  SparseTensor tensor = sparse(values, p);
  auto transposed = transpose(tensor, error);
  ASSERT_TRUE(transposed) << error;
  EXPECT_TRUE(bitwiseEqual(toDense(tensor, error)->transpose(2, 3).contiguous(),
                           *toDense(*transposed, error)));
}

TEST(Conversions, AddScalesTheTermsAndSkipsPadding) {
  // Two blocks in the grid of a 2 x 3 matrix; the last column of block 1 is padding.
  Pattern p = pattern({2, 2}, 1, 2, "11");
  HostTensor a = HostTensor::of(ElementType::f32, {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  HostTensor b = HostTensor::of(ElementType::f32, {2, 2, 2}, {10, 20, 30, 40, 50, 60, 70, 80});
  b.set({1, 0, 1}, quietNaN); // padding
  std::string error;
  ErrorScale scale;
  auto sum = add({a, p, 2, 3}, {b, p, 2, 3}, 2, -0.5, error, &scale);
  ASSERT_TRUE(sum) << error;
  EXPECT_EQ(sum->type(), ElementType::f64);
  EXPECT_TRUE(bitwiseEqual(
      *sum, HostTensor::of(ElementType::f64, {1, 2, 2, 2}, {-3, -6, -9, -12, -15, 0, -21, 0})));
  EXPECT_TRUE(bitwiseEqual(scale.magnitude, HostTensor::of(ElementType::f64, {1, 2, 2, 2},
                                                           {7, 14, 21, 28, 35, 0, 49, 0})));
  EXPECT_EQ(scale.terms, 2);
}

TEST(Conversions, AddLeavesOutTermsOfFactorZero) {
  Pattern p = pattern({1, 1}, 1, 2, "11");
  HostTensor a = HostTensor::of(ElementType::f32, {2, 1, 1}, {1, 2});
  HostTensor b = HostTensor::of(ElementType::f32, {2, 1, 1}, {quietNaN, quietNaN});
  std::string error;
  auto left = add(sparse(a, p), sparse(b, p), 3, 0, error);
  auto right = add(sparse(b, p), sparse(a, p), 0, 3, error);
  ASSERT_TRUE(left && right) << error;
  EXPECT_TRUE(bitwiseEqual(*left, HostTensor::of(ElementType::f64, {1, 2, 1, 1}, {3, 6})));
  EXPECT_TRUE(bitwiseEqual(*left, *right));
}

TEST(Conversions, AddRejectsOtherPatterns) {
  HostTensor values = ones({1, 1, 1});
  std::string error;
  EXPECT_FALSE(add(sparse(values, pattern({1, 1}, 1, 2, "10")),
                   sparse(values, pattern({1, 1}, 1, 2, "01")), 1, 1, error));
  EXPECT_EQ(error, "expects b to have the pattern of a, but got another one");
  EXPECT_FALSE(add(sparse(ones({2, 1, 1}), pattern({1, 1}, 1, 2, "10")),
                   sparse(values, pattern({1, 1}, 1, 2, "10")), 1, 1, error));
  EXPECT_EQ(error, "expects values of shape [1, 1, 1], with or without a batch in front, but got "
                   "f32[2, 1, 1]");
}

TEST(Conversions, RejectWrongShapes) {
  Pattern p = pattern({2, 2}, 2, 2, "10 01");
  std::string error;
  EXPECT_FALSE(toDense({ones({3, 2, 2}), p, 4, 4}, error));
  EXPECT_EQ(error, "expects values of shape [2, 2, 2], with or without a batch "
                   "in front, but got f32[3, 2, 2]");
  EXPECT_FALSE(toDense({ones({2, 2, 2}), p, 5, 4}, error));
  EXPECT_EQ(error, "expects a grid of 3 x 2 blocks for a 5 x 4 matrix, but got "
                   "2 x 2");
}

} // namespace
