// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Reference/ScatterMM.h"

#include "Operands.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

using namespace blocksparse;
using namespace blocksparse::ref;

namespace {

/// Holds the running result of all three formats: accumulators in f64 and, on request, the matching
/// sums of absolute values.
struct Accumulation {
  Blocks blocks;
  Dense others;
  /// [B, H, M, N]; scatter_mm's R tiles stand along H.
  Dense sum;
  bool integer = false;
  /// Absolute blocks, others and sums; unset unless wanted.
  std::optional<Blocks> blockSizes;
  std::optional<Dense> otherSizes, sumSizes;
  int64_t terms = 0;
};

/// Describes the position of a tile: its matrix (batch, head) and its first element.
struct Tile {
  int64_t batch, head, row, col;
};

} // namespace

static void addProduct(const Blocks &blocks, int64_t p, const Dense &others, Tile from,
                       const Dense &sum, Tile to, int64_t width) {
  const double *left = blocks.block(0, p);
  for (int64_t i = 0; i < blocks.rows; ++i) {
    double *out = sum.row(to.batch, to.head, to.row + i) + to.col;
    for (int64_t k = 0; k < blocks.cols; ++k) {
      const double *right = others.row(from.batch, from.head, from.row + k) + from.col;
      for (int64_t j = 0; j < width; ++j)
        out[j] += left[i * blocks.cols + k] * right[j];
    }
  }
}

static void addProduct(const Accumulation &acc, int64_t p, Tile from, Tile to, int64_t width) {
  addProduct(acc.blocks, p, acc.others, from, acc.sum, to, width);
  if (acc.sumSizes)
    addProduct(*acc.blockSizes, p, *acc.otherSizes, from, *acc.sumSizes, to, width);
}

/// Returns the accumulation to start with, for operands whose shapes have been checked.
static Accumulation startAccumulation(const HostTensor &blocks, const HostTensor &others,
                                      const HostTensor &accumulators, bool wantScale) {
  Dense given = decodeDense(accumulators);
  Accumulation acc;
  acc.blocks = decodeBlocks(blocks);
  acc.others = decodeDense(others);
  acc.sum = given;
  acc.sum.tensor = given.tensor.clone();
  acc.integer = blocks.type() == ElementType::i8 && others.type() == ElementType::i8 &&
                !isFloatType(accumulators.type());
  if (wantScale) {
    acc.blockSizes = acc.blocks.magnitudes();
    acc.otherSizes = acc.others.magnitudes();
    acc.sumSizes = given.magnitudes();
  }
  return acc;
}

static HostTensor finishAccumulation(const Accumulation &acc, std::span<const int64_t> shape,
                                     ErrorScale *scale) {
  std::string error; // the shape only drops extents of 1
  if (scale)
    *scale = {*acc.sumSizes->tensor.reshape(shape, error), acc.terms};
  HostTensor result = *acc.sum.tensor.reshape(shape, error);
  if (!acc.integer)
    return result;
  forEachIndex(shape, [&](std::span<const int64_t> index) {
    result.set(index, wrapToInt32(result.at(index)));
  });
  return result.cast(ElementType::i32);
}

static bool checkIndexTensor(const HostTensor &tensor, int64_t rank, const char *name,
                             std::string &error) {
  if (tensor.rank() == rank && !isFloatType(tensor.type()))
    return true;
  error = "expects integer " + std::string(name) + " of rank " + std::to_string(rank) +
          ", but got " + tensor.describe();
  return false;
}

static bool checkIndex(int64_t index, int64_t end, const char *name, std::string &error) {
  if (index >= 0 && index < end)
    return true;
  error = "expects " + std::string(name) + " in [0, " + std::to_string(end) + "), but got " +
          std::to_string(index);
  return false;
}

/// Checks offsets of `lists` lists into `terms` terms.
static bool checkListOffsets(const HostTensor &offsets, int64_t lists, int64_t terms,
                             const char *name, std::string &error) {
  if (!checkIndexTensor(offsets, 1, name, error))
    return false;
  if (offsets.dim(0) != lists + 1) {
    error = "expects " + std::to_string(lists + 1) + " " + name + ", but got " +
            std::to_string(offsets.dim(0));
    return false;
  }
  int64_t previous = 0;
  for (int64_t i = 0; i <= lists; ++i) {
    int64_t offset = offsets.intAt({i});
    if (offset < previous || offset > terms) {
      error = "expects " + std::string(name) + " in [" + std::to_string(previous) + ", " +
              std::to_string(terms) + "], but got " + std::to_string(offset);
      return false;
    }
    previous = offset;
  }
  return true;
}

namespace {

/// Holds the extents that indices are checked against.
struct Shapes {
  int64_t blocks = 0, blockRows = 0, blockCols = 0;
  Extents others, sum;
};

} // namespace

