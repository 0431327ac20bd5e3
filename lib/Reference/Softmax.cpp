// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Reference/Softmax.h"

#include "Operands.h"
#include "SoftmaxRows.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace blocksparse;
using namespace blocksparse::ref;

static constexpr double minusInfinity = -std::numeric_limits<double>::infinity();

namespace {

/// Holds the terms of the score other than x, as [B, H, M, N] views.
struct ScoreTerms {
  double scale = 1, softCap = 0;
  /// Numbers of a larger magnitude overflow in the accumulator.
  double largest = std::numeric_limits<double>::max();
  bool causal = false;
  int64_t offset = 0, left = -1, right = -1;
  std::optional<HostTensor> rpe, addMasks[2], mulMasks[2];
  std::optional<HostTensor> keyLengths, queryLengths, querySegments, keySegments;
  /// [B, H, M, 1].
  std::optional<HostTensor> knownLse;

  bool forbidden(std::initializer_list<int64_t> index) const {
    if (forbiddenByPosition(index))
      return true;
    for (const std::optional<HostTensor> &mask : mulMasks)
      if (mask && mask->at(index) == 0)
        return true;
    for (const std::optional<HostTensor> &mask : addMasks)
      if (mask && mask->at(index) == minusInfinity)
        return true;
    return false;
  }

  bool forbiddenByPosition(std::initializer_list<int64_t> index) const {
    const int64_t row = index.begin()[2], col = index.begin()[3], diagonal = row + offset;
    if ((causal && col > diagonal) || (left >= 0 && col < diagonal - left) ||
        (right >= 0 && col > diagonal + right))
      return true;
    if (keyLengths && static_cast<double>(col) >= keyLengths->at(index))
      return true;
    if (queryLengths && static_cast<double>(row) >= queryLengths->at(index))
      return true;
    return querySegments && querySegments->at(index) != keySegments->at(index);
  }

  /// Returns scale * x, bounded by the soft cap if there is one.
  double scaled(double x) const {
    return softCap == 0 ? scale * x : softCap * std::tanh(scale * x / softCap);
  }

  double score(std::initializer_list<int64_t> index, double x) const {
    double sum = limit(scaled(limit(x)));
    if (rpe)
      sum = limit(sum + rpe->at(index));
    for (const std::optional<HostTensor> &mask : addMasks)
      if (mask)
        sum = limit(sum + mask->at(index));
    return sum;
  }

  double limit(double value) const {
    return std::fabs(value) > largest
               ? std::copysign(std::numeric_limits<double>::infinity(), value)
               : value;
  }

  /// Returns the error of a score, in units of u, whose x is known to `error` units.
  double error(std::initializer_list<int64_t> index, double x, double error) const {
    double product = std::fabs(scale * x), size = std::fabs(scaled(x));
    int summands = size != 0;
    auto add = [&](const std::optional<HostTensor> &term) {
      double value = term ? std::fabs(term->at(index)) : 0;
      size += value;
      summands += value != 0;
    };
    add(rpe);
    for (const std::optional<HostTensor> &mask : addMasks)
      add(mask);
    int exponent;
    bool exactProduct = std::frexp(std::fabs(scale), &exponent) == 0.5 || product == 0;
    double sum = std::fabs(scale) * error + (exactProduct ? 0 : product);
    // The slope of tanh is at most 1; its argument is rounded twice, and tanh has an error of its
    // own.
    if (softCap != 0)
      sum += 2 * product + 8 * size;
    return summands > 1 ? sum + (summands - 1) * size : sum;
  }
};

/// Refers to one stored, allowed element of the current row.
struct RowElement {
  double *value;
  double *relative, *size;
  double score;
  /// Error of the score in units of u.
  double error;
};

} // namespace

/// Merges the batch extent of an optional [B, H, M, N] operand.
static bool mergeBatch(const std::optional<HostTensor> &term, int64_t &batches,
                       std::string &error) {
  if (!term)
    return true;
  std::optional<Extents> extents = denseExtents(*term, false, error);
  return extents && mergeExtent(batches, extents->batches, "batch", error);
}

