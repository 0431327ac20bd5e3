// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Reference/Matmul.h"
#include "TestTensors.h"
#include "blocksparse/Reference/Conversions.h"

using namespace blocksparse;
using namespace blocksparse::ref;
using namespace blocksparse::ref::test;

namespace {

/// Returns op(A) op(B) of rank-2 f64 tensors, by definition.
HostTensor product(HostTensor a, HostTensor b, Transposes t) {
  a = t.a ? a.transpose(0, 1) : a;
  b = t.b ? b.transpose(0, 1) : b;
  HostTensor c = make({1, 1, a.dim(0), b.dim(1)}, [&](std::span<const int64_t> index) {
    double sum = 0;
    for (int64_t k = 0; k < a.dim(1); ++k)
      sum += a.at({index[2], k}) * b.at({k, index[3]});
    return sum;
  });
  return t.out ? c.transpose(2, 3).contiguous() : c;
}

std::vector<Transposes> allTransposes() {
  std::vector<Transposes> all;
  for (int bits = 0; bits < 8; ++bits)
    all.push_back({(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0});
  return all;
}

HostTensor oriented(int64_t rows, int64_t cols, bool transposed, uint64_t seed) {
  return transposed ? uniform({cols, rows}, seed) : uniform({rows, cols}, seed);
}

/// Returns a random sparse rows x cols matrix in 2 x 3 blocks; one block in three is missing.
SparseTensor randomSparse(int64_t rows, int64_t cols, uint64_t seed) {
  int64_t gridRows = (rows + 1) / 2, gridCols = (cols + 2) / 3;
  std::string mask;
  for (int64_t i = 0; i < gridRows * gridCols; ++i)
    mask += randomBits(seed, i) % 3 ? '1' : '0';
  Pattern p = pattern({2, 3}, gridRows, gridCols, mask);
  HostTensor values = uniform({p.valueBlocks(), 2, 3}, seed);
  return {values, p, rows, cols};
}

HostTensor denseMatrix(const SparseTensor &sparse) {
  std::string error;
  return toDense(sparse, error)->select(0, 0).select(0, 0);
}

TEST(Matmul, SparseTimesDenseInEveryOrientation) {
  for (Transposes t : allTransposes()) {
    // op(A) is 5 x 7 and op(B) 7 x 4: no extent is a multiple of its block.
    SparseTensor a = t.a ? randomSparse(7, 5, 1) : randomSparse(5, 7, 1);
    HostTensor b = oriented(7, 4, t.b, 2);
    std::string error;
    auto c = dsd(a, b, t, {}, error);
    ASSERT_TRUE(c) << error;
    expectNear(*c, product(denseMatrix(a), b, t));
  }
}

TEST(Matmul, DenseTimesSparseInEveryOrientation) {
  for (Transposes t : allTransposes()) {
    HostTensor a = oriented(5, 7, t.a, 1);
    SparseTensor b = t.b ? randomSparse(4, 7, 2) : randomSparse(7, 4, 2);
    std::string error;
    auto c = dds(a, b, t, {}, error);
    ASSERT_TRUE(c) << error;
    expectNear(*c, product(a, denseMatrix(b), t));
  }
}

TEST(Matmul, SampledInEveryOrientation) {
  for (Transposes t : allTransposes()) {
    HostTensor a = oriented(5, 7, t.a, 1), b = oriented(7, 4, t.b, 2);
    SparseTensor s = t.out ? randomSparse(4, 5, 3) : randomSparse(5, 4, 3);
    std::string error;
    auto full = product(a, b, t);
    auto expected = fromDense(full, s.pattern, error);
    ASSERT_TRUE(expected) << error;
    auto c = sdd(a, b, s.pattern, 1, t, error);
    ASSERT_TRUE(c) << error;
    expectNear(*c, *expected);

    auto mixed = sampledAddmm(s, a, b, 2, -0.5, t, error);
    ASSERT_TRUE(mixed) << error;
    auto sum = fromDense(make({full.dim(2), full.dim(3)},
                              [&](std::span<const int64_t> i) {
                                return 2 * full.at({0, 0, i[0], i[1]}) - 0.5 * denseMatrix(s).at(i);
                              }),
                         s.pattern, error);
    expectNear(*mixed, *sum);
  }
}

TEST(Matmul, DenseInEveryOrientation) {
  for (Transposes t : allTransposes()) {
    HostTensor a = oriented(5, 7, t.a, 1), b = oriented(7, 4, t.b, 2);
    std::string error;
    auto c = matmul(a, b, MatmulForm::linear, t, {}, error);
    ASSERT_TRUE(c) << error;
    expectNear(*c, product(a, b, t));
  }
}

TEST(Matmul, ScoreAndContextForms) {
  HostTensor q = uniform({2, 3, 4, 5}, 1); // [B, M, H, D]
  HostTensor k = uniform({2, 6, 4, 5}, 2); // [B, N, H, D]
  std::string error;
  auto scores = matmul(q, k, MatmulForm::score, {}, {}, error);
  ASSERT_TRUE(scores) << error;
  EXPECT_EQ(formatShape(scores->shape()), "[2, 4, 3, 6]");
  double expected = 0;
  for (int64_t d = 0; d < 5; ++d)
    expected += q.at({1, 2, 3, d}) * k.at({1, 5, 3, d});
  EXPECT_NEAR(scores->at({1, 3, 2, 5}), expected, 1e-12);

  Epilogue epilogue;
  epilogue.residual = uniform({2, 3, 4, 5}, 3);
  epilogue.bias = uniform({5}, 4);
  auto context = matmul(*scores, k, MatmulForm::context, {}, epilogue, error);
  ASSERT_TRUE(context) << error;
  EXPECT_EQ(formatShape(context->shape()), "[2, 3, 4, 5]");
  expected = 0;
  for (int64_t n = 0; n < 6; ++n)
    expected += scores->at({1, 3, 2, n}) * k.at({1, n, 3, 4});
  EXPECT_NEAR(context->at({1, 2, 3, 4}),
              expected + epilogue.bias->at({4}) + epilogue.residual->at({1, 2, 3, 4}), 1e-12);
}

TEST(Matmul, BroadcastsBatchesAndHeads) {
  Pattern p = pattern({2, 2}, 1, 1, "1", /*heads=*/3);
  SparseTensor a = sparse(uniform({3, 2, 2}, 1), p);
  HostTensor b = uniform({2, 1, 2, 4}, 2);
  std::string error;
  auto c = dsd(a, b, {}, {}, error);
  ASSERT_TRUE(c) << error;
  EXPECT_EQ(formatShape(c->shape()), "[2, 3, 2, 4]");
  double expected = 0;
  for (int64_t k = 0; k < 2; ++k)
    expected += a.values.at({2, 1, k}) * b.at({1, 0, k, 3});
  EXPECT_NEAR(c->at({1, 2, 1, 3}), expected, 1e-15);
  EXPECT_FALSE(dsd(a, uniform({2, 2, 2, 4}, 2), {}, {}, error));
  EXPECT_EQ(error, "expects head extents of 1 or 3, but got 2");
  EXPECT_FALSE(dsd(a, uniform({3, 4}, 2), {}, {}, error));
  EXPECT_EQ(error, "expects an inner size of 2, but got 3");
}

TEST(Matmul, PaddingIsNeitherReadNorLeftUnwritten) {
  Pattern p = pattern({4, 4}, 1, 1, "1");
  HostTensor values = filled(ElementType::f32, {1, 4, 4}, quietNaN);
  values.slice(1, 0, 3).slice(2, 0, 2).fill(1);
  std::string error;
  auto c = dsd({values, p, 3, 2}, ones({2, 5}), {}, {}, error);
  ASSERT_TRUE(c) << error;
  expectAll(*c, 2);
  auto s = sampledAddmm({values, p, 3, 2}, ones({3, 7}), ones({7, 2}), 1, 1, {}, error);
  ASSERT_TRUE(s) << error;
  expectAll(s->slice(2, 0, 3).slice(3, 0, 2), 8);
  expectAll(s->slice(2, 3, 4), 0);
  expectAll(s->slice(3, 2, 4), 0);
}

// Operands with other strides than those of a new tensor must give the same result.
TEST(Matmul, C29StridedOperands) {
  HostTensor big = uniform({4, 10, 12}, 1);
  HostTensor view = big.slice(0, 1, 4, 2).transpose(1, 2).slice(1, 2, 8);
  std::string error;
  Pattern p = pattern({3, 5}, 2, 2, "11 01", /*heads=*/2);
  auto strided = sdd(view, view, p, 1, {.b = true}, error);
  ASSERT_TRUE(strided) << error;
  auto packed = sdd(view.clone(), view.clone(), p, 1, {.b = true}, error);
  EXPECT_TRUE(bitwiseEqual(*strided, *packed));
}

//===----------------------------------------------------------------------===//
// Field cases
//===----------------------------------------------------------------------===//

TEST(Matmul, C01InnerSizeOddMultipleOf16) {
  for (auto [inner, expected] : {std::pair{16, 120.0}, {48, 1128.0}}) {
    Pattern p = pattern({16, 16}, 2, 2, "1111 1111");
    HostTensor b = make(
        {3, 2, 32, inner}, [](std::span<const int64_t> i) { return double(i[3]); },
        ElementType::f32);
    std::string error;
    auto c = sdd(ones({3, 2, 32, inner}), b, p, 1, {.b = true}, error);
    ASSERT_TRUE(c) << error;
    EXPECT_EQ(formatShape(c->shape()), "[3, 8, 16, 16]");
    expectAll(*c, expected);
  }
}

TEST(Matmul, C02ExactlyTheBlocksOfTheLayout) {
  Pattern p = pattern({32, 32}, 4, 5, "01111 11111 11111 11011");
  HostTensor a = make({128, 32}, [](std::span<const int64_t> i) { return double(i[0] / 32 + 1); });
  HostTensor b = make({32, 160}, [](std::span<const int64_t> i) { return double(i[1] / 32 + 1); });
  std::string error;
  auto c = sdd(a, b, p, 1, {}, error);
  ASSERT_TRUE(c) << error;
  ASSERT_EQ(c->dim(1), 18);
  EXPECT_EQ(c->at({0, 0, 0, 0}), 64);
  for (const Pattern::Entry &entry : p.entries(0, 0))
    expectAll(c->select(1, entry.value), 32 * (entry.row + 1) * (entry.col + 1));
}

TEST(Matmul, C03EmptyRowsAreZero) {
  Pattern p = pattern({16, 16}, 2, 2, "10 00");
  std::string error;
  auto c = dsd(sparse(oneBlocks(p), p), ones({32, 16}), {}, {}, error);
  ASSERT_TRUE(c) << error;
  expectAll(c->slice(2, 0, 16), 16);
  expectAll(c->slice(2, 16, 32), 0);
}

TEST(Matmul, C04HeadsAndLayoutsWithoutBlocks) {
  std::string error;
  Pattern half = pattern({16, 16}, 1, 1, "1 0");
  auto s = sdd(ones({2, 16, 16}), ones({2, 16, 16}), half, 1, {}, error);
  ASSERT_TRUE(s) << error;
  EXPECT_EQ(formatShape(s->shape()), "[1, 1, 16, 16]");
  auto d = dsd(sparse(oneBlocks(half), half), ones({2, 16, 16}), {}, {}, error);
  ASSERT_TRUE(d) << error;
  expectAll(d->select(1, 0), 16);
  expectAll(d->select(1, 1), 0);

  Pattern none = pattern({16, 16}, 1, 1, "0");
  s = sdd(ones({16, 16}), ones({16, 16}), none, 1, {}, error);
  ASSERT_TRUE(s) << error;
  EXPECT_EQ(formatShape(s->shape()), "[1, 0, 16, 16]");
  d = dds(ones({16, 16}), sparse(oneBlocks(none), none), {}, {}, error);
  ASSERT_TRUE(d) << error;
  expectAll(*d, 0);
}

TEST(Matmul, C06SmallBlocks) {
  for (int64_t block : {1, 4, 8, 12}) {
    Pattern p = pattern({block, block}, 24 / block, 24 / block,
                        std::string(24 / block * (24 / block), '1'));
    std::string error;
    auto c = dds(ones({24, 24}), sparse(oneBlocks(p), p), {}, {}, error);
    ASSERT_TRUE(c) << error;
    expectAll(*c, 24);
  }
}

TEST(Matmul, C11Float32StaysExact) {
  Pattern p = pattern({16, 16}, 3, 3, "100 010 001");
  HostTensor identity = make(
      {3, 16, 16}, [](std::span<const int64_t> i) { return double(i[1] == i[2]); },
      ElementType::f32);
  HostTensor b = HostTensor::zeros(ElementType::f32, {48, 48});
  fillTensor(b, FillKind::arange);
  std::string error;
  auto c = bsrAddmm(sparse(identity, p), b, {}, error);
  ASSERT_TRUE(c) << error;
  EXPECT_TRUE(bitwiseEqual(c->cast(ElementType::f32).select(0, 0).select(0, 0), b));
}

TEST(Matmul, C19InnerSizeNoMultipleOfTheTile) {
  for (int64_t inner : {2044, 130}) {
    Pattern p = pattern({16, 16}, 2, 2, "1111");
    std::string error;
    auto c = sdd(ones({32, inner}, ElementType::f16), ones({inner, 32}, ElementType::f16), p, 1, {},
                 error);
    ASSERT_TRUE(c) << error;
    expectAll(*c, inner);
  }
}

TEST(Matmul, C20AnyNumberOfColumns) {
  Pattern p = pattern({16, 16}, 4, 4, std::string(16, '1'));
  for (int64_t n : {1, 7, 24, 40, 129}) {
    std::string error;
    auto c = bsrAddmm(sparse(oneBlocks(p), p), ones({64, n}), {}, error);
    ASSERT_TRUE(c) << error;
    EXPECT_EQ(c->dim(3), n);
    expectAll(*c, 64);
  }
}

TEST(Matmul, C21SumsAreNotKeptInHalf) {
  Pattern p = pattern({16, 16}, 1, 256, std::string(256, '1'));
  std::string error;
  auto c = dsd(sparse(oneBlocks(p, ElementType::f16), p), ones({4096, 16}, ElementType::f16), {},
               {}, error);
  ASSERT_TRUE(c) << error;
  expectAll(*c, 4096);
}

TEST(Matmul, C25InputIsNotReadWhenBetaIsZero) {
  Pattern p = pattern({16, 16}, 1, 1, "1");
  Epilogue epilogue;
  epilogue.input = filled(ElementType::f32, {16, 16}, quietNaN);
  std::string error;
  auto c = bsrAddmm(sparse(oneBlocks(p), p), ones({16, 16}), epilogue, error);
  ASSERT_TRUE(c) << error;
  expectAll(*c, 16);
  auto s = sampledAddmm(sparse(filled(ElementType::f32, {1, 16, 16}, quietNaN), p), ones({16, 16}),
                        ones({16, 16}), 1, 0, {}, error);
  ASSERT_TRUE(s) << error;
  expectAll(*s, 16);
}

TEST(Matmul, C27BetaAppliesOnce) {
  Pattern p = pattern({16, 16}, 1, 1, "1");
  Epilogue epilogue;
  epilogue.beta = 0.5;
  epilogue.input = filled(ElementType::f32, {16, 16}, 4);
  std::string error;
  auto c = bsrAddmm(sparse(oneBlocks(p), p), ones({16, 16}), epilogue, error);
  ASSERT_TRUE(c) << error;
  expectAll(*c, 18);
}

TEST(Matmul, C28NothingToSumStillAppliesBeta) {
  Pattern none = pattern({16, 16}, 2, 2, "0000");
  Epilogue epilogue;
  epilogue.beta = 2;
  epilogue.input = filled(ElementType::f32, {32, 32}, 3);
  std::string error;
  auto c = bsrAddmm(sparse(oneBlocks(none), none), ones({32, 32}), epilogue, error);
  ASSERT_TRUE(c) << error;
  expectAll(*c, 6);

  Pattern p = pattern({16, 16}, 1, 1, "1");
  HostTensor identity =
      make({1, 16, 16}, [](std::span<const int64_t> i) { return double(i[1] == i[2]); });
  auto s = sampledAddmm(sparse(identity, p), ones({16, 0}), ones({0, 16}), 0.6, 0.2, {}, error);
  ASSERT_TRUE(s) << error;
  EXPECT_EQ(s->at({0, 0, 3, 3}), 0.2);
  EXPECT_EQ(s->at({0, 0, 3, 4}), 0);
}

TEST(Matmul, AlphaZeroReadsNoOperand) {
  Pattern p = pattern({16, 16}, 1, 1, "1");
  HostTensor poison = filled(ElementType::f32, {16, 16}, quietNaN);
  std::string error;
  expectAll(*sdd(poison, poison, p, 0, {}, error), 0);
  Epilogue epilogue;
  epilogue.alpha = 0;
  epilogue.beta = 2;
  epilogue.input = ones({16, 16});
  epilogue.leftAlpha = filled(ElementType::f32, {16}, quietNaN);
  auto c = bsrAddmm(sparse(poison.unsqueeze(0), p), poison, epilogue, error);
  ASSERT_TRUE(c) << error;
  expectAll(*c, 2);
  auto s = sampledAddmm(sparse(oneBlocks(p), p), poison, poison, 0, 3, {}, error);
  ASSERT_TRUE(s) << error;
  expectAll(*s, 3);
  epilogue.input.reset();
  EXPECT_FALSE(bsrAddmm(sparse(oneBlocks(p), p), poison, epilogue, error));
  EXPECT_EQ(error, "expects an input when beta is not 0, but got beta = "
                   "2.000000 and none");
}

TEST(Matmul, C31Int8SumsInInt32) {
  Pattern p = pattern({16, 16}, 1, 4, "1111");
  HostTensor values = filled(ElementType::i8, {4, 16, 16}, 127);
  std::string error;
  auto c = bsrAddmm(sparse(values, p), filled(ElementType::i8, {64, 16}, 127), {}, error);
  ASSERT_TRUE(c) << error;
  EXPECT_EQ(c->type(), ElementType::i32);
  expectAll(*c, 1032256);
  // 2^14 * 2^17 = 2^31 wraps.
  auto wrapped =
      matmul(filled(ElementType::i8, {1, 131072}, -128), filled(ElementType::i8, {131072, 1}, -128),
             MatmulForm::linear, {}, {}, error);
  ASSERT_TRUE(wrapped) << error;
  EXPECT_EQ(wrapped->at({0, 0, 0, 0}), -2147483648.0);
}

TEST(Matmul, Int8EpilogueStaysIntegerWhereItCan) {
  HostTensor two = filled(ElementType::i8, {1, 1}, 2);
  Epilogue epilogue;
  epilogue.alpha = 3;
  epilogue.bias = HostTensor::of(ElementType::i32, {1}, {-20});
  epilogue.activation = Activation::relu;
  std::string error;
  auto c = matmul(two, two, MatmulForm::linear, {}, epilogue, error);
  EXPECT_EQ(c->type(), ElementType::i32);
  EXPECT_EQ(c->at({0, 0, 0, 0}), 0);
  epilogue.rightAlpha = HostTensor::of(ElementType::f32, {1}, {2.5});
  c = matmul(two, two, MatmulForm::linear, {}, epilogue, error);
  EXPECT_EQ(c->type(), ElementType::f64);
  EXPECT_EQ(c->at({0, 0, 0, 0}), 10);
}

TEST(Matmul, C32RectangularBlocks) {
  for (BlockShape block : {BlockShape{16, 32}, {32, 16}, {16, 64}}) {
    int64_t rows = 64 / block.rows, cols = 128 / block.cols;
    Pattern p = pattern(block, rows, cols, std::string(rows * cols, '1'));
    std::string error;
    auto c = bsrAddmm(sparse(oneBlocks(p), p), ones({128, 16}), {}, error);
    ASSERT_TRUE(c) << error;
    EXPECT_EQ(c->dim(2), 64);
    expectAll(*c, 128);
  }
}

TEST(Matmul, C33BatchesOfDifferentNnz) {
  Pattern p =
      dynamicPattern(16, 1, 2, indices({2, 2}, {0, 2, 0, 1}), indices({2, 2}, {0, 1, 1, 0}));
  HostTensor values = HostTensor::zeros(ElementType::f32, {2, 2, 16, 16});
  values.select(0, 0).select(0, 0).fill(1);
  values.select(0, 0).select(0, 1).fill(2);
  values.select(0, 1).select(0, 0).fill(4);
  values.select(0, 1).select(0, 1).fill(quietNaN); // unused capacity
  std::string error;
  auto c = bsrAddmm(sparse(values, p), ones({32, 8}), {}, error);
  ASSERT_TRUE(c) << error;
  expectAll(c->select(0, 0), 48);
  expectAll(c->select(0, 1), 64);
}

TEST(Matmul, C34DuplicateColumnsAddUp) {
  Pattern p = dynamicPattern(16, 1, 1, indices({2}, {0, 2}), indices({2}, {0, 0}));
  HostTensor values = HostTensor::zeros(ElementType::f32, {2, 16, 16});
  values.select(0, 0).fill(1);
  values.select(0, 1).fill(2);
  std::string error;
  auto c = bsrAddmm(sparse(values, p), ones({16, 16}), {}, error);
  ASSERT_TRUE(c) << error;
  expectAll(*c, 48);
  EXPECT_FALSE(sampledAddmm(sparse(values, p), ones({16, 4}), ones({4, 16}), 1, 1, {}, error));
  EXPECT_EQ(error, "expects each block column once in a block row, but got "
                   "column 0 twice in row 0");
}

TEST(Matmul, C62ResultFollowsTheIndices) {
  HostTensor b = make({32, 4}, [](std::span<const int64_t> i) { return i[0] < 16 ? 1.0 : 10.0; });
  HostTensor col = indices({1}, {0});
  for (double expected : {16.0, 160.0}) {
    Pattern p = dynamicPattern(16, 1, 2, indices({2}, {0, 1}), col);
    std::string error;
    expectAll(*bsrAddmm(sparse(oneBlocks(p), p), b, {}, error), expected);
    col.set({0}, 1);
  }
}

// Computes the gradient of sum(sdd) through the other modes, from a gradient with stride 0.
TEST(Matmul, C09GradientOfASum) {
  Pattern p = pattern({16, 16}, 2, 2, "10 11");
  std::string error;
  std::vector<int64_t> shape{3, 16, 16};
  HostTensor dc = *ones({1}).broadcastTo(shape, error);
  auto da = dsd(sparse(dc, p), ones({32, 16}), {}, {}, error);
  ASSERT_TRUE(da) << error;
  expectAll(da->slice(2, 0, 16), 16);
  expectAll(da->slice(2, 16, 32), 32);
}

} // namespace
