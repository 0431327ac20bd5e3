// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The decoded form of a kernel: one compact record per instruction, executed by a function that
// was chosen once for the opcode, its types and its modifiers.

#ifndef BLOCKSPARSE_LIB_SIMULATOR_OP_H
#define BLOCKSPARSE_LIB_SIMULATOR_OP_H

#include "Module.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace blocksparse::sim {

class Warp;

/// The place of 32 lanes of a register or of a constant: a byte offset in the warp's register
/// file, or, with the low bit set, in the kernel's constants.
using Slot = uint32_t;
inline constexpr Slot noSlot = ~0u;

enum class Flow : uint8_t {
  Plain,    // `run`, then the next instruction
  Blocking, // `tryRun`; the instruction is tried again until it returns true
  Branch,   // to `target` for the active lanes
  Exit      // ends the active lanes
};

/// The counters tell these classes of instructions apart.
enum class OpClass : uint8_t { Other, Integer, Float, Memory, Control, Tensor, Async, count };

struct Op {
  union {
    void (*run)(Warp &, const Op &) = nullptr;
    bool (*tryRun)(Warp &, const Op &);
  };
  Slot d = noSlot, a = noSlot, b = noSlot, c = noSlot;
  /// Further operands: `Kernel::slots[list .. list + listCount)`.
  uint32_t list = 0, listCount = 0;
  int32_t guard = -1;
  uint32_t target = 0;
  int64_t immediate = 0;
  uint32_t aux[6] = {0, 0, 0, 0, 0, 0};
  Flow flow = Flow::Plain;
  OpClass opClass = OpClass::Other;
  /// Strong accesses of memory do not race with each other; those at the scope of the GPU or of the
  /// system pass on what has happened (PTX ISA, "Memory Consistency Model").
  enum : uint8_t { weak = 0, isStrong = 1, isOfGpu = 2, acquires = 4, releases = 8 };
  uint8_t order = weak;
  bool guardNegated = false;
  /// Executes only when every lane named by `memberMask` (noSlot: all lanes that have not ended)
  /// is at this instruction.
  bool converges = false;
  /// Orders the accesses of the lanes that take part (PTX ISA, "bar.warp.sync" and "barrier").
  bool isBarrier = false;
  /// Accesses a register that a wgmma uses, and is none itself.
  bool touchesProducts = false;
  Slot memberMask = noSlot;
  uint32_t line = 0;
  /// The allocation that the instruction accessed last: most accesses hit it again.
  mutable uint32_t lastAllocation = 0;
};

struct Kernel {
  const Function *function = nullptr;
  std::vector<Op> ops;
  std::vector<Slot> slots;
  /// 32 lanes of every constant operand; an offset of it is a Slot without its low bit.
  std::vector<uint64_t> constants;
  /// Addresses of the function's variables: offsets in shared memory or in the parameter buffer,
  /// device addresses of globals.
  std::vector<uint64_t> addresses;
  uint64_t staticSharedBytes = 0;
  bool usesProducts = false; // has a wgmma
  /// The place of dynamic shared memory after the static variables.
  uint64_t dynamicSharedOffset = 0;
};

/// Shared memory begins at this address, so that a null address is never valid. A Hopper GPU
/// reserves the same 1024 bytes.
inline constexpr uint64_t sharedBase = 1024;

/// Decodes `function`. `globals` holds the device addresses of the module's variables in order.
/// On an instruction that is not modelled returns nullptr and sets `error` to
/// "kernel 'K', line N: expects ..., but got 'instruction'".
std::unique_ptr<Kernel> decodeKernel(const Function &function, const std::vector<uint64_t> &globals,
                                     std::string &error);

} // namespace blocksparse::sim

#endif // BLOCKSPARSE_LIB_SIMULATOR_OP_H
