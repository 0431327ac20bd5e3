// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Emulates barriers, shared memory and the warp-level operations of GPU kernels on the host. Each
// thread of a CTA becomes a host thread. Each warp-level operation is implemented from its
// description in the PTX manual, element by element, without sharing code with the kernels that use
// it.

#ifndef BLOCKSPARSE_LIB_CONVERSION_GPUKERNELSTOHOST_EMULATEDTEAM_H
#define BLOCKSPARSE_LIB_CONVERSION_GPUKERNELSTOHOST_EMULATEDTEAM_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse::device {

/// Emulates the operations of one thread of a CTA in the host function of a kernel. At each
/// warp-level operation all threads of the CTA must meet, not only those of the warp.
class EmulatedTeam {
public:
  /// Returns true if the threads of a CTA of `kernel` cooperate: they meet at barriers, or shuffle
  /// in warps of fixed size.
  static bool isNeeded(gpu::GPUFuncOp kernel);

  /// `thread` is the thread's index in its CTA (index). `shared` and `exchange` are the addresses
  /// (index) of the CTA's shared memory and of its exchange buffer, which has exchangeBytes for
  /// each thread.
  EmulatedTeam(Value thread, Value shared, Value exchange)
      : thread(thread), shared(shared), exchange(exchange) {}

  /// Replaces and erases `op`, and returns true. Returns false for an operation that needs no
  /// cooperation.
  bool replace(Operation *op) const;

  /// Returns the result of a butterfly shuffle. Requires a kernel for which isNeeded is true.
  Value shuffle(ImplicitLocOpBuilder &b, gpu::ShuffleOp op) const;

  /// Runs `body` on `threads` concurrent host threads; it receives the index of the thread.
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
  /// Returns the address of byte `offset` in the exchange buffer of lane `lane` of this thread's
  /// warp.
  Value place(ImplicitLocOpBuilder &b, Value lane, Value offset) const;
  Value lane(ImplicitLocOpBuilder &b) const;

  Value thread, shared, exchange;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_GPUKERNELSTOHOST_EMULATEDTEAM_H