static std::optional<Shapes> getShapes(const HostTensor &blocks, const HostTensor &others,
                                       const HostTensor &accumulators, std::string &error) {
  if (blocks.rank() != 3) {
    error = "expects blocks of rank 3, but got " + blocks.describe();
    return std::nullopt;
  }
  std::optional<Extents> right = denseExtents(others, false, error);
  std::optional<Extents> sum = right ? denseExtents(accumulators, false, error) : std::nullopt;
  if (!sum)
    return std::nullopt;
  return Shapes{blocks.dim(0), blocks.dim(1), blocks.dim(2), *right, *sum};
}

/// Checks the operands of scatterMM and calls `visit(p, q, r)` for each product, in order. Returns
/// the largest number of terms of an element.
template <typename Visit>
static std::optional<int64_t> visitTiles(const HostTensor &blocks, const HostTensor &others,
                                         const HostTensor &accumulators, const HostTensor &cOffsets,
                                         const HostTensor &pq, std::string &error, Visit visit) {
  std::optional<Shapes> shapes = getShapes(blocks, others, accumulators, error);
  if (!shapes)
    return std::nullopt;
  if (others.rank() != 3 || accumulators.rank() != 3) {
    error = "expects others and accumulators of rank 3, but got " + others.describe() + " and " +
            accumulators.describe();
    return std::nullopt;
  }
  const Extents &right = shapes->others, &sum = shapes->sum;
  if (!checkEqual(shapes->blockCols, right.rows, "an inner size", error) ||
      !checkEqual(shapes->blockRows, sum.rows, "accumulator rows", error) ||
      !checkEqual(right.cols, sum.cols, "accumulator columns", error) ||
      !checkIndexTensor(pq, 2, "pq", error) || !checkEqual(2, pq.dim(1), "a pq width", error) ||
      !checkListOffsets(cOffsets, sum.heads, pq.dim(0), "c_offsets", error))
    return std::nullopt;
  int64_t terms = 0;
  for (int64_t r = 0; r < sum.heads; ++r) {
    int64_t begin = cOffsets.intAt({r}), end = cOffsets.intAt({r + 1});
    for (int64_t g = begin; g < end; ++g) {
      int64_t p = pq.intAt({g, 0}), q = pq.intAt({g, 1});
      if (!checkIndex(p, shapes->blocks, "block indices p", error) ||
          !checkIndex(q, right.heads, "tile indices q", error))
        return std::nullopt;
      visit(p, q, r);
    }
    terms = std::max(terms, (end - begin) * shapes->blockCols);
  }
  return terms;
}

/// Checks that a height x width tile at `offset` lies in a matrix and gives its
/// first element.
static std::optional<Tile> tileAt(int64_t offset, const Extents &matrix, int64_t height,
                                  int64_t width, const char *name, std::string &error) {
  Tile tile{0, 0, 0, 0};
  if (!checkIndex(offset, matrix.rows * matrix.cols, name, error))
    return std::nullopt;
  tile.row = offset / matrix.cols;
  tile.col = offset % matrix.cols;
  if (tile.row + height > matrix.rows || tile.col + width > matrix.cols) {
    error = "expects " + std::string(name) + " of whole " + std::to_string(height) + " x " +
            std::to_string(width) + " tiles, but got row " + std::to_string(tile.row) +
            ", column " + std::to_string(tile.col);
    return std::nullopt;
  }
  return tile;
}

namespace {

/// Holds tiles of one size, no two of which share an element. A tile is found by the cell, of the
/// size of a tile, in which it begins: what overlaps begins there or in a neighbour.
class SeparateTiles {
public:
  SeparateTiles(int64_t height, int64_t width, int64_t cols)
      : height(height), width(width), gridCols(width == 0 ? 0 : (cols + width - 1) / width) {}

  /// Adds the tile with this `offset` and `position` in r_offsets. Fails if it overlaps with
  /// another.
  bool add(const Tile &tile, int64_t offset, int64_t position, std::string &error) {
    if (height == 0 || width == 0)
      return true;
    int64_t row = tile.row / height, col = tile.col / width, earlier = position;
    for (int64_t i = row - 1; i <= row + 1; ++i)
      for (int64_t j = std::max<int64_t>(col - 1, 0); j <= std::min(col + 1, gridCols - 1); ++j)
        if (auto found = tiles.find(i * gridCols + j);
            found != tiles.end() && overlap(found->second.tile, tile))
          earlier = std::min(earlier, found->second.position);
    tiles.emplace(row * gridCols + col, Placed{tile, position});
    if (earlier == position)
      return true;
    error = "expects r_offsets of tiles that do not overlap, as with position " +
            std::to_string(earlier) + ", but got " + std::to_string(offset) + " at position " +
            std::to_string(position);
    return false;
  }

private:
  struct Placed {
    Tile tile;
    int64_t position;
  };

