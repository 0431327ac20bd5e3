// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_SIMULATOR_MBARRIEROPS_H
#define BLOCKSPARSE_LIB_SIMULATOR_MBARRIEROPS_H

#include "Warp.h"

namespace blocksparse::sim {

/// Counts arrivals and expected bytes (negative: bytes that arrived) at the mbarrier at a shared
/// address. Returns false after a fault.
bool updateMbarrier(Warp &warp, const Op &op, uint64_t address, uint32_t count, int64_t bytes);

/// Says what a warp that waits at `op` waits for where that is an mbarrier; "" elsewhere.
std::string describeMbarrierWait(const Warp &warp, const Op &op, unsigned lane);

} // namespace blocksparse::sim

#endif // BLOCKSPARSE_LIB_SIMULATOR_MBARRIEROPS_H
