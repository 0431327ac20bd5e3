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

/// Where the stored blocks of a sparse tensor stand and which value block each
/// one has, for every (batch, head). Static layouts and run-time indices both
/// become this; the reference knows no other form.
class Pattern {
public:
  struct Entry {
    int64_t row, col, value;
    bool operator==(const Entry &) const = default;
  };

  Pattern() = default;

  /// The pattern of a static layout for a tensor of `heads` heads. When the
  /// layout has one head for all of them, head h's p-th block has value block
  /// p + h * nnz. Fails unless layout.grid().heads is 1 or `heads`.
  static std::optional<Pattern> fromLayout(const BlockLayout &layout, int64_t heads,
                                           std::string &error);

  /// The pattern of run-time indices: `crow` is [R+1], [B, R+1] or [B, H, R+1]
  /// and `col` has the same leading extents and capacity C last, R x Q being
  /// the block grid (`grid.rows` x `grid.cols`). `grid.heads` is the number of
  /// heads of the tensor; H must be that or missing (shared). Head h's p-th
  /// block has value block p + h * C. Columns may be unsorted and may repeat;
  /// a batch may use fewer than C blocks. Fails on wrong shapes, on
  /// crow[0] != 0, decreasing offsets, a last offset above C and a column
  /// outside [0, Q).
  static std::optional<Pattern> fromCsr(BlockShape block, BlockGrid grid, const HostTensor &crow,
                                        const HostTensor &col, std::string &error);

  BlockShape block() const { return block_; }
  /// heads is the number of heads of the tensor, whatever is shared.
  BlockGrid grid() const { return grid_; }
  /// Number of different patterns along the batch; 1 serves every batch.
  int64_t batches() const { return batches_; }
  /// Extent of the value tensor's block axis (over all heads).
  int64_t valueBlocks() const { return valueBlocks_; }
  /// Number of stored blocks over all heads of a batch.
  int64_t nnz(int64_t batch) const;

  /// Stored blocks of one block row, in the order of the indices. `batch` and
  /// `head` beyond a shared extent of 1 mean the shared one.
  std::span<const Entry> row(int64_t batch, int64_t head, int64_t row) const;
  /// All stored blocks of one head, by ascending row.
  std::span<const Entry> entries(int64_t batch, int64_t head) const;

  /// Whether no block row holds a column twice; says where in `error`.
  bool checkUnique(std::string &error) const;

  /// The pattern of the transposed tensor, canonical: ascending columns in each
  /// row (repeated ones in their old order) and value blocks numbered in that
  /// order from the first one of the (batch, head). `oldValues[batch][v]` (when
  /// not null) is the value block in *this of v, -1 for unused capacity.
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

/// A sparse tensor: `values` is [S, bm, bn] (every batch has the same) or
/// [B, S, bm, bn] with S = pattern.valueBlocks(); rows x cols is the logical
/// matrix, whose blocks number exactly the pattern's grid. Elements of stored
/// blocks outside the logical matrix are padding: never read, written as 0.
struct SparseTensor {
  HostTensor values;
  Pattern pattern;
  int64_t rows = 0;
  int64_t cols = 0;
};

} // namespace blocksparse::ref

#endif // BLOCKSPARSE_REFERENCE_PATTERN_H