  bool overlap(const Tile &a, const Tile &b) const {
    return std::abs(a.row - b.row) < height && std::abs(a.col - b.col) < width;
  }

  int64_t height, width, gridCols;
  std::unordered_map<int64_t, Placed> tiles;
};

} // namespace

/// Checks what the two strided formats share, the operands and the split of N into equal tiles.
static std::optional<Shapes> getStridedShapes(const HostTensor &blocks, const HostTensor &others,
                                              const HostTensor &accumulators,
                                              const StridedIndices &indices, std::string &error) {
  std::optional<Shapes> shapes = getShapes(blocks, others, accumulators, error);
  if (!shapes || !checkEqual(shapes->others.batches, shapes->sum.batches, "a batch", error) ||
      !checkEqual(shapes->others.heads, shapes->sum.heads, "a batch", error) ||
      !checkEqual(shapes->others.cols, shapes->sum.cols, "accumulator columns", error) ||
      !checkIndexTensor(indices.rOffsets, 1, "r_offsets", error) ||
      !checkIndexTensor(indices.qOffsets, 1, "q_offsets", error))
    return std::nullopt;
  if (indices.splitN < 1 || shapes->sum.cols % indices.splitN != 0) {
    error = "expects a split that divides " + std::to_string(shapes->sum.cols) +
            " columns, but got " + std::to_string(indices.splitN);
    return std::nullopt;
  }
  return shapes;
}

/// Checks the operands of bsrStridedMM and calls `visit(p, from, to)` for each product. Returns the
/// largest number of terms of an element.
template <typename Visit>
static std::optional<int64_t>
visitStrided(const HostTensor &blocks, const HostTensor &others, const HostTensor &accumulators,
             const StridedIndices &indices, std::string &error, Visit visit) {
  std::optional<Shapes> shapes = getStridedShapes(blocks, others, accumulators, indices, error);
  if (!shapes || !checkIndexTensor(indices.pOffsets, 1, "p_offsets", error) ||
      !checkEqual(indices.pOffsets.dim(0), indices.qOffsets.dim(0), "q_offsets", error) ||
      !checkListOffsets(indices.cIndices, indices.rOffsets.dim(0), indices.pOffsets.dim(0),
                        "c_indices", error))
    return std::nullopt;
  int64_t width = shapes->sum.cols / indices.splitN, terms = 0;
  SeparateTiles tiles(shapes->blockRows, width, shapes->sum.cols);
  for (int64_t i = 0; i < indices.rOffsets.dim(0); ++i) {
    int64_t offset = indices.rOffsets.intAt({i});
    std::optional<Tile> to =
        tileAt(offset, shapes->sum, shapes->blockRows, width, "r_offsets", error);
    if (!to || !tiles.add(*to, offset, i, error))
      return std::nullopt;
    int64_t begin = indices.cIndices.intAt({i});
    int64_t end = indices.cIndices.intAt({i + 1});
    for (int64_t g = begin; g < end; ++g) {
      int64_t p = indices.pOffsets.intAt({g});
      std::optional<Tile> from = tileAt(indices.qOffsets.intAt({g}), shapes->others,
                                        shapes->blockCols, width, "q_offsets", error);
      if (!from || !checkIndex(p, shapes->blocks, "p_offsets", error))
        return std::nullopt;
      visit(p, *from, *to);
    }
    terms = std::max(terms, (end - begin) * shapes->blockCols);
  }
  return terms;
}

