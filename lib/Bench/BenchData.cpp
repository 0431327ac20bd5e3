// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BenchData.h"

#include "../Execution/HostMemory.h"
#include "blocksparse/Support/RandomFill.h"
#include "llvm/Support/Parallel.h"

#include <atomic>
#include <cmath>
#include <cstring>

using namespace mlir::blocksparse;
using ::blocksparse::BlockLayout;
using ::blocksparse::ElementType;
using ::blocksparse::HostTensor;

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Returns [heads, rows, cols], without heads if there is only one, and with the last two exchanged
/// if the operand is stored transposed.
static llvm::SmallVector<int64_t> makeShape(const BenchPoint &point, int64_t rows, int64_t cols,
                                            bool transposed = false) {
  if (transposed)
    std::swap(rows, cols);
  if (point.heads == 1)
    return {rows, cols};
  return {point.heads, rows, cols};
}

ElementType BenchOperand::elementType(const BenchPoint &point) const {
  if (!accumulated || point.type == ElementType::f64)
    return point.type;
  return ElementType::f32;
}

std::vector<BenchOperand> mlir::blocksparse::getBenchOperands(const BenchPoint &point,
                                                              const BlockLayout &layout) {
  int64_t m = point.m, n = point.n, k = point.k;
  auto dense = [&](std::string name, int64_t rows, int64_t cols, bool transposed = false) {
    return BenchOperand{std::move(name), false, makeShape(point, rows, cols, transposed)};
  };
  auto sparse = [&](std::string name, int64_t rows, int64_t cols) {
    return BenchOperand{std::move(name), true, makeShape(point, rows, cols)};
  };
  std::vector<BenchOperand> operands;
  switch (point.op) {
  case BenchOp::DSD:
    operands = {sparse("a", m, k), dense("b", k, n, point.transposeB)};
    break;
  case BenchOp::DDS:
    operands = {dense("a", m, k, point.transposeA), sparse("b", k, n)};
    break;
  case BenchOp::SDD:
  case BenchOp::Matmul:
    operands = {dense("a", m, k, point.transposeA), dense("b", k, n, point.transposeB)};
    break;
  case BenchOp::BsrAddmm:
    return {sparse("sparse", m, k), dense("dense", k, n), dense("input", m, n),
            BenchOperand{"left_alpha", false, {m}, 0.5, 1.5},
            BenchOperand{"right_alpha", false, {n}, 0.5, 1.5}};
  case BenchOp::Softmax:
    operands = {sparse("x", m, n)};
    operands[0].low = -4;
    operands[0].high = 4;
    return operands;
  case BenchOp::SoftmaxGrad: {
    // The elements have the magnitude of probabilities.
    double row = double(layout.nnz()) / double(std::max<int64_t>(1, layout.grid().rows)) *
                 double(layout.block().cols);
    operands = {sparse("y", m, n), sparse("dy", m, n)};
    operands[0].low = 0;
    operands[0].high = 2 / std::max(1.0, row);
    return operands;
  }
  case BenchOp::Attention:
    return {dense("q", m, k), dense("k", n, k), dense("v", n, k)};
  case BenchOp::AttentionGrad: {
    // The lse is about that of scores 0, so that probabilities have the magnitude of real ones.
    double row = double(layout.nnz()) / double(std::max<int64_t>(1, layout.grid().rows)) *
                 double(layout.block().cols);
    double low = std::log(std::max(1.0, row * (point.causal ? 0.5 : 1)));
    llvm::SmallVector<int64_t> lse{m};
    if (point.heads != 1)
      lse.insert(lse.begin(), point.heads);
    return {dense("q", m, k),
            dense("k", n, k),
            dense("v", n, k),
            dense("out", m, k),
            BenchOperand{"lse", false, lse, low, low + 0.25, /*accumulated=*/true},
            dense("dout", m, k)};
  }
  }
  if (!point.epilogue.empty())
    operands.push_back({"bias", false, {n}});
  return operands;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

static constexpr int64_t chunkElements = 1 << 18;

/// Calls fn(begin, end) for parts of the tensor's elements, in parallel.
template <typename Fn>
static void forEachChunk(const HostTensor &tensor, Fn &&fn) {
  int64_t count = tensor.numElements();
  llvm::parallelFor(0, (count + chunkElements - 1) / chunkElements, [&](size_t chunk) {
    int64_t begin = static_cast<int64_t>(chunk) * chunkElements;
    fn(begin, std::min(count, begin + chunkElements));
  });
}

int64_t mlir::blocksparse::countBytes(const HostTensor &tensor) {
  return tensor.numElements() * ::blocksparse::elementSize(tensor.type());
}

/// Fills a tensor with numbers from `low` to `high`; i8 multiplies both by 127. 16-bit elements are
/// drawn from a table of 2^16 encoded numbers, because encoding dominates the time.
static void fillUniform(const HostTensor &tensor, double low, double high, uint64_t seed) {
  ElementType type = tensor.type();
  // Integers use the complete range of i8.
  if (type == ElementType::i8)
    low *= 127, high *= 127;
  auto draw = [&](uint64_t key, uint64_t index) {
    return low + (high - low) * 0.5 * (1 + ::blocksparse::randomUniform(key, index));
  };
  int64_t size = ::blocksparse::elementSize(type);
  auto *bytes = static_cast<char *>(tensor.data());
  if (size != 2) {
    forEachChunk(tensor, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        ::blocksparse::encodeElement(type, draw(seed, i), bytes + i * size);
    });
    return;
  }
  std::vector<uint16_t> table(1 << 16);
  for (size_t i = 0; i < table.size(); ++i)
    ::blocksparse::encodeElement(type, draw(~seed, i), &table[i]);
  auto *elements = static_cast<uint16_t *>(tensor.data());
  forEachChunk(tensor, [&](int64_t begin, int64_t end) {
    // Chunks are multiples of 4.
    for (int64_t i = begin; i < end; i += 4) {
      uint64_t bits = ::blocksparse::randomBits(seed, i / 4);
      for (int64_t j = i; j < std::min(end, i + 4); ++j, bits >>= 16)
        elements[j] = table[bits & 0xffff];
    }
  });
}

