// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BenchCheck.h"

#include "blocksparse/Reference/Attention.h"
#include "blocksparse/Reference/Matmul.h"
#include "blocksparse/Support/RandomFill.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Parallel.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <limits>
#include <mutex>

using namespace mlir::blocksparse;
using ::blocksparse::BlockLayout;
using ::blocksparse::ElementType;
using ::blocksparse::HostTensor;
namespace ref = ::blocksparse::ref;

namespace {

/// Holds a part of a result, and the expected values.
struct Sample {
  HostTensor got;
  std::optional<HostTensor> expected;
  ref::ErrorScale scale;
  ref::ErrorModel model;
};

/// Extracts parts of a point: each is a small problem of the same kind for the reference.
class Sampler {
public:
  Sampler(const BenchPoint &point, const BlockLayout &layout, const BenchTensors &operands,
          llvm::ArrayRef<HostTensor> results)
      : point(point), layout(layout), operands(operands), results(results), result(results.front()),
        model(ref::ErrorModel::forOperands(point.type)) {
    if (point.precision == "tf32")
      model.operandRoundoff = std::ldexp(1.0, -11);
    if (point.precision == "tf32x3") // two parts of 11 bits
      model.operandRoundoff = std::ldexp(1.0, -21);
    if (point.op == BenchOp::DDS || point.op == BenchOp::AttentionGrad)
      transposed = layout.transposed(&order);
  }

  /// Returns the number of rows, columns or blocks that samples are drawn from.
  int64_t places() const {
    if (point.op == BenchOp::SDD)
      return layout.nnz() * point.heads;
    if (point.op == BenchOp::AttentionGrad) // rows of dq, dk and dv
      return (point.m + 2 * point.n) * point.heads;
    return (point.op == BenchOp::DDS ? point.n : point.m) * point.heads;
  }

  /// Returns the sample of the row, column or block with index `place`; `random` selects the part
  /// of it.
  Sample sample(int64_t place, uint64_t random, std::string &error) const;

private:
  static constexpr int64_t partLength = 256, partRows = 16;

  /// Returns a random range of at most `length` indices below `extent`.
  static std::pair<int64_t, int64_t> range(int64_t extent, int64_t length, uint64_t random) {
    int64_t size = std::min(extent, length);
    int64_t begin = static_cast<int64_t>(random % uint64_t(extent - size + 1));
    return {begin, begin + size};
  }

  /// Returns the matrix of one head of a dense tensor, before transposition.
  HostTensor matrix(const HostTensor &tensor, int64_t head, bool transposed = false) const {
    HostTensor one = tensor.rank() == 3 ? tensor.select(0, head) : tensor;
    return transposed ? one.transpose(0, 1) : one;
  }
  const HostTensor &operand(const char *name) const { return operands.find(name)->second; }
  std::optional<HostTensor> optional(const char *name) const {
    auto found = operands.find(name);
    return found == operands.end() ? std::nullopt : std::optional(found->second);
  }

  /// Returns row `row` of a head of a sparse tensor, as a tensor with blocks of one row.
  ref::SparseTensor sparseRow(const HostTensor &values, int64_t head, int64_t row,
                              std::string &error) const;
  /// Returns column `col` of a head of a sparse tensor, as a tensor with blocks of one column.
  ref::SparseTensor sparseColumn(const HostTensor &values, int64_t head, int64_t col,
                                 std::string &error) const;
  /// Returns row `row` of a head of a tensor that is stored like values.
  HostTensor valuesOfRow(const HostTensor &values, int64_t head, int64_t row) const;
  ref::Epilogue epilogue(int64_t firstCol, int64_t lastCol) const;