/// Does the same for the operands of bsrStridedMMCompressed.
template <typename Visit>
static std::optional<int64_t>
visitCompressed(const HostTensor &blocks, const HostTensor &others, const HostTensor &accumulators,
                const StridedIndices &indices, std::string &error, Visit visit) {
  std::optional<Shapes> shapes = getStridedShapes(blocks, others, accumulators, indices, error);
  if (!shapes)
    return std::nullopt;
  int64_t blockRows = shapes->blockRows == 0 ? 0 : shapes->sum.rows / shapes->blockRows;
  if (!checkListOffsets(indices.cIndices, blockRows, shapes->blocks, "c_indices", error))
    return std::nullopt;
  int64_t width = shapes->sum.cols / indices.splitN, terms = 0;
  SeparateTiles tiles(shapes->blockRows, width, shapes->sum.cols);
  for (int64_t t = 0; t < indices.rOffsets.dim(0); ++t) {
    int64_t offset = indices.rOffsets.intAt({t});
    std::optional<Tile> to =
        tileAt(offset, shapes->sum, shapes->blockRows, width, "r_offsets", error);
    if (!to || !tiles.add(*to, offset, t, error))
      return std::nullopt;
    int64_t m = to->row / shapes->blockRows;
    int64_t n = to->col / width;
    int64_t c0 = indices.cIndices.intAt({m});
    int64_t c1 = indices.cIndices.intAt({m + 1});
    for (int64_t p = c0; p < c1; ++p) {
      int64_t place = n * c1 + (indices.splitN - n) * c0 + (p - c0);
      if (!checkIndex(place, indices.qOffsets.dim(0), "places in q_offsets", error))
        return std::nullopt;
      std::optional<Tile> from = tileAt(indices.qOffsets.intAt({place}), shapes->others,
                                        shapes->blockCols, width, "q_offsets", error);
      if (!from)
        return std::nullopt;
      visit(p, *from, *to);
    }
    terms = std::max(terms, (c1 - c0) * shapes->blockCols);
  }
  return terms;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

bool ref::checkScatterMM(const HostTensor &blocks, const HostTensor &others,
                         const HostTensor &accumulators, const HostTensor &cOffsets,
                         const HostTensor &pq, std::string &error) {
  return visitTiles(blocks, others, accumulators, cOffsets, pq, error,
                    [](int64_t, int64_t, int64_t) {})
      .has_value();
}

bool ref::checkStridedMM(const HostTensor &blocks, const HostTensor &others,
                         const HostTensor &accumulators, const StridedIndices &indices,
                         std::string &error) {
  return visitStrided(blocks, others, accumulators, indices, error, [](int64_t, Tile, Tile) {})
      .has_value();
}

bool ref::checkStridedMMCompressed(const HostTensor &blocks, const HostTensor &others,
                                   const HostTensor &accumulators, const StridedIndices &indices,
                                   std::string &error) {
  return visitCompressed(blocks, others, accumulators, indices, error, [](int64_t, Tile, Tile) {})
      .has_value();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

std::optional<HostTensor> ref::scatterMM(const HostTensor &blocks, const HostTensor &others,
                                         const HostTensor &accumulators, const HostTensor &cOffsets,
                                         const HostTensor &pq, std::string &error,
                                         ErrorScale *scale) {
  if (!checkScatterMM(blocks, others, accumulators, cOffsets, pq, error))
    return std::nullopt;
  Accumulation acc = startAccumulation(blocks, others, accumulators, scale);
  acc.terms = *visitTiles(blocks, others, accumulators, cOffsets, pq, error,
                          [&](int64_t p, int64_t q, int64_t r) {
                            addProduct(acc, p, {0, q, 0, 0}, {0, r, 0, 0}, acc.sum.cols);
                          });
  return finishAccumulation(acc, accumulators.shape(), scale);
}

/// Adds block p times the tile of others to a tile, in every matrix.
static void addEverywhere(const Accumulation &acc, int64_t p, Tile from, Tile to, int64_t width) {
  for (int64_t batch = 0; batch < acc.sum.batches; ++batch)
    for (int64_t head = 0; head < acc.sum.heads; ++head) {
      from.batch = to.batch = batch;
      from.head = to.head = head;
      addProduct(acc, p, from, to, width);
    }
}

std::optional<HostTensor> ref::bsrStridedMM(const HostTensor &blocks, const HostTensor &others,
                                            const HostTensor &accumulators,
                                            const StridedIndices &indices, std::string &error,
                                            ErrorScale *scale) {
  if (!checkStridedMM(blocks, others, accumulators, indices, error))
    return std::nullopt;
  Accumulation acc = startAccumulation(blocks, others, accumulators, scale);
  acc.terms = *visitStrided(blocks, others, accumulators, indices, error,
                            [&](int64_t p, Tile from, Tile to) {
                              addEverywhere(acc, p, from, to, acc.sum.cols / indices.splitN);
                            });
  return finishAccumulation(acc, accumulators.shape(), scale);
}

std::optional<HostTensor> ref::bsrStridedMMCompressed(const HostTensor &blocks,
                                                      const HostTensor &others,
                                                      const HostTensor &accumulators,
                                                      const StridedIndices &indices,
                                                      std::string &error, ErrorScale *scale) {
  if (!checkStridedMMCompressed(blocks, others, accumulators, indices, error))
    return std::nullopt;
  Accumulation acc = startAccumulation(blocks, others, accumulators, scale);
  acc.terms = *visitCompressed(blocks, others, accumulators, indices, error,
                               [&](int64_t p, Tile from, Tile to) {
                                 addEverywhere(acc, p, from, to, acc.sum.cols / indices.splitN);
                               });
  return finishAccumulation(acc, accumulators.shape(), scale);
}
