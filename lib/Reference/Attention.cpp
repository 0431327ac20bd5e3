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
  /// q k^T, and its error in units of u.
  HostTensor scores;
  Blocks scoreErrors;
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
  // A sum of D products of absolute sum m is known to D m u.
  Blocks errors = decodeBlocks(scale.magnitude.clone());
  scaleBlocks(errors, qSize->cols);
  std::optional<SoftmaxRows> rows = softmaxRows(x, errors, qSize->cols, options, error);
  if (!rows)
    return std::nullopt;
  return Probabilities{
      {rows->values.tensor, pattern, x.rows, x.cols}, *rows, qSize->cols, *scores, errors};
}

HostTensor ref::repeatHeads(const HostTensor &tensor, int64_t groups) {
  if (groups == 1)
    return tensor;
  Dense from = decodeDense(tensor);
  Dense to = Dense::zeros(from.batches, from.heads * groups, from.rows, from.cols);
  for (int64_t b = 0; b < to.batches; ++b)
    for (int64_t h = 0; h < to.heads; ++h)
      std::copy_n(from.row(b, h / groups, 0), from.rows * from.cols, to.row(b, h, 0));
  return tensor.rank() == 3 ? to.tensor.select(0, 0) : to.tensor;
}

int64_t ref::countGroups(const HostTensor &q, const HostTensor &operand) {
  if (q.rank() < 3 || operand.rank() < 3)
    return 1;
  int64_t heads = q.dim(q.rank() - 3), shared = operand.dim(operand.rank() - 3);
  return heads > 1 && shared > 1 && heads % shared == 0 ? heads / shared : 1;
}

HostTensor ref::sumToOperand(const HostTensor &full, const HostTensor &like, int64_t groups) {
  if (groups == 1)
    return reduceTo(full, like.shape());
  Dense from = decodeDense(full);
  Dense to = Dense::zeros(from.batches, from.heads / groups, from.rows, from.cols);
  for (int64_t b = 0; b < from.batches; ++b)
    for (int64_t h = 0; h < from.heads; ++h)
      for (int64_t i = 0; i < from.rows * from.cols; ++i)
        to.row(b, h / groups, 0)[i] += from.row(b, h, 0)[i];
  return reduceTo(to.tensor, like.shape());
}

/// Makes numbers above 0 no smaller than `least`, below which rounding is absolute: then a relative
/// error bounds it.
static HostTensor raise(const HostTensor &values, double least) {
  HostTensor raised = values.clone();
  double *data = raised.dataAs<double>();
  for (int64_t i = 0; i < raised.numElements(); ++i)
    data[i] = data[i] > 0 ? std::max(data[i], least) : data[i];
  return raised;
}

/// Adds to each probability, raised to `least`, its error.
static HostTensor widen(const Probabilities &p, double least) {
  HostTensor wide = raise(p.p.values, least);
  double *data = wide.dataAs<double>();
  const double *relative = p.rows.relative.tensor.dataAs<double>();
  const double *values = p.p.values.dataAs<double>(), *sizes = p.rows.sizes.tensor.dataAs<double>();
  for (int64_t i = 0; i < wide.numElements(); ++i)
    data[i] = std::max(data[i] * (1 + relative[i]), values[i] + sizes[i]);
  return wide;
}

static HostTensor absolute(const HostTensor &tensor) {
  return decodeDense(tensor).magnitudes().tensor;
}