  void sampleRow(Sample &sample, int64_t head, int64_t row, uint64_t random,
                 std::string &error) const;
  void sampleColumn(Sample &sample, int64_t head, int64_t col, uint64_t random,
                    std::string &error) const;
  void sampleBlock(Sample &sample, int64_t head, int64_t block, uint64_t random,
                   std::string &error) const;
  void sampleSoftmax(Sample &sample, int64_t head, int64_t row, std::string &error) const;
  void sampleAttention(Sample &sample, int64_t head, int64_t row, std::string &error) const;
  /// Samples row `index` of dq, or of dk or dv if it is beyond those before.
  void sampleAttentionGrad(Sample &sample, int64_t head, int64_t index, std::string &error) const;

  const BenchPoint &point;
  const BlockLayout &layout;
  const BenchTensors &operands;
  llvm::ArrayRef<HostTensor> results;
  const HostTensor &result;
  ref::ErrorModel model;
  BlockLayout transposed;
  std::vector<int32_t> order;
};

} // namespace

/// Returns one block row (or column) of blocks of shape `block` as a pattern.
static ref::Pattern makeRowPattern(::blocksparse::BlockShape block, int64_t cols,
                                   std::span<const int32_t> columns, std::string &error) {
  std::optional<BlockLayout> row =
      BlockLayout::fromCsr(block, {1, 1, cols}, {0, static_cast<int32_t>(columns.size())},
                           {columns.begin(), columns.end()}, error);
  std::optional<ref::Pattern> pattern;
  if (row)
    pattern = ref::Pattern::fromLayout(*row, 1, error);
  return pattern.value_or(ref::Pattern());
}

HostTensor Sampler::valuesOfRow(const HostTensor &values, int64_t head, int64_t row) const {
  int64_t blockRow = row / point.block.rows, inside = row % point.block.rows;
  std::span<const int32_t> offsets = layout.rowOffsets();
  int64_t base = head * layout.nnz();
  return values.slice(0, base + offsets[blockRow], base + offsets[blockRow + 1])
      .slice(1, inside, inside + 1);
}

ref::SparseTensor Sampler::sparseRow(const HostTensor &values, int64_t head, int64_t row,
                                     std::string &error) const {
  ref::Pattern pattern = makeRowPattern({1, point.block.cols}, layout.grid().cols,
                                        layout.row(0, row / point.block.rows), error);
  return {valuesOfRow(values, head, row), pattern, 1, point.sparseCols()};
}

ref::SparseTensor Sampler::sparseColumn(const HostTensor &values, int64_t head, int64_t col,
                                        std::string &error) const {
  int64_t blockCol = col / point.block.cols, inside = col % point.block.cols;
  std::span<const int32_t> rows = transposed.row(0, blockCol);
  int64_t first = transposed.rowOffsets()[blockCol];
  HostTensor parts = HostTensor::zeros(
      point.type, {static_cast<int64_t>(rows.size()), point.block.rows, int64_t(1)});
  for (int64_t i = 0; i < int64_t(rows.size()); ++i)
    parts.select(0, i).copyFrom(
        values.select(0, head * layout.nnz() + order[first + i]).slice(1, inside, inside + 1));
  // A column of blocks is a row of the transposed pattern.
  std::vector<int32_t> offsets = {0};
  for (int64_t row = 0, next = 0; row < layout.grid().rows; ++row) {
    next += next < int64_t(rows.size()) && rows[next] == row;
    offsets.push_back(static_cast<int32_t>(next));
  }
  std::optional<BlockLayout> column =
      BlockLayout::fromCsr({point.block.rows, 1}, {1, layout.grid().rows, 1}, offsets,
                           std::vector<int32_t>(rows.size()), error);
  std::optional<ref::Pattern> pattern;
  if (column)
    pattern = ref::Pattern::fromLayout(*column, 1, error);
  return {parts, pattern.value_or(ref::Pattern()), point.k, 1};
}

ref::Epilogue Sampler::epilogue(int64_t firstCol, int64_t lastCol) const {
  ref::Epilogue made;
  if (std::optional<HostTensor> bias = optional("bias"))
    made.bias = bias->slice(0, firstCol, lastCol);
  llvm::StringRef activation = point.epilogue;
  if (activation.consume_front("bias_"))
    made.activation = *ref::parseActivation(activation);
  return made;
}

