// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Throttling keeps the CTAs of a persistent kernel in step. CTAs that read the same operands at the
// same time share them in the L2 cache; CTAs that have drifted apart each read global memory. A CTA
// waits for at most about 10 us, so CTAs that are not all resident, or that share the chip with
// another kernel, cannot deadlock. Throttling affects speed only, never results. The producer
// thread of a `cuda.wgmma` kernel calls it every few k steps.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_THROTTLE_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_THROTTLE_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse::device {

/// Holds a counter in global memory, which is 0 when the module is loaded. Each of the `blocks`
/// CTAs of a kernel must increment it equally often in a launch, so that all rounds are complete.
class Throttle {
public:
  /// Creates a new counter in the gpu.module of the kernel that `b` points into. Call it at the top
  /// of the kernel; each call creates another counter.
  static Throttle create(ImplicitLocOpBuilder &b, int64_t blocks);

  /// Increments the counter and waits for all CTAs to have called this as often, but not longer
  /// than about 10 us. One thread of each CTA calls it.
  void wait(ImplicitLocOpBuilder &b) const;

private:
  Value counter;
  int64_t blocks = 1;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_THROTTLE_H
