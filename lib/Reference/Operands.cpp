// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Operands.h"

#include <cmath>

using namespace blocksparse;
using namespace blocksparse::ref;

Dense Dense::zeros(int64_t batches, int64_t heads, int64_t rows, int64_t cols) {
  return {batches, heads, rows, cols,
          HostTensor::zeros(ElementType::f64, {batches, heads, rows, cols})};
}

Blocks Blocks::zeros(int64_t batches, const Pattern &pattern) {
  BlockShape block = pattern.block();
  return {batches, pattern.valueBlocks(), block.rows, block.cols,
          HostTensor::zeros(ElementType::f64,
                            {batches, pattern.valueBlocks(), block.rows, block.cols})};
}

static HostTensor absolute(const HostTensor &tensor) {
  HostTensor result = tensor.clone();
  double *data = result.dataAs<double>();
  for (int64_t i = 0; i < result.numElements(); ++i)
    data[i] = std::fabs(data[i]);
  return result;
}

Dense Dense::magnitudes() const { return {batches, heads, rows, cols, absolute(tensor)}; }

Dense Dense::transposed() const {
  return {batches, heads, cols, rows, tensor.transpose(2, 3).contiguous()};
}

Blocks Blocks::magnitudes() const { return {batches, count, rows, cols, absolute(tensor)}; }

void ref::scaleBlocks(const Blocks &blocks, double factor) {
  double *data = blocks.tensor.dataAs<double>();
  for (int64_t i = 0; i < blocks.tensor.numElements(); ++i)
    data[i] *= factor;
}

std::optional<Extents> ref::denseExtents(const HostTensor &tensor, bool transposed,
                                         std::string &error) {
  int64_t rank = tensor.rank();
  if (rank < 2 || rank > 4) {
    error = "expects a dense operand of rank 2..4, but got " + tensor.describe();
    return std::nullopt;
  }
  Extents extents{rank == 4 ? tensor.dim(0) : 1, rank >= 3 ? tensor.dim(rank - 3) : 1,
                  tensor.dim(rank - 2), tensor.dim(rank - 1)};
  if (transposed)
    std::swap(extents.rows, extents.cols);
  return extents;
}

/// Puts extents of 1 in front until the rank is 4.
static HostTensor withRankFour(HostTensor tensor) {
  while (tensor.rank() < 4)
    tensor = tensor.unsqueeze(0);
  return tensor;
}

static HostTensor asDouble(const HostTensor &tensor) {
  return tensor.type() == ElementType::f64 ? tensor.contiguous() : tensor.cast(ElementType::f64);
}

Dense ref::decodeDense(const HostTensor &tensor, bool transposed) {
  HostTensor view = withRankFour(tensor);
  if (transposed)
    view = view.transpose(2, 3);
  return {view.dim(0), view.dim(1), view.dim(2), view.dim(3), asDouble(view)};
}

Blocks ref::decodeBlocks(const HostTensor &values) {
  HostTensor view = withRankFour(values);
  return {view.dim(0), view.dim(1), view.dim(2), view.dim(3), asDouble(view)};
}

bool ref::mergeExtent(int64_t &extent, int64_t other, const char *what, std::string &error) {
  if (extent != 1 && other != 1 && extent != other) {
    error = "expects " + std::string(what) + " extents of 1 or " + std::to_string(extent) +
            ", but got " + std::to_string(other);
    return false;
  }
  if (extent == 1)
    extent = other;
  return true;
}

bool ref::bindTerm(const std::optional<HostTensor> &term, std::span<const int64_t> shape,
                   const char *name, std::optional<HostTensor> &view, std::string &error) {
  if (!term)
    return true;
  view = term->broadcastTo(shape, error);
  if (!view)
    error = std::string(name) + " " + error;
  return view.has_value();
}

bool ref::checkEqual(int64_t expected, int64_t got, const char *what, std::string &error) {
  if (expected != got)
    error = "expects " + std::string(what) + " of " + std::to_string(expected) + ", but got " +
            std::to_string(got);
  return expected == got;
}

bool ref::checkGrid(const Pattern &pattern, int64_t rows, int64_t cols, std::string &error) {
  BlockShape block = pattern.block();
  BlockGrid grid = pattern.grid();
  if (block.rows < 1 || block.cols < 1) {
    error = "expects a block of at least 1 x 1, but got " + std::to_string(block.rows) + " x " +
            std::to_string(block.cols);
    return false;
  }
  int64_t blockRows = (rows + block.rows - 1) / block.rows;
  int64_t blockCols = (cols + block.cols - 1) / block.cols;
  if (blockRows != grid.rows || blockCols != grid.cols) {
    error = "expects a grid of " + std::to_string(blockRows) + " x " + std::to_string(blockCols) +
            " blocks for a " + std::to_string(rows) + " x " + std::to_string(cols) +
            " matrix, but got " + std::to_string(grid.rows) + " x " + std::to_string(grid.cols);
    return false;
  }
  return true;
}

bool ref::checkValues(const HostTensor &values, const Pattern &pattern, int64_t &batches,
                      std::string &error) {
  BlockShape block = pattern.block();
  int64_t expected[] = {pattern.valueBlocks(), block.rows, block.cols};
  bool rankFits = values.rank() == 3 || values.rank() == 4;
  if (!rankFits ||
      !std::equal(std::begin(expected), std::end(expected), values.shape().end() - 3)) {
    error = "expects values of shape " + formatShape(expected) +
            ", with or without a batch in front, but got " + values.describe();
    return false;
  }
  return mergeExtent(batches, values.rank() == 4 ? values.dim(0) : 1, "batch", error) &&
         mergeExtent(batches, pattern.batches(), "batch", error);
}

bool ref::checkSparse(const SparseTensor &sparse, int64_t &batches, std::string &error) {
  return checkGrid(sparse.pattern, sparse.rows, sparse.cols, error) &&
         checkValues(sparse.values, sparse.pattern, batches, error);
}

HostTensor ref::reduceTo(const HostTensor &tensor, std::span<const int64_t> shape) {
  HostTensor result = HostTensor::zeros(ElementType::f64, shape);
  std::string unreachable;
  // Every element of the result seen through all the places it was used at.
  HostTensor uses = *result.broadcastTo(tensor.shape(), unreachable);
  forEachIndex(tensor.shape(), [&](std::span<const int64_t> index) {
    uses.set(index, uses.at(index) + tensor.at(index));
  });
  return result;
}

double ref::wrapToInt32(double value) {
  double residue = std::fmod(value, 4294967296.0);
  return static_cast<int32_t>(static_cast<uint32_t>(static_cast<int64_t>(residue)));
}
