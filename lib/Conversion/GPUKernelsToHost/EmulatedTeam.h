// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the emulation of kernels makes of barriers, shared memory and the operations by which the
// lanes of a warp work together. The threads of a block are then threads of the host; each
// operation of a warp is written down from the PTX manual, element by element, with no help from
// the code that uses it.

#ifndef BLOCKSPARSE_LIB_CONVERSION_GPUKERNELSTOHOST_EMULATEDTEAM_H
#define BLOCKSPARSE_LIB_CONVERSION_GPUKERNELSTOHOST_EMULATEDTEAM_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse::device {

/// A thread among those of its block, in the host function of a kernel. All threads of a block
/// must meet at each operation of a warp, not only those of the warp.
class EmulatedTeam {
public:
  /// Whether the threads of a block of `kernel` work together: they meet at barriers, or shuffle
  /// in warps whose size is fixed.
  static bool isNeeded(gpu::GPUFuncOp kernel);

  /// `thread` is index; `shared` and `exchange` are addresses (index) of the block's shared
  /// memory and of exchangeBytes for each of its threads.
  EmulatedTeam(Value thread, Value shared, Value exchange)
      : thread(thread), shared(shared), exchange(exchange) {}

  /// Replaces `op` and erases it; false for an operation that is not the team's.
  bool replace(Operation *op) const;

  /// What a butterfly shuffle of a kernel for which isNeeded is true gives.
  Value shuffle(ImplicitLocOpBuilder &b, gpu::ShuffleOp op) const;

  /// Runs `body` on `threads` host threads at once; it gets the thread's number.
  static void emitThreads(ImplicitLocOpBuilder &b, Value threads,
                          function_ref<void(ImplicitLocOpBuilder &, Value thread)> body);

  static constexpr int64_t exchangeBytes = 32;

private:
  void copy(ImplicitLocOpBuilder &b, Operation *op) const;
  Value loadMatrices(ImplicitLocOpBuilder &b, Operation *op) const;
  Value multiply(ImplicitLocOpBuilder &b, Operation *op) const;
  Value roundToTF32(ImplicitLocOpBuilder &b, Operation *op) const;
  Value permute(ImplicitLocOpBuilder &b, Operation *op) const;
  Value widenF8(ImplicitLocOpBuilder &b, Operation *op) const;
  /// Address of byte `offset` of the exchange of lane `lane` of this thread's warp.
  Value place(ImplicitLocOpBuilder &b, Value lane, Value offset) const;
  Value lane(ImplicitLocOpBuilder &b) const;

  Value thread, shared, exchange;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_GPUKERNELSTOHOST_EMULATEDTEAM_H