std::optional<AttentionResult> ref::attention(const HostTensor &q, const HostTensor &sharedK,
                                              const HostTensor &sharedV, const Pattern &pattern,
                                              const SoftmaxOptions &options, std::string &error,
                                              AttentionScales *scales) {
  HostTensor k = repeatHeads(sharedK, countGroups(q, sharedK));
  HostTensor v = repeatHeads(sharedV, countGroups(q, sharedV));
  std::optional<Probabilities> p = computeProbabilities(q, k, pattern, options, error);
  if (!p)
    return std::nullopt;
  bool skip = options.mayForbid();
  std::optional<HostTensor> out = dsd(p->p, v, {}, {}, error, nullptr, skip);
  if (!out)
    return std::nullopt;
  if (scales) {
    SparseTensor wide = p->p;
    wide.values = widen(*p, scales->smallestNormal);
    HostTensor sizes = absolute(v);
    int64_t terms = p->rows.terms + p->headDim;
    scales->out = {*dsd(wide, sizes, {}, {}, error, nullptr, skip), terms,
                   largestMagnitude(*dsd(p->p, sizes, {}, {}, error, nullptr, skip))};
    scales->lse = {p->rows.lseSizes, terms, 1 + largestMagnitude(p->rows.lse)};
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
                  const HostTensor &k, const HostTensor &dout, bool skipZeros, std::string &error) {
  std::optional<HostTensor> dq = dsd(ds, k, {}, {}, error, nullptr, skipZeros);
  std::optional<HostTensor> dk = dsd(ds, q, {.a = true}, {}, error, nullptr, skipZeros);
  std::optional<HostTensor> dv = dsd(p, dout, {.a = true}, {}, error, nullptr, skipZeros);
  if (!dq || !dk || !dv)
    return std::nullopt;
  return GradientProducts{*dq, *dk, *dv};
}

/// Checks that `operand`, with the heads of q, broadcasts to its gradient.
static bool reducible(const HostTensor &gradient, const HostTensor &operand, std::string &error) {
  return operand.broadcastTo(gradient.shape(), error).has_value();
}

/// Multiplies the gradients of capped scores by the slope of the cap, 1 - tanh(scale * s / cap)^2.
/// In `sizes` (may be null) the slope counts as 1, and its error is added.
static void applySlope(const Probabilities &p, const SoftmaxOptions &options,
                       const HostTensor &gradient, const HostTensor *sizes) {
  const double *scores = p.scores.dataAs<double>(), *errors = p.scoreErrors.tensor.dataAs<double>();
  double *values = gradient.dataAs<double>();
  double *bounds = sizes ? sizes->dataAs<double>() : nullptr;
  // The scores may have one batch where the gradient has several.
  int64_t count = gradient.numElements(), period = p.scores.numElements();
  for (int64_t i = 0; i < count; ++i) {
    double argument = options.scale * scores[i % period] / options.softCap;
    double tanh = std::tanh(argument);
    // The score of an element whose gradient is 0 may be NaN and must not be used.
    values[i] = values[i] == 0 ? 0 : values[i] * (1 - tanh * tanh);
    if (!bounds || bounds[i] == 0)
      continue;
    double error = std::fabs(options.scale / options.softCap) * errors[i % period];
    bounds[i] *= 1 + (2 * (error + 3 * std::fabs(argument)) + 20) / 16;
  }
}

/// Computes the error scales. dS has P's relative error and the errors of dP and of the sum of out
/// * dout, which have Dv products each.
static void scaleGradients(const Probabilities &p, const HostTensor &q, const HostTensor &sharedK,
                           const HostTensor &sharedV, const HostTensor &dout,
                           const SoftmaxGradScales &dsScales, const HostTensor &dpSizes,
                           const RowDots &dots, const std::optional<HostTensor> &dlse,
                           const SoftmaxOptions &options, std::pair<int64_t, int64_t> groups,
                           AttentionGradScales &scales) {
  double scale = options.scale;
  HostTensor k = repeatHeads(sharedK, groups.first), v = repeatHeads(sharedV, groups.second);
  const std::optional<HostTensor> &rpe = options.rpe;
  std::string error; // the same shapes have just been multiplied
  SparseTensor wideP = p.p, wideDs = p.p, ds = p.p;
  wideP.values = widen(p, scales.smallestNormal);
  std::optional<std::vector<int64_t>> rpeShape;
  if (rpe)
    rpeShape.emplace(rpe->shape().begin(), rpe->shape().end());
  // P (dpSize + sum |out| |dout|), through the gradient of softmax itself: of P as it is, which
  // tells the range of the gradients, and with its errors.
  SoftmaxGradScales sizes, plain;
  softmaxGrad(wideP, dpSizes, scale, rpeShape, error, &sizes, &dots, dlse);
  softmaxGrad(p.p, dpSizes, scale, rpeShape, error, &plain, &dots, dlse);
  if (options.softCap != 0)
    applySlope(p, options, plain.dx.magnitude.clone(), &sizes.dx.magnitude);
  wideDs.values = raise(sizes.dx.magnitude, scales.smallestNormal);
  ds.values = plain.dx.magnitude;
  HostTensor qSize = absolute(q), kSize = absolute(k), doutSize = absolute(dout);
  bool skip = options.mayForbid();
  std::optional<GradientProducts> wide =
      multiplyGradients(wideP, wideDs, qSize, kSize, doutSize, skip, error);
  std::optional<GradientProducts> range =
      multiplyGradients(p.p, ds, qSize, kSize, doutSize, skip, error);
  int64_t inner = dsScales.dx.terms + p.headDim + v.dim(v.rank() - 1);
  int64_t queries = q.dim(q.rank() - 2), keys = k.dim(k.rank() - 2);
  // Sums over broadcast batches and heads lengthen a reduction.
  int64_t matrices = p.rows.values.batches * p.p.pattern.grid().heads;
  auto reduce = [](const HostTensor &magnitude, const HostTensor &magnitudeRange,
                   const HostTensor &like, int64_t groups, int64_t terms) -> ErrorScale {
    return {sumToOperand(magnitude, like, groups), terms,
            largestMagnitude(sumToOperand(magnitudeRange, like, groups))};
  };
  scales.dq = reduce(wide->dq, range->dq, q, 1, inner + keys * matrices);
  scales.dk = reduce(wide->dk, range->dk, sharedK, groups.first, inner + queries * matrices);
  scales.dv = reduce(wide->dv, range->dv, sharedV, groups.second, inner + queries * matrices);
  if (rpe) {
    scales.drpe = sizes.drpe;
    scales.drpe.terms += inner;
    scales.drpe.range = largestMagnitude(plain.drpe.magnitude);
  }
}

std::optional<AttentionGradResult>
ref::attentionGrad(const HostTensor &q, const HostTensor &sharedK, const HostTensor &sharedV,
                   const AttentionResult &forward, const HostTensor &dout, const Pattern &pattern,
                   const SoftmaxOptions &options, std::string &error, AttentionGradScales *scales,
                   const std::optional<HostTensor> &dlse) {
  int64_t groupsK = countGroups(q, sharedK), groupsV = countGroups(q, sharedV);
  HostTensor k = repeatHeads(sharedK, groupsK), v = repeatHeads(sharedV, groupsV);
  SoftmaxOptions normalised = options;
  normalised.knownLse = forward.lse;
  std::optional<Probabilities> p = computeProbabilities(q, k, pattern, normalised, error);
  std::optional<RowDots> dots = rowDots(forward.out, dout, error);
  if (!p || !dots)
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
      softmaxGrad(p->p, *dp, options.scale, rpeShape, error, &dsScales, &*dots, dlse);
  if (!ds)
    return std::nullopt;
  if (options.softCap != 0)
    applySlope(*p, options, ds->dx, nullptr);
  SparseTensor gradient{ds->dx, pattern, p->p.rows, p->p.cols};
  std::optional<GradientProducts> products =
      multiplyGradients(p->p, gradient, q, k, dout, options.mayForbid(), error);
  if (!products || !reducible(products->dq, q, error) || !reducible(products->dk, k, error) ||
      !reducible(products->dv, v, error))
    return std::nullopt;
  if (scales)
    scaleGradients(*p, q, sharedK, sharedV, dout, dsScales, dpScale.magnitude, *dots, dlse, options,
                   {groupsK, groupsV}, *scales);
  return AttentionGradResult{sumToOperand(products->dq, q, 1),
                             sumToOperand(products->dk, sharedK, groupsK),
                             sumToOperand(products->dv, sharedV, groupsV), ds->drpe};
}
