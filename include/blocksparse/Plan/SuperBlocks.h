// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_PLAN_SUPERBLOCKS_H
#define BLOCKSPARSE_PLAN_SUPERBLOCKS_H

#include "blocksparse/Layout/BlockLayout.h"

namespace blocksparse {

/// The layout of the largest super-blocks, of at most maxBlock x maxBlock elements, that hold all
/// of their blocks: the same elements in fewer blocks. Factors are powers of two; of equal areas
/// the squarer one is taken. Nothing where no two blocks can be joined (or none is stored).
std::optional<BlockLayout> fullSuperBlocks(const BlockLayout &layout, int64_t maxBlock);

} // namespace blocksparse

#endif // BLOCKSPARSE_PLAN_SUPERBLOCKS_H
