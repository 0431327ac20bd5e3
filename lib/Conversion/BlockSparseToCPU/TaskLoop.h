// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Builders of sequential and parallel loops.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_TASKLOOP_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_TASKLOOP_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse {

/// Builds a sequential loop over [from, to) by `step`, leaves the builder at the start of its body,
/// and returns the induction variable.
Value enterLoop(ImplicitLocOpBuilder &b, Value from, Value to, int64_t step);

/// Builds a parallel loop (scf.forall) over [0, extent) for each of `extents`. Its iterations must
/// be independent. The builder is left after the loop.
void emitTaskLoop(ImplicitLocOpBuilder &b, ValueRange extents,
                  function_ref<void(ValueRange indices)> body);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_TASKLOOP_H
