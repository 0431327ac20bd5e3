// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_SIMULATOR_ASYNC_H
#define BLOCKSPARSE_LIB_SIMULATOR_ASYNC_H

#include "Cta.h"
#include "Decode.h"
#include "Grid.h"

namespace blocksparse::sim {

/// The asynchronous operations of one commit group.
using AsyncGroup = std::vector<std::function<void()>>;

/// Commits the open operations of a queue of the warp.
void commitGroup(Warp &warp, Queue queue, AsyncGroup &open, std::deque<AsyncGroup> &groups);

/// Performs the oldest groups of a queue until at most `pending` are left.
void finishGroups(Warp &warp, Queue queue, std::deque<AsyncGroup> &groups, size_t pending);

/// Judges an access of shared memory by the open group of a queue; its bounds were checked before.
/// Returns false after it has reported a fault.
bool judgeAccess(Warp &warp, uint64_t address, uint64_t bytes, Queue queue, bool writes);

/// Returns the marks of written bytes of shared memory at `address`, which was checked before.
uint8_t *sharedMarks(Warp &warp, uint64_t address);

/// Returns whether every byte of a 16-byte row of shared memory was written and is not the target
/// of a copy that is under way. Always true where reads are not checked.
bool isRowWritten(Warp &warp, uint64_t address);

/// Decodes `cp.async.bulk` after "cp.async.bulk" was taken.
bool decodeBulkCopy(Decoder &decoder);

/// Decodes `cp.reduce.async.bulk` after its words were taken.
bool decodeBulkReduction(Decoder &decoder);

/// Performs `work` with the warp at `op` and the given active lanes, so that a fault names the
/// instruction that began an asynchronous operation; restores the warp's state.
template <typename Work>
void performFor(Warp &warp, const Op &op, uint32_t active, Work work) {
  const Op *current = warp.current;
  uint32_t lanes = warp.active;
  warp.current = &op;
  warp.active = active;
  Judge *judge = warp.cta.cluster.judge.get();
  if (judge)
    judge->paused = true;
  work();
  if (judge)
    judge->paused = false;
  if (warp.cta.grid.hasFault())
    return;
  warp.current = current;
  warp.active = lanes;
}

} // namespace blocksparse::sim

#endif // BLOCKSPARSE_LIB_SIMULATOR_ASYNC_H
