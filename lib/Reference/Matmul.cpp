// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Reference/Matmul.h"

#include "EpilogueApply.h"
#include "Operands.h"

#include <algorithm>
#include <cmath>
#include <vector>

using namespace blocksparse;
using namespace blocksparse::ref;

static bool bothInt8(const HostTensor &a, const HostTensor &b) {
  return a.type() == ElementType::i8 && b.type() == ElementType::i8;
}

//===----------------------------------------------------------------------===//
// Sums of products. i8 products sum exactly in f64: 2^14 each, up to 2^39 of
// them.
//===----------------------------------------------------------------------===//

/// Returns a [M, K] b [K, N] for every batch and head.
static Dense multiply(const Dense &a, const Dense &b, int64_t batches, int64_t heads) {
  Dense sum = Dense::zeros(batches, heads, a.rows, b.cols);
  for (int64_t batch = 0; batch < batches; ++batch)
    for (int64_t head = 0; head < heads; ++head)
      for (int64_t i = 0; i < a.rows; ++i) {
        const double *left = a.row(batch, head, i);
        double *out = sum.row(batch, head, i);
        for (int64_t k = 0; k < a.cols; ++k) {
          const double *right = b.row(batch, head, k);
          for (int64_t j = 0; j < b.cols; ++j)
            out[j] += left[k] * right[j];
        }
      }
  return sum;
}

/// Returns op(sparse) [M, K] b [K, N]; `blocks` are the values of `a`. With `skipZeros`, elements 0
/// of `a` add nothing.
static Dense multiplySparse(const SparseTensor &a, const Blocks &blocks, bool transposed,
                            const Dense &b, int64_t batches, int64_t heads, bool skipZeros) {
  int64_t rows = transposed ? a.cols : a.rows;
  Dense sum = Dense::zeros(batches, heads, rows, b.cols);
  for (int64_t batch = 0; batch < batches; ++batch)
    for (int64_t head = 0; head < heads; ++head)
      forEachStored(a.pattern, batch, head, a.rows, a.cols,
                    [&](const Pattern::Entry &entry, int64_t r, int64_t c, int64_t element) {
                      double left = blocks.block(batch, entry.value)[element];
                      if (skipZeros && left == 0)
                        return;
                      int64_t i = transposed ? c : r;
                      int64_t k = transposed ? r : c;
                      const double *right = b.row(batch, head, k);
                      double *out = sum.row(batch, head, i);
                      for (int64_t j = 0; j < b.cols; ++j)
                        out[j] += left * right[j];
                    });
  return sum;
}

/// Returns a [M, K] b [K, N] at the blocks of `pattern`.
static Blocks multiplySampled(const Dense &a, const Dense &b, const Pattern &pattern,
                              int64_t batches) {
  Blocks sum = Blocks::zeros(batches, pattern);
  for (int64_t batch = 0; batch < batches; ++batch)
    for (int64_t head = 0; head < pattern.grid().heads; ++head)
      for (const Pattern::Entry &entry : pattern.entries(batch, head)) {
        int64_t firstRow = entry.row * sum.rows;
        int64_t firstCol = entry.col * sum.cols;
        int64_t rows = std::min(sum.rows, a.rows - firstRow);
        int64_t cols = std::min(sum.cols, b.cols - firstCol);
        for (int64_t i = 0; i < rows; ++i) {
          const double *left = a.row(batch, head, firstRow + i);
          double *out = sum.block(batch, entry.value) + i * sum.cols;
          for (int64_t k = 0; k < a.cols; ++k) {
            const double *right = b.row(batch, head, k) + firstCol;
            for (int64_t j = 0; j < cols; ++j)
              out[j] += left[k] * right[j];
          }
        }
      }
  return sum;
}

