// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LAYOUT_COALESCE_H
#define BLOCKSPARSE_LAYOUT_COALESCE_H

#include "blocksparse/Layout/BlockLayout.h"

namespace blocksparse {

/// Describes a layout as super-blocks of factorRows x factorCols of its blocks.
///
/// Super-block s is entry s of `layout`, in that layout's value order. It holds
/// sub-block (i, j) exactly when bit i * factorCols + j of masks[s] is set; the
/// value indices of its sub-blocks in the original layout, in ascending bit
/// order, are values[valueOffsets[s]] ... values[valueOffsets[s + 1] - 1].
/// Every original value index occurs exactly once.
struct CoalescedLayout {
  int64_t factorRows = 1;
  int64_t factorCols = 1;
  /// Pattern of the super-blocks that contain a block. Its block shape is the original one times
  /// the factors, and its grid is the original one divided by the factors, rounded up: the last
  /// super-row and super-column may reach beyond the tensor, with clear mask bits there.
  BlockLayout layout;
  std::vector<uint64_t> masks;
  std::vector<int32_t> valueOffsets;
  std::vector<int32_t> values;

  /// Returns the mask of a super-block that holds all its sub-blocks.
  uint64_t fullMask() const;
  /// Returns the number of stored blocks divided by the number of sub-blocks of all super-blocks: 1
  /// if a product of super-blocks multiplies no block that is not stored, 0 for a layout without
  /// blocks.
  double fill() const;
};

/// Groups the blocks of `layout` into super-blocks; takes O(nnz log f + rows)
/// time, f the super-blocks in one super-row. No super-block is empty and no
/// sub-block is invented. Fails unless both factors are positive and their
/// product is at most 64.
std::optional<CoalescedLayout> coalesceLayout(const BlockLayout &layout, int64_t factorRows,
                                              int64_t factorCols, std::string &error);

} // namespace blocksparse

#endif // BLOCKSPARSE_LAYOUT_COALESCE_H