/// Returns a key-padding mask [N] or [B, N] as [B, 1, 1, N].
static std::optional<HostTensor> asKeyMask(const std::optional<HostTensor> &mask) {
  if (mask && mask->rank() == 2)
    return mask->unsqueeze(1).unsqueeze(1);
  return mask;
}

/// Returns one number for each batch, [1] or [B], as [B, 1, 1, 1].
static std::optional<HostTensor> asLengths(const std::optional<HostTensor> &lengths) {
  if (!lengths || lengths->rank() != 1)
    return lengths;
  return lengths->unsqueeze(1).unsqueeze(1).unsqueeze(1);
}

/// Returns numbers of the rows, [M] or [B, M], as [B, 1, M, 1].
static std::optional<HostTensor> asRowMask(const std::optional<HostTensor> &rows) {
  if (!rows)
    return rows;
  HostTensor columns = rows->unsqueeze(rows->rank());
  return columns.rank() == 3 ? columns.unsqueeze(1) : columns;
}

/// Binds the masks of the position to `shape` = [B, H, M, N].
static bool bindPositions(const SoftmaxOptions &options, std::span<const int64_t> shape,
                          ScoreTerms &terms, std::string &error) {
  terms.causal = options.causal;
  terms.offset = options.causalOffset;
  terms.left = options.windowLeft;
  terms.right = options.windowRight;
  return bindTerm(asLengths(options.keyLengths), shape, "key lengths", terms.keyLengths, error) &&
         bindTerm(asLengths(options.queryLengths), shape, "query lengths", terms.queryLengths,
                  error) &&
         bindTerm(asRowMask(options.querySegments), shape, "query segments", terms.querySegments,
                  error) &&
         bindTerm(asKeyMask(options.keySegments), shape, "key segments", terms.keySegments, error);
}

/// Binds the terms to [B, H, M, N], whose batch extent they may raise.
static std::optional<ScoreTerms> bindScores(const SparseTensor &x, const SoftmaxOptions &options,
                                            int64_t &batches, std::string &error) {
  if (options.keyPaddingMask &&
      (options.keyPaddingMask->rank() < 1 || options.keyPaddingMask->rank() > 2)) {
    error =
        "expects a key padding mask of rank 1 or 2, but got " + options.keyPaddingMask->describe();
    return std::nullopt;
  }
  std::optional<HostTensor> keyMask = asKeyMask(options.keyPaddingMask);
  if (!mergeBatch(options.rpe, batches, error) ||
      !mergeBatch(options.attentionMask, batches, error) ||
      (keyMask && keyMask->rank() == 4 && !mergeExtent(batches, keyMask->dim(0), "batch", error)))
    return std::nullopt;
  for (const std::optional<HostTensor> &term :
       {asLengths(options.keyLengths), asLengths(options.queryLengths),
        asRowMask(options.querySegments), asKeyMask(options.keySegments)})
    if (term && term->rank() == 4 && !mergeExtent(batches, term->dim(0), "batch", error))
      return std::nullopt;
  std::optional<HostTensor> knownLse = options.knownLse;
  if (knownLse)
    knownLse = knownLse->unsqueeze(knownLse->rank());
  if (!mergeBatch(knownLse, batches, error))
    return std::nullopt;
  int64_t shape[] = {batches, x.pattern.grid().heads, x.rows, x.cols};
  int64_t rowShape[] = {batches, x.pattern.grid().heads, x.rows, 1};
  ScoreTerms terms;
  if (!bindTerm(knownLse, rowShape, "known lse", terms.knownLse, error))
    return std::nullopt;
  terms.scale = options.scale;
  // Half a unit of the last place above the largest number begins what rounds to infinity.
  terms.largest = largestFinite(options.accumulator) * (1 + unitRoundoff(options.accumulator) / 2);
  terms.softCap = options.softCap;
  if (!bindPositions(options, shape, terms, error))
    return std::nullopt;
  auto &keySlot = options.keyPaddingMode == MaskMode::add ? terms.addMasks[0] : terms.mulMasks[0];
  auto &attentionSlot =
      options.attentionMode == MaskMode::add ? terms.addMasks[1] : terms.mulMasks[1];
  if (!bindTerm(options.rpe, shape, "rpe", terms.rpe, error) ||
      !bindTerm(keyMask, shape, "key padding mask", keySlot, error) ||
      !bindTerm(options.attentionMask, shape, "attention mask", attentionSlot, error))
    return std::nullopt;
  return terms;
}

