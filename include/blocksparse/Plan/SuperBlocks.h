// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_PLAN_SUPERBLOCKS_H
#define BLOCKSPARSE_PLAN_SUPERBLOCKS_H

#include "blocksparse/Layout/BlockLayout.h"

namespace blocksparse {

/// Returns the layout of the largest full super-blocks of at most maxBlock x maxBlock elements: it
/// stores the same elements in fewer blocks. A super-block has a power of two of block rows and of
/// block columns; of equal areas the squarer one is chosen. Returns nothing if no two blocks can be
/// joined, or if none is stored.
std::optional<BlockLayout> fullSuperBlocks(const BlockLayout &layout, int64_t maxBlock);

} // namespace blocksparse

#endif // BLOCKSPARSE_PLAN_SUPERBLOCKS_H
