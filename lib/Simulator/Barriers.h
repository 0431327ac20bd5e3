// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_SIMULATOR_BARRIERS_H
#define BLOCKSPARSE_LIB_SIMULATOR_BARRIERS_H

#include "Warp.h"

namespace blocksparse::sim {

/// Says what a warp that waits at `op` waits for where that is a named barrier, the barrier of a
/// cluster or registers; "" elsewhere.
std::string describeBarrierWait(const Warp &warp, const Op &op, unsigned lane);

} // namespace blocksparse::sim

#endif // BLOCKSPARSE_LIB_SIMULATOR_BARRIERS_H
