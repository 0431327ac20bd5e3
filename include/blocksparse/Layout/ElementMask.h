// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LAYOUT_ELEMENTMASK_H
#define BLOCKSPARSE_LAYOUT_ELEMENTMASK_H

#include "blocksparse/Layout/BlockLayout.h"

namespace blocksparse {

/// Returns the layout of a mask of rows x cols elements, in row-major order, that consists of whole
/// blocks: every element of a block is 0, or none is. The blocks are square and the largest of
/// 16, 32, 64 and 128 rows of which that is true; those at the edges may reach beyond the mask.
/// Returns nothing if it is true of none, or if no block is 0. Takes O(rows * cols) time.
std::optional<BlockLayout> findBlockLayout(std::span<const uint8_t> mask, int64_t rows,
                                           int64_t cols);

} // namespace blocksparse

#endif // BLOCKSPARSE_LAYOUT_ELEMENTMASK_H
