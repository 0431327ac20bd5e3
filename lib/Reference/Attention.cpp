// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Reference/Attention.h"

#include "Operands.h"
#include "SoftmaxRows.h"
#include "blocksparse/Reference/Matmul.h"

#include <algorithm>
#include <cmath>

using namespace blocksparse;
using namespace blocksparse::ref;

namespace {

/// Holds the result of the forward pass up to the probabilities, and the sizes that bound errors.
struct Probabilities {
  SparseTensor p;
  SoftmaxRows rows;
  int64_t headDim = 0;
};

} // namespace

static std::optional<Probabilities> computeProbabilities(const HostTensor &q, const HostTensor &k,
                                                         const Pattern &pattern,
                                                         const SoftmaxOptions &options,
                                                         std::string &error) {
  std::optional<Extents> qSize = denseExtents(q, false, error);
  std::optional<Extents> kSize = denseExtents(k, false, error);
  if (!qSize || !kSize)
    return std::nullopt;
  // In f64 from the start, so that i8 operands are not wrapped to i32.
  ErrorScale scale;
  std::optional<HostTensor> scores = sdd(q.cast(ElementType::f64), k.cast(ElementType::f64),
                                         pattern, 1, {.b = true}, error, &scale);
  if (!scores)
    return std::nullopt;
  SparseTensor x{*scores, pattern, qSize->rows, kSize->rows};
  std::optional<SoftmaxRows> rows = softmaxRows(x, decodeBlocks(scale.magnitude), options, error);
  if (!rows)
    return std::nullopt;
  return Probabilities{{rows->values.tensor, pattern, x.rows, x.cols}, *rows, qSize->cols};
}

/// Returns how many times (n + D) u the relative error of a probability can be, to first order: a
/// score, a sum of D products of absolute sum m, is known to D m u, and a probability to twice that
/// plus n u.
static double relativeError(const Probabilities &p, int64_t b, int64_t h, int64_t i) {
  double terms = std::max<double>(p.rows.terms + p.headDim, 1);
  // One batch of probabilities may serve every batch of a gradient.
  int64_t batch = p.rows.scoreSizes.dim(0) == 1 ? 0 : b;
  return 1 + 2 * p.headDim * p.rows.scoreSizes.at({batch, h, i}) / terms;
}

/// Replaces each stored element by change(batch, head, row, element).
template <typename Change>
static HostTensor changeStored(const HostTensor &values, const Probabilities &p, Change &&change) {
  Blocks blocks = decodeBlocks(values.clone());
  for (int64_t b = 0; b < blocks.batches; ++b)
    for (int64_t h = 0; h < p.p.pattern.grid().heads; ++h)
      forEachStored(p.p.pattern, b, h, p.p.rows, p.p.cols,
                    [&](const Pattern::Entry &entry, int64_t r, int64_t, int64_t element) {
                      double &value = blocks.block(b, entry.value)[element];
                      value = change(b, h, r, value);
                    });
  return blocks.tensor;
}

/// Multiplies each stored row by 1 + its relativeError.
static HostTensor widen(const HostTensor &values, const Probabilities &p) {
  return changeStored(values, p, [&](int64_t b, int64_t h, int64_t r, double value) {
    return value * (1 + relativeError(p, b, h, r));
  });
}

/// Makes stored numbers above 0 no smaller than `least`, below which rounding is absolute: then a
/// relative error bounds it.
static HostTensor raise(const HostTensor &values, const Probabilities &p, double least) {
  return changeStored(values, p, [&](int64_t, int64_t, int64_t, double value) {
    return value > 0 ? std::max(value, least) : value;
  });
}

static HostTensor absolute(const HostTensor &tensor) {
  return decodeDense(tensor).magnitudes().tensor;
}

std::optional<AttentionResult> ref::attention(const HostTensor &q, const HostTensor &k,
                                              const HostTensor &v, const Pattern &pattern,
                                              const SoftmaxOptions &options, std::string &error,
                                              AttentionScales *scales) {
  std::optional<Probabilities> p = computeProbabilities(q, k, pattern, options, error);
  if (!p)
    return std::nullopt;
  std::optional<HostTensor> out = dsd(p->p, v, {}, {}, error);
  if (!out)
    return std::nullopt;
  if (scales) {
    SparseTensor wide = p->p;
    wide.values = widen(raise(p->p.values, *p, scales->smallestNormal), *p);
    scales->out = {*dsd(wide, absolute(v), {}, {}, error), p->rows.terms + p->headDim};
    scales->lse = {lseSizes(p->rows), p->rows.terms + p->headDim};
  }
  return AttentionResult{*out, p->rows.lse};
}

namespace {

/// Holds the three gradient products for one choice of (P, dS) and of absolute or signed operands.
struct GradientProducts {
  HostTensor dq, dk, dv;
};

} // namespace