std::optional<BenchTensors> mlir::blocksparse::makeBenchTensors(const BenchPoint &point,
                                                                const BlockLayout &layout,
                                                                uint64_t seed, std::string &error) {
  BenchTensors tensors;
  for (const BenchOperand &operand : getBenchOperands(point, layout)) {
    llvm::SmallVector<int64_t> shape = operand.shape;
    if (operand.sparse)
      shape = {layout.nnz() * point.heads, point.block.rows, point.block.cols};
    std::optional<HostTensor> tensor = allocateTensor(operand.elementType(point), shape, error);
    if (!tensor)
      return std::nullopt;
    fillUniform(*tensor, operand.low, operand.high,
                ::blocksparse::randomBits(seed, tensors.size()));
    tensors.emplace(operand.name, *tensor);
  }
  return tensors;
}

void mlir::blocksparse::poisonTensor(const HostTensor &tensor) {
  // All bits set are a NaN in every type of a result.
  std::memset(tensor.data(), 0xff, countBytes(tensor));
}

int64_t mlir::blocksparse::countNonFinite(const HostTensor &tensor) {
  int64_t size = ::blocksparse::elementSize(tensor.type());
  const auto *bytes = static_cast<const char *>(tensor.data());
  std::atomic<int64_t> total = 0;
  forEachChunk(tensor, [&](int64_t begin, int64_t end) {
    int64_t count = 0;
    for (int64_t i = begin; i < end; ++i)
      count += !std::isfinite(::blocksparse::decodeElement(tensor.type(), bytes + i * size));
    total += count;
  });
  return total;
}