void Sampler::sampleRow(Sample &sample, int64_t head, int64_t row, uint64_t random,
                        std::string &error) const {
  auto [begin, end] = range(point.n, partLength, random);
  sample.got = matrix(result, head).slice(0, row, row + 1).slice(1, begin, end);
  auto dense = [&, first = begin, last = end](const char *name, bool transpose) {
    return matrix(operand(name), head, transpose).slice(1, first, last);
  };
  if (point.op == BenchOp::Matmul) {
    HostTensor left = matrix(operand("a"), head, point.transposeA).slice(0, row, row + 1);
    sample.expected = ref::matmul(left, dense("b", point.transposeB), ref::MatmulForm::linear, {},
                                  epilogue(begin, end), error, &sample.scale);
  } else if (point.op == BenchOp::DSD) {
    sample.expected =
        ref::dsd(sparseRow(operand("a"), head, row, error), dense("b", point.transposeB), {},
                 epilogue(begin, end), error, &sample.scale);
  } else {
    ref::Epilogue terms;
    terms.beta = 0.5;
    terms.input = dense("input", false).slice(0, row, row + 1);
    terms.leftAlpha = operand("left_alpha").slice(0, row, row + 1);
    terms.rightAlpha = operand("right_alpha").slice(0, begin, end);
    sample.expected = ref::bsrAddmm(sparseRow(operand("sparse"), head, row, error),
                                    dense("dense", false), terms, error, &sample.scale);
  }
}

void Sampler::sampleColumn(Sample &sample, int64_t head, int64_t col, uint64_t random,
                           std::string &error) const {
  auto [begin, end] = range(point.m, partLength, random);
  sample.got = matrix(result, head).slice(0, begin, end).slice(1, col, col + 1);
  HostTensor left = matrix(operand("a"), head, point.transposeA).slice(0, begin, end);
  sample.expected = ref::dds(left, sparseColumn(operand("b"), head, col, error), {},
                             epilogue(col, col + 1), error, &sample.scale);
}

void Sampler::sampleBlock(Sample &sample, int64_t head, int64_t block, uint64_t random,
                          std::string &error) const {
  std::span<const int32_t> offsets = layout.rowOffsets();
  int64_t blockRow = std::upper_bound(offsets.begin(), offsets.end(), block) - offsets.begin() - 1;
  int64_t firstRow = blockRow * point.block.rows;
  int64_t firstCol = layout.colIndices()[block] * point.block.cols;
  // The padding of edge blocks is excluded.
  auto [begin, end] = range(std::min(point.block.rows, point.m - firstRow), partRows, random);
  int64_t cols = std::min(point.block.cols, point.n - firstCol);
  sample.got = result.select(0, head * layout.nnz() + block).slice(0, begin, end).slice(1, 0, cols);
  HostTensor left =
      matrix(operand("a"), head, point.transposeA).slice(0, firstRow + begin, firstRow + end);
  HostTensor right =
      matrix(operand("b"), head, point.transposeB).slice(1, firstCol, firstCol + cols);
  sample.expected = ref::matmul(left, right, ref::MatmulForm::linear, {}, {}, error, &sample.scale);
}

/// Returns a mask that forbids the elements after the diagonal, for a single row.
static HostTensor makeCausalMask(int64_t row, int64_t cols) {
  HostTensor mask = HostTensor::zeros(ElementType::f32, {int64_t(1), cols});
  mask.slice(1, std::min(row + 1, cols), cols).fill(-std::numeric_limits<double>::infinity());
  return mask;
}

void Sampler::sampleSoftmax(Sample &sample, int64_t head, int64_t row, std::string &error) const {
  sample.got = valuesOfRow(result, head, row);
  if (point.op == BenchOp::SoftmaxGrad) {
    ref::SoftmaxGradScales scales;
    std::optional<ref::SoftmaxGradResult> grad =
        ref::softmaxGrad(sparseRow(operand("y"), head, row, error),
                         valuesOfRow(operand("dy"), head, row), 1, std::nullopt, error, &scales);
    if (grad)
      sample.expected = grad->dx;
    sample.scale = scales.dx;
    return;
  }
  ref::SoftmaxOptions options;
  if (point.causal)
    options.attentionMask = makeCausalMask(row, point.n);
  std::optional<ref::SoftmaxResult> softmax =
      ref::softmax(sparseRow(operand("x"), head, row, error), options, error, &sample.scale);
  if (softmax)
    sample.expected = softmax->values;
}

