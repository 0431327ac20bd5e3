// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_SIMULATOR_PRODUCTJUDGE_H
#define BLOCKSPARSE_LIB_SIMULATOR_PRODUCTJUDGE_H

#include "Op.h"

namespace blocksparse::sim {

class Warp;

/// Judges the accesses of a warp to registers that `wgmma` uses (PTX ISA, "wgmma.fence" and
/// "wgmma.mma_async"): between an access and a `wgmma` that uses the register there must be a
/// `wgmma.fence`, and from then on until the `wgmma.wait_group` of its commit group accumulators
/// may not be accessed, and registers of A not written.
class ProductJudge {
public:
  explicit ProductJudge(const Kernel &kernel);

  /// Checks and records the access of a plain instruction to such registers. Returns false after it
  /// has reported a fault.
  bool access(Warp &warp, const Op &op);
  /// Checks and records a `wgmma` of commit group `group` with these accumulators and registers of
  /// A.
  bool begin(Warp &warp, const Op &op, const Slot *accumulators, unsigned count,
             const Slot *fragments, unsigned fragmentCount, uint32_t group);
  void fence();

private:
  /// Instructions are named by their index + 1; 0 is none.
  struct Register {
    uint32_t accessed = 0; // the last plain access since the last fence
    uint32_t product = 0;  // the last wgmma
    uint32_t group = 0;    // its commit group
    bool isAccumulator = false;
  };
  bool visit(Warp &warp, const Operand &operand, bool writes, uint32_t finished);

  const Kernel &kernel;
  std::vector<Register> registers; // by the offset in the register file, in units of 64 bytes
  bool fenced = false;
};

/// Marks the instructions of a kernel that access registers of a `wgmma`, other than a `wgmma`.
void markProductRegisters(Kernel &kernel);

} // namespace blocksparse::sim

#endif // BLOCKSPARSE_LIB_SIMULATOR_PRODUCTJUDGE_H