/// Returns the number of stored elements in the fullest row of op(sparse).
static int64_t longestRow(const SparseTensor &sparse, bool transposed) {
  int64_t longest = 0;
  for (int64_t batch = 0; batch < sparse.pattern.batches(); ++batch)
    for (int64_t head = 0; head < sparse.pattern.grid().heads; ++head) {
      std::vector<int64_t> counts(transposed ? sparse.cols : sparse.rows);
      forEachStored(sparse.pattern, batch, head, sparse.rows, sparse.cols,
                    [&](const Pattern::Entry &, int64_t r, int64_t c, int64_t) {
                      ++counts[transposed ? c : r];
                    });
      for (int64_t count : counts)
        longest = std::max(longest, count);
    }
  return longest;
}

//===----------------------------------------------------------------------===//
// Dense results
//===----------------------------------------------------------------------===//

static AxisSwap storedOrder(bool transposeOut) { return transposeOut ? AxisSwap{2, 3} : noSwap; }

/// Returns op(a) op(b) with `a` sparse or, if `mirrored`, its transpose (op(a) op(b))^T.
static std::optional<HostTensor> sparseTimesDense(const SparseTensor &a, bool transposeA,
                                                  const HostTensor &b, bool transposeB,
                                                  bool mirrored, bool transposeOut,
                                                  const Epilogue &epilogue, std::string &error,
                                                  ErrorScale *scale, bool skipZeros = false) {
  int64_t batches = 1, heads = a.pattern.grid().heads;
  std::optional<Extents> right = denseExtents(b, transposeB, error);
  if (!right || !checkSparse(a, batches, error) ||
      !checkEqual(transposeA ? a.rows : a.cols, right->rows, "an inner size", error) ||
      !mergeExtent(batches, right->batches, "batch", error) ||
      !mergeExtent(heads, right->heads, "head", error))
    return std::nullopt;

  Product product;
  product.integer = bothInt8(a.values, b);
  bool stored = false;
  for (int64_t batch = 0; batch < a.pattern.batches(); ++batch)
    stored |= a.pattern.nnz(batch) != 0;
  product.empty = epilogue.alpha == 0 || right->rows == 0 || !stored;
  if (product.empty) {
    product.sum = Dense::zeros(batches, heads, transposeA ? a.cols : a.rows, right->cols);
  } else {
    Dense dense = decodeDense(b, transposeB);
    Blocks blocks = decodeBlocks(a.values);
    product.sum = multiplySparse(a, blocks, transposeA, dense, batches, heads, skipZeros);
    product.terms = longestRow(a, transposeA);
    if (scale)
      product.magnitude = multiplySparse(a, blocks.magnitudes(), transposeA, dense.magnitudes(),
                                         batches, heads, skipZeros);
  }
  if (mirrored) {
    product.sum = product.sum.transposed();
    if (product.magnitude)
      product.magnitude = product.magnitude->transposed();
  }
  return finishDense(product, storedOrder(transposeOut), epilogue, error, scale);
}

std::optional<HostTensor> ref::dsd(const SparseTensor &a, const HostTensor &b,
                                   Transposes transposes, const Epilogue &epilogue,
                                   std::string &error, ErrorScale *scale, bool skipZeros) {
  return sparseTimesDense(a, transposes.a, b, transposes.b, /*mirrored=*/false, transposes.out,
                          epilogue, error, scale, skipZeros);
}

std::optional<HostTensor> ref::dds(const HostTensor &a, const SparseTensor &b,
                                   Transposes transposes, const Epilogue &epilogue,
                                   std::string &error, ErrorScale *scale) {
  // op(A) op(B) is the transpose of op(B)^T op(A)^T.
  return sparseTimesDense(b, !transposes.b, a, !transposes.a, /*mirrored=*/true, transposes.out,
                          epilogue, error, scale);
}

std::optional<HostTensor> ref::bsrAddmm(const SparseTensor &bsr, const HostTensor &dense,
                                        const Epilogue &epilogue, std::string &error,
                                        ErrorScale *scale) {
  return dsd(bsr, dense, {}, epilogue, error, scale);
}