void Sampler::sampleAttention(Sample &sample, int64_t head, int64_t row, std::string &error) const {
  ref::Pattern pattern = makeRowPattern({1, point.block.cols}, layout.grid().cols,
                                        layout.row(0, row / point.block.rows), error);
  ref::SoftmaxOptions options;
  options.scale = 1 / std::sqrt(double(point.k));
  if (point.causal)
    options.attentionMask = makeCausalMask(row, point.n);
  // The probabilities are stored in the operands' type.
  double unit = ::blocksparse::unitRoundoff(point.type);
  ref::AttentionScales scales;
  scales.smallestNormal = ::blocksparse::smallestPositive(point.type) / (2 * unit);
  if (unit > sample.model.accumulateRoundoff)
    sample.model.operandRoundoff = unit;
  std::optional<ref::AttentionResult> attention =
      ref::attention(matrix(operand("q"), head).slice(0, row, row + 1), matrix(operand("k"), head),
                     matrix(operand("v"), head), pattern, options, error, &scales);
  sample.got = matrix(result, head).slice(0, row, row + 1);
  sample.scale = scales.out;
  if (attention)
    sample.expected = attention->out;
}

void Sampler::sampleAttentionGrad(Sample &sample, int64_t head, int64_t index,
                                  std::string &error) const {
  const size_t which = index < point.m ? 0 : index < point.m + point.n ? 1 : 2;
  const int64_t row = which == 0 ? index : index - point.m - (which == 1 ? 0 : point.n);
  // One row of dq takes the keys of a block row; one of dk or dv the queries of a block column.
  std::pair<int64_t, int64_t> queries(0, point.m), keys(0, point.n);
  ref::SoftmaxOptions options;
  options.scale = 1 / std::sqrt(double(point.k));
  ref::Pattern pattern;
  if (which == 0) {
    queries = {row, row + 1};
    pattern = makeRowPattern({1, point.block.cols}, layout.grid().cols,
                             layout.row(0, row / point.block.rows), error);
  } else {
    keys = {row, row + 1};
    std::vector<int32_t> offsets{0}, cols;
    std::span<const int32_t> rows = transposed.row(0, row / point.block.cols);
    for (int64_t blockRow = 0; blockRow < layout.grid().rows; ++blockRow) {
      if (std::binary_search(rows.begin(), rows.end(), blockRow))
        cols.push_back(0);
      offsets.push_back(static_cast<int32_t>(cols.size()));
    }
    std::optional<BlockLayout> column =
        BlockLayout::fromCsr({point.block.rows, 1}, {1, layout.grid().rows, 1}, std::move(offsets),
                             std::move(cols), error);
    std::optional<ref::Pattern> made;
    if (column)
      made = ref::Pattern::fromLayout(*column, 1, error);
    pattern = made.value_or(ref::Pattern());
  }
  if (point.causal) {
    options.attentionMask = which == 0 ? makeCausalMask(row, point.n)
                                       : HostTensor::zeros(ElementType::f32, {point.m, int64_t(1)});
    if (which != 0)
      options.attentionMask->slice(0, 0, std::min(row, point.m))
          .fill(-std::numeric_limits<double>::infinity());
  }
  // Probabilities and gradients of scores are rounded to the operands' type.
  double unit = ::blocksparse::unitRoundoff(point.type);
  ref::AttentionGradScales scales;
  scales.smallestNormal = ::blocksparse::smallestPositive(point.type) / (2 * unit);
  if (unit > sample.model.accumulateRoundoff)
    sample.model.operandRoundoff = unit;
  auto part = [&](const char *name, std::pair<int64_t, int64_t> rows) {
    return matrix(operand(name), head).slice(0, rows.first, rows.second);
  };
  const HostTensor &lse = operand("lse");
  HostTensor own = lse.rank() == 2 ? lse.select(0, head) : lse;
  std::optional<ref::AttentionGradResult> grad =
      ref::attentionGrad(part("q", queries), part("k", keys), part("v", keys),
                         {part("out", queries), own.slice(0, queries.first, queries.second)},
                         part("dout", queries), pattern, options, error, &scales);
  sample.got = matrix(results[which], head).slice(0, row, row + 1);
  if (!grad)
    return;
  sample.expected = which == 0 ? grad->dq : which == 1 ? grad->dk : grad->dv;
  sample.scale = which == 0 ? scales.dq : which == 1 ? scales.dk : scales.dv;
}