/// Writes P over the elements of a row; returns log-sum-exp.
static double normalizeRow(const std::vector<RowElement> &row) {
  // NaN, once met, stays the maximum and so reaches the whole row.
  double maximum = minusInfinity;
  for (const RowElement &element : row)
    if (std::isnan(element.score) || element.score > maximum)
      maximum = element.score;
  if (maximum == minusInfinity) {
    for (const RowElement &element : row)
      *element.value = 0;
    return minusInfinity;
  }
  double sum = 0;
  for (const RowElement &element : row) {
    *element.value = std::exp(element.score - maximum);
    sum += *element.value;
  }
  for (const RowElement &element : row)
    *element.value /= sum;
  return maximum + std::log(sum);
}

/// Writes the errors of each probability of a row (see SoftmaxRows.h), and returns the error
/// magnitude of `lse`. `terms` is the number of terms of the row, `roundoff` that of the
/// arithmetic.
static double boundRow(const std::vector<RowElement> &row, double lse, double terms,
                       double roundoff) {
  if (!std::isfinite(lse))
    return 1;
  double maximum = minusInfinity;
  for (const RowElement &element : row)
    maximum = std::max(maximum, element.score);
  auto size = [&](const RowElement &element) {
    // A distance that overflows is one of an element without weight.
    double distance = std::fmin(4 * (maximum - element.score), std::numeric_limits<double>::max());
    return element.score == minusInfinity ? 0 : distance + element.error;
  };
  // An error can make the weight of an element larger than its P: by exp(e u).
  double sum = 0, largest = 0;
  for (const RowElement &element : row) {
    if (element.score == minusInfinity)
      continue;
    double weight = std::exp(std::fmin(element.score - lse + 4 * element.error * roundoff, 0));
    sum += weight * size(element);
    largest = std::max(largest, size(element));
  }
  sum = std::min(sum, largest) / terms;
  for (const RowElement &element : row) {
    if (element.score == minusInfinity)
      continue;
    double p = *element.value, units = size(element) + sum * terms;
    // The difference to a large lse has lost the digits that a P above 0 has.
    double growth = units * roundoff;
    double most = p > 0 ? std::fmin(p * std::exp(growth), 1)
                        : std::exp(std::fmin(element.score - lse + growth, 0));
    *element.relative = 1 + units / terms;
    *element.size = std::fmax(p * *element.relative, (most - p) / (terms * roundoff));
  }
  return 1 + std::fabs(lse) + std::fabs(maximum) + sum;
}

/// Adds to the errors of a row with a sink, the last element. A backend may compute the row without
/// it, and multiply by the exponential of the difference of two log-sum-exp. Returns what is added
/// to the error magnitude of lse.
static double boundSink(const std::vector<RowElement> &row, double lse, double terms) {
  double others = lse + std::log1p(-std::fmin(*row.back().value, 1));
  if (!std::isfinite(others))
    return 1 + std::fabs(lse);
  double size = 4 * (1 + std::fabs(lse) + std::fabs(others));
  for (const RowElement &element : row) {
    *element.relative += size / terms;
    *element.size += *element.value * size / terms;
  }
  return size;
}

/// Writes exp(score - lse) over the elements of a row. An lse of -inf gives 0.
static void applyKnownLse(const std::vector<RowElement> &row, double lse) {
  double shift = lse == minusInfinity ? -minusInfinity : lse;
  for (const RowElement &element : row)
    *element.value = std::exp(element.score - shift);
}

