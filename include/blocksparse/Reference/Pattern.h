// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_REFERENCE_PATTERN_H
#define BLOCKSPARSE_REFERENCE_PATTERN_H

#include "blocksparse/Layout/BlockLayout.h"
#include "blocksparse/Support/HostTensor.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace blocksparse::ref {

/// Holds the positions of the stored blocks of a sparse tensor, and the value block of each one,
/// for every (batch, head). Static layouts and run-time indices are both converted to this form;
/// the reference knows no other.
class Pattern {
public:
  struct Entry {
    int64_t row, col, value;
    bool operator==(const Entry &) const = default;
  };

  Pattern() = default;

  /// Returns the pattern of a static layout for a tensor of `heads` heads. If the layout has one
  /// head for all of them, head h's p-th block has value block p + h * nnz. Fails unless
  /// layout.grid().heads is 1 or `heads`.
  static std::optional<Pattern> fromLayout(const BlockLayout &layout, int64_t heads,
                                           std::string &error);

  /// Returns the pattern of run-time indices: `crow` is [R+1], [B, R+1] or [B, H, R+1], and `col`
  /// has the same leading extents and capacity C as its last extent, where R x Q is the block grid
  /// (`grid.rows` x `grid.cols`). `grid.heads` is the number of heads of the tensor; H must be
  /// equal to it or missing (shared). Head h's p-th block has value block p + h * C. Columns may be
  /// unsorted and may repeat; a batch may use fewer than C blocks. Fails on wrong shapes, on
  /// crow[0] != 0, decreasing offsets, a last offset above C and a column outside [0, Q).
  static std::optional<Pattern> fromCsr(BlockShape block, BlockGrid grid, const HostTensor &crow,
                                        const HostTensor &col, std::string &error);

  BlockShape block() const { return block_; }
  /// heads is the number of heads of the tensor, whatever is shared.
  BlockGrid grid() const { return grid_; }
  /// Returns the number of different patterns along the batch; 1 serves every batch.
  int64_t batches() const { return batches_; }
  /// Extent of the value tensor's block axis (over all heads).
  int64_t valueBlocks() const { return valueBlocks_; }
  /// Returns the number of stored blocks over all heads of a batch.
  int64_t nnz(int64_t batch) const;

  /// Returns the stored blocks of one block row, in the order of the indices. A `batch` or `head`
  /// beyond a shared extent of 1 means the shared one.
  std::span<const Entry> row(int64_t batch, int64_t head, int64_t row) const;
  /// Returns all stored blocks of one head, by ascending row.
  std::span<const Entry> entries(int64_t batch, int64_t head) const;

  /// Returns true if no block row holds a column twice. Otherwise `error` names the row and the
  /// column.
  bool checkUnique(std::string &error) const;

  /// Returns the pattern of the transposed tensor in canonical form: columns ascend in each row
  /// (repeated ones keep their order), and value blocks are numbered in that order from the first
  /// one of the (batch, head). If `oldValues` is not null, `oldValues[batch][v]` is set to the
  /// value block in *this of v, or -1 for unused capacity.
  Pattern transposed(std::vector<std::vector<int64_t>> *oldValues = nullptr) const;

private:
  int64_t flatRow(int64_t batch, int64_t head, int64_t row) const;

  BlockShape block_;
  BlockGrid grid_;
  int64_t batches_ = 1;
  int64_t valueBlocks_ = 0;
  std::vector<Entry> entries_;
  /// batches * heads * rows + 1 offsets into entries_.
  std::vector<int64_t> offsets_{0};
};

/// Describes a sparse tensor: `values` is [S, bm, bn] (shared by every batch) or [B, S, bm, bn]
/// with S = pattern.valueBlocks(). rows x cols is the logical matrix; its size in blocks, rounded
/// up, is exactly the pattern's grid. Elements of stored blocks outside the logical matrix are
/// padding: they are never read, and written as 0.
struct SparseTensor {
  HostTensor values;
  Pattern pattern;
  int64_t rows = 0;
  int64_t cols = 0;
};

} // namespace blocksparse::ref

#endif // BLOCKSPARSE_REFERENCE_PATTERN_H
