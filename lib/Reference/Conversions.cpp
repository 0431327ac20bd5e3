// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Reference/Conversions.h"

#include "Operands.h"

#include <algorithm>
#include <cmath>
#include <vector>

using namespace blocksparse;
using namespace blocksparse::ref;

std::optional<HostTensor> ref::toDense(const SparseTensor &sparse, std::string &error) {
  int64_t batches = 1, heads = sparse.pattern.grid().heads;
  if (!checkSparse(sparse, batches, error))
    return std::nullopt;
  Blocks blocks = decodeBlocks(sparse.values);
  Dense dense = Dense::zeros(batches, heads, sparse.rows, sparse.cols);
  for (int64_t b = 0; b < batches; ++b)
    for (int64_t h = 0; h < heads; ++h)
      forEachStored(sparse.pattern, b, h, sparse.rows, sparse.cols,
                    [&](const Pattern::Entry &entry, int64_t r, int64_t c, int64_t element) {
                      dense.row(b, h, r)[c] += blocks.block(b, entry.value)[element];
                    });
  return dense.tensor.cast(sparse.values.type());
}

std::optional<HostTensor> ref::fromDense(const HostTensor &dense, const Pattern &pattern,
                                         std::string &error) {
  std::optional<Extents> extents = denseExtents(dense, false, error);
  int64_t batches = pattern.batches(), heads = pattern.grid().heads;
  if (!extents || !checkGrid(pattern, extents->rows, extents->cols, error) ||
      !mergeExtent(batches, extents->batches, "batch", error) ||
      !mergeExtent(heads, extents->heads, "head", error) ||
      !checkEqual(pattern.grid().heads, heads, "a pattern for a head count", error) ||
      !pattern.checkUnique(error))
    return std::nullopt;
  Dense source = decodeDense(dense);
  Blocks blocks = Blocks::zeros(batches, pattern);
  for (int64_t b = 0; b < batches; ++b)
    for (int64_t h = 0; h < heads; ++h)
      forEachStored(pattern, b, h, extents->rows, extents->cols,
                    [&](const Pattern::Entry &entry, int64_t r, int64_t c, int64_t element) {
                      blocks.block(b, entry.value)[element] = source.row(b, h, r)[c];
                    });
  return blocks.tensor.cast(dense.type());
}

std::optional<SparseTensor> ref::transpose(const SparseTensor &sparse, std::string &error) {
  int64_t batches = 1;
  if (!checkSparse(sparse, batches, error))
    return std::nullopt;
  std::vector<std::vector<int64_t>> oldValues;
  SparseTensor result;
  result.pattern = sparse.pattern.transposed(&oldValues);
  result.rows = sparse.cols;
  result.cols = sparse.rows;
  Blocks source = decodeBlocks(sparse.values);
  Blocks target = Blocks::zeros(batches, result.pattern);
  int64_t heads = result.pattern.grid().heads;
  for (int64_t b = 0; b < batches; ++b)
    for (int64_t h = 0; h < heads; ++h)
      forEachStored(result.pattern, b, h, result.rows, result.cols,
                    [&](const Pattern::Entry &entry, int64_t, int64_t, int64_t element) {
                      const std::vector<int64_t> &old = oldValues[oldValues.size() == 1 ? 0 : b];
                      int64_t i = element / target.cols, j = element % target.cols;
                      target.block(b, entry.value)[element] =
                          source.block(b, old[entry.value])[j * source.cols + i];
                    });
  result.values = target.tensor.cast(sparse.values.type());
  return result;
}

/// Checks that two sparse tensors store the same blocks at the same value blocks.
static bool checkSamePattern(const SparseTensor &a, const SparseTensor &b, int64_t batches,
                             std::string &error) {
  bool same = a.rows == b.rows && a.cols == b.cols && a.pattern.block() == b.pattern.block() &&
              a.pattern.grid() == b.pattern.grid();
  for (int64_t batch = 0; same && batch < batches; ++batch)
    for (int64_t head = 0; same && head < a.pattern.grid().heads; ++head)
      same = std::ranges::equal(a.pattern.entries(batch, head), b.pattern.entries(batch, head));
  if (!same)
    error = "expects b to have the pattern of a, but got another one";
  return same;
}

std::optional<HostTensor> ref::add(const SparseTensor &a, const SparseTensor &b, double alpha,
                                   double beta, std::string &error, ErrorScale *scale) {
  int64_t batches = 1;
  if (!checkSparse(a, batches, error) || !checkSparse(b, batches, error) ||
      !checkSamePattern(a, b, batches, error))
    return std::nullopt;
  Blocks left = decodeBlocks(a.values), right = decodeBlocks(b.values);
  Blocks sum = Blocks::zeros(batches, a.pattern), sizes = Blocks::zeros(batches, a.pattern);
  for (int64_t batch = 0; batch < batches; ++batch)
    for (int64_t head = 0; head < a.pattern.grid().heads; ++head)
      forEachStored(a.pattern, batch, head, a.rows, a.cols,
                    [&](const Pattern::Entry &entry, int64_t, int64_t, int64_t element) {
                      // A factor of 0 is a term that is not there, whatever it holds.
                      double x = alpha == 0 ? 0 : alpha * left.block(batch, entry.value)[element];
                      double y = beta == 0 ? 0 : beta * right.block(batch, entry.value)[element];
                      sum.block(batch, entry.value)[element] = x + y;
                      sizes.block(batch, entry.value)[element] = std::fabs(x) + std::fabs(y);
                    });
  if (scale)
    *scale = {sizes.tensor, 2};
  return sum.tensor;
}
