// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Thread blocks in step. Blocks that read the same operands at the same time find in the L2 cache
// what another has just brought there; once they have drifted apart each reads memory for itself.
// Nothing but time depends on it: a block waits for the others for some 10 us at most, so that
// blocks which don't all fit on the chip, or share it with another kernel's, can't wait for ever.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_PACE_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_PACE_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse::device {

/// A counter in global memory, 0 when the module is loaded, that each of `blocks` thread blocks of
/// a kernel counts up equally often.
class Pace {
public:
  /// At the top of a kernel; each call makes a counter of its own.
  static Pace create(ImplicitLocOpBuilder &b, int64_t blocks);

  /// One thread of each block: until those of all blocks have come here as often, or long enough.
  void wait(ImplicitLocOpBuilder &b) const;

private:
  Value counter;
  int64_t blocks = 1;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_PACE_H