std::optional<HostTensor> ref::matmul(const HostTensor &a, const HostTensor &b, MatmulForm form,
                                      Transposes transposes, const Epilogue &epilogue,
                                      std::string &error, ErrorScale *scale) {
  // score and context keep heads beside the inner axis: [B, M, H, D].
  HostTensor left = a, right = b;
  AxisSwap swap = storedOrder(transposes.out);
  if (form != MatmulForm::linear) {
    if (a.rank() != 4 || b.rank() != 4 || transposes.a || transposes.b || transposes.out) {
      error = "expects rank-4 operands and no transposes in the score and "
              "context forms, but got " +
              a.describe() + " and " + b.describe();
      return std::nullopt;
    }
    right = b.transpose(1, 2);
    if (form == MatmulForm::score)
      left = a.transpose(1, 2);
    else
      swap = {1, 2};
  }
  bool transposeB = transposes.b || form == MatmulForm::score;

  int64_t batches = 1, heads = 1;
  std::optional<Extents> leftSize = denseExtents(left, transposes.a, error);
  std::optional<Extents> rightSize = denseExtents(right, transposeB, error);
  if (!leftSize || !rightSize ||
      !checkEqual(leftSize->cols, rightSize->rows, "an inner size", error) ||
      !mergeExtent(batches, leftSize->batches, "batch", error) ||
      !mergeExtent(batches, rightSize->batches, "batch", error) ||
      !mergeExtent(heads, leftSize->heads, "head", error) ||
      !mergeExtent(heads, rightSize->heads, "head", error))
    return std::nullopt;

  Product product;
  product.integer = bothInt8(a, b);
  product.empty = epilogue.alpha == 0 || leftSize->cols == 0;
  if (product.empty) {
    product.sum = Dense::zeros(batches, heads, leftSize->rows, rightSize->cols);
  } else {
    Dense first = decodeDense(left, transposes.a);
    Dense second = decodeDense(right, transposeB);
    product.sum = multiply(first, second, batches, heads);
    product.terms = leftSize->cols;
    if (scale)
      product.magnitude = multiply(first.magnitudes(), second.magnitudes(), batches, heads);
  }
  return finishDense(product, swap, epilogue, error, scale);
}

//===----------------------------------------------------------------------===//
// Sparse results
//===----------------------------------------------------------------------===//

namespace {

/// Holds the two factors of a sampled product in the order in which its pattern is stored: (op(A)
/// op(B))^T = op(B)^T op(A)^T.
struct SampledOperands {
  HostTensor left, right;
  bool transposeLeft, transposeRight;
  Extents leftSize, rightSize;
  int64_t batches = 1;
};

} // namespace

static std::optional<SampledOperands> sampledOperands(const HostTensor &a, const HostTensor &b,
                                                      const Pattern &pattern, Transposes transposes,
                                                      std::string &error) {
  SampledOperands operands{a, b, transposes.a, transposes.b, {}, {}};
  if (transposes.out)
    operands = {b, a, !transposes.b, !transposes.a, {}, {}};
  std::optional<Extents> left = denseExtents(operands.left, operands.transposeLeft, error);
  std::optional<Extents> right = denseExtents(operands.right, operands.transposeRight, error);
  int64_t heads = pattern.grid().heads;
  operands.batches = pattern.batches();
  if (!left || !right || !checkEqual(left->cols, right->rows, "an inner size", error) ||
      !checkGrid(pattern, left->rows, right->cols, error) ||
      !mergeExtent(operands.batches, left->batches, "batch", error) ||
      !mergeExtent(operands.batches, right->batches, "batch", error) ||
      !mergeExtent(heads, left->heads, "head", error) ||
      !mergeExtent(heads, right->heads, "head", error) ||
      !checkEqual(pattern.grid().heads, heads, "a pattern for a head count", error) ||
      !pattern.checkUnique(error))
    return std::nullopt;
  operands.leftSize = *left;
  operands.rightSize = *right;
  return operands;
}

