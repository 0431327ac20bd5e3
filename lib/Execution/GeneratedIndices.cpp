// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GeneratedIndices.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/Support/RandomFill.h"

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::ElementType;
using ::blocksparse::HostTensor;
using ::blocksparse::randomBits;

static int64_t ceilDiv(int64_t size, int64_t block) { return (size + block - 1) / block; }

std::optional<BsrIndices> mlir::blocksparse::generateBsr(const SparseTensor &sparse,
                                                         ArrayRef<int64_t> sizes, double density,
                                                         uint64_t seed, std::string &error) {
  bool batched = sparse.getRank() == 4;
  int64_t batches = batched ? sizes[0] : 1;
  int64_t rows = ceilDiv(sizes[sizes.size() - 2], sparse.getBlock().rows);
  int64_t cols = ceilDiv(sizes.back(), sparse.getBlock().cols);
  constexpr double largest = 1 << 30;
  if (double(batches) * rows * cols > largest) {
    error = "expects a grid of at most 2^30 blocks for a random pattern, but got " +
            std::to_string(batches) + " x " + std::to_string(rows) + " x " + std::to_string(cols);
    return std::nullopt;
  }
  // The density as a fraction of 2^32.
  auto threshold = static_cast<uint64_t>(std::clamp(density, 0.0, 1.0) * 4294967296.0);
  std::vector<std::vector<int64_t>> offsets(batches, {0}), columns(batches);
  size_t capacity = 0;
  for (int64_t batch = 0; batch < batches; ++batch) {
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t col = 0; col < cols; ++col)
        if ((randomBits(seed, (batch * rows + row) * cols + col) >> 32) < threshold)
          columns[batch].push_back(col);
      offsets[batch].push_back(columns[batch].size());
    }
    capacity = std::max(capacity, columns[batch].size());
  }
  ElementType type = sparse.getBsr().getIndexWidth() == 64 ? ElementType::i64 : ElementType::i32;
  auto crow = HostTensor::allocate(type, {{batches, rows + 1}}, error);
  auto col = HostTensor::allocate(type, {{batches, int64_t(capacity)}}, error);
  if (!crow || !col)
    return std::nullopt;
  for (int64_t batch = 0; batch < batches; ++batch) {
    for (auto [place, offset] : llvm::enumerate(offsets[batch]))
      crow->set({batch, int64_t(place)}, offset);
    for (auto [place, column] : llvm::enumerate(columns[batch]))
      col->set({batch, int64_t(place)}, column);
  }
  if (batched)
    return BsrIndices{*crow, *col};
  return BsrIndices{crow->select(0, 0), col->select(0, 0)};
}

namespace {

/// Generates the indices of one scatter_mm with static shapes.
class ScatterIndices {
public:
  ScatterIndices(ScatterMMOp op, uint64_t seed) : op(op), seed(seed) {
    ArrayRef<int64_t> blocksShape = op.getBlocks().getType().getShape();
    ArrayRef<int64_t> othersShape = op.getOthers().getType().getShape();
    ArrayRef<int64_t> accumulatorsShape = op.getAccumulators().getType().getShape();
    blocks = blocksShape[0];
    blockRows = blocksShape[1];
    inner = blocksShape[2];
    others = othersShape[0];
    width = accumulatorsShape.back();
    tileWidth = width / op.getSplitN();
    rowsOfOthers = product(othersShape.drop_back());
    rowsOfResult = product(accumulatorsShape.drop_back());
  }

  static bool isStatic(ScatterMMOp op) {
    return op.getBlocks().getType().hasStaticShape() && op.getOthers().getType().hasStaticShape() &&
           op.getAccumulators().getType().hasStaticShape();
  }

  void fill(unsigned operand, const HostTensor &indices) {
    bool tiles = op.getFormat() == ScatterFormat::ScatterMM;
    bool compressed = op.getFormat() == ScatterFormat::BsrStridedMMCompressed;
    if (operand == 0)
      fillOffsets(indices);
    else if (tiles)
      fillPairs(indices);
    else if (operand == 1)
      fillEach(indices, [&](int64_t i) { return getTile(i, rowsOfResult / blockRows, blockRows); });
    else if (operand == 2 && !compressed)
      fillEach(indices, [&](int64_t i) { return draw(i, blocks); });
    else
      fillEach(indices, [&](int64_t i) {
        int64_t count = rowsOfOthers / inner;
        return getTile(draw(i, count * op.getSplitN()), count, inner);
      });
  }

private:
  static int64_t product(ArrayRef<int64_t> extents) {
    int64_t result = 1;
    for (int64_t extent : extents)
      result *= extent;
    return result;
  }

  int64_t draw(int64_t index, int64_t bound) const {
    return bound > 0 ? (randomBits(seed, index) >> 1) % bound : 0;
  }

  template <typename Fn>
  static void fillEach(const HostTensor &indices, Fn &&fn) {
    for (int64_t i = 0; i < indices.dim(0); ++i)
      indices.set({i}, fn(i));
  }

  /// Fills offsets from 0 to the length of the list in even steps. The length is the extent of the
  /// other index operand that has a row for each product, or the number of blocks for a compressed
  /// list.
  void fillOffsets(const HostTensor &offsets) {
    int64_t length = blocks, steps = offsets.dim(0) - 1;
    if (op.getFormat() != ScatterFormat::BsrStridedMMCompressed) {
      Value list = op.getIndices()[op.getFormat() == ScatterFormat::ScatterMM ? 1 : 2];
      int64_t extent = cast<RankedTensorType>(list.getType()).getDimSize(0);
      length = ShapedType::isDynamic(extent) ? 0 : extent;
    }
    fillEach(offsets, [&](int64_t i) { return steps > 0 ? i * length / steps : 0; });
  }

  void fillPairs(const HostTensor &pairs) {
    for (int64_t i = 0; i < pairs.dim(0); ++i) {
      pairs.set({i, 0}, draw(2 * i, blocks));
      pairs.set({i, 1}, draw(2 * i + 1, others));
    }
  }

  /// Returns the offset of the first element of the tile with index `index`, in `rows` rows of
  /// tiles.
  int64_t getTile(int64_t index, int64_t rows, int64_t tileRows) {
    int64_t split = op.getSplitN();
    int64_t tile = rows > 0 ? index % (rows * split) : 0;
    return tile / split * tileRows * width + tile % split * tileWidth;
  }

  ScatterMMOp op;
  uint64_t seed;
  int64_t blocks, blockRows, inner, others, width, tileWidth, rowsOfOthers, rowsOfResult;
};

} // namespace

bool mlir::blocksparse::generateScatterIndices(Value value, const HostTensor &indices,
                                               uint64_t seed) {
  for (OpOperand &use : value.getUses()) {
    auto op = dyn_cast<ScatterMMOp>(use.getOwner());
    if (!op || use.getOperandNumber() < 3 || !ScatterIndices::isStatic(op))
      continue;
    ScatterIndices(op, seed).fill(use.getOperandNumber() - 3, indices);
    return true;
  }
  return false;
}