/// Writes the relative error of each element of a row of exp(score - lse) (see SoftmaxRows.h).
/// `terms` is the number of terms of a score.
static void boundKnownRow(const std::vector<RowElement> &row, double lse, double terms) {
  // A program in f32 holds what is not a number of f32 rounded.
  double lseError = static_cast<float>(lse) == lse ? 0 : std::fabs(lse);
  for (const RowElement &element : row) {
    if (!std::isfinite(*element.value) || *element.value == 0)
      continue;
    double size = 4 * std::fabs(element.score - lse) + element.error + lseError;
    // The limit of the power keeps products with the bound finite.
    double growth = std::expm1(std::fmin(std::ldexp(size, -24), 300));
    *element.relative = 1 + std::fmax(size, std::ldexp(growth, 24)) / terms;
    *element.size = *element.value * *element.relative;
  }
}

std::optional<SoftmaxRows> ref::softmaxRows(const SparseTensor &x,
                                            const std::optional<Blocks> &errors, int64_t extraTerms,
                                            const SoftmaxOptions &options, std::string &error) {
  int64_t batches = 1;
  if (!checkSparse(x, batches, error) || !x.pattern.checkUnique(error))
    return std::nullopt;
  std::optional<ScoreTerms> terms = bindScores(x, options, batches, error);
  if (!terms)
    return std::nullopt;

  Blocks input = decodeBlocks(x.values);
  int64_t heads = x.pattern.grid().heads;
  SoftmaxRows result;
  result.values = Blocks::zeros(batches, x.pattern);
  result.relative = Blocks::zeros(batches, x.pattern);
  result.relative.tensor.fill(1);
  result.sizes = Blocks::zeros(batches, x.pattern);
  result.lse = HostTensor::zeros(ElementType::f64, {batches, heads, x.rows});
  result.lseSizes = result.lse.clone();
  BlockShape block = x.pattern.block();
  std::vector<RowElement> row;
  for (int64_t b = 0; b < batches; ++b)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = 0; i < x.rows; ++i) {
        row.clear();
        for (const Pattern::Entry &entry : x.pattern.row(b, h, i / block.rows))
          for (int64_t jj = 0; jj < block.cols; ++jj) {
            int64_t j = entry.col * block.cols + jj;
            if (j >= x.cols || terms->forbidden({b, h, i, j}))
              continue;
            int64_t element = i % block.rows * block.cols + jj;
            double value = input.block(b, entry.value)[element];
            double valueError = errors ? errors->block(b, entry.value)[element] : 0;
            row.push_back({result.values.block(b, entry.value) + element,
                           result.relative.block(b, entry.value) + element,
                           result.sizes.block(b, entry.value) + element,
                           terms->score({b, h, i, j}, value),
                           terms->error({b, h, i, j}, value, valueError)});
          }
        if (terms->knownLse) {
          double lse = terms->knownLse->at({b, h, i, 0});
          applyKnownLse(row, lse);
          boundKnownRow(row, lse, extraTerms + 16);
          result.lse.set({b, h, i}, lse);
        } else {
          double sinkValue = 0, sinkRelative = 1, sinkSize = 0;
          if (options.sink)
            row.push_back({&sinkValue, &sinkRelative, &sinkSize, options.sink->at({h}), 0});
          double lse = normalizeRow(row);
          double allTerms = row.size() + extraTerms + 16;
          double size = boundRow(row, lse, allTerms, unitRoundoff(options.accumulator));
          if (options.sink)
            size += boundSink(row, lse, allTerms);
          result.lse.set({b, h, i}, lse);
          result.lseSizes.set({b, h, i}, size);
        }
        result.terms = std::max<int64_t>(result.terms, row.size());
      }
  return result;
}

