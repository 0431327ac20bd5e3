// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Translation of the program's addresses to host memory, with the checks that every access passes:
// bounds of the allocation, alignment, and whether the bytes read were ever written.

#ifndef BLOCKSPARSE_LIB_SIMULATOR_ACCESS_H
#define BLOCKSPARSE_LIB_SIMULATOR_ACCESS_H

#include "Cta.h"
#include "Decode.h"
#include "Grid.h"

namespace blocksparse::sim {

/// Generic addresses of shared memory begin here, far above every address of the host.
inline constexpr uint64_t sharedWindow = uint64_t(1) << 56;
/// An address of shared::cluster memory is (rank + 1) << rankShift plus the address in the CTA's
/// own shared memory; rank + 1 = 0 means the executing CTA, so that shared::cta addresses are
/// shared::cluster addresses, as the manual asks.
inline constexpr unsigned rankShift = 24;

/// A Peek is a read of bytes that may never have been written. Barrier is a ReadWrite of an
/// mbarrier, and Begin the check of bounds for an asynchronous write: neither is judged as an
/// access of the warp.
enum class AccessKind : uint8_t { Read, Write, ReadWrite, Peek, Barrier, Begin };

/// Returns the host memory of `bytes` bytes at `address` in `space`, or nullptr after it has
/// reported a fault. The address must be a multiple of `alignment`. A write marks the bytes as
/// written. The order of accesses is judged in shared memory; in global memory only that of a
/// ReadWrite is, since judgeLanes() serves all lanes of a read or a write together.
uint8_t *access(Warp &warp, const Op &op, Space space, uint64_t address, uint64_t bytes,
                uint64_t alignment, AccessKind kind);

/// Judges what `lanes` read or write in global memory, `bytes` bytes at the address of each, after
/// access() has checked it. Returns false after it has reported a fault.
bool judgeLanes(Warp &warp, const Op &op, Space space, uint32_t lanes, const uint64_t *addresses,
                uint64_t bytes, bool writes);

/// Judges an access of global memory by an asynchronous operation. Returns false after it has
/// reported a fault; an address that is in no allocation is left to access().
bool judgeGlobal(Warp &warp, uint64_t address, uint64_t bytes, bool writes,
                 const Judge::Actor &actor, bool isStrong = false);

/// Returns the CTA of the cluster that owns a shared address and reduces the address to that CTA's
/// own; nullptr after a fault for a rank that the cluster does not have.
Cta *ownerOfShared(Warp &warp, uint64_t &address);

/// Returns the judge of the warp's cluster, or nullptr where races are not checked or an operation
/// is performed that was judged when it began.
inline Judge *judgeOf(const Warp &warp) {
  Judge *judge = warp.cta.cluster.judge.get();
  return judge && !judge->paused ? judge : nullptr;
}

/// Returns the address of a lane: its base register plus the instruction's offset.
inline uint64_t laneAddress(const Warp &warp, const Op &op, Slot slot, unsigned lane) {
  if (op.aux[5])
    return warp.in<uint32_t>(slot)[lane] + static_cast<uint32_t>(op.immediate);
  return warp.in<uint64_t>(slot)[lane] + static_cast<uint64_t>(op.immediate);
}

/// Takes the modifiers of the memory consistency model and returns the bits of Op::order.
uint8_t takeOrder(Decoder &decoder);

/// Takes the state-space modifier of a memory instruction ("shared::cta" is "shared").
Space takeSpace(Decoder &decoder);

} // namespace blocksparse::sim

#endif // BLOCKSPARSE_LIB_SIMULATOR_ACCESS_H