namespace {

/// Computes alpha * product + beta * old values, for sdd and sampled_addmm.
struct SampledSum {
  const Pattern &pattern;
  const SampledOperands &operands;
  double alpha, beta;
  /// Old values; null when beta is 0.
  const HostTensor *old;
};

} // namespace

static HostTensor sampledResult(const SampledSum &sum, ErrorScale *scale) {
  const SampledOperands &operands = sum.operands;
  Blocks result = Blocks::zeros(operands.batches, sum.pattern);
  Blocks magnitude = scale ? Blocks::zeros(operands.batches, sum.pattern) : Blocks();
  bool integer = bothInt8(operands.left, operands.right);
  if (sum.alpha != 0) {
    Dense left = decodeDense(operands.left, operands.transposeLeft);
    Dense right = decodeDense(operands.right, operands.transposeRight);
    result = multiplySampled(left, right, sum.pattern, operands.batches);
    if (scale)
      magnitude =
          multiplySampled(left.magnitudes(), right.magnitudes(), sum.pattern, operands.batches);
  }
  Blocks old = sum.old ? decodeBlocks(*sum.old) : Blocks();
  bool keepsIntegers = sum.alpha == std::trunc(sum.alpha) && sum.beta == std::trunc(sum.beta) &&
                       (!sum.old || !isFloatType(sum.old->type()));
  for (int64_t batch = 0; batch < operands.batches; ++batch)
    for (int64_t head = 0; head < sum.pattern.grid().heads; ++head)
      forEachStored(sum.pattern, batch, head, operands.leftSize.rows, operands.rightSize.cols,
                    [&](const Pattern::Entry &entry, int64_t, int64_t, int64_t element) {
                      double &value = result.block(batch, entry.value)[element];
                      if (integer)
                        value = wrapToInt32(value);
                      // Without alpha there is no product, not a zero times one.
                      value = sum.alpha == 0 ? 0 : sum.alpha * value;
                      double term = sum.old ? sum.beta * old.block(batch, entry.value)[element] : 0;
                      value += term;
                      if (integer && keepsIntegers)
                        value = wrapToInt32(value);
                      if (scale) {
                        double &size = magnitude.block(batch, entry.value)[element];
                        size = std::fabs(sum.alpha) * size + std::fabs(term);
                      }
                    });
  if (scale)
    *scale = {magnitude.tensor, operands.leftSize.cols};
  return integer && keepsIntegers ? result.tensor.cast(ElementType::i32) : result.tensor;
}

std::optional<HostTensor> ref::sdd(const HostTensor &a, const HostTensor &b, const Pattern &pattern,
                                   double alpha, Transposes transposes, std::string &error,
                                   ErrorScale *scale) {
  std::optional<SampledOperands> operands = sampledOperands(a, b, pattern, transposes, error);
  if (!operands)
    return std::nullopt;
  return sampledResult({pattern, *operands, alpha, 0, nullptr}, scale);
}

std::optional<HostTensor> ref::sampledAddmm(const SparseTensor &sparse, const HostTensor &a,
                                            const HostTensor &b, double alpha, double beta,
                                            Transposes transposes, std::string &error,
                                            ErrorScale *scale) {
  std::optional<SampledOperands> operands =
      sampledOperands(a, b, sparse.pattern, transposes, error);
  if (!operands || !checkEqual(sparse.rows, operands->leftSize.rows, "a row count", error) ||
      !checkEqual(sparse.cols, operands->rightSize.cols, "a column count", error) ||
      !checkSparse(sparse, operands->batches, error))
    return std::nullopt;
  return sampledResult(
      {sparse.pattern, *operands, alpha, beta, beta == 0 ? nullptr : &sparse.values}, scale);
}
