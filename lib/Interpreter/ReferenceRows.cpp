// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ReferenceRows.h"
#include "blocksparse/Reference/Conversions.h"

#include <cmath>
#include <limits>

using namespace mlir;
using ::blocksparse::ElementType;
using ::blocksparse::HostTensor;
namespace ref = ::blocksparse::ref;

/// Calls fn(batch, head, row, elements) for every row. `elements` are the indices of its stored
/// elements in the row-major values [B, S, bm, bn].
template <typename Fn>
static void forEachRow(const ref::SparseTensor &sparse, Fn &&fn) {
  const ref::Pattern &pattern = sparse.pattern;
  int64_t rank = sparse.values.rank(), batches = rank == 4 ? sparse.values.dim(0) : 1;
  int64_t bm = pattern.block().rows, bn = pattern.block().cols;
  SmallVector<int64_t> elements;
  for (int64_t b = 0; b < batches; ++b)
    for (int64_t h = 0; h < pattern.grid().heads; ++h)
      for (int64_t i = 0; i < sparse.rows; ++i) {
        elements.clear();
        for (const ref::Pattern::Entry &entry : pattern.row(b, h, i / bm))
          for (int64_t c = 0; c < bn && entry.col * bn + c < sparse.cols; ++c)
            elements.push_back(((b * pattern.valueBlocks() + entry.value) * bm + i % bm) * bn + c);
        fn(b, h, i, elements);
      }
}

static std::optional<HostTensor> zerosLike(const HostTensor &tensor, std::string &error) {
  return HostTensor::allocate(ElementType::f64, tensor.shape(), error);
}

std::optional<mlir::blocksparse::SoftmaxErrors>
mlir::blocksparse::boundSoftmax(const ref::SparseTensor &probabilities,
                                const HostTensor &scoreErrors, double bias, bool knownLse,
                                std::string &error) {
  int64_t batches = probabilities.values.rank() == 4 ? probabilities.values.dim(0) : 1;
  int64_t shape[] = {batches, probabilities.pattern.grid().heads, probabilities.rows};
  std::optional<HostTensor> values = zerosLike(probabilities.values, error);
  std::optional<HostTensor> lse = HostTensor::allocate(ElementType::f64, shape, error);
  if (!values || !lse)
    return std::nullopt;
  HostTensor p = probabilities.values.cast(ElementType::f64);
  HostTensor errors = scoreErrors.cast(ElementType::f64);
  forEachRow(probabilities, [&](int64_t b, int64_t h, int64_t i, ArrayRef<int64_t> elements) {
    double largest = 0;
    for (int64_t element : elements)
      largest = std::fmax(largest, errors.dataAs<double>()[element]);
    largest += bias;
    double growth = std::fmin(std::expm1((knownLse ? 1 : 2) * largest), 1e300);
    double most = knownLse ? std::numeric_limits<double>::infinity() : 1;
    for (int64_t element : elements) {
      double x = p.dataAs<double>()[element];
      values->dataAs<double>()[element] = std::isnan(x) || x == 0 ? 0 : std::fmin(x * growth, most);
    }
    lse->set({b, h, i}, largest);
  });
  return SoftmaxErrors{*values, *lse};
}

std::optional<HostTensor>
mlir::blocksparse::boundSoftmaxGrad(const ref::SparseTensor &lowerY, const HostTensor &lowerDy,
                                    const HostTensor &upperY, const HostTensor &upperDy,
                                    const ref::RowDots *dots, const std::optional<HostTensor> &dlse,
                                    std::string &error) {
  std::optional<HostTensor> result = zerosLike(lowerY.values, error);
  if (!result)
    return std::nullopt;
  HostTensor low = lowerY.values.cast(ElementType::f64), lowGrad = lowerDy.cast(ElementType::f64);
  HostTensor high = upperY.cast(ElementType::f64), highGrad = upperDy.cast(ElementType::f64);
  const double *p = low.dataAs<double>(), *g = lowGrad.dataAs<double>();
  const double *ph = high.dataAs<double>(), *gh = highGrad.dataAs<double>();
  HostTensor lseGradient = dlse ? dlse->cast(ElementType::f64) : HostTensor();
  const double *rowGradients = dlse ? lseGradient.dataAs<double>() : nullptr;
  // If P is 0, dP is not used and may be anything.
  auto product = [](double a, double b) { return a == 0 ? 0 : a * b; };
  forEachRow(lowerY, [&](int64_t b, int64_t h, int64_t i, ArrayRef<int64_t> elements) {
    double sum = 0, sumHigh = 0;
    for (int64_t e : elements) {
      sum += product(p[e], g[e]);
      sumHigh += product(ph[e], gh[e]);
    }
    if (dots)
      sum = sumHigh = std::fabs(dots->sumOf(b, h, i));
    if (dlse) {
      double own = std::fabs(rowGradients[(b * lowerY.pattern.grid().heads + h) * lowerY.rows + i]);
      sum += own;
      sumHigh += own;
    }
    for (int64_t e : elements) {
      double upper = product(ph[e], gh[e] + sumHigh), lower = product(p[e], g[e] + sum);
      double change = upper - lower + std::ldexp(upper, -40);
      result->dataAs<double>()[e] = std::isnan(change) ? 0 : change;
    }
  });
  return result;
}

/// Sums a dense tensor over the dimensions in which `shape` has extent 1 or none.
static std::optional<HostTensor> sumTo(const HostTensor &dense, ArrayRef<int64_t> shape,
                                       std::string &error) {
  std::optional<HostTensor> result = HostTensor::allocate(ElementType::f64, shape, error);
  if (!result)
    return std::nullopt;
  ::blocksparse::forEachIndex(dense.shape(), [&](std::span<const int64_t> index) {
    SmallVector<int64_t> place(index.end() - shape.size(), index.end());
    for (auto [at, extent] : llvm::zip_equal(place, shape))
      at = extent == 1 ? 0 : at;
    result->set(place, result->at(place) + dense.at(index));
  });
  return result;
}

std::optional<HostTensor> mlir::blocksparse::reduceValues(const ref::SparseTensor &values,
                                                          ArrayRef<int64_t> shape,
                                                          std::string &error) {
  std::optional<HostTensor> dense = ref::toDense(values, error);
  return dense ? sumTo(*dense, shape, error) : std::nullopt;
}
