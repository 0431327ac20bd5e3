// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LAYOUT_BLOCKLAYOUT_H
#define BLOCKSPARSE_LAYOUT_BLOCKLAYOUT_H

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace blocksparse {

/// Describes the shape of one stored block in elements.
struct BlockShape {
  int64_t rows = 0;
  int64_t cols = 0;
  bool operator==(const BlockShape &) const = default;
};

/// Describes the shape of the block grid. `heads == 1` means that one pattern serves every head of
/// the tensor.
struct BlockGrid {
  int64_t heads = 0;
  int64_t rows = 0;
  int64_t cols = 0;
  bool operator==(const BlockGrid &) const = default;
};

/// Describes one stored block: its position in the grid and the index of its value block.
struct BlockCoordinate {
  int32_t head, row, col, value;
  bool operator==(const BlockCoordinate &) const = default;
};

/// Holds a static block-sparse pattern in canonical form: CSR over the flat block rows `head *
/// grid.rows + row`, with the columns of each row ascending and unique. Value block `p` is the p-th
/// stored block in (head, row, col) order.
///
/// Every query is O(1), O(row) or O(nnz); nothing here depends on LLVM.
class BlockLayout {
public:
  /// Largest number of stored blocks, of block rows over all heads, and of block columns over all
  /// heads. The indices of the largest layout take 1 GiB, so that a larger one is an error before
  /// memory runs out.
  static constexpr int64_t maxBlocks = int64_t{1} << 27;
  /// Largest number of elements of one block.
  static constexpr int64_t maxBlockElements = std::numeric_limits<int32_t>::max();

  BlockLayout() = default;

  /// Checks and adopts CSR arrays. `rowOffsets` has heads * rows + 1 entries,
  /// starts at 0, never decreases and ends at colIndices.size(); columns lie in
  /// [0, grid.cols). Unsorted columns are sorted; a column that appears twice in
  /// one row is an error. On failure the result is empty and `error` says what
  /// was expected and what was found ("expects ..., but got ...").
  static std::optional<BlockLayout> fromCsr(BlockShape block, BlockGrid grid,
                                            std::vector<int32_t> rowOffsets,
                                            std::vector<int32_t> colIndices, std::string &error);

  /// Builds from a dense mask of heads * rows * cols bytes in row-major order;
  /// any non-zero byte stores the block. Fails on a wrong length.
  static std::optional<BlockLayout> fromMask(BlockShape block, BlockGrid grid,
                                             std::span<const uint8_t> mask, std::string &error);

  /// Returns true if these shapes can describe a layout: the block is positive and has at most
  /// maxBlockElements elements, there is at least one head, and heads * rows and heads * cols are
  /// at most maxBlocks. Otherwise `error` has the reason. Whoever reads shapes from text calls this
  /// before it multiplies or allocates: all products of a legal shape fit in int64.
  static bool checkShapes(BlockShape block, BlockGrid grid, std::string &error);

  BlockShape block() const { return block_; }
  BlockGrid grid() const { return grid_; }
  /// Returns the number of stored blocks over all heads of the grid.
  int64_t nnz() const { return static_cast<int64_t>(colIndices_.size()); }
  double density() const;

  /// Returns the heads * rows + 1 offsets into colIndices().
  std::span<const int32_t> rowOffsets() const { return rowOffsets_; }
  std::span<const int32_t> colIndices() const { return colIndices_; }
  /// Returns the columns of one block row, ascending.
  std::span<const int32_t> row(int64_t head, int64_t row) const;
  bool contains(int64_t head, int64_t row, int64_t col) const;
  /// Returns true if every block of the grid is stored.
  bool isDense() const;

  /// Returns the stored blocks in (head, row, col) order.
  std::vector<BlockCoordinate> coordinates() const;
  /// Returns the stored blocks in (head, col, row) order. Each one keeps the index of its value
  /// block.
  std::vector<BlockCoordinate> columnMajorCoordinates() const;

  /// Returns the pattern of the transposed tensor. If `permutation` is not null,
  /// `(*permutation)[q]` is set to the value index in *this of value block q of the transpose.
  BlockLayout transposed(std::vector<int32_t> *permutation = nullptr) const;

  bool operator==(const BlockLayout &) const = default;

private:
  BlockShape block_;
  BlockGrid grid_;
  std::vector<int32_t> rowOffsets_{0};
  std::vector<int32_t> colIndices_;
};

/// Blocks stored in either (both) of two layouts with equal block and grid.
/// Fails with `error` when the shapes differ.
std::optional<BlockLayout> layoutUnion(const BlockLayout &a, const BlockLayout &b,
                                       std::string &error);
std::optional<BlockLayout> layoutIntersection(const BlockLayout &a, const BlockLayout &b,
                                              std::string &error);

/// Returns the sub-layout of `size` blocks of each axis that starts at `offset` (heads, rows,
/// cols). Fails if it leaves the grid.
std::optional<BlockLayout> subLayout(const BlockLayout &layout, BlockGrid offset, BlockGrid size,
                                     std::string &error);

} // namespace blocksparse

#endif // BLOCKSPARSE_LAYOUT_BLOCKLAYOUT_H
