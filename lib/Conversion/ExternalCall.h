// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls of functions that other libraries define, for both backends.

#ifndef BLOCKSPARSE_LIB_CONVERSION_EXTERNALCALL_H
#define BLOCKSPARSE_LIB_CONVERSION_EXTERNALCALL_H

#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse {

/// Emits the call of a planned_call on buffers, and an assertion that its status is 0.
void emitExternalCall(ImplicitLocOpBuilder &b, PlannedCallOp op);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_EXTERNALCALL_H