Sample Sampler::sample(int64_t place, uint64_t random, std::string &error) const {
  Sample made;
  made.model = model;
  int64_t perHead = places() / point.heads, head = place / perHead, index = place % perHead;
  switch (point.op) {
  case BenchOp::DSD:
  case BenchOp::BsrAddmm:
  case BenchOp::Matmul:
    sampleRow(made, head, index, random, error);
    break;
  case BenchOp::DDS:
    sampleColumn(made, head, index, random, error);
    break;
  case BenchOp::SDD:
    sampleBlock(made, head, index, random, error);
    break;
  case BenchOp::Softmax:
  case BenchOp::SoftmaxGrad:
    sampleSoftmax(made, head, index, error);
    break;
  case BenchOp::Attention:
    sampleAttention(made, head, index, error);
    break;
  case BenchOp::AttentionGrad:
    sampleAttentionGrad(made, head, index, error);
    break;
  }
  return made;
}

BenchCheck mlir::blocksparse::checkBenchResult(const BenchPoint &point, const BlockLayout &layout,
                                               const BenchTensors &operands,
                                               llvm::ArrayRef<HostTensor> results, int64_t count,
                                               uint64_t seed) {
  BenchCheck check;
  const size_t checked = point.op == BenchOp::AttentionGrad ? results.size() : 1;
  for (const HostTensor &result : results.take_front(checked))
    check.nonFinite += countNonFinite(result);
  Sampler sampler(point, layout, operands, results);
  int64_t places = sampler.places();
  check.samples = std::min(count, places);
  std::mutex mutex;
  llvm::parallelFor(0, check.samples, [&](size_t i) {
    int64_t begin = places * int64_t(i) / check.samples;
    int64_t end = places * (int64_t(i) + 1) / check.samples;
    uint64_t random = ::blocksparse::randomBits(seed, i);
    int64_t place = begin + int64_t(random % uint64_t(end - begin));
    std::string error;
    Sample sample = sampler.sample(place, random >> 20, error);
    std::optional<ref::ErrorReport> report;
    if (sample.expected)
      report =
          ref::compareToReference(sample.got, *sample.expected, sample.scale, sample.model, error);
    std::lock_guard<std::mutex> guard(mutex);
    if (!report) {
      check.error = error.empty() ? "no reference" : error;
      return;
    }
    check.elements += report->count;
    check.failures += report->ok() ? report->voids : report->failures;
    check.worstRatio = std::fmax(check.worstRatio, report->worstRatio);
    if ((!report->ok() || report->inconclusive()) && check.detail.empty())
      check.detail = "sample " + std::to_string(place) + ": " + report->describe();
  });
  return check;
}

std::string BenchCheck::describe() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (ok()) {
    os << llvm::format("PASS %.2f", worstRatio);
    return text;
  }
  os << "FAIL";
  if (!error.empty())
    os << ": " << error;
  if (nonFinite)
    os << ": " << nonFinite << " elements not finite";
  if (failures)
    os << ": " << failures << " of " << elements << " elements beyond the bound";
  if (!repeatable)
    os << ": not repeatable";
  return text;
}