std::optional<SoftmaxResult> ref::softmax(const SparseTensor &x, const SoftmaxOptions &options,
                                          std::string &error, ErrorScale *scale,
                                          ErrorScale *lseScale) {
  int64_t batches = 1;
  if (!checkSparse(x, batches, error))
    return std::nullopt;
  std::optional<SoftmaxRows> rows = softmaxRows(x, std::nullopt, 0, options, error);
  if (!rows)
    return std::nullopt;
  // Rows of a known log-sum-exp are not summed.
  int64_t terms = options.knownLse ? 0 : rows->terms;
  if (scale)
    *scale = {rows->sizes.tensor, terms, largestMagnitude(rows->values.tensor)};
  if (lseScale)
    *lseScale = {rows->lseSizes, terms, 1 + largestMagnitude(rows->lse)};
  return SoftmaxResult{rows->values.tensor, rows->lse};
}

//===----------------------------------------------------------------------===//
// Gradient
//===----------------------------------------------------------------------===//

namespace {

/// Refers to the value blocks that one row of the gradient reads and writes.
struct GradientRow {
  const Pattern &pattern;
  const Blocks &y, &dy, &ds;
  int64_t rows, cols;
};

} // namespace

/// Calls fn(y, dy, ds) for the elements of row i that have P != 0.
template <typename Fn>
static void forEachLive(const GradientRow &row, int64_t b, int64_t h, int64_t i, Fn &&fn) {
  BlockShape block = row.pattern.block();
  for (const Pattern::Entry &entry : row.pattern.row(b, h, i / block.rows))
    for (int64_t jj = 0; jj < block.cols; ++jj) {
      int64_t element = i % block.rows * block.cols + jj;
      double y = row.y.block(b, entry.value)[element];
      if (entry.col * block.cols + jj < row.cols && y != 0)
        fn(y, row.dy.block(b, entry.value)[element], row.ds.block(b, entry.value)[element]);
    }
}

/// Computes dS = P (dP - sum P dP + dlse) and, if `sizes` is not null, P (|dP| + sum P |dP|).
/// Returns the length of the longest sum.
static int64_t scoreGradient(const GradientRow &row, const Blocks *sizes, int64_t batches,
                             const RowDots *dots, const std::optional<HostTensor> &dlse) {
  int64_t terms = 0;
  for (int64_t b = 0; b < batches; ++b)
    for (int64_t h = 0; h < row.pattern.grid().heads; ++h)
      for (int64_t i = 0; i < row.rows; ++i) {
        double sum = 0, sizeSum = 0;
        int64_t count = 0;
        forEachLive(row, b, h, i, [&](double y, double dy, double &) {
          sum += y * dy;
          sizeSum += std::fabs(y * dy);
          ++count;
        });
        if (dots) {
          sum = dots->sumOf(b, h, i);
          sizeSum = dots->sizeOf(b, h, i);
          count = dots->terms;
        }
        if (dlse) {
          double own = dlse->at({b, h, i, 0});
          sum -= own;
          sizeSum += std::fabs(own);
        }
        forEachLive(row, b, h, i, [&](double y, double dy, double &ds) { ds = y * (dy - sum); });
        if (sizes)
          forEachLive({row.pattern, row.y, row.dy, *sizes, row.rows, row.cols}, b, h, i,
                      [&](double y, double dy, double &size) {
                        size = std::fabs(y) * (std::fabs(dy) + sizeSum);
                      });
        terms = std::max(terms, count);
      }
  return terms;
}

/// Scatters value blocks into a dense [B, H, rows, cols] and returns their sum to `shape`.
static HostTensor reduceBlocks(const Blocks &blocks, const SparseTensor &like,
                               std::span<const int64_t> shape) {
  int64_t heads = like.pattern.grid().heads;
  Dense dense = Dense::zeros(blocks.batches, heads, like.rows, like.cols);
  for (int64_t b = 0; b < blocks.batches; ++b)
    for (int64_t h = 0; h < heads; ++h)
      forEachStored(like.pattern, b, h, like.rows, like.cols,
                    [&](const Pattern::Entry &entry, int64_t r, int64_t c, int64_t element) {
                      dense.row(b, h, r)[c] += blocks.block(b, entry.value)[element];
                    });
  return reduceTo(dense.tensor, shape);
}

