// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Reference/Conversions.h"

#include "Operands.h"

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