static std::optional<GradientProducts>
multiplyGradients(const SparseTensor &p, const SparseTensor &ds, const HostTensor &q,
                  const HostTensor &k, const HostTensor &dout, std::string &error) {
  std::optional<HostTensor> dq = dsd(ds, k, {}, {}, error);
  std::optional<HostTensor> dk = dsd(ds, q, {.a = true}, {}, error);
  std::optional<HostTensor> dv = dsd(p, dout, {.a = true}, {}, error);
  if (!dq || !dk || !dv)
    return std::nullopt;
  return GradientProducts{*dq, *dk, *dv};
}

static bool reducible(const HostTensor &gradient, const HostTensor &operand, std::string &error) {
  return operand.broadcastTo(gradient.shape(), error).has_value();
}

/// Computes the error scales. dS has twice P's relative error (its own, and once through the row
/// sum) and the error of dP, a sum of Dv products.
static void scaleGradients(const Probabilities &p, const HostTensor &q, const HostTensor &k,
                           const HostTensor &v, const HostTensor &dout,
                           const SoftmaxGradScales &dsScales, const HostTensor &dpSizes,
                           double scale, const std::optional<HostTensor> &rpe,
                           AttentionGradScales &scales) {
  std::string error; // the same shapes have just been multiplied
  SparseTensor wideP = p.p, wideDs = p.p;
  SparseTensor raisedP = p.p;
  raisedP.values = raise(p.p.values, p, scales.smallestNormal);
  wideP.values = widen(raisedP.values, p);
  std::optional<std::vector<int64_t>> rpeShape;
  if (rpe)
    rpeShape.emplace(rpe->shape().begin(), rpe->shape().end());
  // P (dpSize + sum P dpSize), through the gradient of softmax itself.
  SoftmaxGradScales sizes;
  softmaxGrad(raisedP, dpSizes, scale, rpeShape, error, &sizes);
  wideDs.values = widen(widen(raise(sizes.dx.magnitude, p, scales.smallestNormal), p), p);
  std::optional<GradientProducts> wide =
      multiplyGradients(wideP, wideDs, absolute(q), absolute(k), absolute(dout), error);
  int64_t inner = dsScales.dx.terms + p.headDim + v.dim(v.rank() - 1);
  int64_t queries = q.dim(q.rank() - 2), keys = k.dim(k.rank() - 2);
  // Sums over broadcast batches and heads lengthen a reduction.
  int64_t matrices = p.rows.values.batches * p.p.pattern.grid().heads;
  scales.dq = {reduceTo(wide->dq, q.shape()), inner + keys * matrices};
  scales.dk = {reduceTo(wide->dk, k.shape()), inner + queries * matrices};
  scales.dv = {reduceTo(wide->dv, v.shape()), inner + queries * matrices};
  if (rpe) {
    scales.drpe = sizes.drpe;
    scales.drpe.terms += inner;
    double widest = 1;
    forEachIndex(p.rows.scoreSizes.shape(), [&](std::span<const int64_t> index) {
      widest = std::max(widest, relativeError(p, index[0], index[1], index[2]));
    });
    double factor = (1 + widest) * (1 + widest);
    forEachIndex(scales.drpe.magnitude.shape(), [&](std::span<const int64_t> index) {
      scales.drpe.magnitude.set(index, factor * scales.drpe.magnitude.at(index));
    });
  }
}

std::optional<AttentionGradResult>
ref::attentionGrad(const HostTensor &q, const HostTensor &k, const HostTensor &v,
                   const HostTensor &dout, const Pattern &pattern, const SoftmaxOptions &options,
                   std::string &error, AttentionGradScales *scales) {
  std::optional<Probabilities> p = computeProbabilities(q, k, pattern, options, error);
  if (!p)
    return std::nullopt;
  ErrorScale dpScale;
  std::optional<HostTensor> dp = sdd(dout.cast(ElementType::f64), v.cast(ElementType::f64), pattern,
                                     1, {.b = true}, error, &dpScale);
  if (!dp)
    return std::nullopt;
  std::optional<std::vector<int64_t>> rpeShape;
  if (options.rpe)
    rpeShape.emplace(options.rpe->shape().begin(), options.rpe->shape().end());
  SoftmaxGradScales dsScales;
  std::optional<SoftmaxGradResult> ds =
      softmaxGrad(p->p, *dp, options.scale, rpeShape, error, &dsScales);
  if (!ds)
    return std::nullopt;
  SparseTensor gradient{ds->dx, pattern, p->p.rows, p->p.cols};
  std::optional<GradientProducts> products = multiplyGradients(p->p, gradient, q, k, dout, error);
  if (!products || !reducible(products->dq, q, error) || !reducible(products->dk, k, error) ||
      !reducible(products->dv, v, error))
    return std::nullopt;
  if (scales)
    scaleGradients(*p, q, k, v, dout, dsScales, dpScale.magnitude, options.scale, options.rpe,
                   *scales);
  return AttentionGradResult{reduceTo(products->dq, q.shape()), reduceTo(products->dk, k.shape()),
                             reduceTo(products->dv, v.shape()), ds->drpe};
}