std::optional<RowDots> ref::rowDots(const HostTensor &out, const HostTensor &dout,
                                    std::string &error) {
  std::optional<Extents> left = denseExtents(out, false, error);
  std::optional<Extents> right = denseExtents(dout, false, error);
  if (!left || !right || !checkEqual(left->rows, right->rows, "rows of out", error) ||
      !checkEqual(left->cols, right->cols, "columns of out", error) ||
      !mergeExtent(left->batches, right->batches, "batch", error) ||
      !mergeExtent(left->heads, right->heads, "head", error))
    return std::nullopt;
  Dense values = decodeDense(out), gradients = decodeDense(dout);
  int64_t shape[] = {left->batches, left->heads, left->rows};
  RowDots dots{HostTensor::zeros(ElementType::f64, shape),
               HostTensor::zeros(ElementType::f64, shape), left->cols};
  for (int64_t b = 0; b < left->batches; ++b)
    for (int64_t h = 0; h < left->heads; ++h)
      for (int64_t i = 0; i < left->rows; ++i) {
        double sum = 0, size = 0;
        for (int64_t d = 0; d < left->cols; ++d) {
          double product = values.row(b, h, i)[d] * gradients.row(b, h, i)[d];
          sum += product;
          size += std::fabs(product);
        }
        dots.sums.set({b, h, i}, sum);
        dots.sizes.set({b, h, i}, size);
      }
  return dots;
}

std::optional<SoftmaxGradResult>
ref::softmaxGrad(const SparseTensor &y, const HostTensor &dy, double scale,
                 const std::optional<std::vector<int64_t>> &rpeShape, std::string &error,
                 SoftmaxGradScales *scales, const RowDots *dots,
                 const std::optional<HostTensor> &dlse) {
  int64_t batches = 1;
  if (!checkSparse(y, batches, error) || !checkValues(dy, y.pattern, batches, error) ||
      !y.pattern.checkUnique(error))
    return std::nullopt;
  if (dots && (!mergeExtent(batches, dots->sums.dim(0), "batch", error) ||
               !checkEqual(y.rows, dots->sums.dim(2), "rows of out", error)))
    return std::nullopt;
  if (rpeShape && rpeShape->size() == 4 && !mergeExtent(batches, rpeShape->front(), "batch", error))
    return std::nullopt;
  int64_t full[] = {batches, y.pattern.grid().heads, y.rows, y.cols};
  if (rpeShape) {
    // A view of nothing: only its shape is asked.
    std::optional<HostTensor> probe =
        HostTensor::wrap(ElementType::i8, nullptr, *rpeShape, *rpeShape, nullptr, error);
    if (!probe || !probe->broadcastTo(full, error))
      return std::nullopt;
  }

  std::optional<HostTensor> lseGradient = dlse;
  if (lseGradient)
    lseGradient = lseGradient->unsqueeze(lseGradient->rank());
  int64_t rowShape[] = {full[0], full[1], full[2], 1};
  if (!bindTerm(lseGradient, rowShape, "dlse", lseGradient, error))
    return std::nullopt;

  Blocks ds = Blocks::zeros(batches, y.pattern);
  Blocks sizes = scales ? Blocks::zeros(batches, y.pattern) : Blocks();
  Blocks values = decodeBlocks(y.values), gradients = decodeBlocks(dy);
  int64_t terms = scoreGradient({y.pattern, values, gradients, ds, y.rows, y.cols},
                                scales ? &sizes : nullptr, batches, dots, lseGradient);
  SoftmaxGradResult result;
  if (rpeShape) {
    result.drpe = reduceBlocks(ds, y, *rpeShape);
    int64_t places = full[0] * full[1] * full[2] * full[3];
    int64_t kept = std::max<int64_t>(result.drpe->numElements(), 1);
    if (scales)
      scales->drpe = {reduceBlocks(sizes, y, *rpeShape), terms + places / kept};
  }
  scaleBlocks(ds, scale);
  result.dx = ds.tensor;
  if (scales) {
    scaleBlocks(sizes, std::fabs(scale));
    scales->dx = {sizes.tensor, terms};
  }
  return result;
}
